#include "requests/parallelism_reader.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "requests/keys/setup_keys.h"
#include "sweeps/cuts.h"

namespace treeline::requests {

namespace {

/// "gpus" beside the degrees: alone it is the tensor parallelism.
void read_devices(json::Reader& at, sim::Platform& platform) {
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

/// Once it is known how many ranks share the target: 0 where as many share the drafter.
void set_draft_ranks(double stated, sim::Platform& platform) {
    platform.parallel.draft_tensor = stated == platform.ranks ? 0.0 : stated;
}

}  // namespace

void read_parallelism(json::Reader& at, sim::Platform& platform) {
    platform.ranks = read<double>(at, platform_keys::tensor_parallel);
    platform.parallel.experts = read<double>(at, platform_keys::expert_parallel);
    platform.parallel.data = read<double>(at, platform_keys::attention_data_parallel);
    platform.parallel.pipeline = read<double>(at, platform_keys::pipeline_parallel);
    platform.parallel.context = read<double>(at, platform_keys::decode_context_parallel);
    read_devices(at, platform);
    set_draft_ranks(read_or<double>(at, platform_keys::draft_tensor_parallel, 0), platform);
}

namespace {

/// Those of the cuts that have the degrees that are given.
void keep_given(json::Reader& at, std::vector<sim::Platform>& cuts) {
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
}

/// Numbers of devices from `from` to `to` that have no cut.
sweeps::Exclusion without_cut(const sim::Platform& platform, int from, int to, const sim::Model& target) {
    const std::string name = fmt::format("{}x {}", from, platform.device.name);
    return {from == to ? name : fmt::format("{}x to {}x {}", from, to, platform.device.name),
            sweeps::why_no_cut(platform, from, target), sweeps::Exclusion::no_variant};
}

}  // namespace

std::vector<sim::Platform> read_cuts(json::Reader& at, sim::Platform platform, const sim::Model& target,
                                     std::vector<sweeps::Exclusion>* excluded) {
    platform.parallel.context = read<double>(at, platform_keys::decode_context_parallel);
    platform.parallel.draft_tensor = read_or<double>(at, platform_keys::draft_tensor_parallel, 0);
    const bool up_to = at.raw().at(std::string(platform_keys::gpus)).is_object();
    int first = 1, last = 1;
    if (up_to) {
        json::Reader most = at.object(platform_keys::gpus);
        last = read<int>(most, gpus_keys::up_to);
        most.finish();
    } else {
        first = last = read_or<int>(at, platform_keys::gpus, 1);
    }
    std::vector<sim::Platform> all;
    int none_from = 0;  // first of the numbers without a cut; 0 = none
    for (int gpus = first; gpus <= last + 1; ++gpus) {
        std::vector<sim::Platform> cuts = gpus <= last ? sweeps::cuts_of(platform, gpus, target) : std::vector<sim::Platform>();
        keep_given(at, cuts);
        if (cuts.empty() && gpus <= last) {
            none_from = none_from == 0 ? gpus : none_from;
        } else if (none_from != 0) {
            if (excluded != nullptr) {
                excluded->push_back(without_cut(platform, none_from, gpus - 1, target));
            }
            none_from = 0;
        }
        all.insert(all.end(), cuts.begin(), cuts.end());
    }
    if (all.empty() && excluded == nullptr) {
        at.problem(platform_keys::gpus, up_to ? fmt::format("is up to {}: no cut that {} offers shares {} among 1 to {} {}",
                                                            last, platform.stack.name, target.name, last, platform.device.name)
                                              : fmt::format("is {}: no cut that {} offers shares {} among so many {}", last,
                                                            platform.stack.name, target.name, platform.device.name));
    }
    for (sim::Platform& cut : all) {
        set_draft_ranks(cut.parallel.draft_tensor, cut);
    }
    return all;
}

}  // namespace treeline::requests
