// Does a recommendation hold what the engine of its stack can run, and nothing else?
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "engines/engine_flags.h"
#include "engines/priced_engine.h"
#include "requests/keys/setup_keys.h"
#include "requests/point_file.h"
#include "requests/recommend/workload_file.h"
#include "setups.h"
#include "text/input_error.h"

namespace priced_engine_test {

using namespace treeline;
using namespace treeline::engines;
using treeline::testing::source_folder;

namespace {

using Json = nlohmann::ordered_json;

const requests::Catalogue catalogue{source_folder() / "models", source_folder() / "hardware"};

Json workload(const Json& platform, const std::string& drafter = "eagle3", const std::string& target = "llama-3.1-8b") {
    Json each = platform;
    if (!each.contains("device")) {
        each["device"] = "h100-sxm";
    }
    const Json choice = {{"kind", drafter}, {"acceptance", {{"per_rank", {0.7, 0.15, 0.06, 0.03}}}}};
    return {{"target", target},
            {"platforms", Json::array({each})},
            {"drafters", Json::array({choice})},
            {"draft_tokens", {{"from", 1}, {"to", 5}}},
            {"traffic", {{"batch", {1, 8}}, {"context", 1024}}}};
}

sweeps::RecommendInput read(const Json& workload) {
    return requests::read_workload_text(workload.dump(), "workload", {}, catalogue).input;
}

sweeps::Recommendation recommended(const Json& workload) {
    const sweeps::Answer found = engines::answer(read(workload), 1);
    REQUIRE(found.result.recommendation);
    return *found.result.recommendation;
}

std::string problem_of(const Json& workload) {
    try {
        static_cast<void>(engines::answer(read(workload), 1));
    } catch (const text::InputError& error) {
        return error.problems().front();
    }
    return "";
}

const sim::Stack& stack_of(const sweeps::Recommendation& found) {
    return found.variants[found.candidates.front().variant].setup.platform.stack;
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("every stack names an engine and version whose flags are known, and inputs name the same engines") {
    std::vector<std::string> words;
    for (const Engine& engine : newest_engines()) {
        words.push_back(engine.word);
        CHECK(find_engine(testing::stack(engine.word).engine).version == engine.version);  // the plain name is the newest
    }
    CHECK(words ==
          std::vector<std::string>(requests::platform_keys::engine_words.begin(), requests::platform_keys::engine_words.end()));
    int known = 0;
    for (const std::string& name : hardware::stack_names(source_folder() / "hardware")) {
        INFO(name);
        sim::Platform platform;
        platform.stack = testing::stack(name);
        known += priced_engine(platform) ? 1 : 0;
    }
    CHECK(known == 17);
}

TEST_CASE("a version before all whose flags are known runs where a stack was measured for it") {
    sim::Platform platform;
    platform.stack = testing::stack("sglang-0.5.6");
    platform.stack.engine = "sglang@0.5.6";
    REQUIRE(priced_engine(platform));
    CHECK(priced_engine(platform)->label() == "SGLang 0.5.6 (as 0.5.9)");
    platform.stack = testing::stack("sglang-0.4.4");
    platform.stack.engine = "sglang@0.5.2";
    CHECK(priced_engine(platform)->version == "0.5.9");
    platform.stack.engine = "sglang@0.4.3";  // before all stacks
    CHECK_THROWS_AS(priced_engine(platform), text::InputError);
}

TEST_CASE("--engine prices on the engine's own stack, of its version, and contradicts another engine's") {
    const auto stack_named = [](const Json& platform) {
        return read(workload(platform)).workload.variants.front().setup.platform.stack.name;
    };
    CHECK(stack_named({{"engine", "vllm"}}) == "vllm-0.26");
    CHECK(stack_named({{"engine", "vllm@0.19"}}) == "vllm-0.14");
    CHECK(stack_named({{"engine", "sglang"}}) == "sglang-0.5.15");
    CHECK(stack_named({{"engine", "tensorrt-llm"}}) == "tensorrt-llm-1.2");
    CHECK(stack_named({{"engine", "llama.cpp"}, {"device", "xeon-8480plus"}}) == "cpu");
    CHECK(stack_named({{"engine", "vllm"}, {"stack", "vllm-0.10"}}) == "vllm-0.10");
    CHECK(says(problem_of(workload({{"engine", "sglang"}, {"stack", "vllm"}})), "but the stack vllm-0.26 is that of vllm"));
    CHECK(says(problem_of(workload({{"engine", "sglang"}, {"stack", "cuda-graph"}})), "is no engine's"));
    CHECK(says(problem_of(workload({{"engine", "vlm"}})), "did you mean \"vllm\"?"));
    CHECK(engine_flags(recommended(workload({{"engine", "vllm@0.19"}})))->engine == "vLLM 0.19");
}

TEST_CASE("flags are those of the priced engine, and say so where there is none") {
    CHECK(engine_flags(recommended(workload({{"stack", "sglang"}})))->engine == "SGLang 0.5.23");
    const sweeps::Recommendation none = recommended(workload({{"stack", "cuda-graph"}}));
    CHECK_FALSE(engine_flags(none));
    CHECK(says(why_no_flags(none), "The stack cuda-graph is no engine's"));
    // The best of several stacks, whichever it is: never the flags of one for the optimum on another.
    Json both = workload({{"stack", "vllm"}});
    both["platforms"].push_back({{"device", "h100-sxm"}, {"stack", "sglang"}});
    both["shapes"] = Json::array({"sglang:4,4,16"});
    const sweeps::Recommendation best = recommended(both);
    CHECK(engine_flags(best)->engine.starts_with(stack_of(best).name.starts_with("sglang") ? "SGLang" : "vLLM"));
}

TEST_CASE("a CPU gets no flags for GPUs") {
    CHECK(says(problem_of(workload({{"device", "xeon-8480plus"}, {"engine", "vllm"}})), "xeon-8480plus is a CPU"));
    CHECK(says(problem_of(workload({{"device", "xeon-8480plus"}, {"stack", "sglang"}})), "xeon-8480plus is a CPU"));
    CHECK(says(problem_of(workload({{"device", "mi300x"}, {"engine", "tensorrt-llm"}})), "GPUs of NVIDIA"));
    CHECK(engine_flags(recommended(workload({{"device", "xeon-8480plus"}})))->engine.starts_with("llama.cpp"));
}

TEST_CASE("what no engine of the workload runs is an error where it was asked for") {
    Json tree = workload({{"stack", "vllm"}});
    tree["shapes"] = Json::array({"sglang:5,4,32"});
    CHECK(problem_of(tree) == "the shape sglang 5,4,32 cannot run: vLLM 0.33 drafts chains only");
    tree["platforms"][0]["stack"] = "llama.cpp";
    CHECK(says(problem_of(tree), "drafts chains only"));
    tree["platforms"][0]["stack"] = "tensorrt-llm";
    CHECK(says(problem_of(tree), "are stated as depth, top-k and draft tokens"));
    tree["platforms"][0]["stack"] = "sglang";
    CHECK(problem_of(tree).empty());
    CHECK(says(problem_of(workload({{"stack", "tensorrt-llm"}}, "eagle")), "runs only EAGLE-3 heads"));
    CHECK(says(problem_of(workload({{"stack", "vllm-0.10"}}, "dflash")), "does not draft with DFlash"));
    CHECK(problem_of(workload({{"stack", "vllm-0.10"}, {"engine", "none"}}, "dflash")).empty());
}

TEST_CASE("one of several drafters that the engine lacks is left out, with the reason") {
    Json two = workload({{"stack", "tensorrt-llm"}});
    two["drafters"].push_back({{"kind", "medusa"}, {"acceptance", {{"geometric", 0.95}}}});
    const sweeps::Recommendation found = recommended(two);
    CHECK(found.variants[found.candidates.front().variant].labels.drafter == "eagle3");
    REQUIRE_FALSE(found.excluded.empty());
    CHECK(says(found.excluded.front().reason, "runs no Medusa heads on its PyTorch backend"));
    Json trees = workload({{"stack", "vllm"}});
    trees["shapes"] = Json::array({"sglang:5,4,32"});
    const sweeps::Answer left = answer(read(trees), 1, MissingShapes::leave_out);
    CHECK(left.result.recommendation->excluded.front().label == "sglang 5,4,32");
}

TEST_CASE("MTP needs a module in the target's checkpoint") {
    CHECK(says(problem_of(workload({{"stack", "vllm"}}, "mtp")),
               "the checkpoint of llama-3.1-8b has no module for multi-token prediction"));
    const Json r1 = workload({{"stack", "vllm"}, {"device", "h200"}, {"tensor_parallel", 8}}, "mtp", "deepseek-r1");
    const sweeps::RecommendInput input = read(r1);
    CHECK(input.target.model.notes.empty());  // it used to say that the module was left out
    CHECK(input.target.model.mtp_layers == 1);
    // Three chained modules: vLLM takes up to three drafts, or multiples of three.
    const Json mimo = workload({{"stack", "vllm"}, {"device", "b200"}, {"tensor_parallel", 8}}, "mtp", "mimo-v2-flash");
    CHECK(recommended(mimo).candidates.front().draft_tokens <= 3);
}

TEST_CASE("the schedule holds what the server can change between") {
    Json workload_of_sglang = workload({{"stack", "sglang"}});
    workload_of_sglang["shapes"] = Json::array({"sglang:4,4,16", "sglang:3,2,6"});
    const sweeps::Recommendation found = recommended(workload_of_sglang);
    const bool tree = !sim::is_chain(found.speculations[static_cast<std::size_t>(found.candidates.front().speculation)]);
    for (const sweeps::ScheduleEntry& entry : found.schedule.entries) {
        const bool same = entry.speculation == 0 || entry.speculation == found.candidates.front().speculation;
        CHECK((tree ? same : sim::is_chain(found.speculations[static_cast<std::size_t>(entry.speculation)])));
    }
    // llama.cpp drafts one length at every batch.
    const sweeps::Recommendation fixed = recommended(workload({{"stack", "llama.cpp"}}));
    for (const sweeps::ScheduleEntry& entry : fixed.schedule.entries) {
        CHECK((entry.draft_tokens == 0 || entry.draft_tokens == fixed.candidates.front().draft_tokens));
    }
}

// vLLM's issue 17569: 1,536 columns of an expert on eight ranks of data parallelism are 192 each, and blocks are 128 wide.
TEST_CASE("a cut in which the engine does not load the checkpoint is left out, plain decoding too") {
    const Json cut = {{"device", "h100-sxm"}, {"stack", "vllm"}, {"tensor_parallel", 8}};
    Json whole = cut;
    whole["expert_parallel"] = 8;
    const std::string why = "experts of 192 columns a rank, no multiple of the 128 that share a scale";
    CHECK(says(problem_of(workload(cut, "ngram", "minimax-m2.5")), why));
    CHECK(problem_of(workload(whole, "ngram", "minimax-m2.5")).empty());
    Json both = workload(cut, "ngram", "minimax-m2.5");
    both["platforms"].push_back(whole);
    const sweeps::Recommendation found = recommended(both);
    for (const sweeps::Variant& variant : found.variants) {
        CHECK(variant.setup.platform.parallel.experts == 8.0);
    }
    REQUIRE_FALSE(found.excluded.empty());
    CHECK(says(found.excluded.front().reason, why));
}

// --enable-linear-replayssm-spec came with 0.5.17, under another name with 0.5.16 (engines/sglang/records.cpp).
TEST_CASE("a point names a rollback that its engine has at that version") {
    const auto problem_at = [](const std::string& engine) -> std::string {
        const Json point = {{"target", "qwen3.5-27b"},
                            {"platform", {{"device", "h100-sxm"}, {"engine", engine}}},
                            {"drafter", {{"kind", "mtp"}, {"acceptance", {{"geometric", 0.8}}}}},
                            {"draft_tokens", 3},
                            {"batch", 8},
                            {"context", 1024},
                            {"rollback", "ring"}};
        try {
            static_cast<void>(engines::estimate_point(requests::read_point_text(point.dump(), "point", {}, catalogue).input));
        } catch (const text::InputError& error) {
            return error.problems().front();
        }
        return "";
    };
    CHECK(problem_at("sglang@0.5.9") ==
          "rollback: SGLang 0.5.9 has no --enable-linear-replayssm-spec, with which it would roll back by ring; it came with "
          "0.5.17 (it has snapshot)");
    CHECK(problem_at("sglang@0.5.16").empty());
    CHECK(problem_at("sglang").empty());
}

}  // namespace priced_engine_test
