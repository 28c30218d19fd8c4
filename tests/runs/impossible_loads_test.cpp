// Loads that cannot be: refused alike in every format, or left out with their line. Texts are our own.
#include <catch2/catch.hpp>

#include "imported_run.h"
#include "typed_run.h"

namespace impossible_loads_test {

using namespace treeline;
using namespace treeline::testing::typed;

namespace {

/// A run of our own with a load that drafts three tokens, and one that does not.
std::string own(const std::string& load) {
    return R"({"format": "treeline-run", "version": 1, "cells": [{"draft_tokens": 3, "round_ms": {"mean": 9.5}, )" + load +
           R"(}, {"batch": 8, "draft_tokens": 0, "round_ms": {"mean": 7.1}}]})";
}

std::string result(const std::string& more) {
    return R"({"completed": 100, "model_id": "m", "num_prompts": 100, "total_input_tokens": 102400, "total_output_tokens": 25600, )"
           R"("output_throughput": 491.4, "mean_ttft_ms": 80.1, "mean_tpot_ms": 15.9)" +
           more + "}";
}

}  // namespace

TEST_CASE("runs of our own are judged as all others are") {
    CHECK(refusal(own(R"("batch": 8, "stated_length": 2.4)")).empty());
    CHECK(says(refusal(own(R"("batch": 8, "stated_length": 5)")),
               "gives an accept length of 5.00 with 3 draft tokens, which is more than can be"));
    CHECK(says(refusal(own(R"("batch": 8, "stated_length": 0.5)")), "stated_length"));
    CHECK(says(refusal(own(R"("batch": 0, "stated_length": 2.4)")), "batch"));
    CHECK(says(refusal(own(R"("batch": 8, "acceptance": {"drafts": 1000, "draft_tokens": 30000, "accepted_tokens": 20000})")),
               "counts 21.00 tokens a round with 3 draft tokens"));
    CHECK(says(refusal(own(R"("batch": 8, "acceptance": {"drafts": 1000, "draft_tokens": 30000, "accepted_tokens": 2000})")),
               "counts 30.00 draft tokens a round with 3 draft tokens"));
}

TEST_CASE("rates that rise with the position are said in every format") {
    const std::string rising = "later drafts are accepted more often than earlier ones";
    CHECK(says(remarks_of(read(own(R"("batch": 8, "acceptance": {"drafts": 1000, "draft_tokens": 3000, )"
                                   R"("accepted_tokens": 1600, "accepted_by_position": [500, 800, 300]})"))),
               rising));
    CHECK(says(
        remarks_of(read(result(R"(, "max_concurrency": 8, "spec_decode_num_drafts": 1000, "spec_decode_draft_tokens": 3000, )"
                               R"("spec_decode_accepted_tokens": 1600, )"
                               R"("spec_decode_per_position_acceptance_rates": [0.5, 0.8, 0.3])"))),
        rising));
}

TEST_CASE("draft lengths are whole numbers from 0 on, and a round yields a token") {
    const auto table = [](const std::string& row) {
        return "concurrency,k,tpot,AL\n1,0,16,\n1,2,10,2.1\n1,3,9,2.4\n" + row + "\n";
    };
    const auto left_out = [&](const std::string& row, const std::string& why) {
        const runs::MeasuredRun run = read(table(row));
        CHECK(cells_of(run) == "1/0/0: 16000, 1/2/0: 10000, 1/3/0: 9000");
        CHECK(says(remarks_of(run), "line 5: " + why));
    };
    left_out("1,-1,30,", "gives -1 for the draft tokens");
    left_out("1,3.5,30,2.4", "gives 3.5 for the draft tokens");
    left_out("1,4,30,-2.4", "gives an accept length of -2.4");
    left_out("1,4,30,0.4", "gives an accept length of 0.4");
    CHECK(says(refusal(R"({"concurrency": 1, "num_speculative_tokens": -1, "tpot_ms": 10})"), "gives -1 for the draft tokens"));
    CHECK(
        says(refusal(R"({"concurrency": 1, "num_speculative_tokens": 3.5, "tpot_ms": 10})"), "gives 3.5 for the draft tokens"));
    CHECK(says(refusal(R"({"concurrency": 1, "k": 3, "tpot_ms": 10, "accept_length": 0.4})"), "gives an accept length of 0.4"));
    CHECK(says(refusal("K=-1: 220 tok/s, no spec: 140 tok/s\n"), "but not with how many draft tokens"));
}

TEST_CASE("no more requests are in flight than were sent") {
    // 100 · (80.1 + 255 · 15.9) ms / 52.1 s: 7.9 by Little's law.
    const runs::MeasuredRun many = read(result(R"(, "duration": 52.1, "max_concurrency": 256)"));
    CHECK(many.cells.front().batch == 8.0);
    CHECK(says(remarks_of(many), "256 requests may be in flight at once, but 100 were sent; 8 are taken"));
    CHECK(read(result(R"(, "max_concurrency": 256)")).cells.front().batch == 100.0);
    CHECK(read(result(R"(, "duration": 52.1, "max_concurrency": 16)")).cells.front().batch == 16.0);
    const std::string sglang = R"({"accept_length": null, "completed": 100, "total_output_tokens": 25600, "concurrency": 7.9, )"
                               R"("mean_tpot_ms": 15.9, "max_concurrency": 256})";
    CHECK(read(sglang).cells.front().batch == Approx(7.9).margin(0.11));
}

TEST_CASE("a benchmark of which no request succeeded measured nothing") {
    const auto completed = [](const std::string& count) {
        return R"({"completed": )" + count + R"(, "model_id": "m", "max_concurrency": 8, "total_input_tokens": 102400, )" +
               R"("total_output_tokens": 25600, "mean_tpot_ms": 15.9})";
    };
    CHECK(says(refusal(completed("0")), "no request succeeded"));
    CHECK(read(completed("null")).cells.front().context == 0.0);
    CHECK(read(completed("100")).cells.front().context == Approx(1152.0));
    CHECK(says(refusal(R"({"accept_length": null, "completed": 0, "total_output_tokens": 25600, "mean_tpot_ms": 15.9})"),
               "no request succeeded"));
    const std::string printed =
        "============ Serving Benchmark Result ============\nSuccessful requests: COUNT\n"
        "Total input tokens: 102400\nTotal generated tokens: 25600\nMean TPOT (ms): 15.90\n" +
        std::string(50, '=') + "\n";
    std::string none = printed, unsaid = printed;
    none.replace(none.find("COUNT"), 5, "0");
    unsaid.erase(unsaid.find("Successful"), 27);
    CHECK(says(refusal(none), "no request succeeded"));
    CHECK(read(unsaid).cells.front().context == 0.0);
    CHECK(says(refusal(result(R"(, "duration": 0)")), "says that it took 0 s"));
    CHECK(says(refusal(result(R"(, "duration": -5)")), "says that it took -5 s"));
    CHECK(says(refusal(result(R"(, "duration": 52.1, "max_concurrency": -8)")), "at most -8 requests"));
}

TEST_CASE("what a log or a command says it drafts is not overridden") {
    const std::string vllm =
        "INFO 11-20 10:00:01 [core.py:77] Initializing a V1 LLM engine (v0.11.0) with config: model='m', "
        "speculative_config=SpeculativeConfig(method='eagle3', model='d', num_spec_tokens=3), dtype=torch.bfloat16\n";
    const std::string interval =
        "INFO 11-20 10:00:11 [loggers.py:127] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: "
        "812.3 "
        "tokens/s, Running: 8 reqs, Waiting: 0 reqs\n"
        "INFO 11-20 10:00:11 [metrics.py:96] SpecDecoding metrics: Mean acceptance length: 2.40, Accepted: 4730 tokens, "
        "Drafted: "
        "10140 tokens, Per-position acceptance rate: 0.700, 0.450, 0.249, Avg Draft acceptance rate: 46.6%\n";
    CHECK(says(refusal(vllm + interval, 5), "line 1: is of 3 draft tokens, but --draft-tokens says 5"));
    CHECK(says(refusal(interval, 5), "line 2: is of 3 draft tokens, but --draft-tokens says 5"));
    CHECK(read(vllm + interval, 3).cells.back().draft_tokens == 3);
    const std::string arguments =
        "[2026-04-08 14:05:01] server_args=ServerArgs(model_path='m', speculative_algorithm='EAGLE3', speculative_num_steps=3, "
        "speculative_eagle_topk=1, speculative_num_draft_tokens=4, tp_size=1)\n";
    const std::string decode =
        "[2026-04-08 14:05:21] Decode batch, #running-req: 8, #token: 9120, accept len: 2.80, gen throughput (token/s): "
        "912.40, "
        "#queue-req: 0, \n";
    CHECK(says(refusal(arguments + decode, 5), "is of 3 draft tokens, but --draft-tokens says 5"));
    CHECK(read(arguments + decode, 3).cells.front().draft_tokens == 3);
    runs::RunHints tree;
    tree.tree = {5, 8, 32};
    CHECK_THROWS_WITH(runs::import_run_text(arguments + decode, "log", tree),
                      Catch::Contains("is of 3 draft tokens, but --shape says a tree of 31 draft tokens (sglang:5,8,32)"));
    std::string of_tree = arguments;
    const std::string chain = "steps=3, speculative_eagle_topk=1, speculative_num_draft_tokens=4";
    of_tree.replace(of_tree.find(chain), chain.size(), "steps=5, speculative_eagle_topk=8, speculative_num_draft_tokens=32");
    CHECK(runs::import_run_text(of_tree + decode, "log", tree).cells.front().shape == "sglang:5,8,32");
    tree.tree = {3, 4, 16};
    CHECK_THROWS_WITH(runs::import_run_text(of_tree + decode, "log", tree), Catch::Contains("but --shape says a tree of 15"));
    // A command over several lines is judged as a whole.
    const std::string command =
        "python -m sglang.launch_server --model-path m --speculative-algorithm EAGLE3 --speculative-num-steps 5 \\\n"
        "  --speculative-eagle-topk 8 --speculative-num-draft-tokens 32\n";
    tree.tree = {5, 8, 32};
    CHECK(runs::import_run_text(command + decode, "log", tree).cells.front().shape == "sglang:5,8,32");
    CHECK(says(refusal(command + decode, 3), "is of a tree of 31 draft tokens (sglang:5,8,32), but --draft-tokens says 3"));
}

}  // namespace impossible_loads_test
