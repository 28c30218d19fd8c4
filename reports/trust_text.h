// How sure a recommendation is, in sentences.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sweeps/trust.h"

namespace treeline::reports {

/// The interval that is shown: the measured one where there is one, in six digits, else that of the inputs' ranges.
struct ShownInterval {
    double low = 1.0, high = 1.0;
};
ShownInterval shown_interval(const sweeps::GainInterval& ranges, const sweeps::Trust* trust);

/// "With 80 % confidence a token takes 6.8 to 8.4 ms without speculation (...).": of what is predicted to take `time`.
std::string plain_time_sentence(const sweeps::MeasuredTime& measured, Seconds time);
/// {"nominal": share, "low": factor on the predicted time, "high": factor, ...}; null where nothing is known.
nlohmann::ordered_json plain_time_json(const std::optional<sweeps::MeasuredTime>& measured);

/// The interval and the verdict, in one sentence: the only one of a first screen on how sure the gain is.
std::string gain_sentence(const sweeps::GainInterval& ranges, const sweeps::Trust* trust, sweeps::Objective objective);

/// What the chances say of speculation: that it pays, that it loses, or neither; a sentence.
std::string chances_sentence(const sweeps::GainChances& chances);
/// {"pays": chance, "verdict": "pays" | "open" | "loses"}
nlohmann::ordered_json chances_json(const sweeps::GainChances& chances);
/// What plain decoding was preferred to, and how sure that is; a sentence or two.
std::string rejected_text(const sweeps::RejectedDrafting& rejected);

/// gain_sentence() and where its interval comes from, what the other cost mode says, where drafting stops paying, and how firm
/// the choice is; a sentence or two each.
std::vector<std::string> trust_sentences(const sweeps::GainInterval& ranges, const sweeps::Trust* trust,
                                         sweeps::Objective objective);

/// The same as members of an object.
nlohmann::ordered_json trust_json(const sweeps::Trust& trust);

}  // namespace treeline::reports
