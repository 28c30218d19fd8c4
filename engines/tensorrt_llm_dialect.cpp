// TensorRT-LLM. Its engines of TensorRT streamed weights (gpu_weights_percent); the PyTorch backend, whose configuration is
// written here, keeps all on the device.
#include <fmt/format.h>

#include "engines/dialect.h"
#include "engines/host_weights.h"
#include "engines/measurement_clients.h"

namespace treeline::engines {
namespace {

std::string tensorrt_llm_problem(const Engine& /*engine*/, DrafterKind /*drafter*/, const sim::Platform& platform) {
    return has_groups(platform) && platform.ranks > 1.0 ? "runs attention data parallel on all ranks of a stage or on none"
                                                        : "";
}

std::string tensorrt_llm_way_to_fit(const MissingMemory& missing) {
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

ServerCommand tensorrt_llm_server(FlagPlan plan, bool simulated, double accept_length) {
    if (simulated) {
        plan.remarks.emplace_back("TensorRT-LLM counts forced tokens without the bonus token");
    }
    const std::string yaml = "enable_iter_perf_stats: true\n" + tensorrt_llm_yaml(plan);
    const std::string forced =
        simulated ? fmt::format("TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS={:.2f} ", accept_length - 1.0) : "";
    return {{fmt::format("printf {} >{}", printf_format(yaml), tensorrt_llm_file),
             fmt::format("{}trtllm-serve {} --config {}", forced, plan.checkpoints.target, tensorrt_llm_file)},
            joined_remarks(plan.remarks)};
}

}  // namespace

Dialect detail::tensorrt_llm_dialect() {
    return {.starts =
                [](std::string_view program, std::string_view /*next*/) {
                    return program.starts_with("trtllm-") || program.starts_with("tensorrt_llm");
                },
            .owns_flag = [](std::string_view /*flag*/) { return false; },
            .translates = [](const Engine& /*engine*/) { return false; },
            .write = write_tensorrt_llm,
            .parallel_problem = tensorrt_llm_problem,
            .usual_requests = [](const sim::Platform& /*platform*/) { return 2048.0; },
            .requests_option = "max_batch_size",
            .way_to_fit = tensorrt_llm_way_to_fit};
}

Measuring detail::tensorrt_llm_measuring() {
    return {.why_not_simulated = [](const FlagPlan& /*plan*/) { return std::string(); },
            .server = tensorrt_llm_server,
            .client = [](const FlagPlan& plan, const sweeps::CandidateRun& run) { return vllm_client(plan, run); },
            .data_set = prompts_alone};
}

Linting detail::tensorrt_llm_linting() { return {.check = lint_tensorrt_llm}; }

}  // namespace treeline::engines
