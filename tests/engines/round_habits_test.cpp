// What is said of an engine's own habits in a round, by version, device and target.
#include <catch2/catch.hpp>

#include "engines/engine.h"
#include "engines/round_habits.h"
#include "reports/engine_habits.h"
#include "setups.h"

namespace round_habits_test {

using namespace treeline;
using namespace treeline::engines;
using namespace treeline::testing;

namespace {

sim::RoundSetup setup_on(const std::string& target, const std::string& device_name, const std::string& stack) {
    sim::RoundSetup setup = pair_setup(target, "llama-3.2-1b", platform(device_name, stack));
    setup.drafter = sim::OneLayerDrafter{0, 2, sim::OneLayerKind::mtp};
    return setup;
}

EngineHabits habits(const std::string& target, const std::string& device_name, const std::string& engine) {
    return habits_of(find_engine(engine), setup_on(target, device_name, find_engine(engine).word));
}

bool says(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

}  // namespace

// docs/design/attention_backends.md of vLLM: lists by device; FLASH_ATTN begins with compute capability 8.0.
TEST_CASE("vLLM's back end is the first of its list for the device and the target") {
    CHECK(habits("deepseek-r1", "h200", "vllm").attention.how == "FlashAttention 3 for latents");
    CHECK(habits("deepseek-r1", "h200", "vllm@0.10").attention.how == "FlashMLA");
    CHECK(habits("deepseek-r1", "b200", "vllm").attention.how == "FlashInfer with TensorRT-LLM's kernels, for latents");
    CHECK(habits("deepseek-r1", "rtx-pro-6000", "vllm").attention.how == "Triton, for latents");
    CHECK(habits("kimi-linear-48b-a3b", "h100-sxm", "vllm").attention.how == "FlashAttention 3 for latents");
    CHECK(habits("qwen3-8b", "t4", "vllm").attention.how == "FlashInfer");
    CHECK(habits("qwen3-8b", "mi300x", "vllm").attention.how == "vLLM's kernels for ROCm");
    CHECK(habits("qwen3-8b", "mi300x", "vllm@0.19").attention.how.empty());  // not read of that version
    CHECK(habits("qwen3-8b", "h100-sxm", "vllm@0.10").attention.otherwise == "VLLM_ATTENTION_BACKEND=TRITON_ATTN");
    CHECK(habits("qwen3-8b", "h100-sxm", "vllm@0.19").attention.otherwise == "--attention-backend TRITON_ATTN");
}

// Release notes of v0.11.0: FULL_AND_PIECEWISE is the default. Pull request 42885: Triton's latents.
TEST_CASE("vLLM verifies in pieces where its version and back end do") {
    CHECK(habits("qwen3-8b", "h100-sxm", "vllm@0.10").graph.how == "in pieces");
    CHECK(habits("qwen3-8b", "h100-sxm", "vllm@0.12").graph.how == "whole");
    CHECK(habits("deepseek-r1", "rtx-pro-6000", "vllm@0.19").graph.how == "in pieces");
    CHECK(habits("deepseek-r1", "rtx-pro-6000", "vllm").graph.how == "whole");
    CHECK(habits("qwen3-8b", "t4", "vllm").graph.how == "in pieces");
}

TEST_CASE("scheduling and drafting change with the version") {
    CHECK(habits("qwen3-8b", "h100-sxm", "vllm@0.12").scheduling.how == "after each round");
    CHECK(habits("qwen3-8b", "h100-sxm", "vllm@0.14").scheduling.otherwise == "--no-async-scheduling");
    CHECK(habits("qwen3-8b", "h100-sxm", "vllm@0.24").drafting.how == "launched by the host, pass by pass");
    CHECK(habits("qwen3-8b", "h100-sxm", "vllm@0.25").drafting.how == "captured in a graph");
    CHECK(habits("qwen3-30b-a3b", "h100-sxm", "vllm@0.25").drafting.how == "launched by the host, pass by pass");
    CHECK(habits("qwen3-30b-a3b", "h100-sxm", "vllm@0.28").drafting.how == "launched by the host, pass by pass");
    CHECK(habits("qwen3-30b-a3b", "h100-sxm", "vllm@0.29").drafting.how == "captured in a graph");
    CHECK(habits("deepseek-v3.2", "mi300x", "vllm").drafting.how == "launched by the host, pass by pass");
    sim::RoundSetup draft_model = setup_on("qwen3-8b", "h100-sxm", "vllm");  // for which vLLM falls back to V1
    draft_model.drafter = sim::IndependentDrafter{model("qwen3-0.6b"), {}};
    CHECK(habits_of(find_engine("vllm"), draft_model).drafting.how == "launched by the host, pass by pass");
    CHECK(habits("qwen3-8b", "h100-sxm", "sglang@0.5.11").scheduling.otherwise == "SGLANG_ENABLE_SPEC_V2=1");
    CHECK(habits("qwen3-8b", "h100-sxm", "sglang").scheduling.otherwise == "--disable-overlap-schedule");
    CHECK(habits("qwen3-8b", "h100-sxm", "tensorrt-llm").scheduling.how == "asynchronous");
    CHECK(habits("qwen3-8b", "h100-sxm", "llama.cpp").scheduling.how == "after each round");
    sim::RoundSetup lookup = setup_on("qwen3-8b", "h100-sxm", "vllm");
    lookup.drafter = sim::NgramDrafter{};
    CHECK(habits_of(find_engine("vllm"), lookup).drafting.how == "looked up by the host");
}

TEST_CASE("the table names each habit with its flag, and what is not known in one line") {
    const std::string sglang = reports::engine_habits_text(setup_on("deepseek-r1", "h200", "sglang"));
    for (const char* part :
         {"attention ", "graph of a verification ", "drafting ", "scheduling ", "running requests ",
          "otherwise with --attention-backend", "otherwise with --disable-overlap-schedule", "--max-running-requests"}) {
        INFO(part);
        CHECK(says(sglang, part));
    }
    CHECK_FALSE(says(sglang, "not known"));
    const std::string general = reports::engine_habits_text(setup_on("qwen3-8b", "h100-sxm", "cuda-graph"));
    CHECK(says(general, "attention, graph of a verification, drafting and scheduling  not known"));
    CHECK(
        says(reports::engine_habits_text(setup_on("qwen3-8b", "h100-sxm", "vllm-0.10")), "graph of a verification  in pieces"));
}

TEST_CASE("a rollback whose flag came later is not offered") {
    sim::RoundSetup setup = setup_on("qwen3.5-27b", "h100-sxm", "sglang-0.5.6");
    setup.rollback = sim::Rollback::snapshot;
    setup.platform.stack.engine = "sglang@0.5.9";
    CHECK_FALSE(says(reports::engine_habits_text(setup), "replayssm"));
    setup.platform.stack.engine = "sglang@0.5.16";
    CHECK(says(reports::engine_habits_text(setup), "otherwise ring with --enable-gdn-replayssm-spec"));
    setup.platform.stack.engine = "sglang@0.5.17";
    CHECK(says(reports::engine_habits_text(setup), "otherwise ring with --enable-linear-replayssm-spec"));
}

}  // namespace round_habits_test
