// How `treeline decode` shows what it measured.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cli/decode/decode_reader.h"

namespace treeline {

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

/// The answer: one sentence.
std::string sentence_of(const DecodeAnswer& answer);
std::string decode_table(const DecodeAnswer& answer);
/// Format "treeline-decode", version 1. "rounds" holds columns of equal length.
nlohmann::ordered_json decode_json(const DecodeAnswer& answer);
/// A line for each timed round.
std::string decode_csv(const DecodeAnswer& answer);

}  // namespace treeline
