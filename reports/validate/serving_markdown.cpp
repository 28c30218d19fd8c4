#include <algorithm>
#include <iterator>

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
    bool determined = false;
    for (const validation::FamilyCoverage& family : table.coverage) {
        if (!is_determined(family)) {
            continue;
        }
        determined = true;
        least = family.covered < least ? family.covered : least;
        largest = family.covered > largest ? family.covered : largest;
        width = family.width > width ? family.width : width;
    }
    return !determined ? "not determined"
                       : fmt::format("{:.0f} to {:.0f} %, {} wide", 100.0 * least, 100.0 * largest, text::ratio_text(width));
}

std::string lines_of(const validation::ErrorTable& table, validation::Grouping grouping, const std::string& mode) {
    std::string text;
    for (const validation::GroupScore& score : table.groups) {
        if (score.grouping == grouping) {
            text += markdown_line("… " + score.group, mode, score.errors, "");
        }
    }
    return text;
}

/// Rows of sources that nobody fitted a number to, before all others, and these by where their accept lengths come from.
std::string by_evidence(const validation::ErrorTable& table, const std::string& mode) {
    return lines_of(table, validation::Grouping::evidence, mode) + lines_of(table, validation::Grouping::reservations, mode);
}

/// Rows beside the kinds of models that have a goal of their own.
std::string other_groups_of(const validation::ErrorTable& table, const std::string& mode) {
    std::string text;
    for (const validation::GroupScore& score : table.groups) {
        if (score.grouping == validation::Grouping::sources || score.grouping == validation::Grouping::load ||
            score.grouping == validation::Grouping::conditions || score.grouping == validation::Grouping::stacks) {
            const std::string prefix = score.grouping == validation::Grouping::load ? "batch " : "";
            text += markdown_line("… " + prefix + score.group, mode, score.errors, "");
        }
    }
    return text;
}

/// Models, engines, devices and kinds of drafters whose median is above 13 %.
std::string worst_sentence(const validation::ErrorTable& table) {
    constexpr double limit = 0.13;
    constexpr std::size_t fewest = 5;
    std::string text;
    for (const validation::GroupScore& score : table.groups) {
        using enum validation::Grouping;
        const bool named = score.grouping == engine || score.grouping == device || score.grouping == model ||
                           score.grouping == kind || score.grouping == drafter;
        if (named && score.errors.rows >= fewest && score.errors.median > limit) {
            text += fmt::format("{}{} {} ({}, {:+.0f} %)", text.empty() ? "" : ", ", name_of(score.grouping), score.group,
                                score.errors.rows, 100.0 * score.errors.bias);
        }
    }
    return text.empty() ? "" : "  Median above 13 % (rows, bias): " + text + ".\n";
}

std::string verdicts_sentence(const validation::Verdicts& verdicts) {
    const std::size_t paying = verdicts.cells() - verdicts.losing();
    const auto share = [](std::size_t part, std::size_t of) {
        return of == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(of);
    };
    return fmt::format(
        "  Said as recommendations say it, with 80 % confidence by the errors on other devices: of {} losing cells {} ({}) "
        "are\n"
        "  said to lose, {} are called too close and {} are said to pay; of {} others {} ({}) are said to lose, {} are too "
        "close\n"
        "  and {} are said to pay.\n",
        verdicts.losing(), verdicts.found(), text::percent_text(share(verdicts.found(), verdicts.losing())),
        verdicts.unsure.losing, verdicts.pays.losing, paying, verdicts.false_alarms(),
        text::percent_text(share(verdicts.false_alarms(), paying)), verdicts.unsure.cells - verdicts.unsure.losing,
        verdicts.pays.cells - verdicts.pays.losing);
}

std::string table_lines(const validation::ErrorTable& table, const std::string& mode) {
    std::string text = markdown_line(table.what, mode, table.errors, covered_text(table)) + by_evidence(table, mode) +
                       lines_of(table, validation::Grouping::kind, mode) + other_groups_of(table, mode) +
                       markdown_line("… one vote a series", mode, table.by_series, "");
    if (table.by_citation) {
        text += markdown_line("… one vote a citation", mode, *table.by_citation, "");
    }
    if (table.with_one_run) {
        text += markdown_line("… with one measured run of the deployment", mode, *table.with_one_run, "");
    }
    if (table.with_one_alike) {
        text += markdown_line("… … of the same prompt and answer lengths", mode, *table.with_one_alike, "");
    }
    if (table.plain_steps) {
        text += markdown_line("… unseen: steps without speculation beside them, of engines with a stack", mode,
                              *table.plain_steps, "");
    }
    for (const auto& [loads, whose] : {std::pair{&table.other_loads, "unseen"}, {&table.other_loads_of_seen, "fitted"}}) {
        if (*loads) {
            text += markdown_line(
                        fmt::format("… {}: other loads of a series, from one measured with and without speculation", whose),
                        mode, (*loads)->from_one, "") +
                    markdown_line(fmt::format("… {}: loads between two others of a series, from both measured so", whose), mode,
                                  (*loads)->between, "") +
                    markdown_line("… … without a model: their speed-ups interpolated", "", (*loads)->interpolated, "");
        }
    }
    if (table.by_constant_length) {
        text += markdown_line("… the smallest batch's accept length over the row's own, both printed", "",
                              *table.by_constant_length, "");
    }
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
               "- {}: speculation loses in {} of {} cells; {} of them are found, with {} false alarms (median step costs: {} "
               "and "
               "{}).\n"
               "  The batch from which it loses is within one measured step in {} of {} series (median step costs: {}). The "
               "best "
               "draft\n"
               "  length is within one token in {} of {} choices, the best or next measured one in {}, mean regret {} (median "
               "step\n"
               "  costs: {}, {}, {}; {} tokens everywhere, the best constant in hindsight: {}).\n",
               table.what, advice.losing, advice.cells, advice.found, advice.false_alarms, naive.found, naive.false_alarms,
               advice.switch_right, advice.series, naive.switch_right, advice.best_within, advice.choices, advice.best_next,
               text::percent_text(advice.mean_regret), naive.best_within, naive.best_next,
               text::percent_text(naive.mean_regret), advice.constant_length, text::percent_text(advice.constant_regret)) +
           verdicts_sentence(*table.verdicts) + worst_sentence(table);
}

/// What intervals of one quantity hold, by class of batches.
std::string interval_lines(const validation::ServingStudy& study, std::string_view what,
                           const std::vector<validation::FamilyCoverage>& intervals) {
    std::string text;
    for (const validation::FamilyCoverage& coverage : intervals) {
        text += fmt::format("| {} | {} | {} ({}) | {} |", what, name_of(study.input.mode), name_of(coverage.left_out),
                            coverage.families,
                            is_determined(coverage) ? fmt::format("{:.0f} %", 100.0 * coverage.covered) : "not determined");
        for (int level = 0; level < numerics::level_count; ++level) {
            text += fmt::format(" {} |", level_coverage_text(coverage, level));
        }
        text += fmt::format(" {} |\n", is_determined(coverage) ? text::ratio_text(coverage.width) : "–");
    }
    return text;
}

/// What intervals of recommendations hold.
std::string interval_lines(const validation::ServingStudy& study) {
    return interval_lines(study, "gain", study.speed_up_intervals) + interval_lines(study, "plain step", study.time_intervals);
}

/// The heading of those lines; nothing where there are none.
std::string interval_heading(const validation::ServingStudy& study) {
    if (study.speed_up_intervals.empty() && study.time_intervals.empty()) {
        return "";
    }
    std::string names = "| of | mode | left out (families) | all |", rule = "|---|---|---|---|";
    for (int level = 0; level < numerics::level_count; ++level) {
        names += fmt::format(" batch {} |", level_text(level));
        rule += "---|";
    }
    return "\nIntervals that answers print, nominal 80 %, made of the errors of other families: how many rows they hold, by\n"
           "batch, and the ratio of their ends. Plain steps are those of serving runs and the ones beside unseen "
           "speed-ups.\n\n" +
           names + " width |\n" + rule + "---|\n";
}

/// Without what ends a cell.
std::string cell_text(std::string text) {
    std::replace(text.begin(), text.end(), '|', '/');
    return text;
}

/// Errors of each citation, those with most cases first.
std::string citation_lines(const validation::ErrorTable& table) {
    std::vector<validation::GroupScore> citations;
    std::copy_if(table.groups.begin(), table.groups.end(), std::back_inserter(citations),
                 [](const validation::GroupScore& score) { return score.grouping == validation::Grouping::citation; });
    std::stable_sort(citations.begin(), citations.end(),
                     [](const auto& a, const auto& b) { return a.errors.rows > b.errors.rows; });
    std::string text =
        fmt::format("\n| {}, by citation | cases | median error | p90 | bias |\n|---|---|---|---|---|\n", table.what);
    for (const validation::GroupScore& score : citations) {
        text += fmt::format("| {} | {} | {} | {} | {:+.1f} % |\n", cell_text(score.group), score.errors.rows,
                            text::percent_text(score.errors.median), text::percent_text(score.errors.p90),
                            100.0 * score.errors.bias);
    }
    return text;
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
        "measured; {} of {} usable pairs can be priced. Some numbers of stacks and kernels are fitted to speed-ups of a few "
        "sources\n"
        "(`validation/serving/evidence.json`), others to most runs without speculation; what a stranger would find are the "
        "rows of\n"
        "sources that no number was fitted to. Lines that begin with \"unseen\" divide these rows by what is known of them;\n"
        "what matters is stated where everything is that moves the prediction by a tenth. Apart from all of them, from one "
        "vote\n"
        "a citation and from intervals stand, by rule, accept lengths at a bound, runs that their sources call defective or\n"
        "different in more than speculation, and runs that contradict each other: a speed-up above its accept length, plain "
        "steps\n"
        "that are twofold off others of their deployment and load, a request served more slowly than at a larger load, more\n"
        "prompts than the devices can compute. `--format csv` says which row is which. The last column is the share of rows in "
        "an\n"
        "interval of nominal 80 % whose width comes from other sources, models, devices or engines (one vote a source), and "
        "the\n"
        "ratio of its ends.\n\n"
        "| rows | mode | cases | median error | p90 | bias | in the interval |\n|---|---|---|---|---|---|---|\n",
        first.serving.points.size(), first.speculation.points.size(), first.speculation.points.size(), first.usable_pairs);
    for (const validation::ServingStudy& study : studies) {
        for (const validation::ErrorTable* table : tables_of(study)) {
            text += table_lines(*table, std::string(name_of(study.input.mode)));
        }
    }
    text += interval_heading(first);
    for (const validation::ServingStudy& study : studies) {
        text += interval_lines(study);
    }
    text += "\n";
    const validation::ServingStudy& last = studies.back();  // as the product prices by default
    for (const validation::ErrorTable* table : tables_of(last)) {
        text += table->advice ? advice_sentence(*table) : "";
    }
    for (const validation::ErrorTable* table : tables_of(last)) {
        text += table->by_citation ? citation_lines(*table) : "";
    }
    return text + "\n| left out | why | rows |\n|---|---|---|\n" +
           reasons_lines("without speculation", first.serving_left_out) +
           reasons_lines("speculative", first.speculation_left_out);
}

}  // namespace treeline::reports
