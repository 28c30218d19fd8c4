#include <array>
#include <cmath>
#include <stdexcept>

#include "random_setup.h"
#include "sim/round.h"
#include "targets.h"

namespace treeline::fuzz {
namespace {

void require(bool holds, const char* what) {
    if (!holds) {
        throw std::logic_error(what);
    }
}

/// Times of any valid structure are finite and above zero, and more bandwidth never makes one longer.
void evaluate_any(std::string_view bytes) {
    testing::RandomPoint random = testing::random_point(bytes);
    const sim::CompiledRound round = sim::compile_round(random.setup);
    if (!round.runs(random.point.speculation)) {
        return;
    }
    const sim::RoundEstimate estimate = sim::evaluate(round, random.point);
    require(std::isfinite(estimate.round.value()) && estimate.round.value() > 0.0, "the time of a round");
    require(std::isfinite(estimate.throughput_multiplier) && estimate.throughput_multiplier > 0.0, "the speed-up");
    for (const Seconds part : {estimate.draft, estimate.verify, estimate.rollback, estimate.host}) {
        require(part.value() >= 0.0 && part <= estimate.round, "a part of a round");
    }
    random.setup.platform.device.bandwidth *= 1.5;
    require(sim::evaluate(sim::compile_round(random.setup), random.point).round <= estimate.round,
            "more bandwidth slows a round");
}

}  // namespace

std::span<const Target> evaluator_targets() {
    static constexpr std::array<Target, 1> all = {{{"evaluator", evaluate_any}}};
    return all;
}

}  // namespace treeline::fuzz
