// Is the output of speculative decoding distributed exactly as the target's own? Chi-square tests of the first three tokens.
#include <catch2/catch.hpp>

#include <cmath>
#include <map>
#include <string>

#include "numerics/random.h"
#include "requests/setup_reader.h"
#include "sim/sampling/chain.h"
#include "sim/sampling/method.h"

namespace sampling_lossless_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::sim::sampling;

namespace {

constexpr int vocabulary = 4;
constexpr int sequences = 40'000;
constexpr int root = 0;
constexpr std::size_t cells = 64;  // vocabulary³

std::vector<double> first_three_tokens(const Round& round, std::uint64_t seed) {
    std::vector<double> counts(cells, 0.0);
    numerics::Random random(seed);
    DrawnRound drawn;
    for (int i = 0; i < sequences; ++i) {
        std::vector<int> tokens;
        int last = root;
        while (tokens.size() < 3) {
            drawn.clear();
            round(last, random, drawn);
            tokens.insert(tokens.end(), drawn.tokens.begin(), drawn.tokens.end());
            last = tokens.back();
        }
        ++counts[static_cast<std::size_t>((tokens[0] * vocabulary + tokens[1]) * vocabulary + tokens[2])];
    }
    return counts;
}

std::vector<double> exact_three_tokens(const NextToken& target) {
    std::vector<double> probability;
    for (int a = 0; a < vocabulary; ++a) {
        for (int b = 0; b < vocabulary; ++b) {
            for (int c = 0; c < vocabulary; ++c) {
                probability.push_back(target.after(root)[static_cast<std::size_t>(a)] *
                                      target.after(a)[static_cast<std::size_t>(b)] *
                                      target.after(b)[static_cast<std::size_t>(c)]);
            }
        }
    }
    return probability;
}

/// P(chi-square of so many degrees of freedom ≥ statistic), by Wilson and Hilferty's cube root (1931).
double chi_square_tail(double statistic, int freedom) {
    const double variance = 2.0 / (9.0 * freedom);
    const double z = (std::cbrt(statistic / freedom) - (1.0 - variance)) / std::sqrt(variance);
    return 0.5 * std::erfc(z / std::sqrt(2.0));
}

/// Pearson's test; cells that expect fewer than five are taken together.
double p_value(const std::vector<double>& counts, const std::vector<double>& probability) {
    double statistic = 0.0, rare_seen = 0.0, rare_expected = 0.0;
    int used = 0;
    const auto add = [&](double seen, double expected) {
        statistic += (seen - expected) * (seen - expected) / expected;
        ++used;
    };
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const double expected = sequences * probability[i];
        if (expected >= 5.0) {
            add(counts[i], expected);
        } else {
            rare_seen += counts[i];
            rare_expected += expected;
        }
    }
    if (rare_expected >= 5.0) {
        add(rare_seen, rare_expected);
    }
    return chi_square_tail(statistic, used - 1);
}

Models soft_models() { return SyntheticWorld({vocabulary, 1.5, 1.5, 0.0, 21}).at(1.0); }

DraftTree chain(int k) { return DraftTree::from_child_counts(std::vector<int>(static_cast<std::size_t>(k), 1)); }

}  // namespace

TEST_CASE("the chi-square tail has the values of the tables") {
    CHECK(chi_square_tail(92.010, 63) == Approx(0.01).margin(2e-4));  // the 99 % quantile at 63 degrees of freedom
    CHECK(chi_square_tail(62.335, 63) == Approx(0.5).margin(2e-3));   // the median
}

TEST_CASE("every sampled method keeps the target's distribution") {
    const Models models = soft_models();
    const std::vector<double> exact = exact_three_tokens(models.target);
    std::uint64_t seed = 100;
    for (const DraftTree& tree :
         {chain(3), DraftTree::from_child_counts({3, 2, 1, 0, 1, 2}), DraftTree::from_child_counts({2, 1, 1, 1, 1})}) {
        for (const Method method : all_methods) {
            if (problem(method, tree).empty() && method != Method::greedy) {
                INFO(name_of(method) << " on " << tree.nodes() << " nodes");
                CHECK(p_value(first_three_tokens(round_of(method, models, tree), seed++), exact) > 0.01);
            }
        }
    }
}

TEST_CASE("greedy verification writes the greedy text") {
    const Models models = soft_models();
    const Models cold = SyntheticWorld({vocabulary, 1.5, 1.5, 0.0, 21}).at(0.0);
    const std::vector<double> counts =
        first_three_tokens(round_of(Method::greedy, models, DraftTree::from_child_counts({2, 1, 1})), 1);
    const std::vector<double> exact = exact_three_tokens(cold.target);
    for (std::size_t i = 0; i < cells; ++i) {
        CHECK(counts[i] == sequences * exact[i]);
    }
}

TEST_CASE("a verifier without the residual is found out") {
    // Rejected drafts are replaced by a token of p instead of norm(max(p − q, 0)): tokens that the drafter likes come too
    // often.
    const Models models = soft_models();
    const Round wrong = [&models](int last, numerics::Random& random, DrawnRound& drawn) {
        for (int i = 0; i < 3; ++i) {
            const std::span<const double> p = models.target.after(last), q = models.drafter.after(last);
            const int draft = draw(q, random);
            const auto at = static_cast<std::size_t>(draft);
            const bool accepted = random.uniform() * q[at] < p[at];
            drawn.tokens.push_back(accepted ? draft : draw(p, random));
            last = drawn.tokens.back();
            if (!accepted) {
                return;
            }
        }
        drawn.tokens.push_back(draw(models.target.after(last), random));
    };
    CHECK(p_value(first_three_tokens(wrong, 7), exact_three_tokens(models.target)) < 1e-12);
}

TEST_CASE("keeping the longest of several rejection-sampled chains is found out") {
    // Why independent drafts are verified against one sample of the target: choosing the longest of two chains that were each
    // verified by themselves favours texts of high acceptance.
    const Models models = soft_models();
    const Round one = round_of(Method::token_wise, models, chain(3));
    const Round wrong = [&one](int last, numerics::Random& random, DrawnRound& drawn) {
        DrawnRound other;
        one(last, random, drawn);
        one(last, random, other);
        if (other.ranks.size() > drawn.ranks.size()) {
            drawn = other;
        }
    };
    CHECK(p_value(first_three_tokens(wrong, 8), exact_three_tokens(models.target)) < 1e-12);
}

TEST_CASE("look-ups, confidence cut-offs and cascades lose nothing") {
    const Models models = soft_models();
    const std::vector<double> exact = exact_three_tokens(models.target);
    const NextToken inner = SyntheticWorld({vocabulary, 1.5, 2.5, 0.0, 22}).at(1.0).drafter;
    CHECK(p_value(first_three_tokens(lookup_round(models, 3, 0.6), 201), exact) > 0.01);
    CHECK(p_value(first_three_tokens(cut_off_round(models, 4, 0.5), 202), exact) > 0.01);
    CHECK(p_value(first_three_tokens(cascade_round(models, inner, 4, 2), 203), exact) > 0.01);
}

TEST_CASE("every kind of drafter is verified in a way that loses nothing") {
    const Models models = soft_models();
    const std::vector<double> exact = exact_three_tokens(models.target);
    const NextToken inner = SyntheticWorld({vocabulary, 1.5, 2.5, 0.0, 22}).at(1.0).drafter;
    // Drafts sampled one after the other, whoever samples them; all at once; looked up; mixed; drafted in two levels.
    const std::map<std::string, Round> rounds = {{"token by token", token_wise_round(models, 3)},
                                                 {"all at once", parallel_round(models, 3)},
                                                 {"looked up", lookup_round(models, 3, 0.6)},
                                                 {"looked up, of varying length", lookup_round(models, 4, 0.6, 2.0)},
                                                 {"looked up first", lookup_first_round(models, 3, 0.4)},
                                                 {"in two levels", cascade_round(models, inner, 4, 2)}};
    const std::map<std::string, std::string> drafted = {
        {"model", "token by token"},
        {"sparse-self", "token by token"},
        {"early-exit", "token by token"},
        {"layer-skip", "token by token"},
        {"quantised-self", "token by token"},
        {"spire", "token by token"},
        {"one-layer", "token by token"},
        {"eagle", "token by token"},
        {"hass", "token by token"},
        {"eagle3", "token by token"},
        {"mtp", "token by token"},
        {"dspark", "token by token"},   // its low-rank head sees the drafts before
        {"dflash2", "token by token"},  // as does its selector
        {"hydra", "token by token"},
        {"mlp-speculator", "token by token"},
        {"medusa", "all at once"},
        {"p-eagle", "all at once"},
        {"pard", "all at once"},
        {"dflash", "all at once"},
        {"ngram", "looked up"},
        {"token-recycling", "looked up"},
        {"suffix", "looked up, of varying length"},
        {"lookup-first", "looked up first"},
        {"cascade", "in two levels"}};
    std::map<std::string, double> p_values;
    std::uint64_t seed = 210;
    for (const auto& [name, round] : rounds) {
        p_values[name] = p_value(first_three_tokens(round, seed++), exact);
    }
    for (const std::string& kind : requests::drafter_kinds()) {
        INFO(kind);
        REQUIRE(drafted.contains(kind));
        CHECK(p_values.at(drafted.at(kind)) > 0.01);
    }
}

TEST_CASE("dropping sampled drafts that are themselves unlikely is found out") {
    // The residual norm(max(p − q, 0)) makes up for every draft that q may propose. Without the unlikely ones it makes up for
    // too much: p_min of engines is lossless because they draft the best token.
    const Models models = soft_models();
    CHECK(p_value(first_three_tokens(dropping_round(models, 3, 0.3), 204), exact_three_tokens(models.target)) < 1e-6);
}

}  // namespace sampling_lossless_test
