// How many speculative design points a second does the batch face price, operation by operation in roofline mode?
//
// Llama-3-8B with a 1B drafter over draft length × batch × context × device. Goals: 5 million points/s on two cores; 10^7
// points of a sweep in less than 1 GB; time that grows linearly with points. Exits with 1 when a goal is missed.
#include <sys/resource.h>

#include <chrono>

#include <fmt/format.h>

#include "setups.h"
#include "sweeps/parallel.h"
#include "sweeps/sweep.h"

using namespace treeline;
using namespace treeline::testing;

namespace {

constexpr double goal_points_per_second = 5e6;
constexpr double goal_gigabytes = 1.0;
constexpr double goal_linearity = 1.5;  ///< time per point of the large sweep against the small one

DesignSpace space_of(int contexts) {
    DesignSpace space;
    for (const char* name : {"h100-sxm", "a100-sxm-80", "rtx-4090", "l40s"}) {
        Variant variant;
        variant.labels = {"llama-3-8b", "bf16", name, "cuda-graph", "roofline", "llama-3.2-1b", "truncate", 1};
        variant.setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform(name, "cuda-graph"));
        space.variants.push_back(variant);
    }
    for (int k = 1; k <= 16; ++k) {
        space.draft_tokens.push_back(k);
    }
    for (int batch = 1; batch <= 256; ++batch) {
        space.batch.push_back(batch);
    }
    for (int i = 0; i < contexts; ++i) {
        space.context.push_back(32.0 * i);
    }
    return space;
}

SweepSummary run(int contexts, unsigned threads) {
    SweepOptions options;
    options.threads = threads;
    return run_sweep(space_of(contexts), options);
}

/// Points per second of the bare batch face on one thread.
double bare_batch_face() {
    const CompiledRound round = compile_round(pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph")));
    constexpr std::size_t count = 1 << 16;
    std::vector<int> k(count);
    std::vector<double> batch(count), context(count);
    std::vector<RoundEstimate> estimates(count);
    for (std::size_t i = 0; i < count; ++i) {
        k[i] = static_cast<int>(i % 16) + 1;
        batch[i] = static_cast<double>(1 + i / 16 % 256);
        context[i] = static_cast<double>(i / 16);
    }
    double best = 0.0;
    for (int repeat = 0; repeat < 20; ++repeat) {
        const auto start = std::chrono::steady_clock::now();
        evaluate(round, {k, batch, context}, estimates);
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
    const unsigned cores = thread_count(0);
    const SweepSummary small = run(61, cores);  // 10^6 points
    const SweepSummary one = run(61, 1);
    const SweepSummary large = run(611, cores);  // 10^7 points
    const double rate = static_cast<double>(large.points) / large.wall_seconds;
    const double small_time = small.wall_seconds / static_cast<double>(small.points);
    const double linearity = large.wall_seconds / static_cast<double>(large.points) / small_time;

    fmt::print("batch face alone, one thread: {:.1f} M points/s\n", bare_batch_face() / 1e6);
    fmt::print("sweep, one thread:            {:.1f} M points/s\n", static_cast<double>(one.points) / one.wall_seconds / 1e6);
    fmt::print("sweep, {} threads:             {:.1f} M points/s, {:.0f} % of the threads' time in evaluation\n", cores,
               rate / 1e6, 100.0 * large.evaluation_seconds / (large.wall_seconds * cores));
    bool all = report(rate >= goal_points_per_second,
                      fmt::format("{:.1f} M points/s on {} cores, goal {:.0f} M: {:.1f} times the goal", rate / 1e6, cores,
                                  goal_points_per_second / 1e6, rate / goal_points_per_second));
    all &= report(peak_gigabytes() < goal_gigabytes, fmt::format("{:.2f} GB for a sweep of {} points, goal under {:.0f} GB",
                                                                 peak_gigabytes(), large.points, goal_gigabytes));
    all &=
        report(linearity < goal_linearity, fmt::format("time per point of {} points over that of {}: {:.2f}, goal under {:.1f}",
                                                       large.points, small.points, linearity, goal_linearity));
    return all ? 0 : 1;
}
