#include "engines/parallel_flags.h"

#include <map>

#include <fmt/format.h>

#include "engines/definition.h"

namespace treeline::engines {

std::string parallel_problem(const Engine& engine, DrafterKind drafter, const sim::Platform& platform) {
    return dialect_of(engine).parallel_problem(engine, drafter, platform);
}

std::string degree_flag(const char* name, double degree, const char* between, const char* after) {
    return degree > 1.0 ? fmt::format("{}{}{:.0f}{}", name, between, degree, after) : "";
}

std::string kernel_flags(const Engine& engine, const sim::Platform& platform) {
    std::string text;
    for (const auto* flags : {&platform.stack.picked.expert_kernels.flags, &platform.stack.picked.attention_kernels.flags}) {
        if (const auto kernels = flags->find(engine.word); kernels != flags->end()) {
            text += kernels->second + " ";
        }
    }
    return text;
}

}  // namespace treeline::engines
