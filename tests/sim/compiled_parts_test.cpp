// Small parts of compiling a round, each by hand: prompts shared out over answers, heads' inputs, drafters beside models
// without attention, what passes move and explain, laws with every knot.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "operation_time.h"
#include "setups.h"
#include "sim/drafters/draft_steps.h"
#include "sim/fpga/mamba_shape.h"
#include "sim/measured_loads.h"
#include "sim/placement.h"
#include "sim/recurrent_verification.h"
#include "sim/round.h"

namespace compiled_parts_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

RoundSetup small() { return pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm")); }

const Projection& first_projection(const DrafterPlan& plan) {
    return std::get<Projection>(plan.model->kinds.front().blocks.front().kind);
}

Operation linear_layer() {
    Operation layer;
    layer.name = "layers: projection";
    layer.kernel = KernelClass::gemm;
    layer.flops.per_token = Flops(1e9);
    layer.bytes.fixed = Bytes(1e6);
    return layer;
}

}  // namespace

TEST_CASE("a prompt's time and energy are shared out over the tokens of its answer, for target and drafter alike") {
    RoundSetup setup = small();
    setup.platform.device.energy_per_byte = JoulesPerByte(1e-11);
    setup.platform.device.energy_per_flop = JoulesPerFlop(1e-12);
    setup.prompt_tokens = 1000.0;
    const auto of_answer = [&](double tokens) {
        setup.output_tokens = tokens;
        return compile_round(setup).prompts;
    };
    const PromptWork fifty = of_answer(50.0), hundred = of_answer(100.0);
    REQUIRE(hundred.drafter > Seconds(0.0));
    REQUIRE(hundred.drafter_energy > Joules(0.0));
    CHECK(fifty.target.value() == Approx(2.0 * hundred.target.value()));
    CHECK(fifty.drafter.value() == Approx(2.0 * hundred.drafter.value()));
    CHECK(fifty.target_energy.value() == Approx(2.0 * hundred.target_energy.value()));
    CHECK(fifty.drafter_energy.value() == Approx(2.0 * hundred.drafter_energy.value()));
    CHECK(prompt_time(compile_round(setup), 1) == (hundred.target + hundred.drafter) * 100.0);
    CHECK(prompt_time(compile_round(setup), 0) == hundred.target * 100.0);
    // A hundred tokens together take what the prompt takes alone.
    const CompiledRound round = compile_round(setup);
    CHECK(100.0 * (hundred.target + hundred.drafter).value() == Approx(time_to_first_token(round, 1000.0).value()));
    // Of two stages each reads prompts half of the time.
    const Seconds whole = hundred.target;
    setup.platform.parallel.pipeline = 2.0;
    const CompiledRound staged = compile_round(setup);
    const Seconds both = pass_time(staged.prefill, totals_of(staged.prefill, {1.0, 1000.0, 0.0, 1.0}));
    CHECK(staged.prompts.target.value() == Approx(0.5 * both.value() / 100.0));
    CHECK(staged.prompts.target < 0.6 * whole);
}

TEST_CASE("a device whose board power is not known has no limit of energy") {
    RoundSetup setup = small();
    setup.platform.device.energy_per_byte = JoulesPerByte(1e-11);
    setup.platform.device.energy_per_flop = JoulesPerFlop(1e-12);
    setup.platform.device.board_power = Watts(0.0);
    CHECK(evaluate(compile_round(setup), {3, 8.0, 1000.0}).energy_per_token > Joules(0.0));
    CHECK(compile_round(setup).board_power == Watts(unlimited));
}

TEST_CASE("heads read the hidden state, and what their kind adds to it") {
    const Model target = model("llama-3-8b");  // 4,096 wide
    MedusaDrafter heads;
    heads.heads = 3;
    CHECK(first_projection(plan(Drafter(heads), target, target.precision)).in == 4096);
    heads.kind = HeadsKind::hydra;  // and the embeddings of one, two and three tokens: two in the mean
    CHECK(first_projection(plan(Drafter(heads), target, target.precision)).in == 4096 * 3);
    heads.kind = HeadsKind::mlp;  // of three states one is 4,096 wide and two 1,024
    heads.width = 1024;
    CHECK(first_projection(plan(Drafter(heads), target, target.precision)).in == (4096 + 2 * 1024) / 3);
    CHECK(first_projection(plan(Drafter(heads), target, target.precision)).out == 1024);
}

TEST_CASE("a parallel drafter beside a model without attention has heads of 128, four a key-value head") {
    const Model target = model("mamba2-2.7b");  // 2,560 wide
    const DrafterPlan beside = plan(Drafter(ParallelDrafter{}), target, target.precision);
    const auto& attention = std::get<Attention>(beside.model->kinds.front().blocks.front().kind);
    CHECK(attention.query_heads == 20);
    CHECK(attention.kv_heads == 5);
    CHECK(attention.head_dim == 128);
    CHECK(std::get<Mlp>(beside.model->kinds.front().blocks.back().kind).hidden == 3 * 2560);
    // Five states of the target are fused; keys and values of five heads are made of the fusion.
    CHECK(std::get<Projection>(beside.context_model->kinds[0].blocks.front().kind).in == 5 * 2560);
    CHECK(std::get<Projection>(beside.context_model->kinds[1].blocks.front().kind).out == 5 * 2 * 128);
    CHECK(beside.context_model->order.size() == 6);
    CHECK(beside.max_draft_tokens == 15);  // a block of 16 rows, one of which is the last token
    CHECK(plan(Drafter(ParallelDrafter::published_dspark()), target, target.precision).max_draft_tokens == 7);
    Model narrow = target;
    narrow.width = 256;
    const DrafterPlan least = plan(Drafter(ParallelDrafter{}), narrow, narrow.precision);
    CHECK(std::get<Attention>(least.model->kinds.front().blocks.front().kind).query_heads == 4);
}

TEST_CASE("one pass over a block: the first tokens, a row for each draft, and one before them where predictions stand so") {
    const Model target = model("llama-3-8b");
    const DraftTree chain = build_tree(ChainShape{5}, {});
    AcceptedTokens accepted;
    accepted.length = 2.5;
    const DrafterPlan dflash = plan(Drafter(ParallelDrafter{}), target, target.precision);
    const DraftSteps steps = draft_steps(dflash, ChainShape{5}, chain, accepted, false);
    REQUIRE(steps.passes.size() == 1);
    CHECK(steps.passes[0].tokens == 6.0);
    CHECK(steps.passes[0].logits == 5.0);
    CHECK(steps.kept_states == 2.0);
    CHECK(steps.context_tokens == 2.5);
    const DrafterPlan dspark = plan(Drafter(ParallelDrafter::published_dspark()), target, target.precision);
    CHECK(draft_steps(dspark, ChainShape{5}, chain, accepted, false).passes[0].tokens == 5.0);
}

TEST_CASE("a drafter that reads the whole verification apart reads its drafts and the root") {
    DrafterPlan apart = plan(small().drafter, model("llama-3-8b"), model("llama-3-8b").precision);
    apart.catch_up = CatchUp::apart;
    const DraftTree chain = build_tree(ChainShape{5}, {});
    CHECK(draft_steps(apart, ChainShape{5}, chain, {}, false).context_tokens == 6.0);
    for (const DraftStep& pass : draft_steps(apart, ChainShape{5}, chain, {}, false).passes) {
        CHECK(pass.logits == 1.0);
    }
    apart.catch_up = CatchUp::none;
    CHECK(draft_steps(apart, ChainShape{5}, chain, {}, false).context_tokens == 0.0);
}

TEST_CASE("drafts of a sampled pass wait for the host's sampling, those of heads without a cache for nothing") {
    RoundSetup setup = small();
    setup.decoding = Decoding::sampling;
    const auto host = [&](double sampling) {
        setup.platform.stack.passes.host_per_sampling = Seconds(sampling);
        return compile_round(setup).pass(PassId::draft).host.value();
    };
    CHECK(host(1e-3) - host(0.0) == Approx(1e-3));
    setup.drafter = MedusaDrafter{};
    CHECK(host(1e-3) == host(0.0));
}

TEST_CASE("two or more rows that begin from one state, addressed by index, copy it once") {
    RoundSetup setup = pair_setup("mamba2-2.7b", "mamba2-130m", platform("h100-sxm", "ideal"));
    setup.platform.stack.launching.state_copy = StateCopy::by_index;
    setup.rollback = Rollback::snapshot;
    setup.acceptance.siblings = RankAcceptance({0.5, 0.2});
    setup.speculations = {chains_up_to(0).front(), {BranchingShape{{2, 1}}, Verification::unrolled, "two rows"}};
    const CompiledRound round = compile_round(setup);
    const RoundRow& row = round.row(1);
    REQUIRE(row.problem.empty());
    const auto copies = static_cast<std::size_t>(PassId::state_copy);
    REQUIRE(row.begin[copies + 1] == row.begin[copies] + 1);
    CHECK(round.steps[row.begin[copies]].tokens == 1.0);
    CHECK(round.steps[row.begin[copies]].runs == 1.0);
}

TEST_CASE("a chain of tokens on a single multiprocessor takes all heads' time on it") {
    RecurrentVerificationLaw law;
    law.per_head = Seconds(3.0);
    for (const double multiprocessors : {0.0, 1.0}) {  // none is stated: one
        CHECK(time_of(law, {2.0, 1.0, 4.0, Bytes(0.0)}, BytesPerSecond(1.0), multiprocessors) == Seconds(24.0));
    }
    CHECK(time_of(law, {2.0, 1.0, 4.0, Bytes(0.0)}, BytesPerSecond(1.0), 2.0) == Seconds(12.0));
}

TEST_CASE("measured loads have their ratios at any reach, which fade the faster the less it is") {
    const MeasuredLoad eight{8.0, 1000.0, 0.0, Seconds(1.0), 1.5}, many{64.0, 1000.0, 0.0, Seconds(1.0), 1.2};
    const auto ratios = [&](double reach, const std::vector<MeasuredLoad>& loads) {
        return LoadRatios(MeasuredLoads{"m", "bf16", "d", "roofline", 1.0, "", reach, loads});
    };
    for (const double reach : {0.25, 0.5, 2.0}) {
        CHECK(ratios(reach, {eight, many}).at(8.0, 1000.0, 0.0).plain == Approx(1.5));
        CHECK(ratios(reach, {eight, many}).at(64.0, 1000.0, 0.0).plain == Approx(1.2));
        // Of one load: its logarithm times e^(-distance/reach).
        const double distance = distance_of(eight, many);
        CHECK(std::log(ratios(reach, {eight}).at(64.0, 1000.0, 0.0).plain) ==
              Approx(std::log(1.5) * std::exp(-distance / reach)));
    }
}

TEST_CASE("rows cost what all seven knots say") {
    // Each knot is two rows further, and rows before it cost half as much again as those before the last one: 1, then 2·(1
    // + 1.5
    // + 2 + ... + 4) = 35 up to row 15, then 1 each.
    KernelLaw law;
    for (std::size_t i = 0; i < most_row_knots; ++i) {
        law.knots[i] = {3.0 + 2.0 * static_cast<double>(i), 1.0 + 0.5 * static_cast<double>(i)};
    }
    Rates sheet;
    sheet.per_flop = 1.0 / FlopsPerSecond(1e9);
    const Rates rates = measured_rates(law, sheet, linear_layer());
    const auto time = [&](double rows) { return testing::time_of(linear_layer(), rates, {rows}).value(); };
    CHECK(time(1.0) == Approx(1.0));
    CHECK(time(3.0) == Approx(3.0));
    CHECK(time(5.0) == Approx(6.0));
    CHECK(time(15.0) == Approx(36.0));
    CHECK(time(20.0) == Approx(41.0));
}

TEST_CASE("bytes that links or the host carry are not those of the device's memory") {
    Platform where = platform("h100-sxm", "ideal", 2.0);
    const Precision bf16 = uniform_precision(NumberFormat::bf16);
    Operation reduce = linear_layer(), on_host = linear_layer();
    reduce.kind = OperationKind::collective;
    reduce.ranks = 2.0;
    on_host.placed = Placed::on_host;
    where.host = std::make_shared<const Platform>(platform("desktop-ddr5", "llama.cpp-cpu"));
    const auto bytes = [&](const std::vector<Operation>& operations) {
        return totals_of(compile_operations(operations, bf16, where, {}), {1.0}).bytes;
    };
    CHECK(bytes({linear_layer()}) == Bytes(1e6));
    CHECK(bytes({linear_layer(), reduce}) == Bytes(1e6));
    CHECK(bytes({linear_layer(), on_host}) == Bytes(1e6));
}

TEST_CASE("a pass of measured kernels alone has no gaps, and its operations take the whole of it") {
    Platform where = platform("h100-sxm", "ideal");
    where.mode = CostMode::calibrated;
    KernelLaw law;
    law.startup = Seconds(1e-5);
    where.device.calibration = Calibration{"h100-sxm", "", "", {{KernelClass::gemm, NumberFormat::bf16, law}}};
    const CompiledPass pass = compile_operations({linear_layer()}, uniform_precision(NumberFormat::bf16), where, {});
    REQUIRE(pass.node_time == Seconds(0.0));
    const OperationEstimate estimate = explain(pass, {1.0}).front();
    CHECK(estimate.time == totals_of(pass, {1.0}).device);
    CHECK(estimate.share == 1.0);
}

TEST_CASE("kernels that a stack launches beside a measured one have gaps of their own") {
    Platform where = platform("h100-sxm", "ideal");
    where.mode = CostMode::calibrated;
    KernelLaw law;
    law.startup = Seconds(1e-5);
    where.device.calibration = Calibration{"h100-sxm", "", "", {{KernelClass::gemm, NumberFormat::bf16, law}}};
    where.device.kernel_gap = Seconds(0.0);
    where.stack.launching.node_cost = Seconds(1e-6);
    where.stack.launching.launch_factors = {{"projection", 3.0}};
    const auto node_time = [&] {
        return compile_operations({linear_layer()}, uniform_precision(NumberFormat::bf16), where, {}).node_time.value();
    };
    CHECK(node_time() == Approx(2e-6));
    where.stack.launching.launch_factors = {{"projection", 0.5}};  // fused into others
    CHECK(node_time() == 0.0);
    where.mode = CostMode::roofline;
    CHECK(node_time() == Approx(0.5e-6));
}

TEST_CASE("attention over a packed tree, and nothing else, is launched as tree attention") {
    Platform where = platform("h100-sxm", "ideal");
    where.stack.launching.launch_factors = {{"tree attention", 5.0}, {"layer norm", 7.0}};
    const auto launches = [&](OperationKind kind, bool masks_tree) {
        Operation operation;
        operation.name = "decoder: attention";
        operation.kind = kind;
        operation.masks_tree = masks_tree;
        return compile_operations({operation}, uniform_precision(NumberFormat::bf16), where, {}).launches;
    };
    CHECK(launches(OperationKind::attention, true) == 5.0);
    CHECK(launches(OperationKind::attention, false) == launches(OperationKind::scan, false));
    CHECK(launches(OperationKind::scan, true) == launches(OperationKind::scan, false));
    CHECK(launches(OperationKind::scan, false) != 5.0);
}

TEST_CASE("experts on the host wait for the way there and back, once for each run") {
    Platform where = platform("rtx-3060", "llama.cpp");
    Platform host = platform("desktop-ddr5", "llama.cpp-cpu");
    const Precision bf16 = uniform_precision(NumberFormat::bf16);
    for (const OperationKind kind : {OperationKind::experts, OperationKind::linear}) {
        Operation operation = linear_layer();
        operation.kind = kind;
        operation.kernel.reset();
        operation.expert_count = kind == OperationKind::experts ? 8.0 : 0.0;
        operation.expert_rows = 0.25;
        operation.placed = Placed::on_host;
        where.host = std::make_shared<const Platform>(host);
        Operation there = operation;
        there.placed = Placed::on_device;
        const Rates priced = price_kernel(operation, bf16, where).rates, own = price_kernel(there, bf16, host).rates;
        const Interconnect* pcie = nullptr;
        for (const Interconnect& link : where.device.interconnects) {
            pcie = link.name == "pcie" ? &link : pcie;
        }
        REQUIRE(pcie != nullptr);
        // The startup counts on both sides of the law: once with the longer one, and `overlap` times with the other.
        const double way = (priced.startup - own.startup).value() * (1.0 + own.overlap);
        CHECK(way == Approx(kind == OperationKind::experts ? pcie->latency.value() : 0.0).margin(1e-15));
    }
}

TEST_CASE("an accelerator's Mamba layers have columns of B and C for each group") {
    Model grouped = model("mamba2-2.7b");
    auto& block = std::get<Mamba2>(grouped.kinds.front().blocks.front().kind);
    block.groups = 8;
    block.state = 64;
    const fpga::MambaShape shape = fpga::shape_of(grouped);
    CHECK(shape.shared_columns == 2.0 * 8 * 64);
    CHECK(shape.groups == 8.0);
    CHECK(shape.state_elements == shape.inner * 64.0);
    CHECK(shape.conv_channels == shape.inner + 2.0 * 8 * 64);
    CHECK(shape.layers == 64.0);
    CHECK(shape.width == 2560.0);
}

TEST_CASE("16-bit checkpoints are so throughout, but for their states; so are those of 32 bits") {
    const Precision brain = checkpoint_precision(NumberFormat::bf16, NumberFormat::fp16);
    for (const Storage& storage : {brain.weights, brain.experts, brain.embeddings, brain.activations, brain.kv_cache}) {
        CHECK(storage == Storage{NumberFormat::bf16});
    }
    CHECK(brain.math == NumberFormat::bf16);
    CHECK(brain.state == Storage{NumberFormat::fp32});
    CHECK(checkpoint_precision(NumberFormat::fp32, NumberFormat::bf16).kv_cache == Storage{NumberFormat::fp32});
    CHECK(checkpoint_precision(NumberFormat::fp8, NumberFormat::fp16).kv_cache == Storage{NumberFormat::fp16});
}

TEST_CASE("a tree's later levels are reached by nobody where a chain's are not") {
    DraftAcceptance acceptance(Acceptance::per_position({0.5, 0.0, 0.0}));
    acceptance.siblings = RankAcceptance({1.0});
    const TreeShape shape = BranchingShape{{2, 1, 1}};
    const AcceptedTokens tokens = accepted_tokens(acceptance, shape, build_tree(shape, acceptance.siblings));
    CHECK(tokens.length == 1.5);  // a second child has nothing of what the first one leaves: rank 1 takes all
    CHECK(tokens.ends_at_leaf == 0.0);
}

}  // namespace compiled_parts_test
