// Do the two examples recommend the drafter that was measured to be the fastest, by kind of request and batch?
#include <catch2/catch.hpp>

#include <map>

#include <nlohmann/json.hpp>

#include "requests/point_reader.h"
#include "source_folder.h"
#include "sweeps/estimate.h"

namespace measured_winners_test {

using namespace treeline;
using namespace treeline::requests;
using treeline::testing::source_folder;

namespace {

/// What a kind of request asks for, and how much of its prompts the prefix cache holds.
struct Requests {
    int prompt_tokens, output_tokens;
    double prefix_hit;
};

/// Speed-up of each of the example's drafters for one kind of request, under the load of so many requests.
std::map<std::string, double> speedups(const char* file, const std::string& category, int batch, const Requests& asked) {
    json::Document loaded = json::Document::load(source_folder() / "examples" / file);
    const nlohmann::ordered_json example = loaded.root().raw();
    std::map<std::string, double> found;
    for (const nlohmann::ordered_json& drafter : example["drafters"]) {
        const std::string name = drafter.is_string() ? drafter : drafter["published"];
        const nlohmann::ordered_json point = {
            {"target", example["target"]},
            {"platform", example["platforms"][0]},
            {"drafter", {{"published", name}, {"any_target", true}, {"categories", {{category, 1.0}}}}},
            {"draft_tokens", 3},
            {"batch", batch},
            {"context", asked.prompt_tokens + asked.output_tokens / 2},
            {"prompt_tokens", asked.prompt_tokens},
            {"output_tokens", asked.output_tokens},
            {"prefix_hit", asked.prefix_hit}};
        json::Document document = json::Document::of(point, file);
        Descriptions descriptions({source_folder() / "models", source_folder() / "hardware"}, source_folder() / "examples");
        found[name] = sweeps::estimate_point(read_point(document, descriptions)).speculative.throughput_multiplier;
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
    const int batches[] = {1, 16, 64, 128};
    // Mean prompts and answers of its traces: GSM8K, CNN/DailyMail, ShareGPT, InstructCoder.
    const std::map<std::string, Requests> requests = {
        {"math", {94, 165, 0.0}}, {"summarisation", {838, 322, 0.0}}, {"chat", {355, 740, 0.0}}, {"code", {171, 250, 0.0}}};
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
        for (std::size_t b = 0; b < 4; ++b) {
            std::map<std::string, double> truth;
            for (const auto& [name, values] : rows) {
                truth[name] = values[b];
            }
            const std::string predicted = fastest(speedups("qwen3-8b-h100.json", category, batches[b], requests.at(category)));
            INFO(category << " at " << batches[b] << ": " << predicted);
            right += predicted == fastest(truth) ? 1 : 0;
            worst_regret = std::max(worst_regret, truth.at(fastest(truth)) / truth.at(predicted) - 1.0);
        }
    }
    // Summaries at 128 requests are a tie: 1.247 times with n-gram, 1.231 with EAGLE-3. Lengths matter: with ShareGPT's in
    // place of its own, code at 128 goes to EAGLE-3, where n-gram was 17 % faster. Short answers bring more prompts to each
    // token.
    CHECK(right >= 15);
    CHECK(worst_regret < 0.02);
}

TEST_CASE("MTP, DSpark and DFlash on Nemotron-3.5-Lightning: the measured order at every batch") {
    // vLLM blog, one H100, 3 drafts, tokens/s of a user at 1 … 128 requests (series vllm-nemotron35l-h100): DSpark 1.80
    // to 1.14, MTP 1.45 to 1.06, DFlash 1.32 to 0.91; this order at every batch.
    // A session's prefix of 32,000 tokens is read once in ten turns of 2,000 in and 1,000 out.
    const std::vector<std::vector<double>> measured = {
        {1.7992, 1.4462, 1.3157}, {1.5244, 1.2742, 1.2083}, {1.408, 1.2396, 1.1496},  {1.343, 1.2005, 1.1354},
        {1.333, 1.1942, 1.1233},  {1.3732, 1.2139, 1.1755}, {1.3196, 1.2192, 1.0525}, {1.1373, 1.0563, 0.9085}};
    const Requests turns{47'500, 1000, 0.8905};
    for (std::size_t b = 0; b < measured.size(); ++b) {
        const std::map<std::string, double> rates = speedups("nemotron-3.5-lightning-h100.json", "agentic", 1 << b, turns);
        INFO("batch " << (1 << b));
        CHECK(fastest(rates) == "dspark-nemotron-3.5-lightning");
        CHECK(rates.at("mtp-nemotron-3.5-lightning") > rates.at("dflash-nemotron-3.5-lightning"));
        // Nothing but the level at one request was derived from these; without the prompts, 128 came out 46 to 58 % high.
        CHECK(rates.at("dspark-nemotron-3.5-lightning") == Approx(measured[b][0]).epsilon(0.2));
        CHECK(rates.at("mtp-nemotron-3.5-lightning") == Approx(measured[b][1]).epsilon(0.2));
        CHECK(rates.at("dflash-nemotron-3.5-lightning") == Approx(measured[b][2]).epsilon(0.22));
    }
}

}  // namespace measured_winners_test
