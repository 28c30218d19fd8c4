// How `treeline study bandit` shows what it found.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "reports/figure.h"
#include "sweeps/adaptive/bandit_study.h"

namespace treeline::reports {

/// Of the shape with this index.
inline const std::string& arm_name(const sweeps::BanditAnswer& answer, std::size_t arm) {
    return answer.input.problem.arms[arm].name;
}

/// The answer in one sentence.
std::string sentence_of(const sweeps::BanditAnswer& answer);
/// Where the reward misleads: E[1/N] is not 1/E[N], and its cost is not the round's time. One sentence per line.
std::string misled_text(const sweeps::BanditAnswer& answer);
std::string bandit_table(const sweeps::BanditAnswer& answer);
/// Format "treeline-bandit", version 1. "regret" holds columns of equal length, ready to plot.
nlohmann::ordered_json bandit_json(const sweeps::BanditAnswer& answer);
/// What it gains, time lost and the shapes that ran, as a section of any page.
FigureSection bandit_section(const sweeps::BanditAnswer& answer);
/// A self-contained page of charts.
std::string bandit_html(const sweeps::BanditAnswer& answer);
/// The regret curve, one line per round.
std::string bandit_csv(const sweeps::BanditAnswer& answer);

}  // namespace treeline::reports
