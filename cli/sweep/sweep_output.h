// Rows of a sweep, as CSV and JSON, and its summary.
#pragma once

#include <string>

#include "cli/sweep/sweep_reader.h"
#include "sweeps/sweep.h"

namespace treeline {

/// The first line of the CSV. Numbers in the lines below are the shortest decimals that are exact in single precision.
std::string sweep_csv_header();
void append_csv(const SweepChunk& chunk, std::string& text);

/// Rows of the JSON's "points": arrays in the order of its "columns", each preceded by ",\n" except the very first of the file,
/// whose separator the caller strips.
void append_json(const SweepChunk& chunk, std::string& text);
/// {"format": "treeline-sweep", "version": 1, ..., "columns": [...], "points": [
std::string sweep_json_head(const SweepInput& input);
/// ], "summary": {...}}
std::string sweep_json_tail(const SweepInput& input, const SweepSummary& summary);

/// Counts, the best points, the Pareto set's size, and what was left out.
std::string sweep_table(const SweepInput& input, const SweepSummary& summary);

}  // namespace treeline
