// What `treeline diagnose` found.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "sweeps/diagnosis.h"

namespace treeline::reports {

/// The finding in one or two sentences.
std::string diagnosis_sentence(const sweeps::Diagnosis& diagnosis);
/// Sentence, causes, the round part by part, every load, laws of the draft length.
std::string diagnosis_table(const sweeps::Diagnosis& diagnosis);
/// Format "treeline-diagnosis", version 1.
nlohmann::ordered_json diagnosis_json(const sweeps::Diagnosis& diagnosis);
/// A line for each load.
std::string diagnosis_csv(const sweeps::Diagnosis& diagnosis);
/// A page: the waterfall of the round that is explained, measured against predicted rounds, acceptance by position.
std::string diagnosis_html(const sweeps::Diagnosis& diagnosis);

}  // namespace treeline::reports
