// Are measured rows read strictly, and do their words mean what they should?
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "requests/validate/measured_rows_reader.h"
#include "requests/validate/name_table_reader.h"
#include "requests/validate/serving_parts.h"
#include "sim/round.h"
#include "source_folder.h"
#include "text/input_error.h"
#include "validation/serving/points.h"
#include "validation/serving/predict.h"

using namespace treeline;
using namespace treeline::validation;

namespace {

namespace fs = std::filesystem;

const ServingParts& parts() {
    static const ServingParts all = [] {
        std::vector<std::string> notes;
        return requests::read_serving_parts(requests::catalogue_in(testing::source_folder(), "test"), {}, notes);
    }();
    return all;
}

fs::path written(const std::string& name, const std::string& text) {
    const fs::path path = fs::temp_directory_path() / ("treeline-" + name);
    std::ofstream(path) << text;
    return path;
}

std::string model_of(const std::string& text) {
    const Mapped<std::string> found = model_named(parts(), text);
    return std::holds_alternative<std::string>(found) ? std::get<std::string>(found) : std::get<Unmapped>(found).reason;
}

std::string device_of(const std::string& text) {
    const Mapped<std::string> found = device_named(parts(), text);
    return std::holds_alternative<std::string>(found) ? std::get<std::string>(found) : std::get<Unmapped>(found).reason;
}

/// Bytes of a weight of linear layers, and of experts.
std::pair<double, double> weight_bytes_of(const std::string& model, const std::string& format) {
    const sim::Precision precision = precision_named(parts(), model, format);
    return {precision.weights.per_element().value(), precision.experts.per_element().value()};
}

const std::string serving_header = "id,backend,model,system,precision,isl,osl,batch_size,tp,ttft_ms,tpot_ms\n";

MeasuredPoints points_in(const std::string& csv) {
    std::vector<std::string> notes;
    return points_of(requests::read_serving_rows(written("rows.csv", csv), notes), parts());
}

std::string speculation(const std::string& more) {
    return R"([{"id": "a", "series": "s", "engine": "vllm", "target_model": "Llama-3.1-8B-Instruct", "drafter_type": "eagle3",
               "gpu": "H100 80GB", "metric": "tpot_ms", "is_pair": true, "concurrency_kind": "concurrency")" +
           more + "}]";
}

MeasuredPoints speculative_points_in(const std::string& more) {
    std::vector<std::string> notes;
    return points_of(requests::read_speculation_rows(written("rows.json", speculation(more)), notes), parts());
}

}  // namespace

TEST_CASE("models are found by what people call them") {
    CHECK(model_of("meta-llama/Llama-3.1-8B-Instruct") == "llama-3.1-8b");
    CHECK(model_of("nvidia/Llama-3.1-8B-Instruct-FP8") == "llama-3.1-8b");
    CHECK(model_of("Meta-Llama-3.1-70B") == "llama-3.1-70b");
    CHECK(model_of("Qwen3-235B-A22B-Instruct-2507") == "qwen3-235b-a22b");
    CHECK(model_of("Qwen3-8B-Thinking") == "qwen3-8b");
    CHECK(model_of("DeepSeek-R1-0528") == "deepseek-r1");
    CHECK(model_of("GLM-5.1 (NVFP4, lukealonso/GLM-5.1-NVFP4-MTP)") == "glm-5");
    CHECK(model_of("amd/Kimi-K2.5-MXFP4") == "kimi-k2.6");
    CHECK(model_of("Qwen3.8-27B + LoRA") == "qwen3.5-27b");
    CHECK(model_of("nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-NVFP4 (hybrid Mamba-2 MoE)") == "nemotron-3-nano-30b-a3b");
    CHECK(model_of("not kept") == "the target model is not stated");
    CHECK(model_of("DeepSeek-V4-Pro-0813") == "deepseek-v4-pro");
    CHECK(model_of("nvidia/DeepSeek-V4-Flash-NVFP4") == "deepseek-v4-flash");
    CHECK(model_of("DeepSeek-V4.1 (MXFP4)") == "an architecture that is not modelled");
    CHECK(model_of("meta-llama/Llama-4-Maverick-17B-128E-Instruct") == "llama-4-maverick");
    CHECK(model_of("NVIDIA-Nemotron-3-Super-120B-A12B-BF16") == "nemotron-3-super-120b-a12b");
    CHECK(model_of("google/gemma-4-12B-it") == "gemma-4-12b");
    CHECK(model_of("Unheard-Of-7B") == "no description of the target model");
    CHECK(model_of("deepseek-ai/DeepSeek-R1-Distill-Llama-8B") == "llama-3.1-8b");
    CHECK(model_of("mistralai/Mixtral-8x7B-Instruct-v0.1") == "mixtral-8x7b");
    // A version is not a date: V3.2 has an indexer that V3 lacks.
    CHECK(model_of("deepseek-ai/DeepSeek-V3.2") == "deepseek-v3.2");
}

TEST_CASE("devices and engines are found by what people call them") {
    CHECK(device_of("h100_sxm") == "h100-sxm");
    CHECK(device_of("H100 80GB") == "h100-sxm");
    CHECK(device_of("H100 NVL") == "h100-nvl");
    CHECK(device_of("8x NVIDIA A100-SXM4-80GB") == "a100-sxm-80");
    CHECK(device_of("NVIDIA GeForce RTX 4090") == "rtx-4090");
    CHECK(device_of("RTX PRO 6000 Blackwell Max-Q 96GB") == "rtx-pro-6000");
    CHECK(device_of("H20 (8x H20 stated only for the live-traffic figure of the same page set)") == "h20");
    CHECK(device_of("RTX 3090 24GB (Q4_K_M, 131K, 250W)") == "rtx-3090");
    CHECK(device_of("GB10 (4)") == "dgx-spark");
    CHECK(device_of("see thread") == "the device is not stated");
    CHECK(device_of("Apple M5 Max 128GB") == "m5-max");
    CHECK(device_of("NVIDIA GeForce RTX 3080 10GB") == "rtx-3080");
    CHECK(device_of("2x RTX 5060 Ti 16GB") == "rtx-5060-ti-16");
    CHECK(device_of("Ascend Atlas 800T A2") == "ascend-910b");
    CHECK(device_of("RTX 5080 16GB + RTX 3090 24GB (TP)") == "different cards in one machine");
    CHECK(device_of("Trainium") == "no description of the device");
    CHECK(std::get<std::string>(stack_named(parts(), "vllm or sglang (not stated)", "")) == "vllm");
    CHECK(std::get<std::string>(stack_named(parts(), "trtllm", "")) == "tensorrt-llm");
    CHECK(std::get<std::string>(stack_named(parts(), "vllm-ascend", "")) == "cuda-graph");
    CHECK(std::get<std::string>(stack_named(parts(), "not stated", "")) == "cuda-graph");
    CHECK(std::get<Unmapped>(stack_named(parts(), "an engine of their own", "")).reason == "no stack of the engine");
}

TEST_CASE("a version of an engine picks the newest stack that is not newer") {
    ServingParts some = parts();
    const sim::Stack any = some.stacks.at("vllm");
    std::erase_if(some.stacks, [](const auto& named) { return named.first.starts_with("vllm-"); });
    for (const char* name : {"vllm-0.10", "vllm-0.18"}) {
        some.stacks[name] = any;
    }
    const auto stack = [&](const std::string& version) { return std::get<std::string>(stack_named(some, "vllm", version)); };
    CHECK(stack("0.10.1") == "vllm-0.10");
    CHECK(stack("v0.19.0 (rocm)") == "vllm-0.18");
    CHECK(stack("0.17.0rc1") == "vllm-0.10");
    CHECK(stack("0.6.2") == "vllm-0.10");  // older than all: the oldest
    CHECK(stack("") == "vllm");
    CHECK(stack("main 73b8394") == "vllm");
    CHECK(stack("2026-03 nightly") == "vllm");
}

TEST_CASE("formats are words of a row") {
    CHECK(weight_bytes_of("llama-3.1-8b", "") == std::pair(2.0, 2.0));
    CHECK(weight_bytes_of("llama-3.1-8b", "fp8 fp8_block") == std::pair(1.0, 1.0));
    // NVFP4: 4 bits and a scale of 8 for 16 elements. Experts alone are in it where checkpoints leave attention in 16 bits.
    CHECK(weight_bytes_of("llama-3.1-70b", "NVFP4") == std::pair(0.5625, 0.5625));
    CHECK(weight_bytes_of("glm-5", "nvfp4 (b12x W4A16 MoE), fp8 KV") == std::pair(2.0, 0.5625));
    CHECK(weight_bytes_of("qwen3.5-27b", "nvfp4").first == 0.5625);  // no experts: all of its layers
    // Kimi's own checkpoint: int4 experts with a 16-bit scale for 32 elements, the rest in bf16.
    CHECK(weight_bytes_of("kimi-k2.6", "int4 (compressed-tensors W4A16), fp8 KV") == std::pair(2.0, 0.5625));
    CHECK(precision_named(parts(), "kimi-k2.6", "int4, fp8 KV").kv_cache.format == sim::NumberFormat::fp8);
    CHECK(weight_bytes_of("llama-3.1-8b", "fp8 KV") == std::pair(2.0, 2.0));
    // (4 + 24/32) bits; the cache's format is another one.
    CHECK(weight_bytes_of("qwen3.5-27b", "UD-Q4_K_XL, q8_0 KV").first == 0.59375);
    CHECK(precision_named(parts(), "qwen3.5-27b", "UD-Q4_K_XL, q8_0 KV").kv_cache.format == sim::NumberFormat::int8);
    CHECK(weight_bytes_of("qwen3.5-27b", "Q8_0, q4_0 KV, 131K").first == 1.0625);
}

TEST_CASE("a run becomes the design point that the product would price") {
    const MeasuredPoints read =
        points_in(serving_header + "x,vllm,meta-llama/Llama-3.1-8B-Instruct,h100_sxm,bf16,1000,500,8,1,50,9.5\n");
    REQUIRE(read.points.size() == 1);
    const MeasuredPoint& point = read.points[0];
    CHECK(point.measured == 9.5e-3);
    CHECK(point.context == 1250.0);  // the prompt and half of the answer
    sim::RoundSetup setup;
    setup.target = parts().models.at("llama-3.1-8b");
    setup.precision = setup.target.precision;
    setup.platform.device = parts().devices.at("h100-sxm");
    setup.platform.stack = parts().stacks.at("vllm-0.10");  // the row states no version
    setup.prompt_tokens = 1000.0;
    setup.output_tokens = 500.0;
    CHECK(predicted_time_per_token(point, parts(), sim::CostMode::roofline) ==
          sim::evaluate(sim::compile_round(setup), {0, 8.0, 1250.0}).time_per_token.value());
}

TEST_CASE("rules leave rows out and say why") {
    const std::string rows = serving_header +
                             "queued,vllm,Qwen/Qwen3-32B,h100_sxm,fp8,1000,500,8,1,2001,9.5\n"
                             // 64·(2·31 G·1,064)/(64·0.1 ms + 1 ms) is 570 PFLOP/s: more than any H100 has.
                             "cached,vllm,Qwen/Qwen3-32B,h100_sxm,fp8,1000,64,64,1,1,0.1\n"
                             "unknown,vllm,Some/Model,h100_sxm,fp8,1000,500,8,1,50,9.5\n";
    const MeasuredPoints read = points_in(rows);
    REQUIRE(read.points.empty());
    REQUIRE(read.left_out.size() == 3);
    CHECK(read.left_out[0].reason == "no description of the target model");
    CHECK_FALSE(read.left_out[0].point);
    CHECK(read.left_out[1].reason == "requests queued (time to first token above 2 s)");
    CHECK(read.left_out[1].point);
    CHECK(read.left_out[2].reason == "prompts were not all computed (a prefix cache)");
}

TEST_CASE("mixtures with a faster twin are left out with all of their deployment, whatever is predicted") {
    const std::string header =
        "id,backend,backend_version,model,system,precision,moe_precision,isl,osl,batch_size,tp,attention_dp,moe_tp,moe_ep,"
        "ttft_ms,tpot_ms\n";
    const auto row = [](const char* version, int batch, double tpot) {
        return "r,sglang," + std::string(version) + ",deepseek-ai/DeepSeek-R1,h200_sxm,fp8,fp8,1024,1024," +
               std::to_string(batch) + ",8,1,8,1,50," + std::to_string(tpot) + "\n";
    };
    // At 4 users 1.3 times as fast as the other version; at 64 no faster.
    const MeasuredPoints read =
        points_in(header + row("1.0", 4, 13.0) + row("1.0", 64, 30.0) + row("2.0", 4, 10.0) + row("2.0", 64, 30.5));
    REQUIRE(read.points.size() == 2);
    CHECK(read.points[0].row == 0);
    CHECK(read.points[1].row == 1);
    REQUIRE(read.left_out.size() == 2);
    CHECK(read.left_out[1].reason == "possibly with multi-token prediction (a deployment with a faster twin)");
}

TEST_CASE("a model of the same layers is a twin, and what is suspected on one device is on another") {
    const std::string header =
        "id,backend,backend_version,model,system,precision,moe_precision,isl,osl,batch_size,tp,attention_dp,moe_tp,moe_ep,"
        "ttft_ms,tpot_ms\n";
    const auto row = [](const char* model, const char* device, double tpot) {
        return "r,trtllm,1.1,deepseek-ai/" + std::string(model) + "," + device + ",fp8,fp8,1024,1024,4,8,1,8,1,50," +
               std::to_string(tpot) + "\n";
    };
    const std::string twins = row("DeepSeek-V3", "b200_sxm", 14.0) + row("DeepSeek-R1", "b200_sxm", 7.0);
    const MeasuredPoints read = points_in(header + twins + row("DeepSeek-R1", "h200_sxm", 8.0));
    REQUIRE(read.points.size() == 1);
    CHECK(read.points[0].row == 0);
    CHECK(read.left_out.size() == 2);
    // The same run under two names is one run.
    const MeasuredPoints listed_twice =
        points_in(header + row("DeepSeek-V3", "b200_sxm", 14.0) + row("DeepSeek-R1", "b200_sxm", 14.0));
    REQUIRE(listed_twice.left_out.size() == 1);
    CHECK(listed_twice.left_out[0].reason == "duplicate");
}

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

TEST_CASE("a run that is listed rounded, or under a shorter name of its build, is one run") {
    const std::string header =
        "id,backend,backend_version,model,system,precision,isl,osl,batch_size,tp,attention_dp,moe_tp,moe_ep,ttft_ms,tpot_ms\n";
    const std::string rest = ",Qwen/Qwen3.5-397B-A17B,b200_sxm,bf16,1024,1024,4,8,1,8,1,";
    const MeasuredPoints read = points_in(header + "a,sglang,nightly-dev-20260216-d3bae71e" + rest + "231.8479,8.06521\n" +
                                          "b,sglang,nightly-dev" + rest + "231.85,8.07\n");
    CHECK(read.points.size() == 1);
    REQUIRE(read.left_out.size() == 1);
    CHECK(read.left_out[0].reason == "duplicate");
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

TEST_CASE("ranks of rows become cuts, read as their README says") {
    const std::string header =
        "id,backend,model,system,precision,moe_precision,isl,osl,batch_size,tp,pp,attention_dp,moe_tp,moe_ep,tpot_ms\n";
    const auto reason = [&](const std::string& ranks) {
        const MeasuredPoints read =
            points_in(header + "r,sglang,deepseek-ai/DeepSeek-R1,h200_sxm,fp8,fp8,1024,1024,8," + ranks + ",30\n");
        return read.left_out.empty() ? "" : read.left_out[0].reason;
    };
    const auto cut = [&](const std::string& ranks) {
        const MeasuredPoints read =
            points_in(header + "r,sglang,deepseek-ai/DeepSeek-R1,h200_sxm,fp8,fp8,1024,1024,8," + ranks + ",30\n");
        REQUIRE(read.points.size() == 1);
        const MeasuredPoint& point = read.points[0];
        return fmt::format("{}; {} requests", text_of(point.cut.tensor, point.cut.parallel), point.batch);
    };
    CHECK(reason("8,1,1,8,1").empty());
    CHECK(cut("8,1,1,1,8") == "tensor 8, experts 8; 8 requests");
    // Eight groups of one rank, each with the eight requests of the row.
    CHECK(cut("1,1,8,1,8") == "attention data 8, experts 8; 64 requests");
    // The same with the square of the groups: a 64th of all requests a row.
    CHECK(cut("1,1,64,8,8") == "attention data 8, experts 8; 512 requests");
    CHECK(cut("4,1,4,1,16") == "tensor 4, experts 4; 32 requests");
    CHECK(cut("2,1,2,1,4") == "tensor 2, experts 2; 16 requests");
    CHECK(cut("64,1,1,8,8") == "tensor 8, experts 8; 8 requests");
    CHECK(cut("4,2,1,4,1") == "tensor 4, pipeline 2; 8 requests");
    CHECK(reason("8,1,,8,1") == "parallelism is not stated");
    CHECK(reason("8,1,1,4,1") == "parallelism of attention and experts disagrees");
}

TEST_CASE("a speculative row keeps its draft, accept length and lengths") {
    const MeasuredPoints read = speculative_points_in(
        R"(, "speedup": 1.5, "draft_tokens": 3, "accept_length": 2.5, "batch_or_concurrency": 16, "dataset": "GSM8K", "tp": 1)");
    REQUIRE(read.points.size() == 1);
    const MeasuredPoint& point = read.points[0];
    CHECK(point.speculation->label == "chain 3");
    CHECK(point.prompt_tokens == 94.0);
    CHECK(point.output_tokens == 165.0);
    SpeculativePoint speculative(point, parts(), sim::CostMode::roofline);
    const double speed_up = speculative.speed_up(2.5);
    CHECK(speed_up > 1.0);
    CHECK(speculative.accept_length_for(speed_up) == Approx(2.5).epsilon(1e-5));
    CHECK(speculative.accept_length_for(100.0) == 4.0);  // three drafts and the bonus token
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

TEST_CASE("trees of SGLang become trees") {
    const MeasuredPoints read = speculative_points_in(
        R"(, "speedup": 1.5, "tree": {"steps": 3, "topk": 4, "num_draft_tokens": 22}, "accept_length": 3, "batch_or_concurrency": 1)");
    REQUIRE(read.left_out.size() == 1);
    CHECK(read.left_out[0].reason == "cannot be priced");  // vLLM's stack verifies chains alone
    const std::string text = speculation(
        R"(, "speedup": 1.5, "tree": {"steps": 3, "topk": 4, "num_draft_tokens": 22}, "accept_length": 3, "batch_or_concurrency": 1)");
    std::string of_sglang = text;
    of_sglang.replace(of_sglang.find("\"vllm\""), 6, "\"sglang\"");
    std::vector<std::string> notes;
    const MeasuredPoints tree = points_of(requests::read_speculation_rows(written("tree.json", of_sglang), notes), parts());
    REQUIRE(tree.points.size() == 1);
    CHECK(draft_depth(tree.points[0]) == 3.0);
    SpeculativePoint speculative(tree.points[0], parts(), sim::CostMode::roofline);
    CHECK(speculative.accept_length_for(speculative.speed_up(3.0)) == Approx(3.0).epsilon(1e-5));
}

TEST_CASE("a run faster than its checkpoint can be read was in another format") {
    // 16.1 GB of bf16 weights, 90 % of them without the embedding, take 4.3 ms at the 3.35 TB/s of an H100.
    const std::string row =
        R"(, "speedup": 1.5, "draft_tokens": 3, "batch_or_concurrency": 1, "value_with": 1, "value_without": )";
    const MeasuredPoints wrong = speculative_points_in(row + R"(2.5, "target_precision": "bf16")");
    REQUIRE(wrong.left_out.size() == 1);
    CHECK(wrong.left_out.front().reason == "faster than its checkpoint can be read: the format is not stated");
    // Without a word of the format the widest one is assumed that can be read so fast: 8.0 GB in 2.5 ms, 4.5 GB in 1.5.
    const auto assumed = [&](const std::string& without) {
        const MeasuredPoints read = speculative_points_in(row + without);
        REQUIRE(read.points.size() == 1);
        CHECK(read.points[0].assumed == std::vector<std::string>{"format"});
        return read.points[0].precision.weights.format;
    };
    CHECK(assumed("2.5") == sim::NumberFormat::fp8);
    CHECK(assumed("1.5") == sim::NumberFormat::int4);
    CHECK(speculative_points_in(row + "0.5").left_out.size() == 1);
    CHECK(speculative_points_in(row + "6.5").points.front().assumed.empty());
    CHECK(speculative_points_in(row + R"(2.5, "target_precision": "fp8")").points.size() == 1);
}

namespace {

/// One row, every field but the metric's stated here.
MeasuredPoints row_of(const std::string& fields) {
    std::vector<std::string> notes;
    const std::string text =
        R"([{"id": "a", "is_pair": true, "metric": "tpot_ms", "speedup": 1.5, "batch_or_concurrency": 4,)" +
        std::string(R"("concurrency_kind": "concurrency", )") + fields + "}]";
    return points_of(requests::read_speculation_rows(written("row.json", text), notes), parts());
}

const std::vector<std::string> draft_length = {"draft length"};

}  // namespace

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
    CHECK(known.points[0].assumed == std::vector<std::string>{"draft length", "device"});
    const MeasuredPoints other = row_of(fields + R"("somebody/Qwen3-32B")");
    REQUIRE(other.left_out.size() == 1);
    CHECK(other.left_out[0].reason == "the device is not stated");
    // A device that a row states is kept.
    const MeasuredPoints stated = row_of(
        R"("engine": "vllm", "gpu": "H100", "drafter_type": "eagle3", "target_model": "Qwen3-32B", "series": "angelslim-eagle3/x")");
    REQUIRE(stated.points.size() == 1);
    CHECK(stated.points[0].device == "h100-sxm");
}

TEST_CASE("a policy that cuts drafts is priced as the best fixed number of them") {
    const std::string fields = R"("engine": "vllm", "gpu": "H100", "series": "s", "target_model": "Qwen3-8B", "draft_tokens": 7,
                                  "accept_length": 2.5, "drafter_type": )";
    const MeasuredPoints cut = row_of(fields + "\"dspark adaptive verification (max 7)\"");
    const MeasuredPoints whole = row_of(fields + R"("dspark")");
    REQUIRE(cut.points.size() == 1);
    REQUIRE(whole.points.size() == 1);
    CHECK(cut.points[0].adaptive);
    CHECK(cut.points[0].assumed == std::vector<std::string>{"verified tokens"});
    CHECK_FALSE(cut.points[0].accept_length);  // of the cut drafts
    MeasuredPoint busy = cut.points[0], fixed = whole.points[0];
    busy.batch = fixed.batch = 256.0;
    const double chosen = SpeculativePoint(busy, parts(), sim::CostMode::roofline).speed_up(2.5);
    CHECK(chosen > SpeculativePoint(fixed, parts(), sim::CostMode::roofline).speed_up(2.5));
    double best = 0.0;
    for (int k = 1; k <= 7; ++k) {
        MeasuredPoint shorter = fixed;
        shorter.speculation = sim::Speculation{sim::ChainShape{k}, sim::Verification::unrolled, "k"};
        const sim::Acceptance acceptance = sim::Acceptance::mean_length(2.5, 7.0);
        double length = 1.0;
        for (int i = 1; i <= k; ++i) {
            length += acceptance.position(i);
        }
        best = std::max(best, SpeculativePoint(shorter, parts(), sim::CostMode::roofline).speed_up(length));
    }
    CHECK(chosen == Approx(best).epsilon(1e-6));
}

TEST_CASE("of replicas one is priced, with its share of the requests") {
    const MeasuredPoints read =
        speculative_points_in(R"(, "speedup": 1.5, "draft_tokens": 3, "batch_or_concurrency": 32, "n_gpus": 8, "dp": 2)");
    REQUIRE(read.points.size() == 1);
    CHECK(read.points[0].batch == 16.0);
    CHECK(read.points[0].cut.tensor == 4.0);
}

TEST_CASE("decode context parallelism is a field, or a remark in the notes") {
    const std::string row = R"(, "speedup": 1.5, "draft_tokens": 3, "batch_or_concurrency": 1, "tp": 8)";
    const auto ranks = [&](const std::string& more) {
        const MeasuredPoints mapped = speculative_points_in(row + more);
        REQUIRE(mapped.points.size() == 1);
        return mapped.points.front().cut.parallel.context;
    };
    CHECK(ranks("") == 1.0);
    CHECK(ranks(R"(, "notes": "")") == 1.0);
    CHECK(ranks(R"(, "notes": "decode-context-parallel 8, custom all-reduce off")") == 8.0);
    CHECK(ranks(R"(, "dcp": 4)") == 4.0);
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
               Catch::Contains("conditions[0].set: must say what holds: device, version"));
    CHECK_THAT(problem({{"engine", {"vllm*"}}, {"set", {{"draft_tokens", 3}}}, {"kind", "assumed"}}),
               Catch::Contains("conditions[0].source"));
    CHECK_THAT(problem({{"motor", {"vllm*"}}, {"set", {{"draft_tokens", 3}}}, {"source", "s"}, {"kind", "assumed"}}),
               Catch::Contains("motor"));
}

TEST_CASE("bad files are answered with sentences that name file and row") {
    std::vector<std::string> notes;
    const auto problem_of = [&](const auto& read) -> std::string {
        try {
            read();
        } catch (const text::InputError& error) {
            return error.problems().front();
        }
        return "";
    };
    const fs::path missing = written("bad.csv", "id,backend,model,system,precision,isl,osl,batch_size,tp\n1,a,b,c,d,1,1,1,1\n");
    CHECK(problem_of([&] { requests::read_serving_rows(missing, notes); }) ==
          "treeline-bad.csv: the column \"tpot_ms\" is missing");
    const fs::path no_number =
        written("bad.csv", serving_header + "x,vllm,m,d,bf16,1000,500,8,1,50,9.5\ny,vllm,m,d,bf16,many,500,8,1,50,9.5\n");
    CHECK(problem_of([&] { requests::read_serving_rows(no_number, notes); }) ==
          "treeline-bad.csv: row 2 (line 3): isl: must be a number of at least 1, not \"many\"");
    const fs::path no_speed = written("bad.json", speculation(R"(, "speedup": "fast")"));
    CHECK(problem_of([&] {
              requests::read_speculation_rows(no_speed, notes);
          }).starts_with("treeline-bad.json: rows[0].speedup: "));
    const fs::path no_list = written("bad.json", "{}");
    CHECK(problem_of([&] { requests::read_speculation_rows(no_list, notes); }) ==
          "treeline-bad.json: must hold a list of rows in brackets");
    const fs::path further = written("more.json", speculation(R"(, "speedup": 1.1, "mood": "good")"));
    CHECK(requests::read_speculation_rows(further, notes).size() == 1);
    CHECK(notes.back() == "treeline-more.json: the field \"mood\" is not used (1 rows)");
}
