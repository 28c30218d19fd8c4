#include "store/diff.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "text/input_error.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::store {
namespace {

constexpr std::array configuration_columns = {"target",
                                              "precision",
                                              "device",
                                              "tensor_parallel",
                                              "expert_parallel",
                                              "attention_data_parallel",
                                              "pipeline_parallel",
                                              "stack",
                                              "mode",
                                              "drafter",
                                              "rollback",
                                              "shape",
                                              "verification"};
constexpr std::array shown_labels = {"device", "tensor_parallel", "stack", "drafter", "shape"};
constexpr std::array figures = {"speedup", "tpot_ms", "tokens_per_s_user", "tokens_per_s_device"};
constexpr std::size_t most_shown = 30;

/// A point of a list, by the names of its columns.
using Named = std::map<std::string, Cell>;
using Lists = std::map<std::pair<std::string, std::int64_t>, Named>;

Lists lists_of(Store& store, std::int64_t id) {
    if (!store.run(id).finished) {
        throw text::InputError({fmt::format("run {} is not finished; the command that began it goes on with it", id)});
    }
    std::vector<Row> rows;
    const std::vector<std::string> columns = store.rows(id, rows);
    Lists lists;
    for (const Row& row : rows) {
        Named named;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            named[columns[i]] = row[i];
        }
        lists[{cell_text(row[0]), whole_of(row[1])}] = std::move(named);
    }
    return lists;
}

template <class Names>
std::string labels_of(const Named& point, const Names& names) {
    std::string text;
    for (const char* name : names) {
        const auto found = point.find(name);
        text += (text.empty() ? "" : " ") + (found == point.end() ? "" : cell_text(found->second));
    }
    return text;
}

double number_of(const Named& point, const char* name) {
    const auto found = point.find(name);
    const double* number = found == point.end() ? nullptr : std::get_if<double>(&found->second);
    return number != nullptr ? *number : std::nan("");
}

/// A recommendation is of a whole traffic.
std::string where_of(const Named& point) {
    const double batch = number_of(point, "batch"), context = number_of(point, "context");
    return std::isfinite(batch) ? fmt::format("batch {}, context {}", text::short_text(batch), text::short_text(context))
                                : "the traffic";
}

std::string change_text(double before, double after) {
    if (!std::isfinite(before) || !std::isfinite(after)) {
        return "";
    }
    const double change = before != 0.0 ? 100.0 * (after / before - 1.0) : 0.0;
    return before == after ? text::short_text(after)
                           : fmt::format("{} -> {} ({:+.1f} %)", text::short_text(before), text::short_text(after), change);
}

std::string questions_text(const Question& a, const Question& b) {
    std::string text;
    const auto compare = [&](const char* what, const std::string& before, const std::string& after) {
        if (before != after) {
            text += fmt::format("{}: {} before, {} after.\n", what, before, after);
        }
    };
    compare("Program", a.program, b.program);
    compare("Catalogue", a.catalogue, b.catalogue);
    compare("Prices at probed points", a.fingerprint, b.fingerprint);
    compare("What was asked", a.flags, b.flags);
    if (a.input != b.input) {
        text += "The axes are not the same: lists are compared place by place.\n";
    }
    return text.empty() ? "Both ask the same of the same program and catalogue.\n" : text;
}

}  // namespace

std::string difference_text(Store& store, std::int64_t before_id, std::int64_t after_id) {
    const Lists before = lists_of(store, before_id), after = lists_of(store, after_id);
    std::string text = questions_text(store.run(before_id).question, store.run(after_id).question);
    text::TextTable table({{"list", text::Align::left},
                           {"place"},
                           {"where", text::Align::left},
                           {"configuration", text::Align::left},
                           {"speed-up", text::Align::left},
                           {"TPOT, ms", text::Align::left},
                           {"tokens/s/user", text::Align::left},
                           {"tokens/s/device", text::Align::left}});
    std::size_t same = 0, moved = 0, other = 0, shown = 0;
    for (const auto& [key, point] : after) {
        const auto old = before.find(key);
        if (old == before.end()) {
            continue;
        }
        const bool same_choice = labels_of(old->second, configuration_columns) == labels_of(point, configuration_columns) &&
                                 where_of(old->second) == where_of(point);
        const bool same_figures = std::all_of(figures.begin(), figures.end(), [&, &point = point](const char* name) {
            const double a = number_of(old->second, name), b = number_of(point, name);
            return a == b || (std::isnan(a) && std::isnan(b));
        });
        ++(!same_choice ? other : same_figures ? same : moved);
        if ((same_choice && same_figures) || ++shown > most_shown) {
            continue;
        }
        std::vector<std::string> cells = {key.first, std::to_string(key.second), where_of(point),
                                          labels_of(point, shown_labels)};
        if (!same_choice) {
            cells[2] = where_of(old->second) == where_of(point) ? cells[2] : where_of(old->second) + " -> " + cells[2];
            cells[3] = labels_of(old->second, shown_labels) + " -> " + cells[3];
        }
        for (const char* name : figures) {
            cells.push_back(change_text(number_of(old->second, name), number_of(point, name)));
        }
        table.add(std::move(cells));
    }
    text += fmt::format(
        "Of {} listed points {} are as before, {} are chosen again with other figures, at {} another one is chosen.\n",
        same + moved + other, same, moved, other);
    if (before.size() != after.size()) {
        text += fmt::format("The lists held {} points before and hold {} now.\n", before.size(), after.size());
    }
    text += shown > 0 ? "\n" + table.text() : "";
    return text + (shown > most_shown
                       ? fmt::format("... and {} more; `treeline results export` writes them all.\n", shown - most_shown)
                       : "");
}

}  // namespace treeline::store
