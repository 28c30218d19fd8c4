// CUDA graphs of vLLM: what a command or a configuration says of their mode and of the sizes that are captured.
#pragma once

#include <optional>
#include <string>

#include "engines/lint_input.h"

namespace treeline::engines::vllm {

struct Graphs {
    std::string mode;                    ///< "PIECEWISE", "NONE"; empty = not stated
    std::string mode_flag;               ///< that says it
    std::optional<long long> captured;   ///< largest size, in tokens
    std::string captured_flag;           ///< that says it
    std::optional<long long> sequences;  ///< --max-num-seqs
};

Graphs graphs_of(const Flags& flags);
Graphs graphs_of(const nlohmann::ordered_json& settings);

/// Rounds of `drafts` tokens that run without whole graphs.
void check_graphs(const Graphs& graphs, std::optional<long long> drafts, Findings& findings);

}  // namespace treeline::engines::vllm
