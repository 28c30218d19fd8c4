// Engines at versions: "vllm-0.12" is vLLM as of version 0.12, and plain "vllm" the newest version in the catalogue.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/version.h"

namespace treeline::hardware {

/// "vllm-0.12.1" is {"vllm", {0, 12, 1}}; a name that does not end in '-' and numbers has no version, nor has a path.
struct StackVersion {
    std::string engine;
    text::Version version;
};
StackVersion stack_version(std::string_view name);

/// The engines that have a version among `names`, each once.
std::vector<std::string> engines_of(const std::vector<std::string>& names);

/// The newest of `names` that is a version of this engine; nothing if there is none.
std::optional<std::string> newest_version(const std::vector<std::string>& names, const std::string& engine);

/// Of the engine's versions in `names` the one to use for another version, named as "vllm-0.11.2": the newest one that is not
/// newer, or else the oldest. Nothing if the name has no version, or the engine none among `names`.
std::optional<std::string> nearest_version(const std::vector<std::string>& names, const std::string& name);

}  // namespace treeline::hardware
