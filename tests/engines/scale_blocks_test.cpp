// Weights in fp8 with a scale for each block of 128 by 128: which cuts leave whole blocks, and what engines do with others.
// Issues of vLLM 17569, 52997, pull request 53896; of SGLang 10641, 26107; of ROCm/ATOM 1944.
#include <tuple>

#include <catch2/catch.hpp>

#include "engines/scale_blocks.h"
#include "lint_findings.h"
#include "setups.h"

namespace scale_blocks_test {

using namespace treeline;
using namespace treeline::engines;
using namespace treeline::testing;

namespace {

sim::RoundSetup shared_out(const std::string& target, double ranks, const sim::Parallelism& parallel,
                           const std::string& device_name = "h200") {
    sim::RoundSetup setup;
    setup.target = model(target);
    setup.precision = setup.target.precision;
    setup.platform = platform(device_name, "cuda-graph", ranks);
    setup.platform.parallel = parallel;
    return setup;
}

std::string problem_of(const sim::RoundSetup& setup, const std::string& engine) {
    return cut_problem(find_engine(engine), setup);
}

bool says(const std::string& text, const std::string& what) {
    UNSCOPED_INFO(text);
    return text.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("experts are cut by all ranks that share them, and expert parallelism leaves them whole") {
    const sim::Precision blocks = model("minimax-m2.5").precision;
    const auto columns = [&](double ranks, double data, double experts) {
        sim::Parallelism parallel;
        parallel.data = data;
        parallel.experts = experts;
        const auto cut = cut_blocks_of(model("minimax-m2.5"), blocks, ranks, parallel);
        return cut ? cut->columns : 0;
    };
    CHECK(columns(8, 1, 1) == 192);  // of 1,536
    CHECK(columns(1, 8, 1) == 192);
    CHECK(columns(2, 4, 1) == 192);
    CHECK(columns(4, 1, 1) == 0);
    CHECK(columns(8, 1, 8) == 0);
    CHECK(columns(1, 8, 8) == 0);
    CHECK(columns(1, 1, 1) == 0);
}

TEST_CASE("each engine does its own with blocks that a cut goes through") {
    const sim::RoundSetup cut = shared_out("minimax-m2.5", 8, {});
    CHECK(says(problem_of(cut, "vllm@0.24"), "vLLM 0.24 does not load experts of 192 columns a rank"));
    CHECK(says(problem_of(cut, "vllm"), "with finer scales, which its Triton kernels alone take"));
    CHECK(says(problem_of(cut, "sglang"), "SGLang 0.5.23 does not load experts of 192 columns a rank"));
    CHECK(problem_of(shared_out("minimax-m2.5", 8, {}, "mi300x"), "sglang").empty());
    CHECK(problem_of(cut, "tensorrt-llm").empty());
    CHECK(problem_of(shared_out("qwen3-30b-a3b", 8, {}), "vllm").empty());  // in 16 bits
}

TEST_CASE("a format that the description says to be stored in blocks is cut like them") {
    const auto in_fp8 = [](const std::string& target, double ranks, double data, const std::string& engine) {
        sim::RoundSetup setup = shared_out(target, ranks, {});
        setup.platform.parallel.data = data;
        setup.precision = sim::checkpoint_precision(sim::NumberFormat::fp8, sim::NumberFormat::bf16);
        return problem_of(setup, engine);
    };
    CHECK(says(in_fp8("qwen3-235b-a22b", 8, 1, "vllm@0.24"), "192 columns"));
    CHECK(says(in_fp8("qwen3-235b-a22b", 4, 2, "vllm@0.24"), "192 columns"));
    CHECK(says(in_fp8("qwen3-coder-480b-a35b", 8, 1, "vllm@0.24"), "320 columns"));
    CHECK(says(in_fp8("qwen3-next-80b-a3b", 4, 2, "vllm@0.24"), "64 columns"));
    CHECK(says(in_fp8("step-3.5-flash", 4, 2, "sglang"), "160 columns"));
    // Published without blocks: quantised while it loads, a scale for each tensor.
    CHECK(in_fp8("mixtral-8x7b", 8, 1, "vllm@0.24").empty());
}

TEST_CASE("lint finds such cuts of models that are known") {
    const auto of = [](const std::string& command, const std::string& engine = "") {
        return findings(command, engine, {}, known_models);
    };
    const std::string serve = R"(vllm serve MiniMaxAI/MiniMax-M2.5 -sc '{"method": "ngram", "num_speculative_tokens": 3}' )";
    CHECK(says(of(serve + "--data-parallel-size 8", "vllm@0.24"),
               "contradiction: --data-parallel-size leaves experts of 192 columns a rank"));
    CHECK(says(of(serve + "-tp 8"), "downgrade: --tensor-parallel-size leaves experts of 192 columns a rank"));
    CHECK(says(of("vllm serve MiniMaxAI/MiniMax-M2.5 -tp 8"), "192 columns a rank"));  // plain decoding, too
    CHECK(of(serve + "-tp 8 --enable-expert-parallel").empty());
    CHECK(of(serve + "-tp 4").empty());
    CHECK(says(
        of(R"(vllm serve Qwen/Qwen3-235B-A22B-FP8 -tp 8 -sc '{"method": "ngram", "num_speculative_tokens": 3}')", "vllm@0.24"),
        "192 columns a rank"));
    CHECK(of(R"(vllm serve Qwen/Qwen3-235B-A22B -tp 8 -sc '{"method": "ngram", "num_speculative_tokens": 3}')", "vllm@0.24")
              .empty());
    CHECK(says(of("sglang serve --model-path MiniMaxAI/MiniMax-M2 --tp 8 --speculative-algorithm NGRAM"),
               "--tp-size leaves experts of 192 columns a rank, no multiple of the 128 that share a scale: the server ends at "
               "start-up; add --ep-size 8"));
}

}  // namespace scale_blocks_test
