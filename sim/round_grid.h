// The grid face: every shape at every batch and context of a compiled round. What an inner axis does not change is done once:
// operations that read no context are summed for each step and batch, steps that several shapes share run once for each batch
// and context, and the rest goes through the functions of the per-point face, a column of points at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/round.h"

namespace treeline::sim {

/// Most points of a tile: columns of this length stay in the first-level cache.
inline constexpr std::size_t tile_size = 128;

/// Estimates of the points of a tile with one shape; a column for each figure of RoundEstimate.
struct EstimateColumns {
    std::size_t size = 0;
    double capacity = 0.0;  ///< bytes of a device
    double accept_length = 1.0;
    alignas(64) double autoregressive[tile_size], draft[tile_size], verify[tile_size], rollback[tile_size], host[tile_size],
        prompts[tile_size], round[tile_size], first_token[tile_size], iteration_multiplier[tile_size],
        throughput_multiplier[tile_size], decode_share[tile_size], time_per_token[tile_size], tokens_per_second_user[tile_size],
        tokens_per_second_device[tile_size], memory[tile_size], energy_per_token[tile_size], price_per_token[tile_size],
        wasted_draft_share[tile_size];

    /// All figures of a point but its memory.
    void set_times(std::size_t i, const RoundEstimate& e) {
        autoregressive[i] = e.autoregressive.value();
        draft[i] = e.draft.value();
        verify[i] = e.verify.value();
        rollback[i] = e.rollback.value();
        host[i] = e.host.value();
        prompts[i] = e.prompts.value();
        round[i] = e.round.value();
        first_token[i] = e.first_token.value();
        iteration_multiplier[i] = e.iteration_multiplier;
        throughput_multiplier[i] = e.throughput_multiplier;
        decode_share[i] = e.decode_share;
        time_per_token[i] = e.time_per_token.value();
        tokens_per_second_user[i] = e.tokens_per_second_user;
        tokens_per_second_device[i] = e.tokens_per_second_device;
        energy_per_token[i] = e.energy_per_token.value();
        price_per_token[i] = e.price_per_token.value();
        wasted_draft_share[i] = e.wasted_draft_share;
    }

    [[nodiscard]] RoundEstimate at(std::size_t i) const {
        RoundEstimate e;
        e.autoregressive = Seconds(autoregressive[i]);
        e.draft = Seconds(draft[i]);
        e.verify = Seconds(verify[i]);
        e.rollback = Seconds(rollback[i]);
        e.host = Seconds(host[i]);
        e.prompts = Seconds(prompts[i]);
        e.round = Seconds(round[i]);
        e.first_token = Seconds(first_token[i]);
        e.accept_length = accept_length;
        e.iteration_multiplier = iteration_multiplier[i];
        e.throughput_multiplier = throughput_multiplier[i];
        e.decode_share = decode_share[i];
        e.time_per_token = Seconds(time_per_token[i]);
        e.tokens_per_second_user = tokens_per_second_user[i];
        e.tokens_per_second_device = tokens_per_second_device[i];
        e.memory = Bytes(memory[i]);
        e.fits = memory[i] <= capacity;
        e.energy_per_token = Joules(energy_per_token[i]);
        e.price_per_token = Dollars(price_per_token[i]);
        e.wasted_draft_share = wasted_draft_share[i];
        return e;
    }
};

/// What the steps of points add up to (PassTotals), as columns.
struct TotalColumns {
    alignas(64) double device[tile_size], flops[tile_size], bytes[tile_size];
};

/// StepPasses as columns.
struct StepPassesColumns {
    alignas(64) double sequences[tile_size], passes[tile_size];
};

/// Of a tile in work; one for each thread.
struct TileWork {
    std::size_t block = 0;  ///< of batches
    std::size_t size = 0;   ///< points of each shape
    std::span<const double> contexts;
    alignas(64) double context[tile_size];
    std::vector<TotalColumns> shared;  ///< steps that several shapes have
};

/// Shapes × batches of one round, ready to be evaluated at any contexts. The points of a tile are a block of consecutive
/// batches at several contexts: point i has batch i % block_size(b) of the block and context i / block_size(b).
class RoundGrid {
public:
    /// `speculation`: indices that run; `batch`: at least 1 each. `round` must outlive the grid. `most_points` of a tile, at
    /// most tile_size.
    RoundGrid(const CompiledRound& round, std::span<const int> speculation, std::span<const double> batch,
              std::size_t most_points = tile_size);

    [[nodiscard]] std::size_t blocks() const { return blocks_.size(); }
    [[nodiscard]] std::size_t block_size(std::size_t block) const { return blocks_[block].batches; }
    [[nodiscard]] std::size_t first_batch(std::size_t block) const { return blocks_[block].first; }
    /// How many contexts a tile takes; above one only where a single block holds all batches.
    [[nodiscard]] std::size_t contexts_of_tile() const { return contexts_; }
    /// The batches of the points of a tile.
    [[nodiscard]] const double* batch_of(std::size_t block) const { return blocks_[block].all.device; }

    /// Prepares a tile: a block at these contexts, at most contexts_of_tile().
    void begin(std::size_t block, std::span<const double> contexts, TileWork& work) const;
    /// Evaluates shape `index` of the constructor's list at the points of the tile. Each equals evaluate(round, point) bit for
    /// bit. Allocates nothing.
    void evaluate(std::size_t index, const TileWork& work, EstimateColumns& estimates) const;

private:
    /// A pass at a shape, whoever runs it how often.
    struct UniqueStep {
        const CompiledPass* pass = nullptr;
        RoundStep step;
        bool reads_context = false;
        int users = 0;
        std::size_t sharing = 0;  ///< place in sharings_
        std::size_t shared = 0;   ///< place in TileWork::shared, for those that read the context and have several users
    };
    struct StepUse {
        std::size_t unique = 0;
        Phase phase = Phase::plain;
        double runs = 1.0;
    };
    struct Row {
        int speculation = 0;
        std::vector<StepUse> steps;
    };
    struct Block {
        std::size_t first = 0, batches = 0;
        TotalColumns all, of_group, of_pass;       ///< Sequences, in the first column of each
        std::vector<StepPassesColumns> of_passes;  ///< of `of_pass`, by place in sharings_
        std::vector<TotalColumns> base;            ///< by unique step: operations that read no context
    };

    void add_row(int speculation);
    std::size_t sharing_of(const RoundStep& step);
    void fill(std::span<const double> batch, Block& block) const;
    void base_of(const UniqueStep& unique, const Block& block, TotalColumns& totals) const;
    void begin_shared(TileWork& work) const;

    const CompiledRound* round_;
    std::vector<UniqueStep> unique_;
    std::vector<RoundStep> sharings_;  ///< one step for each pair of RoundStep::apart and RoundStep::share
    std::vector<Row> rows_;
    std::vector<Block> blocks_;
    std::size_t contexts_ = 1, shared_ = 0;
};

}  // namespace treeline::sim
