// Internal to diagnose(): the causes that explain its loads, likeliest first.
#pragma once

#include "sweeps/diagnosis.h"

namespace treeline {

std::vector<Cause> causes_of(const Diagnosis& diagnosis);

}  // namespace treeline
