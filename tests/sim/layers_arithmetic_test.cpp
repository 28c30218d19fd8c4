// Do layers of a few odd numbers on two ranks have the FLOPs and bytes of docs/cost-model.md, section 1? Weights are fp8 (1
// byte), activations bf16 (2), recurrent states fp32 (4), the width of the model 7.
#include <catch2/catch.hpp>

#include <algorithm>

#include "one_layer.h"

namespace layers_arithmetic_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

/// Inputs and outputs of the whole layer, from its weights and FLOPs on two ranks.
void check_linear(const Operation& operation, double in, double out) {
    INFO(operation.name);
    CHECK(operation.kind == OperationKind::linear);
    CHECK(operation.weight_elements == in * out);
    CHECK(operation.active_elements == in * out);
}

/// One state of 30 elements, chunks of 8.
RecurrentState plain_state() {
    RecurrentState state;
    state.elements = 30.0;
    state.inputs = 11.0;
    state.outputs = 6.0;
    state.heads = 2.0;
    state.step_flops = 100.0;
    state.chunk = 8.0;
    state.pair_flops = 22.0;
    state.chunk_token_flops = 120.0;
    state.tree_pair_flops = 24.0;
    state.tree_token_flops = 60.0;
    state.pair_scratch_bytes = 16.0;
    return state;
}

}  // namespace

TEST_CASE("a linear layer is cut by its outputs, by its inputs or not at all") {
    const auto layer = [](bool bias, Cut cut) { return linear(on_ranks(2.0), "x", 6.0, 10.0, bias, cut); };
    const Operation column = layer(true, Cut::column);
    CHECK(column.weight_elements == 70.0);
    CHECK(column.active_elements == 70.0);
    CHECK(column.stored == Bytes(6 * 5 + 2.0 * 5));
    CHECK(column.bytes.fixed == column.stored);
    CHECK(column.bytes.per_token == Bytes(2.0 * (6 + 5)));
    CHECK(column.flops.per_token == Flops(2.0 * 6 * 5));
    CHECK(column.inputs == 6.0);
    CHECK(column.outputs == 5.0);
    const Operation row = layer(false, Cut::row);
    CHECK(row.weight_elements == 60.0);
    CHECK(row.stored == Bytes(3 * 10));
    CHECK(row.bytes.per_token == Bytes(2.0 * (3 + 10)));
    CHECK(row.flops.per_token == Flops(2.0 * 3 * 10));
    CHECK(layer(false, Cut::none).flops.per_token == Flops(2.0 * 6 * 10));
    CHECK(per_rank(5.0, 2.0) == 3.0);
    CHECK(per_rank(1.0, 4.0) == 1.0);
}

TEST_CASE("element-wise kernels: how often each value moves, and its FLOPs") {
    const LayerContext context = on_ranks(1.0);
    CHECK(residual_norm(context, "norm", 10.0).bytes.per_token == Bytes(2.0 * 4 * 10));
    CHECK(residual_norm(context, "norm", 10.0).flops.per_token == Flops(4.0 * 10));
    CHECK(gated_norm(context, 10.0).bytes.per_token == Bytes(2.0 * 3 * 10));
    CHECK(gated_norm(context, 10.0).flops.per_token == Flops(8.0 * 10));
    CHECK(rotary_embedding(context, 10.0).bytes.per_token == Bytes(2.0 * 2 * 10));
    CHECK(rotary_embedding(context, 10.0).flops.per_token == Flops(6.0 * 10));
    CHECK(activation(context, "", 512.0, true).bytes.per_token == Bytes(2.0 * 3 * 512));
    CHECK(activation(context, "", 512.0, false).bytes.per_token == Bytes(2.0 * 2 * 512));
    CHECK(activation(context, "", 512.0, true).flops.per_token == Flops(5.0 * 512));
    CHECK(activation(context, "", 512.0, true).items.per_row == 0.5);
    CHECK(activation(context, "", 512.0, true).outputs == 512.0);
}

TEST_CASE("collectives of a layer: 2(t - 1)/t of a sum, (t - 1)/t of a gathering, nothing on one rank") {
    std::vector<Operation> operations;
    append_all_reduce(on_ranks(1.0), 10.0, operations);
    append_all_gather(on_ranks(1.0), 10.0, true, operations);
    CHECK(operations.empty());
    append_all_reduce(on_ranks(4.0), 10.0, operations);
    append_all_gather(on_ranks(4.0), 10.0, true, operations);
    append_all_gather(on_ranks(4.0), 10.0, false, operations);
    REQUIRE(operations.size() == 3);
    CHECK(operations[0].bytes.per_token == Bytes(2.0 * 1.5 * 10));
    CHECK(operations[0].ranks == 4.0);
    CHECK(operations[1].bytes.per_logit == Bytes(2.0 * 0.75 * 10));
    CHECK(operations[2].bytes.per_token == Bytes(2.0 * 0.75 * 10));
    CHECK(operations[2].ranks == 4.0);
}

TEST_CASE("a dense network and a table") {
    const auto gated = operations_with(Mlp{12, true, true, 0}, on_ranks(2.0));
    CHECK(named(gated, "gate and up projection").weight_elements == 7.0 * 24 + 24);
    CHECK(named(gated, "activation").outputs == 6.0);
    CHECK(named(gated, "down projection").weight_elements == 12.0 * 7 + 7);
    CHECK(named(gated, "all-reduce").bytes.per_token == Bytes(2.0 * 7));
    check_linear(named(operations_with(Mlp{12, false, false, 9}, on_ranks(2.0)), "up projection"), 9, 12);
    LookupTable table;
    table.rows = 100;
    table.width = 5;
    table.lookups = 3;
    const Operation look_up = operations_with(table, on_ranks(2.0)).front();
    CHECK(look_up.weight_elements == 500.0);
    CHECK(look_up.active_elements == 15.0);
    CHECK(look_up.stored == Bytes(2.0 * 250));
    CHECK(look_up.bytes.per_token == Bytes(2.0 * 15 + 2.0 * 15));  // read and handed on
}

TEST_CASE("embedding and head of a vocabulary of 100") {
    Model model;
    model.width = 7;
    model.vocabulary_size = 100;
    model.final_norm_vectors = 2;
    std::vector<Operation> operations;
    append_embedding(model, on_ranks(2.0), operations);
    REQUIRE(operations.size() == 2);
    CHECK(operations[0].weight_elements == 700.0);
    CHECK(operations[0].stored == Bytes(2.0 * 350));
    CHECK(operations[0].bytes.per_token == Bytes(2.0 * 7 + 2.0 * 7));
    CHECK(operations[1].bytes.per_token == Bytes(2.0 * 7));
    CHECK(operations[1].part == ModelPart::embedding);
    operations.clear();
    append_head(model, on_ranks(2.0), operations);
    REQUIRE(operations.size() == 3);
    CHECK(operations[0].weight_elements == 14.0);
    CHECK(operations[0].stored == Bytes(28.0));
    CHECK(operations[1].weight_elements == 700.0);
    CHECK(operations[1].stored == Bytes(2.0 * 350));
    CHECK(operations[1].flops.per_logit == Flops(2.0 * 350));
    CHECK(operations[1].bytes.per_logit == Bytes(2.0 * 7 + 4.0 * 50));
    CHECK(operations[1].outputs == 50.0);
    CHECK(operations[2].bytes.per_logit == Bytes(2.0 * 0.5 * 100));
    CHECK(operations[2].part == ModelPart::head);
    model.tied_embeddings = true;
    operations.clear();
    append_head(model, on_ranks(2.0), operations);
    CHECK(operations[1].weight_elements == 0.0);
    CHECK(operations[1].active_elements == 700.0);
    CHECK(operations[1].stored == Bytes(0.0));
    CHECK(operations[1].bytes.fixed == Bytes(2.0 * 350));
}

TEST_CASE("Mamba-1: 12 channels with states of 5") {
    Mamba1 mamba;
    mamba.inner = 12;
    mamba.state = 5;
    mamba.dt_rank = 3;
    mamba.inner_norms = true;
    const RecurrentState state = recurrent_state(mamba, 2.0);
    CHECK(state.elements == 6 * 5.0);
    CHECK(state.inputs == 4 * 6 + 2 * 5.0);
    CHECK(state.outputs == 6.0);
    CHECK(state.heads == 0.0);
    CHECK(state.step_flops == 6 * (7 * 5 + 9.0));
    CHECK(state.replay_inputs == 2 * 6 + 5.0);
    CHECK(state.replay_flops == 6 * 5 * 5.0);
    CHECK(state.conv_elements == 6 * 3.0);
    CHECK(state.conv_inputs == 6.0);
    CHECK(state.chunk == 0.0);
    const auto operations = operations_with(mamba, on_ranks(2.0));
    check_linear(named(operations, "in projection"), 7, 24);
    const Operation selection = named(operations, "dt, B and C projection");
    CHECK(selection.weight_elements == 12 * 13 + 13.0);
    CHECK(selection.active_elements == 12 * 13 + 13.0);
    CHECK(selection.stored == Bytes(6 * 13 + 2.0 * 13));
    CHECK(selection.bytes.fixed == Bytes(6 * 13 + 2.0 * 13));
    CHECK(named(operations, "all-reduce").bytes.per_token == Bytes(2.0 * 13));
    CHECK(named(operations, "dt up-projection").weight_elements == 3 * 12 + 12.0);
    const Operation scan = named(operations, "state scan");
    CHECK(scan.weight_elements == 12 * 5 + 12.0);
    CHECK(scan.active_elements == 12 * 5 + 12.0);
    CHECK(scan.stored == Bytes(4.0 * (6 * 5 + 6)));
    CHECK(scan.bytes.fixed == Bytes(4.0 * (6 * 5 + 6)));
    check_linear(named(operations, "out projection"), 12, 7);
    CHECK(operations.back().bytes.per_token == Bytes(2.0 * 7));
}

TEST_CASE("a causal convolution keeps its history beside the channels") {
    const Operation convolution = causal_convolution(on_ranks(2.0), 12.0, 4.0, true, 2.0);
    CHECK(convolution.weight_elements == 12 * 5.0);
    CHECK(convolution.active_elements == 12 * 5.0);
    CHECK(convolution.stored == Bytes(2.0 * 6 * 5));
    CHECK(convolution.bytes.fixed == Bytes(2.0 * 6 * 5));
    CHECK(convolution.flops.per_token == Flops(2.0 * 6 * 4));
    CHECK(convolution.bytes.per_token == Bytes(2.0 * 2 * 6));
    CHECK(convolution.bytes.per_sequence == Bytes(2.0 * 2 * 6 * 3));  // read and written
    CHECK(convolution.outputs == 6.0);
    CHECK(convolution.items.per_sequence == 6.0 / 512);
    CHECK(causal_convolution(on_ranks(2.0), 12.0, 4.0, false, 2.0).weight_elements == 12 * 4.0);
}

TEST_CASE("Mamba-2: 4 heads of 3 with states of 5 in 2 groups") {
    Mamba2 mamba;
    mamba.heads = 4;
    mamba.head_dim = 3;
    mamba.state = 5;
    mamba.groups = 2;
    mamba.chunk = 8;
    const RecurrentState state = recurrent_state(mamba, 2.0);
    CHECK(state.elements == 2 * 3 * 5.0);
    CHECK(state.inputs == 3 * 6 + 2 * 5 + 2.0);
    CHECK(state.outputs == 6.0);
    CHECK(state.heads == 2.0);
    CHECK(state.step_flops == 6 * (5 * 5 + 9.0));
    CHECK(state.replay_inputs == 6 + 5 + 2.0);
    CHECK(state.replay_flops == 3 * 6 * 5.0);
    CHECK(state.conv_elements == 16 * 3.0);
    CHECK(state.conv_inputs == 16.0);
    CHECK(state.pair_flops == 2 * 5 + 2 * 6.0);
    CHECK(state.tree_pair_flops == 2 * 5 + 2 * 6 + 2.0);
    CHECK(state.chunk_token_flops == 4 * 30.0);
    CHECK(state.tree_token_flops == 2 * 30.0);
    CHECK(state.pair_scratch_bytes == 8.0);
    CHECK(state.chunk == 8.0);
    const auto operations = operations_with(mamba, on_ranks(2.0));
    check_linear(named(operations, "in projection"), 7, 2 * 12 + 2 * 10 + 4);
    CHECK(named(operations, "causal convolution").weight_elements == 32 * 5.0);
    const Operation scan = named(operations, "state scan");
    CHECK(scan.weight_elements == 12.0);
    CHECK(scan.stored == Bytes(4.0 * 6));
    const Operation norm = named(operations, "gated norm");
    CHECK(norm.weight_elements == 12.0);
    CHECK(norm.stored == Bytes(2.0 * 6));
    CHECK(norm.outputs == 6.0);
    check_linear(named(operations, "out projection"), 12, 7);
    mamba.shared_width = 6;
    CHECK(mamba.conv_channels() == 2 * 6 + 2 * 5);
}

TEST_CASE("gated delta rule: 2 heads of keys of 3, 4 of values of 5") {
    GatedDelta delta;
    delta.key_heads = 2;
    delta.value_heads = 4;
    delta.key_dim = 3;
    delta.value_dim = 5;
    delta.chunk = 8;
    RecurrentState state = recurrent_state(delta, 2.0);
    CHECK(state.elements == 2 * 15.0);
    CHECK(state.inputs == 2 * 3 + 2 * 10 + 2 + 2.0);
    CHECK(state.outputs == 10.0);
    CHECK(state.heads == 2.0);
    CHECK(state.step_flops == 7 * 30.0);
    CHECK(state.replay_inputs == 3 + 10 + 2 + 2.0);
    CHECK(state.replay_flops == 5 * 30.0);
    CHECK(state.conv_elements == 16 * 3.0);
    CHECK(state.conv_inputs == 16.0);
    CHECK(state.pair_flops == 2 * (5 * 3 + 3 * 5.0));
    CHECK(state.tree_pair_flops == 62.0);
    CHECK(state.chunk_token_flops == 2 * 6 * 15.0);
    CHECK(state.tree_token_flops == 2 * 4 * 15.0);
    auto operations = operations_with(delta, on_ranks(2.0));
    check_linear(named(operations, "in projection"), 7, 2 * 6 + 20 + 20 + 2 * 4);
    CHECK(named(operations, "causal convolution").weight_elements == 32 * 4.0);
    Operation scan = named(operations, "state scan");
    CHECK(scan.weight_elements == 4 + 4.0);
    CHECK(scan.active_elements == 4 + 4.0);
    CHECK(scan.stored == Bytes(4.0 * 4));
    CHECK(scan.bytes.fixed == Bytes(4.0 * 4));
    CHECK(scan.delta_rule);
    CHECK(named(operations, "gated norm").outputs == 10.0);
    CHECK(named(operations, "gated norm").stored == Bytes(2.0 * 5));
    CHECK(named(operations, "gated norm").weight_elements == 5.0);
    check_linear(named(operations, "out projection"), 20, 7);

    delta.decay_rank = 6;  // a decay for each channel of keys
    delta.gate_rank = 11;
    state = recurrent_state(delta, 2.0);
    CHECK(state.inputs == 2 * 3 + 2 * 10 + 3 + 2.0);
    CHECK(state.replay_inputs == 3 + 10 + 3 + 2.0);
    operations = operations_with(delta, on_ranks(2.0));
    check_linear(named(operations, "in projection"), 7, 2 * 6 + 20 + 4);
    check_linear(named(operations, "gate down-projection"), 7, 11);
    check_linear(named(operations, "gate up-projection"), 11, 20);
    check_linear(named(operations, "decay down-projection"), 7, 6);
    check_linear(named(operations, "decay up-projection"), 6, 6);
    scan = named(operations, "state scan");
    CHECK(scan.weight_elements == 4 + 6.0);
    CHECK(scan.stored == Bytes(4.0 * 5));
    CHECK_FALSE(scan.delta_rule);
}

TEST_CASE("a scan by the kernel that a pass runs") {
    LayerContext context = on_ranks(1.0);
    const RecurrentState state = plain_state();  // 120 bytes
    const auto scan = [&] { return state_scan(context, state); };
    CHECK(scan().bytes.per_token == Bytes(22.0));
    CHECK(scan().bytes.per_sequence == Bytes(240.0));
    CHECK(scan().flops.per_token == Flops(100.0));
    CHECK(scan().sequential);
    CHECK(scan().items.per_sequence == 2.0);
    CHECK(scan().outputs == 6.0);
    context.writes = StateWrites::none;
    CHECK(scan().bytes.per_sequence == Bytes(120.0));
    context.writes = StateWrites::every_state;
    CHECK(scan().bytes.per_sequence == Bytes(120.0));
    CHECK(scan().bytes.per_token == Bytes(22.0 + 120));
    context.verification = Verification::packed;
    CHECK(scan().name == "layer: tree scan with snapshots");
    CHECK(scan().bytes.per_token == Bytes(22.0 + 240));
    CHECK(scan().flops.per_token == Flops(100.0));
    context.writes = StateWrites::final_state;
    CHECK(scan().name == "layer: tree scan");
    CHECK(scan().flops.per_token == Flops(60.0));
    CHECK(scan().flops.per_token_pair == Flops(24.0));
    CHECK(scan().bytes.per_sequence == Bytes(120.0));
    CHECK(scan().bytes.per_token_pair == Bytes(16.125));
    RecurrentState stepped = state;
    stepped.chunk = 0.0;
    CHECK(state_scan(context, stepped).flops.per_token == Flops(100.0));
    context.verification = Verification::unrolled_chunk;
    CHECK(scan().name == "layer: chunk scan");
    CHECK(scan().launches == 5.0);
    CHECK(scan().flops.per_token == Flops(60.0));
    CHECK(scan().flops.per_sequence == Flops(60.0 * 8));
    CHECK(scan().flops.per_token_pair == Flops(22.0));
    CHECK(scan().bytes.per_sequence == Bytes(240.0 + 4 * 4 * 30));
    CHECK(scan().bytes.per_token_pair == Bytes(16.0));
    CHECK(state_scan(context, stepped).name == "layer: state scan");
    context.pass = PassKind::prefill;
    CHECK(scan().launches == 5.0);
    CHECK(scan().flops.per_token == Flops(8 * 22.0 + 120));
    CHECK(scan().bytes.per_sequence == Bytes(240.0));
    CHECK(scan().bytes.per_token == Bytes(22.0 + 4 * 2 * 30 / 8.0 + 8 * 16));
    CHECK(state_scan(context, stepped).name == "layer: state scan");
    CHECK_FALSE(state_scan(context, stepped).sequential);
}

TEST_CASE("a mixture of 8 experts, 2 active, cut over two ranks") {
    MixtureOfExperts experts;
    experts.experts = 8;
    experts.active = 2;
    experts.hidden = 12;
    const Operation plain = named(operations_with(experts, on_ranks(2.0)), "routed experts");
    const double elements = 3.0 * 7 * 12;
    CHECK(plain.weight_elements == 8 * elements);
    CHECK(plain.active_elements == 2 * elements);
    CHECK(plain.stored == Bytes(8 * elements / 2));
    CHECK(plain.bytes.per_expert == Bytes(elements / 2));
    CHECK(plain.bytes.per_token == Bytes(2.0 * 2 * (2 * 7 + 4 * 6)));
    CHECK(plain.flops.per_token == Flops(2.0 * 2 * 3 * 7 * 6));
    CHECK(plain.inputs == 7 + 6.0);
    CHECK(plain.expert_count == 8.0);
    CHECK(plain.expert_rows == 2.0);
    CHECK(plain.launches == 4.0);
    experts.expert_bias = true;
    CHECK(named(operations_with(experts, on_ranks(2.0)), "routed experts").weight_elements == 8 * (elements + 2 * 12 + 7));
    experts.gated = false;
    const Operation ungated = named(operations_with(experts, on_ranks(2.0)), "routed experts");
    CHECK(ungated.weight_elements == 8 * (2.0 * 7 * 12 + 12 + 7));
    CHECK(ungated.bytes.per_token == Bytes(2.0 * 2 * (2 * 7 + 3 * 6)));
    experts.router_bias = experts.shared_gate = true;
    CHECK(named(operations_with(experts, on_ranks(2.0)), "router").weight_elements == 7 * 8 + 8 + 7.0);
    experts.latent = 3;
    experts.shared_hidden = 10;
    const auto latent = operations_with(experts, on_ranks(2.0));
    check_linear(named(latent, "latent down-projection"), 7, 3);
    check_linear(named(latent, "latent up-projection"), 3, 7);
    check_linear(named(latent, "shared expert up projection"), 7, 10);
    CHECK(named(latent, "routed experts").inputs == 3 + 6.0);
    CHECK(operations_with(MixtureOfExperts{8, 2, 12}, on_ranks(1.0)).size() == 2);  // router and experts alone
    MixtureOfExperts pooled{8, 2, 12};
    pooled.pool = 0.5;
    CHECK(named(operations_with(pooled, on_ranks(1.0)), "routed experts").expert_count == 4.0);
    pooled.pool = 0.1;  // no fewer than one more than a token visits
    CHECK(named(operations_with(pooled, on_ranks(1.0)), "routed experts").expert_count == 3.0);
}

TEST_CASE("experts dealt out over groups: rows travel, or are gathered") {
    LayerContext context = on_ranks(2.0);
    context.parallel.data = 2.0;
    const MixtureOfExperts experts{8, 2, 12};
    const Operation gathered = named(operations_with(experts, context), "all-gather and reduce-scatter");
    CHECK(gathered.ranks == 4.0);
    CHECK(gathered.launches == 2.0);
    CHECK(gathered.bytes.per_token == Bytes(2.0 * 2 * 0.75 * 7 * 2));
    CHECK(named(operations_with(experts, context), "routed experts").stored == Bytes(8 * 3.0 * 7 * 3));  // cut over four
    context.parallel.experts = 4.0;
    const auto dealt = operations_with(experts, context);
    CHECK(named(dealt, "routed experts").stored == Bytes(2 * 3.0 * 7 * 12));
    CHECK(named(dealt, "routed experts").expert_count == 2.0);
    CHECK(named(dealt, "routed experts").expert_rows == 0.5);
    CHECK(named(dealt, "routed experts").busiest_most == 2 * 4.0);
    // Two groups' rows: twice the mean, and √2 times the spread of one group's (1.0294, variance 2/4·3/4·6/7, as below).
    CHECK(named(dealt, "routed experts").busiest_share >= 2.0);
    CHECK(named(dealt, "routed experts").busiest_spread ==
          Approx(1.0294 * std::sqrt(0.375 * 6 / 7) * 2 * std::sqrt(2.0)).epsilon(1e-9));
    // A row of 7 to both experts: as fp8 with a scale of 4 bytes for 128 elements; of a rank, half of its group's.
    CHECK(named(dealt, "expert dispatch").bytes.per_token.value() == Approx((1 + 4.0 / 128) * 14 / 2).epsilon(1e-14));
    CHECK(named(dealt, "expert combine").bytes.per_token.value() == Approx(2.0 * 14 / 2).epsilon(1e-14));
    CHECK(named(dealt, "expert combine").ranks == 4.0);
    CHECK(named(dealt, "expert combine").exchanged_experts == 8.0);
    Operation merged;
    ExchangeShape shape{7.0, 2.0, 8.0, 4.0, Storage{}, true};
    set_exchange(shape, merged);
    // Two of eight experts lie on 4·(1 − 6/8·5/7) of four ranks, three of which are others.
    CHECK(merged.bytes.per_token.value() == Approx(2.0 * 7 * 4 * (1 - 6.0 / 8 * 5 / 7) * 0.75).epsilon(1e-14));
}

TEST_CASE("compressed attention: 4 heads of 3 on two ranks, queries from a latent of 5, outputs through two groups of 6") {
    CompressedAttention attention = compressed_attention();
    const auto operations = operations_with(attention, on_ranks(2.0));
    // Norms of both latents, and a sink for each head.
    CHECK(named(operations, "latent down-projections").weight_elements == 7 * 8 + 5 + 3 + 4.0);
    CHECK(named(operations, "latent down-projections").active_elements == 7 * 8 + 5 + 3 + 4.0);
    check_linear(named(operations, "query up-projection"), 5, 12);
    CHECK(named(operations, "rotary embedding").outputs == (2 + 1) * 3.0);
    const Operation scores = named(operations, "latent attention");
    CHECK(scores.flops.per_visible == Flops(4.0 * 2 * 3));
    CHECK(scores.rows_per_token == 2.0);
    CHECK(scores.outputs == 6.0);
    CHECK(scores.bytes.per_context == Bytes(2.0 * 3));
    CHECK(scores.reach.window == 8.0);
    check_linear(named(operations, "output down-projection"), 6, 12);
    check_linear(named(operations, "output projection"), 12, 7);
    CHECK(operations.back().bytes.per_token == Bytes(2.0 * 7));
}

TEST_CASE("how busy the busiest rank is") {
    CHECK(expected_largest(1.0) == 0.0);
    CHECK(expected_largest(2.0) == 0.5642);
    CHECK(expected_largest(4.0) == 1.0294);
    CHECK(expected_largest(std::sqrt(8.0)) == Approx((0.5642 + 1.0294) / 2));
    CHECK(expected_largest(1024.0) == 3.2469);
    CHECK(expected_largest(4096.0) == 3.2469);
    // 8 experts, 2 active, 4 ranks: of the rows of a token 0.5 in the mean, variance 2/4·3/4·6/7.
    const BusiestRank busiest = busiest_rank(8.0, 2.0, 4.0, 0.0);
    CHECK(busiest.spread == Approx(1.0294 * std::sqrt(0.375 * 6 / 7) * 2));
    CHECK(busiest.share == 1.0);
    CHECK(busiest.most == 4.0);
    CHECK(busiest_rank(8.0, 4.0, 4.0, 0.0).most == 2.0);
    CHECK(busiest_rank(8.0, 2.0, 1.0, 1.0).share == 1.0);
    CHECK(busiest_rank(1.0, 1.0, 4.0, 1.0).share == 1.0);
    CHECK(busiest_rank(8.0, 2.0, 4.0, 1.0).share > 1.0);
    CHECK(reached_ranks(8.0, 8.0, 4.0) == 4.0);
    CHECK(reached_ranks(8.0, 1.0, 4.0) == Approx(1.0));
}

TEST_CASE("compressed attention without entries caches its window alone, and has no indexer") {
    CompressedAttention attention = compressed_attention();
    const auto alone = operations_with(attention, on_ranks(1.0));
    CHECK_FALSE(named(alone, "latent attention").keeps);
    CHECK(named(alone, "latent attention").cache_heads == 1.0);
    const auto has = [](const std::vector<Operation>& operations, const std::string& part) {
        return std::any_of(operations.begin(), operations.end(),
                           [&](const Operation& each) { return each.name.find(part) != std::string::npos; });
    };
    CHECK_FALSE(has(alone, "compression"));
    attention.compression = 4;
    const auto entries = operations_with(attention, on_ranks(1.0));
    CHECK(named(entries, "latent attention").keeps->window == unlimited);
    CHECK(has(entries, "compression"));
    CHECK_FALSE(has(entries, "index"));                                // all entries are read
    CHECK(named(entries, "latent attention").reads_per_token == 0.0);  // once for all tokens of a sequence
}

TEST_CASE("attention of 4 heads of queries and 2 of keys of 3: biases, and what is turned by position") {
    Attention attention;
    attention.query_heads = 4;
    attention.kv_heads = 2;
    attention.head_dim = 3;
    const auto plain = operations_with(attention, on_ranks(1.0));
    attention.qkv_bias = true;
    const auto biased = operations_with(attention, on_ranks(1.0));
    const double outputs = 4 * 3 + 2 * (3 + 3);  // queries, keys and values
    CHECK(named(plain, "qkv projection").weight_elements == 7 * outputs);
    CHECK(named(biased, "qkv projection").weight_elements == 7 * outputs + outputs);
    CHECK(named(plain, "rotary embedding").outputs == (4 + 2) * 3.0);
    attention.reuses_cache = true;  // queries alone
    CHECK(named(operations_with(attention, on_ranks(1.0)), "rotary embedding").outputs == 4 * 3.0);
}

TEST_CASE("entries of compressed attention: two series of keys with values and gates where windows overlap") {
    CompressedAttention attention = compressed_attention();
    attention.compression = 4;
    for (const int series : {1, 2}) {
        attention.series = series;
        // From a width of 7 to 2·3 of each series; a bias of 3 for each of 4 positions and series; a norm of 3.
        const Operation entries = named(operations_with(attention, on_ranks(1.0)), "compression");
        CHECK(entries.weight_elements == 7.0 * 2 * series * 3 + 4.0 * series * 3 + 3);
        CHECK(entries.active_elements == entries.weight_elements);
    }
}

}  // namespace layers_arithmetic_test
