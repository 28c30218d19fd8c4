#include "sim/prompt_work.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace treeline::sim {
namespace {

/// What the prefix cache does not hold of one prompt, in chunks of what the stack reads at once: its time and energy.
std::pair<Seconds, Joules> prompt_cost(const CompiledPass& pass, const RoundSetup& setup, double prompt_tokens) {
    const Device& device = setup.platform.device;
    const double cached = cached_tokens(prompt_tokens, setup.prefix_hit, setup.shared_prefix), rest = prompt_tokens - cached;
    const double chunks = std::max(1.0, std::ceil(rest / setup.platform.stack.serving.prefill_tokens));
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

/// The mean over prompts of all lengths.
std::pair<Seconds, Joules> mean_prompt_cost(const CompiledPass& pass, const RoundSetup& setup) {
    if (setup.prompt_lengths.empty()) {
        return prompt_cost(pass, setup, setup.prompt_tokens);
    }
    Seconds time;
    Joules energy;
    double shares = 0.0;
    for (const LengthShare& length : setup.prompt_lengths) {
        const auto [of_length, energy_of_length] = prompt_cost(pass, setup, length.tokens);
        time += of_length * length.share;
        energy += energy_of_length * length.share;
        shares += length.share;
    }
    return {time / shares, energy / shares};
}

/// What a prompt leaves in the caches and states of one rank.
Bytes prompt_state(const std::vector<CacheTerm>& caches, Bytes state, double prompt_tokens) {
    for (const CacheTerm& cache : caches) {
        state += cached_bytes(cache, prompt_tokens);
    }
    return state;
}

}  // namespace

double cached_tokens(double prompt_tokens, double prefix_hit, double shared_prefix) {
    const double shared = std::max(0.0, std::min(shared_prefix, prompt_tokens - 1.0));
    return std::max(prefix_hit * prompt_tokens, shared);
}

PromptWork prompt_work(const RoundSetup& setup, const CompiledRound& round) {
    PromptWork work;
    if (setup.output_tokens > 0.0 && setup.prompt_tokens > 0.0) {
        const auto [target, target_energy] = mean_prompt_cost(round.prefill, setup);
        const auto [drafter, drafter_energy] = mean_prompt_cost(round.draft_prefill, setup);
        const double share = 1.0 / setup.output_tokens;
        // Stages read different prompts at the same time.
        const double stage = largest_stage(setup.target, setup.platform.parallel.pipeline);
        work = {target * (share * stage), drafter * share, target_energy * share, drafter_energy * share};
    }
    return work;
}

void set_prefill(const RoundSetup& setup, CompiledRound& round) {
    const Stack& stack = setup.platform.stack;
    round.prefix_hit = setup.prefix_hit;
    round.shared_prefix = setup.shared_prefix;
    round.output_tokens = setup.output_tokens;
    round.step_tokens = stack.serving.step_tokens;
    round.most_requests = stack.serving.most_requests.value_or(unlimited);
    round.prompt_wait = stack.serving.prompt_wait;
    if (stack.serving.prefill != PrefillPolicy::disaggregated || setup.output_tokens <= 0.0) {
        return;
    }
    round.prompt_wait = 0.0;
    round.prefill_pool = 1.0;
    if (const Interconnect* link = link_between(setup.platform, 2.0 * setup.platform.devices())) {
        const auto over_link = [&](Bytes bytes) { return bytes / link->bandwidth; };
        const MemoryModel& memory = round.memory;
        round.target_transfer =
            link->latency + over_link(prompt_state(memory.target_caches, memory.target_state, setup.prompt_tokens));
        round.draft_transfer = over_link(prompt_state(memory.draft_caches, memory.draft_state, setup.prompt_tokens));
    }
}

}  // namespace treeline::sim
