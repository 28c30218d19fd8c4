#include "decoder/phases.h"

#include <chrono>
#include <optional>

#include "kernels/cuda_queue.h"

namespace treeline::decoder {
namespace {

using Clock = std::chrono::steady_clock;

class CpuDevice final : public Device {
public:
    [[nodiscard]] const kernels::Backend& backend() const override { return kernels::cpu_backend(); }
    [[nodiscard]] kernels::Queue queue() const override { return {}; }
    [[nodiscard]] std::string name() const override { return "cpu"; }

    void run(const RoundWork& work) override {
        for (std::size_t phase = 0; phase < phase_count; ++phase) {
            const Clock::time_point start = Clock::now();
            if (work[phase]) {
                work[phase]();
            }
            times_[phase] = std::chrono::duration<double>(Clock::now() - start).count();
        }
    }
    RoundTimes times() override { return times_; }

private:
    RoundTimes times_{};
};

/// Rounds 0 and 1 launch kernel by kernel, which also lets libraries set themselves up; round 2 records the graphs, after which
/// they are replayed.
class CudaDevice final : public Device {
public:
    CudaDevice(std::string name, GraphUse graphs) : name_(std::move(name)), graphs_(graphs) {}

    [[nodiscard]] const kernels::Backend& backend() const override { return kernels::cuda_backend(); }
    [[nodiscard]] kernels::Queue queue() const override { return queue_.queue(); }
    [[nodiscard]] std::string name() const override { return name_; }

    void run(const RoundWork& work) override {
        const bool replays = graphs_ != GraphUse::none && ++rounds_ > 2;
        if (replays && graphs_ == GraphUse::round) {
            run_as_one(work);
            return;
        }
        for (std::size_t phase = 0; phase < phase_count; ++phase) {
            std::optional<kernels::CudaGraph>& graph = graph_[phase];
            if (replays && !graph) {
                graph.emplace(queue_, [&](kernels::Queue) { work[phase](); });
            }
            timer_[phase].start(queue());
            if (replays) {
                graph->replay(queue());
            } else if (work[phase]) {
                work[phase]();
            }
            timer_[phase].stop(queue());
        }
    }

    RoundTimes times() override {
        RoundTimes times{};
        for (std::size_t phase = 0; phase < phase_count && !as_one_; ++phase) {
            times[phase] = timer_[phase].seconds();
        }
        return times;
    }

private:
    void run_as_one(const RoundWork& work) {
        as_one_ = true;
        if (!graph_.front()) {
            graph_.front().emplace(queue_, [&](kernels::Queue) {
                for (const std::function<void()>& phase : work) {
                    phase();
                }
            });
        }
        graph_.front()->replay(queue());
    }

    std::string name_;
    GraphUse graphs_;
    kernels::CudaQueue queue_;
    std::array<kernels::CudaTimer, phase_count> timer_;
    std::array<std::optional<kernels::CudaGraph>, phase_count> graph_;
    int rounds_ = 0;
    bool as_one_ = false;
};

}  // namespace

std::unique_ptr<Device> open_device(DeviceKind kind, int index, GraphUse graphs) {
    if (kind == DeviceKind::cpu) {
        return std::make_unique<CpuDevice>();
    }
    const kernels::CudaDevices found = kernels::available_devices();
    if (!found.reason.empty()) {
        throw kernels::KernelError("CUDA cannot be used here: " + found.reason);
    }
    if (index >= static_cast<int>(found.devices.size())) {
        throw kernels::KernelError("there is no CUDA device " + std::to_string(index) + ", only " +
                                   std::to_string(found.devices.size()));
    }
    kernels::select_cuda_device(index);
    return std::make_unique<CudaDevice>(found.devices[static_cast<std::size_t>(index)].name, graphs);
}

}  // namespace treeline::decoder
