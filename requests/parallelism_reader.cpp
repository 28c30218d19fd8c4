#include "requests/parallelism_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/input_limits.h"
#include "sweeps/cuts.h"

namespace treeline {
namespace {

double degree(json::Reader& at, const char* key) { return static_cast<double>(at.count_or(key, 1, 1, most_ranks)); }

}  // namespace

const std::vector<const char*>& parallelism_keys() {
    static const std::vector<const char*> keys = {"tensor_parallel", "expert_parallel", "attention_data_parallel",
                                                  "pipeline_parallel", "draft_tensor_parallel"};
    return keys;
}

void read_parallelism(json::Reader& at, Platform& platform) {
    platform.ranks = degree(at, "tensor_parallel");
    platform.parallel.experts = degree(at, "expert_parallel");
    platform.parallel.data = degree(at, "attention_data_parallel");
    platform.parallel.pipeline = degree(at, "pipeline_parallel");
    platform.parallel.draft_tensor = static_cast<double>(at.count_or("draft_tensor_parallel", 0, 1, most_ranks));
    if (platform.parallel.draft_tensor == platform.ranks) {
        platform.parallel.draft_tensor = 0.0;
    }
    if (!at.has("gpus")) {
        return;
    }
    const auto gpus = static_cast<double>(at.count_or("gpus", 1, 1, most_ranks));
    const bool alone = !at.has("tensor_parallel") && !at.has("attention_data_parallel") && !at.has("pipeline_parallel");
    if (alone) {
        platform.ranks = gpus;
    }
    if (platform.devices() != gpus) {
        at.problem("gpus",
                   fmt::format("is {:.0f}, but tensor_parallel {:.0f} x attention_data_parallel {:.0f} x "
                               "pipeline_parallel {:.0f} make {:.0f} devices",
                               gpus, platform.ranks, platform.parallel.data, platform.parallel.pipeline, platform.devices()));
    }
}

std::vector<Platform> read_cuts(json::Reader& at, const Platform& platform, const Model& target) {
    const auto gpus = static_cast<double>(at.count_or("gpus", 1, 1, most_ranks));
    std::vector<Platform> cuts = cuts_of(platform, gpus, target);
    const auto keep = [&](const char* key, auto degree_of) {
        if (at.has(key)) {
            const double wanted = degree(at, key);
            std::erase_if(cuts, [&](const Platform& cut) { return degree_of(cut) != wanted; });
        }
    };
    keep("tensor_parallel", [](const Platform& cut) { return cut.ranks; });
    keep("expert_parallel", [](const Platform& cut) { return cut.parallel.experts; });
    keep("attention_data_parallel", [](const Platform& cut) { return cut.parallel.data; });
    keep("pipeline_parallel", [](const Platform& cut) { return cut.parallel.pipeline; });
    if (cuts.empty()) {
        at.problem("gpus", fmt::format("is {:.0f}: no cut that {} offers shares {} among so many {}", gpus, platform.stack.name,
                                       target.name, platform.device.name));
    }
    for (Platform& cut : cuts) {
        cut.parallel.draft_tensor = platform.parallel.draft_tensor;
    }
    return cuts;
}

}  // namespace treeline
