// Serving runs without speculation, from ../shared/data/serving (end-to-end runs of vLLM, SGLang and TensorRT-LLM, collected by
// ai-dynamo/aiconfigurator), as setups of the cost model.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/round.h"

namespace treeline::testing {

struct ServingRow {
    std::string backend, version, model, system, precision;
    double isl = 0, osl = 0, batch = 0, ranks = 0, ttft_ms = 0, tpot_ms = 0;
    bool only_tensor_parallel = true;  ///< no expert, pipeline or data parallelism
};

std::vector<ServingRow> read_serving_rows(const std::filesystem::path& path);

/// What the data's README says to drop is not usable: queued rows (TTFT above 2 s), GB200, and runs that read prompts faster
/// than the device can (vLLM 0.12.0 in fp8, TensorRT-LLM 1.2.0rc6.post1: a prefix cache, by all appearances).
bool usable(const ServingRow& row);

/// Of the mixtures those whose checkpoint's formats are plain: fp8 throughout, and MXFP4 experts of gpt-oss.
bool is_plain_mixture(const ServingRow& row);

/// The stack of the row's engine at its version: the nearest one in the catalogue. Runs without a version date from the end of
/// October 2025 (vLLM 0.10, TensorRT-LLM 1.1).
std::string stack_of(const ServingRow& row);

/// Plain decoding in the steady state, at the row's parallelism, on stack_of(row). NVIDIA's fp8 and fp4 checkpoints of
/// dense models come with fp8 caches, which TensorRT-LLM uses by itself.
sim::RoundSetup setup_of(const ServingRow& row, sim::CostMode mode);
/// The point at which the row was measured: all requests decoding, half of the answer written.
sim::DesignPoint point_of(const ServingRow& row);

}  // namespace treeline::testing
