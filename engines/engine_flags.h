// A recommendation in the syntax of the engines that will run it.
#pragma once

#include <optional>
#include <string>

#include "engines/engine.h"
#include "sweeps/recommend.h"

namespace treeline::engines {

/// Flags for one engine, and what it cannot express.
struct EngineFlags {
    std::string engine;     ///< with the version of the syntax: "vLLM 0.33"
    std::string text;       ///< to paste; empty when the engine cannot run this
    std::string remark;     ///< what is lost or ignored, or why there is nothing to paste
    std::string file;       ///< name of a file that the text refers to; empty if there is none
    std::string file_text;  ///< its content
};

/// The text and, if there is one, the file below a line "# name"; `treeline lint` reads this back.
std::string pasted(const EngineFlags& flags);

/// The recommendation as this engine runs it. Draft lengths by batch size are written if the engine takes them for this
/// drafter; otherwise the length recommended for the whole traffic. Without a text where it cannot run it; the remark says why.
EngineFlags flags_for(const sweeps::Recommendation& recommendation, const Engine& engine);

/// The same for the engine that was priced (priced_engine()); nothing where the recommended stack is no engine's.
std::optional<EngineFlags> engine_flags(const sweeps::Recommendation& recommendation);

/// Why there are none, as a sentence.
std::string why_no_flags(const sweeps::Recommendation& recommendation);

}  // namespace treeline::engines
