// Trees of drafts in SGLang's words, wherever they stand: a run keeps them apart from chains of as many tokens.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "runs/own_file.h"
#include "runs/run.h"
#include "text/input_error.h"

namespace trees_test {

using namespace treeline;

namespace {

runs::MeasuredRun read(const std::string& text, const runs::RunHints& hints = {}) {
    return runs::import_run_text(text, "file", hints);
}

runs::RunHints with_tree(const std::string& shape) {
    runs::RunHints hints;
    hints.tree = *runs::sglang_draft_of(shape);
    return hints;
}

std::string decode_lines(const std::string& arguments) {
    std::string text =
        "[2026-08-14 14:00:00] server_args=ServerArgs(model_path='m', speculative_algorithm='EAGLE3', " + arguments + ")\n";
    for (int i = 0; i < 3; ++i) {
        text += "[2026-08-14 14:02:4" + std::to_string(i) +
                " TP0] Decode batch, #running-req: 4, #token: 4000, token usage: 0.43, accept len: 3.40, cuda graph: True, gen "
                "throughput (token/s): 400.00, #queue-req: 0\n";
    }
    return text;
}

}  // namespace

TEST_CASE("a server's arguments tell a tree from a chain") {
    const runs::MeasuredRun tree =
        read(decode_lines("speculative_num_steps=5, speculative_eagle_topk=8, speculative_num_draft_tokens=32"));
    REQUIRE(tree.cells.size() == 1);
    const runs::RunCell& cell = tree.cells.front();
    CHECK(cell.draft_tokens == 31);
    CHECK(cell.shape == "sglang:5,8,32");
    CHECK(cell.most_accepted() == 5);
    CHECK(cell.accept_length() == Approx(3.4));
    CHECK(cell.round_seconds() == Approx(4 * 3.4 / 400));
    CHECK(cell.draft_text() == "a tree of 31 draft tokens (sglang:5,8,32)");
    CHECK(tree.draft_lengths().empty());
    CHECK(tree.acceptance(31).drafts == 0.0);
    CHECK(tree.acceptance(31, "sglang:5,8,32").known());
    // At top-k 1 SGLang drafts its steps, whatever the tokens are said to be.
    const runs::MeasuredRun chain =
        read(decode_lines("speculative_num_steps=5, speculative_eagle_topk=1, speculative_num_draft_tokens=32"));
    CHECK(chain.cells.front().draft_tokens == 5);
    CHECK(chain.cells.front().shape.empty());
}

TEST_CASE("/server_info and rows of bench_speculative have trees; several of them are several drafts") {
    const runs::MeasuredRun info = read(
        R"({"model_path":"m","tp_size":1,"speculative_num_steps":5,"speculative_eagle_topk":4,"speculative_num_draft_tokens":16,)"
        R"("internal_states":[{"avg_spec_accept_length":3.6}]})");
    CHECK(info.cells.front().shape == "sglang:5,4,16");
    CHECK(info.cells.front().accept_length() == Approx(3.6));
    const std::string row =
        R"({"batch_size": 1, "steps": %, "topk": 4, "num_draft_tokens": 8, "acc_length": 2.5, "step_time": 0.02, "completion_tokens": 100})"
        "\n";
    const auto of_steps = [&](const char* steps) { return std::string(row).replace(row.find('%'), 1, steps); };
    const runs::MeasuredRun rows = read(of_steps("3") + of_steps("5") + of_steps("3"));
    REQUIRE(rows.drafts().size() == 2);
    CHECK(rows.drafts()[0].shape == "sglang:3,4,8");
    CHECK(rows.drafts()[1].shape == "sglang:5,4,8");
    CHECK(rows.acceptance(7, "sglang:3,4,8").drafts == Approx(2 * 100 / 2.5));
}

TEST_CASE("commands above a result tell the draft, and the next command ends that") {
    const std::string questions = "#questions: 80, Throughput: 400.00 token/s, Acceptance length: 4.00\n";
    const runs::MeasuredRun tree = read(
        "python3 -m sglang.launch_server --model-path m --speculative-algorithm EAGLE3 \\\n  --speculative-num-steps 8 "
        "--speculative-eagle-topk 8 \\\n  --speculative-num-draft-tokens=32\n" +
        questions);
    CHECK(tree.cells.front().shape == "sglang:8,8,32");
    CHECK(tree.cells.front().tpot_seconds() == Approx(1.0 / 400));
    CHECK(read("python3 -m sglang.launch_server --model-path m --speculative-num-steps 5 --speculative-eagle-topk 1 "
               "--speculative-num-draft-tokens 6\n" +
               questions)
              .cells.front()
              .draft_tokens == 5);
    CHECK_THROWS_WITH(
        read("python3 -m sglang.launch_server --model-path m --speculative-num-steps 5 --speculative-eagle-topk 1 "
             "--speculative-num-draft-tokens 6\npython3 -m sglang.launch_server --model-path m\n" +
             questions),
        Catch::Contains("--shape sglang:STEPS,TOPK,TOKENS"));
    CHECK(read(questions, with_tree("sglang:8,8,32")).cells.front().shape == "sglang:8,8,32");
    // A tree of three levels yields four tokens at most.
    CHECK_THROWS_WITH(read("#questions: 80, Throughput: 400.00 token/s, Acceptance length: 4.50\n", with_tree("3,8,32")),
                      Catch::Contains("above"));
}

TEST_CASE("answers of llama.cpp after a command that drafts are no plain decoding") {
    const std::string answer =
        "slot print_timing: id  0 | task 0 |        eval time =    2000.00 ms /   101 tokens (   19.80 ms per token,    50.50 "
        "tokens per second)\nslot      release: id  0 | task 0 | stop processing: n_tokens = 200, truncated = 0\n";
    const runs::MeasuredRun run = read("./llama-server -m m.gguf --spec-type draft-mtp --spec-draft-n-max 2\n" + answer +
                                       "./llama-server -m m.gguf\n" + answer);
    REQUIRE(run.cells.size() == 2);
    CHECK(run.cells[1].draft_tokens == 0);
    CHECK(run.cells[1].round_seconds() == Approx(0.020));
    CHECK(run.cells[0].draft_tokens == 2);
    CHECK(run.cells[0].tpot_seconds() == Approx(0.020));
    CHECK(run.cells[0].accept_length() == 0.0);
}

TEST_CASE("a table with columns of steps, top-k and draft tokens") {
    const runs::MeasuredRun run = read(
        "| steps | topk | num_draft_tokens | accept length | tok/s |\n|--|--|--|--|--|\n| 3 | 1 | 4 | 2.5 | 100 |\n| 5 | 4 | "
        "16 | 3.5 "
        "| 120 |\n");
    REQUIRE(run.drafts().size() == 2);
    CHECK(run.drafts()[0].draft_tokens == 3);
    CHECK(run.drafts()[0].shape.empty());
    CHECK(run.drafts()[1].shape == "sglang:5,4,16");
    CHECK(run.drafts()[1].tpot_seconds() == Approx(1.0 / 120));
    CHECK(run.drafts()[1].accept_length() == Approx(3.5));
}

TEST_CASE("trees survive our own file") {
    const runs::MeasuredRun tree =
        read(decode_lines("speculative_num_steps=5, speculative_eagle_topk=8, speculative_num_draft_tokens=32"));
    const nlohmann::ordered_json json = runs::run_json(tree);
    const runs::MeasuredRun again = read(json.dump());
    CHECK(again.cells.front().shape == "sglang:5,8,32");
    CHECK(again.cells.front().most_accepted() == 5);
    nlohmann::ordered_json wrong = json;
    wrong["cells"][0]["shape"] = "sglang:5,8,30";  // 29 draft tokens
    CHECK_THROWS_WITH(read(wrong.dump()), Catch::Contains("shape"));
    CHECK_FALSE(runs::sglang_draft_of("sglang:5,1,6").has_value());
    CHECK_FALSE(runs::sglang_draft_of("optimal:8,4").has_value());
}

}  // namespace trees_test
