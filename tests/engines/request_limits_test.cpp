// Do the flags that are pasted let as many requests run at once as the prediction has?
#include <catch2/catch.hpp>

#include "engines/request_limits.h"
#include "recommendations.h"

namespace request_limits_test {

using namespace treeline;
using namespace treeline::testing;

namespace {

std::string flags_at(double requests, const std::string& engine, const std::string& device_name = "h100-sxm",
                     double groups = 1.0) {
    sweeps::Recommendation found =
        recommendation_of(sim::OneLayerDrafter{0, 2, sim::OneLayerKind::mtp}, 3, schedule_of({{1, 3}}, 512));
    found.settled = sweeps::traffic_from({{4.0, 1.0}, {requests, 1.0}}, {{2048.0, 1.0}});
    found.variants.front().setup.platform.device = device(device_name);
    found.variants.front().setup.platform.parallel.data = groups;
    return flags_for(found, engine).text;
}

bool says(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

}  // namespace

TEST_CASE("llama.cpp's slots are as many in its stacks as lint allows", "[engines]") {
    for (const char* stack : {"llama.cpp", "llama.cpp-cpu"}) {
        CHECK(platform("h100-sxm", stack).stack.serving.most_requests == static_cast<double>(engines::llama_cpp_slots));
    }
}

TEST_CASE("engines and their stacks state the same least compute capability", "[engines]") {
    for (const engines::Engine& engine : engines::newest_engines()) {
        INFO(engine.word);
        CHECK(platform("h100-sxm", engine.word).stack.least_capability == engine.least_capability);
    }
}

TEST_CASE("beyond an engine's own limit the flags raise it", "[engines]") {
    CHECK_FALSE(says(flags_at(48, "sglang"), "--max-running-requests"));
    CHECK(says(flags_at(49, "sglang"), " --max-running-requests 49"));
    CHECK_FALSE(says(flags_at(300, "vllm"), "--max-num-seqs"));
    CHECK(says(flags_at(1100, "vllm"), " --max-num-seqs 1100"));
    CHECK(says(flags_at(300, "vllm", "l40s"), " --max-num-seqs 300"));
    CHECK(says(flags_at(300, "vllm", "a100-sxm-80"), " --max-num-seqs 300"));
    CHECK_FALSE(says(flags_at(4, "llama.cpp"), "--parallel"));
    CHECK(says(flags_at(8, "llama.cpp"), " --parallel 8 --kv-unified"));
    CHECK_FALSE(says(flags_at(2048, "tensorrt-llm"), "max_batch_size"));
    CHECK(says(flags_at(3000, "tensorrt-llm"), "max_batch_size: 3000\n"));
}

TEST_CASE("a share of memory that is not the engine's default is told in its own words", "[engines]") {
    sweeps::Recommendation found = recommendation_of(sim::NgramDrafter{}, 3, schedule_of({{1, 3}}, 8));
    std::optional<double>& share = found.variants.front().setup.platform.memory_utilisation;
    share = 0.85;
    CHECK(says(flags_for(found, "vllm").text, "--gpu-memory-utilization 0.85 "));
    CHECK(says(flags_for(found, "sglang").text, "--mem-fraction-static 0.85 "));
    CHECK(says(flags_for(found, "tensorrt-llm").text, "kv_cache_config:\n  free_gpu_memory_fraction: 0.85\n"));
    CHECK_FALSE(says(flags_for(found, "llama.cpp").text, "0.85"));
    share = found.variants.front().setup.platform.stack.memory.memory_utilisation;
    CHECK_FALSE(says(flags_for(found, "vllm").text, "--gpu-memory-utilization"));
}

TEST_CASE("vLLM counts the requests of a data parallel replica, SGLang those of all", "[engines]") {
    CHECK_FALSE(says(flags_at(2000, "vllm", "h100-sxm", 2.0), "--max-num-seqs"));
    CHECK(says(flags_at(3001, "vllm", "h100-sxm", 2.0), " --max-num-seqs 1501"));
    CHECK(says(flags_at(100, "sglang", "h100-sxm", 2.0), " --max-running-requests 100"));
}

TEST_CASE("vLLM is told how long requests get where its cache has no room for the model's whole context", "[engines]") {
    sweeps::Recommendation found = recommendation_of(sim::NgramDrafter{}, 3, schedule_of({{1, 3}}, 8));
    found.traffic = sweeps::traffic_from({{4.0, 1.0}}, {{2000.0, 1.0}});
    found.variants.front().setup.target.max_context = 8192;
    found.variants.front().setup.prompt_tokens = 1800.0;
    found.variants.front().setup.output_tokens = 300.0;
    const auto flags = [&](double sequences, const char* engine) {
        found.capacity.drafting = sequences;
        found.capacity.context = 2000.0;
        return flags_for(found, engine).text;
    };
    CHECK(says(flags(3.0, "vllm"), " --max-model-len 3072"));  // 1,800 + 300 + 3, in steps of 1,024
    CHECK_FALSE(says(flags(5.0, "vllm"), "--max-model-len"));
    CHECK_FALSE(says(flags(3.0, "sglang"), "len"));
    // Decoding alone at a context of two whole steps: a round of three drafts and one more token has to fit.
    found.variants.front().setup.prompt_tokens = found.variants.front().setup.output_tokens = 0.0;
    found.traffic = sweeps::traffic_from({{4.0, 1.0}}, {{2048.0, 1.0}});
    CHECK(says(flags(3.0, "vllm"), " --max-model-len 3072"));
    found.variants.front().setup.prompt_tokens = 1800.0;
    found.variants.front().setup.output_tokens = 300.0;
    found.variants.front().setup.target.max_context.reset();
    CHECK_FALSE(says(flags(3.0, "vllm"), "--max-model-len"));
    // llama.cpp's slots share one cache.
    found.settled = sweeps::traffic_from({{4.0, 1.0}}, {{2000.0, 1.0}});
    CHECK(says(flags(3.0, "llama.cpp"), " --ctx-size 9216"));  // 4 requests of 2,103
}

TEST_CASE("budgets and caches in another format than the checkpoint's are written", "[engines]") {
    sweeps::Recommendation found = recommendation_of(sim::NgramDrafter{}, 3, schedule_of({{1, 3}}, 8));
    sim::RoundSetup& setup = found.variants.front().setup;
    setup.precision.kv_cache = sim::Storage{sim::NumberFormat::fp8};
    setup.platform.stack.serving.states_budget = true;
    setup.platform.stack.serving.step_tokens = 4096.0;
    CHECK(says(flags_for(found, "vllm").text, " --max-num-batched-tokens 4096 --kv-cache-dtype fp8"));
    CHECK(says(flags_for(found, "sglang").text, " --chunked-prefill-size 4096 --kv-cache-dtype fp8_e4m3"));
    CHECK(says(flags_for(found, "tensorrt-llm").text, "max_num_tokens: 4096\nkv_cache_config:\n  dtype: fp8\n"));
    CHECK(says(flags_for(found, "llama.cpp").remark, "keys and values are priced in fp8, for which it has no flag"));
    setup.precision.kv_cache = sim::Storage{sim::NumberFormat::int8};
    CHECK(says(flags_for(found, "llama.cpp").text, " --cache-type-k q8_0 --cache-type-v q8_0"));
    setup.precision.kv_cache = setup.target.precision.kv_cache;
    setup.platform.stack.serving.states_budget = false;
    CHECK_FALSE(says(flags_for(found, "vllm").text, "--max-num-batched-tokens"));
    CHECK_FALSE(says(flags_for(found, "vllm").text, "--kv-cache-dtype"));
}

TEST_CASE("what no flag of one command says is a remark", "[engines]") {
    sweeps::Recommendation found = recommendation_of(sim::OneLayerDrafter::published_eagle3(), 3, schedule_of({{1, 3}}, 8));
    CHECK(says(flags_for(found, "vllm").remark, "PATH_OF_THE_DRAFTER: the drafter that accepts so much"));
    sim::Platform& platform = found.variants.front().setup.platform;
    platform.ranks = 16.0;
    CHECK(says(flags_for(found, "sglang").remark, "16 devices are 2 hosts of 8"));
    platform.ranks = 8.0;
    CHECK_FALSE(says(flags_for(found, "sglang").remark, "hosts"));
    platform.stack.serving.prefill = sim::PrefillPolicy::disaggregated;
    CHECK(says(flags_for(found, "vllm").remark, "prompts are read by servers of their own"));
}

}  // namespace request_limits_test
