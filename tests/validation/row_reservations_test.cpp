// Are rows that cannot be evidence told apart by what was measured alone, and unstated lengths named where they matter?
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "measured_row.h"
#include "requests/validate/measured_rows_reader.h"
#include "validation/serving/study.h"

namespace row_reservations_test {

using namespace treeline;
using namespace treeline::validation;

namespace {

/// Llama-3.1-8B on one H100: requests, milliseconds a token without speculation, and what speculation gained.
std::string row(const char* id, double batch, double plain_ms, double speed_up, const char* more = "") {
    return fmt::format(R"({{"id": "{}", "series": "s", "engine": "vllm", "target_model": "Llama-3.1-8B-Instruct", "tp": 1,
                            "target_precision": "bf16", "drafter_type": "eagle3", "draft_tokens": 3, "gpu": "H100 80GB",
                            "metric": "tpot_ms", "is_pair": true, "concurrency_kind": "concurrency",
                            "batch_or_concurrency": {}, "value_without": {}, "speedup": {}, "accept_length": 2.2{}}})",
                       id, batch, plain_ms, speed_up, more);
}

std::vector<MeasuredPoint> points_of_rows(const std::vector<std::string>& rows) {
    std::vector<std::string> notes;
    const std::string text = fmt::format("[{}]", fmt::join(rows, ", "));
    return points_of(requests::read_speculation_rows(written("reservations.json", text), notes), parts()).points;
}

const char* const stated = R"(, "input_len": 500, "output_len": 500)";

}  // namespace

TEST_CASE("a speed-up above its accept length contradicts it") {
    const std::vector<MeasuredPoint> points = points_of_rows({row("a", 1, 6.0, 2.3, stated), row("b", 1, 6.0, 2.2, stated)});
    REQUIRE(points.size() == 2);
    CHECK(points[0].contradiction == "its speed-up lies above its accept length");
    CHECK(points[0].stands_apart());
    CHECK(points[1].contradiction.empty());
    CHECK_FALSE(points[1].stands_apart());
}

TEST_CASE("a row of a metric that is no speed is left out, with its reason") {
    std::vector<std::string> notes;
    const auto of_metric = [&](const std::string& metric) {
        std::string text = row("a", 1, 6.0, 1.5, stated);
        text.replace(text.find("tpot_ms"), 7, metric);
        return points_of(requests::read_speculation_rows(written("reservations.json", "[" + text + "]"), notes), parts());
    };
    for (const char* metric : {"foo", "accept_length_only", "best_num_steps"}) {
        INFO(metric);
        const MeasuredPoints read = of_metric(metric);
        CHECK(read.points.empty());
        REQUIRE(read.left_out.size() == 1);
        CHECK(read.left_out.front().reason == "metric is not known");
        CHECK(read.left_out.front().detail == metric);
    }
    for (const char* metric : {"output_tok_s", "tok_s_per_user", "itl_ms", "e2e_latency_s", "speedup", "total_throughput"}) {
        INFO(metric);
        CHECK(of_metric(metric).points.size() == 1);
    }
}

TEST_CASE("of plain steps of one deployment and load, those that are twofold off the others stand apart") {
    const std::vector<MeasuredPoint> points = points_of_rows({row("a", 1, 6.0, 1.5, stated), row("b", 1, 6.2, 1.5, stated),
                                                              row("c", 1, 13.0, 1.5, stated), row("d", 4, 6.4, 1.5, stated)});
    REQUIRE(points.size() == 4);
    CHECK(points[2].contradiction == "its plain step is twofold off that of the other rows of its deployment and load");
    for (const std::size_t i : {0, 1, 3}) {
        CHECK(points[i].contradiction.empty());
    }
}

TEST_CASE("steps without speculation are scored once each, of rows that are evidence and whose rates tell them") {
    std::vector<std::string> notes;
    ServingStudyInput input;
    input.parts = parts();
    input.mode = sim::CostMode::roofline;
    const std::vector<std::string> rows = {row("a", 1, 6.0, 1.5, stated), row("b", 1, 6.0, 1.4, stated),
                                           row("c", 1, 6.2, 1.5, stated), row("apart", 1, 13.0, 1.5, stated),
                                           row("d", 4, 7.0, 1.5, stated)};
    input.speculation =
        requests::read_speculation_rows(written("steps.json", fmt::format("[{}]", fmt::join(rows, ", "))), notes);
    const ServingStudy study = study_serving(std::move(input));
    REQUIRE(study.given_length);
    REQUIRE(study.given_length->plain_steps);
    CHECK(study.given_length->plain_steps->rows == 3);  // 6.0, 6.2 and 7.0 ms
    std::vector<double> errors;
    for (const ScoredPoint& scored : study.given_length->rows) {
        const MeasuredPoint& point = study.speculation.points[scored.point];
        if (point.contradiction.empty() && scored.point != 1) {
            errors.push_back(std::abs(scored.times.plain / point.plain_step - 1.0));
        }
    }
    REQUIRE(errors.size() == 3);
    std::sort(errors.begin(), errors.end());
    CHECK(study.given_length->plain_steps->median == Approx(errors[1]));
    // Intervals of plain steps are made of the same.
    REQUIRE(study.time_residuals.size() == 3);
    std::vector<double> of_residuals;
    for (const numerics::CaseResidual& residual : study.time_residuals) {
        of_residuals.push_back(std::abs(1.0 / residual.ratio - 1.0));
    }
    std::sort(of_residuals.begin(), of_residuals.end());
    for (std::size_t i = 0; i < errors.size(); ++i) {
        CHECK(of_residuals[i] == Approx(errors[i]));
    }
    REQUIRE_FALSE(study.time_intervals.empty());
    CHECK(study.time_intervals.front().families == 1);
}

TEST_CASE("a whole run without speculation takes all prompts of its requests, the time between tokens those of the others") {
    const auto plain = [](const char* metric, double batch) {
        std::string text = row("a", batch, 6.0, 1.5, stated);
        text.replace(text.find("tpot_ms"), 7, metric);
        SpeculativePoint point(points_of_rows({text}).front(), parts(), sim::CostMode::roofline);
        static_cast<void>(point.speed_up(2.2));
        return point.times().plain;
    };
    for (const double batch : {1.0, 8.0}) {
        // 8 requests in a token's time each; a prompt of 500 tokens for each of 500.
        const sim::CompiledRound round = sim::compile_round(
            SpeculativePoint(points_of_rows({row("a", batch, 6.0, 1.5, stated)}).front(), parts(), sim::CostMode::roofline)
                .setup());
        const double prompt = round.prompts.target.value();
        REQUIRE(prompt > 0.0);
        CHECK(plain("output_tok_s", batch) - plain("tpot_ms", batch) == Approx(prompt));
    }
}

TEST_CASE("what a row's source states beside it: slots, replicas, ranks of experts and drafter, targets that are guessed") {
    const auto point = [](const std::string& series, const char* fields) {
        const std::vector<MeasuredPoint> points = points_of_rows({fmt::format(
            R"({{"id": "a", "series": "{}", "engine": "vllm", "draft_tokens": 3, "metric": "tpot_ms", "is_pair": true,
                 "concurrency_kind": "concurrency", "batch_or_concurrency": 32, "speedup": 1.2, "accept_length": 2.2{}}})",
            series, fields)});
        REQUIRE(points.size() == 1);
        return points.front();
    };
    const char* const dense = R"(, "target_model": "Llama-3.1-8B-Instruct", "drafter_type": "eagle3", "gpu": "RTX 3090 24GB",
                                  "n_gpus": 4, "tp": 1, "target_precision": "awq-int4")";
    CHECK(point("lotto-4x3090/orchestrator/x", dense).batch == 8.0);  // of each of four instances
    CHECK(point("s", dense).batch == 32.0);
    const char* const mixture = R"(, "target_model": "MiniMax-M2.5", "drafter_type": "eagle3", "gpu": "MI355X", "n_gpus": 4,
                                    "tp": 4, "target_precision": "fp8")";
    CHECK(point("vllm-amd-minimaxm25", mixture).cut.parallel.experts == 4.0);
    CHECK(point("vllm-amd-minimaxm25", mixture).cut.parallel.draft_tensor == 1.0);
    CHECK(point("s", mixture).cut.parallel.experts == 1.0);
    const char* const spark = R"(, "target_model": "Qwen3.8-27B", "drafter_type": "dflash2", "gpu": "DGX Spark", "tp": 1,
                                  "input_len": 100, "output_len": 500)";
    CHECK(point("dflash2-gb10/n7", spark).assumed == std::vector<std::string>{"model"});
    CHECK(point("glm53flash-gb300/round1-block8", spark).most_requests == 7.0);
    CHECK(point("s", spark).assumed.empty());
}

TEST_CASE("prompts that cannot have been computed in the time stand apart with their series") {
    const auto metric = [](std::string row) {
        row.replace(row.find("tpot_ms"), 7, "output_tok_s");
        return row;
    };
    const char* const long_prompts = R"(, "input_len": 8000, "output_len": 250)";
    // A prompt of 8,000 tokens is 112 TFLOP without embeddings; with answers of 250 tokens, 3,000 tokens/s are 12 prompts a
    // second, 1.34 PFLOP, and an H100 computes 0.99 at most.
    const std::vector<MeasuredPoint> fast =
        points_of_rows({metric(row("a", 4, 400.0, 1.2, long_prompts)), metric(row("b", 32, 3000.0, 1.1, long_prompts))});
    REQUIRE(fast.size() == 2);
    for (const MeasuredPoint& point : fast) {
        CHECK(point.contradiction == "a row of its series served more prompts than its devices can compute in the time");
    }
    for (const MeasuredPoint& point :
         points_of_rows({metric(row("a", 4, 400.0, 1.2, long_prompts)), metric(row("b", 32, 900.0, 1.1, long_prompts))})) {
        CHECK(point.contradiction.empty());
    }
}

TEST_CASE("a request that is served more slowly than at a larger load of its series stands apart") {
    // Plain steps, and, in the second series, rounds.
    const std::vector<MeasuredPoint> plain =
        points_of_rows({row("a", 2, 9.0, 1.5, stated), row("b", 8, 7.0, 1.5, stated), row("c", 32, 8.0, 1.5, stated)});
    REQUIRE(plain.size() == 3);
    CHECK(plain[0].contradiction == "a request is served more slowly than at a larger load of its series");
    CHECK(plain[1].contradiction.empty());
    const std::vector<MeasuredPoint> rounds = points_of_rows({row("a", 2, 6.0, 0.8, stated), row("b", 8, 7.0, 1.5, stated)});
    REQUIRE(rounds.size() == 2);
    CHECK_FALSE(rounds[0].contradiction.empty());
    CHECK(rounds[1].contradiction.empty());
}

TEST_CASE("lengths that a row leaves open are named where they move the prediction") {
    const auto assumed = [](double batch, const char* more) {
        const std::vector<MeasuredPoint> points = points_of_rows({row("a", batch, 6.0, 1.5, more)});
        REQUIRE(points.size() == 1);
        return points[0].assumed;
    };
    // One request waits for no prompt of another; of 64, prompts of 8,000 tokens and answers of a few hundred, most wait.
    CHECK(assumed(1, "").empty());
    CHECK(assumed(64, R"(, "input_len": 8000)") == std::vector<std::string>{"lengths"});
    CHECK(assumed(64, R"(, "input_len": 8000, "output_len": 300)").empty());
}

}  // namespace row_reservations_test
