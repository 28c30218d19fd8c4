// Does the convolution follow chains and trees as the reference does, and do its windows move on by what was accepted?
#include <catch2/catch.hpp>

#include "kernel_case.h"

namespace kernel_convolution_test {

using namespace treeline;
using namespace treeline::testing;
using namespace treeline::kernels;

namespace {

struct ConvolutionCase {
    ConvolutionShape shape;
    ElementType type;
    InputRows input, window;
    Both<float> weight, bias;

    ConvolutionCase(ConvolutionShape of, ElementType element, std::mt19937_64& random)
        : shape(of),
          type(element),
          input(of.sequences * of.tokens, of.channels, element, random, -1, 1),
          window(of.sequences * (of.width - 1), of.channels, element, random, -1, 1, 0),
          weight(random_floats(random, std::size_t(of.width) * std::size_t(of.channels), -1, 1)),
          bias(random_floats(random, std::size_t(of.channels), -1, 1)) {}

    [[nodiscard]] ConvolutionUpdate update(Side side, Output& output) const {
        ConvolutionUpdate result;
        result.shape = shape;
        result.input = input.on(side);
        result.weight = weight.on(side);
        result.bias = bias.on(side);
        result.window = window.data(side);
        result.output = output.on(side);
        return result;
    }
    [[nodiscard]] Output new_output() const { return {shape.sequences * shape.tokens, shape.channels, type}; }
    [[nodiscard]] std::size_t window_elements() const {
        return std::size_t(shape.sequences) * std::size_t(shape.width - 1) * std::size_t(shape.channels);
    }
};

/// Windows on the device are compared bit by bit: they are copies of inputs.
std::vector<std::byte> device_bytes(const void* data, std::size_t bytes) {
    std::vector<std::byte> result(bytes);
    backend_under_test().download(result.data(), data, bytes, {});
    return result;
}

}  // namespace

TEST_CASE("the convolution of chains agrees with the reference, for one token and several") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    for (const ElementType type : {ElementType::fp32, ElementType::bf16}) {
        for (const int tokens : {1, 2, 5, 9}) {
            const ConvolutionShape shape{pick(random, {1, 3, 64}), tokens, pick(random, {8, 120, 704, 1288}),
                                         pick(random, {2, 4, 5})};
            const ConvolutionCase data(shape, type, random);
            Output output = data.new_output();
            Both<std::byte> after(std::vector<std::byte>(data.window_elements() * bytes_of(type)));
            ConvolutionUpdate update = data.update(Side::reference, output);
            update.window_after = after.on(Side::reference);
            reference_backend().convolution_update(update, {});
            update = data.update(Side::device, output);
            update.window_after = after.on(Side::device);
            backend_under_test().convolution_update(update, {});
            INFO(name_of(type) << ", " << shape.sequences << " x " << tokens << " tokens, " << shape.channels << " channels");
            CHECK(output.relative_error() < tolerance({type}));
            CHECK(after.from_device() == after.host());
        }
    }
}

TEST_CASE("the convolution of trees agrees with the reference; on a chain it is the chain's") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    for (const sim::DraftTree& shape : test_trees(random)) {
        for (const ElementType type : {ElementType::fp32, ElementType::bf16}) {
            const TreeOnBoth tree(shape);
            const ConvolutionCase data({pick(random, {1, 2, 7}), shape.verified_tokens(), pick(random, {24, 640}), 4}, type,
                                       random);
            Output output = data.new_output();
            ConvolutionUpdate update = data.update(Side::reference, output);
            update.tree = tree.on(Side::reference);
            reference_backend().convolution_update(update, {});
            update = data.update(Side::device, output);
            update.tree = tree.on(Side::device);
            backend_under_test().convolution_update(update, {});
            CHECK(output.relative_error() < tolerance({type}));
            if (shape.leaves() == 1) {
                Output chain = data.new_output();
                backend_under_test().convolution_update(data.update(Side::device, chain), {});
                CHECK(chain.device_values() == output.device_values());
            }
        }
    }
}

TEST_CASE("advancing a window by accepted tokens is a direct run over them") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    for (const ElementType type : {ElementType::fp32, ElementType::bf16}) {
        // Of three sequences with six tokens each, the first accepts all, the second two, the third none.
        const ConvolutionCase data({3, 6, 136, 4}, type, random);
        const std::size_t bytes = data.window_elements() * bytes_of(type);
        const auto* start = static_cast<const std::byte*>(data.window.data(Side::reference));
        const Both<int> row_of({0, 1, 2, 3, 4, 5, 6, 9, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1});
        Both<std::byte> window(std::vector<std::byte>(start, start + bytes));
        ConvolutionAdvance advance{data.shape, data.input.on(Side::reference), row_of.on(Side::reference),
                                   window.on(Side::reference)};
        reference_backend().convolution_advance(advance, {});
        advance = {data.shape, data.input.on(Side::device), row_of.on(Side::device), window.on(Side::device)};
        backend_under_test().convolution_advance(advance, {});
        CHECK(window.from_device() == window.host());

        // The update of all six tokens, in place, leaves the first sequence the same window.
        Output output = data.new_output();
        Both<std::byte> in_place(std::vector<std::byte>(start, start + bytes));
        ConvolutionUpdate update = data.update(Side::device, output);
        update.window = update.window_after = in_place.on(Side::device);
        backend_under_test().convolution_update(update, {});
        backend_under_test().wait({});
        CHECK(device_bytes(in_place.on(Side::device), bytes / 3) == device_bytes(window.on(Side::device), bytes / 3));
        CHECK(std::memcmp(window.host().data() + bytes / 3 * 2, start + bytes / 3 * 2, bytes / 3) == 0);
    }
}

TEST_CASE("the convolution refuses arguments that contradict each other") {
    std::mt19937_64 random(1);
    const ConvolutionCase data({1, 2, 16, 4}, ElementType::fp32, random);
    Output output = data.new_output();
    ConvolutionUpdate update = data.update(Side::device, output);
    const TreeOnBoth tree(sim::DraftTree::from_parents({0}));
    update.tree = tree.on(Side::device);
    update.window_after = output.data(Side::device);
    CHECK_THROWS_WITH(backend_under_test().convolution_update(update, {}),
                      "convolution update: a tree has no single window after its last token");
    update.tree = {};
    update.shape.width = 9;
    CHECK_THROWS_WITH(backend_under_test().convolution_update(update, {}), "convolution update: the width is not 2 to 8");
}

}  // namespace kernel_convolution_test
