// Does what is pasted do what the schedule says? The text of every engine is parsed back and read by that engine's own rule
// (pasted_flags.h).
#include <algorithm>

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "engines/capabilities.h"
#include "engines/command_line.h"
#include "engines/lint.h"
#include "pasted_flags.h"
#include "recommendations.h"

namespace engine_flags_test {

using namespace treeline;
using namespace treeline::engines;
using namespace treeline::testing;
using Json = nlohmann::ordered_json;

namespace {

/// One length at every batch: what an engine without schedules follows, too.
bool lengths_agree(const sweeps::Schedule& schedule) {
    return std::all_of(schedule.entries.begin(), schedule.entries.end(), [&](const sweeps::ScheduleEntry& entry) {
        return entry.draft_tokens == schedule.entries.front().draft_tokens;
    });
}

std::vector<EngineFlags> flags_of_each(const sweeps::Recommendation& found) {
    std::vector<EngineFlags> all;
    for (const Engine& engine : newest_engines()) {
        all.push_back(flags_for(found, engine));
    }
    return all;
}

struct ScheduleCase {
    std::string name;
    sweeps::Schedule schedule;
    bool falling = true;  ///< no range drafts more than the first, which drafts something: what TensorRT-LLM can write
};

std::vector<ScheduleCase> schedules() {
    ScheduleCase gap{"with a gap", schedule_of({{1, 5}, {17, 3}, {40, 1}}, 100)};
    gap.schedule.entries[0].batch_to = 10;
    ScheduleCase late{"that starts at batch 2", schedule_of({{2, 5}, {9, 2}}, 64)};
    return {{"falling, until memory ends", schedule_of({{1, 5}, {3, 4}, {22, 2}}, 753)},
            {"falling to 0", schedule_of({{1, 5}, {17, 3}, {129, 0}}, 1024)},
            {"off in between", schedule_of({{1, 4}, {8, 0}, {16, 2}, {64, 0}}, 256)},
            {"off at batch 1", schedule_of({{1, 0}, {4, 3}, {64, 0}}, 256), false},
            {"rising", schedule_of({{1, 2}, {8, 4}, {32, 1}}, 512), false},
            {"of one length twice", schedule_of({{1, 3}, {4, 3}, {9, 1}}, 16)},
            {"of one length", schedule_of({{1, 3}}, 128)},
            gap,
            late};
}

}  // namespace

TEST_CASE("no engine gets flags for a device that its builds have no kernels for") {
    const std::map<std::string, std::vector<std::string>> runs_on = {{"tesla-p40", {"llama.cpp"}},
                                                                     {"v100-sxm-32", {"llama.cpp", "vllm"}},
                                                                     {"t4", {"llama.cpp", "sglang", "vllm"}},
                                                                     {"a10g", {"llama.cpp", "sglang", "tensorrt-llm", "vllm"}}};
    sweeps::Recommendation found = recommendation_of(sim::IndependentDrafter{}, 3, schedule_of({{1, 3}}, 64));
    for (const auto& [device, expected] : runs_on) {
        CAPTURE(device);
        found.variants[0].setup.platform.device = platform(device, "cuda-graph").device;
        std::vector<std::string> running;
        for (const Engine& engine : newest_engines()) {
            const EngineFlags flags = engines::flags_for(found, engine);
            const bool of_device = flags.remark.find("kernels need compute capability") != std::string::npos;
            CHECK(flags.text.empty() == of_device);
            if (!of_device) {
                running.push_back(engine.word);
            }
        }
        std::sort(running.begin(), running.end());
        CHECK(running == expected);
    }
}

TEST_CASE("at every batch an engine with schedules drafts what the schedule says, parsed back by its own rule") {
    int scheduled = 0;
    for (const ScheduleCase& example : schedules()) {
        for (const NamedDrafter& drafter : every_drafter()) {
            const sweeps::Recommendation recommendation = recommendation_of(drafter.drafter, 3, example.schedule);
            for (const Engine& engine : all_engines()) {
                INFO(example.name << ", " << drafter.name << ", " << engine.label());
                const EngineFlags flags = flags_for(recommendation, engine);
                const EngineDrafter* known = engine.drafter(kind_of(drafter.drafter));
                REQUIRE(flags.text.empty() == (known == nullptr));
                if (known == nullptr) {
                    CHECK_FALSE(flags.remark.empty());
                    continue;
                }
                const bool tensorrt = engine.name == EngineName::tensorrt_llm;
                const bool changes = changes_lengths(engine, recommendation.variants.front().setup);
                const bool follows = changes && (!tensorrt || example.falling);
                for (const int batch :
                     {1, 2, 3, 7, 8, 9, 11, 16, 17, 21, 22, 31, 32, 40, 63, 64, 100, 128, 129, 255, 512, 753, 1024}) {
                    if (batch > example.schedule.largest_batch) {
                        continue;
                    }
                    const int expected =
                        follows || lengths_agree(example.schedule) ? scheduled_length(example.schedule, batch) : 3;
                    CHECK(length_at(engine, flags, batch) == expected);
                }
                scheduled += follows ? 1 : 0;
                if (!follows && example.schedule.entries.size() > 2) {
                    CHECK(flags.remark.find("one length for every batch size") != std::string::npos);
                }
            }
        }
    }
    CHECK(scheduled > 100);
}

TEST_CASE("above the last range the engines that would stop say so, and those that go on need nothing") {
    const sweeps::Recommendation memory =
        recommendation_of(sim::OneLayerDrafter::published_eagle3(), 4, schedule_of({{1, 5}, {22, 2}}, 753));
    CHECK(vllm_length(flags_for(memory, "vllm@0.24"), 5000) == 2);
    CHECK(sglang_length(flags_for(memory, "sglang"), 5000) == 2);
    const EngineFlags tensorrt = flags_for(memory, "tensorrt-llm");
    CHECK(tensorrt_llm_length(tensorrt, 754, true) == 0);
    CHECK(tensorrt.remark.find("above batch 753 nothing is drafted") != std::string::npos);

    const sweeps::Recommendation off =
        recommendation_of(sim::OneLayerDrafter::published_eagle3(), 4, schedule_of({{1, 5}, {129, 0}}, 512));
    for (const char* engine : {"vllm@0.24", "sglang", "tensorrt-llm"}) {
        INFO(engine);
        CHECK(length_at(find_engine(engine), flags_for(off, engine), 128) == 5);
        CHECK(length_at(find_engine(engine), flags_for(off, engine), 5000) == 0);
    }
    CHECK(yaml_schedule(flags_for(off, "tensorrt-llm").text) == std::map<int, int>{{128, 5}});
    // Up to 1.2 keys are the smallest batch; only drafters outside the target's engine read them.
    const sweeps::Recommendation model = recommendation_of(sim::IndependentDrafter{}, 4, schedule_of({{1, 5}, {129, 0}}, 512));
    CHECK(yaml_schedule(flags_for(model, "tensorrt-llm@1.2").text) == std::map<int, int>{{1, 5}, {129, 0}});
    CHECK(yaml_schedule(flags_for(off, "tensorrt-llm@1.2").text).empty());
}

TEST_CASE("a length beyond the measured acceptance is said to be extrapolated") {
    sweeps::Recommendation found =
        recommendation_of(sim::OneLayerDrafter::published_eagle3(), 3, schedule_of({{1, 5}, {9, 4}, {30, 2}}, 64));
    const std::string remark = "acceptance of 4 drafts was not measured but extrapolated";
    CHECK(flags_for(found, "vllm@0.24").remark.find(remark) == std::string::npos);
    found.schedule.entries[0].basis = sim::AcceptanceBasis::extrapolated;
    found.schedule.entries[1].basis = sim::AcceptanceBasis::extrapolated;
    CHECK(flags_for(found, "vllm@0.24").remark.find(remark) != std::string::npos);
    CHECK(flags_for(found, "llama.cpp").remark.find("extrapolated") == std::string::npos);  // it drafts 3, which was measured
}

TEST_CASE("where no chain pays at any batch nothing is offered to paste") {
    const sweeps::Recommendation never =
        recommendation_of(sim::OneLayerDrafter::published_eagle3(), 3, schedule_of({{1, 0}}, 256));
    for (const Engine& engine : newest_engines()) {
        const EngineFlags flags = flags_for(never, engine);
        CHECK(flags.text.empty());
        CHECK(flags.remark.find("no chain of drafts pays") != std::string::npos);
    }
}

TEST_CASE("each kind of drafter has its own word in each engine, and a path only where there is a checkpoint to name") {
    const auto text = [](const sim::Drafter& drafter, const char* engine) {
        return flags_for(recommendation_of(drafter, 3, schedule_of({{1, 3}}, 64)), engine).text;
    };
    const sim::OneLayerDrafter mtp{0, 2, sim::OneLayerKind::mtp};
    const sim::OneLayerDrafter eagle{0, 2, sim::OneLayerKind::eagle};
    const sim::OneLayerDrafter eagle3 = sim::OneLayerDrafter::published_eagle3();
    // The target of recommendation_of is Llama-3-8B.
    const std::string repository = "meta-llama/Meta-Llama-3-8B-Instruct";
    const std::string vllm = "vllm serve " + repository + " ",
                      sglang = "python -m sglang.launch_server --model-path " + repository;
    const std::string tensorrt = "# trtllm-serve " + repository + " --config treeline.yaml\n";
    const std::string llama = "llama-server --model MODEL.gguf --gpu-layers 99 ";
    CHECK(text(mtp, "vllm") == vllm + R"(--speculative-config '{"method":"mtp","num_speculative_tokens":3}')");
    CHECK(text(mtp, "vllm@0.10") == vllm + R"(--speculative-config '{"method":"deepseek_mtp","num_speculative_tokens":3}')");
    CHECK(text(mtp, "sglang") == sglang +
                                     " --speculative-algorithm NEXTN --speculative-num-steps 3 --speculative-eagle-topk 1 "
                                     "--speculative-num-draft-tokens 4");
    CHECK(text(mtp, "tensorrt-llm") == tensorrt + "speculative_config:\n  decoding_type: MTP\n  max_draft_len: 3\n");
    CHECK(text(mtp, "tensorrt-llm@1.2") ==
          tensorrt + "speculative_config:\n  decoding_type: MTP\n  num_nextn_predict_layers: 3\n");
    CHECK(text(mtp, "llama.cpp") == llama + "--spec-type draft-mtp --spec-draft-n-max 3");

    CHECK(text(eagle3, "vllm").find(R"("method":"eagle3","model":"PATH_OF_THE_DRAFTER")") != std::string::npos);
    CHECK(text(eagle3, "sglang").find("--speculative-algorithm EAGLE3 --speculative-draft-model-path PATH") !=
          std::string::npos);
    CHECK(text(eagle3, "tensorrt-llm").find("decoding_type: Eagle3") != std::string::npos);
    CHECK(text(eagle3, "llama.cpp")
              .find("--spec-type draft-eagle3 --spec-draft-model PATH_OF_THE_DRAFTER.gguf --spec-draft-ngl 99 ") !=
          std::string::npos);

    CHECK(text(eagle, "vllm").find(R"("method":"eagle",)") != std::string::npos);
    CHECK(text(eagle, "sglang").find("--speculative-algorithm EAGLE ") != std::string::npos);
    CHECK(text(eagle, "tensorrt-llm").empty());
    CHECK(text(eagle, "llama.cpp").empty());

    CHECK(text(sim::IndependentDrafter{}, "vllm").find(R"("method":"draft_model")") != std::string::npos);
    CHECK(text(sim::IndependentDrafter{}, "vllm@0.10").empty());
    CHECK(text(sim::IndependentDrafter{}, "tensorrt-llm@1.2").find("decoding_type: DraftTarget\n") != std::string::npos);
    CHECK(text(sim::IndependentDrafter{}, "tensorrt-llm@1.3").find("decoding_type: Draft_Target\n") != std::string::npos);
    CHECK(text(sim::IndependentDrafter{}, "llama.cpp") ==
          llama +
              "--spec-type draft-simple --spec-draft-model PATH_OF_THE_DRAFTER.gguf --spec-draft-ngl 99 --spec-draft-n-max 3");

    CHECK(text(sim::NgramDrafter{}, "llama.cpp") == llama + "--spec-type ngram-simple --spec-ngram-simple-size-m 3");
    CHECK(text(sim::NgramDrafter{}, "vllm").find(R"("method":"ngram")") != std::string::npos);
    const sim::ParallelDrafter dflash, dspark = sim::ParallelDrafter::published_dspark();
    CHECK(text(dflash, "vllm") ==
          vllm + R"(--speculative-config '{"method":"dflash","model":"PATH_OF_THE_DRAFTER","num_speculative_tokens":3}')");
    CHECK(text(dflash, "sglang") == sglang +
                                        " --speculative-algorithm DFLASH --speculative-draft-model-path PATH_OF_THE_DRAFTER "
                                        "--speculative-dflash-block-size 4");
    CHECK(text(dflash, "tensorrt-llm") ==
          tensorrt +
              "speculative_config:\n  decoding_type: DFlash\n  max_draft_len: 3\n  speculative_model: PATH_OF_THE_DRAFTER\n");
    CHECK(text(dflash, "llama.cpp").find("--spec-type draft-dflash ") != std::string::npos);
    CHECK(text(dflash, "sglang@0.5.9").empty());
    CHECK(text(dspark, "sglang")
              .find("DSPARK --speculative-draft-model-path PATH_OF_THE_DRAFTER "
                    "--speculative-dspark-block-size 3") != std::string::npos);
    CHECK(text(dspark, "tensorrt-llm").empty());
    CHECK(text(dspark, "vllm@0.24").empty());
    CHECK(text(sim::OneLayerDrafter::published_p_eagle(), "vllm") ==
          vllm + R"(--speculative-config '{"method":"eagle3","model":"PATH_OF_THE_DRAFTER","num_speculative_tokens":3,)"
                 R"("parallel_drafting":true}')");

    CHECK(text(sim::MedusaDrafter{}, "tensorrt-llm").empty());
    CHECK(text(sim::MedusaDrafter{}, "vllm").find(R"("method":"medusa")") != std::string::npos);
}

TEST_CASE("a one-layer drafter of no stated kind is taken as the nearest, and the remark says so") {
    const auto remark = [](const sim::Drafter& drafter) {
        return flags_for(recommendation_of(drafter, 3, schedule_of({{1, 3}}, 64)), "vllm").remark;
    };
    CHECK(kind_of(sim::OneLayerDrafter{}) == DrafterKind::eagle);
    CHECK(kind_of(sim::OneLayerDrafter{32000, 2}) == DrafterKind::eagle3);
    CHECK(kind_of(sim::OneLayerDrafter{0, 3}) == DrafterKind::eagle3);
    CHECK(remark(sim::OneLayerDrafter{}).find("assumed EAGLE") != std::string::npos);
    CHECK(remark(sim::OneLayerDrafter::published_eagle3()).find("taken as") == std::string::npos);
}

TEST_CASE("trees go to the engines that draft them, with the root counted as each counts") {
    sweeps::Recommendation found = recommendation_of(sim::OneLayerDrafter::published_eagle3(), 3, schedule_of({{1, 3}}, 64));
    const auto recommend = [&](const sim::TreeShape& shape, int nodes) {
        found.speculations.back() = {shape, sim::Verification::packed, "a tree"};
        found.candidates.front().speculation = static_cast<int>(found.speculations.size()) - 1;
        found.candidates.front().draft_tokens = nodes;
    };
    recommend(sim::SglangShape{5, 4, 16}, 15);
    CHECK_THAT(flags_for(found, "sglang").text,
               Catch::Contains("--speculative-num-steps 5 --speculative-eagle-topk 4 --speculative-num-draft-tokens 16"));
    CHECK(flags_for(found, "tensorrt-llm").remark.find("are stated as depth, top-k and draft tokens") != std::string::npos);
    CHECK(flags_for(found, "vllm").text.empty());
    CHECK(flags_for(found, "vllm").remark == "vLLM 0.33 drafts chains only");
    recommend(sim::TensorRtShape{4, 3, 10}, 10);
    const EngineFlags tree = flags_for(found, "tensorrt-llm");
    CHECK(yaml_number(tree.text, "max_draft_len") == 4);
    CHECK(yaml_number(tree.text, "dynamic_tree_max_topK") == 3);
    CHECK(yaml_number(tree.text, "max_total_draft_tokens") == 10);
    CHECK(flags_for(found, "tensorrt-llm@1.2").text.empty());
    // Latent attention rules trees out in TensorRT-LLM, and MTP modules draft chains in SGLang's flags.
    found.variants[0].setup.target = model("deepseek-v3");
    CHECK(flags_for(found, "tensorrt-llm").text.empty());
    found.variants[0].setup.drafter = sim::OneLayerDrafter{0, 2, sim::OneLayerKind::mtp};
    recommend(sim::SglangShape{5, 4, 16}, 15);
    CHECK(flags_for(found, "sglang").text.empty());
}

TEST_CASE("flags name the checkpoints that are known, and say what to put in the place of the others") {
    sweeps::Recommendation found = recommendation_of(sim::IndependentDrafter{}, 3, schedule_of({{1, 3}}, 64));
    sweeps::Variant& variant = found.variants.front();
    variant.setup.drafter = sim::IndependentDrafter{model("llama-3.2-1b"), {}};
    CHECK(vllm_config(flags_for(found, "vllm")).at("model") == "meta-llama/Llama-3.2-1B-Instruct");
    variant.checkpoint = "somebody/a-drafter";
    CHECK(vllm_config(flags_for(found, "vllm")).at("model") == "somebody/a-drafter");
    CHECK(flags_for(found, "llama.cpp").remark.find("PATH_OF_THE_DRAFTER.gguf: somebody/a-drafter in llama.cpp's format") !=
          std::string::npos);
    variant.setup.target.repository.clear();
    const EngineFlags flags = flags_for(found, "sglang");
    CHECK(flags.text.find("--model-path MODEL ") != std::string::npos);
    CHECK(flags.remark.find("MODEL: the repository or path of llama-3-8b") != std::string::npos);
    variant.labels.precision = "fp8";
    CHECK(flags_for(found, "vllm").remark.find("priced as") == std::string::npos);  // as long as it is published so
    variant.setup.precision.weights.format = sim::NumberFormat::fp8;
    variant.setup.precision.experts.format = sim::NumberFormat::fp8;
    const std::string remark = flags_for(found, "vllm").remark;
    CHECK(remark.find("priced as fp8: load a checkpoint that is stored so") != std::string::npos);
    CHECK(remark.find("drafter priced in bf16, as published: --draft-precision prices a smaller one") != std::string::npos);
    std::get<sim::IndependentDrafter>(variant.setup.drafter).precision.weights.format = sim::NumberFormat::fp8;
    CHECK(flags_for(found, "vllm").remark.find("as published") == std::string::npos);
}

TEST_CASE("a head that was measured with other models alone is said to be none that can be loaded") {
    sweeps::Recommendation found =
        recommendation_of(sim::OneLayerDrafter{0, 2, sim::OneLayerKind::eagle3}, 3, schedule_of({{1, 3}}, 64));
    sim::DraftAcceptance& acceptance = found.variants.front().setup.acceptance;
    acceptance.origin = sim::AcceptanceOrigin::other_requests;
    CHECK(flags_for(found, "vllm").remark.find("none is known here") == std::string::npos);
    acceptance.origin = sim::AcceptanceOrigin::kind_of_drafter;
    CHECK(flags_for(found, "vllm").remark.find("PATH_OF_THE_DRAFTER: one trained for llama-3-8b; none is known here") !=
          std::string::npos);
    found.variants.front().checkpoint = "somebody/a-head";
    CHECK(flags_for(found, "vllm").remark.find("none is known here") == std::string::npos);
}

TEST_CASE("plain decoding has the flags of its cut and no drafter") {
    sweeps::Recommendation found = recommendation_of(sim::NoDrafter{}, 0, schedule_of({{1, 0}}, 64));
    found.speculate = false;
    found.variants.front().setup.platform.ranks = 2.0;
    CHECK(flags_for(found, "vllm").text == "vllm serve meta-llama/Meta-Llama-3-8B-Instruct --tensor-parallel-size 2");
    CHECK(flags_for(found, "llama.cpp").text == "llama-server --model MODEL.gguf --gpu-layers 99 --split-mode row");
}

TEST_CASE("whatever is emitted is clean to lint, at the version that it was written for") {
    int checked = 0;
    for (const ScheduleCase& example : schedules()) {
        for (const NamedDrafter& drafter : every_drafter()) {
            for (const Engine& engine : all_engines()) {
                const EngineFlags flags = flags_for(recommendation_of(drafter.drafter, 3, example.schedule), engine);
                if (flags.text.empty()) {
                    continue;
                }
                INFO(example.name << ", " << drafter.name << ", " << engine.label() << ":\n" << pasted(flags));
                const LintResult result = lint(pasted(flags), engine, [](const std::string&) { return std::nullopt; });
                for (const LintFinding& finding : result.findings) {
                    if (finding.kind != FindingKind::downgrade) {  // what a version does more slowly by itself
                        FAIL_CHECK(finding.text);
                    }
                }
                CHECK(lint(pasted(flags), std::nullopt, [](const std::string&) { return std::nullopt; }).engine.name ==
                      engine.name);
                ++checked;
            }
        }
    }
    CHECK(checked > 200);
}

TEST_CASE("how a model is shared out over devices is told to each engine in its own words, clean to lint") {
    struct Case {
        double tensor;
        sim::Parallelism parallel;
        std::vector<std::string> vllm, sglang, tensorrt_llm;  ///< words of the text; empty = the engine cannot
    };
    const std::vector<Case> cases = {
        {8.0, {}, {"--tensor-parallel-size 8 "}, {"--tp-size 8 "}, {"tensor_parallel_size: 8\n"}},
        {8.0,
         {1.0, 8.0, 1.0},
         {"--tensor-parallel-size 8 ", "--enable-expert-parallel "},
         {"--tp-size 8 ", "--ep-size 8 "},
         {"tensor_parallel_size: 8\n", "moe_expert_parallel_size: 8\n"}},
        {1.0,
         {8.0, 8.0, 1.0},
         {"--data-parallel-size 8 ", "--enable-expert-parallel "},
         {"--tp-size 8 ", "--dp-size 8 ", "--enable-dp-attention ", "--ep-size 8 "},
         {"tensor_parallel_size: 8\n", "moe_expert_parallel_size: 8\n", "enable_attention_dp: true\n"}},
        {2.0,
         {4.0, 8.0, 1.0},
         {"--tensor-parallel-size 2 ", "--data-parallel-size 4 ", "--enable-expert-parallel "},
         {"--tp-size 8 ", "--dp-size 4 ", "--enable-dp-attention "},
         {}},
        {4.0,
         {1.0, 1.0, 2.0},
         {"--tensor-parallel-size 4 ", "--pipeline-parallel-size 2 "},
         {},
         {"pipeline_parallel_size: 2\n"}},
    };
    for (const Case& wanted : cases) {
        sweeps::Recommendation found =
            recommendation_of(sim::OneLayerDrafter{0, 2, sim::OneLayerKind::eagle}, 3, schedule_of({{1, 4}, {8, 2}}, 64));
        found.variants.front().setup.platform.ranks = wanted.tensor;
        found.variants.front().setup.platform.parallel = wanted.parallel;
        found.variants.front().setup.drafter = sim::OneLayerDrafter::published_eagle3();
        for (const EngineFlags& flags : flags_of_each(found)) {
            INFO(flags.engine << ": " << flags.text << flags.remark);
            const std::vector<std::string>* words = flags.engine.starts_with("vLLM")     ? &wanted.vllm
                                                    : flags.engine.starts_with("SGLang") ? &wanted.sglang
                                                    : flags.engine.starts_with("Tensor") ? &wanted.tensorrt_llm
                                                                                         : nullptr;
            if (words == nullptr) {
                sim::Parallelism stages;  // llama.cpp divides layers among devices, or whole ones
                stages.pipeline = wanted.parallel.pipeline;
                CHECK(flags.text.empty() == !(wanted.parallel == stages));
                continue;
            }
            CHECK(flags.text.empty() == words->empty());
            for (const std::string& word : *words) {
                CHECK_THAT(flags.text, Catch::Contains(word));
            }
            if (flags.text.empty()) {
                CHECK_FALSE(flags.remark.empty());
                continue;
            }
            const LintResult result = lint(pasted(flags), std::nullopt, [](const std::string&) { return std::nullopt; });
            for (const LintFinding& finding : result.findings) {
                FAIL_CHECK(finding.text);
            }
        }
    }
}

TEST_CASE("flags say how an engine's own all-reduces are asked for, where the user picked that link") {
    sweeps::Recommendation found = recommendation_of(sim::OneLayerDrafter::published_eagle3(), 3, {});
    sim::Platform& platform = found.variants.front().setup.platform;
    platform.device.interconnects = {{"pcie", BytesPerSecond(46e9), Seconds(22e-6), 8.0, "", {}, {}}};
    platform.ranks = 8.0;
    const auto remarked = [&] {
        std::vector<std::string> engines;
        for (const EngineFlags& flags : flags_of_each(found)) {
            if (flags.remark.find("all-reduces of their own run them with SOME_SETTING=1") != std::string::npos) {
                engines.push_back(flags.engine.substr(0, flags.engine.find(' ')));
            }
        }
        return engines;
    };
    CHECK(remarked().empty());
    platform.device.interconnects.front().own = {
        Seconds(7e-6), BytesPerSecond(27e9), Bytes(57344), {}, {}, {{"vllm", "SOME_SETTING=1"}}};
    CHECK(remarked() == std::vector<std::string>{"vLLM"});
}

TEST_CASE("picked kernels of attention are told to the engines that have a flag for them") {
    sweeps::Recommendation found = recommendation_of(sim::OneLayerDrafter::published_eagle3(), 3, {});
    sim::AttentionKernels& kernels = found.variants.front().setup.platform.stack.picked.attention_kernels;
    kernels.name = "triton";
    kernels.flags = {{"sglang", "--attention-backend triton"}};
    for (const EngineFlags& flags : flags_of_each(found)) {
        INFO(flags.engine << ": " << flags.text);
        CHECK((flags.text.find("--attention-backend triton --spec") != std::string::npos) ==
              flags.engine.starts_with("SGLang"));
    }
}

TEST_CASE("picked kernels of experts are told to the engines that have a flag for them, clean to lint") {
    sweeps::Recommendation found = recommendation_of(sim::OneLayerDrafter::published_eagle3(), 3, {});
    sim::ExpertKernels& kernels = found.variants.front().setup.platform.stack.picked.expert_kernels;
    kernels.name = "b12x";
    kernels.flags = {{"sglang", "--moe-runner-backend b12x"}, {"vllm", "--moe-backend b12x"}};
    for (const EngineFlags& flags : flags_of_each(found)) {
        INFO(flags.engine << ": " << flags.text);
        CHECK((flags.text.find("--moe-runner-backend b12x --spec") != std::string::npos) == flags.engine.starts_with("SGLang"));
        CHECK((flags.text.find("--moe-backend b12x --spec") != std::string::npos) == flags.engine.starts_with("vLLM"));
    }
}

TEST_CASE("TensorRT-LLM without a drafter or other settings is its command alone, without a file") {
    sweeps::Recommendation found = recommendation_of(sim::OneLayerDrafter::published_eagle3(), 3, {});
    found.speculate = false;
    CHECK(flags_for(found, "tensorrt-llm").text == "trtllm-serve meta-llama/Meta-Llama-3-8B-Instruct");
    found.variants.front().setup.platform.ranks = 2.0;
    CHECK(flags_for(found, "tensorrt-llm").text ==
          "# trtllm-serve meta-llama/Meta-Llama-3-8B-Instruct --config treeline.yaml\ntensor_parallel_size: 2\n");
}

}  // namespace engine_flags_test
