#include "fit_file.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "json/reader.h"
#include "source_folder.h"
#include "text/input_error.h"
#include "text/parse_number.h"
#include "validation/parameters.h"
#include "validation/serving/names.h"

namespace treeline::testing {
namespace {

constexpr double anything = 1e300;

bool agrees(std::string_view wanted, const std::string& label) {
    const auto begins = [&](std::string_view word) {
        const bool does = wanted.starts_with(word);
        wanted.remove_prefix(does ? word.size() : 0);
        return does;
    };
    const auto number = [](std::string_view text) { return text::parse_number(text).value(); };
    return begins("not ")  ? !validation::fits(wanted, label)
           : begins(">= ") ? number(label) >= number(wanted)
           : begins("< ")  ? number(label) < number(wanted)
                           : validation::fits(wanted, label);
}

Where read_where(json::Reader& at, const char* key = "where") {
    Where where;
    if (std::optional<json::Reader> labels = at.optional_object(key)) {
        for (const std::string& label : labels->keys()) {
            where[label] = labels->text(label);
        }
        labels->finish();
    }
    return where;
}

std::vector<std::string> texts_if_any(json::Reader& at, const char* key) {
    return at.has(key) ? at.texts(key) : std::vector<std::string>{};
}

std::vector<Where> read_rows_left_out(json::Reader& at) {
    std::vector<Where> result;
    if (at.has("left_out")) {
        for (json::Reader& entry : at.objects("left_out")) {
            result.push_back(read_where(entry));
            static_cast<void>(entry.text("why"));
            entry.finish();
        }
    }
    return result;
}

std::optional<Beside> read_beside(json::Reader& at) {
    std::optional<json::Reader> beside = at.optional_object("beside");
    if (!beside) {
        return std::nullopt;
    }
    Beside result{beside->texts("alike"), read_where(*beside, "alone"), beside->choice<Comparison>("comparison")};
    beside->finish();
    return result;
}

FitRows read_rows(json::Reader at) {
    FitRows rows;
    rows.file = at.text("file");
    rows.kind = at.choice<FitSource>("kind");
    rows.quantity = at.choice<FitQuantity>("quantity");
    for (const std::string& mode : at.texts("modes")) {
        if (const auto known = value_named<sim::CostMode>(mode)) {
            rows.modes.push_back(*known);
        } else {
            at.problem("modes", fmt::format("'{}' is no cost mode", mode));
        }
    }
    rows.citations = texts_if_any(at, "citations");
    rows.where = read_where(at);
    rows.fitted = read_where(at, "fitted");
    rows.left_out = read_rows_left_out(at);
    if (at.has("counts_as")) {
        for (auto& [label, values] : at.members("counts_as")) {
            for (const std::string& value : values.keys()) {
                rows.counts_as[label][value] = values.text(value);
            }
            values.finish();
        }
    }
    rows.beside = read_beside(at);
    static_cast<void>(at.text("why"));
    at.finish();
    return rows;
}

/// Bounds are those of what may be stated, unless the file narrows them.
void read_bounds(json::Reader& at, FitNumber& number, double base_units) {
    const validation::FreeParameter range = validation::stated_parameter(number.key);
    const double low = number.inverse ? 1.0 / range.high : range.low, high = number.inverse ? 1.0 / range.low : range.high;
    constexpr double rounding = 1e-12;
    const auto bound = [&](const char* key, double of_range) {
        const double value = base_units * at.number_or(key, of_range / base_units, -anything, anything);
        if (value < low * (1.0 - rounding) || value > high * (1.0 + rounding)) {
            at.problem(key,
                       fmt::format("lies outside of what may be stated, {:g} to {:g}", low / base_units, high / base_units));
        }
        return value;
    };
    number.low = bound("low", low);
    number.high = bound("high", high);
}

void read_search(json::Reader& at, FitNumber& number, FitMethod method, double base_units) {
    const double low = number.low / base_units, high = number.high / base_units;
    if (method == FitMethod::grid) {
        for (const double value : at.numbers("values", low, high)) {
            number.values.push_back(base_units * value);
        }
    } else {
        number.start = base_units * at.number("start", low, high);
        number.step = base_units * at.number("step", 0.0, anything);
    }
    if (method == FitMethod::least_squares) {
        number.spread = base_units * at.number("spread", 0.0, anything);
    }
    if (at.has("without")) {
        number.without = base_units * at.number("without", 0.0, anything);
    }
}

FitNumber read_number(json::Reader& at, FitMethod method) {
    FitNumber number;
    number.key = at.text("key");
    number.inverse = at.flag_or("inverse", false);
    number.where = read_where(at);
    number.takes_from = at.text_or("takes_from", "");
    if (!validation::has_parameter(number.key)) {
        at.problem("key", "is no number that a fit knows (validation/parameters.h)");
        return number;
    }
    const double base_units = validation::unit_of({number.key}).base_units;
    read_bounds(at, number, base_units);
    read_search(at, number, method, base_units);
    static_cast<void>(at.text_or("why", ""));
    return number;
}

/// `of`: one number that all of these share; `of_each`: one for each.
std::vector<FitNumber> read_numbers(json::Reader& root, FitMethod method) {
    std::vector<FitNumber> numbers;
    for (json::Reader& at : root.objects("numbers")) {
        FitNumber number = read_number(at, method);
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
    if (root.has("left_out_whole")) {
        for (json::Reader& at : root.objects("left_out_whole")) {
            result.push_back({at.text("name"), at.texts("by"), at.flag_or("linearised_again", false)});
            at.finish();
        }
    }
    return result;
}

std::vector<FitGoal> read_goals(json::Reader& root) {
    std::vector<FitGoal> goals;
    if (root.has("goals")) {
        for (json::Reader& at : root.objects("goals")) {
            goals.push_back({at.text_or("left_out", ""), read_where(at), at.number("median", 0.0, 1.0),
                             at.number_or("p90", anything, 0.0, anything), at.number_or("bias", anything, 0.0, anything)});
            at.finish();
        }
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

std::optional<FitTable> read_table(json::Reader& root) {
    std::optional<json::Reader> at = root.optional_object("table");
    if (!at) {
        return std::nullopt;
    }
    FitTable table{at->text("page"), at->text("block"), at->text("first_column"), read_lines(*at, "columns"),
                   read_lines(*at, "lines")};
    at->finish();
    return table;
}

std::optional<double> number_if_any(json::Reader& at, const char* key) {
    return at.has(key) ? std::optional(at.number(key, 0.0, anything)) : std::nullopt;
}

}  // namespace

const std::string& label_of(const std::map<std::string, std::string>& labels, const std::string& name) {
    const auto found = labels.find(name);
    if (found == labels.end()) {
        throw text::InputError({fmt::format("the fit asks for the label '{}', which its rows do not have", name)});
    }
    return found->second;
}

bool holds(const Where& where, const std::map<std::string, std::string>& labels) {
    return std::all_of(where.begin(), where.end(),
                       [&](const auto& condition) { return agrees(condition.second, label_of(labels, condition.first)); });
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
    fit.method = root.choice<FitMethod>("method");
    fit.numbers = read_numbers(root, fit.method);
    fit.from_median_of = texts_if_any(root, "from_median_of");
    fit.votes = texts_if_any(root, "votes");
    fit.each_mode_alone = root.flag_or("each_mode_alone", false);
    fit.left_out = read_left_out(root);
    fit.shown_by = texts_if_any(root, "shown_by");
    fit.goals = read_goals(root);
    fit.stated_within = number_if_any(root, "stated_within");
    fit.stated_worse_by = number_if_any(root, "stated_worse_by");
    fit.table = read_table(root);
    root.finish();
    document.throw_if_problems();
    return fit;
}

std::vector<FitFile> fits_of(const std::string& name) {
    namespace fs = std::filesystem;
    const fs::path path = source_folder() / "validation" / "fits" / name;
    if (!fs::is_directory(path)) {
        return {read_fit(path.string() + ".json")};
    }
    std::vector<fs::path> paths;
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
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
