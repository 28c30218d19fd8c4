// Which checkpoints engines load, by their words.
#include "requests/precision_words.h"

#include <string>

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

}  // namespace loading_test
