#include "calibrate/measure/kernel_timer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

namespace treeline::calibrate {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Shorter runs are repeated: reading the clock twice, and starting and ending a run, must not matter. A graph takes a few
/// microseconds to start on the device.
constexpr double shortest_on_host = 100e-6, shortest_graph = 300e-6;
constexpr double most_on_host = 256.0, most_in_graph = 64.0;
/// On a CPU a kernel that takes no longer than this is run once before it is timed. Otherwise it would not find its activations
/// and its own code in the caches, where the previous kernel would have left them. Its weights and states are elsewhere in the
/// next run anyway; a longer kernel hardly notices.
constexpr double longest_rehearsed = 500e-6;

int runs_for(double seconds_of_one, double shortest, double most) {
    return static_cast<int>(std::clamp(std::ceil(shortest / std::max(seconds_of_one, 1e-9)), 1.0, most));
}

/// By the host's clock, until the device is done.
class HostTimer : public KernelTimer {
public:
    HostTimer(const kernels::Backend& backend, const Workspace& workspace, KernelRun run)
        : backend_(backend), run_(std::move(run)) {
        const std::size_t before = workspace.rotated_bytes();
        run_({});
        backend_.wait({});
        operand_bytes_ = workspace.rotated_bytes() - before;
        // Every run takes other memory than the one before, until all of the workspace was used.
        eviction_ = operand_bytes_ > 0 ? Eviction::rotation : Eviction::none;
        const double one = seconds();
        runs_ = runs_for(one, shortest_on_host, most_on_host);
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

/// A graph of runs, each on memory of its own, is timed after another one of a single run: that one loads the kernel's code and
/// leaves its activations in the cache, as the kernel before would. Addresses are part of a graph, so a replay finds in the
/// cache whatever is left of its last one: before each, the cache is emptied of it. That also keeps the device busy until the
/// host has launched the timed graph; where operands of several times the cache push each other out, the rehearsal does.
class GraphTimer : public KernelTimer {
public:
    GraphTimer(const kernels::CudaQueue& queue, const CacheFlush& flush, const Workspace& workspace, const KernelRun& run)
        : queue_(queue), flush_(flush) {
        // Once outside of the graph: loading kernels or setting up a library may not be recorded.
        const std::size_t before = workspace.rotated_bytes();
        run(queue_.queue());
        operand_bytes_ = workspace.rotated_bytes() - before;
        eviction_ = operand_bytes_ == 0                        ? Eviction::none
                    : operand_bytes_ >= flush.evicting_bytes() ? Eviction::rotation
                                                               : Eviction::flush;
        rehearsal_ = recorded(run, 1);
        timed_ = recorded(run, 1);
        static_cast<void>(seconds());
        runs_ = runs_for(seconds(), shortest_graph, most_in_graph);
        timed_ = recorded(run, runs_);
    }

    double seconds() override {
        if (eviction_ != Eviction::rotation) {
            flush_.put(queue_.queue());
        }
        rehearsal_->replay(queue_.queue());
        timer_.start(queue_.queue());
        timed_->replay(queue_.queue());
        timer_.stop(queue_.queue());
        return timer_.seconds() / runs_;
    }

private:
    [[nodiscard]] std::unique_ptr<kernels::CudaGraph> recorded(const KernelRun& run, int runs) const {
        return std::make_unique<kernels::CudaGraph>(queue_, [&](kernels::Queue queue) {
            for (int i = 0; i < runs; ++i) {
                run(queue);
            }
        });
    }

    const kernels::CudaQueue& queue_;
    const CacheFlush& flush_;
    kernels::CudaTimer timer_;
    std::unique_ptr<kernels::CudaGraph> rehearsal_, timed_;
    int runs_ = 1;
};

/// Both ranks of a kernel that takes two devices: a graph of runs on each, which keep step with each other, timed on the first.
/// Their inputs are activations, in the caches where the kernel before would have left them.
class PeerTimer : public KernelTimer {
public:
    PeerTimer(const CacheFlush& flush, PeerRuns kernel) : flush_(flush), kernel_(std::move(kernel)) {
        rehearsal_ = recorded(1);
        timed_ = recorded(1);
        static_cast<void>(seconds());
        runs_ = runs_for(seconds(), shortest_graph, most_in_graph);
        timed_ = recorded(runs_);
    }

    double seconds() override {
        const kernels::PeerRanks& ranks = *kernel_.ranks;
        for (const int rank : {1, 0}) {  // the second waits, and the first is busy, until the host has launched everything
            ranks.select(rank);
            const kernels::Queue queue = ranks.queue(rank).queue();
            if (rank == 0) {
                flush_.put(queue);
            }
            rehearsal_[std::size_t(rank)]->replay(queue);
            if (rank == 0) {
                timer_.start(queue);
            }
            timed_[std::size_t(rank)]->replay(queue);
        }
        timer_.stop(ranks.queue(0).queue());
        ranks.wait();
        return timer_.seconds() / runs_;
    }

private:
    using Graphs = std::array<std::unique_ptr<kernels::CudaGraph>, kernels::PeerRanks::count>;

    [[nodiscard]] Graphs recorded(int runs) const {
        Graphs graphs;
        for (const int rank : {1, 0}) {
            kernel_.ranks->select(rank);
            graphs[std::size_t(rank)] =
                std::make_unique<kernels::CudaGraph>(kernel_.ranks->queue(rank), [&](kernels::Queue queue) {
                    for (int i = 0; i < runs; ++i) {
                        kernel_.run(rank, queue);
                    }
                });
        }
        return graphs;
    }

    const CacheFlush& flush_;
    PeerRuns kernel_;
    kernels::CudaTimer timer_;
    Graphs rehearsal_, timed_;
    int runs_ = 1;
};

}  // namespace

// Caches do not evict what is oldest exactly, so more than their size is read.
CacheFlush::CacheFlush(const MeasuredDevice& device)
    : backend_(*device.backend),
      evicting_bytes_(std::max<std::size_t>(2 * device.cache_bytes, std::size_t{1} << 12)),
      block_(backend_, evicting_bytes_ * 3 / 2 / 16 * 16),
      sum_(backend_, sizeof(unsigned)) {
    backend_.write_probe({block_.data(), block_.bytes(), 1}, {});
    backend_.wait({});
}

void CacheFlush::put(kernels::Queue queue) const {
    backend_.read_probe({block_.data(), block_.bytes(), reinterpret_cast<unsigned*>(sum_.data())}, queue);
}

KernelTimers::KernelTimers(const MeasuredDevice& device)
    : device_(device),
      queue_(device.on_gpu ? std::make_unique<kernels::CudaQueue>() : nullptr),
      flush_(device.on_gpu ? std::make_unique<CacheFlush>(device) : nullptr) {}

std::unique_ptr<KernelTimer> KernelTimers::make(const KernelCase& kernel, Workspace& workspace) const {
    if (kernel.prepare_peers) {
        return std::make_unique<PeerTimer>(*flush_, kernel.prepare_peers());
    }
    workspace.start_case();
    KernelRun run = kernel.prepare(workspace);
    if (queue_ != nullptr && !kernel.from_host) {
        return std::make_unique<GraphTimer>(*queue_, *flush_, workspace, run);
    }
    return std::make_unique<HostTimer>(*device_.backend, workspace, std::move(run));
}

}  // namespace treeline::calibrate
