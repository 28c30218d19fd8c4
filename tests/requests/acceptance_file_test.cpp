// Files of measured acceptance as their makers write them. Each text has the keys and order of the named source.
#include "requests/acceptance/acceptance_file.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <optional>

#include <nlohmann/json.hpp>

#include "text/input_error.h"

namespace acceptance_file_test {

using namespace treeline;
using namespace treeline::requests;

namespace {

std::string problem(const std::string& text) {
    try {
        static_cast<void>(acceptance_file_of(text, "in"));
    } catch (const text::InputError& failure) {
        return failure.problems().front();
    }
    return "";
}

sim::AcceptanceOfTraffic found(const std::string& text, const sim::TrafficKind& traffic = {}) {
    return sim::acceptance_of_traffic(acceptance_file_of(text, "in").of(""), traffic);
}

// vllm-project/vllm, docs/…/acceptance_metrics.md @02cf515f
const std::string vllm_request = R"({"mean_acceptance_length": 1.23, "draft_acceptance_rate": 0.0775,
    "acceptance_histogram": [39,1,0,3], "acceptance_histogram_by_draft_length": {"3": [39,1,0,3]}, "num_spec_steps": 43,
    "num_accepted_draft_tokens": 10, "num_draft_tokens": 129, "num_spec_tokens": 3})";

}  // namespace

TEST_CASE("a histogram of a request says how often each position is accepted") {
    const sim::AcceptanceOfTraffic acceptance = found(vllm_request);
    // Of 43 steps 4 accepted one draft or more, 3 two or more, 3 three: 1 + 10/43 tokens a step, as the record says.
    CHECK(acceptance.chain.position(1) == Approx(4.0 / 43.0));
    CHECK(acceptance.chain.position(3) == Approx(3.0 / 43.0));
    CHECK(acceptance.chain.accept_length(3) == Approx(1.0 + 10.0 / 43.0));
    CHECK(found("{\"metrics\": {\"speculative_decoding\": " + vllm_request + "}}").chain.accept_length(3) ==
          Approx(1.0 + 10.0 / 43.0));
}

TEST_CASE("histograms of many requests add up step by step") {
    // TensorRT-LLM's record, and a sparse one as aiperf writes it, one a line: 20 steps with 20·1.5 and 10 with 10·1 drafts
    // accepted.
    const std::string lines =
        R"({"acceptance_rate":0.5,"total_accepted_draft_tokens":30,"total_draft_tokens":60,"num_spec_steps":20,"acceptance_histogram":[8,0,6,6],"num_spec_tokens":3})"
        "\n"
        R"({"engine":"vllm","num_spec_steps":10,"num_accepted_draft_tokens":10,"num_draft_tokens":30,"mean_acceptance_length":2.0,"acceptance_histogram":{"0":5,"2":5},"num_spec_tokens":3})"
        "\n";
    CHECK(found(lines).chain.accept_length(3) == Approx(1.0 + 40.0 / 30.0));
    CHECK(acceptance_file_of(lines, "in").models.front().second.front().samples == 2.0);
    CHECK(problem(R"({"acceptance_histogram": [1, 2, 3], "num_spec_tokens": 1})") ==
          "in: line 1: 2 of 1 drafts cannot be accepted, as its histogram says");
    CHECK(problem(R"({"acceptance_histogram": [1, -2]})").find("must count rounds") != std::string::npos);
    CHECK(problem(R"({"acceptance_histogram": [5]})").find("neither accepted drafts nor times") != std::string::npos);
}

TEST_CASE("a histogram for each draft length says what each of them yields") {
    const AcceptanceFile file = acceptance_file_of(
        R"({"acceptance_histogram_by_draft_length": {"1": [5, 5], "3": [10, 0, 0, 10]}, "engine": "vllm"})", "in");
    const std::vector<sim::MeasuredAcceptance>& rows = file.of("");
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].per_position == std::vector<double>{0.5});
    CHECK(rows[1].per_position == std::vector<double>{0.5, 0.5, 0.5});
    CHECK(rows[1].source == "measured by vllm, 30 rounds: in");
}

TEST_CASE("golden curves keep model and thinking apart") {
    // SemiAnalysisAI/InferenceX, golden_al_distribution/glm5.2_mtp.yaml @843c6254, the first two lengths, and a second model.
    const std::string text =
        "# Actions run\nglm5.2:\n  thinking_on:\n    1: 1.84\n    2: 2.5\nother:\n  thinking_off: {1: 1.5}\n";
    const AcceptanceFile file = acceptance_file_of(text, "glm5.2_mtp.yaml");
    CHECK(file.format == "InferenceX golden curves");
    CHECK(sim::acceptance_of_traffic(file.of("glm5.2"), {{}, {}, "on", {}}).chain.accept_length(2) == Approx(2.5));
    CHECK(file.of("other").front().thinking == "off");
    CHECK_THROWS_WITH(file.of(""), Catch::Contains("say which with \"of\""));
    CHECK_THROWS_WITH(file.of("glm5.3"), Catch::Contains("did you mean"));
    CHECK(problem("m:\n  thinking_on: {1: 2.5}\n") == "in: 1 draft tokens yield 1 to 2 tokens a round, not 2.5");
}

TEST_CASE("a speculation profile's rates, categories and limits are kept") {
    const std::string profile = R"({"schema_version": 1, "measured": true, "method": "dflash", "draft_checkpoint": "a/b",
        "target_model": "Qwen3-8B", "num_speculative_tokens": 3, "block_size": 4, "max_supported_k": 3,
        "conditional_accept_rates": [0.8, 0.75, 0.5], "marginal_accept_rates": [0.8, 0.6, 0.3], "mean_accept_length": 2.7,
        "accept_length_model": "chain_analytic", "per_category": {"coding": {"mean_accept_length": 3.1}}})";
    const AcceptanceFile file = acceptance_file_of(profile, "in");
    CHECK(file.most_draft_tokens == 3);
    CHECK_FALSE(file.only_measured);
    CHECK(found(profile, {{{"mixed", 1.0}}, {}, "", {}}).chain.accept_length(3) == Approx(2.7));
    CHECK(found(profile, {{{"coding", 1.0}}, {}, "", {}}).chain.accept_length(3) == Approx(3.1));
    CHECK(problem(R"({"marginal_accept_rates": [0.8, 0.6], "mean_accept_length": 3.0})") ==
          "in: mean_accept_length is 3, but 1 + the sum of its rates is 2.4");
    CHECK(problem(R"({"marginal_accept_rates": [1.8]})").find("rates between 0 and 1") != std::string::npos);
    // Not monotone in the length, as block drafters are: nothing may be read between the lengths.
    const AcceptanceFile per_k =
        acceptance_file_of(R"({"accept_length_model": "measured_per_k", "accept_length_by_k": {"7": 3.73, "8": 3.47}})", "in");
    CHECK(per_k.only_measured);
    CHECK(per_k.of("").size() == 2);
}

TEST_CASE("runs of an acceptance table count by their drafts") {
    const std::string csv =
        "num_drafts,num_draft_tokens,num_accepted_tokens,acceptance_length,acceptance_at_pos_0,acceptance_at_pos_1\n"
        "100,200,110,2.1,0.7,0.4\n300,600,150,1.5,0.3,0.2\n";
    // (100·2.1 + 300·1.5) / 400 tokens a step.
    CHECK(found(csv).chain.accept_length(2) == Approx(1.65));
    CHECK(problem("num_drafts,acceptance_at_pos_0\n1,1.5\n").find("line 2: acceptance_at_pos_0 must be a rate") !=
          std::string::npos);
    CHECK(problem("num_drafts,acceptance_at_pos_0\n") == "in: holds no run");
}

TEST_CASE("a vector by child rank is one") {
    CHECK(acceptance_file_of("[0.6, 0.2, 0.1]", "in").by_rank.size() == 3);
    CHECK(acceptance_file_of(R"({"acceptance_by_child_rank": [0.5], "reject_all": 0.5})", "in").by_rank.front() == 0.5);
    CHECK(problem("[0.9, 0.3]") == "in: at most one child is accepted, so the ranks must sum to at most 1, not 1.2");
}

TEST_CASE("other files are refused with what would do") {
    CHECK(problem("hello").find("is none of the files with measured acceptance") != std::string::npos);
    CHECK(problem("{}").find("is none of the files") != std::string::npos);
    CHECK_THROWS_WITH(read_acceptance_file("/no/such/file.yaml"), Catch::Contains("cannot be read"));
}

TEST_CASE("a run at several contexts keeps them apart, and counts say how far it may be off") {
    const auto cell = [](double context, double drafts, double first, double second) {
        runs::RunCell result;
        result.batch = 8.0;
        result.draft_tokens = 2;
        result.context = context;
        result.acceptance.drafts = result.acceptance.drafts_with_positions = drafts;
        result.acceptance.drafted = 2.0 * drafts;
        result.acceptance.reached = {first, second};
        result.acceptance.accepted = first + second;
        return result;
    };
    runs::MeasuredRun run;
    run.cells = {cell(1000.0, 1000.0, 800.0, 600.0), cell(1100.0, 1000.0, 800.0, 600.0), cell(16000.0, 500.0, 300.0, 150.0)};
    const AcceptanceFile file = acceptance_file::counted_run(run, "mine.json");
    const auto length = [&](const std::optional<double>& context) {
        return sim::acceptance_of_traffic(file.of(""), {{}, {}, "", context}).chain.accept_length(2);
    };
    CHECK(length(1000.0) == Approx(2.4));   // 1 + 0.8 + 0.6: the first two cells are one context
    CHECK(length(16000.0) == Approx(1.9));  // 1 + 0.6 + 0.3
    CHECK(length(std::sqrt(1050.0 * 16000.0)) == Approx(0.5 * (2.4 + 1.9)));
    CHECK(length(std::nullopt) == Approx((2000.0 * 2.4 + 500.0 * 1.9) / 2500.0));  // nobody says where: rounds count
    REQUIRE(file.counted);
    CHECK(file.counted->rounds == 2500.0);
    // Independent rounds: Σ (2i − 1)·a_i − mean² = 0.76 + 3·0.54 − 1.3² = 0.69 over 2,500 of them.
    CHECK(file.counted->standard_error == Approx(std::sqrt(0.69 / 2500.0)));
    run.cells.pop_back();
    CHECK_FALSE(acceptance_file::counted_run(run, "mine.json").of("").front().context);
}

TEST_CASE("acceptance of a look-up's run counts over the rounds that drafted, of which it tells the share") {
    runs::MeasuredRun run;
    runs::RunCell cell;
    cell.draft_tokens = 2;
    cell.acceptance.drafts = cell.acceptance.drafts_with_positions = 100.0;
    cell.acceptance.drafted = 200.0;
    cell.acceptance.reached = {60.0, 40.0};
    cell.acceptance.accepted = 100.0;
    cell.acceptance.add_undrafted(900.0);
    run.cells = {cell};
    CHECK(run.acceptance(2).accept_length() == Approx(1.1));  // 1 + 100/1000
    const AcceptanceFile file = acceptance_file::counted_run(run, "mine.json");
    CHECK(file.hit_rate == Approx(0.1));
    CHECK(sim::acceptance_of_traffic(file.of(""), {}).chain.accept_length(2) == Approx(2.0));  // 1 + 0.6 + 0.4
    run.cells.front().acceptance.reached.clear();
    run.cells.front().acceptance.drafts_with_positions = 0.0;
    CHECK(acceptance_file::counted_run(run, "mine.json").of("").front().accept_length == Approx(2.0));
}

TEST_CASE("a run at several concurrencies keeps them apart, each draft length by itself") {
    const auto cell = [](double batch, int draft_tokens, double first) {
        runs::RunCell result;
        result.batch = batch;
        result.draft_tokens = draft_tokens;
        result.context = 1000.0;
        result.acceptance.drafts = result.acceptance.drafts_with_positions = 1000.0;
        result.acceptance.drafted = 1000.0 * draft_tokens;
        result.acceptance.reached = std::vector<double>(static_cast<std::size_t>(draft_tokens), first);
        result.acceptance.accepted = first * draft_tokens;
        return result;
    };
    runs::MeasuredRun run;
    run.cells = {cell(4.0, 1, 800.0), cell(64.0, 1, 600.0), cell(64.0, 2, 600.0)};
    const AcceptanceFile file = acceptance_file::counted_run(run, "mine.json");
    const auto length = [&](int draft_tokens, const std::optional<double>& batch) {
        return sim::acceptance_of_traffic(file.of(""), {{}, {}, "", {}, batch}).chain.accept_length(draft_tokens);
    };
    // One draft was measured in 2,000 rounds at two concurrencies, two in 1,000 at one, which stands for all.
    CHECK(length(1, 64.0) == Approx(1.6));
    CHECK(length(1, 4.0) == Approx(1.0 + (2.0 * 0.8 + 0.6) / 3.0));
    CHECK(length(1, 16.0) == Approx(1.0 + (2.0 * 0.7 + 0.6) / 3.0));  // halfway by the logarithm
    CHECK(length(1, 1.0) == Approx(length(1, 4.0)));                  // the nearest that was measured
    CHECK(length(2, 4.0) == Approx(2.2));
    CHECK(length(1, std::nullopt) == Approx(1.0 + (0.8 + 0.6 + 0.6) / 3.0));
}

TEST_CASE("means that a run states without counts are kept apart by load, and are less sure") {
    const auto cell = [](double batch, double context, double length) {
        runs::RunCell result;
        result.batch = batch;
        result.draft_tokens = 3;
        result.context = context;
        result.stated_length = length;
        return result;
    };
    runs::MeasuredRun run;
    run.cells = {cell(1.0, 1000.0, 3.0), cell(1.0, 8000.0, 2.4), cell(1.0, 30000.0, 1.8)};
    const auto length = [&](std::optional<double> context, std::optional<double> batch) {
        const AcceptanceFile file = acceptance_file::counted_run(run, "mine.json");
        return sim::acceptance_of_traffic(file.of(""), {{}, {}, "", context, batch}).chain.accept_length(3);
    };
    CHECK(length(1000.0, 1.0) == Approx(3.0));
    CHECK(length(30000.0, 1.0) == Approx(1.8));
    CHECK(length(60000.0, 1.0) == Approx(1.8));  // the nearest that was measured
    CHECK(length(std::sqrt(1000.0 * 8000.0), 1.0) == Approx(2.7));
    CHECK(length(std::nullopt, std::nullopt) == Approx(2.4));
    const AcceptanceFile stated = acceptance_file::counted_run(run, "mine.json");
    CHECK(stated.of_a_run);
    CHECK_FALSE(stated.counted);
    CHECK(stated.format == "stated mean of a run");
    for (runs::RunCell& each : run.cells) {  // and so are those of a tree
        each.shape = "sglang:3,4,16";
        each.depth = 3;
        each.draft_tokens = 15;
    }
    const AcceptanceFile trees = acceptance_file::counted_run(run, "mine.json");
    const auto of_tree = [&](double context) {
        return sim::acceptance_of_traffic(trees.of(""), {{}, {}, "", context, 1.0}).shapes.front().second;
    };
    CHECK(of_tree(1000.0) == Approx(3.0));
    CHECK(of_tree(30000.0) == Approx(1.8));
    // Contexts that tables tell apart are two loads, however near.
    run.cells = {cell(1.0, 16000.0, 2.2), cell(1.0, 20000.0, 2.0), cell(16.0, 16000.0, 1.5)};
    CHECK(length(20000.0, 1.0) == Approx(2.0));
    CHECK(length(16000.0, 16.0) == Approx(1.5));
    // Counts at one load beside a stated mean at another: each is of its own load.
    run.cells = {cell(1.0, 1000.0, 0.0), cell(1.0, 30000.0, 1.8)};
    run.cells.front().acceptance.drafts = run.cells.front().acceptance.drafts_with_positions = 1000.0;
    run.cells.front().acceptance.drafted = 3000.0;
    run.cells.front().acceptance.accepted = 2000.0;
    run.cells.front().acceptance.reached = {900.0, 700.0, 400.0};
    CHECK(length(1000.0, 1.0) == Approx(3.0));
    CHECK(length(30000.0, 1.0) == Approx(1.8));
    CHECK(length(std::sqrt(1000.0 * 30000.0), 1.0) == Approx(2.4));
    CHECK(acceptance_file::counted_run(run, "mine.json").format == "counts and stated means of a run");
    CHECK_FALSE(acceptance_file::counted_run(run, "mine.json").counted);
}

TEST_CASE("a run whose rates rise has its mean alone, and says so") {
    const auto run = [](const std::string& by_position) {
        return R"({"format": "treeline-run", "version": 1, "cells": [{"batch": 8, "draft_tokens": 3, "acceptance": {"drafts": 1000,
            "draft_tokens": 3000, "accepted_tokens": 1600, "accepted_by_position": )" +
               by_position + "}}]}";
    };
    const AcceptanceFile rising = acceptance_file_of(run("[500, 800, 300]"), "in");
    REQUIRE(rising.remarks.size() == 1);
    CHECK_THAT(rising.remarks.front(), Catch::Contains("accepted more often than earlier ones"));
    // What is counted: 1 + 1600/1000 tokens a round, and not 1 + 0.5 + 0.5 + 0.3.
    CHECK(found(run("[500, 800, 300]")).chain.accept_length(3) == Approx(2.6));
    CHECK(acceptance_file_of(run("[800, 500, 300]"), "in").remarks.empty());
    CHECK(found(run("[800, 500, 300]")).chain.position(2) == Approx(0.5));
}

}  // namespace acceptance_file_test
