#include "reports/policy_figures.h"

#include <algorithm>

#include <fmt/format.h>

#include "reports/report_parts.h"
#include "text/number_text.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

std::string policy_text(const sweeps::Recommendation& recommendation, const sweeps::PolicyOutcome& outcome) {
    const std::string& rollback = recommendation.variants[outcome.variant].labels.rollback;
    const bool chain = sim::is_chain(recommendation.speculations[static_cast<std::size_t>(outcome.best->speculation)]);
    if (chain && outcome.verification == sim::Verification::unrolled) {
        return rollback + " with chains";
    }
    return fmt::format("{} with {} {}", rollback, name_of(outcome.verification), chain ? "chains" : "trees");
}

std::string against_best(const sweeps::Recommendation& recommendation, const sweeps::PolicyOutcome& best,
                         const sweeps::PolicyOutcome& other) {
    const double gigabytes = (other.best->peak_memory - best.best->peak_memory).value() / 1e9;
    std::string text =
        fmt::format("{} takes {} more time per token", policy_text(recommendation, other),
                    text::percent_text(other.best->time_per_token.value() / best.best->time_per_token.value() - 1.0));
    if (std::abs(gigabytes) >= 0.05) {
        text += fmt::format(" and {:.1f} GB {} of each device", std::abs(gigabytes), gigabytes > 0.0 ? "more" : "less");
    }
    return text;
}

Figure speed_figure(Json rows) {
    Figure figure;
    figure.id = "rollback-speed";
    figure.title = "Speed-up by rollback and batch";
    figure.reading =
        "Each point is the policy with the shape that is fastest at that batch; a line ends where nothing fits in memory any "
        "more.";
    figure.x = {"batch", "Batch", true};
    figure.y = {"speedup", "Speed-up (times plain decoding)"};
    figure.series = "rollback";
    figure.rules = {{1.0, "plain decoding"}};
    figure.columns = {{"rollback", "Rollback"},        {"batch", "Batch"},           {"shape", "Shape"},
                      {"speedup", "Speed-up", "×", 2}, {"tpot_ms", "TPOT", "ms", 2}, {"memory_gb", "Memory", "GB", 1}};
    figure.rows = std::move(rows);
    return figure;
}

Figure memory_figure(Json rows) {
    Figure figure;
    figure.id = "rollback-memory";
    figure.title = "Memory by rollback";
    figure.reading =
        "Each column is what one device holds with the policy's fastest shape; states and cached activations differ.";
    figure.mark = FigureMark::bar;
    figure.stacked = true;
    figure.x = {"rollback", "Rollback"};
    figure.y = {"gb", "Memory per device (GB)"};
    figure.series = "part";
    figure.choices = {{"batch", "Batch"}};
    figure.columns = {
        {"rollback", "Rollback"}, {"batch", "Batch"}, {"part", "Part"}, {"gb", "Memory", "GB", 2}, {"shape", "Shape"}};
    figure.rows = std::move(rows);
    return figure;
}

}  // namespace

std::string policy_sentence(const sweeps::Recommendation& recommendation) {
    std::vector<sweeps::PolicyOutcome> runnable;
    for (const sweeps::PolicyOutcome& outcome : sweeps::compare_policies(recommendation)) {
        if (outcome.best != nullptr) {
            runnable.push_back(outcome);
        }
    }
    if (runnable.size() < 2) {
        return "";
    }
    const sweeps::PolicyOutcome& best = runnable.front();
    std::string text = fmt::format("With this drafter, {} is fastest; {}", policy_text(recommendation, best),
                                   against_best(recommendation, best, runnable[1]));
    const auto slowest =
        std::max_element(runnable.begin(), runnable.end(), [](const sweeps::PolicyOutcome& a, const sweeps::PolicyOutcome& b) {
            return a.best->time_per_token < b.best->time_per_token;
        });
    if (runnable.size() > 2 && slowest != runnable.begin() + 1 && slowest != runnable.begin()) {
        text += "; " + against_best(recommendation, best, *slowest);
    }
    return text + ".";
}

FigureSection policy_section(const sweeps::Workload& workload, const sweeps::Recommendation& recommendation) {
    FigureSection section{"rollback", "Why this rollback and verification", policy_sentence(recommendation), {}};
    const std::vector<std::size_t> variants = sweeps::variants_by_rollback(recommendation);
    if (section.text.empty() || variants.size() < 2) {
        return section;
    }
    const double context = sweeps::typical_point(workload.traffic).context;
    Json speeds = Json::array(), memory = Json::array();
    for (const std::size_t index : variants) {
        const sweeps::Variant& variant = recommendation.variants[index];
        if (!problems_of(variant.setup).empty()) {
            continue;
        }
        const sim::CompiledRound round = sim::compile_round(variant.setup);
        std::vector<int> drafting = sweeps::runnable(round);
        std::erase(drafting, 0);
        for (double batch = 1.0; batch <= 1024.0; batch *= 2.0) {
            const std::optional<sweeps::FittingPoint> fastest = sweeps::fastest_that_fits(round, drafting, batch, context);
            if (!fastest) {
                continue;
            }
            const std::string shape = text_of(recommendation.speculations[static_cast<std::size_t>(fastest->speculation)]);
            speeds.push_back({{"rollback", variant.labels.rollback},
                              {"batch", batch},
                              {"shape", shape},
                              {"speedup", fastest->estimate.throughput_multiplier},
                              {"tpot_ms", fastest->estimate.time_per_token.value() * 1e3},
                              {"memory_gb", fastest->estimate.memory.value() / 1e9}});
            for (const sim::MemoryPart& part : sim::memory_parts(round, {fastest->speculation, batch, context})) {
                memory.push_back({{"rollback", variant.labels.rollback},
                                  {"batch", batch},
                                  {"part", part.part},
                                  {"gb", part.bytes.value() / 1e9},
                                  {"shape", shape}});
            }
        }
    }
    section.figures = {speed_figure(std::move(speeds)), memory_figure(std::move(memory))};
    return section;
}

}  // namespace treeline::reports
