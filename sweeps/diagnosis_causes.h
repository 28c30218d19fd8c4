// Internal to diagnose(): the causes that explain its loads, likeliest first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sweeps/diagnosis.h"

namespace treeline::sweeps {

std::vector<Cause> causes_of(const Diagnosis& diagnosis);

namespace diagnosis {

/// Excess of a measured round over the expected one that is worth explaining, as a share of the measured one.
inline constexpr double notable = 0.05;

std::string ms(Seconds time);
std::string percent(double share);
/// "batch 8, 3 draft tokens, context 4096"
std::string at(const runs::RunCell& cell);
/// Runs of a pass of the drafter in a round.
double draft_passes(const sim::CompiledRound& round, const sim::RoundRow& row);
/// An engine, as Stack::engine_word() calls it, and its own words for something.
struct EngineWords {
    std::string_view engine, title, words;
};
/// What the stack's engine calls it, or all that have it where the stack is no engine's: " (vLLM a, SGLang b)". Empty where the
/// engine has no such thing.
std::string in_words_of(const sim::Stack& stack, const std::vector<EngineWords>& all);
/// Whether the platform's software replays passes from CUDA graphs that it captured for set sizes, as engines on PyTorch do.
/// llama.cpp has no such option (common/arg.cpp), MLX and CPUs no such graphs.
bool captures_sizes(const sim::Platform& platform);

/// Host time of a pass whose kernels are launched one by one instead of being replayed from a graph.
Seconds launched_one_by_one(const sim::CompiledPass& pass, const sim::Platform& platform);
/// "plain steps", and "predicted plain steps" where none was measured.
std::string plain_steps(const DiagnosedLoad& load);
/// A cause that needs no fit: it ranks by what it accounts for.
void add(std::vector<Cause>& causes, CauseKind kind, double share, bool beyond, std::string evidence, std::string remedy,
         std::string fewer_drafts = "");

/// Acceptance that no trained drafter has, as sentences: at hardly any first position, in each, collapsing with the batch,
/// better later than at first, nothing after the first. Empty where there is none, and on look-ups, whose hits come in runs.
std::string defects_of(const DiagnosisInput& input);
/// The same as a cause; acceptance that falls with the context beside it.
void add_defects(const Diagnosis& diagnosis, std::vector<Cause>& causes);
/// Rounds without graphs, by the words of the log.
void add_logged_graphs(const Diagnosis& diagnosis, std::vector<Cause>& causes);

/// Of what contradicts the prediction, the patterns that fit; where none does, that it is not explained.
void add_excess_causes(const Diagnosis& diagnosis, std::vector<Cause>& causes);

}  // namespace diagnosis
}  // namespace treeline::sweeps
