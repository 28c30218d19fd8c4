// What an engine does by itself to verify: kernels that walk along a cache once for each tile of heads and rows, graphs in
// pieces, states that are copied after a round, and policies that need a flag.
#include <catch2/catch.hpp>

#include <cmath>

#include "hardware/catalogue.h"
#include "setups.h"
#include "sim/traits.h"
#include "source_folder.h"

namespace verification_rules_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

/// Llama-3-8B, of which a layer has 32 query heads of 128, on a device and stack of the catalogue.
RoundSetup llama_on(const std::string& device, const std::string& stack) {
    RoundSetup setup;
    setup.target = model("llama-3-8b");
    setup.precision = setup.target.precision;
    setup.platform = platform(device, stack);
    setup.drafter = OneLayerDrafter::published_eagle3();
    setup.acceptance = Acceptance::geometric(0.6);
    setup.speculations = chains_up_to(5);
    return setup;
}

RoundEstimate five_drafts(const RoundSetup& setup, double batch, double context) {
    REQUIRE(problems_of(setup).empty());
    return evaluate(compile_round(setup), {5, batch, context});
}

VerificationRule rule_of(const std::string& backend) {
    VerificationRule rule;
    rule.backend = backend;
    rule.because = "a test";
    return rule;
}

}  // namespace

TEST_CASE("a walk is measured, stated, or what a tile of rows takes on one multiprocessor") {
    AttentionKernels kernels;
    kernels.walk_width = 128.0;
    kernels.verify_walk = Seconds(30e-9);
    const Device a100 = platform("a100-sxm-80", "ideal").device;
    CHECK(verify_walk_of(kernels, a100, 64.0).value() == Approx(15e-9));
    kernels.tile_efficiency = 0.5;
    kernels.row_tile = 64.0;
    // 4·64·128 FLOPs at half of 312 TFLOP/s / 108: 22.7 ns, where ungrouped decoding was measured at 23.
    CHECK(verify_walk_of(kernels, a100, 128.0).value() == Approx(22.7e-9).epsilon(0.005));
    kernels.verify_walks["a100-sxm-80"] = Seconds(23e-9);
    CHECK(verify_walk_of(kernels, a100, 256.0).value() == Approx(46e-9));
}

TEST_CASE("FlashAttention 2 verifies one tile of heads and rows at a time on each multiprocessor") {
    RoundSetup setup = llama_on("a100-sxm-80", "vllm-0.14");
    RoundSetup without = setup;
    without.platform.stack.picked.verification_rules.clear();
    const auto more = [&](double batch, double context) {
        return (five_drafts(setup, batch, context).verify - five_drafts(without, batch, context).verify).value();
    };
    // One sequence: 32 blocks on 108 multiprocessors walk side by side. 32 layers, in each of which a cached token takes a
    // block of 64 rows 4·64·128 FLOPs at 0.7 of 312 TFLOP/s / 108.
    const double walk = 32.0 * (4.0 * 64.0 * 128.0 / (0.7 * 312e12 / 108.0));
    CHECK(five_drafts(setup, 1.0, 100'000.0).verify.value() - five_drafts(setup, 1.0, 50'000.0).verify.value() ==
          Approx(walk * 50'000.0).epsilon(1e-6));
    CHECK(more(1.0, 100.0) == Approx(0.0).margin(1e-4));
    // 64 sequences: 2,048 blocks, 19 times as many as multiprocessors.
    const double waves = 64.0 * 32.0 / 108.0;
    CHECK(five_drafts(setup, 64.0, 4'000.0).verify.value() - five_drafts(setup, 64.0, 2'000.0).verify.value() ==
          Approx(walk * waves * 2'000.0).epsilon(1e-6));
    // Plain steps are those of the laws.
    CHECK(five_drafts(setup, 8.0, 20'000.0).autoregressive == five_drafts(without, 8.0, 20'000.0).autoregressive);
}

TEST_CASE("rules are asked in their order, by generation, cache and checkpoint") {
    const Device a100 = platform("a100-sxm-80", "ideal").device, h100 = platform("h100-sxm", "ideal").device;
    const Precision wide = model("llama-3-8b").precision;
    Precision narrow = wide;
    narrow.kv_cache = Storage{NumberFormat::fp8};
    std::vector<VerificationRule> rules = {rule_of("fp8 on 8"), rule_of("8"), rule_of("any")};
    rules[0].generations = rules[1].generations = {8.0};
    rules[0].caches = {NumberFormat::fp8};
    CHECK(rule_for(rules, a100, narrow)->backend == "fp8 on 8");
    CHECK(rule_for(rules, a100, wide)->backend == "8");
    CHECK(rule_for(rules, h100, narrow)->backend == "any");
    rules.pop_back();
    CHECK(rule_for(rules, h100, wide) == nullptr);
    rules.front().weights = {NumberFormat::fp4};
    CHECK(rule_for(rules, a100, narrow)->backend == "8");
    narrow.experts = Storage{NumberFormat::fp4};
    CHECK(rule_for(rules, a100, narrow)->backend == "fp8 on 8");
}

TEST_CASE("a pass in pieces takes the longer of the device and the host, not their sum") {
    RoundSetup setup = llama_on("a100-sxm-80", "vllm-0.14");
    setup.precision.kv_cache = Storage{NumberFormat::fp8};
    Stack& stack = setup.platform.stack;
    const RoundEstimate free = [&] {
        RoundSetup whole = setup;
        whole.platform.stack.picked.verification_rules.clear();
        return five_drafts(whole, 1.0, 1'000.0);
    }();
    REQUIRE(rule_for(stack.picked.verification_rules, setup.platform.device, setup.precision)->in_pieces);
    stack.passes.host_per_pass = stack.passes.host_per_draft_pass = Seconds(0.0);
    setup.platform.device.host_speed = 1.0;
    const auto with = [&](double piece) {
        stack.passes.host_per_piece = Seconds(piece);
        return five_drafts(setup, 1.0, 1'000.0);
    };
    const Seconds device = with(0.0).verify;
    // 32 layers of 1 ms on the host hide a device that takes 11; a drafter's pass takes 5.6 of them, five times.
    CHECK(with(1e-3).verify.value() == Approx(32e-3));
    CHECK(with(1e-3).draft.value() == Approx(5.0 * 5.6e-3));
    CHECK(with(1e-6).verify == device);
    // A slower host takes longer, and plain steps are captured whole.
    setup.platform.device.host_speed = 0.5;
    CHECK(with(1e-3).verify.value() == Approx(64e-3));
    CHECK(with(1e-3).autoregressive.value() == Approx(free.autoregressive.value()).epsilon(0.2));
    CHECK(with(1e-3).autoregressive < device);
}

TEST_CASE("a pass of a draft model outside of graphs takes the longer of the device and the host's layers") {
    RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("rtx-3090", "vllm-0.14"));
    Stack& stack = setup.platform.stack;
    stack.passes.host_per_draft_pass = Seconds(0.0);
    const auto draft = [&](double layer) {
        stack.passes.host_per_draft_layer = Seconds(layer);
        return five_drafts(setup, 1.0, 1'000.0).draft;
    };
    const double layers = 16.0, passes = 5.0;  // of Llama-3.2-1B; five drafts
    CHECK(draft(1e-3).value() == Approx(passes * layers * 1e-3));
    CHECK(draft(1e-9) == draft(0.0));
    setup.platform.device.host_speed = 0.5;
    CHECK(draft(1e-3).value() == Approx(passes * layers * 2e-3));
    const Seconds verify = five_drafts(setup, 1.0, 1'000.0).verify;
    draft(0.0);
    CHECK(five_drafts(setup, 1.0, 1'000.0).verify == verify);
    // A head on the target's last layer is captured, or has its own time on the host.
    const RoundEstimate head = five_drafts(llama_on("rtx-3090", "vllm-0.14"), 1.0, 1'000.0);
    RoundSetup launched = llama_on("rtx-3090", "vllm-0.14");
    launched.platform.stack.passes.host_per_draft_layer = Seconds(5e-3);
    CHECK(five_drafts(launched, 1.0, 1'000.0) == head);
}

TEST_CASE("a pass of the target takes at least what an asynchronous host needs beside the device") {
    RoundSetup setup = llama_on("rtx-3090", "vllm-0.14");
    Stack& stack = setup.platform.stack;
    const auto with = [&](double host) {
        stack.passes.host_per_overlapped_pass = Seconds(host);
        return five_drafts(setup, 1.0, 1'000.0);
    };
    const RoundEstimate free = with(0.0), hidden = with(1e-3), bound = with(60e-3);
    CHECK(hidden == free);
    CHECK(bound.autoregressive.value() == Approx(60e-3));
    CHECK(bound.verify.value() == Approx(60e-3));
    CHECK(bound.draft == free.draft);
    setup.platform.device.host_speed = 0.5;
    CHECK(with(40e-3).autoregressive.value() == Approx(80e-3));
}

TEST_CASE("a round in pieces is the same in columns and at a point") {
    RoundSetup setup = llama_on("rtx-4090", "vllm-0.14");
    setup.precision.kv_cache = Storage{NumberFormat::fp8};
    const CompiledRound round = compile_round(setup);
    const std::vector<int> speculation(40, 5);
    std::vector<double> batches, contexts;
    for (int i = 0; i < 40; ++i) {
        batches.push_back(1.0 + i);
        contexts.push_back(100.0 * i);
    }
    std::vector<RoundEstimate> columns(40);
    evaluate(round, {speculation, batches, contexts}, columns);
    for (std::size_t i = 0; i < columns.size(); ++i) {
        CHECK(columns[i].round == evaluate(round, {5, batches[i], contexts[i]}).round);
    }
}

TEST_CASE("SGLang copies accepted states after a round: a read and a write of each layer's, once since 0.5.6, before twice") {
    RoundSetup setup;
    setup.target = model("qwen3.5-27b");
    setup.precision = setup.target.precision;
    setup.platform = platform("h100-sxm", "sglang-0.5.6");
    setup.platform.mode = CostMode::roofline;
    setup.platform.stack.kernels.kernel_startup = setup.platform.stack.launching.node_cost = Seconds(0.0);
    setup.drafter = OneLayerDrafter{};
    setup.acceptance = Acceptance::geometric(0.6);
    setup.rollback = Rollback::snapshot;
    const auto copies = [&](double times) {
        setup.platform.stack.states.committed_copies = times;
        return evaluate(compile_round(setup), {3, 8.0, 1'000.0}).rollback.value();
    };
    // 48 gated delta layers, 48 heads of 128 by 128 values in fp32, and 3 inputs of 10,240 channels of their convolutions.
    const double state = 48.0 * (48.0 * 128.0 * 128.0 * 4.0);
    const double at_bandwidth = 8.0 * 2.0 * state / (3.35e12 * setup.platform.stack.kernels.memory_efficiency);
    CHECK(copies(1.0) == Approx(at_bandwidth).epsilon(0.05));
    CHECK(copies(2.0) == Approx(2.0 * copies(1.0)).epsilon(1e-9));
    CHECK(copies(0.0) == 0.0);
    setup.rollback = Rollback::replay;  // which has no state of every token to take one from
    const double replayed = copies(0.0);
    CHECK(replayed > 0.0);
    CHECK(copies(2.0) == replayed);
    setup.rollback = Rollback::snapshot;
    CHECK(platform("h100-sxm", "sglang-0.5.1").stack.states.committed_copies == 2.0);
    CHECK(platform("h100-sxm", "sglang-0.5.6").stack.states.committed_copies == 1.0);
}

TEST_CASE("policies that need a flag are not among what an engine does by itself") {
    const Model target = model("qwen3.5-27b");
    const Stack sglang = platform("h100-sxm", "sglang").stack;
    CHECK(rollbacks_for(target, sglang) == std::vector<Rollback>{Rollback::snapshot});
    CHECK(rollbacks_for(target, sglang, true) == std::vector<Rollback>{Rollback::snapshot, Rollback::ring});
    CHECK(sglang.states.rollback_flags.at(Rollback::ring) == "--enable-linear-replayssm-spec");
    CHECK(rollbacks_for(model("llama-3-8b"), sglang) == std::vector<Rollback>{Rollback::truncate});
    // Whoever asks for it gets it, for chains.
    RoundSetup setup;
    setup.target = target;
    setup.precision = target.precision;
    setup.platform = platform("h100-sxm", "sglang");
    setup.drafter = OneLayerDrafter{};
    setup.acceptance = DraftAcceptance(Acceptance::geometric(0.6));
    setup.acceptance.siblings = RankAcceptance(std::vector<double>{0.6, 0.2, 0.1, 0.05});
    setup.rollback = Rollback::ring;
    setup.speculations.push_back({SglangShape{3, 4, 8}, Verification::packed, "sglang 3,4,8"});
    const CompiledRound round = compile_round(setup);
    CHECK(round.runs(3));
    CHECK(round.rows.back().problem == "the engine of the stack 'sglang-0.5.15' replays chains only");
}

TEST_CASE("a recurrent target adds its host time to each round of an engine that commits states") {
    RoundSetup setup;
    setup.target = model("qwen3.5-27b");
    setup.precision = setup.target.precision;
    setup.platform = platform("h100-sxm", "sglang");
    setup.drafter = OneLayerDrafter{};
    setup.acceptance = Acceptance::geometric(0.6);
    setup.rollback = Rollback::snapshot;
    const Seconds host = evaluate(compile_round(setup), {3, 4.0, 100.0}).host;
    setup.platform.stack.host[HostDriver::recurrent_round] += Seconds(1e-3);
    const RoundEstimate slower = evaluate(compile_round(setup), {3, 4.0, 100.0});
    CHECK((slower.host - host).value() == Approx(1e-3));
    CHECK(evaluate(compile_round(setup), {0, 4.0, 100.0}).host == Seconds(0.0));
}

namespace {

/// Seconds of one scan of a verification of 7 drafts of Qwen3.5-27B.
double verified_scan(const RoundSetup& setup, double batch) {
    Seconds scans;
    for (const ExplainedPass& pass : explain(compile_round(setup), {7, batch, 1'000.0})) {
        for (const OperationEstimate& operation : pass.operations) {
            scans += pass.phase == "verify" && operation.kind == OperationKind::scan ? operation.time / operation.count
                                                                                     : Seconds(0.0);
        }
    }
    return scans.value();
}

RoundSetup recurrent_setup(const std::string& device, const std::string& stack) {
    RoundSetup setup;
    setup.target = model("qwen3.5-27b");
    setup.precision = setup.target.precision;
    setup.platform = platform(device, stack);
    setup.platform.mode = CostMode::calibrated;
    setup.drafter = OneLayerDrafter{};
    setup.acceptance = Acceptance::geometric(0.6);
    setup.rollback = Rollback::snapshot;
    return setup;
}

/// 48 heads of 128 by 128 values in fp32; inputs and outputs of the tokens are a hundredth of that.
double by_law(const RecurrentVerificationLaw& law, const Device& device, double batch) {
    const RecurrentVerification shape{batch, 8.0, 48.0, Bytes(48.0 * 128.0 * 128.0 * 4.0)};
    return time_of(law, shape, device.bandwidth, device.multiprocessors).value();
}

}  // namespace

TEST_CASE("a chain that keeps a state of every token takes what the law of the engine's kernel says") {
    const RoundSetup setup = recurrent_setup("h100-sxm", "sglang");
    const Device& device = setup.platform.device;
    REQUIRE(device.calibration);
    const RecurrentVerificationLaw* law = device.calibration->recurrent_verification_law("sglang");
    REQUIRE(law != nullptr);
    REQUIRE(law->family == "sglang");
    for (const double batch : {1.0, 16.0}) {
        INFO(batch);
        CHECK(verified_scan(setup, batch) == Approx(by_law(*law, device, batch)).epsilon(0.02));
    }
}

TEST_CASE("what was published of a device's chains comes before what is carried over from another") {
    const RoundSetup setup = recurrent_setup("b200", "sglang");
    const Device& device = setup.platform.device;
    REQUIRE(device.recurrent_verification.size() == 1);
    const RecurrentVerificationLaw& own = device.recurrent_verification.front();
    for (const double batch : {1.0, 16.0}) {
        CHECK(verified_scan(setup, batch) == Approx(by_law(own, device, batch)).epsilon(0.02));
    }
    // Triton's kernel with 32 heads of bf16 states, 4 tokens and its gated norm, 3 us: 20.3, 27.9, 35.7 and 46.7 us for 1, 4, 8
    // and 16 sequences (vLLM pull request 51674).
    const auto published = [&](double sequences) {
        const RecurrentVerification shape{sequences, 4.0, 32.0, Bytes(32.0 * 128.0 * 128.0 * 2.0)};
        return 1e6 * time_of(own, shape, device.bandwidth, device.multiprocessors).value() + 3.0;
    };
    CHECK(published(1.0) == Approx(20.3).epsilon(0.12));
    CHECK(published(4.0) == Approx(27.9).epsilon(0.12));
    CHECK(published(8.0) == Approx(35.7).epsilon(0.12));
    CHECK(published(16.0) == Approx(46.7).epsilon(0.12));
}

TEST_CASE("vLLM verifies Gated DeltaNet, and no other recurrence, by the kernel that SGLang has") {
    RoundSetup setup = recurrent_setup("h100-sxm", "vllm");
    const Device& device = setup.platform.device;
    const auto law_of = [&](const char* family) { return *device.calibration->recurrent_verification_law(family); };
    CHECK(verified_scan(setup, 4.0) == Approx(by_law(law_of("sglang"), device, 4.0)).epsilon(0.02));
    setup.platform.stack.picked.delta_rule_kernels.clear();
    CHECK(verified_scan(setup, 4.0) == Approx(by_law(law_of("vllm"), device, 4.0)).epsilon(0.02));
    // A decay for each channel is another kernel (KDA).
    for (LayerKind& kind : setup.target.kinds) {
        for (Block& block : kind.blocks) {
            if (auto* delta = std::get_if<GatedDelta>(&block.kind)) {
                delta->decay_rank = 128;
            }
        }
    }
    const double per_channel = verified_scan(setup, 4.0);
    setup.platform.stack.picked.delta_rule_kernels = "sglang";
    CHECK(verified_scan(setup, 4.0) == per_channel);
}

}  // namespace verification_rules_test
