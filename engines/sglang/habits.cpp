// What SGLang does in a round by itself. Back ends: server_args.py and docs/advanced_features/attention_backend.md. Graphs of
// verification and drafting: its draft workers. Scheduling: pull requests 25464 and 27964.
#include "engines/sglang/parts.h"
#include "sim/traits.h"

namespace treeline::engines::sglang {
namespace {

constexpr const char* backend_flag = "--attention-backend";

EngineHabit of_attention(const sim::RoundSetup& setup) {
    const sim::Device& device = setup.platform.device;
    const double generation = generation_of(device);
    if (has_sparse_attention(setup.target)) {
        return {};
    }
    if (is_amd(device)) {
        return {"AITER's kernels", "SGLang's default on AMD", backend_flag};
    }
    if (!has_whole_latents(setup.target)) {
        return generation == 7.0 ? EngineHabit{"FlashInfer", "SGLang's default before compute capability 9", backend_flag}
                                 : EngineHabit{"", "", backend_flag};
    }
    if (generation == 9.0) {
        return {"FlashAttention 3 for latents", "SGLang's default on compute capability 9", backend_flag};
    }
    if (generation == 10.0) {
        return {"TensorRT-LLM's kernels for latents", "SGLang's default on compute capability 10", backend_flag};
    }
    return generation > 0.0
               ? EngineHabit{"Triton, for latents", "SGLang's default but on compute capability 9 and 10", backend_flag}
               : EngineHabit{};
}

EngineHabit of_drafting(const sim::RoundSetup& setup) {
    if (is_looked_up(setup)) {
        return looked_up();
    }
    switch (kind_of(setup.drafter)) {
        case DrafterKind::dflash:
        case DrafterKind::dspark:
            return {};
        default:
            return {"all passes in one captured graph", "its draft worker captures the steps of a chain together",
                    "--disable-cuda-graph"};
    }
}

EngineHabit of_scheduling(const Engine& engine, const sim::RoundSetup& setup) {
    if (engine.numbers() >= text::Version{0, 5, 13} || std::holds_alternative<sim::NoDrafter>(setup.drafter)) {
        return {"asynchronous", "the next round is prepared while the device works; with drafts the default since 0.5.13",
                "--disable-overlap-schedule"};
    }
    return {"after each round", "drafts turn the overlapped scheduler off before 0.5.13", "SGLANG_ENABLE_SPEC_V2=1"};
}

}  // namespace

EngineHabits habits(const Engine& engine, const sim::RoundSetup& setup) {
    return {of_attention(setup),
            {"whole", "every sequence has as many tokens, and the batch is padded to the next captured one",
             "--disable-cuda-graph"},
            of_drafting(setup),
            of_scheduling(engine, setup)};
}

}  // namespace treeline::engines::sglang
