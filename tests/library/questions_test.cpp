// The question in JSON is the same question: its answers are those of the facade, and bad ones are answered, too.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include <nlohmann/json.hpp>

#include "source_folder.h"
#include "treeline/questions.h"
#include "treeline/recommend.h"

namespace questions_test {

using namespace treeline;
using namespace treeline::testing;

namespace {

using Json = nlohmann::ordered_json;

const char* const workload = R"({"target": "llama-3.1-8b", "platforms": [{"device": "h100-sxm", "engine": "vllm"}],
    "drafters": [{"kind": "eagle3", "acceptance": {"per_position": [0.7, 0.5]}}], "draft_tokens": {"from": 1, "to": 2},
    "traffic": {"concurrency": [16]}, "prompt_tokens": 500, "output_tokens": 200})";

Json answer_to(std::string_view kind, const std::string& question, const std::filesystem::path& folder = {}) {
    return Json::parse(answer_question(kind, question, installed_catalogue(), folder));
}

std::string read_text(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

struct Folder {
    std::filesystem::path path = std::filesystem::temp_directory_path() / "treeline-questions-test";
    Folder() {
        std::filesystem::remove_all(path);
        std::filesystem::create_directories(path);
    }
    ~Folder() { std::filesystem::remove_all(path); }
};

/// A sentence of the program as pages say it: names instead of the words of inputs.
std::string by_name(std::string sentence) {
    for (const auto& [word, name] : {std::pair{"h100-sxm", "NVIDIA H100 SXM 80 GB"}, {"eagle3", "EAGLE-3"}}) {
        sentence.replace(sentence.find(word), std::string_view(word).size(), name);
    }
    return sentence;
}

}  // namespace

TEST_CASE("the question recommend gets the bytes of the facade") {
    CHECK(answer_question("recommend", workload) == as_json(recommend_json(workload)));
}

TEST_CASE("the question explore gets the page's data without studies, and the curves as priced") {
    const Json answer = answer_to("explore", workload);
    CHECK(answer["page"]["summary"]["sentence"] == by_name(answer_to("recommend", workload)["sentence"]));
    CHECK(answer["page"].contains("heatmap"));
    CHECK(answer["drafters"][0]["per_position"] == Json({0.7, 0.5}));
}

TEST_CASE("the question drafters names what is known for a target") {
    const Json list = answer_to("drafters", R"({"target": "llama-3.1-8b"})");
    const auto found =
        std::find_if(list.begin(), list.end(), [](const Json& each) { return each["name"] == "eagle3-llama-3.1-8b"; });
    REQUIRE(found != list.end());
    CHECK((*found)["kind"] == "eagle3");
    CHECK((*found)["per_position"].size() > 1);
}

TEST_CASE("the question tree gets parents") {  // two children of the root, each with one
    CHECK(answer_to("tree", R"({"shape": "branching:2,1"})")["parents"] == Json({0, 0, 1, 2}));
}

TEST_CASE("files that are handed over are told apart, and later questions name them") {
    const Folder folder;
    const auto hand_over = [&](const std::string& name, const std::string& text) {
        return answer_to("file", Json{{"name", name}, {"text", text}}.dump(), folder.path);
    };
    const Json config = hand_over("../up/config.json", R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
        "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32,
        "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 128256, "tie_word_embeddings": true,
        "torch_dtype": "bfloat16"})");
    CHECK(config["kind"] == "model");
    CHECK(config["name"] == "own-model.json");
    CHECK(std::filesystem::exists(folder.path / "own-model.json"));

    const Json run = hand_over("server.log", read_text(source_folder() / "examples/runs/vllm-16937.json"));
    CHECK(run["kind"] == "run");
    CHECK(run["name"] == "server.log.json");

    Json question = Json::parse(workload);
    question["target"] = config["name"];
    question["drafters"][0]["acceptance"] = {{"file", run["name"]}};
    const Json answer = answer_to("recommend", question.dump(), folder.path);
    REQUIRE(answer.contains("sentence"));
    CHECK(answer["input"]["target"] == "own-model.json");

    CHECK(hand_over("mine.json", workload)["question"] == Json::parse(workload));
    CHECK(hand_over("answer.json", answer.dump())["question"] == answer["input"]);
    const Json letter = hand_over("letter.txt", "Dear reader,\n");
    REQUIRE(letter.contains("problems"));
    CHECK(letter["problems"][0].get<std::string>().starts_with("letter.txt: is no log"));  // by the name that its owner knows
    const Json times = hand_over("times.md", "K=3 gave 231 tok/s, without 140 tok/s.\n");
    REQUIRE(times.contains("problems"));
    CHECK(times["problems"][0] == "times.md: is of a run that measured no acceptance");
    const Json sweep = hand_over("study.json", read_text(source_folder() / "examples/spire-study.json"));
    CHECK(sweep["problems"][0] == "study.json: holds a sweep, not a workload: `treeline sweep study.json` prices it");

    const Json point = hand_over("point.json", read_text(source_folder() / "examples/estimate-mamba2-2.7b.json"));
    CHECK(point["question"]["traffic"] == Json({{"batch", {1}}, {"context", {2048}}}));
    CHECK(answer_to("recommend", point["question"].dump()).contains("sentence"));
    CHECK(hand_over("..", workload).contains("problems"));
}

TEST_CASE("bad questions are answered with sentences") {
    CHECK(answer_to("recommend", R"({"target": "llama-3.1-9b"})")["problems"].size() >= 1);
    CHECK(answer_to("recommend", "{")["problems"].size() == 1);
    CHECK(answer_to("tree", "[]")["problems"].size() == 1);
    CHECK(answer_to("drafters", "{}")["problems"].size() == 1);
    CHECK(answer_to("anything", "{}")["problems"][0] == "there is no question \"anything\"");
}

}  // namespace questions_test
