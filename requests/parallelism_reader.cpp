#include "requests/parallelism_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "requests/keys/setup_keys.h"
#include "sweeps/cuts.h"

namespace treeline::requests {

void read_parallelism(json::Reader& at, sim::Platform& platform) {
    platform.ranks = read<double>(at, platform_keys::tensor_parallel);
    platform.parallel.experts = read<double>(at, platform_keys::expert_parallel);
    platform.parallel.data = read<double>(at, platform_keys::attention_data_parallel);
    platform.parallel.pipeline = read<double>(at, platform_keys::pipeline_parallel);
    platform.parallel.draft_tensor = read_or<double>(at, platform_keys::draft_tensor_parallel, 0);
    if (platform.parallel.draft_tensor == platform.ranks) {
        platform.parallel.draft_tensor = 0.0;
    }
    if (!at.has(platform_keys::gpus)) {
        return;
    }
    const auto gpus = read_or<double>(at, platform_keys::gpus, 1);
    const bool alone = !at.has(platform_keys::tensor_parallel) && !at.has(platform_keys::attention_data_parallel) &&
                       !at.has(platform_keys::pipeline_parallel);
    if (alone) {
        platform.ranks = gpus;
    }
    if (platform.devices() != gpus) {
        at.problem(platform_keys::gpus,
                   fmt::format("is {:.0f}, but tensor_parallel {:.0f} x attention_data_parallel {:.0f} x "
                               "pipeline_parallel {:.0f} make {:.0f} devices",
                               gpus, platform.ranks, platform.parallel.data, platform.parallel.pipeline, platform.devices()));
    }
}

std::vector<sim::Platform> read_cuts(json::Reader& at, const sim::Platform& platform, const sim::Model& target) {
    const auto gpus = read_or<double>(at, platform_keys::gpus, 1);
    std::vector<sim::Platform> cuts = sweeps::cuts_of(platform, gpus, target);
    const auto keep = [&](const json::CountKey& key, auto degree_of) {
        if (at.has(key)) {
            const auto wanted = read<double>(at, key);
            std::erase_if(cuts, [&](const sim::Platform& cut) { return degree_of(cut) != wanted; });
        }
    };
    keep(platform_keys::tensor_parallel, [](const sim::Platform& cut) { return cut.ranks; });
    keep(platform_keys::expert_parallel, [](const sim::Platform& cut) { return cut.parallel.experts; });
    keep(platform_keys::attention_data_parallel, [](const sim::Platform& cut) { return cut.parallel.data; });
    keep(platform_keys::pipeline_parallel, [](const sim::Platform& cut) { return cut.parallel.pipeline; });
    if (cuts.empty()) {
        at.problem(platform_keys::gpus, fmt::format("is {:.0f}: no cut that {} offers shares {} among so many {}", gpus,
                                                    platform.stack.name, target.name, platform.device.name));
    }
    for (sim::Platform& cut : cuts) {
        cut.parallel.draft_tensor = platform.parallel.draft_tensor;
    }
    return cuts;
}

}  // namespace treeline::requests
