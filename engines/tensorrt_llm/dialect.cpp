// TensorRT-LLM. Its engines of TensorRT streamed weights (gpu_weights_percent); the PyTorch backend, whose configuration is
// written here, keeps all on the device.
#include <fmt/format.h>

#include "engines/host_weights.h"
#include "engines/measurement_clients.h"
#include "engines/tensorrt_llm/parts.h"
#include "sim/traits.h"

namespace treeline::engines::tensorrt_llm {
namespace {

std::string problem(const Engine& /*engine*/, DrafterKind /*drafter*/, const sim::Platform& platform) {
    return has_groups(platform) && platform.ranks > 1.0 ? "runs attention data parallel on all ranks of a stage or on none"
                                                        : "";
}

/// docs/source/models/supported-models.md of 1.0 to 1.3: hybrids, but no Mamba alone, which only engines of TensorRT ran.
std::string load_problem(const Engine& /*engine*/, const sim::Model& target) {
    return sim::attends(target) ? "" : "its PyTorch backend has no model without attention";
}

std::string way_to_fit(const MissingMemory& missing) {
    return fmt::format(
        " TensorRT-LLM keeps all weights on its devices; llama.cpp can leave some in the host's memory: --engine "
        "llama.cpp {}.",
        placement_flag(missing.placement));
}

/// A text as the format of `printf`, in single quotes.
std::string printf_format(const std::string& text) {
    std::string format;
    for (const char c : text) {
        format += c == '\n' ? "\\n" : c == '\'' ? "\\047" : c == '%' ? "%%" : c == '\\' ? "\\\\" : std::string(1, c);
    }
    return "'" + format + "'";
}

ServerCommand server(FlagPlan plan, bool simulated, double accept_length) {
    if (simulated) {
        plan.remarks.emplace_back("TensorRT-LLM counts forced tokens without the bonus token");
    }
    const std::string yaml = "enable_iter_perf_stats: true\n" + config_yaml(plan);
    const std::string forced =
        simulated ? fmt::format("TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS={:.2f} ", accept_length - 1.0) : "";
    return {{fmt::format("printf {} >{}", printf_format(yaml), config_file),
             fmt::format("{}trtllm-serve {} --config {}", forced, plan.checkpoints.target, config_file)},
            joined_remarks(plan.remarks)};
}

}  // namespace

Definition definition() {
    return {.versions = versions(),
            .dialect = {.other_words = {"trtllm", "tensorrt_llm", "trt-llm", "tensorrtllm"},
                        .images = {"nvidia/tensorrt-llm"},
                        .package = "tensorrt_llm",
                        .starts =
                            [](std::string_view program, std::string_view /*next*/) {
                                return program.starts_with("trtllm-") || program.starts_with("tensorrt_llm");
                            },
                        .owns_flag = [](std::string_view /*flag*/) { return false; },
                        .translates = [](const Engine& /*engine*/) { return false; },
                        .write = write,
                        .habits = habits,
                        .parallel_problem = problem,
                        .load_problem = load_problem,
                        .usual_requests = [](const sim::Platform& /*platform*/) { return 2048.0; },
                        .requests_option = "max_batch_size",
                        .way_to_fit = way_to_fit}};
}

Measuring measuring() {
    return {.why_not_simulated = [](const FlagPlan& /*plan*/) { return std::string(); },
            .server = server,
            .client = [](const FlagPlan& plan, const sweeps::CandidateRun& run) { return vllm_client(plan, run); },
            .data_set = prompts_alone};
}

}  // namespace treeline::engines::tensorrt_llm
