#include "sim/prompt_work.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace treeline::sim {
namespace {

/// What the prefix cache does not hold of one prompt, in chunks of what the stack reads at once: its time and energy.
std::pair<Seconds, Joules> prompt_cost(const CompiledPass& pass, const RoundSetup& setup) {
    const Device& device = setup.platform.device;
    const double cached = setup.prefix_hit * setup.prompt_tokens, rest = setup.prompt_tokens - cached;
    const double chunks = std::max(1.0, std::ceil(rest / setup.platform.stack.prefill_tokens));
    const double tokens = rest / chunks;
    Seconds time;
    Joules energy;
    for (double chunk = 0.0; chunk < chunks; ++chunk) {
        const PassTotals totals = totals_of(pass, {1.0, tokens, cached + chunk * tokens, 1.0});
        time += pass_time(pass, totals);
        energy += device.energy_per_byte * totals.bytes + device.energy_per_flop * totals.flops;
    }
    return {time, energy};
}

}  // namespace

PromptWork prompt_work(const RoundSetup& setup, const CompiledRound& round) {
    PromptWork work;
    const bool reads = setup.platform.stack.prefill != PrefillPolicy::disaggregated;
    if (reads && setup.output_tokens > 0.0 && setup.prompt_tokens > 0.0) {
        const auto [target, target_energy] = prompt_cost(round.prefill, setup);
        const auto [drafter, drafter_energy] = prompt_cost(round.draft_prefill, setup);
        const double share = 1.0 / setup.output_tokens;
        // Stages read different prompts at the same time.
        const double stage = largest_stage(setup.target, setup.platform.parallel.pipeline);
        work = {target * (share * stage), drafter * share, target_energy * share, drafter_energy * share};
    }
    return work;
}

}  // namespace treeline::sim
