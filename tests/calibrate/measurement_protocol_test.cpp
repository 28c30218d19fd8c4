// Does the protocol measure what it should, skip what does not fit, and do its statistics hold?
#include <catch2/catch.hpp>

#include <chrono>
#include <cmath>
#include <map>
#include <set>

#include "calibrate/held_out_layer.h"
#include "calibrate/measure/machine.h"
#include "calibrate/measure/protocol.h"
#include "setups.h"

using namespace treeline;

namespace {

ProtocolOptions short_run() {
    ProtocolOptions options;
    options.least_samples = 3;
    options.most_samples = 5;
    options.seconds = 1.0;
    options.cases_a_block = 2;
    return options;
}

/// A case whose runs busily wait so long, and count.
KernelCase waiting(const std::string& name, double microseconds, int& runs) {
    KernelCase kernel;
    kernel.table = "wait";
    kernel.columns = {{"name", name}};
    kernel.prepare = [=, &runs](Workspace&) -> KernelRun {
        return [=, &runs](kernels::Queue) {
            using Clock = std::chrono::steady_clock;
            const Clock::time_point end = Clock::now() + std::chrono::microseconds(static_cast<int>(microseconds));
            while (Clock::now() < end) {}
            ++runs;
        };
    };
    return kernel;
}

}  // namespace

TEST_CASE("every case is measured once, and a slower one takes longer") {
    Workspace workspace(kernels::cpu_backend(), std::size_t{1} << 20);
    int fast_runs = 0, slow_runs = 0, third_runs = 0;
    const std::vector<KernelCase> cases = {waiting("fast", 200, fast_runs), waiting("slow", 2000, slow_runs),
                                           waiting("third", 200, third_runs)};
    std::size_t reported = 0;
    const ProtocolRun run = measure({&kernels::cpu_backend(), false, {}}, cases, {0, 1, 2}, workspace, short_run(),
                                    [&](const std::vector<Measurement>& block, std::size_t, std::size_t total) {
                                        reported += block.size();
                                        CHECK(total == 3);
                                    });
    REQUIRE(run.measurements.size() == 3);
    CHECK(reported >= 3);           // a block that was measured again is reported again
    CHECK(run.blocks.size() == 2);  // three cases in blocks of two
    std::vector<double> medians(3);
    for (const Measurement& each : run.measurements) {
        medians[each.kernel] = each.median;
        CHECK(each.samples >= 3);
        CHECK(each.first_quartile <= each.median);
        CHECK(each.median <= each.third_quartile);
    }
    // A loaded machine makes waits longer, never shorter.
    CHECK(medians[0] >= 200e-6);
    CHECK(medians[1] >= 2000e-6);
    CHECK(third_runs >= 5);  // two to get ready, three samples
}

TEST_CASE("a case that does not fit is skipped with a sentence, the others are measured") {
    Workspace workspace(kernels::cpu_backend(), std::size_t{1} << 20);
    int runs = 0;
    std::vector<KernelCase> cases = {waiting("fits", 100, runs), waiting("large", 100, runs)};
    cases[1].largest_piece = std::size_t{3} << 20;
    const ProtocolRun run = measure({&kernels::cpu_backend(), false, {}}, cases, {0, 1}, workspace, short_run(),
                                    [](const std::vector<Measurement>&, std::size_t, std::size_t) {});
    CHECK(run.measurements.size() == 1);
    REQUIRE(run.skipped.size() == 1);
    CHECK(run.skipped[0].reason ==
          "wait name=large needs 3 MiB at once, more than the 1 MiB that are set aside on this device");
}

TEST_CASE("median, quartiles and deviation of samples by hand") {
    // Sorted 1 2 3 4 10: median 3, quartiles 2 and 4, distances 2 1 0 1 7 whose median is 1.
    const Measurement measured = summary_of(4, {10, 1, 3, 2, 4});
    CHECK(measured.kernel == 4);
    CHECK(measured.median == 3.0);
    CHECK(measured.first_quartile == 2.0);
    CHECK(measured.third_quartile == 4.0);
    CHECK(measured.deviation == 1.0);
    // 1.57 · (4 − 2) / (√5 · 3)
    CHECK(median_uncertainty(measured) == Approx(1.57 * 2.0 / (std::sqrt(5.0) * 3.0)));
}

TEST_CASE("rotating memory comes back only after all of it was used; activations stay where they are") {
    Workspace workspace(kernels::cpu_backend(), 4096);
    const std::byte* first = workspace.next_input(1024);
    std::set<const std::byte*> places = {first};
    for (int i = 0; i < 3; ++i) {
        places.insert(workspace.next_input(1024));
    }
    CHECK(places.size() == 4);
    CHECK(workspace.next_input(1024) == first);
    CHECK(workspace.next_state(256, kernels::ElementType::fp32) != workspace.next_state(256, kernels::ElementType::bf16));
    workspace.start_activations();
    const void* x = workspace.activations(2, 64, kernels::ElementType::fp32).data;
    workspace.start_activations();
    CHECK(workspace.activations(2, 64, kernels::ElementType::fp32).data == x);
    CHECK_THROWS_AS(workspace.next_input(8192), std::length_error);
}

TEST_CASE("the cases of a device have names of their own, and every kernel family is there") {
    for (const bool on_gpu : {false, true}) {
        const std::vector<KernelCase> cases = kernel_cases({Thoroughness::full, on_gpu}, 1 << 20);
        std::set<std::string> names, tables;
        for (const KernelCase& kernel : cases) {
            names.insert(kernel.name());
            tables.insert(kernel.table);
        }
        CHECK(names.size() == cases.size());
        CHECK(tables == std::set<std::string>{"attention_decode", "conv1d", "element_wise", "gemm", "launch", "layer",
                                              "mamba2_scan", "probe", "sampling"});
    }
}

TEST_CASE("rotary embeddings and choices for a tree are measured, by few cases") {
    Workspace workspace(kernels::cpu_backend(), std::size_t{16} << 20);
    for (const bool on_gpu : {false, true}) {
        std::map<std::string, int> counted;
        for (const KernelCase& kernel : kernel_cases({Thoroughness::full, on_gpu}, 1 << 20)) {
            const bool is_new = kernel.columns.front().second == "rotary" || kernel.columns.front().second == "top_choices";
            if (is_new) {
                ++counted[kernel.columns.front().second];
            }
            if (is_new && !on_gpu && kernel.largest_piece < (std::size_t{1} << 20)) {
                kernel.prepare(workspace)({});
            }
        }
        CHECK(counted == std::map<std::string, int>{{"rotary", 12}, {"top_choices", 12}});
    }
}

TEST_CASE("a held-out layer is priced by its kernels alone") {
    // Without calibration the roofline's time remains: weights of width 896, 14 heads on 2 of 64, hidden 4864 in fp32 are
    // 4 B · (896 · (14 + 4) · 64 + 14 · 64 · 896 + 3 · 896 · 4864) = 4 B · 14,909,440.
    HeldOutLayer layer = held_out_layers(false, true).front();
    REQUIRE(layer.family == LayerFamily::transformer);
    double weights = 0.0;
    for (const Operation& operation : operations_of(layer)) {
        weights += operation.kind == OperationKind::linear ? operation.bytes.fixed.value() : 0.0;
    }
    CHECK(weights == 4.0 * 14'909'440.0);
    const Device device = testing::device("h100-sxm");
    const Seconds one = predicted_time(layer, device);
    layer.shape.sequences *= 8.0;
    CHECK(predicted_time(layer, device) > one);
}

TEST_CASE("names of machines are catalogue names") {
    CHECK(catalogue_name("Intel(R) Xeon(R) 8480+") == "intel-r-xeon-r-8480");
    CHECK(catalogue_name("***") == "device");
    CHECK(host_machine().cores >= 1);
}
