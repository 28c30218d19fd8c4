// What a drafter adds to acceptance, and what its requests do: effects that were put in are found.
#include <catch2/catch.hpp>

#include "sim/drafter_effects.h"

namespace drafter_effects_test {

using namespace treeline;
using namespace treeline::sim;

namespace {

MeasuredAcceptance chain_of_four(const std::string& category, double length, const std::string& source) {
    MeasuredAcceptance row;
    row.category = category;
    row.draft_tokens = 4;
    row.accept_length = length;
    row.source = source;
    return row;
}

double odds_of(double length) { return rate_log_odds({{4, length}}, 4); }

}  // namespace

TEST_CASE("a drafter moves towards the mean of others of its kind, one vote a source") {
    const auto drafter = [](const char* kind, const char* source, double length) {
        return MeasuredDrafter{kind, "target", {chain_of_four("chat", length, source)}};
    };
    const DrafterEffects effects({drafter("eagle3", "a: table 1", 2.0), drafter("eagle3", "b (1234): runs", 3.0),
                                  drafter("eagle3", "b: others", 3.5), drafter("eagle3", "c", 2.5), drafter("mtp", "d", 4.0),
                                  MeasuredDrafter{"eagle3", "target", {}}});
    const double others = 0.5 * (0.5 * (odds_of(3.0) + odds_of(3.5)) + odds_of(2.5));
    CHECK(effects.move(0, 0.25, true) == Approx(0.75 * (others - odds_of(2.0))));
    CHECK(effects.move(0, 1.0, true) == Approx(0.0).margin(1e-12));
    CHECK(effects.move(4, 0.25, true) == 0.0);  // of one source's kind nothing is known beside it
    CHECK(effects.move(5, 0.25, true) == 0.0);  // no chain was measured
    CHECK(effects.kinds_of_requests(0) == 1);
    CHECK(effects.kinds_of_requests(5) == 0);
}

TEST_CASE("kinds of requests count as often as drafters were measured on them") {
    // Two drafters on chat and code, one on code alone, all as good: chat lies 3/5 of the difference above the mean, code 2/5
    // below.
    const auto both = [](const char* source) {
        return MeasuredDrafter{"eagle3", "target", {chain_of_four("chat", 2.0, source), chain_of_four("code", 3.0, source)}};
    };
    const DrafterEffects effects({both("a"), both("b"), {"eagle3", "target", {chain_of_four("code", 3.0, "c")}}});
    const double difference = odds_of(2.0) - odds_of(3.0), chat = 0.6 * difference, code = -0.4 * difference;
    CHECK(effects.move(2, 1.0, false) == Approx(-code));
    CHECK(effects.move(0, 1.0, false) == Approx(-0.5 * (chat + code)));
    CHECK(effects.move(0, 1.0, true) == Approx(0.0).margin(1e-12));
    CHECK(effects.move(2, 0.0, true) == Approx(0.0).margin(1e-9));  // all drafters are as good
    CHECK(effects.kinds_of_requests(0) == 2);
}

TEST_CASE("effects of drafters and of requests that were put in are found, whoever was measured on what") {
    const auto row = [](const char* category, double odds, const char* source) {
        double least = 1.0, most = 5.0;  // the length that has these odds, by halving
        for (int i = 0; i < 60; ++i) {
            (odds_of(0.5 * (least + most)) < odds ? least : most) = 0.5 * (least + most);
        }
        return chain_of_four(category, least, source);
    };
    // Drafters of 0.2, -0.5 and 1.5, chat 0.5 above the mean and code 0.5 below; one was measured on both.
    MeasuredAcceptance derived = row("chat", 3.0, "derived from another"), tree = row("chat", 3.0, "a");
    tree.shape = "branching 2,2";
    const DrafterEffects effects({{"eagle3", "target", {row("chat", 0.7, "a"), row("code", -0.3, "a"), derived, tree}},
                                  {"eagle3", "target", {row("code", -1.0, "b")}},
                                  {"eagle3", "target", {row("chat", 2.0, "c")}},
                                  {"mtp", "target", {derived}}});
    CHECK(effects.move(1, 1.0, false) == Approx(0.5).epsilon(1e-6));
    CHECK(effects.move(2, 1.0, false) == Approx(-0.5).epsilon(1e-6));
    CHECK(effects.move(0, 1.0, false) == Approx(0.0).margin(1e-6));
    CHECK(effects.move(0, 0.25, true) == Approx(0.75 * (0.5 - 0.2)).epsilon(1e-6));
    CHECK(effects.move(1, 0.25, false) == Approx(0.75 * (0.85 + 0.5) + 0.5).epsilon(1e-6));
    CHECK(effects.kinds_of_requests(0) == 2);
    CHECK(effects.kinds_of_requests(3) == 0);  // nobody ran it
}

}  // namespace drafter_effects_test
