// Flags of engines as text and JSON, and answers on several engines side by side.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "engines/engine_flags.h"
#include "sweeps/recommend_answer.h"

namespace treeline::reports {

/// The flags of the engine that was priced, under "To run it:", or why there are none.
std::string flags_text(const sweeps::Recommendation& recommendation);
/// Keys engine, flags, file, file_text and remark.
nlohmann::ordered_json flags_json(const engines::EngineFlags& flags);

/// The answer to one workload on one engine, with the stack that is its own.
struct EngineAnswer {
    std::string engine;                    ///< "vLLM 0.33"
    std::optional<sweeps::Answer> answer;  ///< nothing where it cannot be priced
    nlohmann::ordered_json input;          ///< the workload on this engine
    std::string problem;                   ///< why not, as a sentence
};

/// One line for each engine, with the share of the load that it serves where one leaves some out, and the requests/s where the
/// largest are asked for; then the flags of each. In all three forms engines that serve more of the load come first.
std::string engines_table(const std::vector<EngineAnswer>& answers);
/// Format "treeline-engines", version 1: for each engine the answer as recommendation_json() has it, or the problem.
nlohmann::ordered_json engines_json(const std::vector<EngineAnswer>& answers);
std::string engines_csv(const std::vector<EngineAnswer>& answers);

/// Of those that serve most of the load, the first one with the least objective; one of them must have an answer.
const EngineAnswer& best_engine(const std::vector<EngineAnswer>& answers);
/// Flags of the others that have some, each with what it gains.
std::vector<engines::EngineFlags> flags_of_others(const std::vector<EngineAnswer>& answers, const EngineAnswer& best);

}  // namespace treeline::reports
