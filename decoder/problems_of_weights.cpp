// Which blocks have no kernels, and where a run differs from the described model.
#include <algorithm>

#include "decoder/weights.h"
#include "kernels/experts.h"

namespace treeline::decoder {
namespace {

bool fits_convolution(sim::Count width) { return width >= 2 && width <= 8; }

/// Why a block has no kernels; empty when it has.
struct BlockProblem {
    std::string operator()(const sim::Attention& block) const {
        const bool fits = block.head_dim % 8 == 0 && block.head_dim <= 256 && block.query_heads % block.kv_heads == 0;
        return !fits                   ? "attention needs a head_dim that is a multiple of 8 up to 256"
               : block.input_width > 0 ? "attention whose input width differs from the model's has no kernel"
               : block.learned_sinks   ? "attention with learned sinks has no kernel"
               : block.value_width() != block.head_dim || block.reuses_cache
                   ? "attention whose values are not as wide as its keys, or that reads another layer's cache, has no kernel"
               : block.indexer.has_value() ? "attention with a sparse indexer has no kernel"
                                           : "";
    }
    std::string operator()(const sim::Mamba2& block) const {
        const bool fits = block.head_dim % 16 == 0 && block.head_dim <= 128 && block.state % 16 == 0 && block.state <= 256 &&
                          block.heads % block.groups == 0 && fits_convolution(block.conv_width);
        const bool shares = block.shared_width > 0;
        if (shares && (block.groups != block.heads || block.head_dim != block.state || block.shared_width % block.state != 0 ||
                       block.inner() % block.shared_width != 0)) {
            return "Mamba-2 whose heads share x and B needs a group and a state of head_dim for each head";
        }
        return fits ? ""
                    : "Mamba-2 needs a head_dim that is a multiple of 16 up to 128, a state that is one up to 256, and a "
                      "convolution of width 2 to 8";
    }
    std::string operator()(const sim::Mlp& block) const {
        return block.input_width > 0 ? "a feed-forward block whose input width differs from the model's has no kernel" : "";
    }
    std::string operator()(const sim::MixtureOfExperts& block) const {
        const bool fits = block.experts <= kernels::most_experts && block.active <= kernels::most_active_experts &&
                          block.hidden % 4 == 0 && block.latent % 4 == 0;
        return fits ? ""
                    : "a mixture of experts needs at most 1024 experts, of which a token visits at most 32, and widths that "
                      "are multiples of 4";
    }
    std::string operator()(const sim::LatentAttention& block) const {
        const bool fits =
            block.kv_lora_rank % 4 == 0 && block.kv_lora_rank <= 1024 && block.rope_dim % 4 == 0 && block.q_lora_rank % 4 == 0;
        if (block.indexer.has_value()) {
            return "attention with a sparse indexer has no kernel";
        }
        if (block.reach != sim::ContextReach{}) {
            return "latent attention to part of the context has no kernel";
        }
        return fits ? "" : "latent attention needs ranks and a rope_dim that are multiples of 4, and a kv_lora_rank up to 1024";
    }
    std::string operator()(const sim::CompressedAttention& /*block*/) const {
        return "attention over compressed entries has no kernel";
    }
    std::string operator()(const sim::Mamba1& block) const {
        const bool fits = block.state >= 4 && block.state <= 32 && (block.state & (block.state - 1)) == 0 &&
                          fits_convolution(block.conv_width);
        return fits ? "" : "Mamba (1) needs a state that is a power of 2 from 4 to 32, and a convolution of width 2 to 8";
    }
    std::string operator()(const sim::GatedDelta& block) const {
        const bool fits = block.key_dim % 4 == 0 && block.key_dim <= 256 && block.value_dim % 4 == 0 &&
                          block.value_heads % block.key_heads == 0 && fits_convolution(block.conv_width);
        return block.decay_rank > 0 || block.gate_rank > 0
                   ? "the delta rule with a decay per channel or a low-rank gate (KDA) has no kernel"
               : fits ? ""
                      : "the gated delta rule needs a key_dim that is a multiple of 4 up to 256, a value_dim that is one of 4, "
                        "and a convolution of width 2 to 8";
    }
    std::string operator()(const sim::LookupTable& /*block*/) const { return "a table beside the embedding has no kernel"; }
    std::string operator()(const sim::Projection& /*block*/) const {
        return "a projection parallel to the other blocks has no kernel";
    }
};

/// What the run of a block leaves out or makes up; empty sentences where nothing.
struct BlockNotes {
    std::vector<std::string> operator()(const sim::Attention& block) const {
        return {block.reach.scale == 1.0 ? "" : "attention to a share of the context reads that share of the longest text"};
    }
    std::vector<std::string> operator()(const sim::Mlp& block) const { return {ungated(block.gated)}; }
    std::vector<std::string> operator()(const sim::MixtureOfExperts& block) const {
        return {ungated(block.gated), block.expert_bias ? "biases of experts are left out" : ""};
    }
    template <class Other>
    std::vector<std::string> operator()(const Other& /*block*/) const {
        return {};
    }

private:
    static std::string ungated(bool gated) {
        return gated ? "" : "the activation of ungated feed-forward blocks, which descriptions do not name, is x silu(x)";
    }
};

/// Adds sentences about one model, each once.
class Sentences {
public:
    explicit Sentences(const sim::Model& model) : name_(model.name) {}

    void add(const std::string& sentence) {
        const std::string whole = name_ + ": " + sentence;
        if (!sentence.empty() && std::find(all_.begin(), all_.end(), whole) == all_.end()) {
            all_.push_back(whole);
        }
    }
    [[nodiscard]] std::vector<std::string> take() { return std::move(all_); }

private:
    std::string name_;
    std::vector<std::string> all_;
};

}  // namespace

std::vector<std::string> problems_of_weights(const sim::Model& model) {
    Sentences problems(model);
    for (const sim::LayerKind& kind : model.kinds) {
        for (const sim::Block& block : kind.blocks) {
            problems.add(std::visit(BlockProblem{}, block.kind));
            problems.add(block.norms > 2 ? "a block with more than two norms has no kernel" : "");
        }
    }
    if (model.width % 4 != 0) {
        problems.add("kernels need a width that is a multiple of 4");
    }
    if (!model.order.empty() && model.kinds[model.order.front()].blocks.front().norms == 0) {
        problems.add("the first block has no norm");
    }
    return problems.take();
}

std::vector<std::string> simplifications(const sim::Model& model) {
    Sentences notes(model);
    for (const sim::LayerKind& kind : model.kinds) {
        for (const sim::Block& block : kind.blocks) {
            for (const std::string& note : std::visit(BlockNotes{}, block.kind)) {
                notes.add(note);
            }
        }
    }
    return notes.take();
}

}  // namespace treeline::decoder
