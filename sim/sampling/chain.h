// Verification of a chain of drafts sampled from the drafter. All keep references to `models`, which must outlive them.
#pragma once

#include <optional>

#include "sim/sampling/round_law.h"

namespace treeline::sim::sampling {

/// Token-wise rejection sampling (Leviathan et al., arXiv 2211.17192): draft x is accepted with probability min(1, p(x)/q(x));
/// the first rejected one is replaced by a token from norm(max(p − q, 0)), and all later drafts are dropped.
Round token_wise_round(const Models& models, int draft_tokens);

/// Closed form. u_0 = roots, u_i(y) = Σ_x u_{i−1}(x)·min(p(y|x), q(y|x)) = P(i drafts accepted, the i-th is y), so
/// τ = Σ_i Σ_y u_i(y). A round that ends after i < k drafts ends in y with Σ_x u_i(x)·max(p(y|x) − q(y|x), 0).
RoundLaw token_wise_law(const Models& models, int draft_tokens);

/// Block verification (Sun et al., "Block Verification Accelerates Speculative Decoding", ICLR 2025, arXiv 2403.10444,
/// Algorithm 2): with r_0 = 1, r_i = min(r_{i−1}·p(X_i)/q(X_i), 1), draft i passes with probability
///     h_i = S_i / (S_i + 1 − r_i), S_i = Σ_x max(r_i·p(x|X_i) − q(x|X_i), 0), and h_k = r_k;
/// the longest prefix whose last draft passed is kept, and the next token comes from norm(max(r_i·p − q, 0)), or from p after
/// the whole draft.
Round block_round(const Models& models, int draft_tokens);

/// Closed form: P(at least i drafts kept | the draft) = r_i, so τ = 1 + Σ_i E_{X~q}[r_i(X)], and a round that keeps i < k
/// drafts ends in y with E[max(r_i·p(y|X_i) − q(y|X_i), 0)]. Found by following every draft, those with the same last token and
/// r = 1 together. Drafts that could add less than 1e-14 each to τ are left out. Nothing where a round takes more than
/// `most_steps`.
std::optional<RoundLaw> block_law(const Models& models, int draft_tokens, double most_steps = 2e7);

/// Several drafts of a chain, sampled independently and verified against one sample of the target: the target's own tokens
/// count as accepted as long as some chain agrees with all of them. Lossless, as every token is the target's.
Round independent_drafts_round(const Models& models, int draft_tokens, int drafts);

/// Closed form: with m chains still in agreement after x, the target draws y with p(y|x), and Binomial(m, q(y|x)) of them go
/// on. P(at least i accepted) = E[1 − (1 − A_i)^drafts] with A_i = P(one chain agrees with the target's first i tokens | those
/// tokens), which by Jensen's inequality is at most 1 − (1 − E[A_i])^drafts, the bound of independent_chains_bound().
RoundLaw independent_drafts_law(const Models& models, int draft_tokens, int drafts);

}  // namespace treeline::sim::sampling
