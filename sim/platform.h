// Devices, the links between them, the software on them, and the mode in which their time is priced.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "sim/accelerator.h"
#include "sim/device.h"
#include "sim/enum_names.h"
#include "sim/parallelism.h"
#include "sim/stack.h"

namespace treeline::sim {

/// How time follows from FLOPs and bytes (docs/cost-model.md, section 2.2).
enum class CostMode {
    hoi,       ///< the whole pass costs max(FLOPs, bytes × HOI); weights and caches only (SPIRe)
    roofline,  ///< operation by operation with data-sheet peaks, plus the stack's launches and host time
    /// operation by operation with the laws of the device's measured kernels, plus the stack's launches and host time.
    /// Operations without a law are priced as in roofline mode, as is a device without calibration.
    calibrated,
    cycles,  ///< an accelerator's cycle model: what platforms with an accelerator use, and no others
};
constexpr auto names_in(CostMode) {
    using enum CostMode;
    return enum_names<CostMode>({{hoi, "hoi"}, {roofline, "roofline"}, {calibrated, "calibrated"}, {cycles, "cycles"}});
}

/// The modes that users choose from.
inline constexpr std::array all_cost_modes = {CostMode::roofline, CostMode::calibrated, CostMode::hoi};

/// Devices, the software on them, and how a model is shared out over them.
struct Platform {
    Device device;
    Stack stack;
    double ranks = 1.0;  ///< of tensor parallelism
    CostMode mode = CostMode::roofline;
    std::string interconnect = {};                  ///< name of the link to use; empty = the fastest that joins all ranks
    std::optional<Accelerator> accelerator = {};    ///< what `device` summarises, where it is one
    Parallelism parallel = {};                      ///< beside the `ranks` of tensor parallelism
    std::optional<double> memory_utilisation = {};  ///< in place of the stack's
    std::optional<Bytes> memory_limit = {};         ///< of one device, where the user states less than the engine may take
    std::shared_ptr<const Platform> host = {};      ///< whose memory holds what does not lie on the device; null = none

    /// Devices that serve the model together.
    [[nodiscard]] double devices() const { return devices_of(ranks, parallel); }
    /// Device::latent_heads_per_read where the stack has such kernels, else 0.
    [[nodiscard]] double latent_heads_per_read() const {
        return stack.caches.takes_latent_tokens_apart ? device.latent_heads_per_read : 0.0;
    }
    /// Whether measured kernels price its operations.
    [[nodiscard]] bool by_laws() const { return mode == CostMode::calibrated; }
};

/// The share of the device's memory that the engine takes here (MemoryPolicy::memory_share_of says of what), as its own flag
/// states it: the platform's, the stack's, or what its reserves leave. 1 where the stack knows none.
double memory_utilisation_of(const Platform& platform, DrafterOnDevice drafter);

/// An accelerator as a platform: device_of(), on_chip_stack(), CostMode::cycles.
Platform platform_of(Accelerator accelerator);

/// The link between `ranks` devices: the one that the platform names, or the fastest that joins them all. Null for a single
/// rank, or if the device has no such link.
const Interconnect* link_between(const Platform& platform, double ranks);
/// The same for all devices of the platform: its slowest link, if they are spread over several hosts.
const Interconnect* link_of(const Platform& platform);

}  // namespace treeline::sim
