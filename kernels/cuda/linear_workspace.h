// What linear layers need of a queue before it can record them: recording allows no allocation.
#pragma once

#include "kernels/backend.h"

namespace treeline::kernels::cuda {

void prepare_linear(Queue queue);
void release_linear(Queue queue);

}  // namespace treeline::kernels::cuda
