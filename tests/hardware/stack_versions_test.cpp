// Which version of an engine does a name mean?
#include <catch2/catch.hpp>

#include "hardware/catalogue.h"
#include "hardware/stack_versions.h"
#include "source_folder.h"
#include "text/input_error.h"

namespace stack_versions_test {

using namespace treeline;
using namespace treeline::hardware;

namespace {

const std::filesystem::path catalogue = testing::source_folder() / "hardware";
const std::vector<std::string> names = {"cuda-graph", "vllm-0.8",         "vllm-0.10",
                                        "vllm-0.12",  "tensorrt-llm-1.0", "tensorrt-llm-1.1"};

}  // namespace

TEST_CASE("a name that ends in numbers is an engine at a version", "[hardware]") {
    CHECK(stack_version("vllm-0.12.1").version == std::vector<int>{0, 12, 1});
    CHECK(stack_version("tensorrt-llm-1.2.0rc6.post1").version == std::vector<int>{1, 2, 0});
    CHECK(stack_version("tensorrt-llm-1.2").engine == "tensorrt-llm");
    CHECK(stack_version("tensorrt-llm").version.empty());
    CHECK(stack_version("cuda-graph").engine == "cuda-graph");
    CHECK(stack_version("llama.cpp").version.empty());
    CHECK(stack_version("vllm-0.11.json").version.empty());  // a path
}

TEST_CASE("versions are compared number by number", "[hardware]") {
    CHECK(newest_version(names, "vllm") == "vllm-0.12");  // as text, 0.8 would be last
    CHECK(newest_version(names, "cuda-graph") == std::nullopt);
    CHECK(nearest_version(names, "vllm-0.9.2") == "vllm-0.8");
    CHECK(nearest_version(names, "vllm-0.10.1.1") == "vllm-0.10");
    CHECK(nearest_version(names, "vllm-0.19") == "vllm-0.12");
    CHECK(nearest_version(names, "vllm-0.6") == "vllm-0.8");  // none is as old
    CHECK(nearest_version(names, "sglang-0.5") == std::nullopt);
    CHECK(nearest_version(names, "vllm") == std::nullopt);
}

TEST_CASE("the plain name of an engine is its newest version, and the nearest one stands for an unknown version",
          "[hardware]") {
    for (const char* engine : {"vllm", "sglang", "tensorrt-llm"}) {
        CHECK(load_stack(catalogue, engine).value.name == newest_version(stack_names(catalogue), engine));
    }
    for (const char* asked : {"vllm-0.11", "vllm@0.11"}) {
        const sim::Stack stack = load_stack(catalogue, asked).value;
        CHECK(stack.name == "vllm-0.10");
        CHECK(stack.stands_for == "vllm-0.11");
    }
    CHECK(load_stack(catalogue, "vllm@0.10").value.stands_for.empty());
    CHECK(load_stack(catalogue, "vllm-0.6").value.name == "vllm-0.8");  // none is as old
    CHECK_THROWS_AS(load_stack(catalogue, "nobody-0.6"), text::InputError);
}

}  // namespace stack_versions_test
