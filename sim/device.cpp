#include "sim/device.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace treeline::sim {
namespace {

std::size_t index_of(NumberFormat format) { return static_cast<std::size_t>(format); }

/// Formats whose units compute products of `format`, the fastest first.
std::vector<NumberFormat> formats_that_hold(NumberFormat format) {
    using enum NumberFormat;
    switch (format) {
        case fp4:
            return {fp4, bf16, fp16, fp32};
        case int4:
            return {int4, int8, fp8, bf16, fp16, fp32};
        case int8:
            return {int8, fp8, bf16, fp16, fp32};
        case fp8:
            return {fp8, bf16, fp16, fp32};
        case fp16:
            return {fp16, bf16, fp32};
        case bf16:
            return {bf16, fp16, fp32};
        case fp32:
            break;
    }
    return {fp32};
}

class Constraints {
public:
    void require(bool holds, std::string sentence) {
        if (!holds) {
            problems_.push_back(std::move(sentence));
        }
    }

    template <class Quantity>
    void require_positive(Quantity quantity, const std::string& what) {
        require(std::isfinite(quantity.value()) && quantity.value() > 0.0, what + " must be above zero");
    }

    template <class Quantity>
    void require_known_or_zero(Quantity quantity, const std::string& what) {
        require(std::isfinite(quantity.value()) && quantity.value() >= 0.0, what + " must be zero (unknown) or above");
    }

    [[nodiscard]] std::vector<std::string> take() { return std::move(problems_); }

private:
    std::vector<std::string> problems_;
};

void check_memory(const Device& device, Constraints& constraints) {
    constraints.require_positive(device.memory, "memory");
    constraints.require_positive(device.bandwidth, "memory_bandwidth");
    constraints.require_known_or_zero(device.cache, "cache");
    constraints.require_known_or_zero(device.reserved, "reserved_memory");
    const bool memory_is_stated = device.memory.value() > 0.0;
    constraints.require(!(memory_is_stated && device.reserved >= device.memory), "reserved_memory must be smaller than memory");
    constraints.require(!(memory_is_stated && device.cache > device.memory), "cache must not be larger than memory");
    // A wafer of SRAM is read in microseconds, a small GPU with all of a host's memory in 2.5 s, a large host in 20 s. Beyond
    // that a prefix is wrong (GB/s for TB/s, TB for GB).
    const double longest = device.kind == DeviceKind::gpu ? 10.0 : 100.0;
    const double sweep_seconds = device.memory / device.bandwidth / Seconds(1.0);
    constraints.require(!(sweep_seconds > longest || sweep_seconds < 1e-7),
                        "memory and memory_bandwidth do not go together: reading all memory once would take " +
                            std::to_string(sweep_seconds) + " s");
}

/// The fastest format tells a bandwidth with too large a prefix (TB/s for GB/s): GPUs and accelerators reach at least 2 FLOP a
/// byte of it (a Groq LPU 2.3, a Cerebras wafer 6, GPUs above 100), CPUs 0.6 (one scalar core).
void check_balance(const Device& device, Constraints& constraints) {
    const double fastest = std::max_element(device.peak.begin(), device.peak.end())->value();
    if (!(fastest > 0.0 && device.bandwidth.value() > 0.0)) {
        return;
    }
    const double least = device.kind == DeviceKind::gpu ? 2.0 : 0.2;
    constraints.require(fastest / device.bandwidth.value() >= least,
                        "memory_bandwidth is too high for the peaks: the fastest format makes " +
                            std::to_string(fastest / device.bandwidth.value()) + " FLOP/byte of it, but a " +
                            (device.kind == DeviceKind::gpu ? "GPU makes at least 2" : "CPU makes at least 0.2") +
                            "; is a unit wrong (TB/s for GB/s)?");
}

void check_compute(const Device& device, Constraints& constraints) {
    for (std::size_t i = 0; i < all_number_formats.size(); ++i) {
        const std::string what = "peak." + std::string(name_of(all_number_formats[i]));
        const double peak = device.peak[i].value();
        constraints.require(std::isfinite(peak) && peak >= 0.0,
                            what + " must be above zero (or left out where it is not native)");
        if (peak > 0.0 && device.bandwidth.value() > 0.0) {
            // Real devices lie between 1 (small CPUs) and 1500 FLOP/byte (fp4 on large GPUs).
            const double intensity = peak / device.bandwidth.value();
            constraints.require(intensity >= 0.05 && intensity <= 20'000.0,
                                what + " and memory_bandwidth do not go together: they make " + std::to_string(intensity) +
                                    " FLOP/byte, but devices lie between 0.05 and 20000");
        }
    }
    constraints.require(device.peak[index_of(NumberFormat::fp32)].value() > 0.0,
                        "peak.fp32 must be stated: it is the format that every other one can fall back to");
    if (device.operational_intensity) {
        constraints.require_positive(*device.operational_intensity, "operational_intensity");
    }
    constraints.require(device.kernel_gap >= Seconds(0.0) && device.kernel_gap <= Seconds(0.001),
                        "kernel_gap must lie between 0 and 1000 us");
    constraints.require(std::isfinite(device.multiprocessors) && device.multiprocessors >= 0.0,
                        "multiprocessors must be zero (unknown) or above");
}

void check_power_and_price(const Device& device, Constraints& constraints) {
    constraints.require(std::isfinite(device.host_speed) && device.host_speed >= 0.05 && device.host_speed <= 20.0,
                        "host_speed must lie between 0.05 and 20");
    constraints.require_known_or_zero(device.idle_power, "idle_power");
    constraints.require_known_or_zero(device.active_power, "active_power");
    constraints.require_known_or_zero(device.board_power, "board_power");
    constraints.require_known_or_zero(device.energy_per_byte, "energy_per_byte");
    constraints.require_known_or_zero(device.energy_per_flop, "energy_per_flop");
    constraints.require_known_or_zero(device.price, "price");
    constraints.require(device.board_power.value() <= 0.0 || device.idle_power < device.board_power,
                        "idle_power must be below board_power");
    // A whole wafer draws a quarter of that.
    constexpr Watts most_power(1e5);
    constraints.require(device.board_power <= most_power && device.idle_power <= most_power,
                        "board_power and idle_power of one device are at most 100 kW; is a unit wrong (kW for W)?");
    constraints.require(device.board_power.value() <= 0.0 || device.power_limit.value() > 0.0 ||
                            !(device.idle_power < device.board_power) ||
                            device.idle_power + device.active_power <= device.board_power,
                        "idle_power and active_power together must not be above board_power");
    constraints.require(device.active_power.value() <= 0.0 || device.idle_power.value() > 0.0,
                        "active_power is what a device draws beside idle_power, which must be stated, too");
    constraints.require((device.energy_per_byte.value() > 0.0) == (device.energy_per_flop.value() > 0.0),
                        "energy_per_byte and energy_per_flop must be stated together: one alone would make the other free");
}

void check_power_limits(const Device& device, Constraints& constraints) {
    PowerPoint before{Watts(0.0), 0.0, 0.0};
    for (const PowerPoint& point : device.power_limits) {
        constraints.require(point.limit > before.limit && point.memory >= before.memory && point.compute >= before.compute,
                            "power_limits must rise, and neither memory nor compute may fall from one to the next");
        constraints.require(point.memory > 0.0 && point.memory <= 1.0 && point.compute > 0.0 && point.compute <= 1.0,
                            "memory and compute of power_limits are shares above 0, at most 1");
        before = point;
    }
}

void check_own(const OwnAllReduce& own, const std::string& what, Constraints& constraints) {
    constraints.require_known_or_zero(own.limit, what + ".limit");
    if (own.limit > Bytes(0.0)) {
        constraints.require_positive(own.latency, what + ".latency");
        constraints.require_positive(own.bandwidth, what + ".bandwidth");
    }
    if (own.two_step_bandwidth > BytesPerSecond(0.0)) {
        constraints.require_positive(own.two_step_latency, what + ".two_step_latency");
    }
}

void check_protocols(const ProtocolCosts& costs, const std::string& what, Constraints& constraints) {
    if (costs.measured()) {
        constraints.require_positive(costs.latency, what + ".latency");
        constraints.require_positive(costs.bulk_latency, what + ".bulk_latency");
        constraints.require_positive(costs.bulk_bandwidth, what + ".bulk_bandwidth");
    }
}

void check_interconnects(const Device& device, Constraints& constraints) {
    std::set<std::string> names;
    for (std::size_t i = 0; i < device.interconnects.size(); ++i) {
        const Interconnect& link = device.interconnects[i];
        const std::string what = "interconnects[" + std::to_string(i) + "]";
        constraints.require(!link.name.empty(), what + ".name must not be empty");
        constraints.require(names.insert(link.name).second, what + ".name is used twice: " + link.name);
        constraints.require_positive(link.bandwidth, what + ".bandwidth");
        constraints.require(std::isfinite(link.latency.value()) && link.latency.value() >= 0.0 && link.latency.value() < 1.0,
                            what + ".all_reduce_latency must lie between 0 and 1 s");
        check_own(link.own, what + ".own_all_reduces", constraints);
        check_protocols(link.all_reduce, what + ".all_reduce", constraints);
        check_protocols(link.gather, what + ".gather", constraints);
        constraints.require(std::isfinite(link.domain) && (link.domain == 0.0 || link.domain >= 2.0),
                            what + ".domain must be at least 2 devices");
        constraints.require(i == 0 || link.bandwidth <= device.interconnects[i - 1].bandwidth,
                            what + " must not be faster than the one before: list the fastest first");
    }
}

}  // namespace

NumberFormat Device::computed_in(NumberFormat format) const {
    for (const NumberFormat candidate : formats_that_hold(format)) {
        if (peak[index_of(candidate)].value() > 0.0) {
            return candidate;
        }
    }
    return NumberFormat::fp32;
}

FlopsPerSecond Device::peak_for(NumberFormat format) const { return peak[index_of(computed_in(format))]; }

FlopsPerByte Device::intensity_for(NumberFormat format) const {
    return operational_intensity ? *operational_intensity : peak_for(format) / bandwidth;
}

bool Device::knows_energy() const {
    const bool by_traffic = energy_per_byte.value() > 0.0 && energy_per_flop.value() > 0.0;
    return idle_power.value() > 0.0 && (by_traffic || kind == DeviceKind::fpga);
}

namespace {

/// What is left of bandwidth and peaks.
PowerPoint at_limit(const std::vector<PowerPoint>& points, Watts limit) {
    const auto above =
        std::find_if(points.begin(), points.end(), [&](const PowerPoint& point) { return point.limit >= limit; });
    if (above == points.end()) {
        return {limit, 1.0, 1.0};
    }
    if (above == points.begin()) {
        return *above;
    }
    const PowerPoint& below = *std::prev(above);
    const double way = (limit - below.limit).value() / (above->limit - below.limit).value();
    return {limit, std::lerp(below.memory, above->memory, way), std::lerp(below.compute, above->compute, way)};
}

}  // namespace

std::string power_limit_problem(const Device& device, Watts limit) {
    if (device.power_limits.empty()) {
        return "what " + device.name + " does under a limit of its power is not known (`power_limits` of its description)";
    }
    const Watts least = device.power_limits.front().limit;
    return limit < least ? "must be at least " + std::to_string(std::lround(least.value())) + " W: what " + device.name +
                               " does below is not known"
                         : "";
}

Device under_power_limit(Device device, Watts limit) {
    const PowerPoint left = at_limit(device.power_limits, limit);
    device.power_limit = limit;
    device.bandwidth = device.bandwidth * left.memory;
    for (FlopsPerSecond& peak : device.peak) {
        peak = peak * left.compute;
    }
    if (device.operational_intensity) {
        device.operational_intensity = *device.operational_intensity * (left.compute / left.memory);
    }
    if (device.board_power.value() > 0.0) {
        device.board_power = std::min(device.board_power, limit);
    }
    return device;
}

std::string power_limit_text(const Device& device) {
    return device.power_limit > Watts(0.0) ? " at " + std::to_string(std::lround(device.power_limit.value())) + " W" : "";
}

std::vector<std::string> problems_of(const Device& device) {
    Constraints constraints;
    constraints.require(!device.name.empty(), "name must not be empty");
    constraints.require(!device.title.empty(), "title must not be empty");
    check_memory(device, constraints);
    check_compute(device, constraints);
    check_balance(device, constraints);
    check_power_and_price(device, constraints);
    check_power_limits(device, constraints);
    check_interconnects(device, constraints);
    return constraints.take();
}

}  // namespace treeline::sim
