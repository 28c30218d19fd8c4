#include "sim/state_groups.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <variant>

namespace treeline::sim {

namespace {

/// What tells one kind of cache from another: kind of attention, heads, widths and window.
using CacheKind = std::array<double, 5>;
using LayersByKind = std::map<CacheKind, double>;

std::optional<CacheKind> cache_of(const Block& block) {
    if (const auto* attention = std::get_if<Attention>(&block.kind)) {
        return attention->reuses_cache
                   ? std::nullopt
                   : std::optional(CacheKind{1.0, static_cast<double>(attention->kv_heads),
                                             static_cast<double>(attention->head_dim),
                                             static_cast<double>(attention->value_width()), attention->reach.window});
    }
    if (const auto* latent = std::get_if<LatentAttention>(&block.kind)) {
        return CacheKind{2.0, static_cast<double>(latent->kv_lora_rank), static_cast<double>(latent->rope_dim), 0.0,
                         latent->reach.window};
    }
    if (std::holds_alternative<CompressedAttention>(block.kind)) {
        return CacheKind{3.0};
    }
    return is_delta_layer(block) ? std::optional(CacheKind{}) : std::nullopt;
}

void count_layers(const Model& model, LayersByKind& layers) {
    for (const std::size_t kind : model.order) {
        for (const Block& block : model.kinds[kind].blocks) {
            if (const std::optional<CacheKind> cache = cache_of(block)) {
                layers[*cache] += 1.0;
            }
        }
    }
}

bool has_kinds_of_its_own(const Drafter& drafter) {
    const auto* head = std::get_if<OneLayerDrafter>(&drafter);
    return std::holds_alternative<ParallelDrafter>(drafter) ||
           (head != nullptr && (head->kind == OneLayerKind::eagle || head->kind == OneLayerKind::eagle3));
}

void count_own_layers(const Drafter& drafter, double count, LayersByKind& layers) {
    const auto* block = std::get_if<ParallelDrafter>(&drafter);
    const double whole = block != nullptr && block->kind == ParallelKind::dflash ? std::min(1.0, count) : count;
    layers[CacheKind{4.0}] = whole;
    if (count > whole) {
        layers[CacheKind{5.0}] = count - whole;
    }
}

}  // namespace

double state_groups(const Model& target, const Drafter& drafter, const DrafterPlan& plan) {
    LayersByKind layers;
    count_layers(target, layers);
    const double recurrent = layers[CacheKind{}];
    if (recurrent == 0.0) {
        return 0.0;
    }
    if (plan.model && plan.has_cache && plan.holds_cache && !plan.shares_body) {
        if (has_kinds_of_its_own(drafter)) {
            count_own_layers(drafter, static_cast<double>(plan.model->order.size()), layers);
        } else {
            count_layers(*plan.model, layers);
        }
    }
    const auto fewer = [](const auto& left, const auto& right) { return left.second < right.second; };
    const auto [fewest, most] = std::minmax_element(layers.begin(), layers.end(), fewer);
    constexpr double alike = 1.5;
    const double group = most->second < alike * fewest->second ? most->second : fewest->second;
    return std::ceil(recurrent / group);
}

Seconds host_of_verification(const Stack& stack, double groups) {
    const Seconds of_states =
        groups > 0.0 ? stack.passes.host_per_delta_round + stack.passes.host_per_state_group * groups : Seconds(0.0);
    return stack.passes.host_per_overlapped_pass + of_states;
}

}  // namespace treeline::sim
