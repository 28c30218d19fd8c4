// Does what is pasted do what the schedule says? The text of every engine is parsed back and read by that engine's own rule,
// which is written down here a second time: vllm/v1/spec_decode/dynamic/utils.py, adaptive_spec_params.py of SGLang,
// _torch/speculative/utils.py and drafter.py of TensorRT-LLM, common/speculative.cpp of llama.cpp.
#include <algorithm>

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "engines/command_line.h"
#include "engines/lint.h"
#include "recommendations.h"

using namespace treeline;
using namespace treeline::engines;
using namespace treeline::testing;
using Json = nlohmann::ordered_json;

namespace {

/// The number under a key of the YAML that is written; -1 where it is absent.
int yaml_number(const std::string& text, const std::string& key) {
    std::smatch match;
    return std::regex_search(text, match, std::regex("\n  " + key + ": ([0-9]+)\n")) ? std::stoi(match[1]) : -1;
}

std::map<int, int> yaml_schedule(const std::string& text) {
    std::map<int, int> schedule;
    const std::regex entry("\n    ([0-9]+): ([0-9]+)(?=\n)");
    for (auto at = std::sregex_iterator(text.begin(), text.end(), entry); at != std::sregex_iterator(); ++at) {
        REQUIRE(schedule.emplace(std::stoi((*at)[1]), std::stoi((*at)[2])).second);
    }
    return schedule;
}

Json vllm_config(const EngineFlags& flags) {
    const CommandLine line = split_command_line(flags.text);
    REQUIRE(line.words.size() == 2);
    CHECK(line.words[0] == "--speculative-config");
    return Json::parse(line.words[1]);
}

/// Draft tokens at a batch, as the engine reads its flags. Fails where the engine would refuse them.
int vllm_length(const EngineFlags& flags, int batch) {
    const Json config = vllm_config(flags);
    const int most = config.at("num_speculative_tokens");
    REQUIRE(most >= 1);
    if (!config.contains("num_speculative_tokens_per_batch_size")) {
        return most;
    }
    int end = 0;
    int length = -1;
    for (const Json& range : config.at("num_speculative_tokens_per_batch_size")) {
        REQUIRE(range.size() == 3);
        const int from = range[0];
        REQUIRE((end == 0 ? from == 1 : from > end));
        REQUIRE(range[1] >= from);
        REQUIRE(range[2] >= 0);
        REQUIRE(range[2] <= most);
        end = range[1];
        length = from <= batch ? range[2].get<int>() : length;
    }
    return length;
}

int sglang_length(const EngineFlags& flags, int batch) {
    const Flags parsed(split_command_line(flags.text).words);
    const auto tokens = parsed.number({"--speculative-num-draft-tokens"});
    REQUIRE(tokens);
    if (parsed.find({"--speculative-algorithm"})->value == "NGRAM") {
        CHECK(parsed.number({"--speculative-ngram-max-bfs-breadth"}) == 1);
        return static_cast<int>(*tokens) - 1;
    }
    const auto steps = parsed.number({"--speculative-num-steps"});
    REQUIRE(steps);
    CHECK(parsed.number({"--speculative-eagle-topk"}) == 1);
    CHECK(*tokens == *steps + 1);
    if (!parsed.has({"--speculative-adaptive"})) {
        CHECK(flags.file.empty());
        return static_cast<int>(*steps);
    }
    CHECK(parsed.find({"--speculative-adaptive-config"})->value == flags.file);
    std::map<int, int> slots;
    const Json file = Json::parse(flags.file_text);
    for (const auto& [key, slot] : file.items()) {
        REQUIRE(slot.at("candidate_steps").size() == 1);
        slots[std::stoi(key)] = slot["candidate_steps"][0];
    }
    CHECK(std::any_of(slots.begin(), slots.end(), [&](const auto& slot) { return slot.second == *steps; }));
    REQUIRE(slots.begin()->first == 1);
    return std::prev(slots.upper_bound(batch))->second;
}

int tensorrt_llm_length(const EngineFlags& flags, int batch, bool upper_bounds) {
    const int most = std::max(yaml_number(flags.text, "max_draft_len"), yaml_number(flags.text, "num_nextn_predict_layers"));
    REQUIRE(most >= 1);
    const std::map<int, int> schedule = yaml_schedule(flags.text);
    if (schedule.empty()) {
        return most;
    }
    CHECK(schedule.begin()->second == most);
    for (const auto& [key, length] : schedule) {
        CHECK(length <= most);
    }
    if (upper_bounds) {
        const auto at = schedule.lower_bound(batch);
        return at == schedule.end() ? 0 : at->second;
    }
    REQUIRE(schedule.begin()->first == 1);
    return std::prev(schedule.upper_bound(batch))->second;
}

int llama_cpp_length(const EngineFlags& flags) {
    const Flags parsed(split_command_line(flags.text).words);
    const std::string type = parsed.find({"--spec-type"})->value.value_or("");
    const auto length = parsed.number({type == "ngram-simple" ? "--spec-ngram-simple-size-m" : "--spec-draft-n-max"});
    REQUIRE(length);
    return static_cast<int>(*length);
}

int length_at(const Engine& engine, const EngineFlags& flags, int batch) {
    switch (engine.name) {
        case EngineName::vllm:
            return vllm_length(flags, batch);
        case EngineName::sglang:
            return sglang_length(flags, batch);
        case EngineName::tensorrt_llm:
            return tensorrt_llm_length(flags, batch, engine.version != "1.2");
        case EngineName::llama_cpp:
            break;
    }
    return llama_cpp_length(flags);
}

int scheduled_length(const sweeps::Schedule& schedule, int batch) {
    int length = schedule.entries.front().draft_tokens;
    for (const sweeps::ScheduleEntry& entry : schedule.entries) {
        length = entry.batch_from <= batch ? entry.draft_tokens : length;
    }
    return length;
}

/// One length at every batch: what an engine without schedules follows, too.
bool lengths_agree(const sweeps::Schedule& schedule) {
    return std::all_of(schedule.entries.begin(), schedule.entries.end(), [&](const sweeps::ScheduleEntry& entry) {
        return entry.draft_tokens == schedule.entries.front().draft_tokens;
    });
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

TEST_CASE("at every batch an engine with schedules drafts what the schedule says, parsed back by its own rule") {
    int scheduled = 0;
    for (const ScheduleCase& example : schedules()) {
        for (const NamedDrafter& drafter : every_drafter()) {
            const sweeps::Recommendation recommendation = recommendation_of(drafter.drafter, 3, example.schedule);
            for (const Engine& engine : all_engines()) {
                INFO(example.name << ", " << drafter.name << ", " << engine.label());
                const EngineFlags flags = engine_flags(recommendation, {engine}).front();
                const EngineDrafter* known = engine.drafter(kind_of(drafter.drafter));
                REQUIRE(flags.text.empty() == (known == nullptr));
                if (known == nullptr) {
                    CHECK_FALSE(flags.remark.empty());
                    continue;
                }
                const bool tensorrt = engine.name == EngineName::tensorrt_llm;
                const bool follows = known->scheduled && (!tensorrt || example.falling);
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
    CHECK(vllm_length(flags_for(memory, "vllm"), 5000) == 2);
    CHECK(sglang_length(flags_for(memory, "sglang"), 5000) == 2);
    const EngineFlags tensorrt = flags_for(memory, "tensorrt-llm");
    CHECK(tensorrt_llm_length(tensorrt, 754, true) == 0);
    CHECK(tensorrt.remark.find("above batch 753 nothing is drafted") != std::string::npos);

    const sweeps::Recommendation off =
        recommendation_of(sim::OneLayerDrafter::published_eagle3(), 4, schedule_of({{1, 5}, {129, 0}}, 512));
    for (const char* engine : {"vllm", "sglang", "tensorrt-llm"}) {
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
    CHECK(flags_for(found, "vllm").remark.find(remark) == std::string::npos);
    found.chain_schedule.entries[0].basis = sim::AcceptanceBasis::extrapolated;
    found.chain_schedule.entries[1].basis = sim::AcceptanceBasis::extrapolated;
    CHECK(flags_for(found, "vllm").remark.find(remark) != std::string::npos);
    CHECK(flags_for(found, "llama.cpp").remark.find("extrapolated") == std::string::npos);  // it drafts 3, which was measured
}

TEST_CASE("where no chain pays at any batch nothing is offered to paste") {
    const sweeps::Recommendation never =
        recommendation_of(sim::OneLayerDrafter::published_eagle3(), 3, schedule_of({{1, 0}}, 256));
    for (const Engine& engine : newest_engines()) {
        const EngineFlags flags = engine_flags(never, {engine}).front();
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
    CHECK(text(mtp, "vllm") == R"(--speculative-config '{"method":"mtp","num_speculative_tokens":3}')");
    CHECK(text(mtp, "vllm@0.10") == R"(--speculative-config '{"method":"deepseek_mtp","num_speculative_tokens":3}')");
    CHECK(
        text(mtp, "sglang") ==
        "--speculative-algorithm NEXTN --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4");
    CHECK(text(mtp, "tensorrt-llm") == "speculative_config:\n  decoding_type: MTP\n  max_draft_len: 3\n");
    CHECK(text(mtp, "tensorrt-llm@1.2") == "speculative_config:\n  decoding_type: MTP\n  num_nextn_predict_layers: 3\n");
    CHECK(text(mtp, "llama.cpp") == "--spec-type draft-mtp --spec-draft-n-max 3");

    CHECK(text(eagle3, "vllm").find(R"("method":"eagle3","model":"PATH_OF_THE_DRAFTER")") != std::string::npos);
    CHECK(text(eagle3, "sglang").find("--speculative-algorithm EAGLE3 --speculative-draft-model-path PATH") !=
          std::string::npos);
    CHECK(text(eagle3, "tensorrt-llm").find("decoding_type: Eagle3") != std::string::npos);
    CHECK(text(eagle3, "llama.cpp").find("--spec-type draft-eagle3 --spec-draft-model PATH") != std::string::npos);

    CHECK(text(eagle, "vllm").find(R"("method":"eagle",)") != std::string::npos);
    CHECK(text(eagle, "sglang").find("--speculative-algorithm EAGLE ") != std::string::npos);
    CHECK(text(eagle, "tensorrt-llm").empty());
    CHECK(text(eagle, "llama.cpp").empty());

    CHECK(text(sim::IndependentDrafter{}, "vllm").find(R"("method":"draft_model")") != std::string::npos);
    CHECK(text(sim::IndependentDrafter{}, "vllm@0.10").empty());
    CHECK(text(sim::IndependentDrafter{}, "tensorrt-llm@1.2").find("decoding_type: DraftTarget\n") != std::string::npos);
    CHECK(text(sim::IndependentDrafter{}, "tensorrt-llm@1.3").find("decoding_type: Draft_Target\n") != std::string::npos);
    CHECK(text(sim::IndependentDrafter{}, "llama.cpp") ==
          "--spec-type draft-simple --spec-draft-model PATH_OF_THE_DRAFTER.gguf --spec-draft-n-max 3");

    CHECK(text(sim::NgramDrafter{}, "llama.cpp") == "--spec-type ngram-simple --spec-ngram-simple-size-m 3");
    CHECK(text(sim::NgramDrafter{}, "vllm").find(R"("method":"ngram")") != std::string::npos);
    const sim::ParallelDrafter dflash, dspark = sim::ParallelDrafter::published_dspark();
    CHECK(text(dflash, "vllm") ==
          R"(--speculative-config '{"method":"dflash","model":"PATH_OF_THE_DRAFTER","num_speculative_tokens":3}')");
    CHECK(
        text(dflash, "sglang") ==
        "--speculative-algorithm DFLASH --speculative-draft-model-path PATH_OF_THE_DRAFTER --speculative-dflash-block-size 4");
    CHECK(text(dflash, "tensorrt-llm") ==
          "speculative_config:\n  decoding_type: DFlash\n  max_draft_len: 3\n  speculative_model: PATH_OF_THE_DRAFTER\n");
    CHECK(text(dflash, "llama.cpp").find("--spec-type draft-dflash ") != std::string::npos);
    CHECK(text(dflash, "sglang@0.5.9").empty());
    CHECK(text(dspark, "sglang")
              .find("DSPARK --speculative-draft-model-path PATH_OF_THE_DRAFTER "
                    "--speculative-dspark-block-size 3") != std::string::npos);
    CHECK(text(dspark, "tensorrt-llm").empty());
    CHECK(text(dspark, "vllm@0.24").empty());
    CHECK(text(sim::OneLayerDrafter::published_p_eagle(), "vllm") ==
          R"(--speculative-config '{"method":"eagle3","model":"PATH_OF_THE_DRAFTER","num_speculative_tokens":3,)"
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
    found.speculations.push_back({sim::SglangShape{5, 4, 16}, sim::Verification::unrolled, "sglang 5,4,16"});
    found.speculations.push_back({sim::TensorRtShape{4, 3, 10}, sim::Verification::unrolled, "tensorrt 4,3,10"});
    sweeps::Candidate sglang;
    sglang.speculation = 9;
    sglang.draft_tokens = 15;
    sweeps::Candidate tensorrt;
    tensorrt.speculation = 10;
    tensorrt.draft_tokens = 10;
    tensorrt.regret = 0.02;
    found.candidates = {sglang, tensorrt, found.candidates.front()};
    found.candidates.back().regret = 0.05;

    CHECK(flags_for(found, "sglang")
              .text.find("--speculative-num-steps 5 --speculative-eagle-topk 4 --speculative-num-draft-tokens 16") !=
          std::string::npos);
    const EngineFlags tree = flags_for(found, "tensorrt-llm");
    CHECK(yaml_number(tree.text, "max_draft_len") == 4);
    CHECK(yaml_number(tree.text, "dynamic_tree_max_topK") == 3);
    CHECK(yaml_number(tree.text, "max_total_draft_tokens") == 10);
    CHECK(tree.remark.find("2.0 % worse") != std::string::npos);
    // Neither vLLM nor TensorRT-LLM 1.2 draft trees; latent attention rules them out in TensorRT-LLM.
    CHECK(flags_for(found, "vllm").remark.find("5.0 % worse") != std::string::npos);
    CHECK(yaml_number(flags_for(found, "tensorrt-llm@1.2").text, "max_draft_len") == 3);
    found.variants[0].setup.target = model("deepseek-v3");
    CHECK(yaml_number(flags_for(found, "tensorrt-llm").text, "max_draft_len") == 3);
    // MTP modules draft chains in SGLang's flags.
    found.variants[0].setup.drafter = sim::OneLayerDrafter{0, 2, sim::OneLayerKind::mtp};
    CHECK(flags_for(found, "sglang").text.find("--speculative-eagle-topk 1") != std::string::npos);
}

TEST_CASE("whatever is emitted is clean to lint, at the version that it was written for") {
    int checked = 0;
    for (const ScheduleCase& example : schedules()) {
        for (const NamedDrafter& drafter : every_drafter()) {
            for (const Engine& engine : all_engines()) {
                const EngineFlags flags =
                    engine_flags(recommendation_of(drafter.drafter, 3, example.schedule), {engine}).front();
                if (flags.text.empty()) {
                    continue;
                }
                INFO(example.name << ", " << drafter.name << ", " << engine.label() << ":\n" << pasted(flags));
                const LintResult result = lint(pasted(flags), engine, [](const std::string&) { return std::nullopt; });
                for (const LintFinding& finding : result.findings) {
                    FAIL_CHECK(finding.text);
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
        for (const EngineFlags& flags : engine_flags(found)) {
            INFO(flags.engine << ": " << flags.text << flags.remark);
            const std::vector<std::string>* words = flags.engine.starts_with("vLLM")     ? &wanted.vllm
                                                    : flags.engine.starts_with("SGLang") ? &wanted.sglang
                                                    : flags.engine.starts_with("Tensor") ? &wanted.tensorrt_llm
                                                                                         : nullptr;
            if (words == nullptr) {
                CHECK(flags.text.empty() == !(wanted.parallel == sim::Parallelism{}));
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
        for (const EngineFlags& flags : engine_flags(found)) {
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
    sim::AttentionKernels& kernels = found.variants.front().setup.platform.stack.attention_kernels;
    kernels.name = "triton";
    kernels.flags = {{"sglang", "--attention-backend triton"}};
    for (const EngineFlags& flags : engine_flags(found)) {
        INFO(flags.engine << ": " << flags.text);
        CHECK((flags.text.find("--attention-backend triton --spec") != std::string::npos) ==
              flags.engine.starts_with("SGLang"));
    }
}

TEST_CASE("picked kernels of experts are told to the engines that have a flag for them, clean to lint") {
    sweeps::Recommendation found = recommendation_of(sim::OneLayerDrafter::published_eagle3(), 3, {});
    sim::ExpertKernels& kernels = found.variants.front().setup.platform.stack.expert_kernels;
    kernels.name = "b12x";
    kernels.flags = {{"sglang", "--moe-runner-backend b12x"}, {"vllm", "--moe-backend b12x"}};
    for (const EngineFlags& flags : engine_flags(found)) {
        INFO(flags.engine << ": " << flags.text);
        CHECK((flags.text.find("--moe-runner-backend b12x --spec") != std::string::npos) == flags.engine.starts_with("SGLang"));
        CHECK((flags.text.find("--moe-backend b12x --spec") != std::string::npos) == flags.engine.starts_with("vLLM"));
    }
}
