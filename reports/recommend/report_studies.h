// What the report shows besides the recommendation: the studies of `treeline study break-even`, `bandit` and `traffic` for the
// recommended configuration.
#pragma once

#include <vector>

#include "reports/figure.h"
#include "sweeps/recommend_answer.h"

namespace treeline::reports {

/// Those that apply: break-even if siblings' acceptance is known and trees can be verified, the bandit if several shapes are
/// among the candidates, traffic if speculation is recommended. Requests and tasks are assumed, and the page says so.
std::vector<FigureSection> study_sections(const sweeps::Answer& answer);

}  // namespace treeline::reports
