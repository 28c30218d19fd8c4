// What recurrent layers keep, copy, write and replay, and what a tree's accepted path moves in caches: a model of three Mamba-2
// layers and two of attention on two ranks. Activations and caches are bf16 (2 bytes), states fp32 (4).
#include <catch2/catch.hpp>

#include "sim/operations.h"

namespace states_and_copies_test {

using namespace treeline;
using namespace treeline::sim;

namespace {

constexpr double ranks = 2.0;

/// 4 heads of 3 with states of 5 in 2 groups, and 4 heads of queries and 2 of keys of 8. On one of two ranks a layer's state
/// has 2·3·5 elements, its convolution keeps 3 tokens of 12 / 2 + 2·2·5 / 2 channels.
Model hybrid(Count conv_width = 4) {
    Mamba2 mamba;
    mamba.heads = 4;
    mamba.head_dim = 3;
    mamba.state = 5;
    mamba.groups = 2;
    mamba.conv_width = conv_width;
    Attention attention;
    attention.query_heads = 4;
    attention.kv_heads = 2;
    attention.head_dim = 8;
    Model model;
    model.width = 7;
    model.vocabulary_size = 100;
    model.kinds = {{"mamba", {{mamba}}, 0, Residence::device}, {"attention", {{attention}}, 0, Residence::device}};
    model.order = {0, 1, 0, 1, 0};
    return model;
}

const Precision& bf16() {
    static const Precision precision = checkpoint_precision(NumberFormat::bf16, NumberFormat::bf16);
    return precision;
}

constexpr double state = 4.0 * 30, history = 2.0 * 16 * 3;

}  // namespace

TEST_CASE("recurrent memory is a state and a history of each layer, and what replay needs of a token") {
    const RecurrentMemory memory = recurrent_memory(hybrid(), bf16(), ranks);
    CHECK(memory.state == Bytes(3 * (state + history)));
    CHECK(memory.replay_per_token == Bytes(3 * 2.0 * ((6 + 5 + 2) + 16)));  // x, B and dt; inputs of the convolution
    Model on_host = hybrid();
    on_host.kinds.front().residence = Residence::host;
    CHECK(recurrent_memory(on_host, bf16(), ranks).state == Bytes(0.0));
    on_host.kinds.front().residence = Residence::experts_on_host;
    CHECK(recurrent_memory(on_host, bf16(), ranks).state == memory.state);
}

TEST_CASE("replay advances a state over tokens, in a pass of its own or within the next verification") {
    const std::vector<Operation> own = replay_operations(hybrid(), bf16(), ranks, Replay::own_pass);
    REQUIRE(own.size() == 1);
    CHECK(own[0].count == 3.0);
    CHECK(own[0].launches == 1.0);
    CHECK(own[0].bytes.per_sequence == Bytes(2 * state));
    CHECK(own[0].bytes.per_token == Bytes(2.0 * (6 + 5 + 2)));
    CHECK(own[0].flops.per_token == Flops(3.0 * 30));
    CHECK(own[0].outputs == 6.0);
    CHECK(own[0].items.per_sequence == 2.0);
    CHECK(own[0].sequential);
    const std::vector<Operation> within = replay_operations(hybrid(), bf16(), ranks, Replay::within_verification);
    CHECK(within[0].launches == 0.0);
    CHECK(within[0].bytes.per_sequence == Bytes(0.0));
    CHECK(within[0].bytes.per_token == own[0].bytes.per_token);
}

TEST_CASE(
    "a snapshot copies state and history of each layer, in a kernel each; a scan that writes a state has none of its own") {
    const std::vector<Operation> copies = state_copy_operations(hybrid(), bf16(), ranks);
    REQUIRE(copies.size() == 1);
    CHECK(copies[0].count == 3.0);
    CHECK(copies[0].launches == 2.0);
    CHECK(copies[0].bytes.per_sequence == Bytes(state + history));              // read
    CHECK(copies[0].bytes.per_token == Bytes(state + history));                 // and written
    CHECK(state_copy_operations(hybrid(1), bf16(), ranks)[0].launches == 1.0);  // no history
    const std::vector<Operation> writes = state_write_operations(hybrid(), bf16(), ranks);
    REQUIRE(writes.size() == 1);
    CHECK(writes[0].launches == 0.0);
    CHECK(writes[0].bytes.per_sequence == Bytes(state));
    CHECK(writes[0].bytes.per_token == Bytes(0.0));
}

TEST_CASE("an accepted path moves what is cached of a token, read and written, in each layer of attention") {
    const std::vector<Operation> moves = cache_compaction_operations(hybrid(), bf16(), ranks);
    REQUIRE(moves.size() == 1);
    CHECK(moves[0].name == "attention: attention, cache compaction");
    CHECK(moves[0].count == 2.0);
    CHECK(moves[0].kind == OperationKind::element_wise);
    CHECK(moves[0].bytes.per_token == Bytes(2.0 * (2.0 * (8 + 8))));  // one head of keys and one of values
    const std::vector<CacheTerm> caches = caches_of(hybrid(), bf16(), ranks);
    REQUIRE(caches.size() == 1);
    CHECK(cached_bytes(caches[0], 10.0) == Bytes(10 * 2 * 2.0 * (8 + 8)));
}

TEST_CASE("layers that share their weights store them once, and run them each time") {
    Model shared = hybrid();
    const Count apart = body_parameters(shared), used = active_body_parameters(shared);
    shared.kinds.front().distinct_copies = 1;
    // A layer of Mamba-2: from 7 to 12 + 32 + 4 and from 12 to 7; a convolution of 32 channels, 4 wide with a bias; A, D and a
    // bias for each of 4 heads; the norms of 12 and 7.
    const Count layer = 7 * 48 + 12 * 7 + 32 * 5 + 3 * 4 + 12 + 7;
    CHECK(apart - body_parameters(shared) == 2 * layer);
    CHECK(active_body_parameters(shared) == used);
    CHECK(used == apart);
    CHECK(parameter_count(shared) == body_parameters(shared) + 2 * 7 * 100 + 7);  // embedding, head, the last norm
    CHECK(stored_weights(shared, bf16(), 1.0).value() < stored_weights(hybrid(), bf16(), 1.0).value());
    shared.order = {1, 1};
    CHECK(body_parameters(shared) == apart - 3 * layer);  // layers that do not occur
}

TEST_CASE("norms of a block: each moves the width, a vector or two of it are learned, and none are run where there are none") {
    Model model;
    model.width = 7;
    model.vocabulary_size = 100;
    model.order = {0};
    const auto norms = [&](const BlockKind& kind, Count runs, Count vectors) {
        model.kinds = {{"layer", {{kind, runs, vectors}}, 0, Residence::device}};
        return operations_of(model, bf16(), {}).at(1);
    };
    const Operation three = norms(Mlp{5}, 3, 2);
    CHECK(three.name == "layer: norm");
    CHECK(three.outputs == 21.0);
    CHECK(three.launches == 3.0);
    CHECK(three.weight_elements == 14.0);
    CHECK(three.active_elements == 14.0);
    CHECK(three.stored == Bytes(28.0));
    CHECK(norms(Projection{7, 7}, 3, 2).launches == 2.0);  // mixed in two kernels
    CHECK(norms(Projection{7, 7}, 1, 2).launches == 1.0);
    CHECK(norms(Mlp{5}, 0, 1).name == "layer: norm");
    CHECK(norms(Mlp{5}, 1, 0).name == "layer: norm");
    CHECK(norms(Mlp{5}, 0, 0).name == "layer: gate and up projection");
}

}  // namespace states_and_copies_test
