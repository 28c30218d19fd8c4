// Results of `llama-bench -o json`: whole passes of a model over a prompt.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "json/reader.h"

namespace treeline::calibrate {

/// One row that is a single pass over `tokens` tokens after `context` cached ones.
struct LlamaPass {
    std::string model;     ///< "llama 8B Q4_0"
    std::string settings;  ///< those that differ between the rows of the file: ", n_threads 8"
    std::string device;    ///< the GPU's name, or the CPU's if there is none; empty if the row names none
    double tokens = 1.0, context = 0.0;
    double model_bytes = 0.0, parameters = 0.0;  ///< 0: the row does not say
    Seconds time;
    std::optional<Seconds> spread;  ///< of the mean
};

struct LlamaPasses {
    std::vector<LlamaPass> passes;
    std::vector<std::string> notes;  ///< what was left out, and why; as sentences
};

/// Whether rows are llama-bench's: an array of objects with "avg_ns".
bool is_llama_bench(const nlohmann::ordered_json& rows);

/// Rows that generate several tokens, or whose prompt is longer than a micro-batch, are several passes and left out. Problems
/// are noted in the readers.
LlamaPasses read_llama_passes(std::vector<json::Reader> rows, const nlohmann::ordered_json& raw);

}  // namespace treeline::calibrate
