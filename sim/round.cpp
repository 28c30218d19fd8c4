#include "sim/round.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/accelerator_round.h"
#include "sim/delta_layers.h"
#include "sim/prompt_work.h"
#include "sim/round_host.h"
#include "sim/round_memory.h"
#include "sim/round_rows.h"
#include "sim/state_groups.h"
#include "sim/traits.h"

namespace treeline::sim {
namespace {

CompileOptions pass_options(PassKind kind, StateWrites writes, Sampling sampling, Seconds host) {
    CompileOptions options;
    options.pass.kind = kind;
    options.pass.writes = writes;
    options.sampling = sampling;
    options.host = host;
    return options;
}

/// Host time of each pass whose logits are sampled: drafting, verification and plain decoding.
Seconds host_of_sampling(const RoundSetup& setup) {
    return setup.decoding == Decoding::sampling ? setup.platform.stack.passes.host_per_sampling : Seconds(0.0);
}

Sampling sampling_of(Decoding decoding) { return decoding == Decoding::greedy ? Sampling::greedy : Sampling::rejection; }

/// What all sequences share is cached once; some kernels of the target read it faster for those after the first
/// (Operation::shared_read). Engines look for a common prefix when the target runs, not for a drafter's passes.
void share_prefix(const RoundSetup& setup, CompiledRound& round) {
    round.memory.shared_prefix = setup.shared_prefix;
    for (const PassId id : {PassId::plain, PassId::verify_unrolled, PassId::verify_chunk, PassId::verify_packed}) {
        for (TimedOperation& timed : round.pass(id).operations) {
            // A window moves past the prefix.
            if (timed.reads_context && timed.cost.reach.window == unlimited) {
                timed.cost.shared_context = visible_context(timed.cost.reach, setup.shared_prefix);
            }
        }
    }
}

/// The target's mixtures know the pool, and so do heads made of its layers.
RoundSetup with_expert_pool(RoundSetup setup) {
    for (LayerKind& kind : setup.target.kinds) {
        for (Block& block : kind.blocks) {
            if (auto* experts = std::get_if<MixtureOfExperts>(&block.kind)) {
                experts->pool = setup.expert_pool;
            }
        }
    }
    setup.expert_pool = 1.0;
    return setup;
}

Platform with_stack(Platform platform, Stack stack) {
    platform.stack = std::move(stack);
    return platform;
}

CompiledPass compile_copies(const Model& model, const Precision& precision, const Platform& platform) {
    return compile_operations(state_copy_operations(model, precision, platform.ranks), precision,
                              with_stack(platform, platform.stack.copying()), Seconds(0.0));
}

void compile_draft_passes(const RoundSetup& setup, const DrafterPlan& drafter, CompiledRound& round) {
    if (!drafter.model) {
        return;
    }
    // Heads without a cache run within the target's pass, so the host does nothing for them.
    const Stack& stack = setup.platform.stack;
    const bool head = std::holds_alternative<OneLayerDrafter>(setup.drafter);
    const Seconds of_pass =
        head ? stack.passes.host_per_head_pass.value_or(stack.passes.host_per_draft_pass) : stack.passes.host_per_draft_pass;
    // Behind a Markov head, which samples each draft, the logits of a pass are only read.
    const Sampling sampling = drafter.markov.model ? Sampling::greedy : sampling_of(setup.decoding);
    const Seconds of_sampling = drafter.markov.model ? Seconds(0.0) : host_of_sampling(setup);
    const Seconds host = drafter.has_cache ? of_pass + of_sampling : Seconds(0.0);
    const Platform draft_platform = platform_of_drafter(setup.platform);
    const Platform platform = with_stack(draft_platform, stack.drafting());
    CompileOptions options = pass_options(PassKind::decode, StateWrites::final_state, sampling, host);
    round.pass(PassId::draft) = compile_pass(*drafter.model, drafter.precision, platform, options, drafter.extra);
    options.pass.verification = Verification::packed;
    options.sampling = setup.decoding == Decoding::greedy ? Sampling::top : options.sampling;
    round.pass(PassId::draft_tree) = compile_pass(*drafter.model, drafter.precision, platform, options, drafter.extra);
    round.pass(PassId::draft_copy) = compile_copies(*drafter.model, drafter.precision, platform);
    if (drafter.inner.model) {
        options.pass.verification = Verification::unrolled;
        options.sampling = sampling_of(setup.decoding);
        round.pass(PassId::draft_inner) = compile_pass(*drafter.inner.model, drafter.inner.precision, platform, options);
    }
    if (drafter.markov.model) {
        options =
            pass_options(PassKind::decode, StateWrites::final_state, sampling_of(setup.decoding), host_of_sampling(setup));
        round.pass(PassId::draft_markov) = compile_pass(*drafter.markov.model, drafter.markov.precision, platform, options);
    }
    if (drafter.context_model) {
        options = pass_options(PassKind::decode, StateWrites::final_state, Sampling::none, Seconds(0.0));
        round.pass(PassId::draft_context) = compile_pass(*drafter.context_model, drafter.precision, platform, options);
    } else if (drafter.catch_up == CatchUp::apart) {
        options = pass_options(PassKind::decode, StateWrites::final_state, Sampling::none, of_pass);
        round.pass(PassId::draft_context) = compile_pass(*drafter.model, drafter.precision, platform, options, drafter.extra);
    }
    if (drafter.needs_prefill) {
        const auto prefill = pass_options(PassKind::prefill, StateWrites::final_state, Sampling::none, host);
        const Model& reads_prompts = drafter.context_model ? *drafter.context_model : *drafter.model;
        round.draft_prefill = compile_pass(reads_prompts, drafter.precision, draft_platform, prefill);
    }
}

/// The passes take at least what the host needs to launch them, `chain` on a fast host.
void take_at_least(Seconds chain, const Device& device, std::initializer_list<PassId> passes, CompiledRound& round) {
    for (const PassId id : passes) {
        CompiledPass& pass = round.pass(id);
        // pass_time() adds what the host does before the pass, which is part of its chain.
        pass.launch_time = std::max(pass.launch_time, chain / device.host_speed - pass.host);
    }
}

constexpr std::initializer_list<PassId> verifications = {PassId::verify_unrolled, PassId::verify_chunk, PassId::verify_packed};

/// Passes of the target behind which the host works, those that verify in pieces, and those of a drafter that is not one graph,
/// beside a target in pieces or by itself.
void wait_for_host(const RoundSetup& setup, const DrafterPlan& drafter, CompiledRound& round) {
    const Platform& platform = setup.platform;
    if (platform.mode == CostMode::hoi) {
        return;
    }
    const Stack& stack = platform.stack;
    take_at_least(stack.passes.host_per_overlapped_pass, platform.device, {PassId::plain}, round);
    const double groups = state_groups(setup.target, setup.drafter, drafter);
    take_at_least(host_of_verification(stack, groups), platform.device, verifications, round);
    const VerificationRule* rule = rule_for(stack.picked.verification_rules, platform.device, setup.precision);
    const bool in_pieces = rule != nullptr && rule->in_pieces && has_attention_of_heads(setup.target);
    if (in_pieces) {
        take_at_least(stack.passes.host_per_piece * mixing_layers(setup.target), platform.device, verifications, round);
    }
    if (!drafter.model || !drafter.has_cache) {
        return;
    }
    const double layers = mixing_layers(*drafter.model);
    if (in_pieces && stack.passes.pieces_per_draft_pass > 0.0) {
        take_at_least(stack.passes.host_per_piece * (stack.passes.pieces_per_draft_pass + std::max(0.0, layers - 1.0)),
                      platform.device, {PassId::draft, PassId::draft_tree}, round);
    }
    if (std::holds_alternative<IndependentDrafter>(setup.drafter)) {
        take_at_least(stack.passes.host_per_draft_layer * layers, platform.device, {PassId::draft, PassId::draft_tree}, round);
    }
}

void compile_target_passes(const RoundSetup& setup, const RollbackPlan& rollback, CompiledRound& round) {
    const auto compile_target = [&](PassKind kind, StateWrites writes, Verification verification) {
        CompileOptions options = pass_options(kind, writes, sampling_of(setup.decoding),
                                              setup.platform.stack.passes.host_per_pass + host_of_sampling(setup));
        options.pass.verification = verification;
        return compile_pass(setup.target, setup.precision, setup.platform, options);
    };
    const Seconds of_delta_layers = setup.platform.mode == CostMode::hoi
                                        ? Seconds(0.0)
                                        : setup.platform.stack.layers.per_verified_delta_layer * delta_layers(setup.target).all;
    const auto compile_verification = [&](Verification verification) {
        CompiledPass pass = compile_target(PassKind::decode, rollback.verify_writes, verification);
        pass.node_time += of_delta_layers;
        return pass;
    };
    round.pass(PassId::plain) = compile_target(PassKind::decode, StateWrites::final_state, Verification::unrolled);
    round.pass(PassId::verify_unrolled) = compile_verification(Verification::unrolled);
    round.pass(PassId::verify_chunk) = compile_verification(Verification::unrolled_chunk);
    round.pass(PassId::verify_packed) = compile_verification(Verification::packed);
    round.pass(PassId::advance) = rollback.advance;
    round.pass(PassId::ring_replay) = rollback.ring_replay;
    round.pass(PassId::ring_flush) = rollback.ring_flush;
    round.pass(PassId::state_copy) = compile_copies(setup.target, setup.precision, setup.platform);
    round.pass(PassId::compaction) =
        compile_operations(cache_compaction_operations(setup.target, setup.precision, setup.platform.ranks), setup.precision,
                           setup.platform, Seconds(0.0));
    CompileOptions prefill =
        pass_options(PassKind::prefill, StateWrites::final_state, Sampling::greedy, setup.platform.stack.passes.host_per_pass);
    round.prefill = compile_pass(setup.target, setup.precision, setup.platform, prefill);
}

}  // namespace

bool is_chain(const Speculation& speculation) {
    return std::holds_alternative<ChainShape>(speculation.shape) || std::holds_alternative<VllmShape>(speculation.shape);
}

bool is_plain_decoding(const Speculation& speculation) {
    const auto* chain = std::get_if<ChainShape>(&speculation.shape);
    return chain != nullptr && chain->draft_tokens == 0;
}

std::string text_of(const Speculation& speculation) {
    const bool only_way = is_chain(speculation) && speculation.verification == Verification::unrolled;
    return only_way ? speculation.label : speculation.label + ", " + std::string(name_of(speculation.verification));
}

std::vector<Speculation> chains_up_to(int longest) {
    std::vector<Speculation> chains;
    for (int k = 0; k <= longest; ++k) {
        chains.push_back({ChainShape{k}, Verification::unrolled, "chain " + std::to_string(k)});
    }
    return chains;
}

namespace {

/// What a deployment's rounds take beyond its plain steps (MeasuredDeployment::round_factor): all but plain decoding and
/// prompts.
void scale_passes_of_rounds(double factor, CompiledRound& round) {
    for (std::size_t pass = 0; pass < pass_count; ++pass) {
        if (pass != static_cast<std::size_t>(PassId::plain)) {
            round.passes[pass].time_factor *= factor;
        }
    }
}

DrafterPlan plan_of(const RoundSetup& setup) {
    DrafterPlan drafter = plan(setup.drafter, setup.target, setup.precision);
    if (setup.platform.stack.drafts.drafter_reads_round && drafter.catch_up != CatchUp::none) {
        drafter.catch_up = CatchUp::apart;
    }
    return drafter;
}

CompiledRound compile_on_host(const RoundSetup& setup) {
    const DrafterPlan drafter = plan_of(setup);
    const RollbackPlan rollback = plan_rollback(setup.rollback, setup.target, setup.precision, setup.platform);

    CompiledRound round;
    compile_target_passes(setup, rollback, round);
    compile_draft_passes(setup, drafter, round);
    wait_for_host(setup, drafter, round);
    round.memory = memory_model(setup, drafter, round.pass(PassId::plain), round.prefill);
    const TreeBuilder trees = trees_of(setup);
    for (const Speculation& speculation : setup.speculations) {
        append_row({setup, drafter, rollback, trees}, speculation, round);
    }
    add_off_row(round);
    keep_drafter_in_step(drafter, round);
    if (setup.platform.mode != CostMode::hoi) {
        add_host(setup, drafter, round);
        scale_passes_of_rounds(setup.platform.stack.measured.round_factor, round);
    }
    const MeasuredLoads measured = measured_loads_of(setup);
    round.ratios = LoadRatios(measured);
    round.memory.measured = measured.memory;
    round.memory.capacity = round.memory.capacity * measured.memory;
    round.memory.plain_capacity = round.memory.plain_capacity * measured.memory;
    share_prefix(setup, round);
    round.prompts = prompt_work(setup, round);
    set_prefill(setup, round);
    const Device& device = setup.platform.device;
    round.ranks = setup.platform.devices();
    round.tensor = setup.platform.ranks;
    round.groups = setup.platform.parallel.data;
    round.stages = setup.platform.parallel.pipeline;
    round.largest_stage = largest_stage(setup.target, round.stages);
    round.constant_power = device.idle_power + device.active_power;
    round.board_power = device.board_power.value() > 0.0 ? device.board_power : Watts(unlimited);
    round.energy_per_byte = device.energy_per_byte;
    round.energy_per_flop = device.energy_per_flop;
    round.price = device.price * round.ranks;
    return round;
}

}  // namespace

MeasuredLoads measured_loads_of(const RoundSetup& setup) {
    const Platform& platform = setup.platform;
    const MeasuredLoads& stated = platform.stack.measured.measured_loads;
    if (stated.loads.empty() || stated.target != setup.target.name ||
        stated.weights != name_of(setup.precision.weights.format) || stated.device != platform.device.name ||
        stated.devices != platform.devices() || stated.mode != name_of(platform.mode)) {
        return {};
    }
    MeasuredLoads measured = stated;
    if (measured.drafter != plan(setup.drafter, setup.target, setup.precision).kind) {
        std::erase_if(measured.loads, [](const MeasuredLoad& load) { return load.draft_tokens > 0.0; });
    }
    return measured;
}

CompiledRound compile_round(const RoundSetup& setup) {
    if (setup.expert_pool < 1.0) {
        return compile_round(with_expert_pool(setup));
    }
    if (setup.platform.accelerator) {
        return compile_turns(setup);
    }
    if (setup.platform.stack.holds_as_it_is(setup.target, setup.precision, setup.platform.device)) {
        return compile_on_host(setup);
    }
    RoundSetup here = setup;
    here.platform.stack = setup.platform.stack.where(setup.target, setup.precision, setup.platform.device);
    return compile_on_host(here);
}

RoundEstimate evaluate(const CompiledRound& round, const DesignPoint& point) {
    const RoundRow& row = round.row(point.speculation);
    const double sequences = sequences_of_pass(round, point.batch);
    RoundTotals totals;
    for (std::size_t pass = 0; pass < pass_count; ++pass) {
        for (std::uint32_t i = row.begin[pass]; i < row.begin[pass + 1]; ++i) {
            const RoundStep& step = round.steps[i];
            const StepPasses shared = passes_of(step, sequences);
            add_step(round.passes[pass], step, shared.passes,
                     totals_of(round.passes[pass], shape_of(step, shared.sequences, point.context)), totals);
        }
    }
    return finish_round(round, row, point.batch, point.context, totals);
}

Seconds time_to_first_token(const CompiledRound& round, double prompt_tokens) {
    const double cached = cached_tokens(prompt_tokens, round.prefix_hit, round.shared_prefix);
    const PassShape prompt{1.0, prompt_tokens - cached, cached, 1.0};
    return pass_time(round.prefill, totals_of(round.prefill, prompt)) +
           pass_time(round.draft_prefill, totals_of(round.draft_prefill, prompt));
}

}  // namespace treeline::sim
