// Does the decoder on a CUDA device produce the tokens of plain decoding on the CPU, kernel by kernel and in graphs?
#include <catch2/catch.hpp>

#include "lossless_check.h"
#include "numerics/quantile.h"

using namespace treeline;
using namespace treeline::testing;
using namespace treeline::decoder;

namespace {

constexpr GraphUse all_graph_uses[] = {GraphUse::none, GraphUse::phases, GraphUse::round};

/// Enough rounds for graphs to be recorded and replayed, and few enough where the device is emulated.
DecodeSetup short_setup(const sim::Model& target) {
    DecodeSetup setup = small_setup(target);
    setup.batch = 2;
    setup.new_tokens = 12;
    return setup;
}

void check_hybrid(GraphUse graphs) {
    INFO("graphs " << static_cast<int>(graphs));
    check_all_ways(yardstick(short_setup(tiny_model("hybrid"))), SharedLayers{.layers = 2}, chain_of(3),
                   {decoder::DeviceKind::cuda, graphs});
}

}  // namespace

TEST_CASE("on the device, too, no way of speculating changes a token", "[on_device]") {
    for (const char* architecture : {"transformer", "mamba2"}) {
        const Yardstick plain_run = yardstick(short_setup(tiny_model(architecture)));
        check_all_ways(plain_run, SharedLayers{.layers = 2}, shapes()[1], {decoder::DeviceKind::cuda, GraphUse::phases});
    }
    check_hybrid(GraphUse::round);
}

TEST_CASE("on the device a hybrid's tokens do not depend on graphs", "[on_device][other_graphs]") {
    check_hybrid(GraphUse::none);
    check_hybrid(GraphUse::phases);
}

TEST_CASE("on the device other drafters, wide trees and long prompts change no token", "[on_device]") {
    DecodeSetup setup = short_setup(tiny_model("hybrid"));
    setup.batch = 1;
    setup.new_tokens = 6;
    const Yardstick hybrid = yardstick(setup);
    check_all_ways(hybrid, OwnModel{tiny_model("mamba2")}, chain_of(2), {decoder::DeviceKind::cuda, GraphUse::round});
    check_all_ways(hybrid, NgramLookup{}, chain_of(2), {decoder::DeviceKind::cuda, GraphUse::phases});
    setup.prompt_tokens = 71;
    setup.new_tokens = 3;
    check_all_ways(yardstick(setup), SharedLayers{.layers = 2}, shapes()[2], {decoder::DeviceKind::cuda, GraphUse::none});
}

TEST_CASE("on the device windows and sparse drafters change no token, and long contexts are cut into parts", "[on_device]") {
    sim::Model windowed = tiny_model("transformer");
    windowed.kinds.front().blocks.front() = attention_block(6);
    check_all_ways(yardstick(short_setup(windowed)), SharedLayers{.layers = 2}, chain_of(3),
                   {decoder::DeviceKind::cuda, GraphUse::phases});
    DecodeSetup setup = short_setup(tiny_model("transformer"));
    setup.context_tokens = 300;  // two parts: attention_splits()
    setup.batch = 1;
    setup.new_tokens = 6;
    check_all_ways(yardstick(setup), SharedLayers{.layers = 4, .window = 4, .sink = 2}, shapes()[1],
                   {decoder::DeviceKind::cuda, GraphUse::phases});
}

TEST_CASE("on the device given acceptance times every phase, in bf16", "[on_device]") {
    for (const GraphUse graphs : all_graph_uses) {
        DecodeSetup setup = short_setup(tiny_model("hybrid"));
        setup.new_tokens = 21;  // seven rounds: two until graphs are recorded, and three more are not timed
        setup.device = decoder::DeviceKind::cuda;
        setup.graphs = graphs;
        setup.elements = kernels::ElementType::bf16;
        setup.drafter = SharedLayers{.layers = 1};
        setup.tree = chain_of(3);
        setup.rollback = sim::Rollback::replay;
        setup.given_acceptance = GivenAcceptance{{1.0, 1.0, 0.0}, {}};
        const DecodeResult result = decode(setup);
        CHECK(result.accept_length() == 3.0);
        CHECK(result.rounds == 7);
        REQUIRE(!result.seconds.round.empty());
        CHECK(numerics::quantile(result.seconds.round, 0.5) > 0.0);
        CHECK(result.seconds.verify.empty() == (graphs == GraphUse::round));
        for (const double seconds : result.seconds.verify) {
            CHECK(seconds > 0.0);
        }
    }
}
