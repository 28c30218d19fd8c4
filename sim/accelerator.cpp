#include "sim/accelerator.h"

#include <cstdio>

#include "sim/fpga/layer.h"
#include "sim/fpga/round.h"
#include "sim/platform.h"

namespace treeline::sim {

Device device_of(const Accelerator& accelerator) {
    const fpga::Board& board = accelerator.board;
    const fpga::Design& design = accelerator.design;
    Device device;
    device.kind = DeviceKind::fpga;
    device.name = design.board == board.name ? design.name : design.name + " on " + board.name;
    device.title = design.title + " (" + board.title + ")";
    device.memory = board.memory;
    device.bandwidth = board.bandwidth;
    constexpr double operations_per_multiplier = 2.0;  // the product and its sum
    device.peak.fill(FlopsPerSecond(operations_per_multiplier * design.linear.multipliers() * fpga::clock_of(board, design)));
    device.idle_power = fpga::power_of(board, design, {Seconds(1.0), Bytes(0.0), 0.0}).total();
    device.price = board.price;
    return device;
}

Stack on_chip_stack() {
    Stack stack;
    stack.name = "on-chip";
    stack.title = "the accelerator's own controller";
    stack.drafts.verifications = {Verification::packed};
    stack.states.rollbacks = {Rollback::replay, Rollback::snapshot, Rollback::recompute};
    return stack;
}

std::optional<fpga::Backtracking> backtracking_of(Rollback rollback) {
    switch (rollback) {
        case Rollback::replay:
            return fpga::Backtracking::hybrid;
        case Rollback::snapshot:
            return fpga::Backtracking::store_states;
        case Rollback::recompute:
            return fpga::Backtracking::recompute;
        case Rollback::truncate:
        case Rollback::ring:
        case Rollback::joint:
            break;
    }
    return std::nullopt;
}

std::string formats_of(const fpga::Design& design) {
    char text[96];
    std::snprintf(text, sizeof text, "weights of %.2f bits, states of %.2f bits", design.weights.bits_per_element(),
                  design.state.bits_per_element());
    return text;
}

Platform platform_of(Accelerator accelerator) {
    Platform platform;
    platform.device = device_of(accelerator);
    platform.stack = on_chip_stack();
    platform.mode = CostMode::cycles;
    platform.accelerator = std::move(accelerator);
    return platform;
}

std::vector<std::string> problems_of(const Accelerator& accelerator) {
    std::vector<std::string> problems = fpga::problems_of(accelerator.board);
    const std::vector<std::string> more = fpga::problems_of(accelerator.design);
    problems.insert(problems.end(), more.begin(), more.end());
    return problems;
}

}  // namespace treeline::sim
