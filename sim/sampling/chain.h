// Verification of a chain of drafts. All keep references to `models`, which must outlive them.
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

/// A look-up: the drafter's best tokens as given, found in a share of the rounds, of `mean_draft` tokens on average where
/// nothing limits them (0: always as many as allowed). The target samples its own tokens and a draft counts while it agrees
/// with them, so nothing is lost. Closed form: u_1 = hit_rate·Σ_x roots(x)·p(y*|x), u_i = ρ·Σ_x u_{i−1}(x)·p(y*|x) with
/// ρ = 1 − 1/mean_draft.
Round lookup_round(const Models& models, int draft_tokens, double hit_rate, double mean_draft = 0.0);
RoundLaw lookup_law(const Models& models, int draft_tokens, double hit_rate, double mean_draft = 0.0);

/// A look-up where it finds something, the drafter otherwise: in each round one of both, whatever the tokens turn out to be.
/// Closed form: the mean of lookup_law() with every round a hit and token_wise_law(), by the hit rate.
Round lookup_first_round(const Models& models, int draft_tokens, double hit_rate);
RoundLaw lookup_first_law(const Models& models, int draft_tokens, double hit_rate);

/// All drafts at once (Medusa's heads, PARD, P-EAGLE, DFlash): draft i is sampled from q_i(·|root), which knows none of the
/// drafts before it; here the drafter's own distribution i tokens ahead. Verified token-wise against q_i, which rejection
/// sampling keeps lossless whatever q_i is. Closed form, root by root: u_i(y) = Σ_x u_{i−1}(x)·min(p(y|x), q_i(y|root)).
Round parallel_round(const Models& models, int draft_tokens);
RoundLaw parallel_law(const Models& models, int draft_tokens);

/// Drafting stops before a token after which the drafter's best is less likely than `threshold`: a decision that the drafted
/// token does not change, so rejection sampling stays lossless. Closed form as token_wise_law() on the tokens that go on.
Round cut_off_round(const Models& models, int draft_tokens, double threshold);
RoundLaw cut_off_law(const Models& models, int draft_tokens, double threshold);

/// The rule that is not lossless with sampled drafts: a drafted token is dropped because it was itself unlikely. What is
/// dropped would have been accepted more often than what is kept. Harmless where drafts are the drafter's best tokens.
Round dropping_round(const Models& models, int draft_tokens, double threshold);

/// A cascade: `inner` drafts for the drafter, which verifies token-wise, and the target verifies what the drafter kept. Its
/// drafts are distributed as the drafter's own, so the law is token_wise_law().
Round cascade_round(const Models& models, const NextToken& inner, int draft_tokens, int inner_tokens);
RoundLaw cascade_law(const Models& models, int draft_tokens);

}  // namespace treeline::sim::sampling
