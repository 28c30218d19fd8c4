// Lengths of prompts and answers in an input: 740, [{"tokens": 200, "share": 0.7}, …] or {"mean": 740, "spread": 1.1}.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "json/reader.h"
#include "sim/round.h"

namespace treeline::requests {

/// Nothing without the key. Lengths of a list must be at least 1, and differ.
std::optional<sim::Lengths> read_lengths(json::Reader& at, std::string_view key);

/// What a request of the steady state brings along.
struct RequestLengths {
    std::optional<sim::Lengths> prompts;  ///< nothing: as long as the context
    std::optional<sim::Lengths> answers;  ///< nothing: decoding alone
    double prefix_hit = 0.0;
    double shared_prefix = 0.0;
    double expert_pool = 1.0;

    [[nodiscard]] double output_tokens() const { return answers ? mean_length(*answers) : 0.0; }
    /// Tokens that a decoding request has in its cache; nothing unless both lengths are known.
    [[nodiscard]] std::optional<double> context() const;
    /// Sets the lengths of a setup; prompts of a length that is not known take `prompt_tokens`.
    void set(sim::RoundSetup& setup, double prompt_tokens) const;
};

/// Reads "prompt_tokens", "output_tokens", "prefix_hit", "shared_prefix" and "expert_pool". An answer of 0 tokens stands for
/// decoding alone.
RequestLengths read_request_lengths(json::Reader& at);

/// Whether an input says how long answers are, be it with a number that is refused.
bool states_answers(const json::Reader& at);

/// A pool of experts needs a target that has them.
void check_expert_pool(json::Reader& at, double pool, const std::vector<const sim::Model*>& targets);

/// Lists of lengths that differ; empty for a single one, which RoundSetup::prompt_tokens says.
sim::Lengths only_if_several(const std::optional<sim::Lengths>& lengths);

}  // namespace treeline::requests
