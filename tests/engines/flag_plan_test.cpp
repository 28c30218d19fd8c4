// What of a recommendation becomes flags, and what a remark.
#include <string>
#include <tuple>

#include <catch2/catch.hpp>

#include "recommendations.h"

namespace flag_plan_test {

using namespace treeline;
using namespace treeline::engines;
using namespace treeline::testing;

TEST_CASE("a schedule that gains no more than the best single length is not written") {
    sweeps::Recommendation found =
        recommendation_of(sim::OneLayerDrafter::published_eagle3(), 3, schedule_of({{1, 5}, {9, 3}}, 64));
    const std::string scheduled = flags_for(found, "vllm@0.24").text;
    CHECK(scheduled.find("num_speculative_tokens_per_batch_size") != std::string::npos);
    CHECK(scheduled.starts_with("VLLM_USE_V2_MODEL_RUNNER=0 vllm serve "));  // model runner V2 ignores schedules
    found.schedule.gain = 1.01;
    const std::string alone = flags_for(found, "vllm@0.24").text;
    CHECK(alone.starts_with("vllm serve "));
    CHECK(alone.find(R"("num_speculative_tokens":3)") != std::string::npos);
    CHECK(alone.find("per_batch_size") == std::string::npos);
    CHECK(flags_for(found, "vllm@0.24").remark.find("one length for every batch size: a schedule would gain 1.01x") !=
          std::string::npos);
}

// VllmConfig::use_v2_model_runner: V2 by default for dense models since 0.25, for all since 0.29, but not with every drafter;
// issue 51510: V2 does not follow schedules.
TEST_CASE("vLLM gets a schedule only where the rounds that are priced are those of the runner that follows it") {
    const auto flags = [](const sim::Drafter& drafter, const std::string& engine, const std::string& target = "llama-3-8b") {
        sweeps::Recommendation found = recommendation_of(drafter, 3, schedule_of({{1, 5}, {9, 3}}, 64));
        found.variants.front().setup.target = model(target);
        found.traffic.points = {{1.0}, {2.0}};
        return flags_for(found, engine);
    };
    const auto scheduled = [](const EngineFlags& of) {
        const bool has_variable = of.text.starts_with("VLLM_USE_V2_MODEL_RUNNER=0 ");
        CHECK(has_variable == (of.text.find("per_batch_size") != std::string::npos));
        CHECK(has_variable !=
              (of.remark.find("VLLM_USE_V2_MODEL_RUNNER=0), whose rounds are not those priced") != std::string::npos));
        return has_variable;
    };
    const sim::Drafter eagle3 = sim::OneLayerDrafter::published_eagle3();
    for (const auto& [engine, target, follows] : {std::tuple{"vllm@0.24", "llama-3-8b", true},
                                                  {"vllm@0.25", "llama-3-8b", false},
                                                  {"vllm@0.25", "qwen3-30b-a3b", true},
                                                  {"vllm@0.28", "qwen3-30b-a3b", true},
                                                  {"vllm@0.29", "qwen3-30b-a3b", false},
                                                  {"vllm", "llama-3-8b", false}}) {
        INFO(target << " on " << engine);
        CHECK(scheduled(flags(eagle3, engine, target)) == follows);
    }
    CHECK(scheduled(flags(sim::IndependentDrafter{}, "vllm")));  // which V1 runs in all versions
    CHECK(flags(eagle3, "vllm").text.find(R"("num_speculative_tokens":3)") != std::string::npos);
}

TEST_CASE("engines share models among devices in their own ways") {
    sweeps::Recommendation found = recommendation_of(sim::IndependentDrafter{}, 3, schedule_of({{1, 3}}, 8));
    sim::Platform& platform = found.variants.front().setup.platform;
    platform.parallel.pipeline = 2.0;  // whole layers on each device: llama.cpp's default
    CHECK(flags_for(found, "llama.cpp").text.find("split-mode") == std::string::npos);
    CHECK(flags_for(found, "llama.cpp").text.find("--spec-type") != std::string::npos);
    platform.parallel.pipeline = 1.0;
    platform.ranks = 2.0;
    CHECK(flags_for(found, "llama.cpp").text.find(" --split-mode row") != std::string::npos);
    platform.parallel.draft_tensor = 1.0;
    CHECK(flags_for(found, "vllm").text.empty());
    CHECK(flags_for(found, "vllm").remark.find("among all ranks that share the target's") != std::string::npos);
}

TEST_CASE("a head of another release than the served checkpoint is remarked on") {
    sweeps::Recommendation found = recommendation_of(sim::OneLayerDrafter::published_eagle3(), 3, schedule_of({{1, 3}}, 8));
    sweeps::Variant& variant = found.variants.front();
    const auto remark = [&](const char* target, const char* drafter) {
        variant.setup.target.repository = target;
        variant.checkpoint = drafter;
        return flags_for(found, "vllm").remark;
    };
    const std::string said = "trained for the release of 2507: serve that one";
    CHECK(remark("Qwen/Qwen3-30B-A3B", "lmsys/EAGLE3-Qwen3-30B-A3B-Instruct-2507-SpecForge").find(said) != std::string::npos);
    CHECK(remark("Qwen/Qwen3-30B-A3B-Instruct-2507", "lmsys/EAGLE3-Qwen3-30B-A3B-Instruct-2507").find("release") ==
          std::string::npos);
    CHECK(remark("Qwen/Qwen3-8B", "AngelSlim/Qwen3-8B_eagle3").find("release") == std::string::npos);
}

}  // namespace flag_plan_test
