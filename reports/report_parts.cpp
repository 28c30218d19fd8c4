#include "reports/report_parts.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/objective_text.h"
#include "reports/shape_text.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_candidate_rows = 500;

std::vector<double> powers_of_two(double from, double to) {
    std::vector<double> values;
    for (double value = from; value <= to; value *= 2.0) {  // NOLINT(clang-analyzer-security.FloatLoopCounter): exact
        values.push_back(value);
    }
    return values;
}

/// The best shape of a cell, and the speed-up of the best drafts that fit there (1: none do, only plain decoding).
struct Cell {
    int speculation = 0;
    int draft_tokens = 0;
    double speedup = 1.0;
    bool fits = false;
};

Cell best_cell(const sim::CompiledRound& round, const std::vector<int>& drafting, double batch, double context) {
    Cell cell;
    cell.fits = sim::evaluate(round, {0, batch, context}).fits;
    if (const std::optional<sweeps::FittingPoint> fastest = sweeps::fastest_that_fits(round, drafting, batch, context)) {
        cell.speedup = fastest->estimate.throughput_multiplier;
        cell.speculation = cell.speedup > 1.0 ? fastest->speculation : 0;
        cell.draft_tokens = static_cast<int>(round.row(cell.speculation).draft_tokens);
    }
    return cell;
}

bool same_platform(const sweeps::VariantLabels& a, const sweeps::VariantLabels& b) {
    return a.platform() == b.platform() && a.stack == b.stack && a.mode == b.mode && a.target == b.target &&
           a.precision == b.precision;
}

/// Key of the column that holds what `objective` ranks by.
std::string_view objective_key(sweeps::Objective objective) {
    switch (objective) {
        case sweeps::Objective::throughput:
            return "device_rate";
        case sweeps::Objective::latency:
            return "tpot";
        case sweeps::Objective::cost:
            return "price";
        case sweeps::Objective::energy:
            return "energy";
    }
    return "";
}

/// Moves the column of the objective to the right of the speed-up.
void mark_objective(Json& columns, sweeps::Objective objective) {
    const auto at = [&columns](std::string_view key) {
        return std::find_if(columns.begin(), columns.end(),
                            [key](const Json& column) { return column["key"].get<std::string>() == key; });
    };
    const auto found = at(objective_key(objective));
    (*found)["objective"] = true;
    std::rotate(std::next(at("speedup")), found, std::next(found));
}

sim::DesignPoint point_at(const sweeps::TrafficPoint& traffic, const sweeps::Candidate& best) {
    return {best.speculation, traffic.load, traffic.context};
}

sim::AcceptanceBasis basis_of(const sim::CompiledRound& round, int speculation) {
    return round.row(speculation).accepted.basis;
}

/// "chain 5", with what its accept length rests on if that is not a measurement.
std::string shape_text(const sweeps::Recommendation& recommendation, int speculation, sim::AcceptanceBasis basis) {
    return speculation == 0 ? "off"
                            : text_of(recommendation.speculations[static_cast<std::size_t>(speculation)]) + basis_text(basis);
}

}  // namespace

Json schedule_rows(const sweeps::Recommendation& recommendation) {
    Json rows = Json::array();
    const std::string& drafter = recommendation.variants[recommendation.candidates.front().variant].labels.drafter;
    for (const sweeps::ScheduleEntry& entry : recommendation.schedule.entries) {
        rows.push_back({{"batch_from", entry.batch_from},
                        {"batch_to", entry.batch_to},
                        {"draft_tokens", entry.draft_tokens},
                        {"shape", shape_text(recommendation, entry.speculation, entry.basis)},
                        {"least", entry.least},
                        {"greatest", entry.greatest},
                        {"extrapolated", entry.basis == sim::AcceptanceBasis::extrapolated},
                        {"drafter", entry.draft_tokens > 0 ? drafter : ""}});
    }
    return rows;
}

Json traffic_rows(const sweeps::Traffic& traffic) {
    Json rows = Json::array();
    for (const sweeps::TrafficPoint& point : traffic.points) {
        rows.push_back({{"batch", point.load}, {"context", point.context}});
    }
    return rows;
}

Json heatmap_rows(const sim::CompiledRound& round, const sweeps::Workload& workload,
                  const sweeps::Recommendation& recommendation) {
    Json rows = Json::array();
    if (!recommendation.speculate) {
        return rows;
    }
    const double top_batch = std::clamp(4.0 * sweeps::largest_batch_of(workload.traffic), 64.0, 1024.0);
    const double top_context = std::clamp(4.0 * sweeps::longest_context_of(workload.traffic), 8192.0, 131072.0);
    std::vector<int> drafting = sweeps::runnable(round);
    std::erase(drafting, 0);
    for (const double batch : powers_of_two(1.0, top_batch)) {
        for (const double context : powers_of_two(512.0, top_context)) {
            const Cell cell = best_cell(round, drafting, batch, context);
            rows.push_back({{"batch", batch},
                            {"context", context},
                            {"speedup", cell.speedup},
                            {"draft_tokens", cell.draft_tokens},
                            {"shape", shape_text(recommendation, cell.speculation, basis_of(round, cell.speculation))},
                            {"fits", cell.fits}});
        }
    }
    return rows;
}

Json draft_length_rows(const sweeps::Workload& workload, const sweeps::Recommendation& recommendation) {
    Json rows = Json::array();
    const sweeps::VariantLabels& best = recommendation.variants[recommendation.candidates.front().variant].labels;
    const double context = sweeps::typical_point(workload.traffic).context;
    std::vector<double> batches = {1.0};
    if (sweeps::largest_batch_of(workload.traffic) > 1.0) {
        batches.push_back(sweeps::largest_batch_of(workload.traffic));
    }
    // One curve for each drafter, batch, and chains or trees: the fastest shape and policy at each number of nodes.
    std::map<std::tuple<std::string, bool, double, int>, Json> fastest;
    for (const sweeps::Variant& variant : recommendation.variants) {
        if (!same_platform(variant.labels, best) || variant.plain() || !problems_of(variant.setup).empty()) {
            continue;
        }
        const sim::CompiledRound round = sim::compile_round(variant.setup);
        for (const double batch : batches) {
            for (int i = 1; i < static_cast<int>(round.rows.size()); ++i) {
                if (!round.runs(i)) {
                    continue;
                }
                const bool tree = !sim::is_chain(workload.speculations[static_cast<std::size_t>(i)]);
                const int nodes = static_cast<int>(round.row(i).draft_tokens);
                const sim::RoundEstimate estimate = sim::evaluate(round, {i, batch, context});
                Json& row = fastest[{variant.labels.drafter, tree, batch, nodes}];
                if (row.is_null() || row["speedup"].get<double>() < estimate.throughput_multiplier) {
                    row = {{"drafter", variant.labels.drafter + (tree ? ", trees" : "")},
                           {"batch", batch},
                           {"context", context},
                           {"draft_tokens", nodes},
                           {"shape", shape_text(recommendation, i, basis_of(round, i))},
                           {"speedup", estimate.throughput_multiplier},
                           {"accept_length", estimate.accept_length},
                           {"extrapolated", basis_of(round, i) == sim::AcceptanceBasis::extrapolated},
                           {"tpot_ms", estimate.time_per_token.value() * 1e3}};
                }
            }
        }
    }
    for (auto& [key, row] : fastest) {
        rows.push_back(std::move(row));
    }
    return rows;
}

Json round_rows(const sim::CompiledRound& round, const sweeps::Workload& workload, const sweeps::Candidate& best) {
    const sim::RoundEstimate estimate = sim::evaluate(round, point_at(sweeps::typical_point(workload.traffic), best));
    Json rows = Json::array();
    const auto add = [&rows](const char* configuration, const char* phase, Seconds time) {
        if (time > Seconds(0.0)) {
            rows.push_back({{"configuration", configuration}, {"phase", phase}, {"time_us", time.value() * 1e6}});
        }
    };
    if (best.draft_tokens > 0) {
        add("recommended", "draft", estimate.draft);
        add("recommended", "verify", estimate.verify);
        add("recommended", "rollback", estimate.rollback);
        add("recommended", "host", estimate.host);
        add("recommended", "prompts", estimate.prompts);
    }
    add("plain decoding", "target pass", estimate.autoregressive);
    add("plain decoding", "prompts",
        round.prompts.target * (round.prompt_wait * (sweeps::typical_point(workload.traffic).load - 1.0)));
    return rows;
}

Json roofline_data(const sim::CompiledRound& round, const sweeps::Variant& variant, const sweeps::Workload& workload,
                   const sweeps::Candidate& best) {
    const sim::RoundSetup& setup = variant.setup;
    const sim::Device& device = setup.platform.device;
    const sweeps::TrafficPoint& common = sweeps::typical_point(workload.traffic);
    Json operations = Json::array();
    for (const sim::ExplainedPass& pass : sim::explain(round, point_at(common, best))) {
        if (best.draft_tokens > 0 && pass.phase == "plain decoding") {
            continue;
        }
        for (const sim::OperationEstimate& operation : pass.operations) {
            if (operation.flops > Flops(0.0) && operation.bytes > Bytes(0.0)) {
                operations.push_back({{"pass", pass.phase},
                                      {"name", operation.name},
                                      {"intensity_flop_per_byte", (operation.flops / operation.bytes).value()},
                                      {"attained_tflop_per_s", (operation.flops / operation.time).value() / 1e12},
                                      {"time_us", operation.time.value() * 1e6},
                                      {"share", operation.share},
                                      {"bound", name_of(operation.bound)}});
            }
        }
    }
    const std::string peaks = setup.platform.accelerator ? "all of its multipliers at its clock"
                                                         : fmt::format("data-sheet peaks, {}", name_of(setup.precision.math));
    return {{"bandwidth_gb_per_s", device.bandwidth.value() / 1e9},
            {"peak_tflop_per_s", device.peak_for(setup.precision.math).value() / 1e12},
            {"unit_note", fmt::format("one {}, {}; batch {:.0f}, context {:.0f}", variant.labels.device, peaks, common.load,
                                      common.context)},
            {"operations", operations}};
}

Json pareto_rows(const sweeps::Recommendation& recommendation) {
    Json rows = Json::array();
    for (const sweeps::TradeoffPoint& point : recommendation.tradeoffs) {
        const sweeps::VariantLabels& labels = recommendation.variants[point.variant].labels;
        rows.push_back({{"label", labels.text()},
                        {"drafter", point.draft_tokens > 0 ? Json(labels.drafter) : Json()},
                        {"draft_tokens", point.draft_tokens},
                        {"shape", shape_text(recommendation, point.speculation, point.basis)},
                        {"batch", point.batch},
                        {"context", point.context},
                        {"device", labels.platform()},
                        {"tokens_per_s_user", point.tokens_per_second_user},
                        {"tokens_per_s_device", point.tokens_per_second_device},
                        {"speedup", point.speedup},
                        {"on_front", point.on_front},
                        {"speculative", point.draft_tokens > 0}});
    }
    return rows;
}

Json memory_data(const sim::CompiledRound& round, const sweeps::Workload& workload, const sweeps::Candidate& best) {
    const auto needs = [&](const sweeps::TrafficPoint& traffic) {
        return sim::evaluate(round, point_at(traffic, best)).memory;
    };
    const sweeps::TrafficPoint& largest =
        *std::max_element(workload.traffic.points.begin(), workload.traffic.points.end(),
                          [&](const sweeps::TrafficPoint& a, const sweeps::TrafficPoint& b) { return needs(a) < needs(b); });
    Json parts = Json::array();
    for (const sim::MemoryPart& part : sim::memory_parts(round, point_at(largest, best))) {
        parts.push_back({{"part", part.part}, {"gb", part.bytes.value() / 1e9}});
    }
    return {{"limit_gb", round.memory.capacity.value() / 1e9}, {"parts", parts}};
}

Json candidate_table(const sweeps::Workload& workload, const sweeps::Recommendation& recommendation) {
    Json columns = Json::array();
    const auto column = [&columns](const char* key, const char* title, const char* unit, int digits) {
        Json entry = {{"key", key}, {"title", title}};
        if (*unit != '\0') {
            entry["unit"] = unit;
        }
        if (digits >= 0) {
            entry["digits"] = digits;
        }
        columns.push_back(entry);
    };
    column("drafter", "Drafter", "", -1);
    column("draft_tokens", "Draft tokens", "", 0);
    column("shape", "Shape", "", -1);
    column("device", "Device", "", -1);
    column("rollback", "Rollback", "", -1);
    if (workload.objective != sweeps::Objective::latency) {  // otherwise the gain is the speed-up
        column("gain", fmt::format("Gain in {}", quantity_text(workload.objective)).c_str(), "x", 2);
    }
    column("speedup", "Speed-up", "x", 2);
    column("regret", "Regret", "%", 1);
    column("accept_length", "Accept length", "", 2);
    column("break_even", "Break-even", "", 2);
    column("tpot", "TPOT", "ms", 2);
    column("user", "Per user", "tokens/s", 1);
    column("device_rate", "Per device", "tokens/s", 1);
    column("memory", "Memory", "GB", 1);
    column("ttft", "TTFT", "ms", 0);
    column("energy", "Energy", "J/token", 2);
    column("price", "Price", "USD/M tokens", 2);
    mark_objective(columns, workload.objective);

    Json rows = Json::array();
    for (const sweeps::Candidate& candidate : recommendation.candidates) {
        if (rows.size() == most_candidate_rows) {
            break;
        }
        const sweeps::VariantLabels& labels = recommendation.variants[candidate.variant].labels;
        Json row = {{"drafter", labels.drafter},
                    {"draft_tokens", candidate.draft_tokens},
                    {"shape", shape_text(recommendation, candidate.speculation, candidate.basis)},
                    {"device", labels.platform() + ", " + labels.stack},
                    {"rollback", labels.rollback},
                    {"gain", candidate.gain},
                    {"speedup", candidate.speedup},
                    {"regret", candidate.regret * 100.0},
                    {"accept_length", candidate.accept_length},
                    {"break_even", candidate.break_even_accept_length},
                    {"tpot", candidate.time_per_token.value() * 1e3},
                    {"user", candidate.tokens_per_second_user},
                    {"device_rate", candidate.tokens_per_second_device},
                    {"memory", candidate.peak_memory.value() / 1e9},
                    {"recommended", rows.empty()}};
        if (!sweeps::waits_for_ever(recommendation, candidate)) {
            row["ttft"] = candidate.time_to_first_token.value() * 1e3;
        }
        if (candidate.energy_per_token > Joules(0.0)) {
            row["energy"] = candidate.energy_per_token.value();
        }
        if (candidate.price_per_token > Dollars(0.0)) {
            row["price"] = candidate.price_per_token.value() * 1e6;
        }
        rows.push_back(std::move(row));
    }
    return {{"note", regret_text(workload.objective)}, {"columns", columns}, {"rows", rows}};
}

}  // namespace treeline::reports
