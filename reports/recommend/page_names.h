// Names for people who read a page and typed none of it.
#pragma once

#include <string>

#include "sweeps/recommend_answer.h"

namespace treeline::reports {

/// "EAGLE-3" of "eagle3", "EAGLE-3 qwen3-14b" of the published drafter "eagle3-qwen3-14b"; other words stay.
std::string drafter_name(std::string word);

/// The answer with devices by their titles ("NVIDIA H100 SXM 80 GB") and kinds of drafters as papers write them ("EAGLE-3") in
/// place of the words of inputs and flags. Words stay where two devices have one title.
sweeps::Answer with_names(sweeps::Answer answer);

}  // namespace treeline::reports
