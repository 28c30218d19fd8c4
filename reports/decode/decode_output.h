// How `treeline decode` shows what it measured.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "decoder/decode_study.h"

namespace treeline {

/// The answer: one sentence.
std::string sentence_of(const DecodeAnswer& answer);
std::string decode_table(const DecodeAnswer& answer);
/// Format "treeline-decode", version 1. "rounds" holds columns of equal length.
nlohmann::ordered_json decode_json(const DecodeAnswer& answer);
/// One line per timed round.
std::string decode_csv(const DecodeAnswer& answer);

}  // namespace treeline
