// Layers of attention of a few odd numbers on several ranks, part by part. Weights are fp8 (1 byte), activations and caches
// bf16 (2), the width of the model 7.
#include <catch2/catch.hpp>

#include <algorithm>

#include "one_layer.h"

namespace attention_layers_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

/// Two of the ranks share the context of a sequence.
LayerContext sharing_context(double ranks, PassKind pass = PassKind::decode) {
    LayerContext context = on_ranks(ranks, pass);
    context.parallel.context = 2.0;
    return context;
}

bool has(const std::vector<Operation>& operations, const std::string& name) {
    return std::any_of(operations.begin(), operations.end(),
                       [&](const Operation& each) { return each.name == "layer: " + name; });
}

/// A whole linear layer, of which a rank has outputs or inputs.
void check_linear(const Operation& operation, double in, double out, double beside = 0.0) {
    INFO(operation.name);
    CHECK(operation.weight_elements == in * out + beside);
    CHECK(operation.active_elements == in * out + beside);
}

/// 8 heads; queries from a latent of 5, keys and values from one of 6 with 2 for positions; keys of 3 and values of 4.
LatentAttention latents() {
    LatentAttention attention;
    attention.heads = 8;
    attention.q_lora_rank = 5;
    attention.kv_lora_rank = 6;
    attention.nope_dim = 3;
    attention.rope_dim = 2;
    attention.value_dim = 4;
    return attention;
}

}  // namespace

TEST_CASE("latent attention projects down with two norms, and up from the latents, or from the width where queries have none") {
    LatentAttention attention = latents();
    attention.output_gate = true;
    auto operations = operations_with(attention, on_ranks(4.0));
    check_linear(named(operations, "latent down-projections"), 7, 5 + 6 + 2, 5 + 6);
    CHECK(named(operations, "latent down-projections").flops.per_token == Flops(2.0 * 7 * 13));  // on every rank
    check_linear(named(operations, "query up-projection"), 5, 8 * 5);
    check_linear(named(operations, "output gate"), 7, 8 * 4);
    check_linear(named(operations, "key-value up-projection"), 6, 8 * 7);
    check_linear(named(operations, "output projection"), 8 * 4, 7);
    const Operation scores = named(operations, "latent attention");
    CHECK(scores.cache_heads == 1.0);
    CHECK(scores.items.per_sequence == 1.0);
    CHECK(scores.rows_per_token == 2.0);
    CHECK(scores.outputs == 2.0 * 6);
    CHECK(operations.back().bytes.per_token == Bytes(2.0 * 1.5 * 7));
    attention.q_lora_rank = 0;
    operations = operations_with(attention, on_ranks(4.0));
    check_linear(named(operations, "latent down-projections"), 7, 6 + 2, 6);
    check_linear(named(operations, "query up-projection"), 7, 8 * 5);
}

TEST_CASE(
    "an indexer scores with heads of its own, or none where it reuses a selection; its queries come from the latent if any") {
    LatentAttention attention = latents();
    attention.indexer = SparseIndexer{0, 0, 16.0, 1.0};
    CHECK_FALSE(has(operations_with(attention, on_ranks(1.0)), "index scores"));
    CHECK(named(operations_with(attention, on_ranks(1.0)), "latent attention").reach.window == 16.0);
    attention.indexer = SparseIndexer{3, 4, 16.0, 1.0};
    auto operations = operations_with(attention, on_ranks(1.0));
    check_linear(named(operations, "index queries"), 5, 3 * 4);
    check_linear(named(operations, "index projections"), 7, 4 + 3, 2 * 4);
    attention.q_lora_rank = 0;
    check_linear(named(operations_with(attention, on_ranks(1.0)), "index queries"), 7, 3 * 4);
    // Queries of each head and one key: moved eight times, with twenty FLOPs on each element.
    const Operation preparation = named(operations, "index preparation");
    CHECK(preparation.outputs == (3 + 1) * 4.0);
    CHECK(preparation.bytes.per_token == Bytes(2.0 * 8 * 16));
    CHECK(preparation.flops.per_token == Flops(20.0 * 16));
    CHECK(preparation.launches == 14.0);
    CHECK(preparation.items.per_row == 1.0);
}

TEST_CASE(
    "an indexer beside grouped heads is projected, normed, rotated and cached with them; a kernel scores, another picks") {
    Attention attention;
    attention.query_heads = 8;
    attention.kv_heads = 4;
    attention.head_dim = 6;
    const auto without = operations_with(attention, on_ranks(4.0));
    attention.indexer = SparseIndexer{4, 5, 16.0, 1.0};
    const auto with = operations_with(attention, on_ranks(4.0));
    CHECK(with.size() == without.size() + 1);
    for (const char* none : {"index queries", "index projections", "index preparation"}) {
        CHECK_FALSE(has(with, none));
    }
    // Two query heads, a key and a value of a rank; one index head of its four, and the one index key.
    const Operation qkv = named(with, "qkv projection");
    check_linear(qkv, 7, 8 * 6 + 2 * 4 * 6 + (4 + 1) * 5, 2 * 5);
    CHECK(qkv.flops.per_token == Flops(2.0 * 7 * (2 * 6 + 2 * 6 + (1 + 1) * 5)));
    CHECK(named(with, "rotary embedding").outputs == named(without, "rotary embedding").outputs + (1 + 1) * 5);
    const Operation scores = named(with, "index scores");
    CHECK(scores.flops.per_visible == Flops(2.0 * 1 * 5));
    CHECK(scores.bytes.per_context == Bytes(2.0 * 5));  // as written, in bf16
    CHECK(scores.bytes.per_token == Bytes(2.0 * (1 + 1) * 5));
    CHECK(scores.math == NumberFormat::bf16);
    CHECK(scores.launches == 2.0);
    CHECK(named(with, "attention").reach.window == 16.0);
    // On one rank all heads score.
    CHECK(named(operations_with(attention, on_ranks(1.0)), "index scores").flops.per_visible == Flops(2.0 * 4 * 5));
    CHECK(named(operations_with(attention, sharing_context(4.0)), "merge of picks").bytes.per_token == Bytes(8.0 * 16));
}

TEST_CASE("two ranks that share a context each compute all heads of both over half of it, but for prompts") {
    const auto decode = operations_with(latents(), sharing_context(4.0));
    // A latent of 8 elements in bf16; queries and outputs of 2·6 for each of two heads of one rank.
    const Operation scores = named(decode, "latent attention");
    CHECK(scores.bytes.per_context == Bytes(16.0 / 2));
    CHECK(scores.bytes.per_token == Bytes(16.0 / 2 + 2 * (2.0 * 2 * 6 * 2)));
    CHECK(scores.rows_per_token == 4.0);
    CHECK(scores.outputs == 24.0);
    for (const auto& [name, bytes] :
         {std::pair{"gather of queries", 2.0 * 2 * 8}, {"gather of sums", 4.0 * 2}, {"merge of outputs", 2.0 * 2 * 6}}) {
        CHECK(named(decode, name).bytes.per_token == Bytes(bytes));  // to the one other rank
        CHECK(named(decode, name).ranks == 2.0);
        CHECK(named(decode, name).kernel == KernelClass::all_gather);
    }
    const auto prompt = operations_with(latents(), sharing_context(4.0, PassKind::prefill));
    CHECK(named(prompt, "latent attention").bytes.per_context == Bytes(16.0 / 2));  // that is where it is cached
    CHECK(named(prompt, "latent attention").bytes.per_token == Bytes(16.0 + 2 * (2.0 * 2 * 6)));
    CHECK(named(prompt, "latent attention").rows_per_token == 2.0);
    CHECK(named(prompt, "latent attention").outputs == 12.0);
    CHECK_FALSE(has(prompt, "gather of queries"));
    CHECK_FALSE(has(operations_with(latents(), on_ranks(4.0)), "gather of queries"));
}

TEST_CASE("ranks that share a context send each other index and score of their best keys, if only some are picked") {
    LatentAttention attention = latents();
    attention.indexer = SparseIndexer{3, 4, 16.0, 4.0};
    CHECK(named(operations_with(attention, sharing_context(4.0)), "merge of picks").bytes.per_token == Bytes(8.0 * 16 / 4));
    attention.indexer->top_k = unlimited;
    CHECK_FALSE(has(operations_with(attention, sharing_context(4.0)), "merge of picks"));
}

TEST_CASE("a gate of outputs is projected beside queries; keys may serve as values, and values be wider than keys") {
    Attention attention;
    attention.query_heads = 4;
    attention.kv_heads = 2;
    attention.head_dim = 3;
    attention.value_dim = 5;
    const auto check_qkv = [&](double outputs, double local) {
        const Operation qkv = named(operations_with(attention, on_ranks(2.0)), "qkv projection");
        check_linear(qkv, 7, outputs);
        CHECK(qkv.outputs == local);
        CHECK(qkv.flops.per_token == Flops(2.0 * 7 * local));
        CHECK(qkv.stored == Bytes(7 * local));
    };
    check_qkv(4 * 3 + 2 * (3 + 5), 2 * 3 + 8);
    attention.output_gate = true;
    check_qkv(4 * (3 + 5) + 2 * (3 + 5), 2 * 8 + 8);
    attention.keys_are_values = true;
    check_qkv(4 * (3 + 5) + 2 * 3, 2 * 8 + 3);
    const auto operations = operations_with(attention, on_ranks(2.0));
    const Operation scores = named(operations, "attention");
    CHECK(scores.outputs == 2.0 * 5);
    CHECK(scores.flops.per_visible == Flops(2.0 * 2 * (3 + 5)));
    CHECK(scores.bytes.per_context == Bytes(2.0 * (3 + 5)));
    CHECK(scores.bytes.per_token == Bytes(2.0 * (3 + 5) + 2.0 * 2 * (3 + 5)));
    CHECK(scores.rows_per_token == 2.0);
    CHECK(scores.items.per_sequence == 1.0);
    check_linear(named(operations, "output projection"), 4 * 5, 7);
}

TEST_CASE("compressed attention pools entries, reads a window whole, and picks its kernel by the purpose of a pass") {
    CompressedAttention attention = compressed_attention();
    const Operation window = named(operations_with(attention, on_ranks(2.0)), "latent attention");
    CHECK(visible_context(window.reach, 3.0) == 3.0);
    CHECK(visible_context(window.reach, 100.0) == 8.0);
    CHECK(window.kernel == KernelClass::latent_attention);
    CHECK(window.items.per_sequence == 1.0);
    CHECK(window.bytes.per_token == Bytes(2.0 * 3 + 2.0 * (2 * 2 * 3)));
    CHECK(named(operations_with(attention, on_ranks(2.0, PassKind::prefill)), "latent attention").kernel ==
          KernelClass::latent_prompt);
    attention.compression = 4;
    attention.series = 2;
    attention.index_heads = 3;
    attention.index_head_dim = 5;
    const auto operations = operations_with(attention, on_ranks(2.0));
    // Keys with values, and gates, of two series: moved twice, with eight FLOPs on each.
    for (const auto& [name, entry] : {std::pair{"pooling", 3.0}, {"index pooling", 5.0}}) {
        CHECK(named(operations, name).outputs == 2 * 2 * entry);
        CHECK(named(operations, name).bytes.per_token == Bytes(2.0 * 2 * (2 * 2 * entry)));
        CHECK(named(operations, name).flops.per_token == Flops(8.0 * (2 * 2 * entry)));
    }
    check_linear(named(operations, "index queries"), 5, 3 * 5);
    check_linear(named(operations, "index weights"), 7, 3);
    check_linear(named(operations, "index compression"), 7, 2 * 2 * 5, 4 * 2 * 5 + 5);
}

TEST_CASE("kernels that take so many heads at a time read latents again for the others, but for prompts") {
    LayerContext context = on_ranks(1.0), prompt = on_ranks(1.0, PassKind::prefill);
    context.latent_heads_per_read = prompt.latent_heads_per_read = 3.0;
    CHECK(named(operations_with(compressed_attention(), context), "latent attention").reads_per_token == 2.0);  // 4 heads
    CHECK(named(operations_with(latents(), context), "latent attention").reads_per_token == 3.0);               // 8 heads
    CHECK(named(operations_with(compressed_attention(), prompt), "latent attention").reads_per_token == 0.0);
    CHECK(named(operations_with(latents(), prompt), "latent attention").reads_per_token == 0.0);
}

TEST_CASE(
    "a router may have a number for each expert and a gate of the shared one; the gate of a delta rule a rank of its own") {
    MixtureOfExperts experts{8, 2, 12};
    experts.shared_hidden = 10;
    experts.shared_gate = experts.router_bias = true;
    check_linear(named(operations_with(experts, on_ranks(1.0)), "router"), 7, 8, 8 + 7);
    // Without a rank of its own the gate of a delta rule is a part of the first projection.
    GatedDelta delta;
    delta.key_heads = delta.value_heads = 2;
    delta.key_dim = delta.value_dim = 3;
    CHECK_FALSE(has(operations_with(delta, on_ranks(1.0)), "gate down-projection"));
    delta.gate_rank = 1;
    CHECK(has(operations_with(delta, on_ranks(1.0)), "gate down-projection"));
    CHECK_FALSE(has(operations_with(delta, on_ranks(1.0)), "decay down-projection"));
}

TEST_CASE("heads of Mamba-2 share B and C in groups, of which a rank has its part") {
    Mamba2 mamba;
    mamba.heads = 4;
    mamba.head_dim = 3;
    mamba.state = 5;
    mamba.groups = 2;
    const RecurrentState whole = recurrent_state(mamba, 1.0);
    CHECK(whole.inputs == 3 * 12 + 2 * 2 * 5 + 4.0);
    CHECK(whole.replay_inputs == 12 + 2 * 5 + 4.0);
    CHECK(whole.pair_flops == 2 * 2 * 5 + 2 * 12.0);
    CHECK(whole.tree_pair_flops == whole.pair_flops + 4.0);
    CHECK(whole.pair_scratch_bytes == 8 * 2.0);
    CHECK(recurrent_state(mamba, 4.0).pair_scratch_bytes == 8.0);  // no less than one
}

}  // namespace attention_layers_test
