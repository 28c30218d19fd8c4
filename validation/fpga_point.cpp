#include "validation/fpga_point.h"

#include <algorithm>

namespace treeline::validation {

sim::fpga::RoundCost round_of(const FpgaPoint& point) {
    if (point.stage) {
        const auto rows =
            sim::fpga::ablation(point.board, point.design, point.target, point.drafter, point.tree, point.accept_length);
        return std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.stage == *point.stage; })->round;
    }
    const sim::fpga::TreeWork work = sim::fpga::tree_work(point.tree, point.design.ssm.rules, point.options.plan);
    return sim::fpga::round_cost(point.board, point.design, point.target, point.drafter, work, point.accept_length,
                                 point.options);
}

sim::fpga::Resources resources_of(const FpgaPoint& point) {
    const sim::fpga::BufferNeeds needs = {point.target, static_cast<double>(point.tree.verified_tokens()), point.options.plan,
                                          point.drafter};
    return sim::fpga::total_use(point.design, needs, point.board.resources.urams > 0.0);
}

}  // namespace treeline::validation
