// What one asks of the real decoder, and what it measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "decoder/decode.h"

namespace treeline::decoder {

struct DecodeInput {
    std::string title, source;
    std::string drafter_label;  ///< "none", "first 4 layers", a model's name, "n-gram"
    std::string shape_label;    ///< "chain 4", "branching 3,2"
    std::string device_label;   ///< as the input has it
    decoder::DecodeSetup setup;
    int repeat = 1;             ///< runs, all of whose rounds are timed together
    bool compare_plain = true;  ///< also decodes without speculation
};

/// Runs of one setup, of which there is one at least, as one: all have the same tokens, so only times are added.
DecodeResult together(const std::vector<DecodeResult>& runs);

/// By how much the fastest of several runs exceeds the slowest in tokens/s; of a single run, by how much the upper quartile of
/// its rounds exceeds the lower one.
double scatter_of(const DecodeResult& result);

struct DecodeAnswer {
    DecodeInput input;
    decoder::DecodeResult decoded;               ///< of all repetitions, their timed rounds together
    std::optional<decoder::DecodeResult> plain;  ///< the same without speculation

    [[nodiscard]] bool is_greedy() const { return !input.setup.given_acceptance; }
    /// Tokens before the first difference from plain decoding, of each sequence and of all together; with `plain` only.
    [[nodiscard]] long long equal_tokens() const;
    [[nodiscard]] long long all_tokens() const;
    /// Time of a token without speculation over that with it.
    [[nodiscard]] double speedup() const { return decoded.tokens_per_second() / plain->tokens_per_second(); }
};

}  // namespace treeline::decoder
