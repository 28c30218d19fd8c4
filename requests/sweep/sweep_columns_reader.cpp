#include "requests/sweep/sweep_columns_reader.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "json/reader.h"
#include "json/wording.h"

namespace treeline::requests {
namespace {

/// Refuses a column that no device of the input can fill, or no batch by itself.
void check_known(const sweeps::SweepColumn& column, const sweeps::SweepInput& input) {
    if (column.of_loads && input.space.kind == sweeps::LoadKind::batch) {
        throw text::InputError(
            {fmt::format("{} is known under a load: state concurrency or arrival_rate in place of batch", column.name)});
    }
    const auto missing = sweeps::devices_without(column, input);
    const bool somewhere =
        std::any_of(input.space.variants.begin(), input.space.variants.end(), [&](const sweeps::Variant& variant) {
            return std::find(missing.begin(), missing.end(), variant.labels.device) == missing.end();
        });
    if (!somewhere) {
        throw text::InputError({fmt::format("no device of this sweep can be ranked by {}: {} what it needs", column.name,
                                            missing.size() == 1 ? "the description of " + missing.front() + " does not say"
                                                                : "their descriptions do not say")});
    }
}

}  // namespace

const sweeps::SweepColumn* sweep_column_of(const std::string& flag, const std::string& name) {
    if (const sweeps::SweepColumn* column = sweeps::find_sweep_column(name)) {
        return column;
    }
    std::vector<std::string> names;
    for (const sweeps::SweepColumn& column : sweeps::sweep_columns) {
        names.emplace_back(column.name);
    }
    const std::string suggestion = text::did_you_mean(name, names);
    throw text::InputError(
        {fmt::format("{}: a sweep has no numeric column \"{}\"{}", flag, json::shown_key(name),
                     suggestion.empty() ? "; it has " + fmt::format("{}", fmt::join(names, ", ")) : suggestion)});
}

std::vector<const sweeps::SweepColumn*> tradeoff_columns(const std::string& flag, const std::vector<std::string>& names) {
    std::vector<const sweeps::SweepColumn*> columns;
    for (const std::string& name : names) {
        const sweeps::SweepColumn* column = sweep_column_of(flag, name);
        if (std::find(columns.begin(), columns.end(), column) != columns.end()) {
            throw text::InputError({fmt::format("{}: names {} twice; give different columns", flag, name)});
        }
        columns.push_back(column);
    }
    if (columns.size() < 2 || columns.size() > sweeps::most_front_columns) {
        throw text::InputError(
            {fmt::format("{}: needs two columns, three or four, as in tokens_per_s_user,tokens_per_s_device", flag)});
    }
    return columns;
}

void check_columns(const sweeps::SweepOptions& options, const sweeps::SweepInput& input) {
    check_known(*options.best_by, input);
    for (const sweeps::SweepColumn* column : options.pareto_of) {
        check_known(*column, input);
    }
    for (const sweeps::SweepColumn* column : options.distributions) {
        check_known(*column, input);
    }
    for (const sweeps::FigureLimit& limit : options.limits) {
        check_known(*limit.column, input);
    }
}

}  // namespace treeline::requests
