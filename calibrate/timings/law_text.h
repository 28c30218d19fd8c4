// Runtime laws as people read them.
#pragma once

#include <string>

#include "calibrate/law_selection.h"

namespace treeline::calibrate {

/// "linear, T(n) = 11.2 ms + 52.1 us n"
std::string sentence_of(const RuntimeLaw& law);
/// "52.1 us/token"
std::string text_of(double coefficient, const LawParameter& parameter);
/// "law at context 512", or the fallback for a series without name.
std::string label_of(const std::string& series_name);

}  // namespace treeline::calibrate
