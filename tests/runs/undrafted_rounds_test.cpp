// Rounds in which a look-up drafted nothing, which vLLM leaves out of its counts: tokens that were generated tell them.
// Expected values are arithmetic on the figures.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "runs/own_file.h"
#include "typed_run.h"

namespace undrafted_rounds_test {

using namespace treeline;
using namespace treeline::testing::typed;

runs::MeasuredRun read_as(const std::string& drafter, const std::string& text) {
    runs::RunHints hints;
    hints.identity.drafter = drafter;
    return runs::import_run_text(text, "typed.md", hints);
}

/// 16 requests, 4,096 tokens, 132 drafts of 6, 234 tokens accepted.
std::string report(const std::string& tpot = "18.17", const std::string& itl = "19.17") {
    return "============ Serving Benchmark Result ============\n"
           "Successful requests:                     16\n"
           "Maximum request concurrency:             1\n"
           "Benchmark duration (s):                  76.32\n"
           "Total input tokens:                      1600\n"
           "Total generated tokens:                  4096\n"
           "Mean TPOT (ms):                          " +
           tpot +
           "\n"
           "Mean ITL (ms):                           " +
           itl +
           "\n"
           "Acceptance length:                       2.77\n"
           "Drafts:                                  132\n"
           "Draft tokens:                            792\n"
           "Accepted tokens:                         234\n"
           "==================================================\n";
}

TEST_CASE("the rounds in which a look-up found nothing follow from the tokens that were generated") {
    // 4096 - 16 first tokens - 234 = 3846 rounds, of which 132 drafted.
    const runs::MeasuredRun run = read_as("ngram", report());
    const runs::AcceptanceCounts counts = run.acceptance(6);
    CHECK(counts.drafts == 3846.0);
    CHECK(counts.undrafted == 3714.0);
    CHECK(counts.accept_length() == Approx(4080.0 / 3846.0));
    CHECK(counts.hit_rate() == Approx(132.0 / 3846.0));
    CHECK(counts.draft_length() == Approx(6.0));
    CHECK(run.cells.front().round_seconds() == Approx(18.17e-3 * 4080.0 / 3846.0));
    CHECK(says(remarks_of(run), "3714 of 3846 rounds drafted nothing, since the look-up found nothing"));
    // The same where nothing names the drafter, since a message brings 19.17 / 18.17 = 1.06 tokens.
    CHECK(read(report()).acceptance(6).drafts == 3846.0);
    // Written and read again.
    const runs::MeasuredRun again = read(runs::run_json(run).dump());
    CHECK(again.acceptance(6).undrafted == 3714.0);
    CHECK(again.acceptance(6).accept_length() == Approx(4080.0 / 3846.0));
    CHECK(runs::run_json(run)["cells"][0]["acceptance"]["hit_rate"] == Approx(0.03432));
}

TEST_CASE("counters of one of several servers tell no rounds, and a drafter of weights always drafts") {
    // A message brings 2.77 tokens, as the counters say: they are of a part of the requests.
    const runs::MeasuredRun part = read_as("ngram", report("18.17", "50.3"));
    CHECK(part.acceptance(6).accept_length() == Approx(1.0 + 234.0 / 132.0));
    CHECK(says(remarks_of(part), "counted for part of the requests"));
    const runs::MeasuredRun eagle = read_as("eagle3", report());
    CHECK(eagle.acceptance(6).drafts == 132.0);
    CHECK(says(remarks_of(eagle), "4080 tokens were generated, but its drafts account for 366"));
    // 2000 tokens of 16 requests in 716 drafts of 3, 1268 of which were accepted: all are accounted for.
    const runs::MeasuredRun whole =
        read_as("eagle3",
                "============ Serving Benchmark Result ============\nSuccessful requests: 16\nMaximum request concurrency: 1\n"
                "Total generated tokens: 2000\nMean TPOT (ms): 10.0\nDrafts: 716\nDraft tokens: 2148\nAccepted tokens: 1268\n");
    CHECK(!says(remarks_of(whole), "account for"));
    // Where drafts alone are known of a look-up, that is said.
    const runs::MeasuredRun alone = read_as("ngram",
                                            "---------------Speculative Decoding---------------\nDrafts: 132\n"
                                            "Draft tokens: 792\nAccepted tokens: 234\n");
    CHECK(says(remarks_of(alone), "this accept length is of those rounds"));
}

std::string engine_line(int second, double rate) {
    return fmt::format(
        "INFO 06-06 14:20:{:02} [loggers.py:116] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: "
        "{} "
        "tokens/s, Running: 1 reqs, Waiting: 0 reqs\n",
        second, rate);
}

/// 18 drafts of 6, 30 tokens of which were accepted in so many seconds.
std::string draft_line(int second, double seconds) {
    return fmt::format(
        "INFO 06-06 14:20:{:02} [metrics.py:86] SpecDecoding metrics: Mean acceptance length: 2.67, Accepted throughput: "
        "{:.2f} "
        "tokens/s, Drafted throughput: {:.2f} tokens/s, Accepted: 30 tokens, Drafted: 108 tokens, Per-position acceptance "
        "rate: "
        "0.611, 0.444, 0.278, 0.167, 0.111, 0.056, Avg Draft acceptance rate: 27.8%\n",
        second, 30.0 / seconds, 108.0 / seconds);
}

TEST_CASE("lines of a log on throughput tell the rounds of a look-up, also between lines on its drafts") {
    std::string log;
    for (const int second : {10, 20, 30, 40}) {
        log += engine_line(second, 53.0) + draft_line(second, 10.0);
    }
    // 530 tokens in 10 s, 30 of them accepted: 500 rounds in each interval.
    const runs::AcceptanceCounts counts = read_as("ngram", log).acceptance(6);
    CHECK(counts.drafts == Approx(2000.0));
    CHECK(counts.undrafted == Approx(2000.0 - 72.0));
    CHECK(counts.positions().front() == Approx(11.0 / 500.0));
    // An interval without drafts is none of plain decoding, and the next line on drafts is of 20 s.
    const runs::MeasuredRun silent =
        read_as("suffix", log + engine_line(50, 50.0) + engine_line(59, 53.0) + draft_line(59, 20.0));
    CHECK(silent.acceptance(6).drafts == Approx(2000.0 + 500.0 + 500.0));
    CHECK(silent.draft_lengths() == std::vector<int>{6});
    CHECK(std::none_of(silent.cells.begin(), silent.cells.end(), [](const auto& cell) { return cell.draft_tokens == 0; }));
    CHECK(read_as("eagle3", log).acceptance(6).drafts == 72.0);
}

TEST_CASE("counters of a server tell the rounds of a look-up") {
    const std::string metrics =
        "vllm:spec_decode_num_drafts_total{engine=\"0\"} 100\nvllm:spec_decode_num_draft_tokens_total{engine=\"0\"} 500\n"
        "vllm:spec_decode_num_accepted_tokens_total{engine=\"0\"} 200\n"
        "vllm:generation_tokens_total{engine=\"0\"} 1220\nvllm:time_to_first_token_seconds_count{engine=\"0\"} 20\n";
    // 1220 - 20 - 200 = 1000 rounds.
    CHECK(read_as("ngram", metrics).acceptance(5).drafts == 1000.0);
    CHECK(read_as("mtp", metrics).acceptance(5).drafts == 100.0);
}

TEST_CASE("tokens of vLLM's offline example tell the rounds of a look-up") {
    const std::string print =
        "Total output tokens: 1200\nNumber of draft proposals: 100\nNumber of draft tokens generated: 500\n"
        "Number of accepted tokens: 200\nBaseline (non-speculative): 215.84 s\n";
    CHECK(read_as("ngram", print).acceptance(5).drafts == 1000.0);
    CHECK(says(remarks_of(read_as("ngram", print)), "times of whole runs give none per token"));
    CHECK(read_as("eagle", print).acceptance(5).drafts == 100.0);
}

TEST_CASE("a request that states its tokens tells the rounds in which it drafted nothing") {
    const std::string answer =
        R"({"usage": {"completion_tokens": 101}, "metrics": {"speculative_decoding": {"num_spec_steps": 10, "num_spec_tokens": 3,)"
        R"( "num_accepted_draft_tokens": 20, "num_draft_tokens": 30}}})";
    CHECK(read_as("ngram", answer).acceptance(3).drafts == 80.0);
    CHECK(read_as("ngram", answer).acceptance(3).hit_rate() == Approx(0.125));
}

}  // namespace undrafted_rounds_test
