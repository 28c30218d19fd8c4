// A recommendation in the syntax of the engines that will run it.
#pragma once

#include <string>
#include <vector>

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

/// Flags for each of the engines. Draft lengths by batch size are written if the engine takes them for this drafter; otherwise
/// the length recommended for the whole traffic. An engine that cannot express the recommended shape gets the same drafter's
/// best candidate that it can express, and a remark states the loss. Empty when plain decoding is recommended.
std::vector<EngineFlags> engine_flags(const sweeps::Recommendation& recommendation,
                                      const std::vector<Engine>& engines = newest_engines());

}  // namespace treeline::engines
