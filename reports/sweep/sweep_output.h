// Rows of a sweep, as CSV and JSON.
#pragma once

#include <array>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sweeps/sweep.h"
#include "sweeps/sweep_answer.h"

namespace treeline::reports {

/// Titles of a row: labels, shape, verification, sweep_columns, "fits".
std::vector<std::string> sweep_titles();

/// What a row says about its variant and its shape: the first fields, in the order of the titles.
std::array<std::string, 11> sweep_labels(const sweeps::Variant& variant);
std::array<std::string, 2> sweep_labels(const sim::Speculation& speculation);

/// The first line of the CSV. Numbers in the lines below are the shortest decimals that are exact in single precision.
std::string sweep_csv_header();
void append_csv(const sweeps::SweepChunk& chunk, std::string& text);
/// A whole CSV of these points.
std::string sweep_csv(const sweeps::SweepInput& input, const std::vector<sweeps::SweepPoint>& points);

/// Rows of the JSON's "points": arrays in the order of its "columns", each preceded by ",\n" except the very first of the file,
/// whose separator the caller strips.
void append_json(const sweeps::SweepChunk& chunk, std::string& text);
/// {"format": "treeline-sweep", "version": 1, ..., "columns": [...], "points": [
std::string sweep_json_head(const sweeps::SweepInput& input);
/// One point as an object whose keys are the titles, without "fits".
nlohmann::ordered_json sweep_point_json(const sweeps::SweepInput& input, const sweeps::SweepPoint& point);

}  // namespace treeline::reports
