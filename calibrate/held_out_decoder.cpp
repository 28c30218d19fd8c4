#include "calibrate/held_out_decoder.h"

#include <algorithm>

#include "sim/trees/tree_shape.h"

namespace treeline::calibrate {
namespace {

/// Sizes of the models. On a CPU weights of 250 MB, on a GPU of 1.5 GB; a draft pass alone (one layer and the head) reads more
/// than twice the last-level cache, so that every pass reads its weights from main memory.
struct Sizes {
    sim::Count width, query_heads, kv_heads, head_dim, hidden, vocabulary;
    int transformer_layers, mamba2_layers, hybrid_periods;
};
constexpr Sizes cpu_sizes{896, 14, 2, 64, 2432, 16'000, 6, 8, 2};
constexpr Sizes gpu_sizes{2560, 20, 4, 128, 9728, 32'000, 8, 16, 3};

sim::LayerKind attention_layer(const Sizes& sizes) {
    sim::Attention attention;
    attention.query_heads = sizes.query_heads;
    attention.kv_heads = sizes.kv_heads;
    attention.head_dim = sizes.head_dim;
    sim::Mlp mlp;
    mlp.hidden = sizes.hidden;
    return {"attention layer", {{attention}, {mlp}}};
}

sim::LayerKind mamba2_layer(const Sizes& sizes) {
    sim::Mamba2 mamba;
    mamba.heads = 2 * sizes.width / mamba.head_dim;
    return {"Mamba-2 layer", {{mamba}}};
}

sim::Model model_of(DecoderFamily family, bool on_gpu) {
    const Sizes& sizes = on_gpu ? gpu_sizes : cpu_sizes;
    sim::Model model;
    model.name = std::string("held-out ") + std::string(name_of(family));
    model.vocabulary = "held-out";
    model.vocabulary_size = sizes.vocabulary;
    model.width = sizes.width;
    model.tied_embeddings = true;
    switch (family) {
        case DecoderFamily::transformer:
            model.kinds = {attention_layer(sizes)};
            model.order.assign(static_cast<std::size_t>(sizes.transformer_layers), 0);
            break;
        case DecoderFamily::mamba2:
            model.kinds = {mamba2_layer(sizes)};
            model.order.assign(static_cast<std::size_t>(sizes.mamba2_layers), 0);
            break;
        case DecoderFamily::hybrid:
            model.kinds = {mamba2_layer(sizes), attention_layer(sizes)};
            for (int period = 0; period < sizes.hybrid_periods; ++period) {
                model.order.insert(model.order.end(), {0, 0, 0, 1});
            }
            break;
    }
    return model;
}

/// What a configuration drafts, and how many of it are accepted.
struct Draft {
    HeldOutDrafter drafter;
    std::vector<int> children;
    int accepted;
    sim::Verification verification = sim::Verification::unrolled;
};

std::vector<int> chain(int draft_tokens) { return std::vector<int>(static_cast<std::size_t>(draft_tokens), 1); }

constexpr auto first_layer = HeldOutDrafter::first_layer;
const Draft no_draft{HeldOutDrafter::none, {}, 0, sim::Verification::packed};
const Draft chain_2{first_layer, chain(2), 2};  // all accepted: the drafter has its last draft to catch up on
const Draft chain_4{first_layer, chain(4), 3};
const Draft tree_6{first_layer, {2, 2}, 2, sim::Verification::packed};
const Draft tree_6_unrolled{first_layer, {2, 2}, 2, sim::Verification::unrolled};
const Draft tree_14{first_layer, {2, 2, 2}, 2, sim::Verification::packed};
const Draft tree_9{first_layer, {3, 1, 1}, 2, sim::Verification::packed};
const Draft ngram_4{HeldOutDrafter::ngram, chain(4), 1};

struct Choice {
    Draft draft;
    sim::Rollback rollback;
};

/// Choices for the same work.
struct Group {
    DecoderFamily family;
    sim::NumberFormat format;
    int batch, context;
    std::vector<Choice> choices;
    bool quick = false;  ///< quick runs take the first three choices of such groups
};

std::vector<Group> groups_on(bool on_gpu) {
    using enum sim::Rollback;
    const sim::NumberFormat format = on_gpu ? sim::NumberFormat::bf16 : sim::NumberFormat::fp32;
    const int few = on_gpu ? 8 : 4, many = on_gpu ? 32 : 8;
    const int near = on_gpu ? 1024 : 256, far = on_gpu ? 4096 : 1024;
    constexpr auto transformer = DecoderFamily::transformer;
    constexpr auto mamba2 = DecoderFamily::mamba2;
    constexpr auto hybrid = DecoderFamily::hybrid;
    std::vector<Group> groups = {
        {transformer,
         format,
         1,
         far,
         {{no_draft, truncate},
          {chain_4, truncate},
          {tree_6, truncate},
          {chain_2, truncate},
          {tree_6_unrolled, truncate},
          {ngram_4, truncate}},
         true},
        {transformer, format, few, near, {{no_draft, truncate}, {chain_2, truncate}, {tree_14, truncate}, {ngram_4, truncate}}},
        {transformer, format, many, far, {{no_draft, truncate}, {chain_2, truncate}, {chain_4, truncate}}},
        {mamba2,
         format,
         1,
         near,
         {{no_draft, replay},
          {chain_4, replay},
          {tree_6, replay},
          {chain_4, snapshot},
          {chain_4, recompute},
          {tree_6_unrolled, snapshot},
          {ngram_4, replay}},
         true},
        {mamba2,
         format,
         few,
         near,
         {{no_draft, replay}, {chain_2, replay}, {chain_2, snapshot}, {tree_9, recompute}, {tree_14, replay}}},
        {mamba2, format, many, near, {{no_draft, replay}, {chain_2, replay}, {ngram_4, snapshot}}},
        {hybrid,
         format,
         1,
         far,
         {{no_draft, replay}, {chain_4, replay}, {tree_9, replay}, {chain_2, recompute}, {ngram_4, snapshot}},
         true},
        {hybrid,
         format,
         few,
         near,
         {{no_draft, replay}, {chain_2, replay}, {chain_4, snapshot}, {tree_6, replay}, {tree_6_unrolled, replay}}},
    };
    if (!on_gpu) {
        groups.push_back({transformer, sim::NumberFormat::bf16, 1, near, {{no_draft, truncate}, {chain_4, truncate}}});
    }
    return groups;
}

kernels::ElementType element_of(sim::NumberFormat format) {
    return format == sim::NumberFormat::fp32 ? kernels::ElementType::fp32 : kernels::ElementType::bf16;
}

bool is_chain(const std::vector<int>& children) {
    return std::all_of(children.begin(), children.end(), [](int count) { return count == 1; });
}

}  // namespace

std::vector<HeldOutDecoder> held_out_decoders(bool on_gpu, bool quick) {
    constexpr std::size_t quick_choices = 3;
    std::vector<HeldOutDecoder> decoders;
    for (const Group& group : groups_on(on_gpu)) {
        if (quick && !group.quick) {
            continue;
        }
        const std::size_t count = quick ? quick_choices : group.choices.size();
        for (std::size_t i = 0; i < count; ++i) {
            const Choice& choice = group.choices[i];
            decoders.push_back({group.family, group.format, group.batch, group.context, choice.draft.drafter,
                                choice.draft.children, choice.draft.verification, choice.rollback, choice.draft.accepted});
        }
    }
    return decoders;
}

std::string draft_of(const HeldOutDecoder& decoder) {
    if (is_chain(decoder.children)) {
        return "chain " + std::to_string(decoder.children.size());
    }
    std::string text;
    for (const int count : decoder.children) {
        text += (text.empty() ? "tree " : "x") + std::to_string(count);
    }
    return text;
}

std::string group_of(const HeldOutDecoder& decoder) {
    return std::string(name_of(decoder.family)) + ", " + std::string(name_of(decoder.format)) + ", batch " +
           std::to_string(decoder.batch) + ", context " + std::to_string(decoder.context);
}

std::string policy_of(const HeldOutDecoder& decoder) {
    if (decoder.drafter == HeldOutDrafter::none) {
        return "plain decoding";
    }
    return std::string(name_of(decoder.drafter)) + ", " + draft_of(decoder) + ", " +
           std::string(name_of(decoder.verification)) + ", " + std::string(name_of(decoder.rollback));
}

decoder::DecodeSetup setup_of(const HeldOutDecoder& held_out, const HeldOutRounds& rounds, bool on_gpu) {
    decoder::DecodeSetup setup;
    setup.target = model_of(held_out.family, on_gpu);
    if (held_out.drafter == HeldOutDrafter::first_layer) {
        setup.drafter = decoder::SharedLayers{};
    } else if (held_out.drafter == HeldOutDrafter::ngram) {
        setup.drafter = decoder::NgramLookup{};
    }
    setup.verification = held_out.verification;
    setup.rollback = held_out.rollback;
    setup.batch = held_out.batch;
    setup.elements = setup.state_elements = element_of(held_out.format);
    setup.device = on_gpu ? decoder::DeviceKind::cuda : decoder::DeviceKind::cpu;
    setup.untimed_rounds = rounds.untimed;
    if (!held_out.children.empty()) {
        setup.tree = sim::build_tree(sim::BranchingShape{held_out.children}, {});
        std::vector<double> per_position(held_out.children.size(), 0.0);
        std::fill_n(per_position.begin(), held_out.accepted, 1.0);
        setup.given_acceptance = {per_position, {}};
    }
    // A decoder that replays graphs runs three more rounds before it times any (DecodeSetup::untimed_rounds).
    const int before = rounds.untimed + (on_gpu ? 3 : 0);
    setup.prompt_tokens = 4;
    setup.new_tokens = (before + rounds.timed) * (held_out.accepted + 1);
    const int first_context = setup.prompt_tokens - 1;
    setup.context_tokens =
        std::max(0, held_out.context - first_context - (2 * before + rounds.timed) * (held_out.accepted + 1) / 2);
    return setup;
}

}  // namespace treeline::calibrate
