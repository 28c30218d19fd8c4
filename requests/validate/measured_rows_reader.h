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

#include "validation/serving/names.h"
#include "validation/serving/rows.h"

namespace treeline::requests {

/// Rows of one file each. A row that cannot be read, or holds a value out of range, is left out with a sentence in `bad_rows`
/// (in `notes` where that is null) that names file, row and reason; all others are read. Throw InputError for a file without a
/// single good row, and for missing columns. Columns and fields that nothing reads are no problem: a sentence for each is added
/// to `notes`. With a table of `names`, a format or version that names none is out of range, too: its row would be priced as
/// the checkpoint's own format, or by the engine's newest stack.
std::vector<validation::ServingRun> read_serving_rows(const std::filesystem::path& path, std::vector<std::string>& notes,
                                                      std::vector<std::string>* bad_rows = nullptr,
                                                      const validation::NameTable* names = nullptr);
std::vector<validation::SpeculationRow> read_speculation_rows(const std::filesystem::path& path,
                                                              std::vector<std::string>& notes,
                                                              std::vector<std::string>* bad_rows = nullptr);

}  // namespace treeline::requests
