// Reads measured serving runs: CSV files of runs without speculation, JSON files of runs with and without.
//
// CSV, one run a line: id, backend, model, system, precision, isl, osl (prompt and output tokens), batch_size (requests in
// flight), tp, tpot_ms, and, where known, backend_version, moe_precision, pp, attention_dp, moe_tp, moe_ep, ttft_ms.
// JSON, a list of objects: id, series, engine, target_model, drafter_type, gpu, metric, is_pair, and, where known, what
// `known_fields` in the source lists. A missing or null field is unknown.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "validation/serving/rows.h"

namespace treeline::requests {

/// Rows of one file each. Throw InputError with a sentence for every missing column and every value that is not what it should
/// be; with `bad_rows`, rows with such a value are left out and the sentences go there, unless no row is left. Columns and
/// fields that nothing reads are no problem: a sentence for each is added to `notes`.
std::vector<validation::ServingRun> read_serving_rows(const std::filesystem::path& path, std::vector<std::string>& notes,
                                                      std::vector<std::string>* bad_rows = nullptr);
std::vector<validation::SpeculationRow> read_speculation_rows(const std::filesystem::path& path,
                                                              std::vector<std::string>& notes,
                                                              std::vector<std::string>* bad_rows = nullptr);

}  // namespace treeline::requests
