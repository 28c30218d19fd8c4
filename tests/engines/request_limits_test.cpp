// Do the flags that are pasted let as many requests run at once as the prediction has?
#include <algorithm>

#include <catch2/catch.hpp>

#include "engines/llama_cpp/parts.h"
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
        CHECK(platform("h100-sxm", stack).stack.serving.most_requests == static_cast<double>(engines::llama_cpp::most_slots));
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

TEST_CASE("where a larger load breaks the limits, no more requests run at once than were served", "[engines]") {
    sweeps::Recommendation found = recommendation_of(sim::NgramDrafter{}, 3, schedule_of({{1, 3}}, 8));
    found.traffic = found.settled = sweeps::traffic_from({{3.0, 1.0}}, {{2000.0, 1.0}});
    CHECK_FALSE(says(flags_for(found, "vllm").text, "--max-num-seqs"));
    found.unserved = {{{64.0, 2000.0, 0.5}, "TPOT is too long"}};
    CHECK(says(flags_for(found, "vllm").text, " --max-num-seqs 3"));
    CHECK(says(flags_for(found, "sglang").text, " --max-running-requests 3"));
    CHECK(says(flags_for(found, "tensorrt-llm").text, "max_batch_size: 3\n"));
    CHECK(says(flags_for(found, "llama.cpp").text, " --parallel 3 "));
    found.unserved = {{{1.0, 90000.0, 0.5}, "TTFT is too long"}};  // fewer requests of longer contexts
    CHECK_FALSE(says(flags_for(found, "vllm").text, "--max-num-seqs"));
    found.unserved = {{{64.0, 2000.0, 0.5}, "requests come faster than they are answered"}};
    found.traffic.kind = sweeps::LoadKind::arrival_rate;
    CHECK_FALSE(says(flags_for(found, "vllm").text, "--max-num-seqs"));
}

TEST_CASE("vLLM is told how long requests get where its cache has no room for the model's whole context", "[engines]") {
    sweeps::Recommendation found = recommendation_of(sim::NgramDrafter{}, 3, schedule_of({{1, 3}}, 8));
    found.traffic = sweeps::traffic_from({{4.0, 1.0}}, {{2000.0, 1.0}});
    found.variants.front().setup.target.max_context = 8192;
    found.variants.front().setup.prompt_tokens = 1800.0;
    found.variants.front().setup.output_tokens = 300.0;
    const auto flags = [&](bool whole_context, const char* engine) {
        found.capacity.whole_context = whole_context;
        return flags_for(found, engine).text;
    };
    CHECK(says(flags(false, "vllm"), " --max-model-len 3072"));  // 1,800 + 300 + 3, in steps of 1,024
    CHECK_FALSE(says(flags(true, "vllm"), "--max-model-len"));
    CHECK_FALSE(says(flags(false, "sglang"), "len"));
    found.variants.front().setup.target.max_context = 3000;  // the next whole step is beyond it
    CHECK(says(flags(false, "vllm"), " --max-model-len 2103"));
    found.variants.front().setup.target.max_context = 8192;
    // Decoding alone at a context of two whole steps: a round of three drafts and one more token has to fit.
    found.variants.front().setup.prompt_tokens = found.variants.front().setup.output_tokens = 0.0;
    found.traffic = sweeps::traffic_from({{4.0, 1.0}}, {{2048.0, 1.0}});
    CHECK(says(flags(false, "vllm"), " --max-model-len 3072"));
    found.variants.front().setup.prompt_tokens = 1800.0;
    found.variants.front().setup.output_tokens = 300.0;
    // llama.cpp's slots share one cache.
    found.settled = sweeps::traffic_from({{4.0, 1.0}}, {{2000.0, 1.0}});
    CHECK(says(flags(true, "llama.cpp"), " --ctx-size 9216"));  // 4 requests of 2,103
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
    CHECK(says(flags_for(found, "llama.cpp").remark, "keys and values are priced in fp8, for which no flag is known"));
    setup.precision.kv_cache = sim::Storage{sim::NumberFormat::int8};
    CHECK(says(flags_for(found, "llama.cpp").text, " --cache-type-k q8_0 --cache-type-v q8_0"));
    setup.precision.kv_cache = setup.target.precision.kv_cache;
    setup.platform.stack.serving.states_budget = false;
    CHECK_FALSE(says(flags_for(found, "vllm").text, "--max-num-batched-tokens"));
    CHECK_FALSE(says(flags_for(found, "vllm").text, "--kv-cache-dtype"));
}

TEST_CASE("caches are asked for by the word of each engine and version", "[engines]") {
    sweeps::Recommendation found = recommendation_of(sim::NgramDrafter{}, 3, schedule_of({{1, 3}}, 8));
    sim::RoundSetup& setup = found.variants.front().setup;
    const auto with = [&](sim::NumberFormat format, const char* engine) {
        setup.precision.kv_cache = sim::Storage{format};
        const engines::EngineFlags flags = flags_for(found, engine);
        return flags.text + "|" + flags.remark;
    };
    using enum sim::NumberFormat;
    const char* none = "for which no flag is known";
    CHECK(says(with(fp4, "vllm"), " --kv-cache-dtype nvfp4"));
    CHECK(says(with(fp4, "vllm@0.19"), none));
    CHECK(says(with(fp4, "sglang"), " --kv-cache-dtype fp4_e2m1"));
    CHECK(says(with(fp4, "tensorrt-llm"), "kv_cache_config:\n  dtype: nvfp4\n"));
    CHECK(says(with(fp4, "tensorrt-llm@1.2"), none));
    CHECK(says(with(fp4, "llama.cpp"), none));
    CHECK(says(with(int8, "vllm"), " --kv-cache-dtype int8_per_token_head"));
    CHECK(says(with(int8, "sglang"), none));
    CHECK(says(with(int4, "llama.cpp"), " --cache-type-k q4_0 --cache-type-v q4_0"));
    setup.precision.weights.format = fp4;
    found.variants.front().labels.precision = "nvfp4, key-value cache fp4";  // of which the checkpoint holds the weights
    CHECK(says(with(fp4, "vllm"), "vllm serve 'meta-llama/Meta-Llama-3-8B-Instruct stored as nvfp4'"));
    setup.precision.weights = setup.target.precision.weights;
    // 16 bits are asked for where the checkpoint's cache is another, and nowhere else.
    CHECK_FALSE(says(with(bf16, "sglang"), "--kv-cache-dtype"));
    setup.target.precision.kv_cache = sim::Storage{fp8};
    CHECK(says(with(bf16, "sglang"), " --kv-cache-dtype bf16"));
    CHECK(says(with(bf16, "vllm"), " --kv-cache-dtype bfloat16"));
    CHECK(says(with(bf16, "tensorrt-llm"), none));
    CHECK_FALSE(says(with(bf16, "llama.cpp"), none));  // its default
    for (const engines::Engine& engine : engines::all_engines()) {
        for (const engines::CacheFormat& cache : engine.caches) {
            INFO(engine.label() << ": " << cache.word);
            CHECK((engine.cache_words.empty() ||
                   std::count(engine.cache_words.begin(), engine.cache_words.end(), cache.word) == 1));
        }
    }
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

TEST_CASE("a limit of memory that was priced reaches the server", "[engines]") {
    // With what is written, a server takes no more than the limit, and less by a thousandth of the device at most.
    for (const auto& [engine, flag] : {std::pair{"vllm", "--gpu-memory-utilization "},
                                       {"sglang", "--mem-fraction-static "},
                                       {"tensorrt-llm", "free_gpu_memory_fraction: "}}) {
        INFO(engine);
        sweeps::Recommendation found =
            recommendation_of(sim::OneLayerDrafter{0, 2, sim::OneLayerKind::mtp}, 3, schedule_of({{1, 3}}, 8));
        sim::RoundSetup& setup = found.variants.front().setup;
        setup.platform = platform("h100-sxm", engine);
        CHECK_FALSE(says(flags_for(found, engine).text, flag));
        setup.platform.memory_limit = Bytes(40e9);
        const std::string text = flags_for(found, engine).text;
        const std::size_t at = text.find(flag);
        REQUIRE(at != std::string::npos);
        sim::RoundSetup served = setup;
        served.platform.memory_limit.reset();
        served.platform.memory_utilisation = std::stod(text.substr(at + std::string(flag).size()));
        const double taken = sim::compile_round(served).memory.capacity.value();
        CHECK(taken <= 40e9);
        CHECK(taken > 40e9 - 0.001 * setup.platform.device.memory.value());
        setup.platform.memory_limit = Bytes(200e9);  // more than it has
        CHECK_FALSE(says(flags_for(found, engine).text, flag));
    }
    sweeps::Recommendation found =
        recommendation_of(sim::OneLayerDrafter{0, 2, sim::OneLayerKind::mtp}, 3, schedule_of({{1, 3}}, 8));
    found.variants.front().setup.platform = platform("h100-sxm", "llama.cpp");
    found.variants.front().setup.platform.memory_limit = Bytes(40e9);
    CHECK(says(flags_for(found, "llama.cpp").remark, "no flag holds it to the 40 GB of a device that were priced"));
}

TEST_CASE("kernels and prompts that were asked for reach the server, or a remark says that they do not", "[engines]") {
    sweeps::Recommendation found =
        recommendation_of(sim::OneLayerDrafter{0, 2, sim::OneLayerKind::mtp}, 3, schedule_of({{1, 3}}, 8));
    sim::Stack& stack = found.variants.front().setup.platform.stack;
    stack.picked.attention_kernels.name = "flash-attention-2";
    stack.picked.attention_kernels.title = "FlashAttention 2";
    stack.picked.attention_kernels.flags = {
        {"vllm", R"(--attention-config '{"backend": "FLASH_ATTN", "flash_attn_version": 2}')"}};
    CHECK(says(flags_for(found, "vllm").text, R"( --attention-config '{"backend": "FLASH_ATTN", "flash_attn_version": 2}' )"));
    CHECK(flags_for(found, "vllm@0.10").text.starts_with("VLLM_FLASH_ATTN_VERSION=2 vllm serve"));
    CHECK(says(flags_for(found, "sglang").remark, "no flag of SGLang is known that runs these kernels"));
    stack.picked.attention_kernels = {};

    stack.serving.states_prefill = true;
    stack.serving.prefill = sim::PrefillPolicy::alternating;
    CHECK(says(flags_for(found, "vllm").remark, "prompts are priced as alternating, which no flag of vLLM asks for"));
    CHECK_FALSE(says(flags_for(found, "sglang").remark, "prompts are priced"));
    stack.serving.prefill = sim::PrefillPolicy::mixed;
    CHECK_FALSE(says(flags_for(found, "vllm").remark, "prompts are priced"));
    CHECK(says(flags_for(found, "sglang").remark, "which no flag of SGLang asks for while it drafts"));
    found.speculate = false;
    CHECK(says(flags_for(found, "sglang").text, " --enable-mixed-chunk"));
}

}  // namespace request_limits_test
