// Names for people who read a page and typed none of it.
#pragma once

#include "sweeps/recommend_answer.h"

namespace treeline::reports {

/// The answer with devices by their titles ("NVIDIA H100 SXM 80 GB") and kinds of drafters as papers write them ("EAGLE-3") in
/// place of the words of inputs and flags. Words stay where two devices have one title.
sweeps::Answer with_names(sweeps::Answer answer);

}  // namespace treeline::reports
