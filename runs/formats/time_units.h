// Internal to the formats: units of time, as headings, keys, cells and sentences name them. One rule for all of these.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runs/builder.h"

namespace treeline::runs::run_formats_of {

/// The unit of a time that a text names.
struct TimeUnit {
    double seconds = 0.0;  ///< of one; 0: it names none that is read
    std::string unknown;   ///< a unit that it names and that is none of those that are read

    [[nodiscard]] bool named() const { return seconds > 0.0; }
};

/// The seconds of "ns", "us", "ms", "s", "sec", "seconds", "minutes" and their like; nothing for another word.
std::optional<double> seconds_of_unit(std::string_view word);
/// That of a heading, a key or a label by its plain words (plain_words): "mean tpot us", "tpot seconds", "us per token". The
/// "s" of a rate ("tok s") is none.
TimeUnit unit_in_words(const std::string& words);
/// That behind the number of a cell: "16000us", "1.4 s", "16 ms/tok".
TimeUnit unit_in_cell(const std::string& cell);
/// "us" of 1e-6; "ms" for another number.
std::string name_of_unit(double seconds);
/// Whether plain words name a time per token by its unit alone: "us tok", "seconds per output token".
bool says_time_per_token(const std::string& words);
/// Refuses a unit by its name, as the end of a sentence about what stands in `place`.
std::string unknown_unit_text(const std::string& unit, const std::string& place);
/// The number under `name` with a unit behind it ("mean_tpot_ms", "mean_tpot_us"), or under `name` alone, which is in seconds;
/// in seconds. Nothing where there is none.
std::optional<double> seconds_under(const RunJson& json, const std::string& name);
/// Such a key whose unit is not known, as a refusal; empty where there is none.
std::string unknown_unit_under(const RunJson& json, const std::string& name);

}  // namespace treeline::runs::run_formats_of
