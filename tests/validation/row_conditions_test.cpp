// Does what a source, an engine or a benchmark fixes beside its rows hold for them, and for no others?
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "measured_row.h"
#include "requests/validate/name_table_reader.h"
#include "sim/round.h"
#include "text/input_error.h"
#include "validation/serving/predict.h"

namespace row_conditions_test {

using namespace treeline;
using namespace treeline::validation;

namespace {

const std::vector<std::string> draft_length = {"draft length"};

}  // namespace

TEST_CASE("what a benchmark's configuration says of its runs holds where their rows say nothing") {
    const std::string header =
        "id,backend,backend_version,model,system,precision,moe_precision,isl,osl,batch_size,tp,attention_dp,moe_tp,moe_ep,"
        "ttft_ms,tpot_ms\n";
    const auto row = [](const std::string& engine, const char* model, const char* format, double tpot, const char* tp = "8") {
        return fmt::format("r,{},{},b200_sxm,{},{},1024,1024,4,{},1,{},1,50,{}\n", engine, model, format, format, tp, tp, tpot);
    };
    const auto reason = [&](const std::string& rows) {
        const MeasuredPoints read = points_in(header + rows);
        return read.left_out.empty() ? "" : read.left_out[0].reason;
    };
    // nvidia-master.yaml of InferenceX: 1.2.0rc6.post3 stands in entries with MTP alone, rc6.post2 in those without, and
    // 1.1.0rc2.post2 in both.
    const char* deepseek = "deepseek-ai/DeepSeek-R1";
    CHECK(reason(row("trtllm,1.2.0rc6.post3", deepseek, "fp8", 7.0)) ==
          "with multi-token prediction, says the benchmark's configuration");
    CHECK(reason(row("trtllm,1.1.0rc2.post2", deepseek, "fp8", 7.0)) ==
          "with or without multi-token prediction: the benchmark ran both");
    CHECK(reason(row("trtllm,1.2.0rc6.post2", deepseek, "fp8", 7.0)).empty());
    const char* qwen = "Qwen/Qwen3.5-397B-A17B";
    CHECK(reason(row("sglang,0.5.9", qwen, "fp8", 7.0)).empty());
    CHECK(reason(row("sglang,0.5.9", qwen, "fp8", 7.0, "4")) ==
          "with multi-token prediction, says the benchmark's configuration");
    // A deployment that never speculated stays, however much faster a twin is; others do not.
    const std::string twins = row("vllm,0.19.0", "MiniMaxAI/MiniMax-M2.5", "fp8", 12.0, "4") +
                              row("vllm,0.17.0", "MiniMaxAI/MiniMax-M2.5", "fp8", 8.0, "4");
    CHECK(points_in(header + twins).points.size() == 2);
    // --kv-cache-dtype fp8_e4m3 --mamba-ssm-dtype bfloat16 in the script of the fp8 checkpoint, neither in that of bf16.
    const MeasuredPoints quantised = points_in(header + row("sglang,0.5.9", qwen, "fp8", 7.0));
    CHECK(quantised.points.at(0).precision.kv_cache.format == sim::NumberFormat::fp8);
    CHECK(quantised.points.at(0).precision.state.format == sim::NumberFormat::bf16);
    const MeasuredPoints published = points_in(header + row("sglang,nightly-dev", qwen, "bf16", 8.0));
    CHECK(published.points.at(0).precision.kv_cache.format == sim::NumberFormat::bf16);
    CHECK(published.points.at(0).precision.state.format == sim::NumberFormat::fp32);
}

TEST_CASE("serving runs that state no version have that of their table") {
    const std::string header = "id,backend,backend_version,model,system,precision,isl,osl,batch_size,tp,ttft_ms,tpot_ms\n";
    const auto stack = [&](const char* engine_and_version) {
        const MeasuredPoints read =
            points_in(header + "r," + engine_and_version + ",Qwen/Qwen3-32B,h100_sxm,fp8,1000,500,8,1,50,9.5\n");
        REQUIRE(read.points.size() == 1);
        return read.points[0].stack;
    };
    CHECK(stack("vllm,") == "vllm-0.10");
    CHECK(stack("trtllm,gpt-oss-dev") == "tensorrt-llm-1.0");
    CHECK(stack("trtllm,1.2.0rc6") == "tensorrt-llm-1.2");
    CHECK(stack("vllm,nightly-0a1b2c") == "vllm");
}

TEST_CASE("what a source says beside its rows: prompts that a prefix cache holds, formats") {
    const auto point = [](const char* series) {
        std::string text = speculation(R"(, "speedup": 1.2, "draft_tokens": 3, "batch_or_concurrency": 8, "tp": 1,
                                         "input_len": 40960, "output_len": 1024, "target_precision": "int4")");
        text.replace(text.find(R"("series": "s")"), 13, fmt::format(R"("series": "{}")", series));
        std::vector<std::string> notes;
        const MeasuredPoints read = points_of(requests::read_speculation_rows(written("beside.json", text), notes), parts());
        REQUIRE(read.points.size() == 1);
        return read.points[0];
    };
    const MeasuredPoint plain = point("s"), cached = point("vllm-nemotron35l-h100/DSpark"), head = point("syvai-qwen38-3090/x");
    CHECK(plain.prompt_tokens == 40960.0);
    CHECK(cached.prompt_tokens == 40960.0);
    CHECK(plain.prefix_hit == 0.0);
    CHECK(cached.prefix_hit == Approx(0.95));
    CHECK(cached.context == plain.context);
    CHECK(plain.precision.embeddings.format == sim::NumberFormat::bf16);
    CHECK(head.precision.embeddings.format == sim::NumberFormat::int4);
    CHECK(head.precision.weights.format == sim::NumberFormat::int4);
}

TEST_CASE("requests of a benchmark that sends all the same prompt share it") {
    const auto point = [](const char* series) {
        const MeasuredPoints read =
            row_of(fmt::format(R"("engine": "vllm", "gpu": "RTX PRO 6000 Blackwell", "tp": 4, "drafter_type": "mtp",
                                  "draft_tokens": 2, "target_model": "Qwen3.5-397B-A17B", "target_precision": "nvfp4",
                                  "context_len": 65536, "series": "{}")",
                               series));
        REQUIRE(read.points.size() == 1);
        return read.points[0];
    };
    const MeasuredPoint same = point("rtx6kpro-qwen35-397b/x"), own = point("s");
    CHECK(same.shared_prefix == 65536.0);
    CHECK(own.shared_prefix == 0.0);
    // And their tokens choose from fewer experts (treeline_fit expert).
    CHECK(same.expert_pool == 0.65);
    CHECK(own.expert_pool == 1.0);
    const auto setup = [](const MeasuredPoint& of) { return setup_of(of, parts(), sim::CostMode::roofline, 2.0); };
    CHECK(setup(same).shared_prefix == 65536.0);
    CHECK(setup(same).expert_pool == 0.65);
    CHECK(problems_of(setup(same)).empty());
    const auto memory = [&](const MeasuredPoint& of) {
        return sim::evaluate(sim::compile_round(setup(of)), {0, 32.0, of.context}).memory;
    };
    CHECK(memory(same) < memory(own));
}

TEST_CASE("a build that sends fewer rows to vector units than its engine does") {
    const auto point = [](const char* series) {
        const MeasuredPoints read =
            row_of(fmt::format(R"("engine": "llama.cpp", "gpu": "L4", "n_gpus": 1, "drafter_type": "mtp", "draft_tokens": 5,
                                  "target_model": "Qwen3.5-27B", "target_precision": "Q4_K_M", "series": "{}")",
                               series));
        REQUIRE(read.points.size() == 1);
        return read.points[0];
    };
    const auto rows = [](const MeasuredPoint& of) {
        const sim::RoundSetup setup = setup_of(of, parts(), sim::CostMode::roofline, 2.0);
        const std::vector<sim::RowCurve>& curves = setup.platform.stack.kernels.row_curves;
        const auto on_vector_units =
            std::find_if(curves.begin(), curves.end(), [](const sim::RowCurve& curve) { return curve.few_rows_speed > 0.0; });
        REQUIRE(on_vector_units != curves.end());
        return on_vector_units->few_rows;
    };
    CHECK(rows(point("hanxiao-l4/mtp5-mmq")) == 2.0);
    CHECK(rows(point("s")) == 8.0);  // MMVQ_MAX_BATCH_SIZE
}

TEST_CASE("an engine that ran a draft model of another vocabulary translates its tokens") {
    const auto drafter = [](const char* target, const char* draft) {
        const MeasuredPoints read = row_of(fmt::format(
            R"("engine": "vllm", "gpu": "RTX 3090 24GB", "n_gpus": 1, "drafter_type": "draft model", "draft_tokens": 4,
               "target_model": "{}", "drafter_model": "{}", "target_precision": "bf16", "series": "s")",
            target, draft));
        REQUIRE(read.points.size() == 1);
        const sim::RoundSetup setup = setup_of(read.points[0], parts(), sim::CostMode::roofline, 2.0);
        CHECK(sim::problems_of(setup).empty());
        return std::get<sim::IndependentDrafter>(setup.drafter);
    };
    CHECK(drafter("Mistral-7B-v0.3", "Qwen3-0.6B").translated);
    CHECK_FALSE(drafter("Qwen3-4B", "Qwen3-0.6B").translated);
}

TEST_CASE("an engine that ran fewer requests at once with speculation than without") {
    const auto point = [](const char* series) {
        const MeasuredPoints read =
            row_of(fmt::format(R"("engine": "sglang", "gpu": "H100 80GB", "tp": 1, "drafter_type": "eagle3", "draft_tokens": 3,
                                  "target_model": "Qwen3-8B", "series": "{}")",
                               series));
        REQUIRE(read.points.size() == 1);
        return read.points[0];
    };
    MeasuredPoint capped = point("llminfbench/sglang/eagle3");
    CHECK(capped.most_requests == 48.0);
    CHECK(point("s").most_requests == sim::unlimited);
    const auto speculative = [&](double batch, double most_requests) {
        capped.batch = batch;
        capped.most_requests = most_requests;
        return SpeculativePoint(capped, parts(), sim::CostMode::roofline);
    };
    SpeculativePoint at_32 = speculative(32.0, 48.0), same = speculative(32.0, 64.0);
    CHECK(at_32.speed_up(2.0) == same.speed_up(2.0));
    // A token takes less time among 48 than among 64, with the same plain decoding beside it.
    SpeculativePoint at_64 = speculative(64.0, 48.0), all = speculative(64.0, 64.0);
    CHECK(at_64.speed_up(2.0) > all.speed_up(2.0));
    CHECK(at_64.times().plain == all.times().plain);
}

TEST_CASE("devices that a row does not count, and its source does") {
    const auto tensor = [](const char* series, const char* stated) {
        const MeasuredPoints read =
            row_of(fmt::format(R"("engine": "sglang", "gpu": "H200", "drafter_type": "eagle3", "draft_tokens": 3,
                                  "target_model": "Qwen3-30B-A3B-Instruct-2507", "series": "{}"{})",
                               series, stated));
        REQUIRE(read.points.size() == 1);
        return read.points[0].cut.tensor;
    };
    const char* series = "specforge/Qwen3-30B-A3B-Instruct-2507/gpqa/x";
    CHECK(tensor(series, "") == 4.0);
    CHECK(tensor(series, R"(, "tp": 2)") == 2.0);
    CHECK(tensor("s", "") == 1.0);
}

TEST_CASE("a checkpoint in several formats, by the words of a source") {
    const MeasuredPoints read = row_of(
        R"("engine": "vllm", "gpu": "DGX Spark", "tp": 1, "drafter_type": "dflash2", "draft_tokens": 7,
           "target_model": "Qwen3.8-27B", "series": "dflash2-gb10/n7")");
    REQUIRE(read.points.size() == 1);
    const MeasuredPoint& point = read.points[0];
    CHECK(point.assumed.front() == "model");  // which the map does not name
    CHECK(std::find(point.assumed.begin(), point.assumed.end(), "format") == point.assumed.end());
    CHECK(point.precision.weights.format == sim::NumberFormat::fp4);
    CHECK(point.precision.kv_cache.format == sim::NumberFormat::fp8);
    CHECK(point.precision.embeddings.format == sim::NumberFormat::bf16);
    // Its repository: 5.5 bits a weight, about 24 GB with the vision tower and the prediction layer.
    const sim::Model& model = parts().models.at(point.model);
    const double gigabytes = sim::stored_weights(model, point.precision, 1.0).value() / 1e9;
    CHECK(gigabytes > 21.0);
    CHECK(gigabytes < 24.0);
    const double tables = 2.0 * static_cast<double>(model.vocabulary_size * model.width);  // embedding and LM head
    const double linear = static_cast<double>(sim::parameter_count(model)) - tables;
    CHECK(8.0 * (1e9 * gigabytes - 2.0 * tables) / linear == Approx(5.5).margin(0.1));
}

TEST_CASE("an engine without a kernel for sparse attention reads every cached token, where its source says so") {
    const auto reads = [](const std::string& series) {
        const MeasuredPoints read =
            row_of(R"("engine": "sglang", "gpu": "RTX PRO 6000 Blackwell", "tp": 8, "drafter_type": "mtp",
                                              "draft_tokens": 3, "target_model": "GLM-5", "series": ")" +
                   series + "\"");
        REQUIRE(read.points.size() == 1);
        const sim::RoundSetup setup = setup_of(read.points[0], parts(), sim::CostMode::roofline, 2.0);
        const auto verify = [&](double context) {
            return sim::evaluate(sim::compile_round(setup), {1, 4.0, context}).verify.value();
        };
        return std::pair(verify(4096.0) - verify(2048.0), verify(65536.0) - verify(2048.0));
    };
    const auto [dense_near, dense_far] = reads("rtx6kpro-glm5-sglang/cutlass/ctx0");
    const auto [sparse_near, sparse_far] = reads("somebody/glm-5");
    // 31 times the tokens take as much longer; of the sparse attention only the small heads that choose read them.
    CHECK(dense_far == Approx(31.0 * dense_near).epsilon(0.05));
    CHECK(dense_far > 1.5 * sparse_far);
}

TEST_CASE("vLLM's accept lengths of look-ups are those of rounds that drafted") {
    const auto row = [](const char* drafter, const char* length) {
        return fmt::format(R"(, "speedup": 1.2, "draft_tokens": 3, "batch_or_concurrency": 128, "tp": 1, "drafter_type": "{}",
                              "{}": 1.33)",
                           drafter, length);
    };
    const auto point = [&](const char* drafter, const char* length) {
        std::string text = speculation(row(drafter, length));
        const std::string eagle = R"("drafter_type": "eagle3",)";
        REQUIRE(text.find(eagle) != std::string::npos);
        text.erase(text.find(eagle), eagle.size());
        std::vector<std::string> notes;
        const MeasuredPoints read = points_of(requests::read_speculation_rows(written("lookup.json", text), notes), parts());
        REQUIRE(read.points.size() == 1);
        return read.points[0];
    };
    CHECK_FALSE(point("ngram", "accept_length").accept_length);
    CHECK(point("ngram", "accept_length_derived").accept_length == 1.33);
    CHECK(point("eagle3", "accept_length").accept_length == 1.33);
    // A third of a token for each round is 0.23 of the rounds with 1.43 tokens each: most verify one token alone.
    MeasuredPoint always = point("ngram", "accept_length_derived");
    sim::RoundSetup setup = setup_of(always, parts(), sim::CostMode::roofline, 1.33);
    const auto& lookup = std::get<sim::NgramDrafter>(setup.drafter);
    CHECK(lookup.hit_rate == Approx(0.26).epsilon(0.05));
    const sim::CompiledRound round = sim::compile_round(setup);
    CHECK(sim::evaluate(round, {1, 1.0, 512.0}).accept_length == Approx(1.33).epsilon(1e-4));
    std::get<sim::NgramDrafter>(setup.drafter).hit_rate = 1.0;
    CHECK(sim::evaluate(sim::compile_round(setup), {1, 128.0, 512.0}).verify > sim::evaluate(round, {1, 128.0, 512.0}).verify);
}

TEST_CASE("a draft length that a row leaves open is its engine's or drafter's default, and the point says so") {
    const auto point = [](const std::string& fields) {
        const MeasuredPoints read = row_of(fields);
        INFO((read.left_out.empty() ? "" : read.left_out[0].reason + ": " + read.left_out[0].detail));
        REQUIRE(read.points.size() == 1);
        return read.points.front();
    };
    const std::string sglang =
        R"("engine": "sglang", "gpu": "H100", "drafter_type": "EAGLE3", "series": "s", "target_model": )";
    // SGLang's choices: 5 steps, top-k 4 and 8 tokens for Llama; 3 steps and a chain for most others.
    const MeasuredPoint llama = point(sglang + R"("Llama-3.1-8B")");
    CHECK(llama.speculation->label == "sglang 5,4,8");
    CHECK(llama.assumed == draft_length);
    CHECK(point(sglang + R"("Qwen3-8B")").speculation->label == "chain 3");
    const MeasuredPoint stated = point(sglang + R"("Qwen3-8B", "draft_tokens": 5)");
    CHECK(stated.speculation->label == "chain 5");
    CHECK(stated.assumed.empty());
    CHECK(
        point(R"("engine": "llama.cpp", "gpu": "RTX 4090", "drafter_type": "MTP", "series": "s", "target_model": "Qwen3.5-27B",
                   "target_precision": "Q4_K_M")")
            .speculation->label == "chain 3");
    const MeasuredPoint medusa = point(
        R"x("engine": "hf transformers (Spec-Bench harness)", "gpu": "A100 80GB", "drafter_type": "Medusa", "series": "s",
            "target_model": "Vicuna-7B-v1.3")x");
    CHECK(draft_tokens_of(medusa) == 63.0);
    CHECK(std::get<sim::MedusaDrafter>(medusa.drafter).heads == 4);
    // DSpark of DeepSeek-V4-Flash drafts blocks of five with layers of its own kind.
    const MeasuredPoint dspark =
        point(R"("engine": "sglang", "gpu": "H200", "n_gpus": 2, "drafter_type": "dspark", "series": "s",
                 "target_model": "DeepSeek-V4-Flash")");
    CHECK(dspark.speculation->label == "chain 5");
    CHECK(std::get<sim::ParallelDrafter>(dspark.drafter).layers == 3);
}

TEST_CASE("what a source says beside its table holds for its rows alone") {
    const std::string fields = R"("engine": "vllm", "gpu": "not stated", "drafter_type": "eagle3", "target_model": "Qwen3-32B",
                                  "series": )";
    const MeasuredPoints known = row_of(fields + R"("angelslim-eagle3/Qwen3-32B")");
    REQUIRE(known.points.size() == 1);
    CHECK(known.points[0].device == "h20");
    CHECK(known.points[0].stack == "vllm-0.10");
    CHECK(known.points[0].speculation->label == "chain 2");
    CHECK(known.points[0].output_tokens == 1024.0);
    CHECK(known.points[0].assumed.empty());  // its source says so
    const MeasuredPoints other = row_of(fields + R"("somebody/Qwen3-32B")");
    REQUIRE(other.left_out.size() == 1);
    CHECK(other.left_out[0].reason == "the device is not stated");
    // A device that a row states is kept.
    const MeasuredPoints stated = row_of(
        R"("engine": "vllm", "gpu": "H100", "drafter_type": "eagle3", "target_model": "Qwen3-32B", "series": "angelslim-eagle3/x")");
    REQUIRE(stated.points.size() == 1);
    CHECK(stated.points[0].device == "h100-sxm");
}

TEST_CASE("conditions that say nothing or state no source are answered with a sentence each") {
    std::ifstream file(testing::source_folder() / "validation" / "serving" / "names.json");
    nlohmann::ordered_json table = nlohmann::ordered_json::parse(file);
    const auto problem = [&](const nlohmann::ordered_json& condition) -> std::string {
        table["conditions"] = {condition};
        try {
            requests::read_name_table(written("names.json", table.dump()));
        } catch (const text::InputError& error) {
            return error.problems().size() == 1 ? error.problems().front() : "several problems";
        }
        return "";
    };
    CHECK(problem({{"engine", {"vllm*"}}, {"set", {{"draft_tokens", 3}}}, {"source", "s"}, {"kind", "assumed"}}).empty());
    CHECK_THAT(problem({{"engine", {"vllm*"}}, {"source", "s"}, {"kind", "assumed"}}),
               Catch::Contains("conditions[0].set: must say what holds: device, engine, version"));
    CHECK_THAT(problem({{"engine", {"vllm*"}}, {"set", {{"draft_tokens", 3}}}, {"kind", "assumed"}}),
               Catch::Contains("conditions[0].source"));
    CHECK_THAT(problem({{"motor", {"vllm*"}}, {"set", {{"draft_tokens", 3}}}, {"source", "s"}, {"kind", "assumed"}}),
               Catch::Contains("motor"));
}

TEST_CASE("builds for one device are an engine of their own, and their all-reduces run where their commands ask for them") {
    const auto place = [](const char* series, const char* version, const char* device = "RTX PRO 6000 Blackwell") {
        const MeasuredPoints read = row_of(fmt::format(
            R"("engine": "vllm", "engine_version": "{}", "gpu": "{}", "drafter_type": "mtp", "draft_tokens": 3, "target_model": "GLM-5.1",
               "target_precision": "nvfp4", "series": "{}")",
            version, device, series));
        REQUIRE(read.points.size() == 1);
        return std::pair(read.points[0].stack, read.points[0].interconnect);
    };
    const char* build = "fork glm51-kimi-20260509";
    CHECK(place("rtx6kpro-glm51-0508/dcp1/ctx0", build) == std::pair<std::string, std::string>("vllm-sm120", "pcie-vllm-56k"));
    CHECK(place("rtx6kpro-glm51-v2/dcp4/ctx0", build).second == "pcie-vllm-8-rows");
    CHECK(place("rtx6kpro-kimi26-v2/dcp4/ctx0", build).second == "pcie-vllm");
    CHECK(place("rtx6kpro-glm51-0508/dcp2/ctx0", build) == std::pair<std::string, std::string>("vllm-sm120", ""));
    CHECK(place("others/dcp1/ctx0", "0.19.0") == std::pair<std::string, std::string>("vllm-0.14", ""));
    CHECK(place("rtx6kpro-kimi26-v4/dcp1/ctx0", build, "B200").second.empty());  // which has no such link
}

TEST_CASE("rows that name kernels of experts in their format or series run with those") {
    const auto kernels = [](const char* series, const char* format, const char* model = "Qwen3-30B-A3B") {
        std::string text = speculation(fmt::format(R"(, "speedup": 1.2, "draft_tokens": 3, "batch_or_concurrency": 8, "tp": 1,
                                                     "input_len": 512, "output_len": 64, "target_precision": "{}")",
                                                   format));
        text.replace(text.find(R"("series": "s")"), 13, fmt::format(R"("series": "{}")", series));
        text.replace(text.find("Llama-3.1-8B-Instruct"), 21, model);
        std::vector<std::string> notes;
        const MeasuredPoints read = points_of(requests::read_speculation_rows(written("kernels.json", text), notes), parts());
        REQUIRE(read.points.size() == 1);
        return read.points[0].expert_kernels;
    };
    CHECK(kernels("s", "nvfp4").empty());
    CHECK(kernels("s", "nvfp4 (b12x W4A16 MoE)") == "b12x-w4a16");
    CHECK(kernels("s", "nvfp4 (b12x MoE)") == "b12x");
    CHECK(kernels("glm5/b12x/ctx0", "nvfp4") == "b12x");
    // Where they do not serve the experts, the row is priced as the engine runs them.
    CHECK(kernels("glm5/b12x/ctx0", "fp8").empty());
    CHECK(kernels("qwen/b12x/ctx0", "nvfp4", "Qwen3-8B").empty());
    for (const ConditionEntry& condition : parts().names.conditions) {
        CHECK((condition.expert_kernels.empty() || parts().expert_kernels.contains(condition.expert_kernels)));
        CHECK((condition.attention_kernels.empty() || parts().attention_kernels.contains(condition.attention_kernels)));
    }
}

}  // namespace row_conditions_test
