// Do the flags of `recommend` mean the JSON that a person would write, and do they change a file only where they speak of it?
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "requests/flag_values.h"
#include "requests/recommend/workload_file.h"
#include "requests/recommend/workload_flags.h"

namespace workload_flags_test {

using namespace treeline;
using namespace treeline::requests;

namespace {

FlagJson tree(const char* text) { return FlagJson::parse(text); }

std::string refusal(const FlagJson& workload, const WorkloadFlags& flags) {
    try {
        static_cast<void>(with_flags(workload, flags));
    } catch (const text::InputError& error) {
        return error.what();
    }
    return "";
}

const FlagJson file = tree(R"({"target": "llama-3-8b",
  "platforms": ["h100-sxm", {"device": "l40s", "tensor_parallel": 2}],
  "drafters": [{"kind": "ngram", "acceptance": {"geometric": 0.3}},
               {"name": "head", "kind": "eagle", "draft_vocabulary": 32000, "acceptance": {"geometric": 0.7}}],
  "draft_tokens": 4, "traffic": {"batch": [1, 8], "context": 4096, "shares_of": "tokens"}, "limits": {"tpot_ms": 40}})");

}  // namespace

TEST_CASE("texts of flags are axes, shares and lists") {
    CHECK(axis_of_flag("8") == tree("8"));
    CHECK(axis_of_flag("1,2,4") == tree("[1, 2, 4]"));
    CHECK(axis_of_flag("1-8") == tree(R"({"from": 1, "to": 8})"));
    CHECK(axis_of_flag("1..8") == axis_of_flag("1-8"));
    CHECK(axis_of_flag("1:8") == axis_of_flag("1-8"));
    CHECK(axis_of_flag(R"({"powers_of_two": {"from": 1, "to": 8}})")["powers_of_two"]["to"] == 8);
    CHECK(axis_of_flag("-3") == tree("-3"));         // the reader says that it is too small
    CHECK(axis_of_flag("a-b") == tree(R"("a-b")"));  // and that this is no number
    CHECK(shares_of_flag("--batch", "8:0.3,16:0.7") == tree(R"([{"value": 8, "share": 0.3}, {"value": 16, "share": 0.7}])"));
    CHECK(shares_of_flag("--batch", "8,16") == tree("[8, 16]"));
    CHECK_THROWS_WITH(shares_of_flag("--batch", "8:0.3,16"), Catch::Contains("give all values a share"));
    CHECK(words_of_flag("auto") == "auto");
    CHECK(words_of_flag("packed,unrolled") == tree(R"(["packed", "unrolled"])"));
    CHECK(accept_length_of_flag("2:1.9,4:2.4", FlagJson()) == tree(R"({"curve": {"2": 1.9, "4": 2.4}})"));
    CHECK(accept_length_of_flag("2.9", FlagJson(4)) == tree(R"({"mean_length": 2.9, "draft_tokens": 4})"));
    CHECK(accept_length_of_flag("1.99", FlagJson(), "sglang:3,3,4") ==
          tree(R"({"measured": [{"shape": "sglang:3,3,4", "accept_length": 1.99}]})"));
    CHECK_THROWS_WITH(accept_length_of_flag("2:1.9,2:2.4", FlagJson()), Catch::Contains("2 draft tokens appear twice"));
    CHECK_THROWS_WITH(shares_by_name("chat:0.6,chat:0.4"), Catch::Contains("\"chat\" appears twice"));
    CHECK_THROWS_WITH(value_of_flag(R"({"curve": {"1": 1.8, "1": 1.9}})"), Catch::Contains("curve.1: this key appears twice"));
    CHECK_THROWS_WITH(value_of_flag("{1}"), Catch::Contains("is not JSON"));
    CHECK_THROWS_WITH(accept_length_of_flag("2.9", tree(R"({"from": 1, "to": 8})")), Catch::Contains("4:2.9"));
}

TEST_CASE("a drafter whose parts state what is accepted is taken as a flag as it is in a file") {
    const char* parts = R"({"kind": "lookup-first", "lookup": {"kind": "suffix", "hit_rate": 0.4, "acceptance": {"rate": 0.8}},
                            "otherwise": {"kind": "eagle3", "acceptance": {"per_position": [0.7, 0.5]}}})";
    WorkloadFlags flags;
    flags.drafters = {{parts, {}, {}, {}}};
    CHECK(with_flags(file, flags)["drafters"] == FlagJson::array({tree(parts)}));
    flags.drafters = {
        {R"({"kind": "lookup-first", "lookup": {"kind": "suffix"}, "otherwise": {"kind": "eagle3"}})", {}, {}, {}}};
    CHECK(refusal(file, flags).find("state after it how many of its drafts are accepted") != std::string::npos);
}

TEST_CASE("flags alone are a workload, in the order in which one is written") {
    WorkloadFlags flags;
    flags.texts["target.model"] = "qwen3-8b";
    flags.devices = {"h100-sxm,l40s", R"({"device": "b200", "stack": "sglang"})"};
    flags.texts["platforms.tensor_parallel"] = "1,2";
    flags.texts["platforms.stack"] = "vllm";
    flags.drafters = {{"eagle", "0.7,0.5", ""}, {"qwen3-0.6b", "", "4:2.9"}};
    flags.texts["traffic.batch"] = "8:0.3,16:0.7";
    flags.texts["limits.tpot_ms"] = "30";
    flags.texts["limits.minimum_gain"] = "1.1";
    flags.texts["objective"] = "latency";
    CHECK(with_flags(FlagJson::object(), flags) == tree(R"({
      "target": {"model": "qwen3-8b"},
      "platforms": [{"device": "h100-sxm", "tensor_parallel": 1, "stack": "vllm"}, {"device": "h100-sxm", "tensor_parallel": 2, "stack": "vllm"},
                    {"device": "l40s", "tensor_parallel": 1, "stack": "vllm"}, {"device": "l40s", "tensor_parallel": 2, "stack": "vllm"},
                    {"device": "b200", "stack": "sglang"}],
      "drafters": [{"kind": "eagle", "acceptance": {"per_position": [0.7, 0.5]}},
                   {"kind": "model", "model": "qwen3-0.6b", "acceptance": {"curve": {"4": 2.9}}}],
      "draft_tokens": {"from": 1, "to": 4},
      "traffic": {"batch": [{"value": 8, "share": 0.3}, {"value": 16, "share": 0.7}], "context": 2048},
      "limits": {"tpot_ms": 30, "minimum_gain": 1.1},
      "objective": "latency"})"));
}

TEST_CASE("without --draft-tokens, what was measured is tried") {
    WorkloadFlags flags;
    flags.texts["target.model"] = "qwen3-8b";
    const auto most = [&](std::vector<DrafterFlags> drafters) {
        flags.drafters = std::move(drafters);
        return with_flags(FlagJson::object(), flags)["draft_tokens"]["to"].get<int>();
    };
    CHECK(most({{"eagle", "0.7,0.5,0.35", ""}}) == 3);
    CHECK(most({{"eagle", "0.7,0.5,0.35", ""}, {"mtp", "", "2:1.8,5:2.6"}}) == 5);
    CHECK(most({{"eagle", "0.7,0.5,0.35", ""}, {"ngram", "0.3", ""}}) == 8);
    flags.texts["draft_tokens"] = "2-4";
    CHECK(most({{"ngram", "0.3", ""}}) == 4);
}

TEST_CASE("flags change the keys of a file that they speak of") {
    CHECK(with_flags(file, WorkloadFlags{}) == file);
    WorkloadFlags flags;
    flags.texts["platforms.stack"] = "vllm";
    flags.texts["traffic.context"] = "8192";
    flags.texts["limits.ttft_ms"] = "500";
    FlagJson expected = file;
    expected["platforms"] =
        tree(R"([{"device": "h100-sxm", "stack": "vllm"}, {"device": "l40s", "tensor_parallel": 2, "stack": "vllm"}])");
    expected["traffic"]["context"] = 8192;
    expected["limits"]["ttft_ms"] = 500;
    CHECK(with_flags(file, flags) == expected);
}

TEST_CASE("a drafter of the file is picked by its name and keeps its keys") {
    WorkloadFlags flags;
    flags.drafters = {{"head", "0.6,0.4", ""}, {"mtp", "0.8", ""}, {"ngram", "", ""}};
    CHECK(with_flags(file, flags)["drafters"] ==
          tree(R"([{"name": "head", "kind": "eagle", "draft_vocabulary": 32000, "acceptance": {"per_position": [0.6, 0.4]}},
                   {"kind": "mtp", "acceptance": {"rate": 0.8}}, {"kind": "ngram", "acceptance": {"geometric": 0.3}}])"));
}

TEST_CASE("flags that leave open what they mean are refused") {
    WorkloadFlags flags;
    flags.drafters = {{"", "0.6", ""}};
    CHECK_THAT(refusal(file, flags), Catch::Contains("belong to the preceding --drafter"));
    FlagJson one = file;
    one["drafters"].erase(1);
    CHECK(with_flags(one, flags)["drafters"][0]["acceptance"]["rate"] == 0.6);
    CHECK(acceptance_of_flag("geometric:0.6") == tree(R"({"geometric": 0.6})"));
    flags.drafters = {{"mtp", "", ""}, {"known", "", ""}};
    CHECK(with_flags(file, flags)["drafters"] == tree(R"(["mtp", "known"])"));  // as the catalogue knows them
    flags.drafters = {{"EAGLE-3", "0.7", ""}};
    CHECK(with_flags(file, flags)["drafters"][0]["kind"] == "eagle3");  // whatever its capitals and marks
    flags.drafters = {{"none", "", ""}};
    CHECK(with_flags(file, flags)["drafters"] == FlagJson::array());
    flags.drafters = {{"qwen3-0.6b", "", ""}};  // something may be published of it
    CHECK(with_flags(file, flags)["drafters"] == tree(R"([{"kind": "model", "model": "qwen3-0.6b"}])"));
    flags.drafters = {{R"({"kind": "eagle3", "layers": 2})", "", ""}};
    CHECK_THAT(refusal(file, flags), Catch::Contains("state after it how many of its drafts are accepted"));
    flags.drafters = {{"qwen3-0.6b", "0.7", "", "q8_0"}};
    CHECK(with_flags(file, flags)["drafters"][0]["precision"] == "q8_0");
    flags.drafters = {{"mtp", "0.8", "4:3"}};
    CHECK_THAT(refusal(file, flags), Catch::Contains("say the same thing; give one"));
}

TEST_CASE("problems of a workload from flags name the flag") {
    CHECK(in_terms_of_flags({"flags: platforms[1].device: there is none", "flags: drafters[0].acceptance.per_position[2]: is 2",
                             "flags: traffic.batch[0].value: is 0", "flags: limits.tpot_ms: is -1"},
                            workload_flags()) == std::vector<std::string>{"--device: there is none",
                                                                          "--acceptance: per_position: is 2",
                                                                          "--batch: value: is 0", "--max-tpot-ms: is -1"});
    const std::string curve = "flags: drafters[0].acceptance.curve.4: must lie between 1 and 5";
    CHECK(in_terms_of_flags({curve}, workload_flags()).front().starts_with("--accept-length at 4 draft tokens: "));
    CHECK(in_terms_of_flags({curve}, workload_flags(), false).front().starts_with("--acceptance: curve.4: "));
}

TEST_CASE("paths of an input move with it, names and shapes stay") {
    FlagJson input =
        tree(R"({"target": {"model": "mine/config.json"}, "platforms": ["gpu.json", {"device": "/abs/b.json", "stack": "vllm"}],
      "shapes": ["children:3/2,1", "t.json"], "title": "a/b"})");
    rebase_paths(input, "dir");
    CHECK(
        input ==
        tree(
            R"({"target": {"model": "dir/mine/config.json"}, "platforms": ["dir/gpu.json", {"device": "/abs/b.json", "stack": "vllm"}],
      "shapes": ["children:3/2,1", "dir/t.json"], "title": "a/b"})"));
}

TEST_CASE("a workload is printed as a file that reads back the same") {
    const std::string text = workload_text(file);
    CHECK(FlagJson::parse(text) == file);
    CHECK_THAT(text, Catch::Contains(R"(  "draft_tokens": 4,)"));
    CHECK_THAT(text, Catch::Contains(R"({"device": "l40s", "tensor_parallel": 2})"));
}

}  // namespace workload_flags_test
