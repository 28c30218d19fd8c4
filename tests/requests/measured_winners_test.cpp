// Do the two examples recommend the drafter that was measured to be the fastest, by kind of request and batch?
#include <catch2/catch.hpp>

#include <map>

#include <nlohmann/json.hpp>

#include "requests/recommend/workload_reader.h"
#include "setups.h"
#include "sweeps/recommend.h"

using namespace treeline;
using namespace treeline::requests;
using treeline::testing::source_folder;

namespace {

sweeps::RecommendInput example(const char* file, const std::string& category) {
    json::Document loaded = json::Document::load(source_folder() / "examples" / file);
    nlohmann::ordered_json json = loaded.root().raw();
    json["traffic"]["categories"] = {{category, 1.0}};
    json::Document document = json::Document::of(json, file);
    Descriptions descriptions({source_folder() / "models", source_folder() / "hardware"}, source_folder() / "examples");
    return read_workload(document, descriptions);
}

/// Speed-up of each drafter at a batch, by its label; the fastest of its rollbacks.
std::map<std::string, double> speedups(const sweeps::RecommendInput& input, double batch, double context) {
    std::map<std::string, double> found;
    for (const sweeps::Variant& variant : input.workload.variants) {
        if (!variant.origin.drafter) {
            continue;
        }
        sim::RoundSetup setup = variant.setup;
        setup.speculations = {sim::chains_up_to(0).front(), input.workload.speculations.back()};
        const sim::CompiledRound round = sim::compile_round(setup);
        double& best = found[input.drafters[*variant.origin.drafter].label];
        best = std::max(best, sim::evaluate(round, {1, batch, context}).throughput_multiplier);
    }
    return found;
}

std::string fastest(const std::map<std::string, double>& rates) {
    std::string best;
    for (const auto& [name, rate] : rates) {
        if (best.empty() || rate > rates.at(best)) {
            best = name;
        }
    }
    return best;
}

}  // namespace

TEST_CASE("EAGLE-3, a draft model and n-gram on Qwen3-8B: the measured winner by category and batch") {
    // SpecDecode-Bench (arXiv 2601.11580), vLLM 0.10, one H100, 3 drafts: speed-ups at 1, 16, 64 and 128 requests of EAGLE-3,
    // Qwen3-0.6B and n-gram (../shared/data/speculation, series sdbench-vllm/Qwen3-8B).
    const std::string eagle = "eagle3-qwen3-8b-sdbench", model = "model-qwen3-0.6b-on-qwen3-8b", ngram = "ngram-qwen3-8b";
    const double batches[] = {1, 16, 64, 128};
    const std::map<std::string, std::map<std::string, std::vector<double>>> measured = {
        {"math",
         {{eagle, {1.821, 1.761, 1.505, 1.163}}, {model, {1.701, 1.675, 1.469, 1.137}}, {ngram, {1.113, 1.105, 1.052, 0.994}}}},
        {"summarisation",
         {{eagle, {1.822, 1.711, 1.473, 1.231}}, {model, {1.456, 1.373, 1.153, 0.97}}, {ngram, {1.532, 1.477, 1.368, 1.247}}}},
        {"chat",
         {{eagle, {1.627, 1.563, 1.442, 1.14}}, {model, {1.351, 1.314, 1.134, 0.912}}, {ngram, {1.14, 1.103, 1.086, 1.024}}}},
        {"code",
         {{eagle, {1.992, 1.837, 1.471, 1.18}}, {model, {1.786, 1.686, 1.401, 1.115}}, {ngram, {2.177, 2.008, 1.63, 1.376}}}}};
    int right = 0;
    double worst_regret = 0.0;
    for (const auto& [category, rows] : measured) {
        const sweeps::RecommendInput input = example("qwen3-8b-h100.json", category);
        for (std::size_t b = 0; b < 4; ++b) {
            std::map<std::string, double> truth;
            for (const auto& [name, values] : rows) {
                truth[name] = values[b];
            }
            const std::string predicted = fastest(speedups(input, batches[b], 725.0));
            INFO(category << " at " << batches[b] << ": " << predicted);
            right += predicted == fastest(truth) ? 1 : 0;
            worst_regret = std::max(worst_regret, truth.at(fastest(truth)) / truth.at(predicted) - 1.0);
        }
    }
    // Summaries at 128 requests are a tie: 1.247 times with n-gram, 1.231 with EAGLE-3. For code at 128 the model sees n-gram
    // and EAGLE-3 within 2 %, where n-gram was 17 % faster: it takes too little time for EAGLE-3 at that batch.
    CHECK(right >= 14);
    CHECK(worst_regret < 0.17);
}

TEST_CASE("MTP, DSpark and DFlash on Nemotron-3.5-Lightning: the measured order at every batch") {
    // vLLM blog, one H100, 3 drafts, tokens/s of a user at 1 … 128 requests (series vllm-nemotron35l-h100): DSpark 1.80
    // to 1.14, MTP 1.45 to 1.06, DFlash 1.32 to 0.91; this order at every batch.
    const sweeps::RecommendInput input = example("nemotron-3.5-lightning-h100.json", "agentic");
    for (const double batch : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0}) {
        const std::map<std::string, double> rates = speedups(input, batch, 40'000.0);
        INFO("batch " << batch);
        CHECK(fastest(rates) == "dspark-nemotron-3.5-lightning");
        CHECK(rates.at("mtp-nemotron-3.5-lightning") > rates.at("dflash-nemotron-3.5-lightning"));
    }
}
