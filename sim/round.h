// One round of speculation: draft, verify, roll back. Compiled once for a pair of models on a platform; evaluated at any draft
// length, batch and context, one point at a time (with an explanation) or in columns (millions a second). Both use the
// functions below.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/acceptance.h"
#include "sim/drafters/drafter.h"
#include "sim/rollback/rollback.h"

namespace treeline {

/// How tokens are chosen: greedily, or by rejection sampling from distributions.
enum class Decoding { greedy, sampling };

/// Everything that is fixed while draft length, batch and context vary.
struct RoundSetup {
    Model target;
    Precision precision;
    Platform platform;
    Drafter drafter;
    Acceptance acceptance;
    Rollback rollback = Rollback::truncate;
    Decoding decoding = Decoding::greedy;
    int max_draft_tokens = 16;
};

/// Every reason why the setup cannot be priced, as sentences.
std::vector<std::string> problems_of(const RoundSetup& setup);

/// What a round with k draft tokens does; row k of a compiled round's table (row 0 is plain decoding).
struct DraftLength {
    double draft_tokens = 0.0;
    double verified_tokens = 1.0;      ///< k + 1
    double accept_length = 1.0;        ///< τ
    double first_tokens = 0.0;         ///< tokens of the first draft pass
    double first_passes = 0.0;         ///< 1, or 0 where nothing is drafted by a model
    double next_passes = 0.0;          ///< k − 1 further passes of one token
    double next_context_offset = 0.0;  ///< mean growth of the drafter's context over those
    double advanced_tokens = 0.0;      ///< tokens by which a recurrent state must advance after verification: τ
    double speculates = 0.0;           ///< 1 for k ≥ 1
};

/// Peak memory of one device: fixed + b·(per_sequence + per_verified·n + caches(s + n)).
struct MemoryModel {
    Bytes target_weights, draft_weights, reserved;
    Bytes recurrent_per_sequence;    ///< live state, spare copies, and the drafter's state
    Bytes recurrent_per_verified;    ///< snapshots or cached activations of the target, the drafter's states
    Bytes logits_per_verified;       ///< fp32 logits
    Bytes activations_per_verified;  ///< widest pair of layer inputs and outputs
    std::vector<CacheTerm> target_caches, draft_caches;
    Bytes capacity;
};

struct CompiledRound {
    CompiledPass autoregressive;  ///< plain decoding, n = 1: the baseline
    CompiledPass verify, draft_first, draft_next, rollback;
    CompiledPass prefill, draft_prefill;
    std::vector<DraftLength> lengths;  ///< indexed by k
    Seconds host_per_round;
    Seconds host_per_sequence;  ///< of the drafter (look-ups), a round and sequence
    MemoryModel memory;
    double ranks = 1.0;
    Watts idle_power, board_power;
    JoulesPerByte energy_per_byte;
    JoulesPerFlop energy_per_flop;
    DollarsPerSecond price;  ///< of all ranks
};

/// Compiles a setup without problems.
CompiledRound compile_round(const RoundSetup& setup);

/// A design point within a compiled round.
struct DesignPoint {
    int draft_tokens = 0;
    double batch = 1.0;
    double context = 0.0;
};

/// What a round costs and yields. Times are of one round of the whole batch.
struct RoundEstimate {
    Seconds autoregressive, draft, verify, rollback, host, round;
    double accept_length = 1.0;
    double iteration_multiplier = 1.0;   ///< Δt = round / autoregressive; also the accept length below which speculation loses
    double throughput_multiplier = 1.0;  ///< τ / Δt
    Seconds time_per_token;              ///< TPOT = round / τ
    double tokens_per_second_user = 0.0;
    double tokens_per_second_device = 0.0;
    Bytes memory;  ///< peak of one device
    bool fits = true;
    Joules energy_per_token;          ///< of all ranks, per accepted token; 0 where the device's energy is unknown
    Dollars price_per_token;          ///< likewise
    double wasted_draft_share = 0.0;  ///< drafted tokens that were rejected / drafted
};

inline Bytes peak_memory(const MemoryModel& memory, const DraftLength& length, double batch, double context) {
    Bytes sequence =
        memory.recurrent_per_sequence +
        (memory.recurrent_per_verified + memory.logits_per_verified + memory.activations_per_verified) * length.verified_tokens;
    const double tokens = context + length.verified_tokens;
    for (const CacheTerm& cache : memory.target_caches) {
        sequence += cached_bytes(cache, tokens);
    }
    for (const CacheTerm& cache : memory.draft_caches) {
        sequence += cached_bytes(cache, tokens);
    }
    return memory.target_weights + memory.draft_weights + memory.reserved + sequence * batch;
}

/// The shapes of a round's passes.
inline PassShape decode_shape(double batch, double context) { return {batch, 1.0, context, 1.0}; }

inline PassShape verify_shape(const DraftLength& length, double batch, double context) {
    return {batch, length.verified_tokens, context, length.verified_tokens};
}

inline PassShape first_shape(const DraftLength& length, double batch, double context) {
    return {batch, length.first_tokens, context, 1.0};
}

inline PassShape next_shape(const DraftLength& length, double batch, double context) {
    return {batch, 1.0, context + length.next_context_offset, 1.0};
}

inline PassShape rollback_shape(const DraftLength& length, double batch, double context) {
    return {batch, length.advanced_tokens, context, 0.0};
}

/// Totals of the passes of a round.
struct RoundTotals {
    PassTotals autoregressive, verify, draft_first, draft_next, rollback;
};

/// From the totals of each pass to the estimate: section 3 and section 7. The one place where a round is put together.
inline RoundEstimate finish_round(const CompiledRound& round, const DraftLength& length, double batch, double context,
                                  const RoundTotals& totals) {
    RoundEstimate estimate;
    const double on = length.speculates;
    const double off = 1.0 - on;
    estimate.autoregressive = pass_time(round.autoregressive, totals.autoregressive);
    estimate.draft = length.first_passes * pass_time(round.draft_first, totals.draft_first) +
                     length.next_passes * pass_time(round.draft_next, totals.draft_next);
    estimate.verify = on * pass_time(round.verify, totals.verify) + off * estimate.autoregressive;
    estimate.rollback = on * pass_time(round.rollback, totals.rollback);
    estimate.host = on * (round.host_per_round + round.host_per_sequence * batch);
    estimate.round = estimate.draft + estimate.verify + estimate.rollback + estimate.host;

    estimate.accept_length = length.accept_length;
    estimate.iteration_multiplier = estimate.round / estimate.autoregressive;
    estimate.throughput_multiplier = length.accept_length / estimate.iteration_multiplier;
    estimate.time_per_token = estimate.round / length.accept_length;
    const double rounds_per_second = Seconds(1.0) / estimate.round;
    estimate.tokens_per_second_user = length.accept_length * rounds_per_second;
    estimate.tokens_per_second_device = batch * estimate.tokens_per_second_user / round.ranks;

    estimate.memory = peak_memory(round.memory, length, batch, context);
    estimate.fits = estimate.memory <= round.memory.capacity;

    const Bytes bytes = length.first_passes * totals.draft_first.bytes + length.next_passes * totals.draft_next.bytes +
                        on * (totals.verify.bytes + totals.rollback.bytes) + off * totals.autoregressive.bytes;
    const Flops flops = length.first_passes * totals.draft_first.flops + length.next_passes * totals.draft_next.flops +
                        on * (totals.verify.flops + totals.rollback.flops) + off * totals.autoregressive.flops;
    const Joules used = round.idle_power * estimate.round + round.energy_per_byte * bytes + round.energy_per_flop * flops;
    const Joules limit = round.board_power * estimate.round;
    const double tokens = batch * length.accept_length;
    estimate.energy_per_token = (used < limit ? used : limit) * (round.ranks / tokens);
    estimate.price_per_token = round.price * estimate.round / tokens;
    const double rejected = length.draft_tokens - (length.accept_length - 1.0);
    estimate.wasted_draft_share = on * rejected / (length.draft_tokens + off);
    return estimate;
}

inline const DraftLength& row_of(const CompiledRound& round, int draft_tokens) {
    return round.lengths[static_cast<std::size_t>(draft_tokens)];
}

/// One point. `point.draft_tokens` must be within the table; batch ≥ 1, context ≥ 0.
RoundEstimate evaluate(const CompiledRound& round, const DesignPoint& point);

/// The passes of one point, operation by operation.
struct ExplainedPass {
    std::string phase;  ///< "plain decoding", "draft, first pass", "draft, next pass", "verify", "rollback"
    PassShape shape;
    double runs = 1.0;   ///< times it runs in a round
    Seconds time;        ///< of one run, launches and host included
    Seconds host_limit;  ///< host time to launch it; the pass is host-bound where this exceeds the device's time
    std::vector<OperationEstimate> operations;
};
std::vector<ExplainedPass> explain(const CompiledRound& round, const DesignPoint& point);

/// Memory of one point by part, largest first; sums to RoundEstimate::memory.
struct MemoryPart {
    std::string part;
    Bytes bytes;
};
std::vector<MemoryPart> memory_parts(const CompiledRound& round, const DesignPoint& point);

/// Time to the first token of a prompt read alone (batch 1): the target's prefill and, where it needs one, the drafter's.
Seconds time_to_first_token(const CompiledRound& round, double prompt_tokens);

/// Columns of design points; all spans have the same length.
struct PointColumns {
    std::span<const int> draft_tokens;
    std::span<const double> batch;
    std::span<const double> context;
};

/// Evaluates columns: estimates[i] equals evaluate(round, {…i…}) bit for bit. No allocation beyond a fixed block.
void evaluate(const CompiledRound& round, const PointColumns& points, std::span<RoundEstimate> estimates);

}  // namespace treeline
