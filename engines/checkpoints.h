// What commands call the models that a server loads.
#pragma once

#include <string>
#include <vector>

#include "engines/engine.h"
#include "sweeps/design_space.h"

namespace treeline::engines {

inline constexpr const char* target_placeholder = "MODEL";
inline constexpr const char* drafter_placeholder = "PATH_OF_THE_DRAFTER";

/// Repositories or paths, or placeholders where the catalogue does not know them.
struct Checkpoints {
    std::string target = target_placeholder, drafter = drafter_placeholder;
    std::string load_as = {};  ///< the format into which the engine turns the target while it loads it; empty: as it is stored
    std::vector<std::string> remarks = {};     ///< what to put in the place of the target's, and how it must be stored
    std::vector<std::string> of_drafter = {};  ///< the same of the drafter's; of no interest to a server that drafts nothing
};
/// For an engine, in the formats that are priced.
Checkpoints checkpoints_of(const sweeps::Variant& variant, const Engine& engine);

/// A file of a checkpoint in llama.cpp's format, which has the placeholder's name; a remark says of which checkpoint it is.
std::string gguf_of(const std::string& checkpoint, const char* placeholder, std::vector<std::string>& remarks);

}  // namespace treeline::engines
