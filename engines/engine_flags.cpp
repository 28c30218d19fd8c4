#include "engines/engine_flags.h"

#include "engines/flag_plan.h"

namespace treeline::engines {
namespace {

EngineFlags write(FlagPlan plan) {
    switch (plan.engine->name) {
        case EngineName::vllm:
            return write_vllm(std::move(plan));
        case EngineName::sglang:
            return write_sglang(std::move(plan));
        case EngineName::tensorrt_llm:
            return write_tensorrt_llm(std::move(plan));
        case EngineName::llama_cpp:
            break;
    }
    return write_llama_cpp(std::move(plan));
}

}  // namespace

std::string pasted(const EngineFlags& flags) {
    return flags.file.empty() ? flags.text : flags.text + "\n# " + flags.file + "\n" + flags.file_text;
}

std::vector<EngineFlags> engine_flags(const sweeps::Recommendation& recommendation, const std::vector<Engine>& engines) {
    const sweeps::Candidate& best = recommendation.candidates.front();
    if (!recommendation.speculate || recommendation.variants[best.variant].setup.platform.accelerator) {
        return {};
    }
    std::vector<EngineFlags> all;
    for (const Engine& engine : engines) {
        PlanResult result = plan_flags(recommendation, engine);
        EngineFlags flags =
            result.refusal.empty() ? write(std::move(result.plan)) : EngineFlags{"", "", result.refusal, "", ""};
        flags.engine = engine.label();
        all.push_back(std::move(flags));
    }
    return all;
}

}  // namespace treeline::engines
