// Workload, sweep and point files, and the flags that stand for points.
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "requests/point_reader.h"
#include "requests/recommend/workload_reader.h"
#include "requests/sweep/sweep_reader.h"
#include "setups.h"

namespace workload_reader_test {

using namespace treeline;
using namespace treeline::requests;
using treeline::testing::source_folder;

namespace {

Descriptions catalogue(const std::filesystem::path& base = {}) {
    return {{source_folder() / "models", source_folder() / "hardware"}, base};
}

sweeps::RecommendInput workload_in(json::Document& document, Descriptions& descriptions) {
    return read_workload(document, descriptions);
}

template <class Read>
auto read(const std::string& text, Read reader) {
    json::Document document = json::Document::parse(text, "in");
    Descriptions descriptions = catalogue();
    return reader(document, descriptions);
}

template <class Read>
std::vector<std::string> problems(const std::string& text, Read reader) {
    try {
        static_cast<void>(read(text, reader));
    } catch (const text::InputError& error) {
        return error.problems();
    }
    return {};
}

const std::string ngram = R"({"kind": "ngram", "acceptance": {"geometric": 0.5}})";
const std::string eagle = R"({"kind": "eagle", "acceptance": {"geometric": 0.5}})";

std::string workload(const std::string& target, const std::string& more = "") {
    return R"({"target": ")" + target + R"(", "platforms": ["h100-sxm", {"device": "a10g", "stack": "vllm"}], "drafters": [)" +
           ngram + ", " + eagle +
           R"(], "draft_tokens": [1, 3], "traffic": {"batch": [{"value": 1, "share": 1}, {"value": 8, "share": 3}],
           "context": [1024, 4096]})" +
           more + "}";
}

std::string sweep(const std::string& axes, const std::string& more = "") {
    return R"({"axes": {"target": "llama-3-8b", "drafter": [)" + ngram + R"(], "draft_tokens": [1, 2], "batch": [1, 2, 4],
           "context": 1024)" +
           axes + "}" + more + "}";
}

}  // namespace

TEST_CASE("\"none\" in place of a drafter is plain decoding") {
    const auto drafters = [](const std::string& list) {
        std::string text = workload("llama-3-8b");
        text.replace(text.find("[" + ngram), ngram.size() + eagle.size() + 4, list);
        return read(text, workload_in).drafters.size();
    };
    CHECK(drafters(R"(["none"])") == 0);
    CHECK(drafters(R"("none")") == 0);
    CHECK(drafters(R"(["none", )" + ngram + "]") == 1);
    const std::string point = R"({"target": "llama-3-8b", "platform": "h100-sxm", "drafter": "none"})";
    CHECK_FALSE(read(point, [](json::Document& document, Descriptions& descriptions) {
                    return read_point(document, descriptions);
                }).drafter);
}

TEST_CASE("a workload becomes variants and traffic") {
    const sweeps::RecommendInput input =
        read(workload("llama-3-8b", R"(, "limits": {"tpot_ms": 50, "memory_gb": 75}, "objective": "cost")"), workload_in);
    const sweeps::Workload& w = input.workload;
    CHECK(w.variants.size() == 4);  // 2 platforms × 2 drafters × truncation, the only policy for attention
    CHECK(w.traffic.points.size() == 4);
    CHECK(w.traffic.shares_of == sweeps::ShareOf::time);
    CHECK(w.traffic.points.front().share == Approx(0.125));  // 1/4 of the batches × 1/2 of the contexts
    CHECK(w.limits.time_per_token->value() == Approx(0.050));
    CHECK(w.limits.memory->value() == Approx(75e9));
    CHECK_FALSE(w.limits.time_to_first_token);
    CHECK(w.objective == sweeps::Objective::cost);
    CHECK(w.prompt_tokens == 1024.0);   // the first of the most common contexts
    CHECK(w.speculations.size() == 3);  // plain decoding, chains of 1 and 3
    CHECK(w.speculations.back().label == "chain 3");
    CHECK_FALSE(input.provenance.empty());
}

TEST_CASE("without a list, every rollback policy that the target can use is a candidate") {
    CHECK(read(workload("mamba2-2.7b"), workload_in).workload.variants.size() == 12);  // × replay, snapshot, recompute
    CHECK(read(workload("mamba2-2.7b", R"(, "rollback": ["replay"])"), workload_in).workload.variants.size() == 4);
}

TEST_CASE("all problems of a workload come at once") {
    const auto found =
        problems(R"({"target": "llama-3-9b", "platforms": [{"device": "h100-sxm", "tensor_paralel": 2}], "drafters": [)" +
                     ngram + R"(], "draft_tokens": [], "traffic": {"batch": [1], "contexts": [1]}, "objective": "fun"})",
                 workload_in);
    CHECK(found.size() == 6);  // target, tensor_paralel, draft_tokens, context missing, contexts unknown, objective
}

TEST_CASE("an objective that the device says nothing about is refused") {
    const std::string device = (source_folder() / "examples/devices/spire-hoi-600.json").string();
    const auto found =
        problems(R"({"target": "llama-3-8b", "platforms": [")" + device + R"("], "drafters": [)" + ngram +
                     R"(], "draft_tokens": [1], "traffic": {"batch": [1], "context": [1]}, "objective": "energy"})",
                 workload_in);
    REQUIRE(found.size() == 1);
    CHECK(found.front().find("does not state its power") != std::string::npos);
}

TEST_CASE("whoever minds energy reads how far it can be trusted, first of all") {
    const sweeps::RecommendInput energy = read(workload("llama-3-8b", R"(, "objective": "energy")"), workload_in);
    CHECK(energy.notes.front().find("13 % in the median and 37 % at p90") != std::string::npos);  // treeline_energy, left out
    const auto of_energy = [](const std::string& note) { return note.find("energy") != std::string::npos; };
    const sweeps::RecommendInput cost = read(workload("llama-3-8b", R"(, "objective": "cost")"), workload_in);
    CHECK(std::none_of(cost.notes.begin(), cost.notes.end(), of_energy));
}

TEST_CASE("two drafters of one name are refused") {
    const auto found = problems(R"({"target": "llama-3-8b", "platforms": ["h100-sxm"], "drafters": [)" + ngram + ", " + ngram +
                                    R"(], "draft_tokens": [1], "traffic": {"batch": [1], "context": [1]}})",
                                workload_in);
    REQUIRE(found.size() == 1);
    CHECK(found.front().find("holds \"ngram\" twice") != std::string::npos);
}

TEST_CASE("the axes of a sweep are crossed") {
    const sweeps::SweepInput by_parts = read(
        sweep(
            R"(, "device": ["h100-sxm", "a100-sxm-80"], "tensor_parallel": [1, 2], "stack": ["vllm", "ideal"], "mode": ["roofline", "hoi"])"),
        read_sweep);
    CHECK(by_parts.space.variants.size() == 16);
    CHECK(by_parts.space.size() == 96);  // × 2 draft lengths × 3 batches × 1 context
    const sweeps::SweepInput whole =
        read(sweep(R"(, "platform": ["h100-sxm"], "precision": ["bf16", {"weights": "int4"}])"), read_sweep);
    REQUIRE(whole.space.variants.size() == 2);
    CHECK(whole.space.variants[0].labels.precision == "bf16");
    CHECK(whole.space.variants[1].setup.precision.weights.format == sim::NumberFormat::int4);
    CHECK(whole.space.variants[1].setup.precision.math == sim::NumberFormat::bf16);
}

TEST_CASE("conditions name axes and values that exist") {
    const auto with = [](const std::string& condition) {
        return problems(sweep(R"(, "device": ["h100-sxm", "a10g"])", R"(, "conditions": [)" + condition + "]"), read_sweep);
    };
    CHECK(with(R"({"when": {"device": "a10g"}, "require": "batch < 4"})").empty());
    CHECK(with(R"("batch * draft_tokens <= 4")").empty());
    CHECK(with(R"({"when": {"device": "a100"}, "require": "batch < 4"})").size() == 1);
    CHECK(with(R"({"when": {"gpu": "a10g"}, "require": "batch < 4"})").size() == 1);
    CHECK(with(R"({"require": "batches < 4"})").size() == 1);
    CHECK(with(R"({"when": {"device": "a10g"}})").size() == 1);
}

TEST_CASE("up to so many devices of each kind: cuts of every number, and reasons for numbers without one") {
    const auto of = [](const std::string& platforms) {
        return R"({"target": "llama-3.1-70b", "platforms": )" + platforms + R"(, "drafters": [)" + ngram +
               R"(], "draft_tokens": [1, 3], "traffic": {"batch": [1, 8], "context": 4000}})";
    };
    const sweeps::Workload found =
        read(
            of(R"([{"device": "h100-sxm", "gpus": {"up_to": 8}, "stack": "sglang"}, {"device": "rtx-4090", "gpus": {"up_to": 8}},
                     {"device": "m4-max", "gpus": {"up_to": 8}}])"),
            workload_in)
            .workload;
    std::set<std::string> platforms, excluded;
    for (const sweeps::Variant& variant : found.variants) {
        platforms.insert(variant.labels.platform());
    }
    for (const sweeps::Exclusion& exclusion : found.excluded) {
        excluded.insert(exclusion.label + ": " + exclusion.reason);
    }
    for (const char* expected : {"h100-sxm", "2x h100-sxm", "4x h100-sxm", "8x h100-sxm", "rtx-4090", "m4-max"}) {
        CHECK(platforms.count(expected) == 1);
    }
    CHECK(platforms.count("3x h100-sxm") == 0);  // 64 heads, and SGLang has no pipeline beside a drafter
    CHECK(excluded.count("3x h100-sxm: llama-3.1-70b has layers of 64 heads, which 3 devices cannot share evenly") == 1);
    CHECK(excluded.count("5x to 7x h100-sxm: llama-3.1-70b has layers of 64 heads, which 5 devices cannot share evenly") == 1);
    CHECK(std::any_of(excluded.begin(), excluded.end(), [](const std::string& text) {
        return text.starts_with("2x to 8x m4-max: ") && text.find("interconnect") != std::string::npos;
    }));
    // A fixed number that only some devices can be cut into; and one that none can.
    const sweeps::Workload some =
        read(of(R"([{"device": "h100-sxm", "gpus": 4}, {"device": "m4-max", "gpus": 4}])"), workload_in).workload;
    CHECK(some.excluded.size() == 1);
    const auto none = problems(
        of(R"([{"device": "m4-max", "gpus": 4}, {"device": "rtx-4090", "gpus": 7, "pipeline_parallel": 1}])"), workload_in);
    REQUIRE(none.size() == 1);
    CHECK(none.front().find("platforms: no device can run llama-3.1-70b: 4x m4-max: ") != std::string::npos);
    CHECK(problems(of(R"([{"device": "h100-sxm", "gpus": {"up_to": 0}}])"), workload_in).front().find("up_to") !=
          std::string::npos);
    CHECK(problems(of(R"([{"device": "h100-sxm", "gpus": {"upto": 8}}])"), workload_in).front().find("gpus") !=
          std::string::npos);
}

TEST_CASE("paths are relative to the file that names them") {
    json::Document document =
        json::Document::parse(R"({"target": "spire-target", "platform": "devices/spire-hoi-600.json"})", "in");
    Descriptions descriptions = catalogue(source_folder() / "examples");
    CHECK(read_point(document, descriptions).platform.device.name == "spire-hoi-600");
}

TEST_CASE("a point has defaults, and plain decoding without a drafter") {
    const sweeps::PointInput plain = read(R"({"target": "llama-3-8b", "platform": "h100-sxm"})", read_point);
    CHECK_FALSE(plain.speculates());
    CHECK(plain.batch == 1.0);
    CHECK(plain.prompt_tokens == plain.context);
    const sweeps::PointInput drafted =
        read(R"({"target": "llama-3-8b", "platform": "h100-sxm", "drafter": )" + eagle + "}", read_point);
    CHECK(drafted.speculations.back().label == "chain 5");
    CHECK_FALSE(drafted.rollback);
}

TEST_CASE("flags become keys of a point") {
    FlagTexts flags;
    flags["target.model"] = "llama-3-8b";
    flags["platform.device"] = "h100-sxm";
    flags["drafter"] = "medusa";
    flags["drafter.acceptance"] = "0.8,0.6";
    flags["batch"] = "8";
    flags["target.precision"] = R"({"weights": "int4"})";
    const nlohmann::ordered_json point = with_flags(nlohmann::ordered_json::object(), flags);
    CHECK(point["target"] == nlohmann::ordered_json({{"model", "llama-3-8b"}, {"precision", {{"weights", "int4"}}}}));
    CHECK(point["platform"]["device"] == "h100-sxm");
    CHECK(point["drafter"]["kind"] == "medusa");
    CHECK(point["drafter"]["acceptance"]["per_position"] == nlohmann::ordered_json({0.8, 0.6}));
    CHECK(point["batch"] == 8);
}

TEST_CASE("flags replace keys of a file and leave the others") {
    const auto file = nlohmann::ordered_json::parse(R"({"target": "llama-3-8b", "platform": "h100-sxm", "drafter": )" + ngram +
                                                    R"(, "batch": 2})");
    FlagTexts flags;
    flags["target.precision"] = "fp8";
    flags["platform.stack"] = "vllm";
    flags["drafter"] = "llama-3.2-1b";
    flags["drafter.acceptance.mean_length"] = "3";
    flags["draft_tokens"] = "4";
    const nlohmann::ordered_json point = with_flags(file, flags);
    CHECK(point["target"]["model"] == "llama-3-8b");
    CHECK(point["target"]["precision"] == "fp8");
    CHECK(point["platform"]["device"] == "h100-sxm");
    CHECK(point["drafter"]["model"] == "llama-3.2-1b");
    CHECK(point["drafter"]["acceptance"]["mean_length"] == 3);
    CHECK(point["drafter"]["acceptance"]["draft_tokens"] == 4);
    CHECK(point["batch"] == 2);
}

TEST_CASE("problems of flags name the flag") {
    const auto named =
        in_terms_of_flags({"flags: platform.tensor_parallel: is 0", "flags: drafter.acceptance.geometric: is 2",
                           "flags: target.model: is missing", "flags: platform: is missing", "point.json: batch: is 0"},
                          point_flags());
    CHECK(named == std::vector<std::string>{"--tensor-parallel: is 0", "--acceptance: geometric: is 2", "--target: is missing",
                                            "--device: is missing", "point.json: batch: is 0"});
}

TEST_CASE("loads and distributions of lengths") {
    const auto with = [](const std::string& traffic, const std::string& more) {
        return R"({"target": "llama-3-8b", "platforms": [{"device": "h100-sxm", "stack": "vllm"}], "drafters": [)" + ngram +
               R"(], "draft_tokens": [1], "traffic": {)" + traffic + "}" + more + "}";
    };
    const std::string lengths =
        R"(, "prompt_tokens": [{"tokens": 100, "share": 3}, {"tokens": 500}], "output_tokens": {"mean": 400, "spread": 0})";
    const sweeps::Workload by_concurrency =
        read(with(R"("concurrency": [{"value": 8, "share": 1}, {"value": 64, "share": 3}])", lengths), workload_in).workload;
    CHECK(by_concurrency.traffic.kind == sweeps::LoadKind::concurrency);
    CHECK(by_concurrency.traffic.points.back().load == 64.0);
    CHECK(by_concurrency.traffic.points.back().share == Approx(0.75));
    CHECK(by_concurrency.traffic.points.back().context == 400.0);  // (3·100 + 500)/4 + 400/2
    const sim::RoundSetup& setup = by_concurrency.variants.front().setup;
    CHECK(setup.prompt_tokens == 200.0);
    CHECK(setup.prompt_lengths.size() == 2);
    CHECK(setup.output_tokens == 400.0);
    const sweeps::Workload by_rate = read(with(R"("arrival_rate": [0.5, 2.5], "context": 300)", lengths), workload_in).workload;
    CHECK(by_rate.traffic.kind == sweeps::LoadKind::arrival_rate);
    CHECK(by_rate.traffic.points.back().load == 2.5);
    CHECK(by_rate.traffic.points.back().context == 300.0);
    CHECK(by_rate.objective == sweeps::Objective::latency);
    CHECK(problems(with(R"("arrival_rate": 2)", ""), workload_in).size() >= 1);
    CHECK(problems(with(R"("concurrency": 2, "batch": 2)", lengths), workload_in).front().find("more than one of") !=
          std::string::npos);
}

TEST_CASE("kernels of experts are picked in a platform, by a name that is known") {
    const char* input = R"({"target": {"model": "glm-5", "precision": "nvfp4"}, "batch": 4, "context": 512, "platform":
                            {"device": "rtx-pro-6000", "tensor_parallel": 8, "stack": "sglang", "expert_kernels": "KERNELS"}})";
    const auto with_kernels = [&](const char* name) {
        std::string text = input;
        return text.replace(text.find("KERNELS"), 7, name);
    };
    const sweeps::PointInput point = read(with_kernels("b12x"), read_point);
    CHECK(point.platform.stack.picked.expert_kernels.name == "b12x");
    CHECK(point.platform.stack.picked.expert_kernels.few_rows == 64.0);
    CHECK(sweeps::label_of(point.platform) == "8 x rtx-pro-6000 (pcie), sglang-0.5.15 with b12x");
    const std::vector<std::string> unknown = problems(with_kernels("b12"), read_point);
    REQUIRE(unknown.size() == 1);
    CHECK(unknown[0].find("b12x") != std::string::npos);
}

TEST_CASE("kernels of attention are picked in a platform, beside those of experts") {
    const sweeps::PointInput point = read(
        R"({"target": {"model": "glm-5", "precision": "nvfp4"}, "batch": 4, "context": 512, "platform": {"device": "rtx-pro-6000",
            "tensor_parallel": 8, "stack": "sglang", "expert_kernels": "b12x", "attention_kernels": "triton"}})",
        read_point);
    CHECK(point.platform.stack.picked.attention_kernels.name == "triton");
    CHECK(sweeps::label_of(point.platform) == "8 x rtx-pro-6000 (pcie), sglang-0.5.15 with b12x and triton");
}

TEST_CASE("prefill and token budget of a platform") {
    const sweeps::PointInput point = read(
        R"({"target": "llama-3-8b", "platform": {"device": "h100-sxm", "stack": "sglang", "prefill": "mixed", "token_budget": 512},
            "concurrency": 4, "prompt_tokens": 100, "output_tokens": 50})",
        read_point);
    CHECK(point.platform.stack.serving.prefill == sim::PrefillPolicy::mixed);
    CHECK(point.platform.stack.serving.prompt_wait == 1.0);
    CHECK(point.platform.stack.serving.step_tokens == 512.0);
    CHECK(point.platform.stack.serving.prefill_tokens == 512.0);
    CHECK(point.load.kind == sweeps::LoadKind::concurrency);
    CHECK(point.load.value == 4.0);
}

TEST_CASE("the largest rate within the limits is a question of its own") {
    const auto asked = [](const std::string& more) {
        return R"({"target": "llama-3.1-8b", "platforms": "h100-sxm", "drafters": [], "traffic": {"arrival_rate": "most"},
                   "prompt_tokens": 300, "output_tokens": 200)" +
               more + "}";
    };
    const sweeps::RecommendInput input = read(asked(R"(, "limits": {"tpot_ms": 20})"), workload_in);
    CHECK(input.workload.most_arrivals);
    CHECK(input.workload.traffic.kind == sweeps::LoadKind::arrival_rate);
    CHECK(input.workload.objective == sweeps::Objective::throughput);
    CHECK_FALSE(read(R"({"target": "llama-3.1-8b", "platforms": "h100-sxm", "drafters": [], "traffic": {"arrival_rate": 2},
                         "prompt_tokens": 300, "output_tokens": 200})",
                     workload_in)
                    .workload.most_arrivals);
    const std::vector<std::string> latency = problems(asked(R"(, "objective": "latency")"), workload_in);
    REQUIRE(latency.size() == 1);
    CHECK_THAT(latency.front(), Catch::Contains("the largest rate within the limits is asked for"));
    CHECK_FALSE(problems(R"({"target": "llama-3.1-8b", "platforms": "h100-sxm", "drafters": [],
                             "traffic": {"arrival_rate": "least"}, "prompt_tokens": 300, "output_tokens": 200})",
                         workload_in)
                    .empty());
}

TEST_CASE("trees that a drafter was measured with are tried on accelerators, and not on GPUs") {
    const auto shapes_on = [](const std::string& platform) {
        std::vector<std::string> labels;
        for (const sim::Speculation& speculation :
             read(R"({"target": "mamba2-2.7b", "platforms": ")" + platform + R"(", "traffic": {"batch": 1, "context": 1024}})",
                  workload_in)
                 .workload.speculations) {
            labels.push_back(speculation.label);
        }
        return labels;
    };
    const auto holds_tree = [](const std::vector<std::string>& labels) {
        return std::find(labels.begin(), labels.end(), "specmamba-16") != labels.end();
    };
    CHECK(holds_tree(shapes_on("specmamba-vck190")));
    CHECK_FALSE(holds_tree(shapes_on("h100-sxm")));
}

}  // namespace workload_reader_test
