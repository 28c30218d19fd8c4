// How an engine is dealt with, whatever its version: what starts it, how its flags are written, its servers and clients, the
// rules of its configurations. What depends on the version is in its records (engine.h). There is one function for each engine,
// in NAME_dialect.cpp; whoever writes or reads for an engine goes through it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engines/engine.h"
#include "engines/flag_plan.h"
#include "engines/lint_input.h"
#include "sim/placement.h"
#include "sim/platform.h"
#include "sweeps/measurement_plan.h"

namespace treeline::engines {

/// What starts a server, and what is to be known of it.
struct ServerCommand {
    std::vector<std::string> lines;
    std::string remark;
};

/// What does not fit on a device, and where it would.
struct MissingMemory {
    const sim::Placement& placement;  ///< with which it fits
    Bytes too_much;                   ///< what one device lacks
    Bytes on_host;                    ///< what the placement puts into the host's memory
};

struct Dialect {
    /// Whether a program, without its folder, is this engine's, given the word behind it: "vllm", "llama-server", "llama
    /// serve".
    bool (*starts)(std::string_view program, std::string_view next);
    /// Whether a flag is of this engine's speculation and of no engine's before it in all_dialects().
    bool (*owns_flag)(std::string_view flag);
    bool runs_on_metal = false;       ///< Apple's GPUs
    bool places_weights = false;      ///< flags leave layers or experts in the host's memory, computed there
    bool caches_in_16_bits = false;   ///< keys and values, without a flag, where others cache as the checkpoint does
    bool one_draft_a_module = false;  ///< chained modules for multi-token prediction draft one token each
    /// Whether it translates the tokens of a draft model with another vocabulary.
    bool (*translates)(const Engine& engine);
    EngineFlags (*write)(FlagPlan plan);
    /// parallel_problem()
    std::string (*parallel_problem)(const Engine& engine, DrafterKind drafter, const sim::Platform& platform);
    /// usual_requests()
    double (*usual_requests)(const sim::Platform& platform);
    std::string_view requests_option;  ///< that says how many run at once
    /// way_to_fit()
    std::string (*way_to_fit)(const MissingMemory& missing);
};

/// How its servers are measured (commands_for()).
struct Measuring {
    /// Why the engine does not accept drafts of this plan at a stated rate, so that a real drafter is needed; empty if it does.
    std::string (*why_not_simulated)(const FlagPlan& plan);
    ServerCommand (*server)(FlagPlan plan, bool simulated, double accept_length);
    std::string (*client)(const FlagPlan& plan, const sweeps::CandidateRun& run);
    std::string_view data_set;  ///< a line of the requests that its client reads
};

/// How its configurations are checked (lint()).
struct Linting {
    bool reads_config_file = false;  ///< `--config` names flags in YAML
    bool flags_alone = false;        ///< takes no configuration object
    void (*check)(const LintInput& input, const Engine& engine, const ReadFile& read_file, Findings& findings);
};

const Dialect& dialect_of(EngineName name);
inline const Dialect& dialect_of(const Engine& engine) { return dialect_of(engine.name); }

/// In the order of EngineName.
const std::vector<Dialect>& all_dialects();

const Measuring& measuring_of(const Engine& engine);
const Linting& linting_of(const Engine& engine);

namespace detail {
Dialect vllm_dialect();
Dialect sglang_dialect();
Dialect tensorrt_llm_dialect();
Dialect llama_cpp_dialect();
Measuring vllm_measuring();
Measuring sglang_measuring();
Measuring tensorrt_llm_measuring();
Measuring llama_cpp_measuring();
Linting vllm_linting();
Linting sglang_linting();
Linting tensorrt_llm_linting();
Linting llama_cpp_linting();
}  // namespace detail

}  // namespace treeline::engines
