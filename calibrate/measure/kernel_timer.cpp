#include "calibrate/measure/kernel_timer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace treeline::calibrate {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Shorter runs are repeated: reading the clock twice, and starting and ending a run, must not matter.
constexpr double shortest_timed = 100e-6;
constexpr double most_runs = 256.0;
/// A kernel that takes no longer than this is run once before it is timed. Otherwise it would not find its activations and its
/// own code in the caches, where the previous kernel would have left them. Its weights and states are elsewhere in the next run
/// anyway; a longer kernel hardly notices.
constexpr double longest_rehearsed = 500e-6;

int runs_for(double seconds_of_one, double most) {
    return static_cast<int>(std::clamp(std::ceil(shortest_timed / std::max(seconds_of_one, 1e-9)), 1.0, most));
}

/// By the host's clock, until the device is done.
class HostTimer : public KernelTimer {
public:
    HostTimer(const kernels::Backend& backend, KernelRun run) : backend_(backend), run_(std::move(run)) {
        static_cast<void>(seconds());
        const double one = seconds();
        runs_ = runs_for(one, most_runs);
        is_rehearsed_ = one <= longest_rehearsed;
    }

    double seconds() override {
        if (is_rehearsed_) {
            run_({});
            backend_.wait({});
        }
        const Clock::time_point start = Clock::now();
        for (int i = 0; i < runs_; ++i) {
            run_({});
        }
        backend_.wait({});
        return seconds_since(start) / runs_;
    }

private:
    const kernels::Backend& backend_;
    KernelRun run_;
    int runs_ = 1;
    bool is_rehearsed_ = false;
};

/// Each run in the graph works on different memory; what the cache still holds from the last replay is evicted by other cases.
class GraphTimer : public KernelTimer {
public:
    GraphTimer(const kernels::CudaQueue& queue, const KernelRun& run) : queue_(queue) {
        // Once outside of the graph: loading kernels or setting up a library may not be recorded.
        run(queue_.queue());
        record(run, 1);
        static_cast<void>(seconds());
        const double one = seconds();
        record(run, runs_for(one, 64.0));
        is_rehearsed_ = one <= longest_rehearsed;
    }

    double seconds() override {
        if (is_rehearsed_) {
            graph_->replay(queue_.queue());
        }
        timer_.start(queue_.queue());
        graph_->replay(queue_.queue());
        timer_.stop(queue_.queue());
        return timer_.seconds() / runs_;
    }

private:
    void record(const KernelRun& run, int runs) {
        runs_ = runs;
        graph_ = std::make_unique<kernels::CudaGraph>(queue_, [&](kernels::Queue queue) {
            for (int i = 0; i < runs; ++i) {
                run(queue);
            }
        });
    }

    const kernels::CudaQueue& queue_;
    kernels::CudaTimer timer_;
    std::unique_ptr<kernels::CudaGraph> graph_;
    int runs_ = 1;
    bool is_rehearsed_ = false;
};

}  // namespace

KernelTimers::KernelTimers(const MeasuredDevice& device)
    : device_(device), queue_(device.on_gpu ? std::make_unique<kernels::CudaQueue>() : nullptr) {}

std::unique_ptr<KernelTimer> KernelTimers::make(const KernelCase& kernel, Workspace& workspace) const {
    KernelRun run = kernel.prepare(workspace);
    if (queue_ != nullptr && !kernel.from_host) {
        return std::make_unique<GraphTimer>(*queue_, run);
    }
    return std::make_unique<HostTimer>(*device_.backend, std::move(run));
}

}  // namespace treeline::calibrate
