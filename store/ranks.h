// Processes that share a sweep: `mpirun -n 8 treeline sweep ...`, on one machine or many.
#pragma once

#include <string>

#include "sweeps/sweep.h"

namespace treeline::store {

/// How many processes an MPI launcher started; 1 without one. Reads the launcher's environment, starts nothing.
int launched_ranks();
/// Why they cannot share a sweep, as a sentence; empty if they can.
std::string ranks_problem();

/// This process among its peers. The constructor joins them (MPI_Init), the destructor leaves, and ends them all if the sweep
/// did not come to its end.
class Ranks {
public:
    Ranks();
    ~Ranks();
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;

    /// Rank 0 hands out shares, merges what is kept of them, prints and stores; the others only work.
    [[nodiscard]] bool leads() const;
    /// run_sweep by all ranks: rank 0 returns the answer, the same as that of one process to the last bit; the others serve
    /// until rank 0 has ended, and return an empty one. Uses one thread of each rank unless the options ask for more.
    sweeps::SweepSummary run(const sweeps::DesignSpace& space, const sweeps::SweepOptions& options);

private:
    [[maybe_unused]] bool ended_ = false;
};

}  // namespace treeline::store
