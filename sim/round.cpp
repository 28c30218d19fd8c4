#include "sim/round.h"

#include <algorithm>
#include <cmath>

namespace treeline {
namespace {

double heads_of(const Attention& attention) { return static_cast<double>(attention.query_heads); }
double heads_of(const LatentAttention& attention) { return static_cast<double>(attention.heads); }
double heads_of(const Mamba2& mamba) { return static_cast<double>(mamba.heads); }
double heads_of(const GatedDelta& delta) { return static_cast<double>(delta.value_heads); }

/// The number of heads of the first block whose heads `ranks` does not divide; 0 when all can be shared evenly.
double heads_that_do_not_divide(const Model& model, double ranks) {
    double found = 0.0;
    for (const LayerKind& kind : model.kinds) {
        for (const Block& block : kind.blocks) {
            std::visit(
                [&](const auto& b) {
                    if constexpr (requires { heads_of(b); }) {
                        if (found == 0.0 && std::fmod(heads_of(b), ranks) != 0.0) {
                            found = heads_of(b);
                        }
                    }
                },
                block.kind);
        }
    }
    return found;
}

CompileOptions pass_options(PassKind kind, StateWrites writes, Sampling sampling, Seconds host) {
    CompileOptions options;
    options.pass.kind = kind;
    options.pass.writes = writes;
    options.sampling = sampling;
    options.host = host;
    return options;
}

Sampling sampling_of(Decoding decoding) { return decoding == Decoding::greedy ? Sampling::greedy : Sampling::rejection; }

/// Row k of the table: how many draft passes of how many tokens.
DraftLength draft_length(int k, const RoundSetup& setup, const DrafterPlan& drafter) {
    DraftLength row;
    row.draft_tokens = k;
    row.verified_tokens = k + 1.0;
    row.accept_length = setup.acceptance.accept_length(k);
    row.advanced_tokens = row.accept_length;
    row.speculates = k > 0 ? 1.0 : 0.0;
    if (k == 0 || !drafter.model) {
        return row;
    }
    row.first_passes = 1.0;
    row.next_passes = k - 1.0;
    row.first_tokens = 1.0;
    if (setup.platform.mode == CostMode::hoi) {
        return row;  // SPIRe's model: k passes of one token at the round's context
    }
    if (drafter.catch_up == CatchUp::last_draft) {
        row.first_tokens = 1.0 + setup.acceptance.position(k);
    } else if (drafter.catch_up == CatchUp::all_accepted) {
        row.first_tokens = row.accept_length;
    }
    row.next_context_offset = drafter.has_cache ? 0.5 * k : 0.0;
    return row;
}

/// The two widest activations that live at once: a layer's input and output, in the widest linear layer.
Bytes widest_activation(const CompiledPass& pass) {
    Bytes widest;
    for (const TimedOperation& timed : pass.operations) {
        if (timed.operation.kind == OperationKind::linear || timed.operation.kind == OperationKind::experts) {
            widest = std::max(widest, timed.operation.bytes.per_token);
        }
    }
    return widest;
}

MemoryModel memory_model(const RoundSetup& setup, const DrafterPlan& drafter, const RollbackPlan& rollback,
                         const CompiledPass& verify) {
    const double ranks = setup.platform.ranks;
    const RecurrentMemory target = recurrent_memory(setup.target, setup.precision, ranks);
    MemoryModel memory;
    memory.target_weights = stored_weights(setup.target, setup.precision, ranks);
    memory.draft_weights = added_weights(drafter, ranks);
    memory.reserved = setup.platform.device.reserved;
    memory.capacity = setup.platform.device.memory;
    memory.recurrent_per_sequence = target.state * (1.0 + rollback.extra_states);
    memory.recurrent_per_verified = target.state * rollback.states_per_verified_token;
    if (rollback.caches_activations) {
        memory.recurrent_per_verified += target.replay_per_token;
    }
    memory.logits_per_verified = Bytes(4.0 * static_cast<double>(setup.target.vocabulary_size) / ranks);
    memory.activations_per_verified = widest_activation(verify);
    memory.target_caches = caches_of(setup.target, setup.precision, ranks);
    if (drafter.model && drafter.has_cache) {
        memory.draft_caches = caches_of(*drafter.model, drafter.precision, ranks);
        // A drafter's recurrent state is kept after each of its passes, so that it can go back to the last accepted token.
        memory.recurrent_per_verified += recurrent_memory(*drafter.model, drafter.precision, ranks).state;
    }
    return memory;
}

void compile_draft_passes(const RoundSetup& setup, const DrafterPlan& drafter, CompiledRound& round) {
    if (!drafter.model) {
        return;
    }
    // Heads without a cache run within the target's pass, so the host does nothing for them.
    const Seconds host = drafter.has_cache ? setup.platform.stack.host_per_draft_pass : Seconds(0.0);
    const auto options = pass_options(PassKind::decode, StateWrites::final_state, sampling_of(setup.decoding), host);
    round.draft_next = compile_pass(*drafter.model, drafter.precision, setup.platform, options, drafter.extra);
    round.draft_first = round.draft_next;
    if (drafter.needs_prefill) {
        const auto prefill = pass_options(PassKind::prefill, StateWrites::final_state, Sampling::none, host);
        round.draft_prefill = compile_pass(*drafter.model, drafter.precision, setup.platform, prefill);
    }
}

}  // namespace

std::vector<std::string> problems_of(const RoundSetup& setup) {
    std::vector<std::string> problems = problems_of(setup.target);
    const auto add = [&problems](std::vector<std::string> more) { problems.insert(problems.end(), more.begin(), more.end()); };
    if (!problems.empty()) {
        return problems;
    }
    add(problems_of(setup.precision));
    add(problems_of(setup.platform.device));
    add(problems_of(setup.platform.stack));
    add(problems_of(setup.drafter, setup.target));
    add(setup.acceptance.problems());
    if (setup.platform.device.peak_for(setup.precision.math) <= FlopsPerSecond(0.0)) {
        problems.push_back(setup.platform.device.name + " states no peak for " + std::string(name_of(setup.precision.math)) +
                           " or any wider format");
    }
    if (setup.platform.ranks > 1.0 && link_of(setup.platform) == nullptr) {
        problems.push_back(setup.platform.device.name + " has no interconnect" +
                           (setup.platform.interconnect.empty() ? "" : " named '" + setup.platform.interconnect + "'") +
                           ", so its layers cannot be shared by " + std::to_string(static_cast<int>(setup.platform.ranks)) +
                           " devices");
    }
    if (const double heads = heads_that_do_not_divide(setup.target, setup.platform.ranks); heads > 0.0) {
        problems.push_back(setup.target.name + " has layers of " + std::to_string(static_cast<int>(heads)) + " heads, which " +
                           std::to_string(static_cast<int>(setup.platform.ranks)) + " devices cannot share evenly");
    }
    const std::vector<Rollback> usable = rollbacks_for(setup.target);
    if (std::find(usable.begin(), usable.end(), setup.rollback) == usable.end()) {
        problems.push_back(
            setup.target.name +
            (has_recurrent_state(setup.target) ? " keeps a recurrent state, which '" : " keeps no recurrent state, so '") +
            std::string(name_of(setup.rollback)) + "' cannot be its rollback");
    }
    if (setup.max_draft_tokens < 0 || setup.max_draft_tokens > 1024) {
        problems.emplace_back("the number of draft tokens must lie between 0 and 1024");
    }
    return problems;
}

CompiledRound compile_round(const RoundSetup& setup) {
    const Seconds host = setup.platform.stack.host_per_pass;
    const DrafterPlan drafter = plan(setup.drafter, setup.target, setup.precision);
    RollbackPlan rollback = plan_rollback(setup.rollback, setup.target, setup.precision, setup.platform);

    CompiledRound round;
    const auto compile_target = [&](PassKind kind, StateWrites writes, Sampling sampling) {
        return compile_pass(setup.target, setup.precision, setup.platform, pass_options(kind, writes, sampling, host));
    };
    round.autoregressive = compile_target(PassKind::decode, StateWrites::final_state, sampling_of(setup.decoding));
    round.verify = compile_target(PassKind::verify, rollback.verify_writes, sampling_of(setup.decoding));
    round.prefill = compile_target(PassKind::prefill, StateWrites::final_state, Sampling::greedy);
    compile_draft_passes(setup, drafter, round);
    round.memory = memory_model(setup, drafter, rollback, round.verify);
    round.rollback = std::move(rollback.pass);

    for (int k = 0; k <= std::min(setup.max_draft_tokens, drafter.max_draft_tokens); ++k) {
        round.lengths.push_back(draft_length(k, setup, drafter));
    }
    if (setup.platform.mode == CostMode::roofline) {
        round.host_per_round = setup.platform.stack.host_per_round;
        round.host_per_sequence = drafter.host_per_round_and_sequence;
    }
    const Device& device = setup.platform.device;
    round.ranks = setup.platform.ranks;
    round.idle_power = device.idle_power;
    round.board_power = device.board_power;
    round.energy_per_byte = device.energy_per_byte;
    round.energy_per_flop = device.energy_per_flop;
    round.price = device.price * setup.platform.ranks;
    return round;
}

RoundEstimate evaluate(const CompiledRound& round, const DesignPoint& point) {
    const DraftLength& length = row_of(round, point.draft_tokens);
    const RoundTotals totals{totals_of(round.autoregressive, decode_shape(point.batch, point.context)),
                             totals_of(round.verify, verify_shape(length, point.batch, point.context)),
                             totals_of(round.draft_first, first_shape(length, point.batch, point.context)),
                             totals_of(round.draft_next, next_shape(length, point.batch, point.context)),
                             totals_of(round.rollback, rollback_shape(length, point.batch, point.context))};
    return finish_round(round, length, point.batch, point.context, totals);
}

std::vector<ExplainedPass> explain(const CompiledRound& round, const DesignPoint& point) {
    const DraftLength& length = row_of(round, point.draft_tokens);
    std::vector<ExplainedPass> passes;
    const auto add = [&](const char* phase, const CompiledPass& pass, const PassShape& shape, double runs) {
        if (runs > 0.0 && !pass.operations.empty()) {
            passes.push_back(
                {phase, shape, runs, pass_time(pass, totals_of(pass, shape)), pass.launch_time, explain(pass, shape)});
        }
    };
    add("plain decoding", round.autoregressive, decode_shape(point.batch, point.context), 1.0);
    add("draft, first pass", round.draft_first, first_shape(length, point.batch, point.context), length.first_passes);
    add("draft, next pass", round.draft_next, next_shape(length, point.batch, point.context), length.next_passes);
    add("verify", round.verify, verify_shape(length, point.batch, point.context), length.speculates);
    add("rollback", round.rollback, rollback_shape(length, point.batch, point.context), length.speculates);
    return passes;
}

std::vector<MemoryPart> memory_parts(const CompiledRound& round, const DesignPoint& point) {
    const MemoryModel& memory = round.memory;
    const DraftLength& length = row_of(round, point.draft_tokens);
    const double tokens = point.context + length.verified_tokens;
    const auto caches = [&](const std::vector<CacheTerm>& terms) {
        Bytes sum;
        for (const CacheTerm& cache : terms) {
            sum += cached_bytes(cache, tokens);
        }
        return sum * point.batch;
    };
    std::vector<MemoryPart> parts = {
        {"target weights", memory.target_weights},
        {"drafter weights", memory.draft_weights},
        {"target key-value cache", caches(memory.target_caches)},
        {"drafter key-value cache", caches(memory.draft_caches)},
        {"recurrent states and their copies",
         (memory.recurrent_per_sequence + memory.recurrent_per_verified * length.verified_tokens) * point.batch},
        {"logits", memory.logits_per_verified * (length.verified_tokens * point.batch)},
        {"activations", memory.activations_per_verified * (length.verified_tokens * point.batch)},
        {"reserved by driver and framework", memory.reserved},
    };
    std::erase_if(parts, [](const MemoryPart& part) { return part.bytes <= Bytes(0.0); });
    std::stable_sort(parts.begin(), parts.end(), [](const MemoryPart& a, const MemoryPart& b) { return a.bytes > b.bytes; });
    return parts;
}

Seconds time_to_first_token(const CompiledRound& round, double prompt_tokens) {
    const PassShape prompt{1.0, prompt_tokens, 0.0, 1.0};
    return pass_time(round.prefill, totals_of(round.prefill, prompt)) +
           pass_time(round.draft_prefill, totals_of(round.draft_prefill, prompt));
}

}  // namespace treeline
