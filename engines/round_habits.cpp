#include "engines/round_habits.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "engines/definition.h"

namespace treeline::engines {
namespace {

template <class Predicate>
bool any_block(const sim::Model& target, Predicate predicate) {
    return std::any_of(target.kinds.begin(), target.kinds.end(), [&](const sim::LayerKind& kind) {
        return std::any_of(kind.blocks.begin(), kind.blocks.end(), predicate);
    });
}

}  // namespace

EngineHabits habits_of(const Engine& engine, const sim::RoundSetup& setup) { return dialect_of(engine).habits(engine, setup); }

bool is_amd(const sim::Device& device) { return device.title.starts_with("AMD"); }

bool has_whole_latents(const sim::Model& target) {
    return !has_sparse_attention(target) &&
           any_block(target, [](const sim::Block& block) { return std::holds_alternative<sim::LatentAttention>(block.kind); });
}

bool has_sparse_attention(const sim::Model& target) {
    return any_block(target, [](const sim::Block& block) {
        const auto* latent = std::get_if<sim::LatentAttention>(&block.kind);
        return (latent != nullptr && latent->indexer) || std::holds_alternative<sim::CompressedAttention>(block.kind);
    });
}

bool has_other_states(const sim::Model& target) {
    return any_block(target, [](const sim::Block& block) {
        const auto* delta = std::get_if<sim::GatedDelta>(&block.kind);
        return std::holds_alternative<sim::Mamba1>(block.kind) || std::holds_alternative<sim::Mamba2>(block.kind) ||
               (delta != nullptr && delta->decay_rank > 0);
    });
}

bool is_looked_up(const sim::RoundSetup& setup) {
    return kind_of(setup.drafter) == DrafterKind::ngram || kind_of(setup.drafter) == DrafterKind::suffix;
}

EngineHabit looked_up() { return {"looked up by the host", "no model drafts", ""}; }

double generation_of(const sim::Device& device) { return std::floor(device.compute_capability); }

}  // namespace treeline::engines
