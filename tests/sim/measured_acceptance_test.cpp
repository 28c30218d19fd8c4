// Does acceptance measured by kind of request mix as rounds do, and does it say where measurements are missing?
#include <catch2/catch.hpp>

#include <cmath>

#include "sim/measured_acceptance.h"

namespace measured_acceptance_test {

using namespace treeline;
using namespace treeline::sim;

namespace {

MeasuredAcceptance measured(const std::string& category, int draft_tokens, double accept_length) {
    MeasuredAcceptance row;
    row.category = category;
    row.draft_tokens = draft_tokens;
    row.accept_length = accept_length;
    row.source = "a table";
    return row;
}

}  // namespace

TEST_CASE("a mixture of categories takes the rounds of each, not the mean of their accept lengths") {
    const std::vector<MeasuredAcceptance> rows = {measured("code", 2, 2.4), measured("chat", 2, 1.6)};
    const AcceptanceOfTraffic mixed = acceptance_of_traffic(rows, {{{"code", 0.6}, {"chat", 0.4}}, {}, "", {}});
    // 100 tokens, 60 of them code: 60/2.4 + 40/1.6 = 50 rounds.
    CHECK(mixed.chain.accept_length(2) == Approx(2.0));
    CHECK(mixed.remarks.empty());
    CHECK(mixed.sources == std::vector<std::string>{"a table"});
    const AcceptanceOfTraffic alike = acceptance_of_traffic(rows, {});
    CHECK(alike.chain.accept_length(2) == Approx(2.0 / (1.0 / 2.4 + 1.0 / 1.6)));
}

TEST_CASE("a mixture is measured as far as all its categories are") {
    std::vector<MeasuredAcceptance> rows = {measured("code", 1, 1.8), measured("code", 4, 3.0), measured("chat", 2, 1.6)};
    const AcceptanceOfTraffic mixed = acceptance_of_traffic(rows, {{{"code", 1.0}, {"chat", 1.0}}, {}, "", {}});
    CHECK_FALSE(mixed.chain.extrapolated(2));
    CHECK(mixed.chain.extrapolated(3));
}

TEST_CASE("the nearest measured temperature, context and thinking count, by their runs; missing kinds are said") {
    std::vector<MeasuredAcceptance> rows = {measured("code", 2, 2.4), measured("code", 2, 2.2), measured("code", 2, 1.9)};
    rows[0].temperature = rows[1].temperature = 0.0;
    rows[1].runs = 3.0;
    rows[2].temperature = 1.0;
    const auto length = [&](const TrafficKind& traffic) { return acceptance_of_traffic(rows, traffic).chain.accept_length(2); };
    CHECK(length({{}, 0.0, "", {}}) == Approx((2.4 + 3.0 * 2.2) / 4.0));
    CHECK(length({{}, 1.0, "", {}}) == Approx(1.9));
    CHECK(acceptance_of_traffic(rows, {{}, 0.7, "", {}}).remarks.size() == 1);
    rows[0].context = 1000.0;
    rows[1].context = 64000.0;
    CHECK(length({{}, 0.0, "", 1000.0}) == Approx(2.4));
    // A sixth of the way from 1,000 to 64,000 by the logarithm.
    CHECK(length({{}, 0.0, "", 2000.0}) == Approx(2.4 - 0.2 / 6.0));
    const AcceptanceOfTraffic unknown = acceptance_of_traffic(rows, {{{"poetry", 1.0}}, {}, "on", {}});
    REQUIRE(unknown.remarks.size() == 2);
    CHECK(unknown.remarks[1] == "acceptance was not measured for poetry; the mean of all measured kinds stands in");
    CHECK(unknown.chain.accept_length(2) == Approx((2.4 + 3.0 * 2.2 + 1.9) / 5.0));
}

TEST_CASE("positions and lengths of one drafter agree on each length, and trees keep theirs where every category has them") {
    std::vector<MeasuredAcceptance> rows = {measured("code", 3, 0.0), measured("chat", 3, 2.0), measured("code", 0, 3.0)};
    rows[0].per_position = {0.8, 0.6, 0.4};
    rows[2].shape = "sglang:5,3,6";
    const AcceptanceOfTraffic code = acceptance_of_traffic(rows, {{{"code", 1.0}}, {}, "", {}});
    CHECK(code.chain.position(2) == Approx(0.6));
    REQUIRE(code.shapes.size() == 1);
    CHECK(code.shapes[0].second == Approx(3.0));
    CHECK(acceptance_of_traffic(rows, {{{"code", 1.0}, {"chat", 1.0}}, {}, "", {}}).shapes.empty());
}

TEST_CASE("shares of a mixture count by their sum, for chains as for trees") {
    std::vector<MeasuredAcceptance> rows = {measured("code", 2, 2.4), measured("chat", 2, 1.6), measured("code", 0, 3.0),
                                            measured("chat", 0, 1.5)};
    rows[2].shape = rows[3].shape = "sglang:5,3,6";
    const AcceptanceOfTraffic mixed = acceptance_of_traffic(rows, {{{"code", 6.0}, {"chat", 4.0}}, {}, "", {}});
    CHECK(mixed.chain.accept_length(2) == Approx(2.0));
    REQUIRE(mixed.shapes.size() == 1);
    CHECK(mixed.shapes[0].second == Approx(1.0 / (0.6 / 3.0 + 0.4 / 1.5)));
}

TEST_CASE("positions yield the bonus token and what is accepted at each") {
    MeasuredAcceptance row = measured("code", 2, 0.0);
    row.per_position = {0.8, 0.5};
    CHECK(mean_lengths({row}) == std::map<int, double>{{1, 1.8}, {2, 2.3}});
}

TEST_CASE("kinds that were measured with a single draft are kinds all the same") {
    const AcceptanceOfTraffic found = acceptance_of_traffic({measured("code", 1, 1.8), measured("chat", 1, 1.5)}, {});
    CHECK(found.kinds.count == 2);
}

TEST_CASE("kinds of requests scatter as their rates do, in log-odds") {
    // Of a single draft 0.8, 0.5 and 0.2 are accepted: log-odds ln 4, 0 and −ln 4, whose sample variance is (ln 4)².
    const std::vector<MeasuredAcceptance> rows = {measured("code", 1, 1.8), measured("chat", 1, 1.5), measured("math", 1, 1.2)};
    const AcceptanceOfTraffic found = acceptance_of_traffic(rows, {});
    CHECK(found.kinds.count == 3);
    CHECK(found.kinds.variance == Approx(std::pow(std::log(4.0), 2)));
    // Of two, with ln 4 and 0: half of (ln 4)².
    CHECK(acceptance_of_traffic({rows[0], rows[1]}, {}).kinds.variance == Approx(0.5 * std::pow(std::log(4.0), 2)));
}

TEST_CASE("a kind that was not measured is predicted from those that were, moved as other drafters say, shrunk by n/(n + 2)") {
    // A draft of code is accepted in 4/5 of rounds: log-odds ln 4. Other drafters: code 1/2 (0), poetry 1/5 (-ln 4); and code
    // 4/5, chat 1/2, poetry 1/2 (0), whose kinds that were measured here have ln 4/2 in the mean where chat was, too.
    const auto kinds = [](double code, double chat, double poetry) {
        std::vector<MeasuredAcceptance> rows = {measured("code", 1, code), measured("poetry", 1, poetry)};
        if (chat > 0.0) {
            rows.push_back(measured("chat", 1, chat));
        }
        return rows;
    };
    const auto rate = [](const std::vector<MeasuredAcceptance>& own,
                         const std::vector<std::vector<MeasuredAcceptance>>& others) {
        const AcceptanceOfTraffic found = acceptance_of_traffic(own, {{{"poetry", 1.0}}, {}, "", {}}, others);
        CHECK(found.kinds_are_known == !others.empty());
        return found.chain.position(1);
    };
    const auto of_logit = [](double logit) { return 1.0 / (1.0 + std::exp(-logit)); };
    const std::vector<MeasuredAcceptance> code = {measured("code", 1, 1.8)};
    const double ln4 = std::log(4.0);
    CHECK(rate(code, {}) == Approx(0.8));
    CHECK(rate(code, {kinds(1.5, 0.0, 1.2)}) == Approx(of_logit(ln4 - ln4 / 3.0)));                        // 1/(1 + 2)
    CHECK(rate(code, {kinds(1.5, 0.0, 1.2), kinds(1.8, 1.5, 1.5)}) == Approx(of_logit(ln4 - ln4 / 2.0)));  // 2/(2 + 2)
    const std::vector<MeasuredAcceptance> both = {measured("code", 1, 1.8), measured("chat", 1, 1.8)};
    CHECK(rate(both, {kinds(1.5, 0.0, 1.2), kinds(1.8, 1.5, 1.5)}) == Approx(of_logit(ln4 - 0.5 * (1.0 + 0.5) / 2.0 * ln4)));
    // Drafters that were not measured on it, or on nothing that was measured here, say nothing.
    CHECK(rate(code,
               {kinds(1.5, 0.0, 1.2), {measured("chat", 1, 1.5), measured("poetry", 1, 1.2)}, {measured("code", 1, 1.1)}}) ==
          Approx(of_logit(ln4 - ln4 / 3.0)));
}

TEST_CASE("positions of one chain and lengths of shorter ones count by their runs") {
    std::vector<MeasuredAcceptance> rows = {measured("code", 3, 0.0), measured("code", 2, 2.2), measured("code", 2, 2.35)};
    rows[0].per_position = {0.8, 0.6, 0.4};  // with two drafts 2.4 tokens, one run
    rows[1].runs = 1.0;
    rows[2].runs = 2.0;  // of the two lengths 2.3 in the mean, three runs
    const AcceptanceOfTraffic found = acceptance_of_traffic(rows, {});
    CHECK(found.chain.accept_length(2) == Approx((2.4 + 3.0 * 2.3) / 4.0));
    CHECK(found.chain.accept_length(1) == Approx(1.8));
    CHECK(found.chain.accept_length(3) == Approx(2.8));
}

TEST_CASE("between two measured batches and contexts the accept length goes evenly in their logarithms; beyond them it stays") {
    std::vector<MeasuredAcceptance> rows;
    for (const double batch : {1.0, 16.0}) {
        for (const double context : {1000.0, 8000.0}) {
            rows.push_back(measured("code", 2, 2.4 - (batch > 1.0 ? 0.4 : 0.0) - (context > 1000.0 ? 0.2 : 0.0)));
            rows.back().batch = batch;
            rows.back().context = context;
        }
    }
    const auto length = [&](std::optional<double> context, std::optional<double> batch) {
        return acceptance_of_traffic(rows, {{}, {}, "", context, batch}).chain.accept_length(2);
    };
    CHECK(length(1000.0, 1.0) == Approx(2.4));
    CHECK(length(8000.0, 16.0) == Approx(1.8));
    CHECK(length(2000.0, 4.0) == Approx(2.4 - 0.4 / 2.0 - 0.2 / 3.0));  // 4 of 1 to 16: a half; 2 of 1 to 8: a third
    CHECK(length(500.0, 64.0) == Approx(2.0));
    CHECK(length(64000.0, 1.0) == Approx(2.2));
    CHECK(length({}, 1.0) == Approx(2.3));
    CHECK(length({}, {}) == Approx(2.1));
    // Which loads are asked for at once is said where they differ.
    const auto remarks = [&](bool several) { return acceptance_of_traffic(rows, {{}, {}, "", 2000.0, 4.0, several}).remarks; };
    CHECK(remarks(false).empty());
    REQUIRE(remarks(true).size() == 1);
    CHECK(remarks(true).front().find("is taken at batch 4 and context 2000, the middle") != std::string::npos);
}

TEST_CASE("trees are taken at the asked load, by the runs of their measurements") {
    std::vector<MeasuredAcceptance> rows = {measured("code", 0, 3.0), measured("code", 0, 2.0), measured("code", 0, 2.6)};
    for (MeasuredAcceptance& row : rows) {
        row.shape = "sglang:5,3,6";
        row.batch = 1.0;
    }
    rows[1].runs = 3.0;  // at batch 1 (3 + 3·2)/4 tokens
    rows[2].batch = 4.0;
    const auto length = [&](double batch) {
        const AcceptanceOfTraffic found = acceptance_of_traffic(rows, {{}, {}, "", {}, batch});
        CHECK_FALSE(found.has_chain);
        CHECK(found.chain.accept_length(3) == 1.0);
        return found.shapes.at(0).second;
    };
    CHECK(length(1.0) == Approx(2.25));
    CHECK(length(2.0) == Approx(0.5 * (2.25 + 2.6)));
    CHECK(length(4.0) == Approx(2.6));
}

TEST_CASE("rates are moved in log-odds, position by position") {
    // Rates 0.8, 0.5: by -ln 4 they are 1/2 and 1/5.
    const Acceptance moved = with_rates_moved(Acceptance::per_position({0.8, 0.4, 0.0}), -std::log(4.0));
    CHECK(moved.position(1) == Approx(0.5));
    CHECK(moved.position(2) == Approx(0.1));
    CHECK(moved.position(3) == Approx(0.0).margin(1e-4));
    // Two of three drafts at the same rate r: 1 + r + r² = 1.75 at r = 1/2, log-odds 0.
    CHECK(rate_log_odds({{2, 1.75}}, 2) == Approx(0.0).margin(1e-9));
}

TEST_CASE("at a measured batch the accept lengths are all those measured there, however few others were") {
    std::vector<MeasuredAcceptance> rows = {measured("code", 3, 2.2), measured("code", 3, 0.0), measured("code", 3, 2.6)};
    rows[0].batch = 1.0;
    rows[1].batch = 4.0;
    rows[1].per_position = {0.8, 0.5, 0.3};
    rows[2].batch = 16.0;
    const auto length = [&](double batch, int draft_tokens) {
        return acceptance_of_traffic(rows, {{}, {}, "", {}, batch}).chain.accept_length(draft_tokens);
    };
    CHECK(length(4.0, 1) == Approx(1.8));
    CHECK(length(4.0, 2) == Approx(2.3));
    CHECK(length(4.0, 3) == Approx(2.6));
    CHECK(length(2.0, 3) == Approx(2.4));  // half way in the logarithm, at the length that both have
    rows.pop_back();                       // the largest, and the smallest, of the batches
    CHECK(length(4.0, 1) == Approx(1.8));
    rows[0].batch = 64.0;
    CHECK(length(4.0, 1) == Approx(1.8));
}

TEST_CASE("acceptance that was measured at one load does not differ with it, and requests of a mix are of no kind") {
    std::vector<MeasuredAcceptance> rows = {measured("code", 2, 2.4), measured("chat", 2, 1.6)};
    rows[0].batch = rows[1].batch = 8.0;
    CHECK(acceptance_of_traffic(rows, {{}, {}, "", 2000.0, 4.0, true}).remarks.empty());
    const AcceptanceOfTraffic mix = acceptance_of_traffic({measured("mixed", 2, 2.0)}, {});
    CHECK(mix.kinds.count == 1);
    CHECK(mix.kinds.variance == 0.0);
    CHECK(mix.chain.accept_length(2) == Approx(2.0));
    CHECK(mean_lengths({measured("code", 0, 1.0)}).empty());  // of no draft there is no length
    // Behind a position that is never reached nothing is, however rates are moved.
    const Acceptance moved = with_rates_moved(Acceptance::per_position({0.5, 0.0, 0.0}), std::log(4.0));
    CHECK(moved.position(1) == Approx(0.8));
    CHECK(moved.position(3) == Approx(0.0).margin(1e-6));
}

}  // namespace measured_acceptance_test
