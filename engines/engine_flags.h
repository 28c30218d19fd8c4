// A recommendation in the syntax of the engines that run it.
#pragma once

#include <string>
#include <vector>

#include "engines/engine.h"
#include "sweeps/recommend.h"

namespace treeline {

/// Flags for one engine, and what it cannot express.
struct EngineFlags {
    std::string engine;     ///< with the version whose syntax it is: "vLLM 0.33"
    std::string text;       ///< to paste; empty when the engine cannot run this
    std::string remark;     ///< what is lost or ignored, or why there is nothing to paste
    std::string file;       ///< name of a file that the text refers to; empty where there is none
    std::string file_text;  ///< its content
};

/// The text and, where there is one, the file below a line "# name": what `treeline lint` reads back.
std::string pasted(const EngineFlags& flags);

/// Flags for each of the engines. Draft lengths by batch size are given where the engine takes them for this drafter; elsewhere
/// the length recommended for the whole traffic. An engine that cannot express the recommended shape gets the best candidate of
/// the same drafter that it can, and the loss is said. Empty when plain decoding is recommended.
std::vector<EngineFlags> engine_flags(const Recommendation& recommendation,
                                      const std::vector<Engine>& engines = newest_engines());

}  // namespace treeline
