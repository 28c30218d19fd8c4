// Do compiled operations carry the FLOPs and bytes of docs/cost-model.md, section 1, worked out by hand here?
#include <catch2/catch.hpp>

#include <cmath>

#include "setups.h"
#include "sim/operations.h"

namespace operations_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

Operation find(const std::vector<Operation>& operations, const std::string& part) {
    for (const Operation& operation : operations) {
        if (operation.name.find(part) != std::string::npos) {
            return operation;
        }
    }
    FAIL("no operation named like " + part);
    return operations.front();
}

double flops(const Operation& operation, const PassShape& shape) { return flops_of<true>(operation, terms_of(shape)).value(); }
double bytes(const Operation& operation, const PassShape& shape) {
    return bytes_of<true, true>(operation, terms_of(shape)).value();
}

}  // namespace

TEST_CASE("Llama-3-8B, bf16: linear layers, attention and LM head") {
    const auto operations = operations_of(model("llama-3-8b"), uniform_precision(NumberFormat::bf16), {});
    const PassShape shape{4.0, 3.0, 1000.0, 3.0};  // 4 sequences, 3 new tokens each after 1000 cached: M = 12
    // d = 4096, 32 query and 8 key-value heads of 128: out = (32 + 2·8)·128 = 6144.
    const Operation qkv = find(operations, "qkv");
    CHECK(qkv.count == 32.0);
    CHECK(flops(qkv, shape) == 2.0 * 12 * 4096 * 6144);
    CHECK(bytes(qkv, shape) == 2.0 * 4096 * 6144 + 2.0 * 12 * (4096 + 6144));
    // 4·M·h_q·d_h·(s + (n+1)/2); KV once a sequence 2·b·h_kv·d_h·(s+n)·c + 2·M·h_q·d_h·e
    const Operation attention = find(operations, ": attention");
    CHECK(flops(attention, shape) == 4.0 * 12 * 32 * 128 * (1000 + 2.0));
    CHECK(bytes(attention, shape) == 2.0 * 4 * 8 * 128 * 1003 * 2 + 2.0 * 12 * 32 * 128 * 2);
    const Operation head = find(operations, "LM head");
    CHECK(flops(head, shape) == 2.0 * 12 * 4096 * 128256);
    CHECK(bytes(head, shape) == 2.0 * 4096 * 128256 + 12.0 * (2 * 4096 + 4.0 * 128256));
    // Gated MLP: 6·M·d·d_ff in its two linear layers.
    CHECK(flops(find(operations, "gate and up"), shape) + flops(find(operations, "down projection"), shape) ==
          6.0 * 12 * 4096 * 14336);
}

TEST_CASE("tensor parallelism divides weights and heads and adds two all-reduces a layer") {
    const Model target = model("llama-3-70b");
    const Precision precision = uniform_precision(NumberFormat::bf16);
    PassOptions options;
    options.ranks = 8.0;
    const auto split = operations_of(target, precision, options);
    const auto whole = operations_of(target, precision, {});
    CHECK(find(split, "down projection").bytes.fixed.value() == find(whole, "down projection").bytes.fixed.value() / 8.0);
    CHECK(find(split, ": attention").bytes.per_context.value() == find(whole, ": attention").bytes.per_context.value() / 8.0);
    double reduces = 0.0, gathers = 0.0;
    for (const Operation& operation : split) {
        const bool gather = operation.kernel == KernelClass::all_gather;
        (gather ? gathers : reduces) += operation.kind == OperationKind::collective ? operation.count : 0.0;
    }
    CHECK(reduces == 161.0);  // 80 layers, after attention and after the MLP; and the embedding
    CHECK(gathers == 1.0);    // of the logits
    // Ring: 2·(8−1)/8 of the vector of 8192 bf16 values.
    CHECK(bytes(find(split, "all-reduce"), {1, 1, 0, 1}) == 2.0 * 7.0 / 8.0 * 8192 * 2);
    // With more ranks than key-value heads, each keeps one head.
    options.ranks = 16.0;
    CHECK(find(operations_of(target, precision, options), ": attention").bytes.per_context.value() == 2.0 * 128 * 2);
}

TEST_CASE("Mamba2-2.7b: state update, multi-step scans and replay") {
    // d = 2560, expand 2: d_i = 5120, H = 80 heads of P = 64, N = 128, G = 1. S = 80·64·128·4 bytes in fp32.
    const Model target = model("mamba2-2.7b");
    Precision precision = uniform_precision(NumberFormat::bf16);
    precision.state = Storage{NumberFormat::fp32};
    const double state = 80.0 * 64 * 128 * 4;
    const double inputs = 2.0 * (3 * 80 * 64 + 2 * 128 + 80);
    const double own = 3.0 * 80 * 4;  // A, D and the bias of dt in fp32
    const auto scan_bytes = [&](StateWrites writes, const PassShape& shape) {
        return bytes(find(operations_of(target, precision, {PassKind::decode, writes, 1.0}), "state scan"), shape);
    };
    const PassShape one{2.0, 1.0, 0.0, 1.0};
    const PassShape five{2.0, 5.0, 0.0, 5.0};
    CHECK(scan_bytes(StateWrites::final_state, one) == 2.0 * (2 * state + inputs) + own);
    CHECK(scan_bytes(StateWrites::none, five) == 2.0 * (state + 5 * inputs) + own);
    CHECK(scan_bytes(StateWrites::every_state, five) == 2.0 * ((1 + 5) * state + 5 * inputs) + own);
    const Operation scan = find(operations_of(target, precision, {}), "state scan");
    CHECK(flops(scan, one) == 2.0 * 80 * 64 * (5 * 128 + 9));
    const Operation replay = replay_operations(target, precision, 1.0, Replay::own_pass).front();
    CHECK(flops(replay, five) == 3.0 * 5 * 2 * 80 * 64 * 128);
    CHECK(bytes(replay, five) == 2.0 * (2 * state + 5 * 2.0 * (80 * 64 + 128 + 80)));
}

TEST_CASE("a prompt runs the chunk scan of the formula sheet") {
    const auto operations = operations_of(model("mamba2-2.7b"), uniform_precision(NumberFormat::bf16),
                                          {PassKind::prefill, StateWrites::final_state, 1.0});
    // Per chunk of Q = 256 tokens: 2GQ²N + 2HQ²P + 4HQPN with G = 1, N = 128, H = 80, P = 64.
    const double q = 256.0;
    const double chunk = 2 * q * q * 128 + 2 * 80 * q * q * 64 + 4 * 80 * q * 64 * 128;
    CHECK(flops(find(operations, "chunk scan"), {1.0, 1024.0, 0.0, 1.0}) == Approx(4 * chunk).epsilon(1e-12));
}

TEST_CASE("recurrent memory agrees with what an engine reports for a linear-attention layer") {
    // SGLang logs 13 slots × 48 × 128 × 128 × 2 B = 19.50 MiB for one layer of Qwen3.5-27B with a bf16 state; its
    // convolution history is logged apart.
    Precision precision = uniform_precision(NumberFormat::bf16);
    const Model target = model("qwen3.5-27b");
    double elements = 0.0;
    for (const LayerKind& kind : target.kinds) {
        for (const Block& block : kind.blocks) {
            if (const auto* delta = std::get_if<GatedDelta>(&block.kind)) {
                elements = recurrent_state(*delta, 1.0).elements;
            }
        }
    }
    CHECK(13.0 * elements * precision.state.per_element().value() / (1024.0 * 1024.0) == 19.5);
}

TEST_CASE("a mixture of experts multiplies active FLOPs and streams the union of its experts") {
    // Mixtral-8x7B: 8 experts, 2 active, 3 matrices of 4096 × 14336.
    const auto operations = operations_of(model("mixtral-8x7b"), uniform_precision(NumberFormat::bf16), {});
    const Operation experts = find(operations, "routed experts");
    const double expert = 3.0 * 4096 * 14336;
    const PassShape shape{3.0, 1.0, 0.0, 1.0};
    CHECK(flops(experts, shape) == 2.0 * 3 * 2 * expert);
    const double touched = 8.0 * (1.0 - 0.75 * 0.75 * 0.75);
    CHECK(experts.bytes.per_expert.value() * expected_experts(experts, 3.0) == Approx(2.0 * expert * touched).epsilon(1e-8));
}

TEST_CASE("tokens of one sequence touch fewer experts than as many sequences") {
    const auto operations = operations_of(model("mixtral-8x7b"), uniform_precision(NumberFormat::bf16), {});
    const Operation experts = find(operations, "routed experts");
    // 3 sequences of 4 tokens choose like 3·(1 + 0.6·3) = 8.4 tokens; 12 sequences of one like 12.
    const auto touched = [&](double sequences, double tokens) {
        return expected_experts(experts, terms_of({sequences, tokens, 0.0, tokens}));
    };
    CHECK(touched(3.0, 4.0) == Approx(8.0 * (1.0 - std::pow(0.75, 8.4))).epsilon(1e-8));
    CHECK(touched(12.0, 1.0) == Approx(8.0 * (1.0 - std::pow(0.75, 12.0))).epsilon(1e-8));
    // Each row is computed all the same.
    CHECK(flops(experts, {3.0, 4.0, 0.0, 4.0}) == flops(experts, {12.0, 1.0, 0.0, 1.0}));
}

TEST_CASE("a kernel that takes one token and 16 heads at a time reads a latent cache again for each") {
    // DeepSeek-V3 on 4 ranks: 32 heads, so two blocks of 16, for each of 5 tokens; plain decoding reads it twice, too.
    const Precision precision = uniform_precision(NumberFormat::bf16);
    PassOptions options{PassKind::decode, StateWrites::final_state, 4.0};
    const auto cached = [&](double tokens) {
        const Operation attention = find(operations_of(model("deepseek-v3"), precision, options), "latent attention");
        const auto bytes = [&](double context) {
            return bytes_of<true, false>(attention, terms_of({1.0, tokens, context, tokens})).value();
        };
        return (bytes(1000.0) - bytes(0.0)) / 1000.0;
    };
    CHECK(cached(5.0) == Approx(576.0 * 2));
    options.latent_heads_per_read = 16.0;
    CHECK(cached(5.0) == Approx(5.0 * 2 * 576 * 2));
    CHECK(cached(1.0) == Approx(2.0 * 576 * 2));
    options.kind = PassKind::prefill;
    CHECK(cached(5.0) == Approx(576.0 * 2));
}

TEST_CASE("each new token reads what it picked, and scores the context for itself") {
    // DeepSeek-V3.2: 2,048 picked latents of 576 values in bf16, and an index key of 128 bytes for each of 10,000 tokens.
    const Precision precision = uniform_precision(NumberFormat::bf16);
    PassOptions options;
    const auto read = [&](const char* name, double tokens) {
        const Operation attention = find(operations_of(model("deepseek-v3.2"), precision, options), name);
        const auto bytes = [&](double context) {
            return bytes_of<true, false>(attention, terms_of({1.0, tokens, context, tokens})).value();
        };
        return bytes(10'000.0) - bytes(0.0);
    };
    for (const double tokens : {1.0, 4.0}) {
        CHECK(read("latent attention", tokens) == Approx(tokens * 2048 * 576 * 2));
        CHECK(read("index scores", tokens) == Approx(tokens * 10'000 * 128));
    }
    options.kind = PassKind::prefill;
    CHECK(read("index scores", 4.0) == Approx(10'000.0 * 128));
}

TEST_CASE("kernels of sparse attention over latents compute 64 heads of a prompt, however few a rank has") {
    const auto of_a_key = [](const char* name, PassKind pass, double least_heads) {
        PassOptions options{pass, StateWrites::final_state, 8.0};
        options.sparse_prompt_heads = least_heads;
        return find(operations_of(model(name), uniform_precision(NumberFormat::bf16), options), "latent attention");
    };
    // DeepSeek-V3.2 has 16 heads on each of 8 ranks: keys of 128 + 64 and values of 128, or latents of 512 + 64 and 512.
    const auto flops = [&](double least_heads) {
        return of_a_key("deepseek-v3.2", PassKind::prefill, least_heads).flops.per_visible.value();
    };
    CHECK(flops(0.0) == 2.0 * 16 * (192 + 128));
    CHECK(flops(64.0) == 2.0 * 64 * (576 + 512));
    CHECK(flops(8.0) == 2.0 * 16 * (576 + 512));
    CHECK(of_a_key("deepseek-v3.2", PassKind::prefill, 64.0).rows_per_token == 64.0);
    CHECK(of_a_key("deepseek-v3.2", PassKind::prefill, 64.0).absorbed);
    CHECK(of_a_key("deepseek-v3.2", PassKind::decode, 64.0).rows_per_token == 16.0);
    CHECK_FALSE(of_a_key("deepseek-v3.2", PassKind::decode, 64.0).absorbed);
    CHECK(of_a_key("deepseek-v3", PassKind::prefill, 64.0).flops.per_visible.value() == 2.0 * 16 * (192 + 128));  // dense
    CHECK(of_a_key("deepseek-v4-flash", PassKind::prefill, 64.0).rows_per_token == 64.0);
    CHECK(of_a_key("deepseek-v4-flash", PassKind::prefill, 0.0).rows_per_token == 8.0);
}

TEST_CASE("two kernels mix residual streams beside their projection, and move as much as a norm for each stream") {
    const Model streams = model("deepseek-v4-flash");
    const Operation mixing = find(operations_of(streams, uniform_precision(NumberFormat::bf16), {}), "norm");
    CHECK(mixing.launches == 2.0);
    CHECK(mixing.bytes.per_token.value() == 4.0 * 4.0 * 4096 * 2);  // four streams, four transfers of the width each
}

TEST_CASE("latent attention caches one latent a token, whatever the number of heads") {
    // DeepSeek-V3: (512 + 64) values a token and layer, 61 layers.
    Bytes cached;
    for (const CacheTerm& term : caches_of(model("deepseek-v3"), uniform_precision(NumberFormat::bf16), 1.0)) {
        cached += term.per_token;
    }
    CHECK(cached.value() == 61.0 * (512 + 64) * 2);
}

TEST_CASE("a group's scale adds its share to every weight") {
    // int4 with one fp16 scale for 128 weights: 4 + 16/128 = 4.125 bits.
    CHECK((Storage{NumberFormat::int4, 128.0, 16.0}).per_element().value() == 4.125 / 8.0);
    // MXFP4: one 8-bit scale for 32 weights: 4.25 bits.
    CHECK((Storage{NumberFormat::fp4, 32.0, 8.0}).per_element().value() == 4.25 / 8.0);
}

TEST_CASE("compressed attention reads a window and one entry for several tokens, or the best of them") {
    Model target = model("qwen3-8b");  // 4,096 wide; its attention is replaced
    CompressedAttention attention;
    attention.heads = 64;
    attention.head_dim = 512;
    attention.q_lora_rank = 1024;
    attention.output_groups = 8;
    attention.output_rank = 1024;
    attention.window = 128;
    const auto scores = [&](Count compression, double top_k, Count index_heads) {
        attention.compression = compression;
        attention.top_k = top_k;
        attention.index_heads = index_heads;
        attention.index_head_dim = index_heads > 0 ? 128 : 0;
        target.kinds.front().blocks.front().kind = attention;
        REQUIRE(problems_of(target).empty());
        return operations_of(target, uniform_precision(NumberFormat::bf16), {});
    };
    // One vector of 512 for all heads, as key and as value: 4·heads·512 FLOPs a visible token, 1,024 bytes a read one.
    const auto entries_read = [&](const std::vector<Operation>& operations, double context) {
        const Operation found = find(operations, "latent attention");
        CHECK(found.flops.per_visible.value() == 4.0 * 64 * 512);
        return (bytes(found, {1.0, 1.0, context, 1.0}) - bytes(found, {1.0, 1.0, 0.0, 1.0})) / 1024.0;
    };
    CHECK(entries_read(scores(0, unlimited, 0), 1000.0) == 128.0);
    CHECK(entries_read(scores(128, unlimited, 0), 12'800.0) == 100.0);
    CHECK(entries_read(scores(4, 512.0, 64), 1000.0) == 250.0);
    CHECK(entries_read(scores(4, 512.0, 64), 100'000.0) == 512.0);
    // All entries stay cached: of 100,000 tokens 25,000 and the window, in each of the layers.
    const std::vector<CacheTerm> caches = caches_of(target, uniform_precision(NumberFormat::bf16), 1.0);
    REQUIRE(caches.size() == 2);
    CHECK(cached_bytes(caches.back(), 100'000.0).value() == 1024.0 * 25'128 * static_cast<double>(target.order.size()));
    // Index keys are 128 bytes of fp8, one for four tokens, all of them read; 64 heads score each.
    const Operation index = find(scores(4, 512.0, 64), "index scores");
    CHECK(index.bytes.per_context.value() == 32.0);
    CHECK(index.flops.per_visible.value() == 2.0 * 64 * 128 / 4);
    // Groups of heads project their 32,768 / 8 outputs to 1,024 each.
    const Operation down = find(scores(0, unlimited, 0), "output down-projection");
    CHECK(down.weight_elements == 64.0 * 512 * 1024);
    CHECK(down.flops.per_token.value() == 2.0 * 64 * 512 * 1024);
}

TEST_CASE("what a layer of attention learns beside its products: norms of queries and keys, a sink for each head of queries") {
    const double products = 4096.0 * (32 + 2 * 8) * 128;
    Model small = model("llama-3-8b");
    auto& attention = std::get<Attention>(small.kinds.front().blocks.front().kind);
    const auto elements = [&] {
        return find(operations_of(small, uniform_precision(NumberFormat::bf16), {}), "qkv").weight_elements;
    };
    CHECK(elements() == products);
    attention.learned_sinks = true;
    CHECK(elements() == products + 32);
    attention.query_key_norm = 2 * 128;
    CHECK(elements() == products + 32 + 2 * 128);
}

}  // namespace operations_test
