// Does the protocol measure what it should, skip what does not fit, and do its statistics hold?
#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>

#include "calibrate/held_out_layer.h"
#include "calibrate/measure/machine.h"
#include "calibrate/measure/protocol.h"
#include "setups.h"

namespace measurement_protocol_test {

using namespace treeline;
using namespace treeline::calibrate;

namespace {

const MeasuredDevice cpu{&kernels::cpu_backend(), false, {}};

ProtocolOptions short_run() {
    ProtocolOptions options;
    options.least_samples = 3;
    options.most_samples = 5;
    options.seconds = 1.0;
    options.limits = {1e9, 1.0};  // the machine that runs tests is a busy one
    return options;
}

Sample sample(double seconds, double launch, std::vector<double> parts = {}) {
    Sample result;
    result.seconds = seconds;
    result.parts = std::move(parts);
    result.before.launch = result.after.launch = launch;
    return result;
}

const PassDone nothing = [](const std::vector<Measurement>&, double, double) {};

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

TEST_CASE("every kernel is visited in every pass, and a slower one takes longer") {
    Workspace workspace(kernels::cpu_backend(), std::size_t{1} << 20);
    int fast_runs = 0, slow_runs = 0, third_runs = 0;
    const std::vector<KernelCase> cases = {waiting("fast", 200, fast_runs), waiting("slow", 2000, slow_runs),
                                           waiting("third", 200, third_runs)};
    std::vector<Skipped> skipped;
    const std::vector<Target> targets = kernel_targets(cpu, cases, {0, 1, 2}, workspace, skipped);
    Sentinel sentinel(cpu, std::size_t{1} << 16);
    std::vector<std::size_t> reported;
    const ProtocolRun run =
        measure(sentinel, targets, short_run(), [&](const std::vector<Measurement>& measurements, double, double planned) {
            reported.push_back(measurements.size());
            CHECK(planned == 1.0);
        });
    CHECK(skipped.empty());
    REQUIRE(run.measurements.size() == 3);
    CHECK(run.passes.size() >= 3);
    CHECK(run.passes.front().visits == 3);
    CHECK(run.passes.front().conditions.read > 0.0);
    CHECK(reported.front() == 3);  // known after the first pass, however little
    CHECK(run.drifted() == 0);
    std::vector<double> medians(3);
    for (const Measurement& each : run.measurements) {
        medians[each.index] = each.median;
        CHECK(each.samples >= 3);
        CHECK(each.first_quartile <= each.median);
        CHECK(each.median <= each.third_quartile);
        CHECK(each.seen.launch > 0.0);
    }
    // A loaded machine makes waits longer, never shorter.
    CHECK(medians[0] >= 200e-6);
    CHECK(medians[1] >= 2000e-6);
    // Two runs to get ready, and three samples after a rehearsal each; long ones are not rehearsed, and on a loaded machine the
    // short ones may look long.
    CHECK(third_runs >= 2 + 3);
    CHECK(slow_runs <= third_runs);
}

TEST_CASE("a kernel that does not fit is skipped with a sentence") {
    Workspace workspace(kernels::cpu_backend(), std::size_t{1} << 20);
    int runs = 0;
    std::vector<KernelCase> cases = {waiting("fits", 100, runs), waiting("large", 100, runs)};
    cases[1].largest_piece = std::size_t{3} << 20;
    std::vector<Skipped> skipped;
    CHECK(kernel_targets(cpu, cases, {0, 1}, workspace, skipped).size() == 1);
    REQUIRE(skipped.size() == 1);
    CHECK(skipped[0].reason == "wait name=large needs 3 MiB at once, more than the 1 MiB set aside on this device");
}

TEST_CASE("a case that fails costs itself alone, and every other one is reported when it is first measured") {
    Workspace workspace(kernels::cpu_backend(), std::size_t{1} << 20);
    int runs = 0, third_runs = 0;
    std::vector<KernelCase> cases = {waiting("good", 100, runs), waiting("bad to set up", 100, runs),
                                     waiting("bad to run", 100, runs), waiting("without memory", 100, runs)};
    cases[1].prepare = [](Workspace&) -> KernelRun { throw kernels::KernelError("no algorithm"); };
    cases[2].prepare = [&](Workspace&) -> KernelRun {
        return [&](kernels::Queue) {
            // Two runs make it ready and one rehearses; the third that is timed fails.
            if (++third_runs > 6) {
                throw kernels::KernelError("an illegal access");
            }
        };
    };
    cases[3].prepare = [](Workspace&) -> KernelRun { throw std::bad_alloc(); };
    std::vector<Skipped> skipped;
    const std::vector<Target> targets = kernel_targets(cpu, cases, {0, 1, 2, 3}, workspace, skipped);
    CHECK(targets.size() == 4);
    Sentinel sentinel(cpu, std::size_t{1} << 16);
    std::vector<std::size_t> seen;
    const ProtocolRun run = measure(sentinel, targets, short_run(), nothing,
                                    [&](const Measurement& measurement) { seen.push_back(measurement.index); });
    CHECK(std::count(seen.begin(), seen.end(), 0U) == 1);
    CHECK(std::any_of(run.measurements.begin(), run.measurements.end(), [](const Measurement& m) { return m.index == 0; }));
    CHECK(std::none_of(run.measurements.begin(), run.measurements.end(),
                       [](const Measurement& m) { return m.index == 1 || m.index == 3; }));
    std::map<std::size_t, std::string> reasons;
    for (const Skipped& each : skipped) {
        CHECK_FALSE(each.is_fatal);
        CHECK(reasons.emplace(each.index, each.reason).second);  // and is not asked again
    }
    REQUIRE(reasons.size() == 3);
    CHECK(reasons[1] == "wait name=bad to set up failed: no algorithm");
    CHECK(reasons[2] == "wait name=bad to run failed: an illegal access");
    CHECK(reasons[3] == "wait name=without memory needs more memory than is available");
}

TEST_CASE("a device that does not work any more ends the run, and is told apart from a case that fails") {
    static bool works = true;
    kernels::Backend lost = kernels::cpu_backend();
    lost.empty = [](kernels::Queue) {
        if (!works) {
            throw kernels::KernelError("the context is gone");
        }
    };
    const MeasuredDevice device{&lost, false, {}};
    Workspace workspace(kernels::cpu_backend(), std::size_t{1} << 20);
    int runs = 0;
    std::vector<KernelCase> cases = {waiting("deadly", 100, runs)};
    cases[0].prepare = [](Workspace&) -> KernelRun {
        works = false;
        throw kernels::KernelError("an illegal access");
    };
    std::vector<Skipped> skipped;
    const std::vector<Target> targets = kernel_targets(device, cases, {0}, workspace, skipped);
    Sentinel sentinel(cpu, std::size_t{1} << 16);
    CHECK_THROWS_AS(measure(sentinel, targets, short_run(), nothing), DeviceLost);
    REQUIRE(skipped.size() == 1);
    CHECK(skipped[0].is_fatal);
}

TEST_CASE("what a short run needs most comes first, and nothing is visited after the deadline") {
    std::vector<std::size_t> order;
    std::vector<Target> targets;
    for (std::size_t i = 0; i < 20; ++i) {
        targets.push_back({i, [&order, i](Sentinel&) {
                               order.push_back(i);
                               return std::vector<Sample>{sample(1.0, 1e-6)};
                           }});
        targets.back().rank = i < 10 ? 1 : 0;
    }
    ProtocolOptions options = short_run();
    options.seconds = 0.01;
    Sentinel sentinel(cpu, std::size_t{1} << 16);
    static_cast<void>(measure(sentinel, targets, options, nothing));
    REQUIRE(order.size() >= 20);
    CHECK(std::all_of(order.begin(), order.begin() + 10, [](std::size_t i) { return i >= 10; }));
    order.clear();
    options.deadline = 0.0;
    const ProtocolRun none = measure(sentinel, targets, options, nothing);
    CHECK(order.empty());
    CHECK(none.measurements.empty());
}

TEST_CASE("a kernel's operands come from memory that other runs used up, and what has none says so") {
    Workspace workspace(kernels::cpu_backend(), std::size_t{1} << 20);
    KernelCase kernel;
    kernel.table = "reads";
    kernel.prepare = [](Workspace& from) -> KernelRun {
        return [&from](kernels::Queue) {
            static_cast<void>(from.next_input(4096));
            static_cast<void>(from.next_state(1024, kernels::ElementType::fp32));
        };
    };
    int runs = 0;
    const KernelTimers timers(cpu);
    const std::unique_ptr<KernelTimer> reads = timers.make(kernel, workspace);
    CHECK(reads->operand_bytes() == 4096 + 1024);
    CHECK(reads->eviction() == Eviction::rotation);
    CHECK(timers.make(waiting("nothing", 10, runs), workspace)->eviction() == Eviction::none);
}

TEST_CASE("cases share scratch memory, which stays where a recorded run found it") {
    Workspace workspace(kernels::cpu_backend(), std::size_t{1} << 20);
    workspace.start_case();
    void* const first = workspace.scratch(1000);
    CHECK(workspace.scratch(1000) != first);
    workspace.start_case();
    CHECK(workspace.scratch(64) == first);
    workspace.start_case();
    auto* const large = static_cast<std::byte*>(workspace.scratch(std::size_t{1} << 20));
    std::fill(large, large + (std::size_t{1} << 20), std::byte{1});
    *static_cast<std::byte*>(first) = std::byte{2};  // still there
}

TEST_CASE("a machine of two states is described in the one in which most is known") {
    // Cores meet in 1 us in most samples. The decoder, though, and with it the other kernel, ran while they met in 0.5 us.
    int visits = 0, rounds = 0;
    const auto kernel = [&](double fast, double slow) {
        return [&, fast, slow](Sentinel&) {
            const bool is_fast = visits++ % 3 == 0;
            return std::vector<Sample>{sample(is_fast ? fast : slow, is_fast ? 0.5e-6 : 1e-6)};
        };
    };
    std::vector<Target> targets = {{10, kernel(1.0, 2.0)}, {11, kernel(3.0, 6.0)}};
    ProtocolOptions options = short_run();
    options.limits = {};
    options.least_samples = 6;
    options.most_samples = 12;
    options.enough = -1.0;
    Sentinel sentinel(cpu, std::size_t{1} << 16);
    const ProtocolRun one = measure(sentinel, targets, options, nothing);
    CHECK(one.typical.launch == 1e-6);
    CHECK(one.states.size() == 2);
    REQUIRE(one.measurements.size() == 2);
    CHECK(one.measurements[0].median == 2.0);
    CHECK(one.measurements[1].index == 11);
    CHECK(one.measurements[1].median == 6.0);
    CHECK(one.samples == 24);
    CHECK(one.samples_elsewhere == 8);

    visits = 0;
    for (std::size_t decoder = 12; decoder < 16; ++decoder) {
        targets.push_back({decoder,
                           [&](Sentinel&) {
                               ++rounds;
                               return std::vector<Sample>(8, sample(7.0, 0.5e-6, {3.0, 4.0}));
                           },
                           true});
    }
    const ProtocolRun other = measure(sentinel, targets, options, nothing);
    CHECK(other.typical.launch == 0.5e-6);
    REQUIRE(other.measurements.size() == 6);
    CHECK(other.measurements[0].median == 1.0);
    CHECK(other.measurements[5].parts == std::vector<double>{3.0, 4.0});
    CHECK(other.drifted() == 0);
    CHECK(rounds >= 4);
    CHECK(rounds <= 40);  // visited ten times at the most
}

TEST_CASE("what never saw the typical state is marked, and what brings no sample is not asked again") {
    int asked = 0;
    const std::vector<Target> targets = {{0, [](Sentinel&) { return std::vector<Sample>{sample(1.0, 1e-6)}; }},
                                         {1, [](Sentinel&) { return std::vector<Sample>{sample(2.0, 1e-6)}; }},
                                         {2, [](Sentinel&) { return std::vector<Sample>{sample(3.0, 4e-6)}; }},
                                         {3,
                                          [&](Sentinel&) {
                                              ++asked;
                                              return std::vector<Sample>();
                                          },
                                          true}};
    ProtocolOptions options = short_run();
    options.limits = {};
    options.seconds = 0.05;
    Sentinel sentinel(cpu, std::size_t{1} << 16);
    const ProtocolRun run = measure(sentinel, targets, options, nothing);
    REQUIRE(run.measurements.size() == 3);
    CHECK(run.typical.launch == 1e-6);
    CHECK(run.drifted() == 1);
    CHECK(run.measurements[2].drifted);
    CHECK(run.measurements[2].median == 3.0);
    CHECK(asked == 1);
}

TEST_CASE("a run goes on in the state that an earlier one measured") {
    const std::vector<Target> targets = {{0, [](Sentinel&) { return std::vector<Sample>{sample(1.0, 1e-6)}; }}};
    ProtocolOptions options = short_run();
    options.limits = {};
    options.seconds = 0.05;
    Conditions earlier;
    earlier.launch = 0.5e-6;
    options.earlier = {earlier, earlier};
    Sentinel sentinel(cpu, std::size_t{1} << 16);
    const ProtocolRun run = measure(sentinel, targets, options, nothing);
    CHECK(run.typical.launch == 0.5e-6);
    CHECK(run.drifted() == 1);
}

TEST_CASE("median, quartiles and deviation of samples by hand") {
    // Sorted 1 2 3 4 10: median 3, quartiles 2 and 4, distances 2 1 0 1 7 whose median is 1.
    std::vector<Sample> samples;
    for (const double seconds : {10.0, 1.0, 3.0, 2.0, 4.0}) {
        samples.push_back(sample(seconds, 1e-6, {0.5 * seconds}));
    }
    samples.push_back(sample(100.0, 3e-6, {1.0}));
    samples.push_back(sample(100.0, 1e-6, {1.0}));
    samples.back().after.launch = 3e-6;  // the state changed while it ran
    Conditions state;
    state.launch = 1.1e-6;
    const Measurement measured = summary_of(4, samples_in(state, samples, {}));
    CHECK(measured.index == 4);
    CHECK(measured.samples == 5);
    CHECK(measured.time() == 2.0);
    CHECK(measured.median == 3.0);
    CHECK(measured.first_quartile == 2.0);
    CHECK(measured.third_quartile == 4.0);
    CHECK(measured.deviation == 1.0);
    CHECK(measured.parts == std::vector<double>{1.0});
    CHECK(measured.seen.launch == 1e-6);
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
        std::set<std::string> expected = {"attention_decode", "conv1d", "element_wise", "gemm", "launch", "layer",
                                          "mamba2_scan",      "probe",  "sampling"};
        if (on_gpu) {
            expected.insert({"all_reduce", "attention_prefill", "delta_scan", "experts", "host", "latent_attention",
                             "mamba1_scan", "mamba2_prompt"});
        }
        CHECK(tables == expected);
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
    for (const sim::Operation& operation : operations_of(layer)) {
        weights += operation.kind == sim::OperationKind::linear ? operation.bytes.fixed.value() : 0.0;
    }
    CHECK(weights == 4.0 * 14'909'440.0);
    const sim::Device device = testing::device("h100-sxm");
    const Seconds one = predicted_time(layer, device);
    layer.shape.sequences *= 8.0;
    CHECK(predicted_time(layer, device) > one);
}

TEST_CASE("names of machines are catalogue names") {
    CHECK(catalogue_name("Intel(R) Xeon(R) 8480+") == "intel-r-xeon-r-8480");
    CHECK(catalogue_name("***") == "device");
    CHECK(host_machine().cores >= 1);
}

}  // namespace measurement_protocol_test
