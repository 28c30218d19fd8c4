// The batch face: columns of design points through the functions that the per-point face uses, a block at a time, operation by
// operation.
#include <algorithm>

#include "sim/round.h"
#include "sim/vector_clones.h"

namespace treeline::sim {
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
        flops[i] = bytes[i] = 0.0;
    }

    [[nodiscard]] PassTotals totals(std::size_t i) const { return {Seconds(device[i]), Flops(flops[i]), Bytes(bytes[i])}; }
};

template <bool reads_context, bool has_experts, class Rule>
void accumulate_block(const Rule& of_rows, const TimedOperation& timed, PassBlock& block) {
    // Copies, so that the compiler knows that no store to the block changes them.
    const Rule rule = of_rows;
    const OperationCost cost = timed.cost;
    const Rates rates = timed.rates;
    const double runs = timed.runs;
    const double memory_runs = timed.memory_runs();
    const std::size_t size = block.size;
    for (std::size_t i = 0; i < size; ++i) {
        PassTotals totals = block.totals(i);
        accumulate<reads_context, has_experts>(
            rule, cost, rates, runs, memory_runs,
            {block.sequences[i], block.tokens[i], block.logits[i], block.token_pairs[i], block.new_tokens[i], block.context[i]},
            totals);
        block.device[i] = totals.device.value();
        block.flops[i] = totals.flops.value();
        block.bytes[i] = totals.bytes.value();
    }
}

void run(const CompiledPass& pass, PassBlock& block) {
    for (std::size_t i = 0; i < block.size; ++i) {
        block.device[i] = (pass.step_time * block.new_tokens[i]).value();
    }
    for_each_operation(pass, [&](const TimedOperation& timed) {
        dispatch(timed.cost, timed.reads_context, timed.rates.rule,
                 [&]<bool reads_context, bool has_experts, class Rule>(const Rule& rule) {
                     accumulate_block<reads_context, has_experts>(rule, timed, block);
                 });
    });
}

/// Which step of which point a place in a pass block belongs to.
struct Owner {
    std::size_t point = 0;
    const RoundStep* step = nullptr;
    double passes = 0.0;
};

struct RoundBlock {
    PassBlock pass;
    Owner owners[block_size];
    RoundTotals totals[block_size];
};

/// Runs the steps collected in the block, and adds them to their points.
void flush(const CompiledPass& pass, RoundBlock& block) {
    run(pass, block.pass);
    for (std::size_t i = 0; i < block.pass.size; ++i) {
        const Owner& owner = block.owners[i];
        add_step(pass, *owner.step, owner.passes, block.pass.totals(i), block.totals[owner.point]);
    }
    block.pass.size = 0;
}

void evaluate_block(const CompiledRound& round, const PointColumns& points, std::size_t begin, std::size_t size,
                    std::span<RoundEstimate> estimates, RoundBlock& block) {
    std::fill_n(block.totals, size, RoundTotals{});
    for (std::size_t pass = 0; pass < pass_count; ++pass) {
        for (std::size_t i = 0; i < size; ++i) {
            const RoundRow& row = round.row(points.speculation[begin + i]);
            const double sequences = sequences_of_pass(round, points.batch[begin + i]);
            for (std::uint32_t step = row.begin[pass]; step < row.begin[pass + 1]; ++step) {
                const std::size_t place = block.pass.size++;
                const StepPasses shared = passes_of(round.steps[step], sequences);
                block.owners[place] = {i, &round.steps[step], shared.passes};
                block.pass.set(place, shape_of(round.steps[step], shared.sequences, points.context[begin + i]));
                if (block.pass.size == block_size) {
                    flush(round.passes[pass], block);
                }
            }
        }
        flush(round.passes[pass], block);
    }
    for (std::size_t i = 0; i < size; ++i) {
        estimates[begin + i] = finish_round(round, round.row(points.speculation[begin + i]), points.batch[begin + i],
                                            points.context[begin + i], block.totals[i]);
    }
}

}  // namespace

TREELINE_VECTOR_CLONES
void evaluate(const CompiledRound& round, const PointColumns& points, std::span<RoundEstimate> estimates) {
    RoundBlock block;
    for (std::size_t begin = 0; begin < points.batch.size(); begin += block_size) {
        evaluate_block(round, points, begin, std::min(block_size, points.batch.size() - begin), estimates, block);
    }
}

}  // namespace treeline::sim
