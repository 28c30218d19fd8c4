// The page of a sweep: heat maps over any two axes, the Pareto set, parallel coordinates, and how much each axis matters.
#pragma once

#include <string>

#include "sweeps/sweep_answer.h"

namespace treeline::reports {

/// Adds the groups that the page is made of: every axis with several values, and every pair of them that makes a readable map.
void add_page_groups(const sweeps::DesignSpace& space, sweeps::SweepOptions& options);

/// The page, of an answer whose options went through add_page_groups().
std::string sweep_page(const sweeps::SweepAnswer& answer);

}  // namespace treeline::reports
