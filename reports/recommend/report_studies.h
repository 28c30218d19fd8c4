// What the report shows beside the recommendation: the studies of `treeline break-even`, `bandit` and `traffic` for the
// recommended configuration.
#pragma once

#include <vector>

#include "reports/figure.h"
#include "sweeps/recommend_answer.h"

namespace treeline {

/// Those that apply: break-even where siblings' acceptance is known and trees can be verified, the bandit where several shapes
/// are among the candidates, traffic wherever speculation is recommended. Requests and tasks are assumed, and say so.
std::vector<FigureSection> study_sections(const Answer& answer);

}  // namespace treeline
