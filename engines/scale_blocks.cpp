#include "engines/scale_blocks.h"

#include <cmath>

#include <fmt/format.h>

#include "engines/definition.h"

namespace treeline::engines {
namespace {

constexpr const char* word_of_blocks = "fp8-block";

/// Elements along an edge of the blocks that share a scale; 0 without blocks: groups of a row are shorter.
double edge_of(const sim::Storage& weights) {
    constexpr double least_block = 1024.0;
    return weights.format == sim::NumberFormat::fp8 && weights.group_size >= least_block ? std::sqrt(weights.group_size) : 0.0;
}

/// Nothing where `hidden` columns, cut so often, leave whole blocks to each rank, or the operation has no blocks.
std::optional<CutBlocks> cut_of(const char* weights, double hidden, double cuts, const sim::Storage& storage) {
    const double edge = edge_of(storage), columns = std::floor(hidden / cuts);
    if (cuts <= 1.0 || edge == 0.0 || hidden == 0.0 || std::fmod(hidden / cuts, edge) == 0.0) {
        return std::nullopt;
    }
    return CutBlocks{weights, false, static_cast<sim::Count>(columns), static_cast<sim::Count>(edge), 0};
}

/// Of one block of a layer.
struct BlockCuts {
    const sim::Model& target;
    const sim::Precision& precision;
    double ranks;
    const sim::Parallelism& parallel;

    [[nodiscard]] sim::Storage linear(const sim::LayerKind& kind, const char* projection) const {
        return sim::weight_format(precision, kind.name + ": " + projection, precision.weights).storage;
    }
    [[nodiscard]] std::optional<CutBlocks> of_dense(const char* weights, sim::Count hidden, const sim::Storage& storage) const {
        // DeepSeek-V4's layers are let through (vLLM pull request 46001).
        const bool looked_at = parallel.data == 1.0 && !sim::compresses_cache(target);
        return looked_at ? cut_of(weights, static_cast<double>(hidden), ranks, storage) : std::nullopt;
    }
    [[nodiscard]] std::optional<CutBlocks> of_routed(const sim::LayerKind& kind, const sim::MixtureOfExperts& experts) const {
        const sim::Storage storage = sim::weight_format(precision, kind.name + ": routed experts", precision.experts).storage;
        std::optional<CutBlocks> cut =
            cut_of("experts", static_cast<double>(experts.hidden), sim::cuts_of_expert(ranks, parallel), storage);
        if (cut) {
            cut->routed = true;
            cut->model_width = experts.latent > 0 ? experts.latent : target.width;
        }
        return cut;
    }
};

}  // namespace

std::optional<CutBlocks> cut_blocks_of(const sim::Model& target, const sim::Precision& precision, double ranks,
                                       const sim::Parallelism& parallel) {
    const BlockCuts cuts{target, precision, ranks, parallel};
    std::optional<CutBlocks> routed;
    for (const sim::LayerKind& kind : target.kinds) {
        for (const sim::Block& block : kind.blocks) {
            std::optional<CutBlocks> dense;
            if (const auto* experts = std::get_if<sim::MixtureOfExperts>(&block.kind)) {
                dense =
                    cuts.of_dense("shared experts", experts->shared_hidden, cuts.linear(kind, "shared expert down projection"));
                routed = routed ? routed : cuts.of_routed(kind, *experts);
            } else if (const auto* mlp = std::get_if<sim::Mlp>(&block.kind)) {
                dense = cuts.of_dense("dense layers", mlp->hidden, cuts.linear(kind, "down projection"));
            }
            if (dense) {
                return dense;
            }
        }
    }
    return routed;
}

sim::Precision stored_precision(const sim::Model& target, const sim::Precision& priced) {
    const auto blocks = target.stored_as.find(word_of_blocks), named = target.stored_as.find("fp8");
    const bool same = blocks != target.stored_as.end() && (named == target.stored_as.end() || named->second == blocks->second);
    const bool of_fp8 = priced.weights == sim::checkpoint_precision(sim::NumberFormat::fp8, sim::NumberFormat::bf16).weights;
    sim::Precision stored = priced;
    if (same && of_fp8 && target.precision.weights.format != sim::NumberFormat::fp8) {
        stored.weights = stored.experts = sim::block_fp8_precision(sim::NumberFormat::bf16).weights;
    }
    return stored;
}

CutProblem block_problem(const Engine& engine, const CutBlocks& cut, const sim::Device& device) {
    const Dialect& dialect = dialect_of(engine);
    return dialect.block_problem != nullptr ? dialect.block_problem(engine, cut, device) : CutProblem{};
}

std::string cut_problem(const Engine& engine, const sim::RoundSetup& setup) {
    const sim::Platform& platform = setup.platform;
    const std::optional<CutBlocks> cut =
        cut_blocks_of(setup.target, stored_precision(setup.target, setup.precision), platform.ranks, platform.parallel);
    return cut ? block_problem(engine, *cut, platform.device).why : "";
}

std::string text_of(const CutBlocks& cut) {
    return fmt::format("{} of {} columns a rank, no multiple of the {} that share a scale", cut.weights, cut.columns, cut.edge);
}

}  // namespace treeline::engines
