// Running and timing the phases of a round on one device.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "decoder/decode.h"
#include "kernels/backend.h"

namespace treeline::decoder {

enum class Phase { rollback, draft, verify, accept };
inline constexpr std::size_t phase_count = 4;

/// What each phase puts into the device's queue. The first round has no rollback.
using RoundWork = std::array<std::function<void()>, phase_count>;

/// Seconds of each phase; 0 if phases are not told apart.
using RoundTimes = std::array<double, phase_count>;

/// A device with its one queue.
class Device {
public:
    Device() = default;
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    virtual ~Device() = default;

    [[nodiscard]] virtual const kernels::Backend& backend() const = 0;
    [[nodiscard]] virtual kernels::Queue queue() const = 0;
    [[nodiscard]] virtual std::string name() const = 0;
    /// Queues a round's phases in order. Work must be the same in every round from the third on if graphs replay it.
    virtual void run(const RoundWork& work) = 0;
    /// Of the last round; waits for its end.
    virtual RoundTimes times() = 0;
};

/// Throws kernels::KernelError if the device is not there.
std::unique_ptr<Device> open_device(DeviceKind kind, int index, GraphUse graphs);

}  // namespace treeline::decoder
