#include "fit_file.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "json/reader.h"
#include "source_folder.h"
#include "text/parse_number.h"
#include "validation/parameters.h"

namespace treeline::testing {
namespace {

constexpr double anything = 1e300;
constexpr std::string_view at_least = ">= ";

bool agrees(const std::string& wanted, const std::string& label) {
    return wanted.starts_with(at_least)
               ? text::parse_number(label).value() >= text::parse_number(wanted.substr(at_least.size())).value()
               : wanted == label;
}

Where read_where(json::Reader& at) {
    Where where;
    if (std::optional<json::Reader> labels = at.optional_object("where")) {
        for (const std::string& label : labels->keys()) {
            where[label] = labels->text(label);
        }
        labels->finish();
    }
    return where;
}

FitRows read_rows(json::Reader at) {
    FitRows rows;
    rows.file = at.text("file");
    rows.kind = at.choice("kind", {"runs", "speed-ups"}) == "runs" ? FitRows::Kind::runs : FitRows::Kind::speed_ups;
    for (const std::string& mode : at.texts("modes")) {
        if (const auto known = value_named<sim::CostMode>(mode)) {
            rows.modes.push_back(*known);
        } else {
            at.problem("modes", fmt::format("'{}' is no cost mode", mode));
        }
    }
    if (at.has("citations")) {
        rows.citations = at.texts("citations");
    }
    if (at.has("left_out")) {
        for (json::Reader& entry : at.objects("left_out")) {
            rows.left_out.push_back(read_where(entry));
            static_cast<void>(entry.text("why"));
            entry.finish();
        }
    }
    if (at.has("counts_as")) {
        for (auto& [label, values] : at.members("counts_as")) {
            for (const std::string& value : values.keys()) {
                rows.counts_as[label][value] = values.text(value);
            }
            values.finish();
        }
    }
    static_cast<void>(at.text_or("why", ""));
    at.finish();
    return rows;
}

/// Bounds are those of what may be stated, unless the file narrows them.
void read_bounds(json::Reader& at, FitNumber& number, double base_units) {
    const validation::FreeParameter range = validation::stated_parameter(number.key);
    number.low = number.inverse ? 1.0 / range.high : range.low;
    number.high = number.inverse ? 1.0 / range.low : range.high;
    const auto bound = [&](const char* key, double of_range) {
        const double value = base_units * at.number_or(key, of_range / base_units, -anything, anything);
        if (value < number.low * (1.0 - 1e-12) || value > number.high * (1.0 + 1e-12)) {
            at.problem(key, fmt::format("lies outside of what may be stated, {:g} to {:g}", number.low / base_units,
                                        number.high / base_units));
        }
        return value;
    };
    const double low = bound("low", number.low), high = bound("high", number.high);
    number.low = low;
    number.high = high;
}

FitNumber read_number(json::Reader& at) {
    FitNumber number;
    number.key = at.text("key");
    number.inverse = at.flag_or("inverse", false);
    number.where = read_where(at);
    if (!validation::has_parameter(number.key)) {
        at.problem("key", "is no number that a fit knows (validation/parameters.h)");
        return number;
    }
    const double base_units = validation::unit_of({number.key}).base_units;
    read_bounds(at, number, base_units);
    number.start = base_units * at.number("start", number.low / base_units, number.high / base_units);
    number.step = base_units * at.number("step", 0.0, anything);
    number.spread = base_units * at.number("spread", 0.0, anything);
    static_cast<void>(at.text_or("why", ""));
    return number;
}

/// `of`: one number that all of these share; `of_each`: one for each.
std::vector<FitNumber> read_numbers(json::Reader& root) {
    std::vector<FitNumber> numbers;
    for (json::Reader& at : root.objects("numbers")) {
        FitNumber number = read_number(at);
        if (at.has("of_each")) {
            for (const std::string& owner : at.texts("of_each")) {
                number.of = {owner};
                numbers.push_back(number);
            }
        } else {
            number.of = at.texts("of");
            numbers.push_back(number);
        }
        at.finish();
    }
    return numbers;
}

std::vector<LeftOut> read_left_out(json::Reader& root) {
    std::vector<LeftOut> result;
    for (json::Reader& at : root.objects("left_out_whole")) {
        result.push_back({at.text("name"), at.texts("by"), at.texts("shown_by")});
        at.finish();
    }
    return result;
}

std::vector<FitGoal> read_goals(json::Reader& root) {
    std::vector<FitGoal> goals;
    for (json::Reader& at : root.objects("goals")) {
        goals.push_back({at.text("left_out"), read_where(at), at.number("median", 0.0, 1.0),
                         at.number_or("p90", anything, 0.0, anything), at.number_or("bias", anything, 0.0, anything)});
        at.finish();
    }
    return goals;
}

std::vector<FitTable::Line> read_lines(json::Reader& at, const char* key) {
    std::vector<FitTable::Line> lines;
    for (json::Reader& line : at.objects(key)) {
        lines.push_back({line.text("title"), line.text_or("left_out", ""), read_where(line)});
        line.finish();
    }
    return lines;
}

std::vector<FitTable> read_tables(json::Reader& root) {
    std::vector<FitTable> tables;
    if (std::optional<json::Reader> at = root.optional_object("table")) {
        tables.push_back({at->text("page"), at->text("block"), at->text("first_column"), read_lines(*at, "columns"),
                          read_lines(*at, "lines")});
        at->finish();
    }
    return tables;
}

}  // namespace

bool holds(const Where& where, const std::map<std::string, std::string>& labels) {
    return std::all_of(where.begin(), where.end(),
                       [&](const auto& condition) { return agrees(condition.second, labels.at(condition.first)); });
}

std::string FitNumber::owners() const {
    std::vector<std::string> names;
    for (const std::string& owner : of) {
        names.push_back(owner.substr(owner.find('/') + 1));
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

FitFile read_fit(const std::filesystem::path& path) {
    json::Document document = json::Document::load(path);
    json::Reader root = document.root();
    FitFile fit;
    static_cast<void>(root.choice("format", {"treeline-fit"}));
    static_cast<void>(root.count("version", 1, 1));
    fit.name = path.stem().string();
    fit.title = root.text("title");
    static_cast<void>(root.text("held_fixed"));
    fit.rows = read_rows(root.object("rows"));
    fit.numbers = read_numbers(root);
    fit.left_out = read_left_out(root);
    fit.goals = read_goals(root);
    fit.tables = read_tables(root);
    root.finish();
    document.throw_if_problems();
    return fit;
}

std::vector<FitFile> all_fits() {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(source_folder() / "validation" / "fits")) {
        if (entry.path().extension() == ".json") {
            paths.push_back(entry.path());
        }
    }
    std::sort(paths.begin(), paths.end());
    std::vector<FitFile> fits;
    std::transform(paths.begin(), paths.end(), std::back_inserter(fits), read_fit);
    return fits;
}

}  // namespace treeline::testing
