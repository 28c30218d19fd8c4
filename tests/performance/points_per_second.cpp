// How many speculative design points a second does the batch face price, operation by operation in roofline and calibrated
// mode?
//
// Llama-3-8B with a 1B drafter over draft length × batch × context × device; a Transformer and a Mamba over 200 trees, verified
// packed and unrolled. Goals: 5 million points/s on two cores, 2 million with trees; 10^7 points of a sweep in less than 1 GB;
// time that grows linearly with points. Exits with 1 when a goal is missed.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include <fmt/format.h>

#include "sequoia_demo.h"
#include "setups.h"
#include "sweeps/parallel.h"
#include "sweeps/sweep.h"

using namespace treeline;
using namespace treeline::testing;

namespace {

constexpr double goal_points_per_second = 5e6;
constexpr double goal_trees_per_second = 2e6;
constexpr double goal_gigabytes = 1.0;
constexpr double goal_linearity = 1.5;  ///< time per point of the large sweep against the small one

sweeps::DesignSpace space_of(int contexts, sim::CostMode mode = sim::CostMode::roofline) {
    sweeps::DesignSpace space;
    const char* const third = mode == sim::CostMode::roofline ? "rtx-4090" : "h200";
    const char* const mode_label = mode == sim::CostMode::roofline ? "roofline" : "calibrated";
    for (const char* name : {"h100-sxm", "a100-sxm-80", third, "l40s"}) {
        sweeps::Variant variant;
        variant.labels = {"llama-3-8b", "bf16", name, "cuda-graph", mode_label, "llama-3.2-1b", "truncate", 1};
        variant.setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform(name, "cuda-graph"));
        variant.setup.platform.mode = mode;
        space.variants.push_back(variant);
    }
    for (int k = 1; k <= 16; ++k) {
        space.speculation.push_back(k);
    }
    for (int batch = 1; batch <= 256; ++batch) {
        space.batch.push_back(batch);
    }
    for (int i = 0; i < contexts; ++i) {
        space.context.push_back(32.0 * i);
    }
    return space;
}

sweeps::Variant tree_variant(const char* target, const char* drafter, sim::Rollback rollback,
                             const std::vector<sim::Speculation>& trees) {
    sweeps::Variant variant;
    variant.labels = {target, "bf16", "h100-sxm", "cuda-graph", "roofline", drafter, std::string(name_of(rollback)), 1};
    variant.setup = pair_setup(target, drafter, platform("h100-sxm", "cuda-graph"));
    variant.setup.acceptance.siblings = sequoia_demo;
    variant.setup.rollback = rollback;
    variant.setup.speculations = trees;
    return variant;
}

/// Best trees of 4 to 100 nodes and 2 to 9 levels.
sweeps::DesignSpace tree_space(int contexts) {
    sweeps::DesignSpace space;
    space.speculations = sim::chains_up_to(0);
    for (int nodes = 4; nodes <= 100; nodes += 4) {
        for (int depth = 2; depth <= 9; ++depth) {
            for (const sim::Verification verification : {sim::Verification::packed, sim::Verification::unrolled}) {
                space.speculation.push_back(static_cast<int>(space.speculations.size()));
                space.speculations.push_back({sim::OptimalShape{nodes, depth, 0}, verification, "optimal"});
            }
        }
    }
    space.variants = {tree_variant("llama-3-8b", "llama-3.2-1b", sim::Rollback::truncate, space.speculations),
                      tree_variant("mamba2-2.7b", "mamba2-130m", sim::Rollback::replay, space.speculations)};
    for (int batch = 1; batch <= 64; ++batch) {
        space.batch.push_back(batch);
    }
    for (int i = 0; i < contexts; ++i) {
        space.context.push_back(1024.0 * i);
    }
    return space;
}

double processor_seconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// A sweep and the processor time it took, summed over threads. Goals are judged by processor time: a machine that is busy with
/// something else makes wall time longer, not the program slower.
struct Run {
    sweeps::SweepSummary summary;
    double processor_seconds = 0.0;
    unsigned threads = 1;

    [[nodiscard]] double points() const { return static_cast<double>(summary.points); }
    [[nodiscard]] double wall_rate() const { return points() / summary.wall_seconds; }
    [[nodiscard]] double processor_rate() const { return points() * threads / processor_seconds; }
};

Run run(const sweeps::DesignSpace& space, unsigned threads) {
    sweeps::SweepOptions options;
    options.threads = threads;
    Run result;
    result.threads = threads;
    const double start = processor_seconds();
    result.summary = sweeps::run_sweep(space, options);
    result.processor_seconds = processor_seconds() - start;
    return result;
}

/// Points per second of the bare batch face on one thread.
double bare_batch_face() {
    const sim::CompiledRound round =
        sim::compile_round(pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph")));
    constexpr std::size_t count = 1 << 16;
    std::vector<int> k(count);
    std::vector<double> batch(count), context(count);
    std::vector<sim::RoundEstimate> estimates(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t row = i / 16;
        k[i] = static_cast<int>(i % 16) + 1;
        batch[i] = static_cast<double>(1 + row % 256);
        context[i] = static_cast<double>(row);
    }
    double best = 0.0;
    for (int repeat = 0; repeat < 20; ++repeat) {
        const auto start = std::chrono::steady_clock::now();
        sim::evaluate(round, {k, batch, context}, estimates);
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        best = std::max(best, count / seconds);
    }
    return best;
}

double peak_gigabytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) * 1024.0 / 1e9;
}

bool report(bool met, const std::string& line) {
    fmt::print("{} {}\n", met ? "met   " : "MISSED", line);
    return met;
}

}  // namespace

int main() {
    const unsigned cores = sweeps::thread_count(0);
    const Run small = run(space_of(61), cores);  // 10^6 points
    const Run one = run(space_of(61), 1);
    const Run large = run(space_of(611), cores);  // 10^7 points
    const Run calibrated = run(space_of(61, sim::CostMode::calibrated), cores);
    const Run trees = run(tree_space(40), cores);  // 2·10^6 points
    const double rate = std::max(large.wall_rate(), large.processor_rate());
    const double linearity = small.processor_rate() / large.processor_rate();

    fmt::print("batch face alone, one thread: {:.1f} M points/s\n", bare_batch_face() / 1e6);
    fmt::print("sweep, one thread:            {:.1f} M points/s\n", one.wall_rate() / 1e6);
    fmt::print(
        "sweep, {} threads:             {:.1f} M points/s by the clock, {:.1f} M by processor time, {:.0f} % of it in "
        "evaluation\n",
        cores, large.wall_rate() / 1e6, large.processor_rate() / 1e6,
        100.0 * std::min(1.0, large.summary.evaluation_seconds / large.processor_seconds));
    bool all = report(rate >= goal_points_per_second,
                      fmt::format("{:.1f} M points/s on {} cores, goal {:.0f} M: {:.1f} times the goal", rate / 1e6, cores,
                                  goal_points_per_second / 1e6, rate / goal_points_per_second));
    const double calibrated_rate = std::max(calibrated.wall_rate(), calibrated.processor_rate());
    all &= report(calibrated_rate >= goal_points_per_second, fmt::format("{:.1f} M points/s in calibrated mode, goal {:.0f} M",
                                                                         calibrated_rate / 1e6, goal_points_per_second / 1e6));
    const double tree_rate = std::max(trees.wall_rate(), trees.processor_rate());
    all &= report(tree_rate >= goal_trees_per_second,
                  fmt::format("{:.1f} M points/s over {} trees, goal {:.0f} M", tree_rate / 1e6,
                              tree_space(1).speculation.size(), goal_trees_per_second / 1e6));
    all &= report(peak_gigabytes() < goal_gigabytes, fmt::format("{:.2f} GB for a sweep of {} points, goal under {:.0f} GB",
                                                                 peak_gigabytes(), large.summary.points, goal_gigabytes));
    all &= report(linearity < goal_linearity,
                  fmt::format("processor time per point of {} points over that of {}: {:.2f}, goal under {:.1f}",
                              large.summary.points, small.summary.points, linearity, goal_linearity));
    return all ? 0 : 1;
}
