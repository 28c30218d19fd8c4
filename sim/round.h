// One round of speculation: draft, verify, roll back. Compiled once for a pair of models on a platform and a list of shapes;
// evaluated at any shape, batch and context, one point at a time (with an explanation) or in columns (millions per second).
// Both use the functions below.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/drafters/drafter.h"
#include "sim/enum_names.h"
#include "sim/lengths.h"
#include "sim/measured_loads.h"
#include "sim/memory_model.h"
#include "sim/rates.h"
#include "sim/rollback/rollback.h"
#include "sim/round_parts.h"

namespace treeline::sim {

/// How tokens are chosen: greedily, or by rejection sampling from distributions.
enum class Decoding { greedy, sampling };
constexpr auto names_in(Decoding) {
    using enum Decoding;
    return enum_names<Decoding>({{greedy, "greedy"}, {sampling, "sampling"}});
}

/// What a round drafts, and how it verifies the draft. A chain of no draft tokens is plain decoding.
struct Speculation {
    TreeShape shape;
    Verification verification = Verification::unrolled;
    std::string label;  ///< of the shape, as the user wrote it: "chain 4", "sglang 5,4,32"
};

/// "chain 4", "sglang 5,4,32, packed": with the way of verifying, if there is a choice.
std::string text_of(const Speculation& speculation);
/// One draft token after the other.
bool is_chain(const Speculation& speculation);
/// A chain of no draft tokens.
bool is_plain_decoding(const Speculation& speculation);

/// Chains of 0 … longest draft tokens: number k drafts k tokens.
std::vector<Speculation> chains_up_to(int longest);

/// Everything that is fixed while shape, batch and context vary.
struct RoundSetup {
    Model target;
    Precision precision;
    Platform platform;
    Drafter drafter = NoDrafter{};
    DraftAcceptance acceptance;
    Rollback rollback = Rollback::truncate;
    Decoding decoding = Decoding::greedy;
    std::vector<Speculation> speculations = chains_up_to(16);  ///< the first is plain decoding
    double prompt_tokens = 0.0;  ///< read before the first round, which needs memory; 0 = as many as the context
    Lengths prompt_lengths;      ///< of which prompt_tokens is the mean; empty: every prompt has it
    /// Mean length of an answer in the steady state, where every finished answer makes room for a prompt of `prompt_tokens`
    /// that is read between rounds (docs/cost-model.md, section 3.5). 0 = decoding alone.
    double output_tokens = 0.0;
    /// Share of each prompt that the prefix cache holds, so that only the rest is read: at least 0, below 1.
    double prefix_hit = 0.0;
    /// Tokens that all prompts begin with: read before all others, and cached once. At most a prompt.
    double shared_prefix = 0.0;
    /// Share of the experts of each of the target's mixtures that the traffic's tokens choose from: 1, or less where all
    /// requests are about one thing.
    double expert_pool = 1.0;
};

/// Every reason why the setup cannot be priced at all, as sentences. A speculation that cannot be run does not count: its row
/// says why (RoundRow::problem).
std::vector<std::string> problems_of(const RoundSetup& setup);

/// What reading the prompts of a steady state takes, for each generated token: the pass over a prompt / tokens of an answer.
struct PromptWork {
    Seconds target, drafter;
    Joules target_energy, drafter_energy;  ///< beside the idle power
};

/// The plain numbers of a CompiledRound, which loops over points copy.
struct RoundConstants {
    Seconds step_per_sequence;   ///< of the host, beside the passes of a plain step
    PromptWork prompts;          ///< zero for decoding alone
    double prompt_wait = 1.0;    ///< share of the other requests' prompts that a request waits for after its first token
    double prefill_pool = 0.0;   ///< 1: devices of a pool of their own read the prompts
    double output_tokens = 0.0;  ///< of an answer in the steady state; 0: decoding alone
    Seconds target_transfer, draft_transfer;  ///< of a prompt's caches, from that pool
    double step_tokens = unlimited;           ///< the token budget of a step
    double prefix_hit = 0.0;                  ///< share of a prompt that need not be read
    double shared_prefix = 0.0;               ///< tokens of a prompt that need not be read, because all begin with them
    double ranks = 1.0;                       ///< devices
    double tensor = 1.0;                      ///< of them, those that share each layer
    double groups = 1.0;                      ///< of attention data parallelism
    double stages = 1.0;                      ///< of the pipeline
    double largest_stage = 1.0;               ///< part of the layers that the largest stage holds
    Watts idle_power, board_power;
    JoulesPerByte energy_per_byte;
    JoulesPerFlop energy_per_flop;
    DollarsPerSecond price;  ///< of all ranks
};

/// In place of a speculation's number: nothing is drafted, but the drafter stays in memory (a schedule's "off"). Plain
/// decoding, number 0, is that of a server without it.
inline constexpr int drafting_off = -1;

struct CompiledRound : RoundConstants {
    std::array<CompiledPass, pass_count> passes;
    CompiledPass prefill, draft_prefill;
    std::vector<RoundRow> rows;  ///< one for each speculation, in the order of the setup
    RoundRow off;                ///< of drafting_off
    std::vector<RoundStep> steps;
    MemoryModel memory;
    LoadRatios ratios;  ///< of the stack's measured loads, where they are of this deployment

    [[nodiscard]] const CompiledPass& pass(PassId id) const { return passes[static_cast<std::size_t>(id)]; }
    [[nodiscard]] CompiledPass& pass(PassId id) { return passes[static_cast<std::size_t>(id)]; }
    [[nodiscard]] const RoundRow& row(int speculation) const {
        return speculation == drafting_off ? off : rows[static_cast<std::size_t>(speculation)];
    }
    /// Whether a speculation can be evaluated.
    [[nodiscard]] bool runs(int speculation) const {
        return static_cast<std::size_t>(speculation) < rows.size() && row(speculation).problem.empty();
    }
};

/// CompiledRound::off, once the row of plain decoding is there.
inline void add_off_row(CompiledRound& round) {
    if (!round.rows.empty()) {
        round.off = round.rows.front();
        round.off.holds_drafter = round.off.draft_states = 1.0;
    }
}

/// What was measured of this very deployment (Stack::measured_loads); its loads that draft count where they were measured with
/// the same kind of drafter. Empty for another one.
MeasuredLoads measured_loads_of(const RoundSetup& setup);

/// Compiles a setup that has no problems; on an accelerator, with compile_turns() (sim/accelerator_round.h).
CompiledRound compile_round(const RoundSetup& setup);

/// The most sequences that one group of attention data parallel ranks serves, of a batch over all groups.
inline double sequences_of_group(const RoundConstants& round, double batch) {
    return round.groups > 1.0 ? rounded_up(batch / round.groups) : batch;
}

/// Of these, in one pass: a pipeline keeps as many batches in flight as it has stages.
inline double sequences_of_pass(const RoundConstants& round, double batch) {
    const double of_group = sequences_of_group(round, batch);
    return round.stages > 1.0 ? rounded_up(of_group / round.stages) : of_group;
}

/// A batch, and what of it one group and one pass serve.
struct Sequences {
    double all = 1.0, of_group = 1.0, of_pass = 1.0;
};
inline Sequences sequences_of(const RoundConstants& round, double batch) {
    return {batch, sequences_of_group(round, batch), sequences_of_pass(round, batch)};
}

/// A design point within a compiled round.
struct DesignPoint {
    int speculation = 0;  ///< index into the setup's speculations; must run
    double batch = 1.0;
    double context = 0.0;
};

/// What a round costs and yields. Times are for one round of the whole batch.
struct RoundEstimate {
    Seconds autoregressive;  ///< a step of plain decoding
    Seconds draft, verify, rollback, host;
    Seconds prompts;      ///< of other requests, read during a round on average
    Seconds round;        ///< the sum of the five: ITL
    Seconds first_token;  ///< TTFT in the steady state, from the moment that the request is taken up; 0 for decoding alone
    double accept_length = 1.0;
    double iteration_multiplier =
        1.0;  ///< accept length below which speculation loses: Δt = round / autoregressive if no prompts are read
    double throughput_multiplier = 1.0;  ///< TPOT of plain decoding / TPOT
    double decode_share = 1.0;           ///< of the device's time: what is not spent on prompts
    Seconds time_per_token;              ///< TPOT = round / τ
    double tokens_per_second_user = 0.0;
    double tokens_per_second_device = 0.0;
    Bytes memory;  ///< peak of one device
    bool fits = true;
    Joules energy_per_token;          ///< of all ranks, per accepted token; 0 if the device's energy is unknown
    Dollars price_per_token;          ///< of all ranks, per accepted token; 0 if the price is unknown
    double wasted_draft_share = 0.0;  ///< drafted tokens that were rejected / drafted
};

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
    estimate.host = row.host.at(batch);
    if constexpr (has_stages) {
        pipeline_round(round, of_group, estimate);
    }
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
    estimate.prompts = prompts * accept_length;
    estimate.round = decoding + estimate.prompts;
    const Seconds plain_step = estimate.autoregressive + plain_prompts;

    estimate.accept_length = accept_length;
    const Seconds left = plain_step - prompts;  // a drafter that reads prompts too long leaves nothing to be gained
    estimate.iteration_multiplier = left > Seconds(0.0) ? decoding / left : unlimited;
    estimate.throughput_multiplier = accept_length / (estimate.round / plain_step);
    estimate.time_per_token = estimate.round / accept_length;
    const double rounds_per_second = Seconds(1.0) / estimate.round;
    estimate.tokens_per_second_user = accept_length * rounds_per_second;
    // The device also reads the request's own prompt, and those that it waits for before its first token; a pool of its own
    // reads all of them, and its devices count.
    const double before = of_group - others;
    const Seconds busy = estimate.round + prompt * (accept_length * before);
    const double in_line = round.prefill_pool > 0.0 ? 1.0 : before;
    const double steady = round.output_tokens > 0.0 ? 1.0 : 0.0;
    const double rounds = steady * (1.0 + 0.5 * round.prefill_pool);  // caches from a pool come in the middle of a round
    estimate.first_token = prompt * (round.output_tokens * in_line) + estimate.round * rounds + round.target_transfer +
                           round.draft_transfer * row.holds_drafter;
    estimate.decode_share = decoding / busy;
    estimate.tokens_per_second_device = all_sequences * estimate.tokens_per_second_user / round.ranks * (estimate.round / busy);

    const Bytes bytes = totals.bytes + off * totals.plain_bytes;
    const Flops flops = totals.flops + off * totals.plain_flops;
    const double tokens = all_sequences * accept_length;
    const Joules used = round.idle_power * busy + round.energy_per_byte * bytes + round.energy_per_flop * flops +
                        row.turn.energy * batch +
                        (round.prompts.target_energy + round.prompts.drafter_energy * row.holds_drafter) * tokens;
    const Joules limit = round.board_power * busy;
    estimate.energy_per_token = (used < limit ? used : limit) * (round.ranks / tokens);
    estimate.price_per_token = round.price * busy / tokens;
    const double rejected = row.draft_tokens - (accept_length - 1.0);
    estimate.wasted_draft_share = row.speculates * rejected / (row.draft_tokens + off);
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

/// The passes of one point, operation by operation.
struct ExplainedPass {
    std::string phase;  ///< "plain decoding", "draft, first pass", "draft, next pass", "verify", "rollback: replay", …
    PassShape shape;
    double runs = 1.0;   ///< times it runs in a round
    Seconds time;        ///< of one run, launches and host included
    Seconds host_limit;  ///< host time to launch it; the pass is host-bound if this exceeds the device's time
    std::vector<OperationEstimate> operations;
};
std::vector<ExplainedPass> explain(const CompiledRound& round, const DesignPoint& point);

/// Memory of one point by part, largest first; the parts sum to RoundEstimate::memory.
struct MemoryPart {
    std::string part;
    Bytes bytes;
};
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
