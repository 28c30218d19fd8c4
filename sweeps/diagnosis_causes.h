// Internal to diagnose(): the causes that explain its loads, likeliest first.
#pragma once

#include <string>
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
