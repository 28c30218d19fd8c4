// Which checkpoints engines load, by their words.
#include "requests/loading.h"
#include "requests/precision_words.h"
#include "setups.h"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <catch2/catch.hpp>

namespace loading_test {

using namespace treeline;
using namespace treeline::requests;

TEST_CASE("a checkpoint that an engine does not load is refused for it") {
    for (const char* engine : {"vllm", "sglang", "tensorrt-llm", "llama.cpp"}) {
        const std::string name = engine;
        INFO(name);
        CHECK_THAT(loading_problem("mlx-4bit", engine), Catch::Contains("MLX"));
        CHECK_THAT(loading_problem("exl3-4.05bpw", engine), Catch::Contains("ExLlamaV3"));
        for (const char* word : {"bf16", "nvfp4", "int4", "4bit", "as published"}) {
            CHECK(loading_problem(word, engine).empty());
        }
        CHECK(loading_problem("Q4_K_M", engine).empty() == (name != "tensorrt-llm"));
        CHECK(loading_problem("fp8", engine).empty() == (name != "llama.cpp"));
        CHECK(loading_problem("AWQ", engine).empty() == (name != "llama.cpp"));
    }
    CHECK(loading_problem("mlx-4bit", "").empty());  // MLX, and stacks of no engine
}

TEST_CASE("keys and values in a format whose kernels need a newer device are refused on older ones") {
    sweeps::TargetChoice target;
    target.precision = sim::checkpoint_precision(sim::NumberFormat::bf16, sim::NumberFormat::bf16);
    target.precision.kv_cache = sim::Storage{sim::NumberFormat::fp4, 16.0, 8.0};
    target.precision_label = "as published, key-value cache fp4";
    const auto on = [&](double capability, const char* stack) {
        sim::Platform platform;
        platform.device.name = "some device";
        platform.device.compute_capability = capability;
        platform.stack = testing::stack(stack);
        return why_not_loaded(target, platform);
    };
    for (const char* engine : {"vllm", "vllm-0.12", "tensorrt-llm"}) {
        INFO(engine);
        CHECK_THAT(on(9.0, engine), Catch::Contains("keys and values in fp4") && Catch::Contains("10.0"));
        CHECK(on(10.0, engine).empty());
    }
    CHECK(on(9.0, "sglang").empty());  // which unpacks them itself
    target.precision.kv_cache = sim::Storage{sim::NumberFormat::fp8};
    CHECK(on(9.0, "vllm").empty());
}

TEST_CASE("what an engine loads depends on the format, however it is stated, and on the device") {
    sweeps::TargetChoice target;
    sim::Platform platform;
    platform.device.name = "v100";
    platform.device.compute_capability = 7.0;
    const auto with = [&](sim::NumberFormat format, const char* word, const char* stack) {
        target.precision = sim::checkpoint_precision(format, sim::NumberFormat::bf16);
        target.precision_label = word;
        platform.stack = testing::stack(stack);
        return why_not_loaded(target, platform);
    };
    using enum sim::NumberFormat;
    for (const char* word : {"as published", "weights fp8", "fp8"}) {
        INFO(word);
        CHECK_THAT(with(fp8, word, "llama.cpp"), Catch::Contains("GGUF") && Catch::Contains("q4_k_m"));
        for (const char* version : {"vllm-0.8", "vllm", "vllm@0.33"}) {
            CHECK_THAT(with(fp8, word, version), Catch::Contains("7.5"));
        }
        CHECK_THAT(with(fp8, word, "tensorrt-llm"), Catch::Contains("8.9"));
        CHECK(with(fp8, word, "ideal").empty());
    }
    CHECK_FALSE(with(int8, "int8", "vllm").empty());
    CHECK(with(int4, "int4", "vllm").empty());  // GPTQ's kernels
    CHECK(with(int8, "q8_0, key-value cache int8", "vllm").empty());
    CHECK_THAT(with(int8, "q8_0, key-value cache int8", "tensorrt-llm"), Catch::Contains("GGUF"));
    CHECK(with(bf16, "as published", "vllm").empty());
    platform.device.compute_capability = 7.5;
    CHECK(with(fp8, "fp8", "vllm").empty());
    platform.device.compute_capability = 0.0;  // of no NVIDIA device
    CHECK(with(fp8, "fp8", "vllm").empty());
}

TEST_CASE("the scale's group tells formats of one width apart") {
    sweeps::TargetChoice target;
    sim::Platform platform;
    platform.device.compute_capability = 9.0;
    platform.stack = testing::stack("tensorrt-llm");
    target.precision_label = "as published";
    for (const auto& [word, runs] : {std::pair{"nvfp4", false}, {"mxfp4", true}}) {  // gpt-oss runs on Hopper
        INFO(word);
        target.precision = precision_of_word(word, sim::uniform_precision(sim::NumberFormat::bf16)).value();
        CHECK(why_not_loaded(target, platform).empty() == runs);
    }
}

TEST_CASE("experts in MXFP4 are the file that llama.cpp's users load") {
    const auto loaded = [](const char* name, std::vector<sim::Platform> platforms) {
        sweeps::TargetChoice target;
        target.model = testing::model(name);
        target.precision = target.model.precision;
        target.precision_label = sweeps::as_published;
        target.label = target.model.name;
        load_as_gguf(target, platforms);
        return target;
    };
    const sim::Platform spark = testing::platform("dgx-spark", "llama.cpp"), vllm = testing::platform("dgx-spark", "vllm");
    const sweeps::TargetChoice file = loaded("gpt-oss-20b", {spark});
    CHECK(file.label == "gpt-oss-20b (mxfp4_moe)");
    CHECK(file.precision.weights.per_element().value() == 8.5 / 8.0);   // Q8_0: a 16-bit scale for 32
    CHECK(file.precision.experts.per_element().value() == 4.25 / 8.0);  // as published
    for (const sweeps::TargetChoice& same : {loaded("gpt-oss-20b", {vllm}), loaded("gpt-oss-20b", {spark, vllm}),
                                             loaded("gpt-oss-20b", {}), loaded("qwen3-8b", {spark})}) {
        CHECK(same.precision == same.model.precision);
        CHECK(same.precision_label == "as published");
    }
}

TEST_CASE("integers of any width, and MLX's other modes, by name") {
    const sim::Precision published = sim::uniform_precision(sim::NumberFormat::bf16);
    for (const int bits : {2, 3, 5, 6, 7}) {
        for (const std::string& word : {fmt::format("int{}", bits), fmt::format("w{}a16", bits), fmt::format("INT{}", bits)}) {
            INFO(word);
            const std::optional<sim::Precision> precision = precision_of_word(word, published);
            REQUIRE(precision);
            CHECK(precision->weights.per_element().value() == (bits + 16.0 / 128.0) / 8.0);  // GPTQ: a scale for 128
            CHECK(precision->math == sim::NumberFormat::bf16);
            CHECK(storage_of_word(word)->element_bits() == bits);
        }
    }
    CHECK(precision_of_word("int4", published) == sim::checkpoint_precision(sim::NumberFormat::int4, sim::NumberFormat::bf16));
    CHECK(precision_of_word("w8a16", published)->math == sim::NumberFormat::bf16);
    for (const char* odd : {"int1", "int9", "int3.5", "int", "w3a8"}) {
        INFO(odd);
        CHECK_FALSE(precision_of_word(odd, published));
    }
    for (const auto& [word, bits] : {std::pair{"mlx-mxfp4", 4.25}, {"mlx-nvfp4", 4.5}, {"mlx-mxfp8", 8.25}}) {
        INFO(word);
        const std::optional<sim::Precision> precision = precision_of_word(word, published);
        REQUIRE(precision);
        CHECK(precision->embeddings.per_element().value() == bits / 8.0);
        CHECK(precision->math == sim::NumberFormat::bf16);  // unpacked before they are multiplied
        CHECK_THAT(loading_problem(word, "vllm"), Catch::Contains("MLX"));
    }
    CHECK(precision_of_word("q1_0", published)->weights.per_element().value() == 1.125 / 8.0);
    CHECK(precision_of_word("Bonsai-8B-Q1_0.gguf", published));
}

}  // namespace loading_test
