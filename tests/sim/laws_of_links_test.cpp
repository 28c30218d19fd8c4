// What measured laws of collectives, prompts and linear layers are prepared to, and what units of an accelerator take side by
// side: numbers by hand.
#include <catch2/catch.hpp>

#include <cmath>

#include "hardware/accelerators.h"
#include "operation_time.h"
#include "setups.h"
#include "sim/drafters/drafter.h"
#include "sim/fpga/block_pipeline.h"
#include "sim/fpga/round.h"
#include "sim/fpga/tree_work.h"
#include "sim/host_times.h"
#include "sim/operations.h"
#include "sim/rates.h"
#include "sim/round_bounds.h"
#include "sim/sampling/decoder.h"
#include "sim/traits.h"

namespace laws_of_links_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

TEST_CASE("a measured all-reduce over four ranks: one shot, two shots and a ring") {
    KernelLaw law;
    law.startup = Seconds(10.0);
    law.collective.per_rank = Seconds(1.0);
    law.collective.two_shot = Seconds(5.0);
    law.collective.two_shot_per_rank = Seconds(2.0);
    law.collective.ring = Seconds(7.0);
    law.collective.ring_per_rank = Seconds(0.5);
    law.collective.one_shot_share = 0.5;
    law.collective.two_shot_share = 0.25;
    law.collective.ring_share = 0.8;
    law.collective.ring_scale_4 = 0.5;
    law.collective.ring_scale_8 = 0.25;
    law.collective.limit = Bytes(100.0);
    Operation reduce;
    reduce.kind = OperationKind::collective;
    const auto lines = [&](double ranks) {
        reduce.ranks = ranks;
        return std::get<CollectiveLines>(measured_rates(law, unit_rates(), reduce).rule);
    };
    const CollectiveLines four = lines(4.0);  // three others; a ring moves 1.5 times the message, one shot three times
    CHECK(four.one_shot == Seconds(13.0));
    CHECK(four.two_shot == Seconds(13.0 + 5.0 + 6.0));
    CHECK(four.ring == Seconds(8.5));
    CHECK(std::isinf(four.bulk.value()));
    CHECK(four.one_shot_byte.value() == Approx(2.0 / 0.5));
    CHECK(four.two_shot_byte.value() == Approx(4.0));
    CHECK(four.ring_byte.value() == Approx(1.0 / (0.8 * 0.5)));
    CHECK(four.limit == Bytes(150.0));
    // A ring's share falls from 2 ranks to 4 and to 8, in between evenly, and stays.
    const double scales[] = {1.0, 0.75, 0.5, 0.375, 0.25, 0.25};
    const double ranks[] = {2.0, 3.0, 4.0, 6.0, 8.0, 16.0};
    for (std::size_t i = 0; i < std::size(ranks); ++i) {
        CHECK(lines(ranks[i]).ring_byte.value() == Approx(1.0 / (0.8 * scales[i])));
    }
    law.collective.by_ring = 1.0;  // the first kernel moves what a ring does
    CHECK(lines(4.0).one_shot_byte.value() == Approx(2.0));
    law.collective.limit = Bytes(0.0);
    CHECK(std::isinf(lines(4.0).limit.value()));
}

TEST_CASE("a measured law of prompts: tiles of the rows of one group of heads") {
    KernelLaw law;
    law.startup = Seconds(3.0);
    law.row_tile = 128.0;
    law.tile_columns = 64.0;
    law.workers = 4.0;
    law.peak_share = 0.5;
    law.ramp_bytes = Bytes(1000.0);
    law.prompt = {Seconds(2.0), 1.5, 1.0};
    Operation prompt;
    prompt.kind = OperationKind::attention;
    prompt.reads_context = true;
    prompt.cache_heads = 2.0;
    prompt.rows_per_token = 4.0;
    prompt.flops.per_visible = Flops(16.0);
    const auto tiles = [&] { return std::get<PromptTiles>(measured_rates(law, unit_rates(), prompt).rule); };
    const PromptTiles packed = tiles();  // eight heads, four of which fill tiles together
    CHECK(packed.rows_per_token == 4.0);
    CHECK(packed.groups == 2.0);
    CHECK(packed.tile == 128.0);
    CHECK(packed.inverse_tile == 1.0 / 128);
    CHECK(packed.tokens == 32.0);
    CHECK(packed.columns == 64.0);
    CHECK(packed.inverse_workers == 0.25);
    CHECK(packed.per_tile == Seconds(2.0));
    CHECK(packed.per_column.value() == Approx(16.0 / 8 * 128 / 0.5 * 4));  // on one of four multiprocessors
    CHECK(packed.in_cache == Bytes(1000.0));
    CHECK(packed.depth == 1.5);
    law.prompt.packs_heads = 0.0;
    law.tile_columns = 0.0;
    CHECK(tiles().groups == 8.0);
    CHECK(tiles().tokens == 128.0);
    CHECK(tiles().columns == 1.0);
}

TEST_CASE("rows of an operation, by its kind; tiles of two rows are steps already") {
    Operation operation;
    const auto rows = [&](OperationKind kind) {
        operation.kind = kind;
        operation.rows_per_token = 4.0;
        const RowCount count = rows_of(operation);
        return std::vector<double>{count.fixed, count.per_row, count.per_new_token};
    };
    for (const OperationKind kind : {OperationKind::linear, OperationKind::experts}) {
        CHECK(rows(kind) == std::vector<double>{0.0, 1.0, 0.0});
    }
    for (const OperationKind kind : {OperationKind::attention, OperationKind::scan, OperationKind::convolution}) {
        CHECK(rows(kind) == std::vector<double>{0.0, 0.0, 4.0});
    }
    for (const OperationKind kind : {OperationKind::element_wise, OperationKind::logits, OperationKind::collective}) {
        CHECK(rows(kind) == std::vector<double>{1.0, 0.0, 0.0});
    }
    KernelLaw law;
    law.row_tile = 2.0;
    operation.kind = OperationKind::linear;
    CHECK(std::holds_alternative<RowSteps>(measured_rates(law, unit_rates(), operation).rule));
}

TEST_CASE("experts that tokens of one sequence touch: the second token chooses partly as the first") {
    OperationCost cost;
    cost.own_routing = 0.6;
    const auto independent = [&](double new_tokens) { return independent_tokens(cost, terms_of({1.0, new_tokens})); };
    CHECK(independent(1.0) == 1.0);
    CHECK(independent(1.5) == Approx(1.0 + 0.6 * 0.5));
    CHECK(independent(2.0) == Approx(1.6));
    CHECK(independent(4.0) == Approx(2.8));
}

TEST_CASE("units of an accelerator side by side, and one after the other") {
    // Four blocks of 10, 3 and 5 cycles and two of the gate; registers of 2, 4 and 8; a pipeline of 7 and functions of 20.
    fpga::BlockWork work{4.0, 2.0, 10.0, 3.0, 5.0, 7.0, 20.0};
    CHECK(work.coefficients_ready() == 2.0 + 20 + 8);
    // The last block of x is ready after five of six blocks and 2 + 3 + 4 cycles, 59; it is scanned at 64 and out at 71.
    CHECK(fpga::side_by_side_cycles(work) == 71.0);
    CHECK(fpga::in_turn_cycles(work) == 60.0 + 2 + 12 + 4 + 20 + 7);
    work.ssm = 30.0;  // four scans from 30 on, when the functions are ready
    CHECK(fpga::side_by_side_cycles(work) == 30.0 + 120 + 7);
    work.ssm = 5.0;
    work.convolution = 30.0;  // 10 + 2 and four convolutions with 4, one scan, 7
    CHECK(fpga::side_by_side_cycles(work) == 12.0 + 124 + 5 + 7);
    work.convolution = 3.0;
    work.gate_blocks = 20.0;  // 24 blocks and the registers of products
    CHECK(fpga::side_by_side_cycles(work) == 242.0);
    work = {4.0, 0.0, 10.0, 0.0, 30.0, 7.0, 0.0};
    CHECK(work.coefficients_ready() == 0.0);
    CHECK(fpga::side_by_side_cycles(work) == 12.0 + 120 + 7);
}

TEST_CASE("an accelerator's passes are bound by its memory or by its units; a draft forms products, too; plans that replay") {
    RoundSetup setup = pair_setup("mamba2-2.7b", "mamba2-370m",
                                  hardware::load_hardware(source_folder() / "hardware", "specmamba-vhk158", "").value);
    setup.rollback = Rollback::replay;
    setup.acceptance.siblings = RankAcceptance({0.7, 0.15});
    setup.speculations = {chains_up_to(4)[0], chains_up_to(4)[4], {BranchingShape{{2, 1}}, Verification::packed, "tree"}};
    for (const double efficiency : {1e-4, 1e4}) {
        setup.platform.accelerator->design.memory_efficiency = efficiency;
        const CompiledRound round = compile_round(setup);
        REQUIRE(round.row(1).turn_passes.size() > 1);
        for (const TurnPass& pass : round.row(1).turn_passes) {
            CHECK(pass.bound == (efficiency < 1.0 ? Bound::memory : Bound::compute));
        }
        CHECK(round.row(1).branched == 0.0);
        CHECK(round.row(2).branched == 1.0);
    }
    const auto& [board, design] = *setup.platform.accelerator;
    const fpga::TreeWork work = fpga::tree_work(build_tree(ChainShape{4}, {}), design.ssm.rules, fpga::Backtracking::hybrid);
    const fpga::RoundCost cost =
        fpga::round_cost(board, design, fpga::shape_of(setup.target), fpga::shape_of(model("mamba2-370m")), work, 2.5, {});
    CHECK(cost.totals.products > cost.verify.products);
    CHECK(cost.totals.bytes > cost.verify.bytes.total());
    CHECK(fpga::replays(fpga::Backtracking::hybrid));
    CHECK(fpga::replays(fpga::Backtracking::recompute));
    CHECK_FALSE(fpga::replays(fpga::Backtracking::store_states));
    CHECK_FALSE(fpga::replays(fpga::Backtracking::naive));
}

TEST_CASE("host times of a round are those of all drivers before the steps', some of them for each sequence") {
    HostTimes times;
    HostCounts counts;
    times.values.fill(Seconds(1.0));
    counts.values.fill(1.0);
    const auto place = [](HostDriver driver) { return static_cast<double>(static_cast<std::size_t>(driver)); };
    const HostLine line = line_of_round(times, counts);
    CHECK(line.fixed == Seconds(place(first_of_sequences)));
    CHECK(line.per_sequence == Seconds(place(HostDriver::sequence) - place(first_of_sequences)));
    CHECK(line.at(3.0) == line.fixed + line.per_sequence * 3.0);
}

TEST_CASE("rows that cross to experts elsewhere are sent in 8 bits where they are computed in fewer than 16") {
    const Model mixture = model("mixtral-8x7b");
    PassOptions options;
    options.parallel.data = options.parallel.experts = 2.0;
    const auto bytes = [&](const Precision& precision, KernelClass kernel) {
        for (const Operation& operation : operations_of(mixture, precision, options)) {
            if (operation.kernel == kernel) {
                return operation.bytes.per_token.value();
            }
        }
        return 0.0;
    };
    const Precision half = uniform_precision(NumberFormat::bf16);
    REQUIRE(bytes(half, KernelClass::expert_dispatch) > 0.0);
    CHECK(bytes(half, KernelClass::expert_dispatch) == bytes(half, KernelClass::expert_combine));
    for (const NumberFormat format : {NumberFormat::fp8, NumberFormat::fp4}) {
        const Precision narrow = checkpoint_precision(format, NumberFormat::bf16);
        CHECK(bytes(narrow, KernelClass::expert_combine) == bytes(half, KernelClass::expert_combine));
        CHECK(bytes(narrow, KernelClass::expert_dispatch) < 0.6 * bytes(half, KernelClass::expert_dispatch));
        CHECK(bytes(narrow, KernelClass::expert_dispatch) > 0.45 * bytes(half, KernelClass::expert_dispatch));
    }
}

TEST_CASE("ranks that share a context score a part of its keys each") {
    PassOptions options;
    const auto scores = [&] {
        for (const Operation& operation :
             operations_of(model("deepseek-v3.2"), uniform_precision(NumberFormat::bf16), options)) {
            if (operation.name.find("index scores") != std::string::npos) {
                return operation;
            }
        }
        return Operation{};
    };
    const Operation alone = scores();
    options.parallel.context = 2.0;
    CHECK(scores().flops.per_visible.value() == 0.5 * alone.flops.per_visible.value());
    CHECK(scores().bytes.per_context.value() == 0.5 * alone.bytes.per_context.value());
    CHECK(scores().bytes.per_token == alone.bytes.per_token);
}

TEST_CASE("a model without layers is shared out evenly; kinds of blocks are told apart") {
    CHECK(largest_stage(Model{}, 4.0) == 0.25);
    const auto with = [](BlockKind kind) {
        LayerKind layer;
        layer.blocks = {{kind}};
        return layer;
    };
    CHECK(attends(with(Attention{})));
    CHECK(attends(with(LatentAttention{})));
    CHECK(attends(with(CompressedAttention{})));
    CHECK_FALSE(attends(with(Mamba2{})));
    CHECK(has_experts(with(MixtureOfExperts{})));
    CHECK_FALSE(has_experts(with(Mlp{})));
}

TEST_CASE("a target that drafts in some of its layers runs those, and heads beside a mixture are dense") {
    const Model hybrid = model("jamba-1.5-mini");
    SelfDrafter self;
    self.layers = {0, 4, hybrid.order.size() - 1};
    REQUIRE(hybrid.order[4] != hybrid.order[0]);
    CHECK(plan(Drafter(self), hybrid, hybrid.precision).model->order ==
          std::vector<std::size_t>{hybrid.order[0], hybrid.order[4], hybrid.order.back()});
    const Model mixture = model("mixtral-8x7b");  // 4,096 wide, without a dense layer: three widths
    const auto hidden = [&](Count feed_forward) {
        OneLayerDrafter head = OneLayerDrafter::published_eagle3();
        head.feed_forward = feed_forward;
        const DrafterPlan of = plan(Drafter(head), mixture, mixture.precision);
        for (const LayerKind& kind : of.model->kinds) {
            for (const Block& block : kind.blocks) {
                if (const auto* mlp = std::get_if<Mlp>(&block.kind)) {
                    return mlp->hidden;
                }
            }
        }
        return Count(-1);
    };
    CHECK(hidden(0) == 3 * 4096);
    CHECK(hidden(5000) == 5000);
}

TEST_CASE("an inner round of a cascade yields one token at least, and one more than it drafts at most") {
    const Model target = model("llama-2-7b"), middle = model("tinyllama-1.1b");
    const auto problems = [&](int tokens, double length) {
        CascadeDrafter drafter;
        drafter.middle = IndependentDrafter{middle, middle.precision};
        drafter.inner = NgramDrafter{};
        drafter.inner_tokens = tokens;
        drafter.inner_length = length;
        return problems_of(Drafter(drafter), target).size();
    };
    CHECK(problems(2, 1.0) == 0);
    CHECK(problems(2, 3.0) == 0);
    CHECK(problems(1, 2.0) == 0);
    CHECK(problems(2, 3.1) == 1);
    CHECK(problems(2, 0.9) == 1);
    CHECK(problems(0, 1.0) == 1);
}

TEST_CASE("worlds that are decoded apart have the error of their mean") {
    sampling::MeasuredAcceptance one, two;
    one.accept_length = 2.0;
    two.accept_length = 3.0;
    one.standard_error = 0.3;
    two.standard_error = 0.4;
    CHECK(sampling::combined({one, two}).accept_length == 2.5);
    CHECK(sampling::combined({one, two}).standard_error == Approx(0.25));
    CHECK(RankAcceptance::halving(3).ranks() == 3);
    CHECK(RankAcceptance::halving(3).rank(3) == 0.125);
    CHECK(RankAcceptance::halving(3).none() == 0.125);
}

TEST_CASE("bounds of one point with a full window are no wider than half a token of it") {
    RoundSetup setup = pair_setup("gpt-oss-20b", "gpt-oss-20b", platform("h100-sxm", "vllm"));
    setup.drafter = NgramDrafter{};
    const CompiledRound round = compile_round(setup);
    for (const double context : {10.0, 50'000.0}) {
        const EstimateBounds bounds = bounds_of(round, 3, {8.0, 8.0, context, context});
        CHECK(bounds.most.round / bounds.least.round < 1.0 + 1e-3);
    }
}

}  // namespace laws_of_links_test
