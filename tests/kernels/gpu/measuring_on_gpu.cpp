// Does the measuring protocol run on a CUDA device: every family of kernels recorded as a graph, replayed and timed?
#include <catch2/catch.hpp>

#include <map>
#include <set>

#include "calibrate/measure/protocol.h"

using namespace treeline;

namespace {

bool has_peer() {
    try {
        const kernels::PeerRanks ranks(16);
        return true;
    } catch (const kernels::NoPeer&) {
        return false;
    }
}

}  // namespace

TEST_CASE("the smallest case of every table is measured on the device", "[on_device]") {
    constexpr std::size_t rotation = std::size_t{8} << 20;
    const calibrate::MeasuredDevice device{&kernels::cuda_backend(), true, {}};
    calibrate::Workspace workspace(*device.backend, rotation);
    const std::vector<calibrate::KernelCase> cases =
        calibrate::kernel_cases({calibrate::Thoroughness::quick, true}, std::size_t{1} << 16);
    std::map<std::string, std::vector<std::size_t>> by_table;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (cases[i].table == "attention_prefill" || cases[i].table == "mamba2_prompt") {
            continue;  // prompts: more tokens than an emulated device bears
        }
        by_table[cases[i].table].push_back(i);
    }
    std::vector<std::size_t> chosen;
    for (auto& [table, indices] : by_table) {
        const auto smallest = std::min_element(indices.begin(), indices.end(), [&](std::size_t a, std::size_t b) {
            return cases[a].largest_piece < cases[b].largest_piece;
        });
        std::iter_swap(indices.begin(), smallest);
        chosen.push_back(indices.front());
    }
    calibrate::ProtocolOptions options;
    options.least_samples = 1;
    options.most_samples = 1;
    options.seconds = 1.0;
    options.limits = {1e9, 1.0};  // times mean nothing here
    std::vector<calibrate::Skipped> skipped;
    const std::vector<calibrate::Target> targets = calibrate::kernel_targets(device, cases, chosen, workspace, skipped);
    calibrate::Sentinel sentinel(device, rotation / 2);
    const calibrate::ProtocolRun run =
        calibrate::measure(sentinel, targets, options, [](const std::vector<calibrate::Measurement>&, double, double) {});
    CHECK(run.measurements.size() + skipped.size() == chosen.size());
    for (const calibrate::Skipped& each : skipped) {
        UNSCOPED_INFO(each.reason);
    }
    // Every table but those whose smallest case is larger than the memory set aside, or takes a device that is not there.
    std::set<std::string> measured;
    for (const calibrate::Measurement& each : run.measurements) {
        measured.insert(cases[each.index].table);
    }
    for (const auto& [table, indices] : by_table) {
        const calibrate::KernelCase& smallest = cases[indices.front()];
        const bool fits = smallest.prepare_peers != nullptr ? has_peer() : workspace.holds(smallest.largest_piece);
        INFO(table);
        CHECK(measured.count(table) == (fits ? 1U : 0U));
    }
    for (const calibrate::Measurement& each : run.measurements) {
        INFO(cases[each.index].name());
        CHECK(each.median > 0.0);
    }
}
