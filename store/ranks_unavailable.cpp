#include "store/ranks.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace treeline::store {

int launched_ranks() {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
        if (const char* size = std::getenv(name)) {
            return std::max(1, std::atoi(size));
        }
    }
    return 1;
}

std::string ranks_problem() {
    return "this treeline was built without MPI, so its processes cannot share a sweep: install libopenmpi-dev and build "
           "again, "
           "or give each process a share with --part I/N --store FILE";
}

Ranks::Ranks() { throw std::runtime_error(ranks_problem()); }
Ranks::~Ranks() = default;
bool Ranks::leads() const { return true; }
sweeps::SweepSummary Ranks::run(const sweeps::DesignSpace& space, const sweeps::SweepOptions& options) {
    return sweeps::run_sweep(space, options);
}

}  // namespace treeline::store
