#include <fmt/format.h>

#include "reports/validate/serving_output.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

std::string signed_share(double share) { return fmt::format("{:+.1f} %", 100.0 * share); }

void add_errors(text::TextTable& table, const std::string& group, const std::string& name,
                const validation::ErrorSummary& errors) {
    table.add({group, name, fmt::format("{}", errors.rows), text::percent_text(errors.median), text::percent_text(errors.p90),
               signed_share(errors.bias)});
}

std::string errors_text(const validation::ErrorTable& table) {
    text::TextTable text(
        {{"Rows", text::Align::left}, {"", text::Align::left}, {"cases"}, {"median error"}, {"p90"}, {"bias"}});
    add_errors(text, "all", "", table.errors);
    for (const validation::GroupScore& score : table.groups) {
        if (score.grouping == validation::Grouping::evidence) {
            add_errors(text, "", score.group, score.errors);
        }
    }
    add_errors(text, "", "one vote a series", table.by_series);
    if (table.by_citation) {
        add_errors(text, "", "one vote a citation", *table.by_citation);
    }
    if (table.with_one_run) {
        add_errors(text, "", "with one run of the deployment", *table.with_one_run);
    }
    if (table.with_one_alike) {
        add_errors(text, "", "… of the same lengths", *table.with_one_alike);
    }
    if (table.plain_steps) {
        add_errors(text, "steps", "without speculation, of unseen sources", *table.plain_steps);
    }
    for (const auto& [loads, whose] : {std::pair{&table.other_loads, "unseen"}, {&table.other_loads_of_seen, "fitted"}}) {
        if (*loads) {
            add_errors(text, fmt::format("other loads, {}", whose), "from one measured with and without", (*loads)->from_one);
            add_errors(text, "", "between two, from both", (*loads)->between);
            add_errors(text, "", "… without a model: interpolated", (*loads)->interpolated);
        }
    }
    if (table.by_constant_length) {
        add_errors(text, "accept lengths", "of the smallest batch over the row's own, both printed", *table.by_constant_length);
    }
    if (table.by_cost_table) {
        add_errors(text, "without a model", "median step costs of other models", *table.by_cost_table);
    }
    if (table.by_smallest_batch) {
        add_errors(text, table.by_cost_table ? "" : "without a model", "as at the smallest batch", *table.by_smallest_batch);
    }
    std::string last;
    for (const validation::GroupScore& score : table.groups) {
        const std::string grouping(name_of(score.grouping));
        if (score.grouping == validation::Grouping::evidence) {
            continue;
        }
        if (grouping != last) {
            text.add_rule();
        }
        add_errors(text, grouping == last ? "" : grouping, score.group, score.errors);
        last = grouping;
    }
    return text.text();
}

std::string coverage_text(const validation::ErrorTable& table) {
    std::string text, of_one;
    for (const validation::FamilyCoverage& coverage : table.coverage) {
        if (is_determined(coverage)) {
            text += fmt::format("{}{} of rows by {} ({} families; its ends are {} apart)", text.empty() ? "" : ", ",
                                text::percent_text(coverage.covered), name_of(coverage.left_out), coverage.families,
                                text::ratio_text(coverage.width));
        } else {
            of_one += fmt::format("{}{}", of_one.empty() ? "" : ", ", name_of(coverage.left_out));
        }
    }
    const std::string undetermined = of_one.empty() ? "" : fmt::format("not determined by {}: there are no others", of_one);
    return fmt::format("An interval of nominal 80 % from the errors of other families, one vote a source, {}{}{}{}\n",
                       text.empty() ? "is " : "holds ", text, text.empty() || of_one.empty() ? "" : "; ", undetermined);
}

/// What intervals of recommendations hold, by class of batches.
std::string intervals_text(std::string_view what, const std::vector<validation::FamilyCoverage>& intervals) {
    if (intervals.empty()) {
        return "";
    }
    std::vector<text::Column> columns = {{"left out", text::Align::left}, {"families"}, {"all"}};
    for (int level = 0; level < numerics::level_count; ++level) {
        columns.push_back({fmt::format("batch {}", level_text(level))});
    }
    columns.push_back({"width"});
    text::TextTable text(columns);
    for (const validation::FamilyCoverage& coverage : intervals) {
        std::vector<std::string> cells = {std::string(name_of(coverage.left_out)), std::to_string(coverage.families),
                                          is_determined(coverage) ? text::percent_text(coverage.covered) : "not determined"};
        for (int level = 0; level < numerics::level_count; ++level) {
            cells.push_back(level_coverage_text(coverage, level));
        }
        cells.push_back(is_determined(coverage) ? text::ratio_text(coverage.width) : "–");
        text.add(cells);
    }
    return fmt::format(
        "\nIntervals of {}, nominal 80 %, from the errors of other families: rows inside, and upper end / lower end\n{}", what,
        text.text());
}

std::string advice_line(const std::string& who, const validation::Advice& advice) {
    std::string text = fmt::format("{}: of {} losing cells {} found, {} false alarms in {} cells", who, advice.losing,
                                   advice.found, advice.false_alarms, advice.cells);
    if (advice.series > 0) {
        text += fmt::format("; switch-off within one measured step in {} of {} series", advice.switch_right, advice.series);
    }
    if (advice.choices > 0) {
        text += fmt::format(
            "; best draft length within one token in {} of {} choices, best or next measured one in {}, mean regret {}, p90 {} "
            "({} tokens everywhere, the best constant in hindsight: {})",
            advice.best_within, advice.choices, advice.best_next, text::percent_text(advice.mean_regret),
            text::percent_text(advice.p90_regret), advice.constant_length, text::percent_text(advice.constant_regret));
    }
    return text + "\n";
}

std::string verdicts_line(const validation::Verdicts& verdicts) {
    const auto text = [](const char* said, const validation::Verdicts::Count& count) {
        return fmt::format("{} {} cells, of which {} lose", said, count.cells, count.losing);
    };
    return "Verdicts as recommendations print them, by the errors on other devices: it " + text("pays in", verdicts.pays) +
           ", " + text("loses in", verdicts.loses) + "; " + text("too close to call in", verdicts.unsure) + "\n" +
           fmt::format("  of the losing cells {} of {} are said to lose; false alarms: {} of {}\n", verdicts.found(),
                       verdicts.losing(), verdicts.false_alarms(), verdicts.cells() - verdicts.losing());
}

std::string left_out_text(const std::string& heading, const std::vector<validation::ReasonCount>& reasons) {
    if (reasons.empty()) {
        return "";
    }
    text::TextTable text({{heading, text::Align::left}, {"rows"}, {"median error if predicted all the same"}});
    for (const validation::ReasonCount& reason : reasons) {
        text.add({reason.reason, fmt::format("{}", reason.rows),
                  reason.errors.rows == 0 ? "" : text::percent_text(reason.errors.median)});
    }
    return text.text() + "\n";
}

std::string line_of(const validation::RowPlace& place, const validation::LeftOutPoint& left) {
    return fmt::format("{}: row {}: {}{}{}\n", place.file, place.number, left.reason, left.detail.empty() ? "" : ": ",
                       left.detail);
}

/// Which rows those are: each by its file, number and reason where they are few.
std::string left_out_rows_text(const validation::ServingStudy& study) {
    constexpr std::size_t most = 20;
    std::vector<std::string> lines;
    for (const validation::LeftOutPoint& left : study.serving.left_out) {
        const validation::ServingRun& row = study.input.serving[left.row];
        lines.push_back(line_of(row.place, left));
    }
    for (const auto* all : {&study.speculation.left_out, &study.not_scored}) {
        for (const validation::LeftOutPoint& left : *all) {
            const validation::SpeculationRow& row = study.input.speculation[left.row];
            lines.push_back(line_of(row.place, left));
        }
    }
    if (lines.size() > most) {
        return fmt::format("--format csv lists all {} rows that are left out, with file, row and reason.\n", lines.size());
    }
    std::string text;
    for (const std::string& line : lines) {
        text += line;
    }
    return text;
}

std::string rows_text(const validation::ServingStudy& study, const validation::ErrorTable& table) {
    text::TextTable text({{"Row", text::Align::left}, {"batch"}, {"measured"}, {"predicted"}, {"error"}});
    const bool times = table.id == "time-per-token";
    for (const validation::ScoredPoint& row : table.rows) {
        const double unit = times ? text::to_ms : 1.0;
        text.add({named_row(study, table, row).id, text::short_text(point_of(study, table, row).batch),
                  text::short_text(unit * row.error.measured) + (times ? " ms" : ""),
                  text::short_text(unit * row.error.predicted), signed_share(row.error.relative())});
    }
    return text.text();
}

}  // namespace

std::vector<const validation::ErrorTable*> tables_of(const validation::ServingStudy& study) {
    std::vector<const validation::ErrorTable*> tables;
    for (const std::optional<validation::ErrorTable>* table :
         {&study.time_per_token, &study.given_length, &study.fitted_length}) {
        if (*table) {
            tables.push_back(&**table);
        }
    }
    return tables;
}

const validation::MeasuredPoint& point_of(const validation::ServingStudy& study, const validation::ErrorTable& table,
                                          const validation::ScoredPoint& row) {
    const bool times = table.id == "time-per-token";
    return (times ? study.serving : study.speculation).points[row.point];
}

NamedRow named_row(const validation::ServingStudy& study, const validation::ErrorTable& table,
                   const validation::ScoredPoint& row) {
    const std::size_t index = point_of(study, table, row).row;
    if (table.id == "time-per-token") {
        const validation::ServingRun& data = study.input.serving[index];
        return {data.place.file, data.id, "", data.place.number};
    }
    const validation::SpeculationRow& data = study.input.speculation[index];
    return {data.place.file, data.id, data.series, data.place.number};
}

std::string serving_table(const validation::ServingStudy& study, bool all_rows) {
    std::string text = fmt::format("Measured serving rows, {} mode\n", name_of(study.input.mode));
    if (!study.input.serving.empty()) {
        text += fmt::format("{} of {} runs without speculation are predicted.\n", study.serving.points.size(),
                            study.input.serving.size());
    }
    if (!study.input.speculation.empty()) {
        text += fmt::format("{} of {} usable speculative pairs can be priced ({} rows in all).\n",
                            study.speculation.points.size(), study.usable_pairs, study.input.speculation.size());
    }
    for (const validation::ErrorTable* table : tables_of(study)) {
        text += "\n" + table->what + "\n" + errors_text(*table) + coverage_text(*table);
        if (table->advice) {
            text += advice_line("Advice by these predictions", *table->advice);
            text += verdicts_line(*table->verdicts);
            text += advice_line("Advice by median step costs", *table->advice_by_cost_table);
        }
    }
    text += intervals_text("gains", study.speed_up_intervals);
    text += intervals_text("plain steps, those beside unseen speed-ups included", study.time_intervals);
    text += "\n" + left_out_text("Left out: runs without speculation", study.serving_left_out);
    text += left_out_text("Left out: speculative rows", study.speculation_left_out);
    text += left_out_rows_text(study);
    for (const std::string& note : study.input.notes) {
        text += note + "\n";
    }
    for (const validation::ErrorTable* table : all_rows ? tables_of(study) : std::vector<const validation::ErrorTable*>{}) {
        text += "\n" + table->what + "\n" + rows_text(study, *table);
    }
    return text;
}

}  // namespace treeline::reports
