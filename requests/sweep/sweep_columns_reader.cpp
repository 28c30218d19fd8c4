#include "requests/sweep/sweep_columns_reader.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "json/reader.h"
#include "json/wording.h"

namespace treeline::requests {
namespace {

/// Refuses a column that no device of the input can fill.
void check_known(const sweeps::SweepColumn& column, const sweeps::SweepInput& input) {
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

std::array<const sweeps::SweepColumn*, 2> tradeoff_columns(const std::string& flag, const std::string& first,
                                                           const std::string& second) {
    const std::array<const sweeps::SweepColumn*, 2> columns = {sweep_column_of(flag, first), sweep_column_of(flag, second)};
    if (columns[0] == columns[1]) {
        throw text::InputError({fmt::format("{}: names {} twice; give two different columns", flag, first)});
    }
    return columns;
}

void check_columns(const sweeps::SweepOptions& options, const sweeps::SweepInput& input) {
    check_known(*options.best_by, input);
    check_known(*options.pareto_of[0], input);
    check_known(*options.pareto_of[1], input);
}

}  // namespace treeline::requests
