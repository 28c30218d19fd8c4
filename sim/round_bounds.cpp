#include "sim/round_bounds.h"

#include <algorithm>

namespace treeline::sim {
namespace {

struct TotalsBounds {
    RoundTotals least, most;
};

TotalsBounds totals_of(const CompiledRound& round, const RoundRow& row, const PointBox& box) {
    const double from = sequences_of_pass(round, box.least_batch), to = sequences_of_pass(round, box.most_batch);
    TotalsBounds totals;
    for (std::size_t pass = 0; pass < pass_count; ++pass) {
        for (std::uint32_t i = row.begin[pass]; i < row.begin[pass + 1]; ++i) {
            const RoundStep& step = round.steps[i];
            const StepPasses least = passes_of(step, from), most = passes_of(step, to);
            const PassBounds bounds = bounds_of(round.passes[pass], shape_of(step, least.sequences, box.least_context),
                                                shape_of(step, most.sequences, box.most_context));
            add_step(round.passes[pass], step, least.passes, bounds.least, totals.least);
            add_step(round.passes[pass], step, most.passes, bounds.most, totals.most);
        }
    }
    return totals;
}

RoundEstimate corner(const CompiledRound& round, const RoundRow& row, const Sequences& sequences, const RoundTotals& totals,
                     const LoadFactors& measured) {
    return round.stages > 1.0 ? finish_times<true>(round, row, row.accept_length(), sequences, totals, measured)
                              : finish_times<false>(round, row, row.accept_length(), sequences, totals, measured);
}

/// What a box has at one of its ends, as finish_times() has it.
struct End {
    Sequences sequences;
    Seconds decoding, plain_step, prompts;  ///< the last: for each token of a request, of all that it waits for
    Seconds busy;
    double before = 1.0;  ///< prompts that a request waits for before its first token, its own included
};

Seconds prompt_of(const RoundConstants& round, const RowConstants& row) {
    return round.prompts.target + round.prompts.drafter * row.holds_drafter;
}

End end_of(const CompiledRound& round, const RoundRow& row, double batch, const RoundEstimate& e, const LoadFactors& measured) {
    End end;
    end.sequences = sequences_of(round, batch);
    const double others = round.prompt_wait * (end.sequences.of_group - 1.0);
    end.decoding = e.draft + e.verify + e.rollback + e.host;
    end.prompts = prompt_of(round, row) * others * measured.round;
    end.plain_step = e.autoregressive + round.prompts.target * others * measured.plain;
    end.before = end.sequences.of_group - others;
    return end;
}

/// Verification in a pipeline is what the whole takes less what sits in one stage: bounds of a difference.
void bound_pipeline(EstimateBounds& bounds) {
    const auto in_one_stage = [](const RoundEstimate& e) { return e.draft + e.rollback + e.host; };
    const Seconds least = in_one_stage(bounds.least), most = in_one_stage(bounds.most);
    bounds.least.verify = std::max(Seconds(0.0), (bounds.least.verify - (most - least)) * (1.0 - rounding_slack));
    bounds.most.verify = (bounds.most.verify + (most - least)) * (1.0 + rounding_slack);
}

/// What a corner waits for its host, who has more to do in a round than the device.
Seconds waits_of(const CompiledRound& round, const RoundRow& row, const Sequences& sequences, const RoundEstimate& corner,
                 const LoadFactors& measured) {
    const Seconds beside = host_beside_passes(round, row, sequences.of_pass, row.accept_length() * row.kept) * measured.round;
    return row.host_chain > Seconds(0.0) ? corner.host - beside : Seconds(0.0);
}

/// The longer the device takes, the less it waits: what the corners wait for bounds the other way round.
void bound_waits(Seconds low, Seconds high, EstimateBounds& bounds) {
    bounds.least.host = std::max(Seconds(0.0), (bounds.least.host - low + std::min(low, high)) * (1.0 - rounding_slack));
    bounds.most.host = (bounds.most.host - high + std::max(low, high)) * (1.0 + rounding_slack);
}

/// What follows from the time of a round alone. `slack` is 0 where no prompts are read.
void bound_rates(const RoundRow& row, const End& low, const End& high, double slack, EstimateBounds& bounds) {
    const double kept = row.kept_length();
    for (RoundEstimate* e : {&bounds.least, &bounds.most}) {
        e->time_per_token = e->round / kept;
    }
    const auto per_user = [&](Seconds round) { return kept * (Seconds(1.0) / round); };
    bounds.least.tokens_per_second_user = per_user(bounds.most.round);
    bounds.most.tokens_per_second_user = per_user(bounds.least.round);
    bounds.least.throughput_multiplier = kept / (bounds.most.round / low.plain_step);
    bounds.most.throughput_multiplier = kept / (bounds.least.round / high.plain_step);
    const auto multiplier = [&](Seconds decoding, Seconds left) {
        return left > Seconds(0.0) ? decoding / (left * row.kept) : unlimited;
    };
    bounds.least.iteration_multiplier = multiplier(low.decoding, high.plain_step - low.prompts);
    bounds.most.iteration_multiplier = multiplier(high.decoding, low.plain_step - high.prompts);
    if (row.speculates == 0.0) {  // plain decoding is measured against itself
        bounds.least.throughput_multiplier = bounds.least.iteration_multiplier = 1.0 - slack;
        bounds.most.throughput_multiplier = bounds.most.iteration_multiplier = 1.0 + slack;
    }
}

/// What depends on the prompts that the device reads beside decoding. The time it is busy with a round is linear in the
/// sequences of a group, so its extremes are at the ends.
void bound_prompts(const CompiledRound& round, const RoundRow& row, End& low, End& high, EstimateBounds& bounds) {
    const Seconds prompt = prompt_of(round, row);
    const double kept = row.kept_length();
    const double least_before = std::min(low.before, high.before), most_before = std::max(low.before, high.before);
    const bool none = prompt <= Seconds(0.0);
    const double slack = none ? 0.0 : rounding_slack;
    low.busy = (bounds.least.round + prompt * (kept * least_before)) * (1.0 - slack);
    high.busy = (bounds.most.round + prompt * (kept * most_before)) * (1.0 + slack);
    bounds.least.decode_share = none ? 1.0 : low.decoding / high.busy;
    bounds.most.decode_share = none ? 1.0 : high.decoding / low.busy;
    const double steady = round.output_tokens > 0.0 ? 1.0 : 0.0;
    const auto first_token = [&](double before, Seconds of_round) {
        const double in_line = round.prefill_pool > 0.0 ? 1.0 : before;
        return prompt * (round.output_tokens * in_line) + of_round * (steady * (1.0 + 0.5 * round.prefill_pool)) +
               round.target_transfer + round.draft_transfer * row.holds_drafter;
    };
    bounds.least.first_token = first_token(least_before, bounds.least.round) * (1.0 - slack);
    bounds.most.first_token = first_token(most_before, bounds.most.round) * (1.0 + slack);
    const auto per_device = [&](double all, double user, Seconds busy) {
        return none ? all * user / round.ranks : all * kept / (round.ranks * busy.value());
    };
    bounds.least.tokens_per_second_device =
        per_device(low.sequences.all, bounds.least.tokens_per_second_user, high.busy) * (1.0 - slack);
    bounds.most.tokens_per_second_device =
        per_device(high.sequences.all, bounds.most.tokens_per_second_user, low.busy) * (1.0 + slack);
}

/// Energy and price of a token: of the busy time at one end, over the tokens at the other one.
void bound_money(const CompiledRound& round, const RoundRow& row, const End& low, const End& high, const TotalsBounds& totals,
                 EstimateBounds& bounds) {
    const double on = row.speculates, off = 1.0 - on, kept = row.kept_length();
    const auto energy = [&](const End& end, const RoundTotals& of, double tokens_at_other_end) {
        const double tokens = end.sequences.all * kept;
        const Joules used = round.constant_power * end.busy + round.energy_per_byte * (of.bytes + off * of.plain_bytes) +
                            round.energy_per_flop * (of.flops + off * of.plain_flops) +
                            row.turn.energy * end.sequences.of_pass +
                            (round.prompts.target_energy + round.prompts.drafter_energy * row.holds_drafter) * tokens;
        return std::min(used, round.board_power * end.busy) * (round.ranks / tokens_at_other_end);
    };
    const double least_tokens = low.sequences.all * kept, most_tokens = high.sequences.all * kept;
    bounds.least.energy_per_token = energy(low, totals.least, most_tokens) * (1.0 - rounding_slack);
    bounds.most.energy_per_token = energy(high, totals.most, least_tokens) * (1.0 + rounding_slack);
    bounds.least.price_per_token = round.price * low.busy / most_tokens;
    bounds.most.price_per_token = round.price * high.busy / least_tokens;
}

}  // namespace

EstimateBounds bounds_of(const CompiledRound& round, int speculation, const PointBox& box) {
    const RoundRow& row = round.row(speculation);
    const TotalsBounds totals = totals_of(round, row, box);
    const LoadFactorBounds measured =
        round.ratios.over(box.least_batch, box.most_batch, box.least_context, box.most_context, row.draft_tokens);
    EstimateBounds bounds{corner(round, row, sequences_of(round, box.least_batch), totals.least, measured.least),
                          corner(round, row, sequences_of(round, box.most_batch), totals.most, measured.most)};
    End low = end_of(round, row, box.least_batch, bounds.least, measured.least);
    End high = end_of(round, row, box.most_batch, bounds.most, measured.most);
    if (round.stages > 1.0) {
        bound_pipeline(bounds);
    }
    const Seconds low_waits = waits_of(round, row, low.sequences, bounds.least, measured.least);
    const Seconds high_waits = waits_of(round, row, high.sequences, bounds.most, measured.most);
    const bool waits = low_waits > Seconds(0.0) || high_waits > Seconds(0.0);
    if (waits) {
        bound_waits(low_waits, high_waits, bounds);
    }
    if (round.stages > 1.0 || waits) {
        bounds.least.round *= 1.0 - rounding_slack;
        bounds.most.round *= 1.0 + rounding_slack;
        for (End* end : {&low, &high}) {
            const double slack = end == &low ? 1.0 - rounding_slack : 1.0 + rounding_slack;
            end->decoding *= slack;
        }
    }
    bound_rates(row, low, high, prompt_of(round, row) <= Seconds(0.0) ? 0.0 : rounding_slack, bounds);
    bound_prompts(round, row, low, high, bounds);
    bound_money(round, row, low, high, totals, bounds);
    bounds.least.memory = peak_memory(round.memory, row, low.sequences.of_group, box.least_context);
    bounds.most.memory = peak_memory(round.memory, row, high.sequences.of_group, box.most_context);
    bounds.least.fits = bounds.least.memory <= round.memory.capacity_of(row);
    bounds.most.fits = bounds.most.memory <= round.memory.capacity_of(row);
    return bounds;
}

}  // namespace treeline::sim
