#include <fmt/format.h>

#include "reports/validate/serving_output.h"
#include "text/number_text.h"

namespace treeline::reports {
namespace {

std::string markdown_line(const std::string& name, const std::string& mode, const validation::ErrorSummary& errors,
                          const std::string& covered) {
    return fmt::format("| {} | {} | {} | {} | {} | {:+.1f} % | {} |\n", name, mode, errors.rows,
                       text::percent_text(errors.median), text::percent_text(errors.p90), 100.0 * errors.bias, covered);
}

/// Least and largest coverage over the ways of leaving families out, and the widest interval (upper end / lower end).
std::string covered_text(const validation::ErrorTable& table) {
    double least = 1.0, largest = 0.0, width = 0.0;
    for (const validation::FamilyCoverage& family : table.coverage) {
        least = family.covered < least ? family.covered : least;
        largest = family.covered > largest ? family.covered : largest;
        width = family.width > width ? family.width : width;
    }
    return fmt::format("{:.0f} to {:.0f} %, {} wide", 100.0 * least, 100.0 * largest, text::ratio_text(width));
}

std::string kinds_of(const validation::ErrorTable& table, const std::string& mode) {
    std::string text;
    for (const validation::GroupScore& score : table.groups) {
        if (score.grouping == validation::Grouping::kind) {
            text += markdown_line("… " + score.group, mode, score.errors, "");
        }
    }
    return text;
}

std::string table_lines(const validation::ErrorTable& table, const std::string& mode) {
    std::string text = markdown_line(table.what, mode, table.errors, covered_text(table)) + kinds_of(table, mode) +
                       markdown_line("… one vote a series", mode, table.by_series, "");
    if (table.by_cost_table) {
        text += markdown_line("… without a model: median step costs", "", *table.by_cost_table, "");
    }
    if (table.by_smallest_batch) {
        text += markdown_line("… without a model: as at the smallest batch", "", *table.by_smallest_batch, "");
    }
    return text;
}

std::string advice_sentence(const validation::ErrorTable& table) {
    const validation::Advice& advice = *table.advice;
    const validation::Advice& naive = *table.advice_by_cost_table;
    return fmt::format(
        "- {}: speculation loses in {} of {} cells; {} of them are found, with {} false alarms (median step costs: {} and "
        "{}).\n"
        "  The batch from which it loses is within one measured step in {} of {} series (median step costs: {}). The best "
        "draft\n"
        "  length is within one in {} of {} choices, mean regret {} (median step costs: {}, {}).\n",
        table.what, advice.losing, advice.cells, advice.found, advice.false_alarms, naive.found, naive.false_alarms,
        advice.switch_right, advice.series, naive.switch_right, advice.best_within, advice.choices,
        text::percent_text(advice.mean_regret), naive.best_within, text::percent_text(naive.mean_regret));
}

std::string reasons_lines(const char* of_what, const std::vector<validation::ReasonCount>& reasons) {
    std::string text;
    for (const validation::ReasonCount& reason : reasons) {
        text += fmt::format("| {} | {} | {} |\n", of_what, reason.reason, reason.rows);
    }
    return text;
}

}  // namespace

std::string serving_markdown(const std::vector<validation::ServingStudy>& studies) {
    if (studies.empty()) {
        return "";
    }
    const validation::ServingStudy& first = studies.front();
    std::string text = fmt::format(
        "\n## Measured serving rows\n\n"
        "Predictions as the product prints them for {} runs of engines without speculation and {} speculative pairs that "
        "others\n"
        "measured; {} of {} usable pairs can be priced. Nothing is fitted to them. The last column is the share of rows in an\n"
        "interval of nominal 80 % whose width comes from other models, devices or engines (one vote a deployment) and the "
        "ratio of its ends.\n\n"
        "| rows | mode | cases | median error | p90 | bias | in the interval |\n|---|---|---|---|---|---|---|\n",
        first.serving.points.size(), first.speculation.points.size(), first.speculation.points.size(), first.usable_pairs);
    for (const validation::ServingStudy& study : studies) {
        for (const validation::ErrorTable* table : tables_of(study)) {
            text += table_lines(*table, std::string(name_of(study.input.mode)));
        }
    }
    text += "\n";
    for (const validation::ErrorTable* table : tables_of(first)) {
        text += table->advice ? advice_sentence(*table) : "";
    }
    return text + "\n| left out | why | rows |\n|---|---|---|\n" +
           reasons_lines("without speculation", first.serving_left_out) +
           reasons_lines("speculative", first.speculation_left_out);
}

}  // namespace treeline::reports
