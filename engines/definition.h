// What there is to say of an engine: its versions and what depends on them (engine.h), and whatever the version what starts it,
// how its flags are written, its servers and clients, the rules of its configurations. Each engine says it in a folder of its
// own, engines/NAME/, and the list of engines is at the end of this file; whoever writes or reads for an engine goes through
// it.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engines/engine.h"
#include "engines/flag_plan.h"
#include "engines/lint_input.h"
#include "engines/round_habits.h"
#include "engines/scale_blocks.h"
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

/// Which drafters an engine takes for models of one architecture, where its own checks take fewer than it has.
struct ModelRule {
    std::string_view models;                     ///< as people call them: "DeepSeek-V4"
    bool (*covers)(const sim::Model& target);    ///< by its layers
    bool (*names)(std::string_view small_name);  ///< by a repository or path in small letters
    std::vector<std::string> words = {};         ///< the only values of the key that selects the method; empty: it takes none
    std::string_view width_flag = {};            ///< that must be given with 1, as the check comes before defaults
    text::Version until = {};                    ///< the first version without the rule; empty: all have it
    std::string_view source;
};

struct Dialect {
    std::vector<std::string_view> other_words = {};  ///< that people write for it, beside Engine::word; in lower case
    std::vector<std::string_view> images = {};       ///< what its published images are called, without registry and tag
    std::string_view package = {};                   ///< in Python, whose name alone starts no server; empty without one
    /// Whether a program, without its folder, is this engine's, given the word behind it: "vllm", "llama-server", "llama
    /// serve".
    bool (*starts)(std::string_view program, std::string_view next);
    /// Whether a flag is of this engine's speculation and of no engine's before it in the list.
    bool (*owns_flag)(std::string_view flag);
    bool runs_on_metal = false;         ///< Apple's GPUs
    bool places_weights = false;        ///< flags leave layers or experts in the host's memory, computed there
    bool caches_in_16_bits = false;     ///< keys and values, without a flag, where others cache as the checkpoint does
    bool one_draft_a_module = false;    ///< chained modules for multi-token prediction draft one token each
    bool takes_share_of_memory = true;  ///< a flag says how much of a device's memory it may take
    bool takes_older = false;           ///< versions before the first whose rules are known are taken as that one
    bool loads_gguf = false;            ///< files of a checkpoint in that format, whatever it is published in
    sim::PrefillPolicy reads_prompts = sim::PrefillPolicy::mixed;  ///< without a flag
    std::string_view mixes_prompts = {};  ///< the flag with which it mixes them with decoding, where it drafts nothing
    /// A format into which it quantises a checkpoint of 16 bits while it loads it, as `--quantization` names it; else empty.
    std::string_view quantises_to = {};
    std::vector<ModelRule> model_rules = {};
    /// A value of the key that selects the method, and another one that means the same.
    std::pair<std::string_view, std::string_view> alias = {};
    /// Whether it translates the tokens of a draft model with another vocabulary.
    bool (*translates)(const Engine& engine);
    /// Whether it refuses draft models whose embeddings have another number of rows than the target's, although the tokens are
    /// the same; null: it does not.
    bool (*needs_equal_rows)(const Engine& engine) = nullptr;
    EngineFlags (*write)(FlagPlan plan);
    /// habits_of()
    EngineHabits (*habits)(const Engine& engine, const sim::RoundSetup& setup);
    /// parallel_problem()
    std::string (*parallel_problem)(const Engine& engine, DrafterKind drafter, const sim::Platform& platform);
    /// block_problem(); null: it is not known what becomes of such cuts.
    CutProblem (*block_problem)(const Engine& engine, const CutBlocks& cut, const sim::Device& device) = nullptr;
    /// Why it is told one draft length where its drafter takes one for each batch, as a clause; null: it is told all of them.
    std::string (*schedule_problem)(const Engine& engine, const sim::RoundSetup& setup) = nullptr;
    /// Why it does not load a model, as a clause about it; null: nothing is known but what its age tells.
    std::string (*load_problem)(const Engine& engine, const sim::Model& target) = nullptr;
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

/// A file of an engine's options in a form of its own.
struct Preset {
    std::string name;  ///< "a preset", with its section where there are several
    CommandLine command;
};

/// How its configurations are checked (lint()).
struct Linting {
    bool reads_config_file = false;  ///< `--config` names flags in YAML
    /// Whether a configuration object is this engine's, and of no engine's before it in the list; null: it takes flags alone.
    bool (*owns_tree)(const nlohmann::ordered_json& tree) = nullptr;
    /// Whether an option in a file, called as its flag without dashes, is of this engine's drafts and of no other engine's;
    /// null: its options stand in no such files.
    bool (*owns_option)(std::string_view option) = nullptr;
    std::string_view variables = {};  ///< how names of variables begin that stand for flags: "LLAMA_ARG_"; empty without
    std::optional<Preset> (*preset_of)(const std::string& text) = nullptr;  ///< nothing for another text; null without presets
    void (*check)(const LintInput& input, const Engine& engine, const ReadFile& read_file, Findings& findings);
};

struct Definition {
    std::vector<Engine> versions;  ///< oldest first
    Dialect dialect;
};

// Each engine and its place in the lists, which have the order of EngineName.
namespace vllm {
Definition definition();
Measuring measuring();
Linting linting();
}  // namespace vllm
namespace sglang {
Definition definition();
Measuring measuring();
Linting linting();
}  // namespace sglang
namespace tensorrt_llm {
Definition definition();
Measuring measuring();
Linting linting();
}  // namespace tensorrt_llm
namespace llama_cpp {
Definition definition();
Measuring measuring();
Linting linting();
}  // namespace llama_cpp
inline constexpr std::array list_of_engines = {vllm::definition, sglang::definition, tensorrt_llm::definition,
                                               llama_cpp::definition};
// Apart, so that a program that neither measures nor checks holds nothing of it (the library of the live page).
inline constexpr std::array list_of_measuring = {vllm::measuring, sglang::measuring, tensorrt_llm::measuring,
                                                 llama_cpp::measuring};
inline constexpr std::array list_of_rules = {vllm::linting, sglang::linting, tensorrt_llm::linting, llama_cpp::linting};
static_assert(list_of_engines.size() == list_of_measuring.size() && list_of_engines.size() == list_of_rules.size());

/// In the order of EngineName.
const std::vector<Definition>& all_definitions();
const std::vector<Measuring>& all_measurings();
const std::vector<Linting>& all_lintings();

inline const Definition& definition_of(EngineName name) { return all_definitions().at(static_cast<std::size_t>(name)); }
inline const Measuring& measuring_of(EngineName name) { return all_measurings().at(static_cast<std::size_t>(name)); }
inline const Linting& linting_of(EngineName name) { return all_lintings().at(static_cast<std::size_t>(name)); }
inline const Dialect& dialect_of(const Engine& engine) { return definition_of(engine.name).dialect; }

/// The first engine of whose entry in a list of all this is true.
template <class Entry, class Predicate>
std::optional<EngineName> engine_whose(const std::vector<Entry>& all, Predicate predicate) {
    const auto found = std::find_if(all.begin(), all.end(), predicate);
    return found == all.end() ? std::nullopt : std::optional(static_cast<EngineName>(found - all.begin()));
}

}  // namespace treeline::engines
