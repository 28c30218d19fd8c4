// Columns here are evaluated by the same inline functions as single points, in the same order, so both agree to the last bit.
#include "sim/round_grid.h"

#include <algorithm>
#include <cstring>

#include "sim/vector_clones.h"

namespace treeline::sim {
namespace {

/// What a round's steps add up to (RoundTotals), as columns.
struct RoundColumns {
    alignas(64) double time[phase_count][tile_size];
    alignas(64) double bytes[tile_size], plain_bytes[tile_size], flops[tile_size], plain_flops[tile_size];
};

template <bool reads_context, bool has_experts, class Rule>
inline void accumulate_columns(const Rule& of_rows, const TimedOperation& timed, const RoundStep& of_step,
                               const double* sequences, const double* contexts, std::size_t size, const TotalColumns& from,
                               TotalColumns& to) {
    // Copies, so that the compiler knows that no store changes them.
    const Rule rule = of_rows;
    const OperationCost cost = timed.cost;
    const Rates rates = timed.rates;
    const RoundStep step = of_step;
    const double runs = timed.runs;
    const double memory_runs = timed.memory_runs();
#pragma GCC ivdep
    for (std::size_t i = 0; i < size; ++i) {
        PassTotals totals{Seconds(from.device[i]), Flops(from.flops[i]), Bytes(from.bytes[i])};
        accumulate<reads_context, has_experts>(rule, cost, rates, runs, memory_runs,
                                               terms_of(shape_of(step, sequences[i], contexts[i])), totals);
        to.device[i] = totals.device.value();
        to.flops[i] = totals.flops.value();
        to.bytes[i] = totals.bytes.value();
    }
}

/// Adds the operations of one kind to totals, from `from` on.
inline void run_operations(const CompiledPass& pass, bool reading_context, const RoundStep& step, const double* sequences,
                           const double* contexts, std::size_t size, const TotalColumns* from, TotalColumns& to) {
    for (const TimedOperation& timed : pass.operations) {
        if (timed.reads_context == reading_context) {
            dispatch(timed.cost, timed.reads_context, timed.rates.rule,
                     [&]<bool reads_context, bool has_experts, class Rule>(const Rule& rule) {
                         accumulate_columns<reads_context, has_experts>(rule, timed, step, sequences, contexts, size, *from,
                                                                        to);
                     });
            from = &to;
        }
    }
}

/// add_step() for a column of points.
inline void add_columns(const CompiledPass& pass, Phase phase, double runs_of_step, const double* passes,
                        const TotalColumns& step, std::size_t size, RoundColumns& round) {
    const PassConstants times = pass;
    double* const time = round.time[static_cast<std::size_t>(phase)];
    if (phase == Phase::plain) {
#pragma GCC ivdep
        for (std::size_t i = 0; i < size; ++i) {
            const double runs = runs_of_step * passes[i];
            const PassTotals totals{Seconds(step.device[i]), Flops(step.flops[i]), Bytes(step.bytes[i])};
            time[i] += (runs * pass_time(times, totals)).value();
            round.plain_bytes[i] = step.bytes[i];
            round.plain_flops[i] = step.flops[i];
        }
        return;
    }
#pragma GCC ivdep
    for (std::size_t i = 0; i < size; ++i) {
        const double runs = runs_of_step * passes[i];
        const PassTotals totals{Seconds(step.device[i]), Flops(step.flops[i]), Bytes(step.bytes[i])};
        time[i] += (runs * pass_time(times, totals)).value();
        round.bytes[i] += runs * step.bytes[i];
        round.flops[i] += runs * step.flops[i];
    }
}

/// LoadFactors of the points of a tile.
struct FactorColumns {
    alignas(64) double plain[tile_size], round[tile_size];

    FactorColumns(const LoadRatios& ratios, double draft_tokens, const double* batch, const double* context, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i) {
            const LoadFactors factors = ratios.empty() ? LoadFactors{} : ratios.at(batch[i], context[i], draft_tokens);
            plain[i] = factors.plain;
            round[i] = factors.round;
        }
    }
};

template <bool has_stages>
inline void finish_columns(const CompiledRound& compiled, const RoundRow& compiled_row, const double* all,
                           const double* of_group, const double* of_pass, const RoundColumns& totals,
                           const FactorColumns& measured, EstimateColumns& out) {
    const RoundConstants round = compiled;
    const RowConstants row = compiled_row;
    const double accept_length = compiled_row.accept_length();
    const std::size_t size = out.size;
#pragma GCC ivdep
    for (std::size_t i = 0; i < size; ++i) {
        RoundTotals point;
        for (std::size_t phase = 0; phase < phase_count; ++phase) {
            point.time[phase] = Seconds(totals.time[phase][i]);
        }
        point.bytes = Bytes(totals.bytes[i]);
        point.plain_bytes = Bytes(totals.plain_bytes[i]);
        point.flops = Flops(totals.flops[i]);
        point.plain_flops = Flops(totals.plain_flops[i]);
        const RoundEstimate e = finish_times<has_stages>(round, row, accept_length, {all[i], of_group[i], of_pass[i]}, point,
                                                         {measured.plain[i], measured.round[i]});
        out.set_times(i, e);
    }
}

/// Memory of the points at one context.
inline void memory_columns(const MemoryModel& model, const RoundRow& compiled_row, double context, const double* of_group,
                           std::size_t size, double* out) {
    const MemoryConstants memory = model;
    const RowConstants row = compiled_row;
    const SequenceMemory sequence = sequence_memory(model, row, context);
#pragma GCC ivdep
    for (std::size_t i = 0; i < size; ++i) {
        out[i] = peak_memory(memory, row, of_group[i], context, sequence).value();
    }
}

/// Whether sequences share their passes in the same way.
bool share_alike(const RoundStep& a, const RoundStep& b) { return a.apart == b.apart && a.share == b.share; }

bool same_shape(const RoundStep& a, const RoundStep& b) {
    return a.rows == b.rows && a.tokens == b.tokens && a.logits == b.logits && a.context_offset == b.context_offset &&
           share_alike(a, b);
}

}  // namespace

RoundGrid::RoundGrid(const CompiledRound& round, std::span<const int> speculation, std::span<const double> batch,
                     std::size_t most_points)
    : round_(&round) {
    for (const int choice : speculation) {
        add_row(choice);
    }
    for (UniqueStep& unique : unique_) {
        const std::vector<TimedOperation>& operations = unique.pass->operations;
        unique.reads_context =
            std::any_of(operations.begin(), operations.end(), [](const TimedOperation& timed) { return timed.reads_context; });
        if (unique.reads_context && unique.users > 1) {
            unique.shared = shared_++;
        }
    }
    contexts_ = std::max<std::size_t>(1, most_points / std::max<std::size_t>(1, batch.size()));
    for (std::size_t first = 0; first < batch.size(); first += most_points) {
        blocks_.emplace_back();
        blocks_.back().first = first;
        blocks_.back().batches = std::min(most_points, batch.size() - first);
        fill(batch, blocks_.back());
    }
}

std::size_t RoundGrid::sharing_of(const RoundStep& step) {
    const auto known =
        std::find_if(sharings_.begin(), sharings_.end(), [&](const RoundStep& other) { return share_alike(other, step); });
    const auto place = static_cast<std::size_t>(known - sharings_.begin());
    if (known == sharings_.end()) {
        sharings_.push_back(step);
    }
    return place;
}

void RoundGrid::add_row(int speculation) {
    const RoundRow& row = round_->row(speculation);
    Row added{speculation, {}};
    for (std::size_t pass = 0; pass < pass_count; ++pass) {
        for (std::uint32_t i = row.begin[pass]; i < row.begin[pass + 1]; ++i) {
            const RoundStep& step = round_->steps[i];
            const auto known = std::find_if(unique_.begin(), unique_.end(), [&](const UniqueStep& other) {
                return other.pass == &round_->passes[pass] && same_shape(other.step, step);
            });
            const auto place = static_cast<std::size_t>(known - unique_.begin());
            if (known == unique_.end()) {
                unique_.push_back({&round_->passes[pass], step, false, 0, sharing_of(step), 0});
            }
            ++unique_[place].users;
            added.steps.push_back({place, step.phase, step.runs});
        }
    }
    rows_.push_back(std::move(added));
}

/// Each context of a tile has the batches of the block once more.
void RoundGrid::fill(std::span<const double> batch, Block& block) const {
    for (std::size_t i = 0; i < block.batches * contexts_; ++i) {
        const Sequences sequences = sequences_of(*round_, batch[block.first + i % block.batches]);
        block.all.device[i] = sequences.all;
        block.of_group.device[i] = sequences.of_group;
        block.of_pass.device[i] = sequences.of_pass;
    }
    block.of_passes.resize(sharings_.size());
    for (std::size_t sharing = 0; sharing < sharings_.size(); ++sharing) {
        StepPassesColumns& columns = block.of_passes[sharing];
        for (std::size_t i = 0; i < block.batches * contexts_; ++i) {
            const StepPasses shared = passes_of(sharings_[sharing], block.of_pass.device[i]);
            columns.sequences[i] = shared.sequences;
            columns.passes[i] = shared.passes;
        }
    }
    block.base.resize(unique_.size());
    for (std::size_t u = 0; u < unique_.size(); ++u) {
        base_of(unique_[u], block, block.base[u]);
    }
}

TREELINE_VECTOR_CLONES
void RoundGrid::base_of(const UniqueStep& unique, const Block& block, TotalColumns& totals) const {
    const std::size_t size = block.batches * contexts_;
    const double no_context[tile_size] = {};
    const double* sequences = block.of_passes[unique.sharing].sequences;
    for (std::size_t i = 0; i < size; ++i) {
        const ShapeTerms terms = terms_of(shape_of(unique.step, sequences[i], 0.0));
        totals.device[i] = step_time(*unique.pass, terms).value();
        totals.flops[i] = totals.bytes[i] = 0.0;
    }
    run_operations(*unique.pass, false, unique.step, sequences, no_context, size, &totals, totals);
}

void RoundGrid::begin(std::size_t block, std::span<const double> contexts, TileWork& work) const {
    work.block = block;
    work.contexts = contexts;
    const std::size_t batches = blocks_[block].batches;
    work.size = batches * contexts.size();
    for (std::size_t c = 0; c < contexts.size(); ++c) {
        std::fill_n(work.context + c * batches, batches, contexts[c]);
    }
    work.shared.resize(shared_);
    begin_shared(work);
}

TREELINE_VECTOR_CLONES
void RoundGrid::begin_shared(TileWork& work) const {
    const Block& block = blocks_[work.block];
    for (std::size_t u = 0; u < unique_.size(); ++u) {
        const UniqueStep& unique = unique_[u];
        if (unique.reads_context && unique.users > 1) {
            run_operations(*unique.pass, true, unique.step, block.of_passes[unique.sharing].sequences, work.context, work.size,
                           &block.base[u], work.shared[unique.shared]);
        }
    }
}

TREELINE_VECTOR_CLONES
void RoundGrid::evaluate(std::size_t index, const TileWork& work, EstimateColumns& estimates) const {
    const Row& row = rows_[index];
    const RoundRow& compiled = round_->row(row.speculation);
    const Block& block = blocks_[work.block];
    const std::size_t size = work.size;
    RoundColumns round;
    std::memset(&round, 0, sizeof round);
    TotalColumns own;
    for (const StepUse& use : row.steps) {
        const UniqueStep& unique = unique_[use.unique];
        const TotalColumns* totals = &block.base[use.unique];
        if (unique.reads_context && unique.users > 1) {
            totals = &work.shared[unique.shared];
        } else if (unique.reads_context) {
            run_operations(*unique.pass, true, unique.step, block.of_passes[unique.sharing].sequences, work.context, size,
                           totals, own);
            totals = &own;
        }
        add_columns(*unique.pass, use.phase, use.runs, block.of_passes[unique.sharing].passes, *totals, size, round);
    }
    estimates.size = size;
    estimates.capacity = round_->memory.capacity_of(compiled).value();
    estimates.accept_length = compiled.accept_length();
    const FactorColumns measured(round_->ratios, compiled.draft_tokens, block.all.device, work.context, size);
    if (round_->stages > 1.0) {
        finish_columns<true>(*round_, compiled, block.all.device, block.of_group.device, block.of_pass.device, round, measured,
                             estimates);
    } else {
        finish_columns<false>(*round_, compiled, block.all.device, block.of_group.device, block.of_pass.device, round, measured,
                              estimates);
    }
    for (std::size_t c = 0; c < work.contexts.size(); ++c) {
        memory_columns(round_->memory, compiled, work.contexts[c], block.of_group.device, block.batches,
                       estimates.memory + c * block.batches);
    }
}

}  // namespace treeline::sim
