// Do the small parts that larger figures are made of have exactly the numbers of docs/cost-model.md? Each is worked out by hand
// here, so that a wrong operator or constant in one of them is noticed where it stands.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

#include "setups.h"
#include "sim/critical.h"
#include "sim/drafters/draft_steps.h"
#include "sim/operations.h"
#include "sim/pass.h"
#include "sim/round_bounds.h"

namespace exact_parts_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

Operation named(const std::vector<Operation>& operations, const std::string& part) {
    for (const Operation& operation : operations) {
        if (operation.name.find(part) != std::string::npos) {
            return operation;
        }
    }
    FAIL("no operation named like " + part);
    return operations.front();
}

std::vector<Operation> deepseek(PassKind kind, Verification verification = Verification::unrolled) {
    PassOptions options;
    options.kind = kind;
    options.verification = verification;
    return operations_of(model("deepseek-v3.2"), uniform_precision(NumberFormat::bf16), options);
}

DrafterPlan plain_plan(bool has_cache = true) {
    DrafterPlan drafter;
    drafter.model = model("llama-3.2-1b");
    drafter.has_cache = has_cache;
    return drafter;
}

/// An operation of ten FLOPs and a hundred bytes that runs `count` times.
Operation small_operation(double count, double launches) {
    Operation operation;
    operation.name = "layers: small";
    operation.kind = OperationKind::element_wise;
    operation.count = count;
    operation.launches = launches;
    operation.flops.per_token = Flops(10.0);
    operation.bytes.per_token = Bytes(100.0);
    return operation;
}

}  // namespace

TEST_CASE("an indexer of DeepSeek-V3.2: 64 heads of 128 over keys of one byte a value") {
    const auto operations = deepseek(PassKind::decode);
    // Section 1.3: a score is one product of 128 values, a multiplication and an addition each, for every head.
    const Operation scores = named(operations, "index scores");
    CHECK(scores.flops.per_visible.value() == 2.0 * 64 * 128);
    CHECK(scores.bytes.per_context.value() == 128.0);
    CHECK(scores.bytes.per_token.value() == 2.0 * 64 * 128 + 128.0);
    CHECK(scores.rows_per_token == 64.0);
    CHECK(scores.outputs == 64.0);
    CHECK(scores.reads_per_token == 1.0);
    // Keys and the heads' weights from the model's width of 7168, queries from the latent of 1536; two vectors of a LayerNorm.
    const Operation projections = named(operations, "index projections");
    CHECK(projections.weight_elements == 7168.0 * (128 + 64) + 2.0 * 128);
    CHECK(projections.flops.per_token.value() == 2.0 * 7168 * (128 + 64));
    CHECK(projections.bytes.fixed.value() == 2.0 * 7168.0 * (128 + 64));
    const Operation queries = named(operations, "index queries");
    CHECK(queries.weight_elements == 1536.0 * 64 * 128);
    CHECK(queries.flops.per_token.value() == 2.0 * 1536 * 64 * 128);
    CHECK(queries.bytes.fixed.value() == 2.0 * 1536.0 * 64 * 128);
    for (const Operation& operation : {projections, queries}) {
        CHECK(operation.stored.value() == operation.bytes.fixed.value());  // all that is stored is read once
    }
    CHECK(named(operations, "index preparation").launches == 14.0);
}

TEST_CASE("latent attention: absorbed in decoding, expanded for prompts, masked for packed trees") {
    // 128 heads; latent 512 and rotary 64 as key, latent 512 as value; in prompts keys of 128 + 64 and values of 128.
    const Operation decode = named(deepseek(PassKind::decode), "latent attention");
    CHECK(decode.flops.per_visible.value() == 2.0 * 128 * (512 + 64 + 512));
    CHECK(decode.bytes.per_context.value() == 2.0 * (512 + 64));
    CHECK(decode.bytes.per_token.value() == 2.0 * (512 + 64) + 2.0 * (2.0 * 128 * 512));
    CHECK(decode.rows_per_token == 128.0);
    CHECK(decode.outputs == 128.0 * 512);
    CHECK(named(deepseek(PassKind::prefill), "latent attention").flops.per_visible.value() == 2.0 * 128 * (128 + 64 + 128));
    const Operation packed = named(deepseek(PassKind::decode, Verification::packed), "latent attention");
    CHECK(packed.flops.per_token_pair.value() == 0.5 * packed.flops.per_visible.value());
    CHECK(packed.masks_tree);
    CHECK_FALSE(decode.masks_tree);
}

TEST_CASE("a framework that copies its cache reads it several times") {
    PassOptions options;
    const auto per_context = [&] {
        return named(operations_of(model("llama-3-8b"), uniform_precision(NumberFormat::bf16), options), ": attention")
            .bytes.per_context.value();
    };
    const double once = 2.0 * 8 * 128 * 2;
    CHECK(per_context() == once);
    options.concatenates_caches = true;
    CHECK(per_context() == 3.0 * once);
    options.expands_caches = true;  // 4 query heads share keys and values: written for each of them, and read as often
    CHECK(per_context() == (3.0 + 2.0 * 4) * once);
}

TEST_CASE("picking tokens from logits") {
    for (const Sampling sampling : {Sampling::greedy, Sampling::top}) {
        const Operation operation = sampling_operation(1000.0, sampling);
        CHECK(operation.flops.per_logit.value() == 1000.0);
        CHECK(operation.bytes.per_logit.value() == 4000.0);
        CHECK(operation.items.per_row == 1.0);
    }
    // Section 1.5: 12·(2·(k + 1) − 1)·V bytes. With k = 3 there are 4 rows of logits: 84·V.
    const Operation rejection = sampling_operation(1000.0, Sampling::rejection);
    CHECK(bytes_of<false, false>(rejection, terms_of({1.0, 4.0, 0.0, 4.0})).value() == 84.0 * 1000);
    CHECK(rejection.flops.per_logit.value() == 10'000.0);
    CHECK(rejection.launches == 3.0);
}

TEST_CASE("a pass adds up launches, gaps and steps of every run of its operations") {
    Platform where = platform("h100-sxm", "ideal");
    where.stack.launching.node_cost = Seconds(1e-6);
    where.stack.launching.host_launch = Seconds(2e-6);
    where.stack.kernels.scan_step = Seconds(3e-6);
    where.stack.launching.launch_factors.clear();
    const Precision precision = uniform_precision(NumberFormat::bf16);
    Operation scan = small_operation(5.0, 1.0);
    scan.sequential = true;
    const CompiledPass pass = compile_operations({small_operation(3.0, 2.0), scan}, precision, where, Seconds(7e-6));
    CHECK(pass.launches == 3.0 * 2 + 5.0 * 1);
    CHECK(pass.node_time.value() == Approx(11 * 1e-6).epsilon(1e-14));
    CHECK(pass.launch_time.value() == Approx(11 * 2e-6).epsilon(1e-14));
    CHECK(pass.step_time.value() == Approx(5 * 3e-6).epsilon(1e-14));
    CHECK(pass.host == Seconds(7e-6));
    // Two new tokens in each of four sequences.
    const PassTotals totals = totals_of(pass, {4.0, 2.0, 0.0, 2.0});
    CHECK(totals.flops.value() == 8.0 * (3 + 5) * 10);
    CHECK(totals.bytes.value() == 8.0 * (3 + 5) * 100);
    double explained = 0.0;
    for (const OperationEstimate& estimate : explain(pass, {4.0, 2.0, 0.0, 2.0})) {
        explained += estimate.time.value();
    }
    CHECK(explained == Approx((totals.device + pass.node_time).value()).epsilon(1e-12));
    // The host launches 11 kernels in 22 us, more than the device takes: then that counts, and the host's 7 us.
    CHECK(pass_time(pass, {}).value() == Approx(22e-6 + 7e-6).epsilon(1e-14));
    PassTotals long_work;
    long_work.device = Seconds(1.0);
    CHECK(pass_time(pass, long_work).value() == Approx(1.0 + 11e-6 + 7e-6).epsilon(1e-14));
}

TEST_CASE("a stack's time for each layer and each layer of experts") {
    Platform where = platform("h100-sxm", "ideal");
    const Model mixture = model("qwen3-30b-a3b");  // 48 layers, each with experts
    const auto node_time = [&] { return compile_pass(mixture, mixture.precision, where, {}, {}).node_time.value(); };
    const double without = node_time();
    where.stack.layers.per_layer = Seconds(1e-6);
    CHECK(node_time() - without == Approx(48e-6).epsilon(1e-9));
    where.stack.layers.per_expert_layer = Seconds(2e-6);
    CHECK(node_time() - without == Approx(48 * 3e-6).epsilon(1e-9));
}

TEST_CASE("HOI mode counts two FLOPs for each parameter that a token uses") {
    Platform where = platform("h100-sxm", "ideal");
    where.mode = CostMode::hoi;
    const Model dense = model("llama-3-8b");
    const CompiledPass pass = compile_pass(dense, dense.precision, where, {}, {});
    CHECK(totals_of(pass, {1.0, 1.0, 0.0, 1.0}).flops.value() ==
          Approx(2.0 * static_cast<double>(active_body_parameters(dense))).epsilon(1e-4));
    CHECK(pass.node_time == Seconds(0.0));
    CHECK(pass.step_time == Seconds(0.0));
}

TEST_CASE("drafting a chain: one pass catches up, the others run at their mean context") {
    const DraftTree tree = build_tree(ChainShape{4}, {});
    AcceptedTokens accepted;
    accepted.length = 2.5;
    accepted.ends_at_leaf = 0.25;
    DrafterPlan drafter = plain_plan();
    const auto steps = [&](bool hoi = false) { return draft_steps(drafter, ChainShape{4}, tree, accepted, hoi); };
    DraftSteps chain = steps();
    REQUIRE(chain.passes.size() == 2);
    CHECK(chain.passes[0].tokens == 1.25);  // the root, and the last draft in a quarter of the rounds
    CHECK(chain.passes[0].runs == 1.0);
    CHECK(chain.passes[1].tokens == 1.0);
    CHECK(chain.passes[1].runs == 3.0);
    CHECK(chain.passes[1].context_offset == 2.0);  // half of what the round adds
    CHECK(chain.kept_states == 5.0);
    CHECK(steps(true).passes[1].context_offset == 0.0);
    CHECK(steps(true).passes[0].tokens == 1.0);
    drafter.catch_up = CatchUp::all_accepted;
    CHECK(steps().passes[0].tokens == 2.5);
    drafter.catch_up = CatchUp::none;
    CHECK(steps().passes[0].tokens == 1.0);
    drafter.drafting_share = 0.25;          // after a look-up that found the other three quarters
    CHECK(steps().passes[0].share == 1.0);  // which keeps its own cache in step
    CHECK(steps().passes[1].share == 0.25);
    drafter.needs_prefill = false;
    CHECK(steps().passes[0].share == 0.25);
    drafter.drafting_share = 0.0;
    CHECK(steps().passes.empty());
    drafter.drafting_share = 1.0;
    drafter.has_cache = false;
    CHECK(steps().passes[1].context_offset == 0.0);
}

TEST_CASE("drafting a cascade: an inner round for each kept part of the draft") {
    const DraftTree tree = build_tree(ChainShape{6}, {});
    DrafterPlan drafter = plain_plan();
    drafter.inner.tokens = 2.0;
    drafter.inner.length = 1.5;
    const DraftSteps lookups = draft_steps(drafter, ChainShape{6}, tree, {}, false);
    // 6 / 1.5 = 4 inner rounds, each a pass of the middle model over 2 inner drafts and the token before them.
    REQUIRE(lookups.passes.size() == 2);
    CHECK(lookups.passes[0].tokens == 1.0 + 2.0);
    CHECK(lookups.passes[0].logits == 3.0);
    CHECK(lookups.passes[1].tokens == 3.0);
    CHECK(lookups.passes[1].logits == 3.0);
    CHECK(lookups.passes[1].context_offset == 3.0);
    CHECK(lookups.passes[1].runs == 3.0);
    CHECK(lookups.kept_states == 7.0);
    CHECK(lookups.inner_runs == 0.0);  // a look-up runs no model
    drafter.inner.model = model("llama-3.2-1b");
    CHECK(draft_steps(drafter, ChainShape{6}, tree, {}, false).inner_runs == 4.0 * 2);
    drafter.inner.length = 10.0;  // one round suffices
    CHECK(draft_steps(drafter, ChainShape{6}, tree, {}, false).passes.size() == 1);
}

TEST_CASE("drafting a tree row by row keeps a state for each node that it may return to") {
    const BranchingShape shape{{3, 2, 2, 1, 1}};  // widths 3, 6, 12, 12, 12, of which the last level has no children
    const DraftTree tree = build_tree(shape, {});
    const Model small = model("mamba2-130m");
    const DrafterPlan recurrent = plan(Drafter(IndependentDrafter{small, small.precision}), small, small.precision);
    const DraftSteps steps = draft_steps(recurrent, shape, tree, {}, false);
    CHECK(steps.kept_states == 2.0 + 3 + 6 + 12 + 12);
    CHECK(steps.copied_states == 3.0 + 6 + 12);  // the second level of 12 goes on in the rows of the first
    REQUIRE(steps.passes.size() == 5);
    const double rows[] = {1, 3, 6, 12, 12};  // a row for each node, as all of them have children
    for (std::size_t i = 0; i < 5; ++i) {
        CHECK(steps.passes[i].rows == rows[i]);
        CHECK(steps.passes[i].logits == 1.0);
    }
    CHECK(steps.passes[0].tokens == 1.0);
    CHECK(steps.passes[0].context_offset == 0.0);
    CHECK(steps.passes[0].runs == 1.0);
    for (std::size_t i = 1; i < steps.passes.size(); ++i) {
        CHECK(steps.passes[i].context_offset == static_cast<double>(i));
        CHECK(steps.passes[i].runs == 1.0);
    }
}

TEST_CASE("a cascade's host time is that of both drafters") {
    const Model target = model("llama-2-7b"), middle = model("tinyllama-1.1b");
    CascadeDrafter drafter;
    drafter.middle = IndependentDrafter{middle, middle.precision};
    NgramDrafter lookup;
    lookup.lookup_per_sequence = Seconds(5e-6);
    drafter.inner = lookup;
    drafter.inner_tokens = 3;
    drafter.inner_length = 2.5;
    const DrafterPlan plan = sim::plan(Drafter(drafter), target, target.precision);
    CHECK(plan.kind == "cascade");
    CHECK(plan.inner.tokens == 3.0);
    CHECK(plan.inner.length == 2.5);
    CHECK_FALSE(plan.inner.model);
    CHECK(plan.host_per_round_and_sequence.value() == Approx(5e-6).epsilon(1e-14));
}

TEST_CASE("bounds of a box of one point are the point") {
    RoundSetup setup = pair_setup("llama-3-70b", "llama-3-8b", platform("h100-sxm", "vllm", 4.0));
    setup.prompt_tokens = 700.0;
    for (const double output_tokens : {0.0, 300.0}) {
        for (const double stages : {1.0, 2.0}) {
            setup.output_tokens = output_tokens;
            setup.platform.parallel.pipeline = stages;
            REQUIRE(problems_of(setup).empty());
            const CompiledRound round = compile_round(setup);
            for (const int drafts : {0, 3}) {
                CAPTURE(output_tokens, stages, drafts);
                const RoundEstimate exact = evaluate(round, {drafts, 24.0, 3000.0});
                const EstimateBounds bounds = bounds_of(round, drafts, {24.0, 24.0, 3000.0, 3000.0});
                const auto same = [&](auto figure) {
                    CHECK(figure(bounds.least) == Approx(figure(exact)).epsilon(1e-9));
                    CHECK(figure(bounds.most) == Approx(figure(exact)).epsilon(1e-9));
                };
                same([](const RoundEstimate& e) { return e.draft.value(); });
                same([](const RoundEstimate& e) { return e.verify.value(); });
                same([](const RoundEstimate& e) { return e.rollback.value(); });
                same([](const RoundEstimate& e) { return e.host.value(); });
                same([](const RoundEstimate& e) { return e.prompts.value(); });
                same([](const RoundEstimate& e) { return e.autoregressive.value(); });
                same([](const RoundEstimate& e) { return e.round.value(); });
                same([](const RoundEstimate& e) { return e.time_per_token.value(); });
                same([](const RoundEstimate& e) { return e.tokens_per_second_user; });
                same([](const RoundEstimate& e) { return e.tokens_per_second_device; });
                same([](const RoundEstimate& e) { return e.throughput_multiplier; });
                same([](const RoundEstimate& e) { return e.iteration_multiplier; });
                same([](const RoundEstimate& e) { return e.decode_share; });
                same([](const RoundEstimate& e) { return e.first_token.value(); });
                same([](const RoundEstimate& e) { return e.energy_per_token.value(); });
                same([](const RoundEstimate& e) { return e.price_per_token.value(); });
                same([](const RoundEstimate& e) { return e.memory.value(); });
            }
        }
    }
}

TEST_CASE("bounds of a box that nothing is stated of are those of one sequence without a context") {
    const CompiledRound round = compile_round(pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm")));
    const EstimateBounds bounds = bounds_of(round, 0, {});
    const RoundEstimate exact = evaluate(round, {0, 1.0, 0.0});
    CHECK(bounds.least.round.value() == Approx(exact.round.value()));
    CHECK(bounds.most.round.value() == Approx(exact.round.value()));
}

TEST_CASE("bounds of one point are the point where a pool reads the prompts, and without prompts to the last bit") {
    RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm"));
    const CompiledRound alone = compile_round(setup);
    const EstimateBounds without = bounds_of(alone, 3, {8.0, 8.0, 1000.0, 1000.0});
    CHECK(without.least.decode_share == 1.0);
    CHECK(without.most.decode_share == 1.0);
    CHECK(without.least.first_token == Seconds(0.0));
    const RoundEstimate plain = evaluate(alone, {0, 8.0, 1000.0});
    CHECK(bounds_of(alone, 0, {8.0, 8.0, 1000.0, 1000.0}).least.throughput_multiplier == plain.throughput_multiplier);
    setup.platform.stack.serving.prefill = PrefillPolicy::disaggregated;
    setup.prompt_tokens = 700.0;
    setup.output_tokens = 300.0;
    const CompiledRound pool = compile_round(setup);
    REQUIRE(pool.prefill_pool > 0.0);
    const RoundEstimate exact = evaluate(pool, {3, 8.0, 1000.0});
    const EstimateBounds bounds = bounds_of(pool, 3, {8.0, 8.0, 1000.0, 1000.0});
    CHECK(bounds.least.first_token.value() == Approx(exact.first_token.value()));
    CHECK(bounds.most.first_token.value() == Approx(exact.first_token.value()));
}

TEST_CASE("a block without norms runs none") {
    Model small = model("llama-3.2-1b");
    const auto norms = [&] {
        const std::vector<Operation> operations = operations_of(small, small.precision, {});
        return std::count_if(operations.begin(), operations.end(),
                             [](const Operation& operation) { return operation.name.find("norm") != std::string::npos; });
    };
    const auto with = norms();
    for (LayerKind& kind : small.kinds) {
        for (Block& block : kind.blocks) {
            block.norms = block.norm_vectors = 0;
        }
    }
    CHECK(with == 3);     // before attention, before the network, before the head
    CHECK(norms() == 1);  // before the head
}

TEST_CASE("bounds of one point are the point where rows that pad a tile cost more than used ones") {
    RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm"));
    setup.platform.mode = CostMode::calibrated;
    KernelLaw law;
    law.row_tile = 64.0;
    law.padding = 3.0;
    setup.platform.device.calibration = Calibration{"h100-sxm", "", "", {{KernelClass::gemm, NumberFormat::bf16, law}}};
    const CompiledRound round = compile_round(setup);
    const RoundEstimate exact = evaluate(round, {3, 150.0, 100.0});  // 600 rows of ten tiles
    const EstimateBounds bounds = bounds_of(round, 3, {150.0, 150.0, 100.0, 100.0});
    CHECK(bounds.least.round.value() == Approx(exact.round.value()).epsilon(1e-9));
    CHECK(bounds.most.round.value() == Approx(exact.round.value()).epsilon(1e-9));
}

TEST_CASE("an operation is bound by the longest of its launch, its bytes and its FLOPs") {
    // 100 bytes in 4 us, 10 FLOPs in 2 us; a gap of 1, 3 or 5 us before it.
    Platform where = platform("h100-sxm", "ideal");
    where.device.bandwidth = BytesPerSecond(25e6);
    where.device.peak.fill(FlopsPerSecond(5e6));
    const Precision precision = uniform_precision(NumberFormat::bf16);
    const auto bound = [&](double gap, double flops, double bytes) {
        where.stack.launching.node_cost = Seconds(gap * 1e-6);
        Operation operation = small_operation(1.0, 1.0);
        operation.flops.per_token = Flops(flops);
        operation.bytes.per_token = Bytes(bytes);
        return explain(compile_operations({operation}, precision, where, {}), {}).front().bound;
    };
    CHECK(bound(1.0, 10.0, 100.0) == Bound::memory);
    CHECK(bound(3.0, 10.0, 100.0) == Bound::memory);
    CHECK(bound(5.0, 10.0, 100.0) == Bound::launch);
    CHECK(bound(1.0, 30.0, 100.0) == Bound::compute);  // 6 us
    CHECK(bound(5.0, 30.0, 100.0) == Bound::compute);
    CHECK(bound(7.0, 30.0, 100.0) == Bound::launch);
}

TEST_CASE("a pipeline's stage holds its part of the layers, and the larger of embedding and head") {
    // Llama-3-8B: 32 layers of 218.1 million weights and two norms of 4096, 16 of them on each of two stages; embedding and
    // head of 128,256 rows of 4096, the head with the last norm.
    Model target = model("llama-3-8b");
    const Precision bf16 = uniform_precision(NumberFormat::bf16);
    const double layers = 32.0 * (4096.0 * 6144 + 4096.0 * 4096 + 3.0 * 4096 * 14336 + 2 * 4096);
    const double embedding = 128256.0 * 4096, head = embedding + 4096;
    const auto stored = [&](double stages) { return stored_weights(target, bf16, 1.0, {1.0, 1.0, stages}).value(); };
    CHECK(stored(1.0) == Approx(2.0 * (layers + embedding + head)).epsilon(1e-12));
    CHECK(stored(2.0) == Approx(2.0 * (layers / 2 + head)).epsilon(1e-12));
    CHECK(stored(4.0) == Approx(2.0 * (layers / 4 + head)).epsilon(1e-12));
    const CriticalInputs inputs = critical_inputs(target, bf16, device("h100-sxm"));
    CHECK(inputs.weight_bytes.value() == Approx(2.0 * layers).epsilon(1e-4));
    CHECK(inputs.active_parameters == Approx(layers).epsilon(1e-4));
    CHECK(inputs.cache_per_token == Bytes(32.0 * 2 * 8 * 128 * 2));
    CHECK(inputs.intensity.value() == Approx(989.4e12 / 3.35e12).epsilon(1e-3));
}

TEST_CASE("a prompt whose first half is cached takes the time of the rest, and a prompt of one token that of a step") {
    RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "ideal"));
    setup.drafter = NoDrafter{};
    setup.speculations = chains_up_to(0);
    setup.prompt_tokens = 4000.0;
    setup.output_tokens = 100.0;
    const auto first_token = [&](double hit, double tokens) {
        setup.prefix_hit = hit;
        return time_to_first_token(compile_round(setup), tokens).value();
    };
    // 2,000 of 4,000 tokens; scores are less than a tenth of the work, and the rest has three quarters of them.
    CHECK(first_token(0.5, 4000.0) / first_token(0.0, 4000.0) == Approx(0.5125).epsilon(0.025));
    CHECK(first_token(0.5, 4000.0) > 0.5 * first_token(0.0, 4000.0));
    CHECK(first_token(0.0, 1.0) == Approx(evaluate(compile_round(setup), {0, 1.0, 0.0}).autoregressive.value()).epsilon(1e-6));
    setup.prompt_tokens = 0.0;  // is a problem of the setup: nothing is read of it
    CHECK(compile_round(setup).prompts.target == Seconds(0.0));
}

TEST_CASE("passes of the smallest model of a cascade see half of what the round adds") {
    RoundSetup setup = pair_setup("llama-2-7b", "tinyllama-1.1b", platform("h100-sxm", "vllm"));
    CascadeDrafter drafter;
    drafter.middle = std::get<IndependentDrafter>(setup.drafter);
    drafter.inner = std::get<IndependentDrafter>(setup.drafter);
    setup.drafter = drafter;
    const CompiledRound round = compile_round(setup);
    for (const int drafts : {2, 6}) {
        const RoundRow& row = round.row(drafts);
        const auto inner = static_cast<std::size_t>(PassId::draft_inner);
        REQUIRE(row.begin[inner + 1] == row.begin[inner] + 1);
        CHECK(round.steps[row.begin[inner]].context_offset == 0.5 * drafts);
        CHECK(round.steps[row.begin[inner]].runs == drafts / 2.0 * 2.0);  // rounds of two tokens, each of two drafts
    }
    CHECK(round.runs(16));
    CHECK_FALSE(round.runs(17));  // there are chains of up to 16
}

TEST_CASE("the passes of a round by name: the levels of a tree, the first pass, the verification") {
    RoundSetup setup = pair_setup("mamba2-2.7b", "mamba2-130m", platform("h100-sxm", "ideal"));
    const auto names = [&](TreeShape shape) {
        setup.speculations = chains_up_to(0);
        setup.speculations.push_back({std::move(shape), Verification::unrolled, "tree"});
        setup.acceptance.siblings = RankAcceptance({0.5, 0.2, 0.1});
        std::vector<std::string> found;
        for (const ExplainedPass& pass : explain(compile_round(setup), {1, 1.0, 100.0})) {
            if (pass.phase.find("draft, ") == 0 && pass.phase != "draft, state copies") {
                found.push_back(pass.phase);
            }
        }
        return found;
    };
    const std::vector<std::string> levels = {"draft, first pass", "draft, level 2", "draft, level 3"};
    CHECK(names(BranchingShape{{3, 2, 1}}) == levels);
    CHECK(names(BranchingShape{{3, 2}}) == std::vector<std::string>{"draft, first pass", "draft, next pass"});
    CHECK(names(ChainShape{4}) == std::vector<std::string>{"draft, first pass", "draft, next pass"});
    setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "ideal"));
    CHECK(names(BranchingShape{{3, 2, 1}}) == levels);  // by attention over the tree
}

TEST_CASE("SPIRe projects keys and values of its memory anew in every pass") {
    // 2·d·(8 + 8)·128 FLOPs of each of 32 layers of Llama-3-8B, for a sequence.
    const Model target = model("llama-3-8b");
    const DrafterPlan memory = plan(Drafter(SpireDrafter{32, {}, true}), target, target.precision);
    REQUIRE(memory.extra.size() == 1);
    CHECK(memory.extra.front().flops.per_sequence.value() == 32.0 * 2 * 4096 * 16 * 128);
    CHECK(plan(Drafter(SpireDrafter{32, {}, false}), target, target.precision).extra.empty());
}

}  // namespace exact_parts_test
