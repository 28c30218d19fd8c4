// Do two kinds of experts stand for a power law of popularity?
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "setups.h"
#include "sim/expert_popularity.h"
#include "sim/operation.h"
#include "sim/round.h"
#include "weighted_draws.h"

namespace expert_popularity_test {

using namespace treeline::sim;

namespace {

/// Experts that `tokens` tokens touch, in the mean over draws: each picks `active` without replacement by popularity.
double drawn_experts(int tokens, int experts, int active, double skew, int draws) {
    std::mt19937_64 random(11);
    double sum = 0.0;
    for (int draw = 0; draw < draws; ++draw) {
        std::vector<bool> touched(static_cast<std::size_t>(experts));
        for (int token = 0; token < tokens; ++token) {
            for (const int expert : treeline::testing::drawn_choice(experts, active, skew, random)) {
                touched[static_cast<std::size_t>(expert)] = true;
            }
        }
        sum += static_cast<double>(std::count(touched.begin(), touched.end(), true));
    }
    return sum / draws;
}

OperationCost experts_of(double experts, double active, double skew) {
    OperationCost cost;
    cost.expert_count = experts;
    const ExpertPopularity popularity = popularity_of(experts, active, skew);
    cost.log_miss = popularity.log_miss;
    cost.log_miss_hot = popularity.log_miss_hot;
    cost.hot_share = popularity.hot_share;
    return cost;
}

}  // namespace

TEST_CASE("popular experts leave fewer for a batch to touch, as drawn at random") {
    for (const auto& [experts, active] : {std::pair{64, 6}, std::pair{256, 8}}) {
        for (const auto& [skew, within] : {std::pair{0.3, 0.05}, std::pair{0.6, 0.05}, std::pair{0.9, 0.12}}) {
            const OperationCost cost = experts_of(experts, active, skew);
            for (const int tokens : {1, 4, 16, 64, 256}) {
                INFO(active << " of " << experts << ", skew " << skew << ", " << tokens << " tokens");
                CHECK(expected_experts(cost, tokens) ==
                      Approx(drawn_experts(tokens, experts, active, skew, 40)).epsilon(within));
            }
        }
    }
}

TEST_CASE("traffic about one thing chooses from a part of the experts: as if the mixture had no others") {
    RoundSetup all =
        treeline::testing::pair_setup("qwen3-30b-a3b", "qwen3-0.6b", treeline::testing::platform("h100-sxm", "vllm"));
    const auto plain = [](const RoundSetup& setup, double batch) {
        return evaluate(compile_round(setup), {0, batch, 512.0}).autoregressive.value();
    };
    RoundSetup pooled = all, smaller = all;
    pooled.expert_pool = 0.5;
    for (LayerKind& kind : smaller.target.kinds) {
        for (Block& block : kind.blocks) {
            if (auto* experts = std::get_if<MixtureOfExperts>(&block.kind)) {
                experts->experts /= 2;
            }
        }
    }
    // The router of the smaller mixture is smaller, too: a thousandth of a step.
    for (const double batch : {1.0, 8.0, 64.0}) {
        CHECK(plain(pooled, batch) == Approx(plain(smaller, batch)).epsilon(2e-3));
        CHECK(plain(pooled, batch) <= plain(all, batch) * (1.0 + 1e-12));
    }
    CHECK(plain(pooled, 64.0) < 0.9 * plain(all, 64.0));
    // It holds all of its experts all the same, and a mixture cannot choose from fewer than a token visits.
    const auto memory = [](const RoundSetup& setup) { return evaluate(compile_round(setup), {0, 1.0, 512.0}).memory.value(); };
    CHECK(memory(pooled) == memory(all));
    pooled.expert_pool = 1e-3;
    CHECK(plain(pooled, 64.0) > 0.0);
    for (const double wrong : {0.0, 1.5, std::nan("")}) {
        pooled.expert_pool = wrong;
        CHECK(problems_of(pooled) == std::vector<std::string>{"expert_pool must be above 0 and at most 1"});
    }
}

TEST_CASE("the more popular some experts are, the fewer a batch touches") {
    double before = 256.0;
    for (const double skew : {0.0, 0.2, 0.6, 1.0}) {
        const double touched = expected_experts(experts_of(256.0, 8.0, skew), 64.0);
        CHECK(touched < before);
        before = touched;
    }
}

TEST_CASE("a token touches its active experts however popular they are, and no skew is uniform routing to the last bit") {
    for (const double skew : {0.0, 0.2, 0.7, 1.5, 3.0}) {
        INFO(skew);
        CHECK(expected_experts(experts_of(384.0, 8.0, skew), 1.0) == Approx(8.0).epsilon(1e-6));
        CHECK(expected_experts(experts_of(8.0, 8.0, skew), 1.0) == Approx(8.0));
        double before = 0.0;
        for (const double tokens : {1.0, 2.0, 8.0, 100.0, 1e4}) {
            const double touched = expected_experts(experts_of(384.0, 8.0, skew), tokens);
            CHECK(touched > before);
            CHECK(touched <= 384.0);
            before = touched;
        }
    }
    OperationCost uniform;
    uniform.expert_count = 384.0;
    uniform.log_miss = std::log1p(-8.0 / 384.0);
    CHECK(expected_experts(experts_of(384.0, 8.0, 0.0), 37.0) == expected_experts(uniform, 37.0));
}

TEST_CASE("the scatter of popularity is that of the power law") {
    CHECK(popularity_scatter(100.0, 0.0) == Approx(0.0).margin(1e-12));
    // Shares 1 and 1/2 of two experts: mean 3/4, mean square 5/8.
    CHECK(popularity_scatter(2.0, 1.0) == Approx(0.625 / (0.75 * 0.75) - 1.0));
}

TEST_CASE("the popular experts are a tenth of all, one at least, and as popular as the power law says in the mean") {
    // 1/place: of 8 experts the first is popular, the others 1/2 … 1/8 have (H_8 − 1)/7 in the mean.
    const double others = (1.0 / 2 + 1.0 / 3 + 1.0 / 4 + 1.0 / 5 + 1.0 / 6 + 1.0 / 7 + 1.0 / 8) / 7.0;
    const ExpertPopularity of_eight = popularity_of(8.0, 2.0, 1.0);
    CHECK(of_eight.hot_share == 1.0 / 8.0);
    CHECK(of_eight.log_miss_hot / of_eight.log_miss == Approx(1.0 / others));
    // A token leaves 6 of 8 untouched.
    CHECK(0.125 * std::exp(of_eight.log_miss_hot) + 0.875 * std::exp(of_eight.log_miss) == Approx(0.75));
    CHECK(popularity_of(4.0, 1.0, 0.5).hot_share == 0.25);
    const ExpertPopularity of_thirty = popularity_of(30.0, 4.0, 2.0);
    CHECK(of_thirty.hot_share == 0.1);
    double first = 0.0, rest = 0.0;
    for (int place = 1; place <= 30; ++place) {
        (place <= 3 ? first : rest) += 1.0 / (place * place);
    }
    CHECK(of_thirty.log_miss_hot / of_thirty.log_miss == Approx(first / 3.0 / (rest / 27.0)));
    // All of them, by a rate that is a number.
    for (const double skew : {0.0, 0.7}) {
        CHECK(std::isfinite(popularity_of(8.0, 8.0, skew).log_miss));
        CHECK(std::exp(popularity_of(8.0, 8.0, skew).log_miss) == 0.0);
    }
}

}  // namespace expert_popularity_test
