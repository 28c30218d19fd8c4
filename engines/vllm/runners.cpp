// Which of vLLM's two model runners runs what: VllmConfig::use_v2_model_runner and what it asks (vllm/config/vllm.py at
// 000fc94b). V2 became the default of all dense models in 0.25 (pull request 44443) and of all models in 0.29 (53183); of some
// dense families it was one since 0.22.
#include "engines/vllm/parts.h"
#include "sim/traits.h"

namespace treeline::engines::vllm {

SecondRunner second_runner_of(const Engine& engine) {
    const text::Version version = engine.numbers();
    return version >= text::Version{0, 29}   ? SecondRunner::of_all
           : version >= text::Version{0, 25} ? SecondRunner::of_dense
                                             : SecondRunner::of_none;
}

bool second_runner_drafts(std::string_view method, bool in_parallel, bool in_stages) {
    if (method == "dflash" || method == "dspark" || method == "mtp") {
        return true;
    }
    return (method == "eagle" && !in_parallel) || (method == "eagle3" && !in_parallel && !in_stages);
}

bool runs_in_second_runner(const Engine& engine, const sim::RoundSetup& setup) {
    const DrafterKind kind = kind_of(setup.drafter);
    const EngineDrafter* drafter = engine.drafter(kind);
    const SecondRunner models = second_runner_of(engine);
    // On AMD models of DeepSeek's sparse attention stay with V1.
    const bool runs_model = models == SecondRunner::of_all
                                ? !(is_amd(setup.platform.device) && has_sparse_attention(setup.target))
                                : models == SecondRunner::of_dense && sim::kind_of_model(setup.target) == "dense";
    return runs_model && drafter != nullptr &&
           second_runner_drafts(drafter->word, kind == DrafterKind::p_eagle || kind == DrafterKind::pard,
                                setup.platform.parallel.pipeline > 1.0);
}

std::string schedule_problem(const Engine& engine, const sim::RoundSetup& setup) {
    return runs_in_second_runner(engine, setup)
               ? "draft lengths by batch need model runner V1 (VLLM_USE_V2_MODEL_RUNNER=0), whose rounds are not those priced"
               : "";
}

}  // namespace treeline::engines::vllm
