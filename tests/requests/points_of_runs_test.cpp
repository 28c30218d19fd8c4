// Loads of measured runs as points of the cost model.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "requests/loop/diagnosis_request.h"
#include "requests/loop/run_deployment.h"
#include "source_folder.h"

namespace points_of_runs_test {

using namespace treeline;

TEST_CASE("mean lengths of requests become whole lengths of points") {
    runs::RunCell cell;
    cell.batch = 1.0;
    cell.prompt_tokens = 1052.17;
    cell.output_tokens = 258.06;
    cell.tpot.add(0.018);
    const auto point = requests::point_of_load(cell, {{"batch", 1}});
    CHECK(point["prompt_tokens"] == 1052.0);
    CHECK(point["output_tokens"] == 258.0);
    CHECK(point["batch"] == 1);
}

TEST_CASE("methods are named in many ways") {
    for (const char* method : {"mtp", "qwen3_next_mtp", "deepseek_mtp", "NEXTN", "draft-mtp"}) {
        CHECK(requests::drafter_kind_of_method(method) == "mtp");
    }
    CHECK(requests::drafter_kind_of_method("EAGLE3") == "eagle3");
    CHECK(requests::drafter_kind_of_method("draft_model") == "model");
    CHECK(requests::drafter_kind_of_method("STANDALONE") == "model");
    CHECK(requests::drafter_kind_of_method("ngram-simple") == "ngram");
    CHECK(requests::drafter_kind_of_method("") == "");
    CHECK(requests::drafter_kind_of_method("clairvoyance") == "");
}

TEST_CASE("what the files of a run say fills what the question leaves open, and no more") {
    const requests::Catalogue catalogue{testing::source_folder() / "models", testing::source_folder() / "hardware"};
    runs::MeasuredRun run;
    run.identity.engine = "vllm";
    run.identity.model = "Qwen/Qwen3-8B";
    run.identity.method = "eagle3";
    run.identity.ranks = 2.0;
    run.settings.cache_format = "fp8_e4m3";
    run.cells.resize(1);
    run.cells.front().draft_tokens = 3;
    const requests::PointOfRun open = requests::point_of_run(run, {{"platform", {{"device", "h100-sxm"}}}}, catalogue);
    CHECK(open.point["target"]["model"] == "Qwen/Qwen3-8B");
    CHECK(open.point["target"]["precision"]["kv_cache"] == "fp8");
    CHECK(open.point["drafter"]["kind"] == "eagle3");
    CHECK(open.point["platform"]["tensor_parallel"] == 2);
    CHECK(open.point["platform"]["engine"] == "vllm");
    REQUIRE(open.remarks.size() == 1);
    for (const char* part : {"model Qwen/Qwen3-8B", "eagle3", "2 devices", "fp8 cache", "engine vllm"}) {
        CHECK(open.remarks.front().find(part) != std::string::npos);
    }
    const requests::PointOfRun asked =
        requests::point_of_run(run,
                               {{"target", {{"model", "llama-3.1-8b"}, {"precision", {{"kv_cache", "bf16"}}}}},
                                {"platform", {{"device", "h100-sxm"}, {"tensor_parallel", 4}, {"stack", "sglang"}}},
                                {"drafter", "mtp"}},
                               catalogue);
    CHECK(asked.point["target"]["model"] == "llama-3.1-8b");
    CHECK(asked.point["platform"]["tensor_parallel"] == 4);
    CHECK(asked.point["drafter"] == "mtp");
    CHECK(asked.remarks.size() == 5);  // model, cache, devices, engine, drafter
    // A name that ends in a format, and a folder of the server's machine.
    run.identity.model = "Qwen/Qwen3-30B-A3B-FP8";
    const requests::PointOfRun quantised = requests::point_of_run(run, {{"platform", "h100-sxm"}}, catalogue);
    CHECK(quantised.point["target"]["model"] == "qwen3-30b-a3b");
    CHECK(quantised.point["target"]["precision"]["checkpoint"] == "fp8");
    run.identity.model = "/models/Qwen3-8B";
    CHECK(requests::point_of_run(run, {{"platform", "h100-sxm"}}, catalogue).point["target"]["model"] == "Qwen3-8B");
    // A model that the catalogue does not know is none to fill in.
    for (const char* name : {"m/Model-27B-FP8", "/models/mine", "q"}) {
        run.identity.model = name;
        CHECK_FALSE(requests::point_of_run(run, {{"platform", "h100-sxm"}}, catalogue).point.contains("target"));
    }
    // A file of the server's machine.
    for (const char* name : {"/models/Qwen3-8B-Q4_K_M.gguf", "C:\\models\\Qwen3-8B-Q4_K_M-00001-of-00003.gguf",
                             "unsloth_Qwen3-8B-GGUF_Qwen3-8B-Q4_K_M.gguf", "Qwen_Qwen3-8B-Q4_K_M.gguf"}) {
        run.identity.model = name;
        const requests::PointOfRun file = requests::point_of_run(run, {{"platform", "h100-sxm"}}, catalogue);
        CHECK(file.point["target"]["model"] == "qwen3-8b");
        CHECK(file.point["target"]["precision"]["checkpoint"] == "q4_k_m");
    }
    run.cells.front().draft_tokens = 0;  // plain decoding drafts nothing
    CHECK_FALSE(requests::point_of_run(run, {{"platform", "h100-sxm"}}, catalogue).point.contains("drafter"));
}

TEST_CASE("llama-bench's words and a GGUF in a file's own name tell the model") {
    const requests::Catalogue catalogue{testing::source_folder() / "models", testing::source_folder() / "hardware"};
    runs::MeasuredRun run;
    const auto target = [&] {
        return requests::point_of_run(run, {{"platform", "h100-sxm"}}, catalogue)
            .point.value("target", nlohmann::ordered_json());
    };
    const auto precision = [&](const nlohmann::ordered_json& of) {
        return of.value("precision", nlohmann::ordered_json()).is_string() ? of["precision"].get<std::string>()
                                                                           : of["precision"].value("checkpoint", "");
    };
    for (const auto& [words, model, format] : {std::tuple{"qwen35moe 35B.A3B Q4_K - Medium", "qwen3.5-35b-a3b", "q4_k_m"},
                                               {"qwen35 27B Q8_0", "qwen3.5-27b", "q8_0"},
                                               {"llama 8B Q4_K - Small", "llama-3.1-8b", "q4_k_s"},
                                               {"qwen3 8B F16", "qwen3-8b", "fp16"},
                                               {"gpt-oss 20B MXFP4 MoE", "gpt-oss-20b", "mxfp4"},
                                               {"qwen2 7B Q6_K", "qwen2.5-7b", "q6_k"}}) {
        INFO(words);
        run.identity.model = words;
        CHECK(target()["model"] == model);
        CHECK(precision(target()) == format);
    }
    for (const char* words : {"qwen35moe 99B.A9B Q4_K - Medium", "a model of 8B", "qwen3 8"}) {
        run.identity.model = words;
        CHECK(target().is_null());
    }
    run.identity.model.clear();
    run.sources = {{"results/Qwen3.6-27B-UD-Q8_K_XL__vulkan__mtp-2.json", ""}};
    CHECK(target()["model"] == "qwen3.6-27b");
    CHECK(precision(target()) == "ud-q8_k_xl");
    for (const char* name : {"results/qwen3-8b.json", "log.txt", ""}) {  // a name without a format may mean anything
        run.sources = {{name, ""}};
        CHECK(target().is_null());
    }
    run.sources = {{"Qwen3-8B-Q8_0.json", ""}, {"Qwen3-4B-Q8_0.json", ""}};
    CHECK(target().is_null());
}

TEST_CASE("whether a look-up or a model drafted is what the run's files say") {
    const requests::Catalogue catalogue{testing::source_folder() / "models", testing::source_folder() / "hardware"};
    runs::MeasuredRun run;
    run.cells.resize(1);
    run.cells.front().draft_tokens = 3;
    const auto point_of = [&](const char* method, const char* asked) {
        run.identity.method = method;
        return requests::point_of_run(run, {{"target", "qwen3-8b"}, {"platform", "h100-sxm"}, {"drafter", asked}}, catalogue);
    };
    const requests::PointOfRun looked_up = point_of("ngram-mod", "eagle3");
    CHECK(looked_up.point["drafter"]["kind"] == "ngram");
    CHECK(looked_up.looks_up);
    REQUIRE(looked_up.remarks.size() == 1);
    CHECK(looked_up.remarks.front().find("drafter eagle3, the run's files ngram; what the run's files say") !=
          std::string::npos);
    CHECK(point_of("eagle3", "suffix").point["drafter"]["kind"] == "eagle3");
    CHECK_FALSE(point_of("eagle3", "suffix").looks_up);
    CHECK(point_of("EAGLE", "mtp").point["drafter"] == "mtp");  // SGLang's word for modules of MTP, too
    CHECK(point_of("", "ngram").looks_up);
}

}  // namespace points_of_runs_test
