// Which checkpoints engines load, by their words.
#include "requests/precision_words.h"

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
