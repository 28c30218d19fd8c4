// Does attention see exactly the positions it should, and agree with the reference on them?
#include <catch2/catch.hpp>

#include "kernel_case.h"

namespace kernel_attention_test {

using namespace treeline;
using namespace treeline::testing;
using namespace treeline::kernels;

namespace {

struct AttentionCase {
    AttentionShape shape;
    ElementType type;
    int capacity;
    InputRows query, keys, values;
    Both<int> context;

    AttentionCase(AttentionShape of, std::vector<int> contexts, ElementType element, std::mt19937_64& random)
        : shape(of),
          type(element),
          capacity(*std::max_element(contexts.begin(), contexts.end()) + of.tokens + 3),
          query(of.sequences * of.tokens, of.query_heads * of.head_dim, element, random, -1, 1),
          keys(of.sequences * capacity, of.kv_heads * of.head_dim, element, random, -1, 1),
          values(of.sequences * capacity, of.kv_heads * of.head_dim, element, random, -1, 1),
          context(std::move(contexts)) {}

    [[nodiscard]] Attention on(Side side, Output& output) const {
        Attention result;
        result.shape = shape;
        result.query = query.on(side);
        result.keys = keys.on(side);
        result.values = values.on(side);
        result.capacity = capacity;
        result.context = context.on(side);
        // Scores of some size, so that the softmax is not a plain mean.
        result.scale = 0.5F;
        result.output = output.on(side);
        return result;
    }
    [[nodiscard]] Output new_output() const {
        return {shape.sequences * shape.tokens, shape.query_heads * shape.head_dim, type};
    }
};

std::vector<int> random_contexts(std::mt19937_64& random, int sequences) {
    std::vector<int> contexts;
    for (int i = 0; i < sequences; ++i) {
        contexts.push_back(pick(random, {0, 1, 63, 64, 65, 130, 300}));
    }
    return contexts;
}

}  // namespace

TEST_CASE("decoding and verifying chains agree with the reference, with grouped heads and windows") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    for (const ElementType type : {ElementType::fp32, ElementType::bf16}) {
        for (const int tokens : {1, 4, 9}) {
            for (const int window : {0, 5, 70}) {
                const int kv_heads = pick(random, {1, 2}), sequences = pick(random, {1, 3, 16});
                const AttentionShape shape{sequences, tokens, kv_heads * pick(random, {1, 3, 4}), kv_heads,
                                           pick(random, {64, 80, 128, 256})};
                const AttentionCase data(shape, random_contexts(random, sequences), type, random);
                Output output = data.new_output();
                Attention attention = data.on(Side::reference, output);
                attention.window = window;
                attention.sink = window > 0 ? 4 : 0;
                reference_backend().attention(attention, {});
                const int sink = attention.sink;
                attention = data.on(Side::device, output);
                attention.window = window;
                attention.sink = sink;
                backend_under_test().attention(attention, {});
                INFO(name_of(type) << ", " << sequences << " x " << tokens << " tokens, heads " << shape.query_heads << "/"
                                   << kv_heads << " x " << shape.head_dim << ", window " << window);
                CHECK(output.relative_error() < tolerance({type}));
            }
        }
    }
}

TEST_CASE("verifying trees agrees with the reference; on a chain it is the chain's") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    for (const sim::DraftTree& shape : test_trees(random)) {
        const ElementType type = random() % 2 == 0 ? ElementType::fp32 : ElementType::bf16;
        const int sequences = pick(random, {1, 2, 3});
        const TreeOnBoth tree(shape);
        const AttentionCase data({sequences, shape.verified_tokens(), 4, 2, 64}, random_contexts(random, sequences), type,
                                 random);
        for (const int window : {0, 3}) {
            Output output = data.new_output();
            for (const Side side : {Side::reference, Side::device}) {
                Attention attention = data.on(side, output);
                attention.tree = tree.on(side);
                attention.window = window;
                attention.sink = window > 0 ? 2 : 0;
                (side == Side::reference ? reference_backend() : backend_under_test()).attention(attention, {});
            }
            INFO(name_of(type) << ", " << shape.verified_tokens() << " tokens, window " << window);
            CHECK(output.relative_error() < tolerance({type}));
            if (shape.leaves() == 1 && window == 0) {
                Output chain = data.new_output();
                backend_under_test().attention(data.on(Side::device, chain), {});
                CHECK(chain.device_values() == output.device_values());
            }
        }
    }
}

TEST_CASE("a window that reaches from the sink to the last token hides nothing") {
    std::mt19937_64 random(test_seed());
    // The last of 5 tokens on 100 is in place 104: with a sink of 4 it must see places 4 … 104, which are 101.
    const AttentionCase data({1, 5, 4, 2, 64}, {100}, ElementType::fp32, random);
    Output full = data.new_output(), windowed = data.new_output(), shorter = data.new_output();
    Attention attention = data.on(Side::device, full);
    backend_under_test().attention(attention, {});
    attention.output = windowed.on(Side::device);
    attention.window = 101;
    attention.sink = 4;
    backend_under_test().attention(attention, {});
    CHECK(windowed.device_values() == full.device_values());
    attention.output = shorter.on(Side::device);
    attention.window = 100;
    backend_under_test().attention(attention, {});
    CHECK(shorter.device_values() != full.device_values());
}

TEST_CASE("splitting the context changes nothing, also where a split sees nothing") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    const AttentionCase data({3, 4, 6, 2, 64}, {0, 70, 300}, ElementType::fp32, random);
    for (const int splits : {2, 7, 40}) {
        for (const int window : {0, 20}) {
            Output output = data.new_output();
            Both<float> scratch(random_floats(random, attention_scratch_floats(data.shape, splits), 0, 1));
            for (const Side side : {Side::reference, Side::device}) {
                Attention attention = data.on(side, output);
                attention.window = window;
                attention.sink = window > 0 ? 4 : 0;
                attention.splits = splits;
                attention.scratch = scratch.on(side);
                (side == Side::reference ? reference_backend() : backend_under_test()).attention(attention, {});
            }
            INFO(splits << " splits, window " << window);
            CHECK(output.relative_error() < 1e-5);
        }
    }
}

TEST_CASE("the last tokens of a tree, on those before in the caches, see what they see in a pass over all") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    for (const sim::DraftTree& shape : test_trees(random)) {
        const int all = shape.verified_tokens();
        const int first = shape.level_range(static_cast<int>(random() % std::uint64_t(shape.depth() + 1))).first;
        const AttentionCase data({1, all, 6, 2, 32}, random_contexts(random, 1), ElementType::fp32, random);
        const TreeOnBoth tree(shape);
        const int window = pick(random, {0, 0, 40});
        Output full = data.new_output(), last(all - first, 6 * 32, ElementType::fp32);
        for (const Side side : {Side::reference, Side::device}) {
            Attention attention = data.on(side, full);
            attention.tree = tree.on(side);
            attention.window = window;
            const Backend& backend = side == Side::reference ? reference_backend() : backend_under_test();
            backend.attention(attention, {});
            attention.first_token = first;
            attention.shape.tokens = all - first;
            attention.query.data = static_cast<const float*>(attention.query.data) + first * attention.query.stride;
            attention.output = last.on(side);
            backend.attention(attention, {});
        }
        INFO(all << " tokens, from " << first << " on");
        CHECK(last.relative_error() < 1e-5);
        const std::vector<double> of_all = full.device_values(), of_last = last.device_values();
        for (std::size_t i = 0; i < of_last.size(); ++i) {
            REQUIRE(of_last[i] == Approx(of_all[std::size_t(first) * 6 * 32 + i]).margin(1e-5));
        }
    }
}

TEST_CASE("heads of every width agree with the reference, for few query rows and many") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    for (int head_dim = 8; head_dim <= 256; head_dim += 8) {
        for (const int tokens : {1, 2, 5}) {  // 3, 6 and 15 query rows of a KV head
            const AttentionCase data({1, tokens, 3, 1, head_dim}, {40}, ElementType::fp32, random);
            Output output = data.new_output();
            reference_backend().attention(data.on(Side::reference, output), {});
            backend_under_test().attention(data.on(Side::device, output), {});
            INFO("heads of " << head_dim << ", " << tokens << " tokens");
            CHECK(output.relative_error() < 1e-5);
        }
    }
}

TEST_CASE("attention refuses arguments that contradict each other") {
    std::mt19937_64 random(1);
    const AttentionCase data({1, 1, 4, 2, 64}, {3}, ElementType::fp32, random);
    Output output = data.new_output();
    Attention attention = data.on(Side::device, output);
    attention.shape.kv_heads = 3;
    CHECK_THROWS_WITH(backend_under_test().attention(attention, {}),
                      "attention: the query heads are not a multiple of the KV heads");
    attention = data.on(Side::device, output);
    attention.keys.type = ElementType::bf16;
    CHECK_THROWS_WITH(backend_under_test().attention(attention, {}), Catch::Contains("keys and values are not of one type"));
    attention = data.on(Side::device, output);
    attention.first_token = 1;
    CHECK_THROWS_WITH(backend_under_test().attention(attention, {}), "attention: a first token that is no token of a tree");
}

}  // namespace kernel_attention_test
