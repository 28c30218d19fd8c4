#include "sim/round_host.h"

#include <algorithm>
#include <variant>

#include "sim/state_groups.h"

namespace treeline::sim {
namespace {

/// Whether the block mixes the tokens of a sequence: attention or a recurrence.
bool mixes_tokens(const Block& block) {
    return !std::holds_alternative<Mlp>(block.kind) && !std::holds_alternative<MixtureOfExperts>(block.kind) &&
           !std::holds_alternative<Projection>(block.kind) && !std::holds_alternative<LookupTable>(block.kind);
}

/// Whether ranks share the cached tokens of this block under decode context parallelism.
bool caches_tokens(const Block& block) {
    return std::holds_alternative<Attention>(block.kind) || std::holds_alternative<LatentAttention>(block.kind) ||
           std::holds_alternative<CompressedAttention>(block.kind);
}

/// Latent attention that picks what it reads.
bool is_sparse(const Block& block) {
    const auto* latent = std::get_if<LatentAttention>(&block.kind);
    return latent != nullptr && latent->indexer;
}

template <class Predicate>
double count_blocks(const Model& model, Predicate predicate) {
    double count = 0.0;
    for (const std::size_t kind : model.order) {
        const std::vector<Block>& blocks = model.kinds[kind].blocks;
        count += static_cast<double>(std::count_if(blocks.begin(), blocks.end(), predicate));
    }
    return count;
}

double recurrent_layers(const DrafterPlan& drafter) {
    double layers = 0.0;
    if (drafter.model) {
        for (const Operation& operation : state_copy_operations(*drafter.model, drafter.precision, 1.0)) {
            layers += operation.count;
        }
    }
    return layers;
}

/// Layers of the target. A layer is a block that mixes tokens with the feed-forward blocks after it, if any: models that count
/// each block as a layer (Nemotron-H) have half as many.
void count_layers(const RoundSetup& setup, HostCounts& counts) {
    const Platform& platform = setup.platform;
    const bool pieces = platform.latent_heads_per_read() > 0.0 && platform.stack.host[HostDriver::latent_piece] > Seconds(0.0);
    const auto in_piece = [&](const Block& block) {
        return pieces &&
               (std::holds_alternative<LatentAttention>(block.kind) || std::holds_alternative<CompressedAttention>(block.kind));
    };
    counts[HostDriver::latent_piece] = count_blocks(setup.target, in_piece);
    counts[HostDriver::mixing_layer] =
        count_blocks(setup.target, [&](const Block& block) { return !in_piece(block) && mixes_tokens(block); });
    counts[HostDriver::shared_layer] = platform.parallel.context > 1.0 ? count_blocks(setup.target, caches_tokens) : 0.0;
}

/// What every round that drafts takes.
HostCounts counts_of_rounds(const RoundSetup& setup, const DrafterPlan& drafter) {
    HostCounts counts;
    counts[HostDriver::round] = 1.0;
    counts[HostDriver::synchronous_round] = counts[HostDriver::synchronous_sequence] =
        is_synchronous(setup.platform.stack, setup.drafter, drafter) ? 1.0 : 0.0;
    counts[HostDriver::recurrent_round] = has_recurrent_state(setup.target) ? 1.0 : 0.0;
    counts[HostDriver::draft_state] = recurrent_layers(drafter);
    counts[HostDriver::reshaped_layer] = drafter.catch_up == CatchUp::apart ? mixing_layers(*drafter.model) : 0.0;
    counts[HostDriver::drafted_entry] =
        std::holds_alternative<IndependentDrafter>(setup.drafter) ? static_cast<double>(setup.target.vocabulary_size) : 0.0;
    count_layers(setup, counts);
    return counts;
}

/// And what is a row's own. `sparse` layers pick what they read.
HostCounts counts_of_row(HostCounts counts, const RoundRow& row, double sparse) {
    const double tokens = row.draft_tokens + 1.0;
    // Reading the round before, the first draft, and the second, which is captured anew; further ones repeat its shape.
    counts[HostDriver::reshaped_layer] *= row.depth > 1.0 ? 3.0 : 2.0;
    counts[HostDriver::drafted_entry] *= row.draft_tokens;
    counts[HostDriver::tree] = row.branched;
    counts[HostDriver::draft_token] = tokens;
    counts[HostDriver::sparse_token] = tokens * sparse;
    counts[HostDriver::tree_token] = tokens * row.branched;
    counts[HostDriver::grown_token] = tokens * row.grown;
    counts[HostDriver::unrolled_token] = row.unrolled_tokens;
    return counts;
}

/// Host time of a pass of the drafter that the device need not wait for, on a fast host.
Seconds host_of_draft_pass(const RoundSetup& setup, const DrafterPlan& drafter) {
    if (!drafter.model || !drafter.has_cache) {
        return Seconds(0.0);
    }
    const PassTimes& passes = setup.platform.stack.passes;
    return std::holds_alternative<IndependentDrafter>(setup.drafter)
               ? passes.host_per_draft_layer * mixing_layers(*drafter.model)
               : passes.host_per_overlapped_draft_pass;
}

/// All that the host does in a round behind which the device does not wait (asynchronous scheduling), one after the other.
Seconds host_chain(const RoundSetup& setup, const DrafterPlan& drafter, const CompiledRound& round, const RoundRow& row) {
    const Stack& stack = setup.platform.stack;
    if (stack.passes.host_per_overlapped_pass <= Seconds(0.0) || setup.platform.parallel.pipeline > 1.0) {
        return Seconds(0.0);
    }
    double draft_passes = 0.0;
    for (const PassId id : {PassId::draft, PassId::draft_tree}) {
        const auto pass = static_cast<std::size_t>(id);
        for (std::uint32_t i = row.begin[pass]; i < row.begin[pass + 1]; ++i) {
            draft_passes += round.steps[i].runs * round.steps[i].share;
        }
    }
    const Seconds all = host_of_verification(stack, state_groups(setup.target, setup.drafter, drafter)) +
                        stack.passes.host_per_overlapped_round + host_of_draft_pass(setup, drafter) * draft_passes;
    return all / setup.platform.device.host_speed;
}

}  // namespace

bool is_synchronous(const Stack& stack, const Drafter& drafter, const DrafterPlan& plan) {
    const auto gives_up = [&](ScheduledDrafter kind) {
        const std::vector<ScheduledDrafter>& kinds = stack.drafts.synchronous_drafters;
        return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
    };
    const auto* block = std::get_if<ParallelDrafter>(&drafter);
    const bool is_dflash = block != nullptr && block->kind == ParallelKind::dflash;
    return plan.reads_on_host || (is_dflash && gives_up(ScheduledDrafter::dflash)) ||
           (std::holds_alternative<IndependentDrafter>(drafter) && gives_up(ScheduledDrafter::draft_model));
}

double mixing_layers(const Model& model) { return count_blocks(model, mixes_tokens); }

void add_host(const RoundSetup& setup, const DrafterPlan& drafter, CompiledRound& round) {
    const Stack& stack = setup.platform.stack;
    const HostTimes times = host_times(stack);
    const HostCounts counts = counts_of_rounds(setup, drafter);
    const double sparse = count_blocks(setup.target, is_sparse);
    for (RoundRow& row : round.rows) {
        if (row.speculates > 0.0) {
            row.host = line_of_round(times, counts_of_row(counts, row, sparse));
            row.host.per_sequence += drafter.host_per_round_and_sequence;
            row.host *= stack.measured.round_factor;
            row.host.per_sequence += step_of_sequence(times, row.logits);
            row.host *= stack.measured.time_factor;
            row.host_chain =
                host_chain(setup, drafter, round, row) * (stack.measured.round_factor * stack.measured.time_factor);
        }
    }
    const double vocabulary = static_cast<double>(setup.target.vocabulary_size);
    round.per_emitted_token = step_of_emitted_token(times, vocabulary) * stack.measured.time_factor;
    round.step_per_sequence = step_of_sequence(times, 1.0) * stack.measured.time_factor + round.per_emitted_token;
}

}  // namespace treeline::sim
