// Random workloads on the stacks of engines: what is pasted, read back, is the configuration that was priced.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "engines/lint.h"
#include "engines/priced_engine.h"
#include "numerics/random.h"
#include "pasted_flags.h"
#include "requests/recommend/workload_file.h"
#include "source_folder.h"
#include "text/input_error.h"

namespace flags_round_trip_test {

using namespace treeline;
using namespace treeline::engines;
using namespace treeline::testing;
using Json = nlohmann::ordered_json;

namespace {

template <class T>
const T& one_of(numerics::Random& random, const std::vector<T>& all) {
    return all[static_cast<std::size_t>(random.uniform() * static_cast<double>(all.size()))];
}

Json drafter_of(numerics::Random& random, const std::string& target) {
    Json acceptance = {{"per_position", Json::array()}};
    double rate = 0.5 + 0.45 * random.uniform();
    for (int i = 0; i < 6; ++i) {
        acceptance["per_position"].push_back(rate);
        rate *= 0.6 + 0.38 * random.uniform();
    }
    const std::string kind =
        one_of<std::string>(random, {"eagle3", "eagle", "ngram", "mtp", "model", "dflash", "suffix", "medusa"});
    if (kind == "eagle3" && random.uniform() < 0.6) {
        acceptance = {{"per_rank", {0.7, 0.12, 0.06, 0.03}}};
    }
    Json drafter = {{"kind", kind}, {"acceptance", acceptance}};
    if (kind == "model") {
        drafter["model"] = target.starts_with("llama") ? "llama-3.2-1b" : "qwen3-0.6b";
    }
    return drafter;
}

Json workload_of(numerics::Random& random, const std::string& engine) {
    const std::string target = one_of<std::string>(random, {"llama-3.1-8b", "qwen3-8b", "qwen3-32b", "qwen3-30b-a3b",
                                                            "qwen3.5-27b", "glm-4.5-air", "mimo-v2-flash", "deepseek-r1"});
    const bool large = target == "deepseek-r1" || target == "mimo-v2-flash";
    Json platform = {{"device", one_of<std::string>(random, {"h100-sxm", "h200", "b200", "l40s"})},
                     {"tensor_parallel", large ? 8 : one_of<int>(random, {1, 2, 4})},
                     {"engine", engine}};
    Json workload = {{"target", target},
                     {"platforms", Json::array({platform})},
                     {"drafters", Json::array({drafter_of(random, target)})},
                     {"draft_tokens", {{"from", 1}, {"to", one_of<int>(random, {2, 4, 6})}}},
                     {"limits", {{"minimum_gain", 1.0}}}};
    const double batch = one_of<double>(random, {1, 4, 16, 64, 200});
    workload["traffic"] = {{"batch", {1, 2 + static_cast<int>(batch * random.uniform()), 3 + 2 * static_cast<int>(batch)}},
                           {"context", one_of<int>(random, {512, 2048, 8000})}};
    if (random.uniform() < 0.4) {
        workload["shapes"] = Json::array({engine.starts_with("tensorrt") ? "tensorrt_llm:4,3,10" : "sglang:4,4,16"});
    }
    return workload;
}

void check_tree(const EngineFlags& flags, const sim::TreeShape& shape) {
    if (const auto* tree = std::get_if<sim::SglangShape>(&shape)) {
        const Flags parsed(split_command_line(flags.text).words);
        CHECK(parsed.number({"--speculative-num-steps"}) == tree->steps);
        CHECK(parsed.number({"--speculative-eagle-topk"}) == tree->top_k);
        CHECK(parsed.number({"--speculative-num-draft-tokens"}) == tree->draft_tokens);
        CHECK_FALSE(parsed.has({"--speculative-adaptive"}));
        return;
    }
    const auto& tree = std::get<sim::TensorRtShape>(shape);
    CHECK(yaml_number(flags.text, "max_draft_len") == tree.max_draft_len);
    CHECK(yaml_number(flags.text, "dynamic_tree_max_topK") == tree.max_top_k);
    CHECK(yaml_number(flags.text, "max_total_draft_tokens") == tree.max_total_draft_tokens);
}

/// What TensorRT-LLM can write: no range drafts more than the first, which drafts something.
bool falls(const sweeps::Schedule& schedule) {
    const int first = schedule.entries.front().draft_tokens;
    return first > 0 && std::all_of(schedule.entries.begin(), schedule.entries.end(),
                                    [&](const sweeps::ScheduleEntry& entry) { return entry.draft_tokens <= first; });
}

void check_lengths(const Engine& engine, const EngineFlags& flags, const sweeps::Recommendation& found) {
    const sweeps::Candidate& best = found.candidates.front();
    const bool scheduled = found.variants[best.variant].switching == sweeps::Switching::lengths &&
                           sweeps::schedule_pays(found) && (engine.name != EngineName::tensorrt_llm || falls(found.schedule));
    for (int batch = 1; batch <= found.schedule.entries.back().batch_to; batch += 1 + batch / 7) {
        INFO("batch " << batch);
        CHECK(length_at(engine, flags, batch) == (scheduled ? scheduled_length(found.schedule, batch) : best.draft_tokens));
    }
}

/// How many answers of each kind were read back.
struct Checked {
    int drafting = 0, trees = 0, schedules = 0, refused = 0;
};

/// Whether lint has nothing against it but what the version does more slowly than others, which the price holds.
bool is_accepted(const std::string& text, const Engine& engine) {
    const std::vector<LintFinding> findings = lint(text, engine, [](const std::string&) { return std::nullopt; }).findings;
    return std::all_of(findings.begin(), findings.end(),
                       [](const LintFinding& finding) { return finding.kind == FindingKind::downgrade; });
}

/// The word that selects the method, as it stands in the text.
std::string method_in(const Engine& engine, const EngineFlags& flags) {
    switch (engine.name) {
        case EngineName::vllm:
            return vllm_config(flags).at("method");
        case EngineName::tensorrt_llm: {
            std::smatch match;
            REQUIRE(std::regex_search(flags.text, match, std::regex("decoding_type: (\\w+)\n")));
            return match[1];
        }
        case EngineName::sglang:
        case EngineName::llama_cpp:
            break;
    }
    const Flags parsed(split_command_line(flags.text).words);
    return parsed.find({"--speculative-algorithm", "--spec-type"})->value.value();
}

Checked check_round_trips(std::uint64_t seed, int workloads) {
    numerics::Random random(seed);
    const requests::Catalogue catalogue{source_folder() / "models", source_folder() / "hardware"};
    Checked checked;
    for (int i = 0; i < workloads; ++i) {
        const std::string asked = one_of<std::string>(
            random, {"vllm", "vllm@0.19", "vllm@0.24", "sglang", "sglang@0.5.11", "tensorrt-llm", "llama.cpp"});
        const Json workload = workload_of(random, asked);
        INFO(workload.dump());
        std::optional<sweeps::Recommendation> found;
        try {
            sweeps::RecommendInput input = requests::read_workload_text(workload.dump(), "workload", {}, catalogue).input;
            keep_what_engines_run(input);
            found = sweeps::recommend(input.workload, 1).recommendation;
        } catch (const text::InputError& error) {
            REQUIRE_FALSE(error.problems().empty());
            ++checked.refused;
            continue;
        }
        if (!found) {
            continue;
        }
        const Engine engine = find_engine(asked);
        const std::optional<EngineFlags> flags = engine_flags(*found);
        REQUIRE(flags);
        INFO(pasted(*flags));
        CHECK(flags->engine == engine.label());
        REQUIRE_FALSE(flags->text.empty());
        const sweeps::Candidate& best = found->candidates.front();
        const sweeps::Variant& variant = found->variants[best.variant];
        if (engine.name != EngineName::llama_cpp) {
            CHECK(flags->text.find(variant.setup.target.repository) != std::string::npos);
        }
        if (!found->speculate) {
            CHECK(flags->text.find("spec") == std::string::npos);
            continue;
        }
        ++checked.drafting;
        CHECK(is_accepted(pasted(*flags), engine));
        CHECK(method_in(engine, *flags) == engine.drafter(kind_of(variant.setup.drafter))->word);
        const sim::Speculation& speculation = found->speculations[static_cast<std::size_t>(best.speculation)];
        if (sim::is_chain(speculation)) {
            check_lengths(engine, *flags, *found);
            checked.schedules += found->schedule.entries.size() > 1 && variant.switching == sweeps::Switching::lengths ? 1 : 0;
        } else {
            check_tree(*flags, speculation.shape);
            ++checked.trees;
        }
    }
    return checked;
}

}  // namespace

TEST_CASE("the flags of the priced engine, read back, are the configuration that was priced") {
    CHECK(check_round_trips(31, 40).drafting > 5);
}

TEST_CASE("so are those of four hundred workloads", "[slow]") {
    const Checked checked = check_round_trips(30, 400);
    CHECK(checked.drafting > 110);
    CHECK(checked.trees > 1);
    CHECK(checked.schedules > 6);
    CHECK(checked.refused > 40);
}

}  // namespace flags_round_trip_test
