// Does the timer of the measurements read main memory? On an emulated cache a time is the lines that were missing, so a timer
// that rehearses on the addresses that it times is caught.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include "cache.h"
#include "calibrate/measure/kernel_timer.h"

using namespace treeline;
using namespace treeline::calibrate;

namespace {

constexpr std::size_t cache_bytes = std::size_t{256} << 10;
constexpr double bytes_per_second = 5e8;

/// The emulated cache, while this lives.
struct EmulatedCache {
    EmulatedCache() { emulation::Cache::device().start(cache_bytes, bytes_per_second); }
    EmulatedCache(const EmulatedCache&) = delete;
    EmulatedCache& operator=(const EmulatedCache&) = delete;
    ~EmulatedCache() { emulation::Cache::device().stop(); }
};

MeasuredDevice emulated() { return {&kernels::cuda_backend(), true, {}, cache_bytes}; }

/// Reads so many bytes, each time from another place.
KernelCase reading(std::size_t bytes) {
    KernelCase kernel;
    kernel.table = "reading";
    kernel.prepare = [=](Workspace& workspace) -> KernelRun {
        auto* sum = static_cast<unsigned*>(workspace.scratch(sizeof(unsigned)));
        return [=, &workspace](kernels::Queue queue) {
            workspace.backend().read_probe({workspace.next_input(bytes), bytes, sum}, queue);
        };
    };
    return kernel;
}

}  // namespace

TEST_CASE("a timer that rehearses on the addresses that it times reads the cache, and the one that measures does not") {
    const EmulatedCache cache;
    Workspace workspace(kernels::cuda_backend(), 4 * cache_bytes);
    constexpr std::size_t bytes = std::size_t{64} << 10;
    {
        const kernels::CudaQueue queue;
        const KernelRun run = reading(bytes).prepare(workspace);
        const kernels::CudaGraph graph(queue, run);
        kernels::CudaTimer timer;
        graph.replay(queue.queue());
        timer.start(queue.queue());
        graph.replay(queue.queue());
        timer.stop(queue.queue());
        CHECK(timer.seconds() * bytes_per_second < 0.05 * bytes);
    }
    const KernelTimers timers(emulated());
    const std::unique_ptr<KernelTimer> timer = timers.make(reading(bytes), workspace);
    CHECK(timer->eviction() == Eviction::flush);
    for (int sample = 0; sample < 3; ++sample) {
        CHECK(timer->seconds() * bytes_per_second == Approx(bytes).epsilon(0.02));  // and a line of the sum
    }
    // What is far larger than the cache pushes itself out.
    const std::unique_ptr<KernelTimer> large = timers.make(reading(3 * cache_bytes), workspace);
    CHECK(large->eviction() == Eviction::rotation);
    CHECK(large->seconds() * bytes_per_second == Approx(3 * cache_bytes).epsilon(0.02));
}

TEST_CASE("every kind of kernel is measured from main memory, or says that it has nothing there") {
    const EmulatedCache cache;
    constexpr std::size_t rotation = std::size_t{4} << 20;
    Workspace workspace(kernels::cuda_backend(), rotation);
    const KernelTimers timers(emulated());
    const std::vector<KernelCase> cases = kernel_cases({Thoroughness::quick, true}, std::size_t{1} << 16);
    // The smallest case of each table whose operands matter beside a line; prompts have more tokens than an emulation bears.
    std::map<std::string, const KernelCase*> smallest;
    for (const KernelCase& kernel : cases) {
        const bool fits = kernel.largest_piece <= rotation && kernel.working_set() >= 4096;
        const bool prompts = kernel.table == "attention_prefill" || kernel.table == "mamba2_prompt";
        if (!fits || prompts || kernel.table == "layer" || kernel.table == "host") {
            continue;
        }
        const KernelCase*& best = smallest[kernel.table];
        if (best == nullptr || kernel.working_set() < best->working_set()) {
            best = &kernel;
        }
    }
    std::size_t from_memory = 0;
    for (const auto& [table, kernel] : smallest) {
        INFO(kernel->name());
        const std::unique_ptr<KernelTimer> timer = timers.make(*kernel, workspace);
        CHECK(timer->operand_bytes() == kernel->working_set());
        CHECK(timer->eviction() != Eviction::none);
        CHECK(timer->seconds() * bytes_per_second >= 0.95 * static_cast<double>(timer->operand_bytes()));
        ++from_memory;
    }
    CHECK(from_memory >= 7);
    const auto launch =
        std::find_if(cases.begin(), cases.end(), [](const KernelCase& kernel) { return kernel.table == "launch"; });
    CHECK(timers.make(*launch, workspace)->eviction() == Eviction::none);
}
