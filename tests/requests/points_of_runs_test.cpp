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
    run.cells.front().draft_tokens = 0;  // plain decoding drafts nothing
    CHECK_FALSE(requests::point_of_run(run, {{"platform", "h100-sxm"}}, catalogue).point.contains("drafter"));
}

}  // namespace points_of_runs_test
