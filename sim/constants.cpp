#include "sim/constants.h"

#include <array>

namespace treeline::sim {

std::span<const Constant* const> all_constants() {
    static constexpr std::array all = {&measured_fall,
                                       &fall_of_lookups,
                                       &steeper_curve,
                                       &flatter_curve,
                                       &deviation_of_kinds,
                                       &kinds_of_the_rest,
                                       &deviation_of_drafters,
                                       &deviation_of_a_measurement,
                                       &lookup_first,
                                       &lookup_further,
                                       &own_routing_of_drafts,
                                       &popular_experts,
                                       &error_shared_by_deployment,
                                       &usual_step_error,
                                       &reach_of_batch,
                                       &reach_of_context,
                                       &reach_of_drafts,
                                       &reach_of_one_load,
                                       &least_carried_tile,
                                       &largest_carried_tile,
                                       &unpacked_by_multiprocessor,
                                       &measured_law_error,
                                       &derived_law_error,
                                       &streamed_from,
                                       &eager_kernel,
                                       &eager_kernels,
                                       &usual_energy_error,
                                       &energy_error};
    return all;
}

}  // namespace treeline::sim
