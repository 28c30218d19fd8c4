// Is a round the sum of its parts, do both faces agree to the last bit, and does physics hold?
#include <catch2/catch.hpp>

#include <cstring>
#include <random>

#include "setups.h"

namespace round_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

struct Columns {
    std::vector<int> draft_tokens;
    std::vector<double> batch, context;
};

Columns random_points(std::size_t count, int longest, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> k(0, longest);
    std::uniform_real_distribution<double> log_batch(0.0, 10.0);
    std::uniform_int_distribution<int> context(0, 131072);
    Columns columns;
    for (std::size_t i = 0; i < count; ++i) {
        columns.draft_tokens.push_back(k(random));
        columns.batch.push_back(std::floor(std::exp2(log_batch(random))));
        columns.context.push_back(context(random));
    }
    return columns;
}

std::vector<RoundSetup> varied_setups() {
    std::vector<RoundSetup> setups;
    setups.push_back(pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph")));
    setups.push_back(pair_setup("llama-3-70b", "llama-3-8b", platform("h100-sxm", "eager", 8)));
    setups.push_back(pair_setup("mamba2-2.7b", "mamba2-130m", platform("rtx-4090", "cuda-graph")));
    setups.push_back(pair_setup("qwen3-30b-a3b", "qwen3-0.6b", platform("a100-sxm-80", "vllm")));
    RoundSetup sparse = setups.front();
    sparse.drafter = SelfDrafter{{512.0, 4.0, 1.0}, {}, {}, false};
    sparse.decoding = Decoding::sampling;
    setups.push_back(sparse);
    RoundSetup hybrid = setups.front();
    hybrid.target = model("qwen3.5-27b");
    hybrid.precision = hybrid.target.precision;
    hybrid.drafter = OneLayerDrafter{};
    hybrid.rollback = Rollback::snapshot;
    setups.push_back(hybrid);
    RoundSetup hoi = setups.front();
    hoi.platform.mode = CostMode::hoi;
    setups.push_back(hoi);
    for (const std::size_t measured : {0, 1, 3, 5}) {  // h100, h100, a100 and a hybrid on h100
        RoundSetup calibrated = setups[measured];
        calibrated.platform.mode = CostMode::calibrated;
        setups.push_back(calibrated);
    }
    RoundSetup latent = hybrid;  // and experts and all-reduces
    latent.target = model("deepseek-v3");
    latent.precision = latent.target.precision;
    latent.platform = platform("h100-sxm", "vllm", 8);
    latent.rollback = rollbacks_for(latent.target).front();
    latent.platform.mode = CostMode::calibrated;
    setups.push_back(latent);
    return setups;
}

}  // namespace

TEST_CASE("columns equal points bit for bit on 100,000 random points") {
    std::size_t compared = 0;
    for (const RoundSetup& setup : varied_setups()) {
        REQUIRE(problems_of(setup).empty());
        const CompiledRound round = compile_round(setup);
        const Columns columns = random_points(15'000, 16, 42);
        std::vector<RoundEstimate> estimates(columns.batch.size());
        evaluate(round, {columns.draft_tokens, columns.batch, columns.context}, estimates);
        std::size_t different = 0;
        for (std::size_t i = 0; i < estimates.size(); ++i) {
            const RoundEstimate point = evaluate(round, {columns.draft_tokens[i], columns.batch[i], columns.context[i]});
            different += point == estimates[i] ? 0 : 1;
        }
        CHECK(different == 0);
        compared += estimates.size();
    }
    CHECK(compared >= 100'000);
}

TEST_CASE("drafting nothing is plain decoding") {
    for (const RoundSetup& setup : varied_setups()) {
        const RoundEstimate estimate = evaluate(compile_round(setup), {0, 8.0, 2048.0});
        CHECK(estimate.throughput_multiplier == 1.0);
        CHECK(estimate.round == estimate.autoregressive);
        CHECK(estimate.wasted_draft_share == 0.0);
    }
}

TEST_CASE("zero drafts beside a loaded drafter cost the pass that keeps its cache in step, and nothing without a cache") {
    // MTP in vLLM: 4 to 11 % of a step (vllm-project/vllm pull request 53426, two RTX 5090); a head of one layer on an H100.
    RoundSetup head = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    head.drafter = OneLayerDrafter::published_eagle3();
    const CompiledRound round = compile_round(head);
    const DesignPoint off{drafting_off, 16.0, 2048.0};
    const RoundEstimate plain = evaluate(round, {0, 16.0, 2048.0}), idle = evaluate(round, off);
    CHECK(idle.accept_length == 1.0);
    CHECK(idle.verify == plain.autoregressive);
    CHECK(idle.rollback + idle.host == Seconds(0.0));
    CHECK(idle.draft / plain.autoregressive > 0.02);
    CHECK(idle.draft / plain.autoregressive < 0.11);
    CHECK(idle.draft < evaluate(round, {1, 16.0, 2048.0}).draft);  // which also has logits
    CHECK(idle.throughput_multiplier == Approx(plain.round / idle.round));
    double explained = 0.0;
    for (const ExplainedPass& pass : explain(round, off)) {
        explained += pass.runs * pass.time.value();
    }
    CHECK(explained == Approx((idle.draft + idle.autoregressive).value()).epsilon(1e-12));
    head.drafter = NgramDrafter{};
    const CompiledRound lookup = compile_round(head);
    CHECK(evaluate(lookup, off).round == evaluate(lookup, {0, 16.0, 2048.0}).round);
}

TEST_CASE("a loaded drafter reads the prompts of a steady state whether or not it drafts") {
    RoundSetup head = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm"));
    head.prompt_tokens = 4000.0;
    head.output_tokens = 200.0;
    head.drafter = OneLayerDrafter::published_eagle3();
    const CompiledRound round = compile_round(head);
    const RoundEstimate plain = evaluate(round, {0, 16.0, 4100.0}), idle = evaluate(round, {drafting_off, 16.0, 4100.0});
    // Of 16 requests each waits for the prompts of the 15 others.
    const double others = round.prompt_wait * 15.0;
    CHECK(idle.prompts.value() == Approx(((round.prompts.target + round.prompts.drafter) * others).value()).epsilon(1e-12));
    CHECK(plain.prompts.value() == Approx((round.prompts.target * others).value()).epsilon(1e-12));
    CHECK(idle.first_token > plain.first_token);
    CHECK(idle.tokens_per_second_device < plain.tokens_per_second_device);
    head.drafter = NgramDrafter{};
    const CompiledRound lookup = compile_round(head);
    CHECK(evaluate(lookup, {drafting_off, 16.0, 4100.0}).first_token == evaluate(lookup, {0, 16.0, 4100.0}).first_token);
}

TEST_CASE("a round is the sum of its phases, and the explanation sums to them") {
    for (const RoundSetup& setup : varied_setups()) {
        const CompiledRound round = compile_round(setup);
        const DesignPoint point{4, 4.0, 4096.0};
        const RoundEstimate estimate = evaluate(round, point);
        CHECK((estimate.draft + estimate.verify + estimate.rollback + estimate.host).value() ==
              Approx(estimate.round.value()).epsilon(1e-12));
        double explained = estimate.host.value();
        for (const ExplainedPass& pass : explain(round, point)) {
            if (pass.phase != "plain decoding") {
                explained += pass.runs * pass.time.value();
            }
            double share = 0.0;
            for (const OperationEstimate& operation : pass.operations) {
                share += operation.share;
            }
            CHECK(share == Approx(1.0).epsilon(1e-9));
        }
        CHECK(explained == Approx(estimate.round.value()).epsilon(1e-12));
        double memory = 0.0;
        for (const MemoryPart& part : memory_parts(round, point)) {
            memory += part.bytes.value();
        }
        CHECK(memory == Approx(estimate.memory.value()).epsilon(1e-12));
    }
}

TEST_CASE("the accept length at break-even gives no gain") {
    RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    setup.platform.mode = CostMode::hoi;  // the only mode in which a round's time does not depend on acceptance at all
    const double break_even = evaluate(compile_round(setup), {4, 16.0, 2048.0}).iteration_multiplier;
    setup.acceptance = Acceptance::mean_length(break_even, 4.0);
    CHECK(evaluate(compile_round(setup), {4, 16.0, 2048.0}).throughput_multiplier == Approx(1.0).epsilon(1e-9));
}

TEST_CASE("a better device is never slower") {
    const RoundSetup base = pair_setup("llama-3-8b", "llama-3.2-1b", platform("a100-sxm-80", "cuda-graph"));
    for (const double factor : {1.01, 1.5, 10.0}) {
        RoundSetup faster_memory = base;
        faster_memory.platform.device.bandwidth *= factor;
        RoundSetup faster_compute = base;
        for (FlopsPerSecond& peak : faster_compute.platform.device.peak) {
            peak *= factor;
        }
        for (const double batch : {1.0, 32.0, 512.0}) {
            for (const int k : {0, 3, 8}) {
                const DesignPoint point{k, batch, 8192.0};
                const Seconds before = evaluate(compile_round(base), point).round;
                CHECK(evaluate(compile_round(faster_memory), point).round <= before);
                CHECK(evaluate(compile_round(faster_compute), point).round <= before);
            }
        }
    }
}

TEST_CASE("an eager stack is bound by its launches where the device is faster") {
    const RoundSetup eager = pair_setup("mamba2-130m", "mamba2-130m", platform("rtx-4090", "eager"));
    const CompiledRound round = compile_round(eager);
    const RoundEstimate estimate = evaluate(round, {1, 1.0, 0.0});
    CHECK(estimate.autoregressive == round.pass(PassId::plain).launch_time + round.pass(PassId::plain).host);
    // 24 layers with 7 operations each, and embedding, norm, head and sampling: a launch factor of kernels each.
    CHECK(round.pass(PassId::plain).launches > 24 * 6 * eager.platform.stack.launching.launch_factor);
}

TEST_CASE("eager Transformer layers cost about what was measured on an RTX 4090 host: 0.37 ms") {
    const CompiledRound round = compile_round(pair_setup("llama-3-8b", "llama-3.2-1b", platform("rtx-4090", "eager")));
    CHECK(round.pass(PassId::plain).launch_time.value() / 32.0 == Approx(0.37e-3).epsilon(0.10));
}

TEST_CASE("what memory a rollback policy holds: replay < recompute < snapshots of a long draft") {
    RoundSetup setup = pair_setup("mamba2-2.7b", "mamba2-130m", platform("rtx-4090", "cuda-graph"));
    const auto memory = [&](Rollback rollback) {
        setup.rollback = rollback;
        return evaluate(compile_round(setup), {7, 16.0, 0.0}).memory;
    };
    CHECK(memory(Rollback::replay) < memory(Rollback::recompute));
    CHECK(memory(Rollback::recompute) < memory(Rollback::snapshot));
    // Snapshots of 8 verified tokens: 8 further states of 64 layers × (80·64·128·4 + 3·5376·2) bytes a sequence.
    const double state = 64.0 * (80.0 * 64 * 128 * 4 + 3.0 * (5120 + 256) * 2);
    const double difference = (memory(Rollback::snapshot) - memory(Rollback::replay)).value();
    const double activations = 64.0 * 8 * 2.0 * (5120 + 128 + 80 + 5120 + 256);
    CHECK(difference == Approx(16.0 * (8 * state - activations)).epsilon(1e-9));
}

TEST_CASE("snapshots cost more time than replay when batches are large, as engines report") {
    RoundSetup setup = pair_setup("mamba2-2.7b", "mamba2-130m", platform("h100-sxm", "cuda-graph"));
    const auto time = [&](Rollback rollback) {
        setup.rollback = rollback;
        const RoundEstimate estimate = evaluate(compile_round(setup), {4, 256.0, 0.0});
        return estimate.verify + estimate.rollback;
    };
    CHECK(time(Rollback::snapshot) > time(Rollback::replay));
    CHECK(time(Rollback::recompute) > time(Rollback::replay));
}

TEST_CASE("problems of a setup are sentences that name the cause") {
    RoundSetup setup = pair_setup("llama-3-8b", "mamba2-130m", platform("h100-sxm", "cuda-graph"));
    REQUIRE(problems_of(setup).size() == 1);
    CHECK(problems_of(setup).front().find("vocabulary") != std::string::npos);
    setup.drafter = SpireDrafter{99, {}, true};
    CHECK(problems_of(setup).front().find("between 1 and 32 layers") != std::string::npos);
    setup.drafter = NgramDrafter{};
    setup.rollback = Rollback::replay;
    CHECK(problems_of(setup).front().find("no recurrent state") != std::string::npos);
    RoundSetup uneven = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph", 3));
    CHECK(problems_of(uneven).front().find("32 heads, which 3 devices cannot share evenly") != std::string::npos);
    RoundSetup sparse_mamba = pair_setup("mamba2-2.7b", "mamba2-130m", platform("rtx-4090", "cuda-graph", 2));
    sparse_mamba.platform.device.interconnects.clear();
    sparse_mamba.drafter = SelfDrafter{{512.0, 4.0, 1.0}, {}, {}, false};
    CHECK(problems_of(sparse_mamba).size() == 2);  // nothing to make sparse, no link for two devices
}

TEST_CASE("prefill of a long prompt is compute-bound and near its FLOPs over the peak") {
    const RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "ideal"));
    RoundSetup alone = setup;
    alone.drafter = NgramDrafter{};
    const double prompt = 4096.0;
    // 2·N·tokens for the 6.98 G body parameters, 4·h_q·d_h·L·n²/2 for attention; LM head for one token only.
    const double flops = 2.0 * 6979584000.0 * prompt + 4.0 * 32 * 128 * 32 * prompt * prompt / 2.0;
    const double seconds = time_to_first_token(compile_round(alone), prompt).value();
    CHECK(seconds >= flops / 989e12);
    CHECK(seconds <= 1.15 * flops / 989e12);                                     // element-wise kernels move their activations
    CHECK(time_to_first_token(compile_round(setup), prompt).value() > seconds);  // the drafter reads the prompt too
}

TEST_CASE("Medusa heads: one residual block and one LM head a draft token, no cache, no more drafts than heads") {
    RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    setup.platform.stack.kernels.memory_efficiency = 1.0;
    setup.drafter = MedusaDrafter{4, 1};
    const CompiledRound round = compile_round(setup);
    CHECK(round.runs(4));
    CHECK(round.row(5).problem.find("reaches 4 tokens ahead, not 5") != std::string::npos);
    // A head: 4096² + 4096 of the block, 4096·128,256 of its LM head, two bytes each.
    const double head = 2.0 * (4096.0 * 4096 + 4096 + 4096.0 * 128256);
    CHECK(round.memory.draft_weights.value() == Approx(4.0 * head));
    CHECK(round.memory.draft_caches.empty());
    const RoundEstimate estimate = evaluate(round, {4, 1.0, 2048.0});
    CHECK(estimate.draft.value() >= 4.0 * head / 3.35e12);
    CHECK(estimate.draft.value() <= 4.0 * head / 3.35e12 * 1.1);
}

TEST_CASE("a one-layer drafter shares the target's head and embedding, or brings a smaller head of its own") {
    RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    setup.drafter = OneLayerDrafter{};
    // One Llama-3-8B layer (218,112,000 parameters) and the fusion of two vectors of 4096: 2·4096·4096.
    const double layer = 218112000.0 + 2.0 * 4096 * 4096;
    CHECK(compile_round(setup).memory.draft_weights.value() == Approx(2.0 * layer).epsilon(1e-9));
    const Seconds shared = evaluate(compile_round(setup), {4, 1.0, 2048.0}).draft;
    setup.drafter = OneLayerDrafter{32000, 2};
    // Its own head: 4096·32,000 and the final norm.
    CHECK(compile_round(setup).memory.draft_weights.value() == Approx(2.0 * (layer + 4096.0 * 32000 + 4096)).epsilon(1e-9));
    CHECK(evaluate(compile_round(setup), {4, 1.0, 2048.0}).draft < shared);
}

TEST_CASE("an EAGLE-3 head weighs what the published checkpoint does") {
    RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    setup.drafter = OneLayerDrafter::published_eagle3();
    // yuhuili/EAGLE3-LLaMA3.1-Instruct-8B, half precision: fusion 3·4096², a layer whose q, k and v read 8192 (218,112,000 +
    // 4096·6144) and a head of 32,000 rows: 849 MB, about 811 MiB on disk. q, k and v of the usual width are 6 % less.
    const double published = 2.0 * (3.0 * 4096 * 4096 + 218112000.0 + 4096.0 * 6144 + 4096.0 * 32000);
    CHECK(published / (1024.0 * 1024.0) == Approx(811.0).epsilon(0.002));
    CHECK(compile_round(setup).memory.draft_weights.value() == Approx(published).epsilon(0.06));
    // The kind alone changes no cost.
    setup.drafter = OneLayerDrafter{32'000, 3};
    const RoundEstimate generic = evaluate(compile_round(setup), {4, 1.0, 2048.0});
    setup.drafter = OneLayerDrafter::published_eagle3();
    CHECK(evaluate(compile_round(setup), {4, 1.0, 2048.0}).round == generic.round);
}

}  // namespace round_test
