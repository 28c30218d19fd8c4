// The list of engines: what it says of each is found by its name.
#include <catch2/catch.hpp>

#include "engines/definition.h"
#include "requests/keys/setup_keys.h"

namespace definition_test {

using namespace treeline;
using namespace treeline::engines;

TEST_CASE("engines stand in the list in the order of their names, and inputs call them by the same words") {
    const auto& words = requests::platform_keys::engine_words;
    REQUIRE(all_definitions().size() == words.size());
    for (std::size_t i = 0; i < words.size(); ++i) {
        INFO(words[i]);
        for (const Engine& version : all_definitions()[i].versions) {
            CHECK(static_cast<std::size_t>(version.name) == i);
            CHECK(version.word == words[i]);
        }
    }
}

TEST_CASE("a configuration belongs to the first engine that knows it: vLLM's method beside TensorRT-LLM's length is vLLM's") {
    const auto owner = [](const char* text) {
        const auto tree = nlohmann::ordered_json::parse(text);
        return engine_whose(all_lintings(),
                            [&](const Linting& engine) { return engine.owns_tree != nullptr && engine.owns_tree(tree); });
    };
    CHECK(owner(R"({"method": "eagle3", "max_draft_len": 3})") == EngineName::vllm);
    CHECK(owner(R"({"max_draft_len": 3})") == EngineName::tensorrt_llm);
    CHECK(owner(R"({"speculative_config": {"decoding_type": "NGram", "prompt_lookup_max": 3}})") == EngineName::tensorrt_llm);
    CHECK(owner(R"({"speculative-config": "{}"})") == EngineName::vllm);
    CHECK(owner(R"({"8": {"candidate_steps": [3]}})") == EngineName::sglang);
    CHECK(owner(R"({"bias_seconds": 0.1})") == EngineName::sglang);
    CHECK_FALSE(owner(R"({"model": "m"})").has_value());
}

}  // namespace definition_test
