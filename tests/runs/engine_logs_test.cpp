// Logs of engines and reports of scripts whose lines mean more or less than they seem to: sums since a start, intervals in
// which requests came, timings of one of two models, reports under captions. Expected values are arithmetic on the figures.
#include <algorithm>

#include <catch2/catch.hpp>

#include "typed_run.h"

namespace engine_logs_test {

using namespace treeline;
using namespace treeline::testing::typed;

TEST_CASE("counters of vLLM V0 are sums since its start, and its lines give differences") {
    const auto line = [](int accepted, int drafted, const std::string& tokens = "tokens") {
        return fmt::format(
            "INFO 09-10 10:00:00 metrics.py:477] Speculative metrics: Draft acceptance rate: 0.500, System "
            "efficiency: 0.480, Number of speculative tokens: 5, Number of accepted tokens: {}, Number of draft "
            "{}: {}, Number of emitted {}: 7.\n",
            accepted, tokens, drafted, tokens);
    };
    const runs::MeasuredRun two = read(line(900, 1000) + line(1000, 2000));
    CHECK(two.acceptance(5).drafts == 400);
    CHECK(two.acceptance(5).accept_length() == Approx(3.5));
    // A server that starts anew counts from 0; the same sums again are no rounds.
    const runs::MeasuredRun again = read(line(900, 1000) + line(900, 1000) + line(10, 50));
    CHECK(again.acceptance(5).drafts == 210);
    CHECK(again.acceptance(5).accepted == 910);
    // Version 0.5 repeats a word.
    CHECK(read(line(0, 100, "tokens tokens") + line(20, 150, "tokens tokens")).acceptance(5).drafts == 30);
}

TEST_CASE("llama.cpp's log names its files, and what drafted") {
    const std::string answer =
        "0.10.000.000 I slot print_timing: id  0 | task 0 | eval time = 1000.00 ms / 101 tokens ( 9.90 ms per token)\n"
        "0.10.000.001 I slot print_timing: id  0 | task 0 | draft acceptance = 0.50000 ( 60 accepted / 120 generated)\n";
    const auto sums = [](const std::string& what, int drafts) {
        return fmt::format(
            "0.10.000.002 I statistics {}: #calls(b,g,a) = 1 40 40, #gen drafts = {}, #acc drafts = 30, #gen tokens = 120, "
            "#acc tokens = 60, dur(b,g,a) = 0.1, 8.0, 0.1 ms\n",
            what, drafts);
    };
    const std::string loads =
        "srv    load_model: loading model '/models/A-8B-Q4_K_M-00001-of-00002.gguf'\n"
        "llama_model_loader: - kv   2: general.name str = A 8B\n"
        "srv    load_model: loading draft model 'C:\\models\\A-0.5B-Q8_0.gguf'\n"
        "llama_model_loader: - kv   2: general.name str = A 0.5B\n";
    const runs::MeasuredRun run = read(loads + answer + sums("draft-simple", 40));
    CHECK(run.identity.model == "/models/A-8B-Q4_K_M-00001-of-00002.gguf");
    CHECK(run.identity.drafter == "C:\\models\\A-0.5B-Q8_0.gguf");
    CHECK(run.identity.method == "simple");
    CHECK(read("llama_model_loader: loaded meta data with 3 key-value pairs and 4 tensors from a/B.gguf (version GGUF V3)\n" +
               answer)
              .identity.model == "a/B.gguf");
    CHECK(read(answer + sums("ngram-mod", 40)).identity.method == "ngram-mod");
    CHECK(read(answer + sums("ngram-mod", 0)).identity.method.empty());
    CHECK(read(answer + sums("ngram-mod", 3) + sums("draft-mtp", 37)).identity.method == "mtp");
}

TEST_CASE("oMLX counts rounds of models with vision in words of their own") {
    const runs::MeasuredRun run = read(
        "omlx.scheduler - INFO - [-] - vlm_mtp stats: request=a finish=stop rounds=100 accepted=130/200 (65.0%) "
        "tokens_per_round=2.30 emitted=230 block_size=3\n"
        "omlx.server - INFO - [-] - Chat completion: 230 tokens in 4.60s (50.0 tok/s), prompt: 18, finish_reason=stop\n");
    REQUIRE(run.cells.size() == 1);
    CHECK(run.cells.front().draft_tokens == 2);
    CHECK(run.acceptance(2).accept_length() == Approx(2.3));
    CHECK(run.cells.front().tpot_seconds() == Approx(0.02));
}

TEST_CASE("throughput of SGLang's lines counts where no prompt was read and no request waited for") {
    const auto line = [](double rate) {
        return fmt::format(
            "[2025-10-22 10:27:57 TP0] Decode batch. #running-req: 1, #token: 100, token usage: 0.00, accept len: "
            "2.00, accept rate: 0.50, cuda graph: True, gen throughput (token/s): {}, #queue-req: 0,\n",
            rate);
    };
    const runs::MeasuredRun run =
        read("[2025-10-22 10:27:56 TP0] Prefill batch. #new-seq: 1, #new-token: 28, #running-req: 0,\n" + line(0.39) +
                 line(170) + line(190),
             3);
    REQUIRE(run.cells.size() == 1);
    CHECK(run.cells[0].tokens_per_second.mean() == Approx(180));
    CHECK(run.cells[0].accept_length() == Approx(2.0));
}

TEST_CASE("timings of the drafter under \"draft:\", and a single run of the target, are no plain decoding") {
    const std::string timings =
        "draft:\n\nllama_print_timings: sample time = 0.52 ms / 1 runs ( 0.52 ms per token, 1900.00 tokens per second)\n"
        "llama_print_timings: eval time = 320.00 ms / 216 runs ( 1.48 ms per token, 675.00 tokens per second)\n"
        "llama_print_timings: total time = 2924.72 ms\n\ntarget:\n\n"
        "llama_print_timings: prompt eval time = 1939.02 ms / 351 tokens ( 5.52 ms per token, 181.02 tokens per second)\n"
        "llama_print_timings: eval time = 13.19 ms / 1 runs ( 13.19 ms per token, 75.82 tokens per second)\n";
    CHECK(refusal(timings).starts_with("typed.md: timings under \"draft:\" and \"target:\""));  // the reason comes first
    const runs::MeasuredRun run = read(
        "decoded 201 tokens in 4.000 seconds, speed: 50.250 t/s\nn_draft = 4\nn_drafted = 320\nn_accept = 120\n\n" + timings);
    REQUIRE(run.cells.size() == 1);
    CHECK(run.cells[0].draft_tokens == 4);
    CHECK(run.cells[0].round_seconds() == Approx(0.05));
    CHECK(says(remarks_of(run), "were left out"));
    // What decodes token by token is plain, whatever it is called.
    CHECK(cells_of(read("target:\nllama_perf_context_print: eval time = 1000.00 ms / 100 runs ( 10.00 ms per token, 100 tokens "
                        "per second)\n")) == "1/0/0: 10000");
}

TEST_CASE("drafts of mlx_lm count no root, and those of SGLang do") {
    const std::string answer = "Prompt: 10 tokens, 39.482 tokens-per-sec\nGeneration: 81 tokens, 20.0 tokens-per-sec\n";
    const std::string plain = "Prompt: 10 tokens, 39.482 tokens-per-sec\nGeneration: 81 tokens, 10.0 tokens-per-sec\n";
    const std::string command = "mlx_lm.generate --model a/b ";
    CHECK(cells_of(read(command + "-m 1000\n" + plain + command + "--draft-model c/d --num-draft-tokens 4\n" + answer)) ==
          "1/0/51: 100000, 1/4/51: 50000");
    CHECK(cells_of(read(command + "--num-draft-tokens 4\n" + answer + command + "-m 1000\n" + plain)) ==
          "1/0/51: 100000, 1/4/51: 50000");
    const std::string questions = "#questions: 80, Throughput: 400.00 token/s, Acceptance length: 3.00\n";
    CHECK(cells_of(read("SGLang, num_draft_tokens=4\n" + questions)) == "1/3/0: 2500");
    CHECK(cells_of(read("num_steps=3, num_draft_tokens=4\n" + questions)) == "1/3/0: 2500");
}

TEST_CASE("results of SGLang's questions are of the draft that stands above them, and of one drafter") {
    const auto result = [](const std::string& caption, double rate, double length) {
        return fmt::format("{}:\n#questions: 80, Throughput: {} token/s, Acceptance length: {}\n\n", caption, rate, length);
    };
    const runs::MeasuredRun run = read(result("EAGLE-3 (num_steps=8)", 400, 5.0) + result("EAGLE-3 (num_steps=5)", 320, 4.5) +
                                       result("EAGLE-2 (num_steps=8)", 200, 3.5) + result("baseline", 160, 1.0));
    CHECK(cells_of(run) == "1/0/0: 6250, 1/5/0: 3125, 1/8/0: 2500");
    CHECK(says(remarks_of(run), "results of eagle2 were left out"));
}

TEST_CASE("several reports of llama-speculative are told apart, in whichever order their lines stand") {
    const auto counts = [](int longest, int drafted, int accepted) {
        return fmt::format("n_draft   = {}\nn_predict = 101\nn_drafted = {}\nn_accept  = {}\n", longest, drafted, accepted);
    };
    const auto time = [](double seconds) {
        return fmt::format("decoded  101 tokens in   {} seconds, speed:   9 t/s\n", seconds);
    };
    // 100 - 80 = 20 rounds of 5 drafts, and 100 - 60 = 40 of 3.
    const std::string cells = "1/3/0: 40000, 1/5/0: 20000";
    const runs::MeasuredRun below = read(counts(16, 100, 80) + time(2) + counts(16, 120, 60) + time(4));
    CHECK(cells_of(below) == cells);
    CHECK(says(remarks_of(below), "drafts of up to 16 tokens ended after 5.0"));
    CHECK(cells_of(read(time(2) + counts(5, 100, 80) + time(4) + counts(3, 120, 60))) == cells);
    CHECK(cells_of(read("## one\n" + counts(5, 100, 80) + time(2) + "## other\n" + time(4) + counts(3, 120, 60))) == cells);
}

TEST_CASE("answers of mlx_lm are of the drafts that stand above them, or before them on their line") {
    const std::string plain = "Generation: 101 tokens, 20.0 tokens-per-sec\n",
                      drafted = "Generation: 101 tokens, 40.0 tokens-per-sec\n";
    const std::string before = "Without draft model: " + plain + "With draft model: " + drafted;
    CHECK(says(refusal(before), "--draft-tokens K says it"));
    CHECK(cells_of(read(before, 3)) == "1/0/51: 50000, 1/3/51: 25000");
    CHECK(cells_of(read("## baseline\n" + plain + "\n## draft model, K=2\n" + drafted)) == "1/0/51: 50000, 1/2/51: 25000");
    // What the model wrote is no caption.
    CHECK(cells_of(read("==========\ndef draft():\n## speculative decoding\n==========\n" + plain)) == "1/0/51: 50000");
}

TEST_CASE("a caption ends a console report whose last rule was not copied") {
    const auto report = [](const std::string& caption, double tpot, double gap) {
        return fmt::format(
            "{}\n============ Serving Benchmark Result ============\nSuccessful requests: 100\n"
            "Benchmark duration (s): 400.0\nTotal input tokens: 100000\nTotal generated tokens: 20000\n"
            "Output token throughput (tok/s): 50.0\n---------------Time to First Token----------------\n"
            "Mean TTFT (ms): 100.0\nMean TPOT (ms): {}\nMean ITL (ms): {}\n",
            caption, tpot, gap);
    };
    const std::string two = report("*) base (concurrency = 1):", 18, 18) + report("*) spec decode (concurrency = 1):", 14, 28);
    const runs::MeasuredRun run = read(two, 3);
    REQUIRE(run.cells.size() == 2);
    CHECK(run.cells[0].draft_tokens == 0);
    CHECK(run.cells[0].tpot_seconds() == Approx(0.018));
    CHECK(run.cells[1].draft_tokens == 3);
    CHECK(run.cells[1].tpot_seconds() == Approx(0.014));
    CHECK(read(report("## MTP off", 18, 18) + report("## MTP, num_speculative_tokens 2", 14, 28)).cells.size() == 2);
}

TEST_CASE("pasted commands say of what deployment a result is, unless they differ") {
    const std::string questions = "#questions: 80, Throughput: 400.00 token/s, Acceptance length: 3.00\n";
    const std::string plain = "#questions: 80, Throughput: 200.00 token/s, Acceptance length: 1.00\n";
    const std::string server = "python3 -m sglang.launch_server --model meta/Llama-8B --tp 4";
    const runs::RunIdentity found =
        read("baseline:\n" + server + "\n" + plain + "\nEAGLE:\n" + server +
             " \\\n  --speculative-algo EAGLE3 \\\n  --speculative-draft-model-path=a/eagle --speculative-num-steps 5 "
             "--speculative-eagle-topk 1 --speculative-num-draft-tokens 6\n" +
             questions)
            .identity;
    CHECK(found.engine == "sglang");
    CHECK(found.model == "meta/Llama-8B");
    CHECK(found.drafter == "a/eagle");
    CHECK(found.method == "EAGLE3");
    CHECK(found.ranks == 4);
    CHECK(read(server + "\n" + plain + "python3 -m sglang.launch_server --model other --tp 2\n").identity.model.empty());
    CHECK(read(server + "\n" + plain + "python3 -m sglang.launch_server --model other --tp 2\n").identity.ranks == 0);
    // Of another server than the one that was measured.
    CHECK(read("vllm serve Qwen/Qwen3-8B -tp 2\n" + plain).identity.model.empty());
    const runs::RunIdentity table =
        read(
            "vllm serve Qwen/Qwen3-8B --tensor-parallel-size 2 --speculative-config '{\"method\": \"mtp\", "
            "\"num_speculative_tokens\": 2}'\n\n| concurrency | K | TPOT (ms) |\n|---|---|---|\n| 1 | 2 | 10 |\n")
            .identity;
    CHECK(table.engine == "vllm");
    CHECK(table.model == "Qwen/Qwen3-8B");
    CHECK(table.method == "mtp");
    CHECK(table.ranks == 2);
}

TEST_CASE("llama.cpp names the drafter in its sums") {
    const std::string answer =
        "slot print_timing: id  0 | task 0 | eval time =    2550.00 ms /   256 tokens (    9.96 ms per token,   100 tokens per "
        "second)\n"
        "slot print_timing: id  0 | task 0 | draft acceptance = 0.64479 (  167 accepted /   259 generated), mean acceptance "
        "length =  "
        "2.92\n";
    const auto sums = [](const std::string& name, int drafts) {
        return fmt::format(
            "I statistics     {}: #calls(b,g,a) =    1     87     87, #gen drafts =     {}, #acc drafts =    70, #gen "
            "tokens =    259, #acc tokens =   167, dur(b,g,a) = 0.005, 325.555, 0.11\n",
            name, drafts);
    };
    CHECK(read(answer + sums("draft-eagle3", 87)).identity.method == "eagle3");
    CHECK(read("./llama-server -m models/a.gguf -md b.gguf\n" + answer + sums("draft-mtp", 0)).identity.method.empty());
    CHECK(read("./llama-server -m models/a.gguf -md b.gguf\n" + answer).identity.drafter == "b.gguf");
}

TEST_CASE("progress lines of vLLM are of the drafts that the command above them asks for") {
    const auto line = [](double rate, const std::string& end) {
        return fmt::format(
            "Processed prompts: 100%|\u2588| 10/10 [00:33<00:00,  3.35s/it, est. speed input: 40.85 toks/s, output: {} "
            "toks/{}\n",
            rate, end);
    };
    const std::string text = "python bench.py --max-tokens 1024\nRunning on 20 prompts with batch size 10\n" + line(400, "s]") +
                             line(200, "") + "python bench.py --with_speculation True\nRunning on 20 prompts\n" + line(100, "");
    CHECK(says(refusal(text), "--draft-tokens K says it"));
    const runs::MeasuredRun run = read(text, 4);
    REQUIRE(run.cells.size() == 2);
    CHECK(run.cells[0].draft_tokens == 0);
    CHECK(run.cells[0].batch == 10);
    CHECK(run.cells[0].tokens_per_second.mean() == Approx(300));
    CHECK(run.cells[1].draft_tokens == 4);
    CHECK(run.cells[1].tokens_per_second.mean() == Approx(100));
}

TEST_CASE("a JSON object over several lines of a text is read like one on a line") {
    const std::string timings =
        "{\n  \"prompt_n\": 1,\n  \"predicted_n\": 201,\n  \"predicted_ms\": 10000.0,\n  \"draft_n\": 400,\n"
        "  \"draft_n_accepted\": 100\n}\n";
    const runs::MeasuredRun run = read("$ curl -s http://localhost:8080/completion | jq .timings\n\n" + timings);
    REQUIRE(run.cells.size() == 1);
    CHECK(run.cells[0].acceptance.drafts == 100);
    CHECK(run.cells[0].round_seconds() == Approx(0.1));
    CHECK(read("both:\n" + timings + "again:\n" + timings).cells[0].acceptance.drafts == 200);
    // A brace of something else ends, and a text may hold one.
    CHECK(read("as follows:\n{ if (x\n}\n{ \"a\": \"}\",\n \"b\": 1 }\n" + timings).cells.size() == 1);
}

TEST_CASE("printed accept lengths of one load are averaged as its times are") {
    const auto questions = [](double rate, double length) {
        return fmt::format("#questions: 80, Throughput: {} token/s, Acceptance length: {}\n", rate, length);
    };
    const runs::MeasuredRun run = read(questions(200, 3.0) + questions(100, 2.0), 4);
    REQUIRE(run.cells.size() == 1);
    CHECK(run.cells[0].tpot_seconds() == Approx(0.0075));
    CHECK(run.cells[0].accept_length() == Approx(2.5));
    const auto result = [](int tokens, double tpot, double length) {
        return fmt::format(
            "============ Serving Benchmark Result ============\nSuccessful requests: 100\nMaximum request "
            "concurrency: 4\nBenchmark duration (s): 400.0\nTotal input tokens: 10000\nTotal generated tokens: {}\n"
            "Mean TPOT (ms): {}\nAcceptance length: {}\n"
            "==================================================\n",
            tokens, tpot, length);
    };
    const runs::MeasuredRun served = read(result(30000, 10, 3.0) + result(30000, 20, 2.0), 4);
    REQUIRE(served.cells.size() == 1);
    CHECK(served.cells[0].tpot_seconds() == Approx(0.015));
    CHECK(served.cells[0].accept_length() == Approx(2.5));
}

TEST_CASE("single lines of vLLM give rates as they are, where no two show that as many requests ran") {
    // vLLM, issue 39680: 342.2 tokens/s without MTP and 128.3 with, which is the report (0.37x).
    const std::string of_plain =
        "(APIServer pid=14) INFO 04-09 11:27:10 [loggers.py:259] Engine 000: Avg prompt throughput: 967.2 tokens/s, Avg "
        "generation throughput: 342.2 tokens/s, Running: 1 reqs, Waiting: 0 reqs\n";
    const std::string of_drafts =
        "(APIServer pid=15) INFO 04-09 11:17:53 [loggers.py:259] Engine 000: Avg prompt throughput: 1357.9 tokens/s, Avg "
        "generation throughput: 128.3 tokens/s, Running: 1 reqs, Waiting: 0 reqs\n"
        "(APIServer pid=15) INFO 04-09 11:17:53 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 1.97, Accepted: "
        "630 tokens, Drafted: 652 tokens, Per-position acceptance rate: 0.966\n";
    const runs::MeasuredRun run = read(of_plain + of_drafts);
    CHECK(cells_of(run) == "1/0/0: 2922, 1/1/0: 7794");  // 1e6 / 342.2, 1e6 / 128.3
    CHECK(run.acceptance(1).accept_length() == Approx(1.0 + 630.0 / 652.0));
    CHECK(says(remarks_of(run), "2 intervals stand alone"));
    // A second interval with as many requests is steady, and then the first one's rate is left out.
    const std::string steady =
        "(APIServer pid=15) INFO 04-09 11:18:03 [loggers.py:259] Engine 000: Avg prompt throughput: 5.0 tokens/s, Avg "
        "generation throughput: 124.5 tokens/s, Running: 1 reqs, Waiting: 0 reqs\n"
        "(APIServer pid=15) INFO 04-09 11:18:03 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 2.00, Accepted: "
        "600 tokens, Drafted: 600 tokens, Per-position acceptance rate: 1.000\n";
    const runs::MeasuredRun longer = read(of_drafts + steady);
    CHECK(cells_of(longer).ends_with("1/1/0: 8032"));  // 1e6 / 124.5
    CHECK_FALSE(says(remarks_of(longer), "alone"));
    // 5 prompt tokens for 124.5 generated ones are too few to matter: 1 * 2.0 / 124.5 s a round.
    const auto timed =
        std::find_if(longer.cells.begin(), longer.cells.end(), [](const auto& cell) { return cell.batch == 1.0; });
    REQUIRE(timed != longer.cells.end());
    CHECK(timed->round.mean() == Approx(2.0 / 124.5));
}

TEST_CASE("vLLM's version stands in its first line, too") {
    const runs::MeasuredRun run = read(
        "INFO 06-17 20:29:40 [api_server.py:1287] vLLM API server version 0.9.2.dev121+g4c8f64faa\n"
        "INFO 06-17 20:29:40 [cli_args.py:309] non-default args: {'model': 'meta-llama/Llama-3.3-70B-Instruct'}\n");
    CHECK(run.identity.version == "0.9.2.dev121+g4c8f64faa");
}

TEST_CASE("lines of SGLang's log at contexts far apart are loads of their own") {
    const auto line = [](int context, double rate, int running = 1) {
        return fmt::format(
            "[2026-08-01 10:00:00] Decode batch, #running-req: {}, #token: {}, token usage: 0.05, accept len: 2.00, cuda "
            "graph: "
            "True, gen throughput (token/s): {}, #queue-req: 0\n",
            running, context * running, rate);
    };
    const auto contexts_of = [](const runs::MeasuredRun& run) {
        std::string text;
        for (const runs::RunCell& cell : run.cells) {
            text += fmt::format("{:g}:{:.0f} ", cell.batch, cell.context);
        }
        return text;
    };
    const runs::MeasuredRun run = read(
        line(1000, 100) + line(1100, 100) + line(1200, 100) + line(123'000, 40) + line(123'100, 40) + line(123'200, 40), 3);
    CHECK(contexts_of(run) == "1:1150 1:123100 ");  // the first line has nothing before it that says whether it is steady
    CHECK(cells_of(run) == "1/3/1150: 10000, 1/3/123100: 25000");
    // Contexts that grow from 1,000 to 9,900 during a run are 4 classes of a factor of 1.9.
    std::string growing;
    for (int context = 1000; context < 10'000; context += 100) {
        growing += line(context, 100);
    }
    CHECK(read(growing, 3).cells.size() == 4);
    CHECK(read(line(900, 100) + line(1000, 100) + line(1100, 100) + line(800, 100), 3).cells.size() == 1);
    CHECK(read(line(100, 100) + line(300, 100) + line(612, 100), 3).cells.size() == 1);  // few tokens at all
    CHECK(read(line(100, 100) + line(300, 100) + line(620, 100), 3).cells.size() == 2);
    CHECK(contexts_of(read(line(8200, 100) + line(9000, 100) + line(16'400, 90) + line(17'000, 90), 3)) == "1:9000 1:16700 ");
    CHECK(contexts_of(read(line(1000, 100) + line(1000, 100) + line(1000, 100, 4) + line(1000, 100, 4), 3)) ==
          "1:1000 4:1000 ");
}

TEST_CASE("lines of engines that give no time of a round say why") {
    const auto sglang = [](int running) {
        return fmt::format(
            "[2026-08-01 10:00:00] Decode batch, #running-req: {}, #token: 1000, accept len: 2.00, gen throughput (token/s): "
            "50.00, #queue-req: 0\n",
            running);
    };
    CHECK(says(remarks_of(read(sglang(56) + sglang(13), 3)), "2 lines of decoding gave acceptance, but no time of a round"));
    CHECK_FALSE(says(remarks_of(read(sglang(13) + sglang(13), 3)), "no time of a round"));
    const std::string engine =
        "INFO Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 100.0 tokens/s, Running: 4 reqs\n";
    const std::string drafts =
        "INFO SpecDecoding metrics: Mean acceptance length: 2.00, Accepted: 100 tokens, Drafted: 200 tokens, Per-position "
        "acceptance rate: 0.700, 0.300\n";
    CHECK(says(remarks_of(read(drafts)), "1 of 1 lines on drafts gave acceptance, but no time of a round: no line on their"));
    CHECK_FALSE(says(remarks_of(read(drafts)), "requests came or went"));
    CHECK_FALSE(says(remarks_of(read(engine + drafts + engine + drafts)), "no line on their engine"));
}

TEST_CASE("what llama.cpp sums up below an answer gives its rounds and its positions") {
    const auto answer = [](int predicted, int accepted, int drafted) {
        return fmt::format(
            "slot print_timing: id 0 | task 0 | eval time = 2000.00 ms / {} tokens ( 20.00 ms per token)\n"
            "slot print_timing: id 0 | task 0 | draft acceptance = 0.50000 ( {} accepted / {} generated)\n",
            predicted, accepted, drafted);
    };
    const auto sums = [](int drafts, int tokens, int accepted, const std::string& rates) {
        return fmt::format(
            "statistics draft-mtp: #calls(b,g,a) = 1 60 36, #gen drafts = {}, #acc drafts = 31, #gen tokens = {}, #acc tokens "
            "= "
            "{}, {}dur(b,g,a) = 0.004, 184.459, 0.076 ms\n",
            drafts, tokens, accepted, rates);
    };
    // 102 tokens in 58 rounds, of which 36 drafted 52 tokens: some drafted two.
    const runs::MeasuredRun some = read(answer(103, 44, 52) + sums(36, 52, 44, ""));
    REQUIRE(some.cells.size() == 1);
    CHECK(some.cells.front().draft_tokens == 2);
    CHECK(some.acceptance(2).drafts == 58);
    CHECK(some.cells.front().round.mean() == Approx(2.0 / 58));
    CHECK(read(answer(103, 44, 52)).cells.front().draft_tokens == 1);  // 52 of 58 rounds
    CHECK(read(answer(81, 44, 52)).cells.front().draft_tokens == 2);   // 52 of 36
    // The sums' rates belong to the answers above them: 100 rounds, then 50 more.
    const runs::MeasuredRun two = read(answer(251, 150, 200) + sums(100, 200, 150, "#acc rate/pos = (0.800, 0.700), ") +
                                       answer(121, 70, 100) + sums(150, 300, 220, "#acc rate/pos = (0.800, 0.667), "));
    CHECK(two.acceptance(2).drafts == 150);
    CHECK(two.acceptance(2).reached == std::vector<double>{120.0, 100.0});
    // A thousandth of 20,000 rounds is too coarse for 50 of them.
    const runs::MeasuredRun coarse =
        read(answer(50'001, 30'000, 40'000) + sums(20'000, 40'000, 30'000, "#acc rate/pos = (0.800, 0.700), ") +
             answer(121, 70, 100) + sums(20'050, 40'100, 30'070, "#acc rate/pos = (0.801, 0.700), "));
    CHECK(coarse.acceptance(2).drafts == 20'050);
    CHECK(coarse.acceptance(2).drafts_with_positions == 20'000);
    // They may stand on a line of their own, and tell a table above how much was drafted.
    const runs::MeasuredRun table = read(
        "| Config | decode tok/s | VRAM |\n|---|---|---|\n| `--spec-type draft-mtp` | 80.25 | 7 GB |\n| `--spec-type none` | "
        "50 | 6 "
        "GB |\n\ndraft acceptance = 0.71053 (108 accepted / 152 generated), mean len = 3.12\n#acc rate/pos = (0.902, 0.725, "
        "0.490)\n");
    CHECK(cells_of(table) == "1/0/0: 20000, 0/3/0: 0, 1/3/0: 12461");
    CHECK(table.acceptance(3).reached == std::vector<double>{46.0, 37.0, 25.0});  // of 51 rounds
}

TEST_CASE("a speed is no draft length") {
    const std::string table =
        "| Config | decode tok/s |\n|---|---|\n| `--spec-type draft-mtp` | {} |\n| `--spec-type none` | 50 |\n";
    for (const char* rate : {"79.99", "80", "8.25"}) {
        const std::string text = fmt::format(fmt::runtime(table), rate);
        CHECK(says(refusal(text), "--draft-tokens K"));
        CHECK(read(text, 3).cells.size() == 2);
    }
    CHECK(says(refusal("- off: 50 tok/s\n- MTP: 80 tok/s\n"), "--draft-tokens K"));
    CHECK(says(refusal("MTP 80 tok/s, no MTP 50 tok/s\n"), "--draft-tokens K"));
    CHECK(cells_of(read("MTP 3: 80 tok/s, no MTP: 50 tok/s\n")) == "1/0/0: 20000, 1/3/0: 12500");
    CHECK(cells_of(read("| off tok/s | MTP K=3 tok/s |\n|---|---|\n| 50 | 80 |\n")) == "1/0/0: 20000, 1/3/0: 12500");
}

}  // namespace engine_logs_test
