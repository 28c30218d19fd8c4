// A model shared out over devices: experts dealt out, attention data parallel, pipeline stages. Oracles are counting by hand
// and random draws.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "operation_time.h"
#include "setups.h"
#include "sim/layers/layers.h"
#include "sim/parallelism.h"
#include "weighted_draws.h"

namespace parallelism_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

/// Rows of the busiest of `ranks`, in the mean over draws: every token picks `active` of `experts` without replacement, with
/// the given popularity, and experts lie on ranks at random.
double drawn_busiest(int tokens, int experts, int active, int ranks, double skew, int draws) {
    std::mt19937_64 random(7);
    std::vector<int> place(static_cast<std::size_t>(experts));
    std::iota(place.begin(), place.end(), 0);
    double sum = 0.0;
    for (int draw = 0; draw < draws; ++draw) {
        std::shuffle(place.begin(), place.end(), random);
        std::vector<int> rows(static_cast<std::size_t>(ranks), 0);
        for (int token = 0; token < tokens; ++token) {
            for (const int expert : drawn_choice(experts, active, skew, random)) {
                ++rows[static_cast<std::size_t>(place[static_cast<std::size_t>(expert)] % ranks)];
            }
        }
        sum += *std::max_element(rows.begin(), rows.end());
    }
    return sum / draws;
}

double predicted_busiest(double tokens, double experts, double active, double ranks, double skew) {
    const BusiestRank busiest = busiest_rank(experts, active, ranks, skew);
    const double seeming = std::min(busiest.share * tokens + busiest.spread * std::sqrt(tokens), busiest.most * tokens);
    return seeming * active / ranks;
}

RoundSetup deepseek(double tensor, const Parallelism& parallel, CostMode mode = CostMode::roofline) {
    RoundSetup setup;
    setup.target = model("deepseek-v3");
    setup.precision = setup.target.precision;
    setup.platform = platform("h200", "vllm", tensor);
    setup.platform.parallel = parallel;
    setup.platform.mode = mode;
    return setup;
}

Operation operation_named(const std::vector<Operation>& operations, const std::string& end) {
    for (const Operation& operation : operations) {
        if (operation.name.ends_with(end)) {
            return operation;
        }
    }
    FAIL("no operation is called " << end);
    return {};
}

/// DeepSeek-V3 whose experts are equally popular.
Model even_deepseek() {
    Model target = model("deepseek-v3");
    for (LayerKind& kind : target.kinds) {
        for (Block& block : kind.blocks) {
            if (auto* mixture = std::get_if<MixtureOfExperts>(&block.kind)) {
                mixture->routing_skew = 0.0;
            }
        }
    }
    return target;
}

std::vector<Operation> operations_at(double tensor, const Parallelism& parallel, PassKind kind = PassKind::decode) {
    const Model target = even_deepseek();
    PassOptions options{kind, StateWrites::final_state, tensor};
    options.parallel = parallel;
    return operations_of(target, target.precision, options);
}

bool mentions(const std::vector<std::string>& problems, const std::string& words) {
    return std::any_of(problems.begin(), problems.end(),
                       [&](const std::string& problem) { return problem.find(words) != std::string::npos; });
}

}  // namespace

TEST_CASE("the busiest rank's rows are those of random draws under uniform routing") {
    for (const int ranks : {2, 4, 8, 32}) {
        for (const int tokens : {1, 4, 16, 128, 512}) {
            CAPTURE(ranks, tokens);
            const double drawn = drawn_busiest(tokens, 64, 6, ranks, 0.0, tokens > 100 ? 40 : 400);
            CHECK(predicted_busiest(tokens, 64, 6, ranks, 0.0) == Approx(drawn).epsilon(tokens < 16 ? 0.2 : 0.07));
        }
    }
    CHECK(busiest_rank(64, 6, 1, 0.8).share == 1.0);
    CHECK(busiest_rank(64, 6, 1, 0.8).spread == 0.0);
}

TEST_CASE("popular experts keep a rank busier however many tokens there are") {
    for (const double skew : {0.3, 0.6}) {
        CAPTURE(skew);
        const double drawn = drawn_busiest(512, 64, 6, 8, skew, 60);
        const double even = 512.0 * 6.0 / 8.0;
        CHECK(drawn > 1.1 * even);
        CHECK(predicted_busiest(512, 64, 6, 8, skew) == Approx(drawn).epsilon(0.12));
        CHECK(busiest_rank(64, 6, 8, skew).share > 1.0);
    }
    CHECK(busiest_rank(64, 6, 8, 0.0).share == Approx(1.0));
}

TEST_CASE("the largest of normal variables and the ranks that a token reaches are those of closed forms") {
    const double pi = std::acos(-1.0);
    CHECK(expected_largest(1.0) == 0.0);
    CHECK(expected_largest(2.0) == Approx(1.0 / std::sqrt(pi)).epsilon(1e-3));
    CHECK(expected_largest(3.0) == Approx(1.5 / std::sqrt(pi)).epsilon(0.02));
    // One expert a token reaches one rank; with as many ranks as experts, as many ranks as experts are active.
    CHECK(reached_ranks(256, 1, 8) == Approx(1.0));
    CHECK(reached_ranks(256, 8, 256) == Approx(8.0));
    // Two of four experts on two ranks: the second lies on the other rank with probability 2/3.
    CHECK(reached_ranks(4, 2, 2) == Approx(1.0 + 2.0 / 3.0));
}

TEST_CASE("experts dealt out take the memory of experts cut, and attention data parallelism copies attention") {
    const Model target = model("deepseek-v3");
    const double cut = stored_weights(target, target.precision, 8.0).value();
    const double dealt = stored_weights(target, target.precision, 8.0, {1.0, 8.0, 1.0}).value();
    CHECK(dealt == Approx(cut).epsilon(1e-12));
    const double groups = stored_weights(target, target.precision, 1.0, {8.0, 8.0, 1.0}).value();
    const Operation routed = operation_named(operations_at(1.0, {8.0, 8.0, 1.0}), "routed experts");
    const Operation whole = operation_named(operations_at(1.0, {}), "routed experts");
    CHECK(routed.stored.value() == Approx(whole.stored.value() / 8.0));
    CHECK(groups > dealt);
    // Everything but the experts is whole on each rank.
    const double all = stored_weights(target, target.precision, 1.0).value();
    const double experts = whole.stored.value() * whole.weight_copies;
    CHECK(groups == Approx(all - experts * 7.0 / 8.0));
}

TEST_CASE("a rank's part of the experts' work adds up to the layer's, before one rank is busier than others") {
    const Operation whole = operation_named(operations_at(1.0, {}), "routed experts");
    for (const Parallelism& parallel : {Parallelism{1.0, 8.0, 1.0}, Parallelism{8.0, 8.0, 1.0}, Parallelism{2.0, 4.0, 1.0}}) {
        const double tensor = 8.0 / parallel.data;
        const Operation part = operation_named(operations_at(tensor, parallel), "routed experts");
        CAPTURE(parallel.data, parallel.experts);
        CHECK(part.flops.per_token.value() * 8.0 == Approx(whole.flops.per_token.value()));
        CHECK(part.bytes.per_expert.value() * part.expert_count * 8.0 ==
              Approx(whole.bytes.per_expert.value() * whole.expert_count));
        CHECK(part.busiest_share == Approx(parallel.data));
    }
}

TEST_CASE("rows travel only where groups have requests of their own") {
    const auto has = [](const std::vector<Operation>& operations, const std::string& end) {
        return std::any_of(operations.begin(), operations.end(),
                           [&](const Operation& operation) { return operation.name.ends_with(end); });
    };
    CHECK_FALSE(has(operations_at(8.0, {1.0, 8.0, 1.0}), "expert dispatch"));
    CHECK(has(operations_at(8.0, {1.0, 8.0, 1.0}), "all-reduce"));
    CHECK(has(operations_at(1.0, {8.0, 8.0, 1.0}), "expert dispatch"));
    CHECK(has(operations_at(1.0, {8.0, 8.0, 1.0}), "expert combine"));
    CHECK_FALSE(has(operations_at(1.0, {8.0, 8.0, 1.0}), "all-reduce"));
    CHECK(has(operations_at(1.0, {8.0, 1.0, 1.0}), "all-gather and reduce-scatter"));
    // Decoding sends 8 copies of 7,168 elements in fp8 with scales, a prompt as many as ranks are reached.
    const Operation dispatch = operation_named(operations_at(1.0, {8.0, 8.0, 1.0}), "expert dispatch");
    CHECK(dispatch.bytes.per_token.value() == Approx(8.0 * 7168.0 * (1.0 + 4.0 / 128.0)));
    const Operation prompt = operation_named(operations_at(1.0, {8.0, 8.0, 1.0}, PassKind::prefill), "expert dispatch");
    CHECK(prompt.bytes.per_token.value() == Approx(reached_ranks(256, 8, 8) * 7.0 / 8.0 * 7168.0 * (1.0 + 4.0 / 128.0)));
    // The ranks of a group share its tokens out among them.
    CHECK(operation_named(operations_at(2.0, {4.0, 8.0, 1.0}), "expert dispatch").bytes.per_token.value() ==
          Approx(dispatch.bytes.per_token.value() / 2.0));
}

TEST_CASE("an exchange takes its startup or its transfer, and a part of the shorter") {
    Operation operation;
    operation.kernel = KernelClass::expert_dispatch;
    set_exchange({10.0, 2.0, 4.0, 2.0, Storage{NumberFormat::int8}, false}, operation);
    KernelLaw law;
    law.startup = Seconds(100.0);
    law.bandwidth_share = 0.5;
    law.overlap = 0.25;
    law.per_input = Seconds(1.0);
    law.exchange.per_expert = Seconds(5.0);
    Rates sheet;
    sheet.per_byte = 1.0 / BytesPerSecond(1.0);
    const auto time = [&](double tokens) {
        const Rates rates = measured_rates(law, sheet, operation);
        REQUIRE(std::holds_alternative<Exchange>(rates.rule));
        return testing::time_of(operation, rates, {tokens}).value();
    };
    // 2 experts of 10 bytes a token at half a byte a second; 100 + 10·1 + 4·5 to start.
    CHECK(time(1.0) == Approx(130.0 + 0.25 * 40.0));
    CHECK(time(10.0) == Approx(400.0 + 0.25 * 130.0));
    law.exchange.expert_rate = BytesPerSecond(0.1);  // four experts take 0.4 bytes a second
    CHECK(time(10.0) == Approx(500.0 + 0.25 * 130.0));
    law.exchange.per_token = Seconds(2.0);
    CHECK(time(10.0) == Approx(520.0 + 0.25 * 130.0));
}

TEST_CASE("latent caches are replicated under tensor parallelism and not under attention data parallelism") {
    const auto cache = [](const RoundSetup& setup) {
        for (const MemoryPart& part : memory_parts(compile_round(setup), {0, 64.0, 4096.0})) {
            if (part.part == "target key-value cache") {
                return part.bytes.value();
            }
        }
        return 0.0;
    };
    const double replicated = cache(deepseek(8.0, {1.0, 8.0, 1.0}));
    CHECK(cache(deepseek(1.0, {8.0, 8.0, 1.0})) == Approx(replicated / 8.0));
    CHECK(cache(deepseek(2.0, {4.0, 8.0, 1.0})) == Approx(replicated / 4.0));
}

TEST_CASE("ranks that share the context hold a part of the cache, and gather queries and merge outputs") {
    const RoundSetup whole = deepseek(8.0, {});
    RoundSetup shared = whole;
    shared.platform.parallel.context = 4.0;
    REQUIRE(problems_of(shared).empty());
    const auto cache = [](const RoundSetup& setup) {
        for (const MemoryPart& part : memory_parts(compile_round(setup), {0, 64.0, 4096.0})) {
            if (part.part == "target key-value cache") {
                return part.bytes.value();
            }
        }
        return 0.0;
    };
    CHECK(cache(shared) == Approx(cache(whole) / 4.0));
    PassOptions options{PassKind::decode, StateWrites::final_state, 8.0};
    options.parallel.context = 4.0;
    const auto total = [&](const char* name) {
        double bytes = 0.0;
        for (const Operation& operation : operations_of(whole.target, whole.precision, options)) {
            bytes += operation.name.ends_with(name) ? operation.bytes.per_token.value() * operation.count : 0.0;
        }
        return bytes;
    };
    // 128 heads on 8 ranks are 16; three other ranks' of 512 + 64 elements (queries) and of 512 (outputs), in 61 layers.
    CHECK(total("gather of queries") == Approx(61.0 * 3 * 16 * 576 * 2));
    CHECK(total("gather of sums") == Approx(61.0 * 3 * 16 * 4));
    CHECK(total("merge of outputs") == Approx(61.0 * 3 * 16 * 512 * 2));
    // DeepSeek-V3.2 picks 2,048 tokens: index and score of as many from each of three other ranks.
    CHECK(total("merge of picks") == 0.0);
    const Model sparse = model("deepseek-v3.2");
    double picks = 0.0;
    for (const Operation& operation : operations_of(sparse, sparse.precision, options)) {
        picks += operation.name.ends_with("merge of picks") ? operation.bytes.per_token.value() * operation.count : 0.0;
    }
    CHECK(picks == Approx(61.0 * 3 * 2048 * 8));
    shared.platform.parallel.context = 3.0;
    CHECK(mentions(problems_of(shared), "decode_context_parallel is 3, which does not divide tensor_parallel 8"));
}

TEST_CASE("one request on eight groups costs what a group's own request costs, not less") {
    const CompiledRound round = compile_round(deepseek(1.0, {8.0, 8.0, 1.0}));
    const RoundEstimate one = evaluate(round, {0, 1.0, 2048.0}), eight = evaluate(round, {0, 8.0, 2048.0});
    CHECK(one.time_per_token == eight.time_per_token);
    CHECK(eight.tokens_per_second_device == Approx(8.0 * one.tokens_per_second_device));
    CHECK(evaluate(round, {0, 9.0, 2048.0}).time_per_token > eight.time_per_token);
}

TEST_CASE("a pipeline's token passes every stage: the time of one request, plus hops") {
    RoundSetup setup = deepseek(8.0, {});
    const CompiledRound whole = compile_round(setup);
    setup.platform.parallel.pipeline = 2.0;
    const CompiledRound staged = compile_round(setup);
    const Interconnect& network = *link_between(setup.platform, 16.0);
    const double hop = network.latency.value() + 7168.0 * 2.0 / 8.0 / network.bandwidth.value();
    const DesignPoint one{0, 1.0, 1024.0};
    const double gap = staged.pass(PassId::plain).node_time.value() - whole.pass(PassId::plain).node_time.value();
    CHECK(evaluate(staged, one).time_per_token.value() ==
          Approx(evaluate(whole, one).time_per_token.value() + 2.0 * hop + gap).epsilon(1e-9));
    // Two batches in flight: each of half the sequences. The larger stage has 31 of 61 layers.
    const double half = evaluate(whole, {0, 32.0, 1024.0}).autoregressive.value() + 2.0 * hop + gap;
    CHECK(evaluate(staged, {0, 64.0, 1024.0}).autoregressive.value() == Approx(half * 2.0 * 31.0 / 61.0).epsilon(1e-3));
    // Half the weights and caches on a device.
    CHECK(staged.memory.target_weights < 0.53 * whole.memory.target_weights);
    CHECK(staged.memory.target_weights > 0.5 * whole.memory.target_weights);
}

TEST_CASE("drafting sits in one stage, where nothing hides it") {
    RoundSetup setup = deepseek(8.0, {1.0, 1.0, 4.0});
    setup.drafter = OneLayerDrafter{};
    setup.acceptance = Acceptance::geometric(0.7);
    const CompiledRound round = compile_round(setup);
    const RoundEstimate one = evaluate(round, {2, 1.0, 1024.0}), many = evaluate(round, {2, 64.0, 1024.0});
    // Alone, a request waits for no one. With four batches in flight the last stage drafts for each of them in turn.
    setup.platform.parallel.pipeline = 1.0;
    const RoundEstimate unstaged = evaluate(compile_round(setup), {2, 1.0, 1024.0});
    CHECK(one.draft == unstaged.draft);
    CHECK(one.round.value() < unstaged.round.value() * 1.05 + 4.0 * 60e-6);
    const RoundEstimate quarter = evaluate(compile_round(setup), {2, 16.0, 1024.0});
    const double hop_free = quarter.verify.value() * 16.0 / 61.0 * 4.0 + 4.0 * quarter.draft.value();
    CHECK(many.round.value() > hop_free);
}

TEST_CASE("columns equal points bit for bit whatever the cut") {
    std::mt19937_64 random(3);
    for (const auto& [tensor, parallel] :
         {std::pair{8.0, Parallelism{1.0, 8.0, 1.0}}, std::pair{1.0, Parallelism{8.0, 8.0, 1.0}},
          std::pair{2.0, Parallelism{4.0, 4.0, 2.0}}, std::pair{3.0 - 1.0, Parallelism{4.0, 1.0, 3.0}}}) {
        RoundSetup setup = deepseek(tensor, parallel, CostMode::calibrated);
        setup.drafter = OneLayerDrafter{};
        setup.acceptance = Acceptance::geometric(0.7);
        setup.prompt_tokens = 1000.0;
        setup.output_tokens = 500.0;
        REQUIRE(problems_of(setup).empty());
        const CompiledRound round = compile_round(setup);
        std::vector<int> speculation;
        std::vector<double> batch, context;
        for (int i = 0; i < 2000; ++i) {
            speculation.push_back(static_cast<int>(random() % 6));
            batch.push_back(1.0 + static_cast<double>(random() % 300));
            context.push_back(static_cast<double>(random() % 9000));
        }
        std::vector<RoundEstimate> estimates(batch.size());
        evaluate(round, {speculation, batch, context}, estimates);
        std::size_t different = 0;
        for (std::size_t i = 0; i < estimates.size(); ++i) {
            const RoundEstimate point = evaluate(round, {speculation[i], batch[i], context[i]});
            different += point.round == estimates[i].round && point.memory == estimates[i].memory &&
                                 point.tokens_per_second_device == estimates[i].tokens_per_second_device
                             ? 0
                             : 1;
        }
        CHECK(different == 0);
    }
}

TEST_CASE("cuts that cannot be are refused in one sentence that names the key") {
    const auto refused = [](double tensor, const Parallelism& parallel, const std::string& words) {
        const std::vector<std::string> problems = problems_of(deepseek(tensor, parallel));
        CAPTURE(words, problems);
        return problems.size() == 1 && mentions(problems, words);
    };
    CHECK(problems_of(deepseek(2.0, {4.0, 8.0, 1.0})).empty());
    CHECK(refused(4.0, {1.0, 3.0, 1.0}, "expert_parallel is 3, which does not divide the 4 ranks"));
    CHECK(refused(1.0, {3.0, 3.0, 1.0}, "expert_parallel is 3, which does not divide the 256 experts of deepseek-v3"));
    CHECK(refused(1.0, {3.0, 1.0, 1.0}, "experts of deepseek-v3 are 2048 wide, which 3 ranks cannot share evenly"));
    CHECK(refused(1.0, {1.0, 1.0, 62.0}, "pipeline_parallel is 62, but deepseek-v3 has 61 layers"));
    CHECK(refused(4.0, {1.0, 1.0, 1.0, 3.0}, "draft_tensor_parallel is 3, which does not divide tensor_parallel 4"));
    RoundSetup dense;
    dense.target = model("llama-3.1-8b");
    dense.precision = dense.target.precision;
    dense.platform = platform("h100-sxm", "vllm", 2.0);
    dense.platform.parallel.experts = 2.0;
    CHECK(mentions(problems_of(dense), "expert_parallel is 2, but llama-3.1-8b has no experts"));
    dense.platform.parallel = {2.0, 1.0, 1.0};
    CHECK(mentions(problems_of(dense), "attention_data_parallel is 2, but llama-3.1-8b has no experts"));
    // NVLink joins eight: a link that is asked for by name must reach.
    RoundSetup wide = deepseek(8.0, {2.0, 16.0, 1.0});
    wide.platform.interconnect = "nvlink";
    CHECK(refused(8.0, {2.0, 16.0, 1.0}, "") == false);
    CHECK(mentions(problems_of(wide), "no interconnect that reaches so far"));
    CHECK(mentions(problems_of(wide), "16 devices"));
}

TEST_CASE("several hosts: tensor parallelism stays on the fast link, rows cross the slow one") {
    const RoundSetup setup = deepseek(8.0, {4.0, 32.0, 1.0}, CostMode::calibrated);
    REQUIRE(problems_of(setup).empty());
    CHECK(link_between(setup.platform, 8.0)->name == "nvlink");
    CHECK(link_between(setup.platform, 32.0)->name == "network");
    CHECK(link_of(setup.platform)->name == "network");
    const CompiledPass pass = compile_pass(setup.target, setup.precision, setup.platform, {});
    for (std::size_t i = 0; i < pass.operations.size(); ++i) {
        const std::string& name = pass.launched[i].name;
        const Rates& rates = pass.operations[i].rates;
        if (name.ends_with("expert dispatch")) {
            // Of 32 ranks 8 are on the own host, whose rows take NVLink.
            const double slow = link_between(setup.platform, 32.0)->bandwidth.value();
            CHECK(rates.per_byte.value() == Approx(0.75 / slow));
        }
        if (name.ends_with("attention, all-reduce") || name.ends_with(": all-reduce")) {
            CHECK(std::holds_alternative<CollectiveLines>(rates.rule));  // measured
        }
    }
}

TEST_CASE("a drafter on one rank moves all of its weights, and nothing between ranks") {
    RoundSetup setup = deepseek(8.0, {});
    setup.drafter = IndependentDrafter{model("deepseek-v3"), model("deepseek-v3").precision};
    setup.acceptance = Acceptance::geometric(0.7);
    const CompiledRound shared = compile_round(setup);
    setup.platform.parallel.draft_tensor = 1.0;
    const CompiledRound alone = compile_round(setup);
    CHECK(alone.memory.draft_weights > 7.5 * shared.memory.draft_weights);
    const auto collectives = [](const CompiledPass& pass) {
        return std::count_if(pass.launched.begin(), pass.launched.end(),
                             [](const LaunchedOperation& operation) { return operation.kind == OperationKind::collective; });
    };
    CHECK(collectives(shared.pass(PassId::draft)) > 0);
    CHECK(collectives(alone.pass(PassId::draft)) == 0);
    CHECK(collectives(alone.pass(PassId::plain)) > 0);
}

TEST_CASE("tensor parallelism reduces the embedding and gathers logits") {
    const Model target = model("llama-3.1-70b");
    const auto operations = operations_of(target, target.precision, {PassKind::decode, StateWrites::final_state, 4.0});
    const Operation gathered = operation_named(operations, "output: all-gather");
    CHECK(gathered.bytes.per_logit.value() == Approx(2.0 * 128256.0 * 3.0 / 4.0));
    const Operation reduced = operation_named(operations, "input: all-reduce");
    CHECK(reduced.bytes.per_token.value() == Approx(2.0 * 8192.0 * 1.5));
    const auto alone = operations_of(target, target.precision, {});
    CHECK(std::none_of(alone.begin(), alone.end(),
                       [](const Operation& operation) { return operation.kind == OperationKind::collective; }));
}

TEST_CASE("a drafter is cut over as many ranks as the target, or a part of them") {
    const auto wrong = [](double of_drafter) {
        Parallelism parallel;
        parallel.draft_tensor = of_drafter;
        return problems_of(model("llama-3-8b"), 4.0, parallel).size();
    };
    CHECK(wrong(4.0) == 0);
    CHECK(wrong(2.0) == 0);
    CHECK(wrong(3.0) == 1);
    CHECK(wrong(8.0) == 1);
}

TEST_CASE("a cut is told by its degrees above one; of two experts on two ranks one is busier by a known part") {
    CHECK(text_of(1.0, {}).empty());
    CHECK(text_of(2.0, {2.0, 4.0, 2.0, 0.0, 2.0}) == "tensor 2, attention data 2, experts 4, pipeline 2, context 2");
    CHECK(text_of(1.0, {1.0, 1.0, 3.0, 0.0, 1.0}) == "pipeline 3");
    // A token reaches either rank: variance 1/2·1/2, the larger of two by 0.5642 deviations.
    const BusiestRank busiest = busiest_rank(2.0, 1.0, 2.0, 0.0);
    CHECK(busiest.spread == Approx(0.5642 * 0.5 * 2));
    CHECK(busiest.most == 2.0);
}

}  // namespace parallelism_test
