// Kernels with one mistake each, to see that the emulation finds it.
#pragma once

#include <string>
#include <vector>

#include "kernels/element.h"

namespace treeline::testing {

enum class Mistake {
    none,               ///< sums a block's numbers as it should be done
    missing_barrier,    ///< reads shared memory that another thread writes
    divergent_barrier,  ///< half of the block never comes to the barrier
    two_barriers,       ///< the halves of a block wait at different barriers
    divergent_shuffle,  ///< a shuffle names lanes that do not take part
    past_the_end,       ///< writes the element behind the memory allocated
    of_the_host,        ///< reads the host's memory
    misaligned,         ///< loads four floats from the second on
    global_race,        ///< all blocks write one number
    too_much_shared,    ///< 48 KB of dynamic shared memory beside what it declares
    none_with_copies,   ///< no mistake: the numbers come by copies that go on beside the thread
    awaits_no_copies,   ///< reads what copies bring without waiting for them
    missing_after_copy  ///< waits for its own copies and reads what others' brought
};

/// Runs it on 64 ones, of which 64 should be the sum; throws kernels::KernelError as the kernels' own launches do.
float sum_with(Mistake mistake);

/// `sum` + a b for matrices of 16 x 16, 16 x 8 and 16 x 8 elements in rows, by the instruction of tensor cores. With a lane
/// less the warp never gets there.
std::vector<float> product_of(const std::vector<kernels::Bf16>& a, const std::vector<kernels::Bf16>& b,
                              const std::vector<float>& sum, unsigned lanes);

}  // namespace treeline::testing
