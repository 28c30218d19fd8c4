// Do latent attention, linear layers of heads and repeated heads agree with the reference?
#include <catch2/catch.hpp>

#include "kernel_case.h"

namespace kernel_latent_attention_test {

using namespace treeline;
using namespace treeline::testing;
using namespace treeline::kernels;

namespace {

const Backend& backend_of(Side side) { return side == Side::reference ? reference_backend() : backend_under_test(); }

/// `tree` null: a chain. With `first_token` only the tree's last tokens are queries.
void check_attention(const TreeOnBoth* tree, int tree_tokens, int first_token, ElementType type, std::mt19937_64& random) {
    const int sequences = pick(random, {1, 3}), heads = pick(random, {1, 5, 16, 20}), latent = pick(random, {4, 64, 132, 512});
    const int turned = pick(random, {0, 8, 64}), width = latent + turned;
    std::vector<int> contexts;
    for (int sequence = 0; sequence < sequences; ++sequence) {
        contexts.push_back(static_cast<int>(random() % 150));
    }
    const int capacity = 150 + tree_tokens, tokens = tree_tokens - first_token;
    const Both<int> context(contexts);
    const InputRows query(sequences * tokens, heads * width, type, random, -1, 1);
    const InputRows cache(sequences * capacity, width, type, random, -1, 1);
    Output output(sequences * tokens, heads * latent, type);
    for (const Side side : {Side::reference, Side::device}) {
        LatentAttention attention;
        attention.sequences = sequences;
        attention.tokens = tokens;
        attention.heads = heads;
        attention.latent = latent;
        attention.turned = turned;
        attention.query = query.on(side);
        attention.cache = cache.on(side);
        attention.capacity = capacity;
        attention.context = context.on(side);
        attention.tree = tree != nullptr ? tree->on(side) : TreeView{};
        attention.first_token = first_token;
        attention.scale = 2.0F / std::sqrt(static_cast<float>(width));
        attention.output = output.on(side);
        backend_of(side).latent_attention(attention, {});
    }
    INFO(name_of(type) << ", " << sequences << " x " << tokens << " tokens, " << heads << " heads of " << latent << " + "
                       << turned << ", first token " << first_token);
    CHECK(output.relative_error() < tolerance({type}));
}

}  // namespace

TEST_CASE("latent attention agrees with the reference over chains, trees and the last tokens of trees") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    for (const ElementType type : {ElementType::fp32, ElementType::bf16}) {
        for (const int tokens : {1, 4, 33}) {
            check_attention(nullptr, tokens, 0, type, random);
        }
        for (const sim::DraftTree& shape :
             {sim::build_tree(sim::BinaryShape{3}, {}), sim::build_tree(sim::BranchingShape{{3, 2, 2, 6}}, {})}) {
            const TreeOnBoth tree(shape);
            check_attention(&tree, shape.verified_tokens(), 0, type, random);
            check_attention(&tree, shape.verified_tokens(), 3, type, random);
        }
    }
}

TEST_CASE("linear layers of heads and repeated heads agree with the reference, and touch nothing else") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    for (const ElementType type : {ElementType::fp32, ElementType::bf16}) {
        for (const int rows : {1, 3, 40}) {
            const int heads = pick(random, {1, 3, 6}), inputs = pick(random, {5, 16, 128}), outputs = pick(random, {1, 12, 70});
            const int input_stride = inputs + pick(random, {0, 4}), output_stride = outputs + pick(random, {0, 3});
            const InputRows x(rows, heads * input_stride, type, random, -1, 1);
            const InputRows weight(heads * outputs, inputs, type, random, -1, 1);
            Output y(rows, heads * output_stride, type);
            const int copies = pick(random, {1, 2, 4}), width = pick(random, {1, 16, 50});
            const InputRows from(rows, heads * width, type, random, -1, 1);
            Output to(rows, heads * copies * width, type);
            for (const Side side : {Side::reference, Side::device}) {
                backend_of(side).head_linear(
                    {rows, heads, inputs, outputs, x.on(side), input_stride, weight.on(side), y.on(side), output_stride}, {});
            }
            INFO(name_of(type) << ", " << rows << " rows, " << heads << " heads, " << inputs << " -> " << outputs);
            CHECK(y.relative_error(typical_product(inputs)) < tolerance({type}));
            backend_under_test().repeat_heads({rows, heads * copies, copies, width, from.on(Side::device), to.on(Side::device)},
                                              {});
            reference_backend().repeat_heads(
                {rows, heads * copies, copies, width, from.on(Side::reference), to.on(Side::reference)}, {});
            CHECK(to.relative_error() == 0.0);
        }
    }
}

TEST_CASE("latent attention that makes no sense is refused in a sentence") {
    LatentAttention attention;
    attention.latent = 1028;
    CHECK_THROWS_WITH(backend_under_test().latent_attention(attention, {}),
                      "latent attention: the latent is not a multiple of 4 up to 1024, or the turned part not one of 4");
    HeadLinear linear;
    linear.outputs = 2;
    CHECK_THROWS_WITH(backend_under_test().head_linear(linear, {}), "linear layer of heads: heads overlap");
}

}  // namespace kernel_latent_attention_test
