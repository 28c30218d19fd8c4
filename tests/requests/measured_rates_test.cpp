// Measured rates of fixed draft lengths as the round times of policies.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "requests/adaptive/policies_reader.h"
#include "source_folder.h"
#include "sweeps/adaptive/policies.h"

namespace measured_rates_test {

using namespace treeline;
using namespace treeline::requests;
using treeline::testing::source_folder;

namespace {

/// Two batches; lengths 0, 1, 3 at 100, 160, 200 and 800, 960, 800 tokens/s.
const char* const two_batches = R"({"batch": [1, 8], "measured": {
    "lengths": [{"draft_tokens": 0, "tokens_per_second": [100, 800]}, {"draft_tokens": 1, "tokens_per_second": [160, 960]},
                {"draft_tokens": 3, "tokens_per_second": [200, 800]}],
    "acceptance": {"per_position": [0.8, 0.6, 0.4]}, "parallel": true,
    "policies": [{"policy": "adaptive-verification", "tokens_per_second": [220, 1056]}]}})";

sweeps::PoliciesInput input_of(const std::string& text) {
    json::Document document = json::Document::parse(text, "in");
    Descriptions descriptions({source_folder() / "models", source_folder() / "hardware"}, {});
    return read_policies(document, descriptions);
}

std::string problem_of(std::string text, const std::string& from, const std::string& to) {
    REQUIRE(text.find(from) != std::string::npos);
    text.replace(text.find(from), from.size(), to);
    try {
        input_of(text);
    } catch (const text::InputError& failure) {
        return failure.problems().front();
    }
    return "";
}

}  // namespace

TEST_CASE("rounds take the tokens that they yield over the measured rate") {
    const sweeps::PoliciesInput input = input_of(two_batches);
    const sweeps::PolicyTimes& one = input.problem.batches.front();
    // 1/100, 1.8/160 and 2.8/200 s: 10, 11.25 and 14 ms. Two drafts lie between one and three: 12.625 ms.
    const auto round = [&](std::size_t k) { return (one.draft[k] + one.rest[k]).value(); };
    CHECK(round(0) == Approx(0.010));
    CHECK(round(1) == Approx(0.01125));
    CHECK(round(2) == Approx(0.012625));
    CHECK(round(3) == Approx(0.014));
    // One and three drafts, continued to none: 11.25 − 1.375 = 9.875 ms is less than a plain step, so drafting is free.
    CHECK(one.draft[1].value() == 0.0);
    // At batch 8: 10, 15 and 28 ms; continued to none 8.5 ms.
    CHECK(input.problem.batches.back().rest[3].value() == Approx(8 * 2.8 / 800.0));
    CHECK(input.problem.fixed_lengths == std::vector<int>{0, 1, 3});
    CHECK(input.measured_gain("adaptive-verification", 0) == Approx(0.1));
    CHECK(input.measured_gain("adaptive-verification", 1) == Approx(0.1));
    CHECK_FALSE(input.measured_gain("bandit", 0).has_value());
}

TEST_CASE("a fixed length decodes at the rate that was measured") {
    sweeps::PoliciesInput input = input_of(two_batches);
    const std::vector<sweeps::PolicyBatchOutcome> batches =
        sweeps::simulate_policies(input.problem, {{sweeps::PolicyKind::fixed, 1}}, {1000, 10, 3});
    CHECK(batches[0].best_fixed == 3);
    CHECK(batches[0].policies[0].tokens_per_second.mean == Approx(200.0).epsilon(0.02));
    CHECK(batches[0].policies[1].tokens_per_second.mean == Approx(160.0).epsilon(0.02));
    CHECK(batches[1].best_fixed == 1);
    CHECK(batches[1].policies[0].tokens_per_second.mean == Approx(960.0).epsilon(0.02));
}

TEST_CASE("what rates of policies may not be is a sentence") {
    CHECK(problem_of(two_batches, "[100, 800]", "[100]").find("tokens_per_second: has 1 rates for 2 batches") !=
          std::string::npos);
    CHECK(problem_of(two_batches, "[100, 800]", "[100, -1]").find("tokens_per_second[1]") != std::string::npos);
    CHECK(problem_of(two_batches, "\"draft_tokens\": 0", "\"draft_tokens\": 2").find("must hold plain decoding") !=
          std::string::npos);
    CHECK(problem_of(two_batches, "\"draft_tokens\": 3", "\"draft_tokens\": 1").find("is 1 twice") != std::string::npos);
    CHECK(problem_of(two_batches, "\"adaptive-verification\"", "\"adaptive\"").find("those simulated are") !=
          std::string::npos);
    CHECK(problem_of(two_batches, "\"parallel\": true", "\"draft_ms\": [1]").find("draft_ms: has 1 times for 2 batches") !=
          std::string::npos);
    CHECK(problem_of(two_batches, "\"parallel\": true", "\"draft_ms\": [9, 9]").find("nothing is left for its verification") !=
          std::string::npos);
    CHECK(problem_of(two_batches, "\"batch\": [1, 8]", "\"batch\": [1, 8], \"longest\": 3").find("longest: is that of") !=
          std::string::npos);
    CHECK(
        problem_of(two_batches, "\"batch\": [1, 8]", "\"batch\": [1, 8], \"confidence_error\": -1").find("confidence_error") !=
        std::string::npos);
    CHECK(
        problem_of(two_batches, "\"batch\": [1, 8]", "\"batch\": [1, 8], \"design_point\": {}").find("exactly one is needed") !=
        std::string::npos);
    CHECK(problem_of(R"({"batch": [1]})", "[1]", "[2]").find("needs \"design_point\"") != std::string::npos);
}

}  // namespace measured_rates_test
