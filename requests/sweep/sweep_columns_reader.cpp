#include "requests/sweep/sweep_columns_reader.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "json/reader.h"
#include "json/wording.h"

namespace treeline {
namespace {

/// Refuses a column that no device of the input can fill.
void check_known(const SweepColumn& column, const SweepInput& input) {
    const auto missing = devices_without(column, input);
    const bool somewhere = std::any_of(input.space.variants.begin(), input.space.variants.end(), [&](const Variant& variant) {
        return std::find(missing.begin(), missing.end(), variant.labels.device) == missing.end();
    });
    if (!somewhere) {
        throw InputError({fmt::format("no device of this sweep can be ranked by {}: {} what it needs", column.name,
                                      missing.size() == 1 ? "the description of " + missing.front() + " does not say"
                                                          : "their descriptions do not say")});
    }
}

}  // namespace

const SweepColumn* sweep_column_of(const std::string& flag, const std::string& name) {
    if (const SweepColumn* column = find_sweep_column(name)) {
        return column;
    }
    std::vector<std::string> names;
    for (const SweepColumn& column : sweep_columns) {
        names.emplace_back(column.name);
    }
    const std::string suggestion = did_you_mean(name, names);
    throw InputError({fmt::format("{}: a sweep has no numeric column \"{}\"{}", flag, json::shown_key(name),
                                  suggestion.empty() ? "; it has " + fmt::format("{}", fmt::join(names, ", ")) : suggestion)});
}

std::vector<const SweepColumn*> tradeoff_columns(const std::string& flag, const std::vector<std::string>& names) {
    std::vector<const SweepColumn*> columns;
    for (const std::string& name : names) {
        const SweepColumn* column = sweep_column_of(flag, name);
        if (std::find(columns.begin(), columns.end(), column) != columns.end()) {
            throw InputError({fmt::format("{}: names {} twice; give different columns", flag, name)});
        }
        columns.push_back(column);
    }
    if (columns.size() < 2 || columns.size() > most_front_columns) {
        throw InputError(
            {fmt::format("{}: needs two columns, three or four, as in tokens_per_s_user,tokens_per_s_device", flag)});
    }
    return columns;
}

void check_columns(const SweepOptions& options, const SweepInput& input) {
    check_known(*options.best_by, input);
    for (const SweepColumn* column : options.pareto_of) {
        check_known(*column, input);
    }
    for (const SweepColumn* column : options.distributions) {
        check_known(*column, input);
    }
    for (const FigureLimit& limit : options.limits) {
        check_known(*limit.column, input);
    }
}

}  // namespace treeline
