// Internal to the formats of SGLang: what its accept rate says beside its accept length, and the counts of an answer.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "runs/builder.h"

namespace treeline::runs::run_formats_of {

/// The draft length that printed accept lengths and accept rates belong to. The rate is accepted drafts over drafts, (τ − 1)/K,
/// or, in other versions, tokens of a round over those that it verifies, τ/(K + 1); lines that are printed in two decimals
/// leave only one of them.
class DraftLengths {
public:
    void add(double accept_length, double accept_rate);
    /// Whether exactly one draft length fits every pair, or one of each meaning fits and the first is taken.
    [[nodiscard]] bool told() const { return draft_tokens() > 0; }
    /// Root excluded; 0 if none fits.
    [[nodiscard]] int draft_tokens() const;

private:
    bool any_ = false;
    std::vector<bool> of_drafts_, of_verified_;  ///< by K: whether it fits so far
};

/// A draft by SGLang's three settings, as far as they are stated. At top-k 1 it is a chain of as many steps; a tree needs all
/// three. No tokens where that is not enough.
SglangDraft sglang_draft(std::optional<double> steps, std::optional<double> top_k, std::optional<double> tokens);

/// Counts of one answer by its own account: `spec_verify_ct` and what was accepted and proposed, or else the tokens, the accept
/// length and the accept rate. Nothing if these do not tell the rounds and the drafts.
struct SglangAnswer {
    std::optional<double> rounds, accepted, drafted, tokens, length, rate;
    std::vector<double> histogram;  ///< rounds by accepted drafts
};
void count_sglang_answer(const SglangAnswer& answer, RunBuilder& run);
/// The same from a line "Finish: obj=..., out={...}".
void count_sglang_answer(std::string_view line, RunBuilder& run);

}  // namespace treeline::runs::run_formats_of
