#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "reports/json_rows.h"
#include "reports/validate/serving_output.h"
#include "reports/validate/validation_output.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

Json advice_json(const validation::Advice& advice) {
    return {{"cells", advice.cells},
            {"losing", advice.losing},
            {"found", advice.found},
            {"false_alarms", advice.false_alarms},
            {"series", advice.series},
            {"switch_off_within_one_step", advice.switch_right},
            {"choices", advice.choices},
            {"best_length_within_one", advice.best_within},
            {"best_length_or_next", advice.best_next},
            {"mean_regret", advice.mean_regret},
            {"p90_regret", advice.p90_regret},
            {"best_constant_length", advice.constant_length},
            {"regret_of_constant_length", advice.constant_regret}};
}

Json coverage_json(const std::vector<validation::FamilyCoverage>& families) {
    Json coverage = Json::array();
    for (const validation::FamilyCoverage& family : families) {
        Json levels = Json::array();
        const bool determined = is_determined(family);
        for (const validation::LevelCoverage& level : determined ? family.levels : std::vector<validation::LevelCoverage>{}) {
            levels.push_back({{"batch", level_text(level.level)}, {"rows", level.rows}, {"covered", level.covered}});
        }
        coverage.push_back({{"left_out", name_of(family.left_out)},
                            {"families", family.families},
                            {"nominal", 0.8},
                            {"covered", determined ? Json(family.covered) : Json(nullptr)},
                            {"by_batch", levels},
                            {"width", determined ? Json(family.width) : Json(nullptr)},
                            {"errors", summary_json(family.errors)}});
    }
    return coverage;
}

Json table_json(const validation::ErrorTable& table) {
    Json groups = Json::array();
    for (const validation::GroupScore& score : table.groups) {
        groups.push_back(
            {{"grouping", name_of(score.grouping)}, {"group", score.group}, {"errors", summary_json(score.errors)}});
    }
    const Json coverage = coverage_json(table.coverage);
    Json json = {{"id", table.id},
                 {"what", table.what},
                 {"errors", summary_json(table.errors)},
                 {"by_series", summary_json(table.by_series)},
                 {"groups", groups},
                 {"coverage", coverage}};
    if (table.with_one_run) {
        json["with_one_run"] = summary_json(*table.with_one_run);
    }
    if (table.with_one_alike) {
        json["with_one_run_of_the_same_lengths"] = summary_json(*table.with_one_alike);
    }
    if (table.by_citation) {
        json["by_citation"] = summary_json(*table.by_citation);
    }
    if (table.plain_steps) {
        json["plain_steps"] = summary_json(*table.plain_steps);
    }
    for (const auto& [loads, key] :
         {std::pair{&table.other_loads, "other_loads"}, {&table.other_loads_of_seen, "other_loads_of_fitted_sources"}}) {
        if (*loads) {
            json[key] = {{"from_one", summary_json((*loads)->from_one)},
                         {"between_two", summary_json((*loads)->between)},
                         {"between_two_interpolated", summary_json((*loads)->interpolated)}};
        }
    }
    if (table.by_constant_length) {
        json["accept_length_of_smallest_batch"] = summary_json(*table.by_constant_length);
    }
    if (table.by_cost_table) {
        json["by_median_step_costs"] = summary_json(*table.by_cost_table);
    }
    if (table.by_smallest_batch) {
        json["as_at_smallest_batch"] = summary_json(*table.by_smallest_batch);
    }
    if (table.advice) {
        json["advice"] = advice_json(*table.advice);
        const auto count = [](const validation::Verdicts::Count& of) {
            return Json{{"cells", of.cells}, {"losing", of.losing}};
        };
        json["verdicts"] = {{"pays", count(table.verdicts->pays)},
                            {"unsure", count(table.verdicts->unsure)},
                            {"loses", count(table.verdicts->loses)}};
        json["advice_by_median_step_costs"] = advice_json(*table.advice_by_cost_table);
    }
    return json;
}

/// What a speculative row is evidence of: "seen", or what is known of how it came about. Empty for plain decoding.
std::string evidence_of(const validation::ServingStudy& study, const validation::ErrorTable& table,
                        const validation::ScoredPoint& row) {
    const validation::MeasuredPoint scored = as_scored(point_of(study, table, row), table, row);
    return !scored.speculation ? ""
           : scored.seen       ? "seen"
                               : group_of(scored, study.input.parts, validation::Grouping::reservations);
}

Json serving_row_json(const validation::ServingStudy& study, const validation::ErrorTable& table,
                      const validation::ScoredPoint& row) {
    const validation::MeasuredPoint& point = point_of(study, table, row);
    const NamedRow name = named_row(study, table, row);
    return {{"file", name.file},
            {"row", name.number},
            {"id", name.id},
            {"series", name.series},
            {"mode", name_of(study.input.mode)},
            {"table", table.id},
            {"model", point.model},
            {"device", point.device},
            {"stack", point.stack},
            {"devices", point.cut.devices()},
            {"cut", text_of(point.cut.tensor, point.cut.parallel)},
            {"batch", point.batch},
            {"context", point.context},
            {"drafter", point.drafter_kind},
            {"draft_tokens", validation::draft_tokens_of(point)},
            {"accept_length", row.accept_length},
            {"measured", row.error.measured},
            {"predicted", row.error.predicted},
            {"error", row.error.relative()},
            {"filled_in", fmt::format("{}", fmt::join(point.assumed, ", "))},
            {"evidence", evidence_of(study, table, row)},
            {"contradiction", point.contradiction},
            {"fits_in_memory", row.fits},
            {"measured_plain_ms", point.plain_step > 0.0 ? Json(1e3 * point.plain_step) : Json(nullptr)},
            {"plain_ms", 1e3 * row.times.plain},
            {"draft_ms", 1e3 * row.times.draft},
            {"verify_ms", 1e3 * row.times.verify},
            {"rollback_ms", 1e3 * row.times.rollback},
            {"host_ms", 1e3 * row.times.host},
            {"prompts_ms", 1e3 * row.times.prompts},
            {"left_out", ""}};
}

Json left_out_json(const std::string& file, std::size_t number, const std::string& id, const std::string& series,
                   const validation::LeftOutPoint& left_out) {
    return {{"file", file},
            {"row", number},
            {"id", id},
            {"series", series},
            {"left_out", left_out.reason},
            {"detail", left_out.detail}};
}

Json left_out_rows(const validation::ServingStudy& study) {
    Json rows = Json::array();
    for (const validation::LeftOutPoint& left_out : study.serving.left_out) {
        const validation::ServingRun& row = study.input.serving[left_out.row];
        rows.push_back(left_out_json(row.place.file, row.place.number, row.id, "", left_out));
    }
    for (const auto* left_outs : {&study.speculation.left_out, &study.not_scored}) {
        for (const validation::LeftOutPoint& left_out : *left_outs) {
            const validation::SpeculationRow& row = study.input.speculation[left_out.row];
            rows.push_back(left_out_json(row.place.file, row.place.number, row.id, row.series, left_out));
        }
    }
    return rows;
}

Json scored_rows(const validation::ServingStudy& study) {
    Json rows = Json::array();
    for (const validation::ErrorTable* table : tables_of(study)) {
        for (const validation::ScoredPoint& row : table->rows) {
            rows.push_back(serving_row_json(study, *table, row));
        }
    }
    return rows;
}

Json reasons_json(const std::vector<validation::ReasonCount>& reasons) {
    Json json = Json::array();
    for (const validation::ReasonCount& reason : reasons) {
        json.push_back({{"reason", reason.reason}, {"rows", reason.rows}, {"errors", summary_json(reason.errors)}});
    }
    return json;
}

}  // namespace

Json serving_json(const validation::ServingStudy& study) {
    Json tables = Json::array();
    for (const validation::ErrorTable* table : tables_of(study)) {
        tables.push_back(table_json(*table));
    }
    return {{"mode", name_of(study.input.mode)},
            {"serving_rows", study.input.serving.size()},
            {"speculative_rows", study.input.speculation.size()},
            {"usable_pairs", study.usable_pairs},
            {"priced_pairs", study.speculation.points.size()},
            {"tables", tables},
            {"recommendation_intervals", coverage_json(study.speed_up_intervals)},
            {"plain_step_intervals", coverage_json(study.time_intervals)},
            {"left_out",
             {{"serving", reasons_json(study.serving_left_out)}, {"speculation", reasons_json(study.speculation_left_out)}}},
            {"rows", scored_rows(study)},
            {"left_out_rows", left_out_rows(study)},
            {"notes", study.input.notes}};
}

std::string serving_csv(const std::vector<validation::ServingStudy>& studies) {
    const std::vector<std::string> keys = {
        "file",     "row",       "id",        "series",      "mode",     "table",         "model",          "device",
        "stack",    "devices",   "cut",       "batch",       "context",  "drafter",       "draft_tokens",   "accept_length",
        "measured", "predicted", "error",     "filled_in",   "evidence", "contradiction", "fits_in_memory", "measured_plain_ms",
        "plain_ms", "draft_ms",  "verify_ms", "rollback_ms", "host_ms",  "prompts_ms",    "left_out",       "detail"};
    Json all = Json::array();
    for (const validation::ServingStudy& study : studies) {
        for (const Json& rows : {scored_rows(study), left_out_rows(study)}) {
            all.insert(all.end(), rows.begin(), rows.end());
        }
    }
    return csv_of(keys, all);
}

}  // namespace treeline::reports
