// One round of speculation: draft, verify, roll back. Compiled once for a pair of models on a platform and a list of shapes;
// evaluated at any shape, batch and context, one point at a time (with an explanation) or in columns (millions per second).
// Both use the functions below.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/rates.h"
#include "sim/round_types.h"

namespace treeline::sim {

/// What was measured of this very deployment (MeasuredDeployment::measured_loads); its loads that draft count where they were
/// measured with the same kind of drafter. Empty for another one.
MeasuredLoads measured_loads_of(const RoundSetup& setup);

/// Compiles a setup that has no problems; on an accelerator, with compile_turns() (sim/accelerator_round.h).
CompiledRound compile_round(const RoundSetup& setup);

/// The shape at which a step runs its pass; `sequences` are those of one of its passes (StepPasses).
inline PassShape shape_of(const RoundStep& step, double sequences, double context) {
    return {sequences * step.rows, step.tokens, context + step.context_offset, step.logits};
}

/// What the steps of a round add up to.
struct RoundTotals {
    std::array<Seconds, phase_count> time{};
    Bytes bytes, plain_bytes;
    Flops flops, plain_flops;

    [[nodiscard]] Seconds of(Phase phase) const { return time[static_cast<std::size_t>(phase)]; }
};

inline void add_step(const CompiledPass& pass, const RoundStep& step, double passes, const PassTotals& totals,
                     RoundTotals& round) {
    const double runs = step.runs * passes;
    round.time[static_cast<std::size_t>(step.phase)] += runs * pass_time(pass, totals);
    if (step.phase == Phase::plain) {
        round.plain_bytes = totals.bytes;
        round.plain_flops = totals.flops;
    } else {
        round.bytes += runs * totals.bytes;
        round.flops += runs * totals.flops;
    }
}

/// A round of a pipeline passes all stages, and meanwhile each serves the other batches: the round takes as long as they all
/// together spend in the busiest stage, and at least the way of one through all stages. What drafts and rolls back sits in one
/// stage, so nothing hides it.
inline void pipeline_round(const RoundConstants& round, double of_group, RoundEstimate& estimate) {
    const double in_flight = of_group < round.stages ? of_group : round.stages;
    const auto cycle = [&](Seconds all_stages, Seconds one_stage) {
        const Seconds way = all_stages + one_stage;
        const Seconds busiest = (all_stages * round.largest_stage + one_stage) * in_flight;
        return way > busiest ? way : busiest;
    };
    const Seconds in_one_stage = estimate.draft + estimate.rollback + estimate.host;
    const Seconds whole = cycle(estimate.verify, in_one_stage);
    estimate.autoregressive = cycle(estimate.autoregressive, Seconds(0.0));
    estimate.verify = whole - in_one_stage;  // what waits for other batches counts as verification
}

/// What the host does beside the passes of a round with so many sequences, each of which keeps so many tokens of it.
inline Seconds host_beside_passes(const RoundConstants& round, const RowConstants& row, double batch, double kept) {
    return row.host.at(batch) + round.per_emitted_token * (batch * kept * row.speculates);
}

/// From the totals of a round's steps to the estimate, memory apart: docs/cost-model.md, sections 3.4 and 5. The only place
/// where a round is put together. `accept_length` is the row's; `has_stages` says that the round has several. `measured`
/// scales plain decoding, and all that the round takes (LoadRatios).
template <bool has_stages>
inline RoundEstimate finish_times(const RoundConstants& round, const RowConstants& row, double accept_length,
                                  const Sequences& sequences, const RoundTotals& totals, const LoadFactors& measured) {
    RoundEstimate estimate;
    const double all_sequences = sequences.all;
    const double of_group = sequences.of_group;
    const double batch = sequences.of_pass;
    const double off = 1.0 - row.speculates;
    estimate.autoregressive = totals.of(Phase::plain) + row.turn.plain * batch + round.step_per_sequence * batch;
    estimate.draft = totals.of(Phase::draft) + row.turn.draft * batch;
    estimate.verify = totals.of(Phase::verify) + row.turn.verify * batch + off * estimate.autoregressive;
    estimate.rollback = totals.of(Phase::rollback);
    const double kept = accept_length * row.kept;  // tokens of a sequence's round that its answer keeps, in the mean
    estimate.host = host_beside_passes(round, row, batch, kept);
    if constexpr (has_stages) {
        pipeline_round(round, of_group, estimate);
    }
    // The host works beside the device, but not ahead of itself: what a round lacks to the host's time is waited for.
    const Seconds waits = row.host_chain - (estimate.draft + estimate.verify + estimate.rollback + estimate.host);
    estimate.host += waits > Seconds(0.0) ? waits : Seconds(0.0);
    estimate.autoregressive *= measured.plain;
    estimate.draft *= measured.round;
    estimate.verify *= measured.round;
    estimate.rollback *= measured.round;
    estimate.host *= measured.round;
    const Seconds decoding = estimate.draft + estimate.verify + estimate.rollback + estimate.host;

    // While a request decodes, each of the others finishes one answer and begins another: their prompts are read in between.
    const Seconds prompt = round.prompts.target + round.prompts.drafter * row.holds_drafter;  // for each token of a request
    const double others = round.prompt_wait * (of_group - 1.0);
    const Seconds plain_prompts = round.prompts.target * others * measured.plain;
    const Seconds prompts = prompt * others * measured.round;
    estimate.prompts = prompts * kept;
    estimate.round = decoding + estimate.prompts;
    const Seconds plain_step = estimate.autoregressive + plain_prompts;

    estimate.accept_length = accept_length;
    const Seconds left = plain_step - prompts;  // a drafter that reads prompts too long leaves nothing to be gained
    estimate.iteration_multiplier = left > Seconds(0.0) ? decoding / (left * row.kept) : unlimited;
    estimate.throughput_multiplier = kept / (estimate.round / plain_step);
    estimate.time_per_token = estimate.round / kept;
    const double rounds_per_second = Seconds(1.0) / estimate.round;
    estimate.tokens_per_second_user = kept * rounds_per_second;
    // The device also reads the request's own prompt, and those that it waits for before its first token; a pool of its own
    // reads all of them, and its devices count.
    const double before = of_group - others;
    const Seconds busy = estimate.round + prompt * (kept * before);
    const double in_line = round.prefill_pool > 0.0 ? 1.0 : before;
    const double steady = round.output_tokens > 0.0 ? 1.0 : 0.0;
    const double rounds = steady * (1.0 + 0.5 * round.prefill_pool);  // caches from a pool come in the middle of a round
    estimate.first_token = prompt * (round.output_tokens * in_line) + estimate.round * rounds + round.target_transfer +
                           round.draft_transfer * row.holds_drafter;
    estimate.decode_share = decoding / busy;
    estimate.tokens_per_second_device = all_sequences * estimate.tokens_per_second_user / round.ranks * (estimate.round / busy);

    const Bytes bytes = totals.bytes + off * totals.plain_bytes;
    const Flops flops = totals.flops + off * totals.plain_flops;
    const double tokens = all_sequences * kept;
    const Joules used = round.constant_power * busy + round.energy_per_byte * bytes + round.energy_per_flop * flops +
                        row.turn.energy * batch +
                        (round.prompts.target_energy + round.prompts.drafter_energy * row.holds_drafter) * tokens;
    const Joules limit = round.board_power * busy;
    estimate.energy_per_token = (used < limit ? used : limit) * (round.ranks / tokens);
    estimate.price_per_token = round.price * busy / tokens;
    const double rejected = row.drafted - (accept_length - 1.0);
    estimate.wasted_draft_share = row.speculates * rejected / (row.drafted + off);
    return estimate;
}

/// The whole estimate.
inline RoundEstimate finish_round(const CompiledRound& round, const RoundRow& row, double batch, double context,
                                  const RoundTotals& totals) {
    const Sequences sequences = sequences_of(round, batch);
    const LoadFactors measured = round.ratios.at(batch, context, row.draft_tokens);
    RoundEstimate estimate = round.stages > 1.0
                                 ? finish_times<true>(round, row, row.accept_length(), sequences, totals, measured)
                                 : finish_times<false>(round, row, row.accept_length(), sequences, totals, measured);
    estimate.memory = peak_memory(round.memory, row, sequences.of_group, context);
    estimate.fits = estimate.memory <= round.memory.capacity_of(row);
    return estimate;
}

/// One point. The speculation must run; batch ≥ 1, context ≥ 0.
RoundEstimate evaluate(const CompiledRound& round, const DesignPoint& point);

std::vector<ExplainedPass> explain(const CompiledRound& round, const DesignPoint& point);

std::vector<MemoryPart> memory_parts(const CompiledRound& round, const DesignPoint& point);

/// Whether the memory of a device holds a batch of this row.
bool memory_holds(const CompiledRound& round, const RoundRow& row, double batch, double context);
/// The largest whole batch that fits, up to a million; 0 if not even one sequence does. Memory never falls with the batch.
double largest_that_fits(const CompiledRound& round, const RoundRow& row, double context);

/// Time that reading one prompt takes in the steady state, in the mean over their lengths.
inline Seconds prompt_time(const CompiledRound& round, int speculation) {
    return (round.prompts.target + round.prompts.drafter * round.row(speculation).holds_drafter) * round.output_tokens;
}

/// Time to the first token of a prompt read alone (batch 1): the target's prefill and, if it needs one, the drafter's.
Seconds time_to_first_token(const CompiledRound& round, double prompt_tokens);

/// Columns of design points; all spans have the same length.
struct PointColumns {
    std::span<const int> speculation;
    std::span<const double> batch;
    std::span<const double> context;
};

/// Evaluates columns: estimates[i] equals evaluate(round, {…i…}) bit for bit. No allocation beyond a fixed block.
void evaluate(const CompiledRound& round, const PointColumns& points, std::span<RoundEstimate> estimates);

}  // namespace treeline::sim
