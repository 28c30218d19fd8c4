// Measured steps of a user's own deployment, as a small CSV.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/units.h"

namespace treeline::calibrate {

struct ServingRow {
    int line = 0;  ///< of the file, from 1
    double batch = 1.0;
    int draft_tokens = 0;                 ///< 0: plain decoding
    std::string shape;                    ///< of the tree that they form, as --shape takes it; empty for a chain
    int depth = 0;                        ///< levels of that tree
    std::optional<double> context;        ///< tokens
    std::optional<double> accept_length;  ///< mean tokens a round, bonus token included
    double hit_rate = 1.0;                ///< share of the rounds that drafted, where a look-up's run tells
    Seconds round;                        ///< of the whole batch: what was measured, as the time of a round
};

struct ServingTable {
    std::string path;
    std::vector<ServingRow> rows;
};

inline constexpr std::size_t most_serving_rows = 200;

/// Reads a header and rows of `batch`, `draft_tokens`, `context`? (tokens), `accept_length`? (empty in plain decoding) and
/// exactly one of
///   `tpot_ms`       mean time per output token of a user
///   `tokens_per_s`  output tokens of all users together
///   `itl_ms`, `round_ms`  time between two messages of the stream, which is a round: speculation sends several tokens at once
/// Lines that are empty or start with # do not count. Throws InputError with every problem; with `bad_rows`, rows that cannot
/// be read are left out, with a sentence there, as long as one is good.
ServingTable read_serving_csv(const std::filesystem::path& path, std::vector<std::string>* bad_rows = nullptr);

}  // namespace treeline::calibrate
