#include "engines/engine_flags.h"

#include <fmt/format.h>

#include "engines/definition.h"
#include "engines/priced_engine.h"

namespace treeline::engines {

EngineFlags write_flags(FlagPlan plan) {
    const std::string engine = plan.engine->label();
    const Dialect& dialect = dialect_of(*plan.engine);
    EngineFlags flags = dialect.write(std::move(plan));
    flags.engine = engine;
    flags.text.erase(flags.text.find_last_not_of(' ') + 1);
    return flags;
}

std::string pasted(const EngineFlags& flags) {
    return flags.file.empty() ? flags.text : flags.text + "\n# " + flags.file + "\n" + flags.file_text;
}

EngineFlags flags_for(const sweeps::Recommendation& recommendation, const Engine& engine) {
    PlanResult result = plan_flags(recommendation, engine);
    return result.refusal.empty() ? write_flags(std::move(result.plan))
                                  : EngineFlags{engine.label(), "", result.refusal, "", ""};
}

std::optional<EngineFlags> engine_flags(const sweeps::Recommendation& recommendation) {
    const std::optional<Engine> engine =
        priced_engine(recommendation.variants[recommendation.candidates.front().variant].setup.platform);
    return engine ? std::optional(flags_for(recommendation, *engine)) : std::nullopt;
}

std::string why_no_flags(const sweeps::Recommendation& recommendation) {
    const sim::Platform& platform = recommendation.variants[recommendation.candidates.front().variant].setup.platform;
    if (platform.accelerator) {
        return fmt::format("No engine serves on {}.", platform.device.name);
    }
    const bool only_llama_cpp = platform.device.kind == sim::DeviceKind::cpu || platform.device.metal;
    const std::string why = platform.stack.engine.empty() ? fmt::format("The stack {} is no engine's", platform.stack.name)
                                                          : fmt::format("The engine of the stack {} does not run on {}",
                                                                        platform.stack.name, platform.device.name);
    return fmt::format(
        "{}, so there are no flags: --engine {} prices an engine and prints its flags, --engine all compares "
        "them.",
        why, only_llama_cpp ? "llama.cpp" : "vllm");
}

}  // namespace treeline::engines
