// The batch face: columns of design points through the functions that the per-point face uses, a block at a time, operation by
// operation.
#include <algorithm>

#include "sim/round.h"

namespace treeline {
namespace {

constexpr std::size_t block_size = 128;  // all columns of a block stay in the first-level cache

/// One pass over a block of points: shapes in, totals out, each a column, so that the loops below vectorise.
struct PassBlock {
    std::size_t size = 0;
    alignas(64) double sequences[block_size], tokens[block_size], logits[block_size], token_pairs[block_size],
        new_tokens[block_size], context[block_size];
    alignas(64) double device[block_size], flops[block_size], bytes[block_size];

    void set(std::size_t i, const PassShape& shape) {
        const ShapeTerms terms = terms_of(shape);
        sequences[i] = terms.sequences;
        tokens[i] = terms.tokens;
        logits[i] = terms.logits;
        token_pairs[i] = terms.token_pairs;
        new_tokens[i] = terms.new_tokens;
        context[i] = terms.context;
        device[i] = flops[i] = bytes[i] = 0.0;
    }

    [[nodiscard]] PassTotals totals(std::size_t i) const { return {Seconds(device[i]), Flops(flops[i]), Bytes(bytes[i])}; }
};

template <bool reads_context, bool has_experts>
void accumulate_block(const TimedOperation& timed, PassBlock& block) {
    // Copies, so that the compiler knows that no store to the block changes them.
    const OperationCost cost = static_cast<const OperationCost&>(timed.operation);
    const Rates rates = timed.rates;
    const double runs = timed.runs;
    const double memory_runs = timed.memory_runs;
    const std::size_t size = block.size;
    for (std::size_t i = 0; i < size; ++i) {
        PassTotals totals = block.totals(i);
        accumulate<reads_context, has_experts>(
            cost, rates, runs, memory_runs,
            {block.sequences[i], block.tokens[i], block.logits[i], block.token_pairs[i], block.new_tokens[i], block.context[i]},
            totals);
        block.device[i] = totals.device.value();
        block.flops[i] = totals.flops.value();
        block.bytes[i] = totals.bytes.value();
    }
}

void run(const CompiledPass& pass, PassBlock& block) {
    for (const TimedOperation& timed : pass.operations) {
        if (timed.operation.reads_context) {
            accumulate_block<true, false>(timed, block);
        } else if (timed.operation.expert_count > 0.0) {
            accumulate_block<false, true>(timed, block);
        } else {
            accumulate_block<false, false>(timed, block);
        }
    }
}

struct RoundBlock {
    PassBlock autoregressive, verify, draft_first, draft_next, rollback;
};

void evaluate_block(const CompiledRound& round, const PointColumns& points, std::size_t begin, std::size_t size,
                    std::span<RoundEstimate> estimates, RoundBlock& block) {
    for (PassBlock* pass : {&block.autoregressive, &block.verify, &block.draft_first, &block.draft_next, &block.rollback}) {
        pass->size = size;
    }
    for (std::size_t i = 0; i < size; ++i) {
        const DraftLength& length = row_of(round, points.draft_tokens[begin + i]);
        const double batch = points.batch[begin + i];
        const double context = points.context[begin + i];
        block.autoregressive.set(i, decode_shape(batch, context));
        block.verify.set(i, verify_shape(length, batch, context));
        block.draft_first.set(i, first_shape(length, batch, context));
        block.draft_next.set(i, next_shape(length, batch, context));
        block.rollback.set(i, rollback_shape(length, batch, context));
    }
    run(round.autoregressive, block.autoregressive);
    run(round.verify, block.verify);
    run(round.draft_first, block.draft_first);
    run(round.draft_next, block.draft_next);
    run(round.rollback, block.rollback);
    for (std::size_t i = 0; i < size; ++i) {
        const RoundTotals totals{block.autoregressive.totals(i), block.verify.totals(i), block.draft_first.totals(i),
                                 block.draft_next.totals(i), block.rollback.totals(i)};
        estimates[begin + i] = finish_round(round, row_of(round, points.draft_tokens[begin + i]), points.batch[begin + i],
                                            points.context[begin + i], totals);
    }
}

}  // namespace

// Compiled twice on x86-64, for any processor and for those with AVX2; which one runs is decided when the program is loaded.
// Every intermediate result is a double rounded once in both, so they agree to the last bit.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
[[gnu::flatten, gnu::target_clones("avx2", "default")]]
#endif
void evaluate(const CompiledRound& round, const PointColumns& points, std::span<RoundEstimate> estimates) {
    RoundBlock block;
    for (std::size_t begin = 0; begin < points.batch.size(); begin += block_size) {
        evaluate_block(round, points, begin, std::min(block_size, points.batch.size() - begin), estimates, block);
    }
}

}  // namespace treeline
