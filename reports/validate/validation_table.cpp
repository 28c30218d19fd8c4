#include <algorithm>

#include <fmt/format.h>

#include "reports/validate/validation_output.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100.0 * share); }

std::vector<std::string> error_cells(const validation::ErrorSummary& summary) {
    if (summary.rows == 0) {
        return {"0", "", "", "", "", ""};
    }
    return {
        std::to_string(summary.rows),    text::percent_text(summary.median),
        text::percent_text(summary.p90), text::percent_text(summary.largest),
        signed_percent(summary.bias),    summary.rank_correlation == 0.0 ? "" : text::fixed_text(summary.rank_correlation, 2)};
}

void add(text::TextTable& table, std::vector<std::string> first, const validation::ErrorSummary& summary,
         std::vector<std::string> last) {
    for (std::string& cell : error_cells(summary)) {
        first.push_back(std::move(cell));
    }
    first.insert(first.end(), last.begin(), last.end());
    table.add(std::move(first));
}

std::string blank_if_zero(std::size_t count) { return count == 0 ? "" : std::to_string(count); }

std::string parameter_value(const validation::FittedNumber& fitted, double value) {
    const validation::ParameterUnit unit = validation::unit_of(fitted.parameter);
    return text::short_text(value / unit.base_units) + (unit.name.empty() ? "" : " " + std::string(unit.name));
}

/// As many rows as parameters leave no residual to judge by; then, and if rows hardly depend on a number, there is no interval.
std::string interval_text(const validation::FittedNumber& fitted) {
    return fitted.determined() ? parameter_value(fitted, fitted.low) + " to " + parameter_value(fitted, fitted.high)
                               : "not determined";
}

std::string fits_text(const validation::Validation& validation) {
    text::TextTable table({{"Platform", text::Align::left},
                           {"parameter", text::Align::left},
                           {"fitted"},
                           {"95 % interval"},
                           {"described"},
                           {"rows"}});
    std::string remarks;
    for (const validation::PlatformFit& fit : validation.fits) {
        for (const validation::FittedNumber& fitted : fit.parameters) {
            table.add({fit.platform, fitted.parameter.name, parameter_value(fitted, fitted.value), interval_text(fitted),
                       parameter_value(fitted, fitted.start), std::to_string(fit.rows)});
        }
        for (const std::string& number : fit.in_description) {
            remarks += fmt::format("{}: {}\n", fit.platform, number);
        }
        for (const std::string& remark : fit.remarks) {
            remarks += fmt::format("{}: {}\n", fit.platform, remark);
        }
    }
    return "Fitted, on rows with role fit only\n" + table.text() + remarks;
}

std::string scores_text(const validation::Validation& validation) {
    text::TextTable table({{"Paper", text::Align::left},
                           {"table", text::Align::left},
                           {"test rows"},
                           {"median"},
                           {"p90"},
                           {"largest"},
                           {"bias"},
                           {"rank corr."},
                           {"fitted"},
                           {"left out"},
                           {"winner right"}});
    for (const validation::TableScore& score : validation.tables) {
        const validation::Experiments& paper = validation.papers[score.paper];
        add(table, {paper.paper, paper.tables[score.table].id}, score.test,
            {blank_if_zero(score.fit_rows), blank_if_zero(score.left_out),
             score.choices == 0 ? "" : fmt::format("{} of {}", score.right_choices, score.choices)});
    }
    table.add_rule();
    for (const validation::PaperScore& score : validation.scores) {
        add(table, {validation.papers[score.paper].paper, "all"}, score.test,
            {blank_if_zero(score.fit_rows), blank_if_zero(score.left_out), ""});
    }
    const bool all = validation.scores.size() == validation.papers.size();
    table.add_rule();
    if (all) {
        add(table, {"All papers", "other models, counts"}, validation.not_measured, {"", "", ""});
        add(table, {"All papers", "memory"}, validation.memory, {"", "", ""});
        add(table, {"All papers", "measurements"}, validation.measured,
            {"", "", fmt::format("{:.0f} %", 100.0 * validation.choices_right)});
        table.add_rule();
    }
    for (const validation::PaperScore& score : validation.unfitted.papers) {
        add(table, {validation.papers[score.paper].paper, "nothing fitted"}, score.test, {"", "", ""});
    }
    if (all) {
        add(table, {"All papers", "nothing fitted"}, validation.unfitted.measured,
            {"", "", fmt::format("{} of {}", validation.unfitted.right_choices, validation.unfitted.choices)});
    }
    return "Error of predictions: rows that were not used for fitting\n" + table.text();
}

std::string choices_text(const validation::Validation& validation) {
    std::string text;
    for (const validation::ComparedChoices& choices : validation.choices) {
        if (!choices.outcome.right) {
            const validation::Experiments& paper = validation.papers[choices.paper];
            text += fmt::format("{}, {}, {}: predicted '{}', measured '{}'; regret {}\n", paper.paper,
                                paper.tables[choices.table].id, choices.name, choices.outcome.predicted_best,
                                choices.outcome.measured_best, text::percent_text(choices.outcome.regret));
        }
    }
    return fmt::format(
        "Choices: the predicted winner is the measured one in {} of {} comparisons, mean regret {}\n{}",
        validation.choices.size() - static_cast<std::size_t>(std::count_if(validation.choices.begin(), validation.choices.end(),
                                                                           [](const auto& c) { return !c.outcome.right; })),
        validation.choices.size(), text::percent_text(validation.regret), text);
}

std::string memory_text(const validation::Validation& validation) {
    std::string text = fmt::format("Whether it fits in memory is predicted correctly for {}\n", memory_counts_text(validation));
    for (const validation::MemoryCell& cell : validation.memory_cells) {
        if (cell.measured_fits != cell.predicted_fits) {
            const validation::Experiments& paper = validation.papers[cell.paper];
            text += fmt::format("{}, {}, {}: predicted to {}\n", paper.paper, paper.tables[cell.table].id,
                                validation.row(cell).name, cell.predicted_fits ? "fit" : "run out of memory");
        }
    }
    return text;
}

std::string left_out_text(const validation::Validation& validation) {
    std::string text;
    std::string last;
    for (const validation::LeftOutRow& left : validation.left_out) {
        const validation::Experiments& paper = validation.papers[left.paper];
        const std::string here = fmt::format("{}, {}", paper.paper, paper.tables[left.table].id);
        text += fmt::format("{}, {}: {}\n", here, validation.row(left).name, left.reason);
    }
    return text.empty() ? "" : "Not reproduced\n" + text;
}

std::string rows_text(const validation::Validation& validation) {
    text::TextTable table({{"Paper", text::Align::left},
                           {"table", text::Align::left},
                           {"row", text::Align::left},
                           {"measured"},
                           {"predicted"},
                           {"unit", text::Align::left},
                           {"error"},
                           {"nothing fitted"},
                           {"role", text::Align::left}});
    for (const validation::PredictedRow& row : validation.rows) {
        const validation::Experiments& paper = validation.papers[row.paper];
        const validation::ExperimentRow& data = validation.row(row);
        table.add({paper.paper, paper.tables[row.table].id, data.name, text::short_text(measured_in_unit(validation, row)),
                   text::short_text(predicted_in_unit(validation, row)), data.relative_to ? "ratio" : data.unit,
                   signed_percent(row.error.relative()), signed_percent(row.unfitted / row.error.measured - 1.0),
                   row.role == validation::Role::fit ? "fit" : ""});
    }
    return table.text();
}

}  // namespace

std::string memory_counts_text(const validation::Validation& validation) {
    const validation::MemoryCount fit = validation.memory_count(true), not_fit = validation.memory_count(false);
    return fmt::format("{} of {} cells that fit, {} of {} that ran out of memory", fit.right, fit.cells, not_fit.right,
                       not_fit.cells);
}

double measured_in_unit(const validation::Validation& validation, const validation::PredictedRow& row) {
    return row.error.measured / validation.row(row).base_units;
}

double predicted_in_unit(const validation::Validation& validation, const validation::PredictedRow& row) {
    return row.error.predicted / validation.row(row).base_units;
}

std::string validation_table(const validation::Validation& validation, bool all_rows) {
    std::string text =
        fits_text(validation) + "\n" + scores_text(validation) + "\n" + choices_text(validation) + memory_text(validation);
    if (const std::string left_out = left_out_text(validation); !left_out.empty()) {
        text += "\n" + left_out;
    }
    return text + (all_rows ? "\n" + rows_text(validation) : "");
}

}  // namespace treeline::reports
