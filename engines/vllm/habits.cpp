// What vLLM does in a round by itself. Back ends: its lists by device (docs/design/attention_backends.md, since 0.12), and
// platforms/rocm.py. Graphs: release notes of 0.11.0, in which FULL_AND_PIECEWISE became the default; which back ends are
// captured with several tokens a sequence: docs/design/cuda_graphs.md. Options of attention: AttentionConfig came with 0.13.
#include <fmt/format.h>

#include "engines/vllm/parts.h"
#include "sim/attention_kernels.h"

namespace treeline::engines::vllm {
namespace {

bool is_before(const Engine& engine, const text::Version& version) { return engine.numbers() < version; }

/// With which a back end is chosen.
std::string backend_option(const Engine& engine, const std::string& backend) {
    return (is_before(engine, {0, 13}) ? "VLLM_ATTENTION_BACKEND=" : "--attention-backend ") + backend;
}

EngineHabit of_latents(const Engine& engine, const sim::RoundSetup& setup) {
    const double generation = generation_of(setup.platform.device);
    const bool lists = !is_before(engine, {0, 12});
    const std::string triton = backend_option(engine, "TRITON_MLA");
    if (generation == 9.0 && lists && sim::bits_of(setup.precision.kv_cache.format) == 16.0) {
        return {"FlashAttention 3 for latents", "first of vLLM's list on compute capability 9", triton};
    }
    if (generation == 9.0) {
        return {"FlashMLA",
                lists ? "first of vLLM's list on compute capability 9 that takes this cache"
                      : "vLLM's default on compute capability 9",
                triton};
    }
    if (generation == 10.0 && lists) {
        return {"FlashInfer with TensorRT-LLM's kernels, for latents", "first of vLLM's list on compute capability 10", triton};
    }
    if (generation == 8.0 || generation == 12.0) {
        return {"Triton, for latents",
                fmt::format("the only one of vLLM's kernels for latents on compute capability {:.0f}", generation), ""};
    }
    return is_amd(setup.platform.device) ? EngineHabit{"Triton, for latents", "vLLM's default on AMD", "VLLM_ROCM_USE_AITER=1"}
                                         : EngineHabit{};
}

EngineHabit of_attention(const Engine& engine, const sim::RoundSetup& setup) {
    if (has_sparse_attention(setup.target)) {
        return {};
    }
    if (has_whole_latents(setup.target)) {
        return of_latents(engine, setup);
    }
    const sim::Device& device = setup.platform.device;
    const std::string triton = backend_option(engine, "TRITON_ATTN");
    if (generation_of(device) == 7.0 && device.compute_capability >= 7.5 && !is_before(engine, {0, 12})) {
        return {"FlashInfer", "first of vLLM's list on compute capability 7: FlashAttention begins with 8", triton};
    }
    if (is_amd(device) && !is_before(engine, {0, 24})) {
        return {"vLLM's kernels for ROCm", "first of its list on AMD", "VLLM_ROCM_USE_AITER=1"};
    }
    return {"", "", triton};
}

/// Why its kernels keep the tokens of a draft out of whole graphs, with nothing of that in the price; empty where they do not.
/// Triton's for latents are captured for one token a sequence alone before pull request 42885 (May 2026).
std::string why_in_pieces(const Engine& engine, const sim::RoundSetup& setup, const EngineHabit& attention) {
    if (has_whole_latents(setup.target) && attention.how.starts_with("Triton") && is_before(engine, {0, 25})) {
        return "Triton's kernels for latents are captured with one token a sequence alone before 0.25";
    }
    return attention.how == "FlashInfer" ? "FlashInfer plans the tokens of a draft as a prompt; what that costs is not priced"
                                         : "";
}

EngineHabit of_graph(const Engine& engine, const sim::RoundSetup& setup, const EngineHabit& attention) {
    constexpr const char* whole = R"(--compilation-config '{"cudagraph_mode": "FULL_AND_PIECEWISE"}')";
    if (is_before(engine, {0, 11})) {
        return {"in pieces", "the default before 0.11; what the host adds was measured so", whole};
    }
    if (const std::string why = why_in_pieces(engine, setup, attention); !why.empty()) {
        return {"in pieces", why, attention.otherwise};
    }
    return {"whole", "the default since 0.11, as every sequence has as many tokens", "--enforce-eager"};
}

EngineHabit of_drafting(const Engine& engine, const sim::RoundSetup& setup) {
    if (is_looked_up(setup)) {
        return looked_up();
    }
    return runs_in_second_runner(engine, setup)
               ? EngineHabit{"captured in a graph", "by model runner V2, the default since 0.29, of dense models since 0.25",
                             "VLLM_USE_V2_MODEL_RUNNER=0"}
               : EngineHabit{"launched by the host, pass by pass", "model runner V1 captures no drafting as a whole", ""};
}

EngineHabit of_scheduling(const Engine& engine) {
    return is_before(engine, {0, 14})
               ? EngineHabit{"after each round", "asynchronous scheduling is the default since 0.14", ""}
               : EngineHabit{"asynchronous", "the next step is prepared while the device works; the default since 0.14",
                             "--no-async-scheduling"};
}

}  // namespace

EngineHabits habits(const Engine& engine, const sim::RoundSetup& setup) {
    const EngineHabit attention = of_attention(engine, setup);
    return {attention, of_graph(engine, setup, attention), of_drafting(engine, setup), of_scheduling(engine)};
}

}  // namespace treeline::engines::vllm
