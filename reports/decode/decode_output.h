// How `treeline decode` shows what it measured.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "decoder/decode_study.h"

namespace treeline::reports {

/// The answer: one sentence.
std::string sentence_of(const decoder::DecodeAnswer& answer);
std::string decode_table(const decoder::DecodeAnswer& answer);
/// Format "treeline-decode", version 1. "rounds" holds columns of equal length.
nlohmann::ordered_json decode_json(const decoder::DecodeAnswer& answer);
/// One line per timed round.
std::string decode_csv(const decoder::DecodeAnswer& answer);

}  // namespace treeline::reports
