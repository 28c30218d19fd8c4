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

namespace {

/// Flags of picked kernels under their names at this version, or those of them that are variables, with a blank after each.
std::string picked(const Engine& engine, const sim::Platform& platform, bool variables) {
    std::string text;
    for (const auto* flags : {&platform.stack.picked.expert_kernels.flags, &platform.stack.picked.attention_kernels.flags}) {
        if (const auto kernels = flags->find(engine.word); kernels != flags->end()) {
            const std::string called = engine.flag_at(kernels->second);
            text += !called.empty() && called.starts_with("-") != variables ? called + " " : "";
        }
    }
    return text;
}

}  // namespace

std::string kernel_flags(const Engine& engine, const sim::Platform& platform) { return picked(engine, platform, false); }

std::string kernel_variables(const Engine& engine, const sim::Platform& platform) { return picked(engine, platform, true); }

}  // namespace treeline::engines
