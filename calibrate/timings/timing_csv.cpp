#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "calibrate/timings/timing_formats.h"
#include "json/reader.h"
#include "json/wording.h"

namespace treeline {
namespace {

constexpr std::size_t most_problems = 10;

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    return first == std::string_view::npos ? std::string_view()
                                           : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// The fields of a line; quoted ones (RFC 4180) may hold commas and doubled quotes.
std::vector<std::string> fields_of(std::string_view line) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"') {
            if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
                fields.back() += line[i++];
            } else {
                quoted = !quoted;
            }
        } else if (line[i] == ',' && !quoted) {
            fields.emplace_back();
        } else {
            fields.back() += line[i];
        }
    }
    for (std::string& field : fields) {
        field = trimmed(field);
    }
    return fields;
}

std::optional<double> number_in(const std::string& text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
    return whole ? std::optional(value) : std::nullopt;
}

/// The columns of the header.
struct Columns {
    std::size_t count = 0;
    std::optional<std::size_t> tokens, time, spread, series;
    double time_unit = 1.0, spread_unit = 1.0;
    std::string time_name, spread_name;
};

std::vector<std::string> known_columns() {
    std::vector<std::string> names = {"tokens", "series"};
    for (const TimeUnit& unit : time_units) {
        names.push_back(fmt::format("time_{}", unit.name));
        names.push_back(fmt::format("spread_{}", unit.name));
    }
    return names;
}

class CsvReader {
public:
    explicit CsvReader(TimingFile& file) : file_(file) {}

    void line(std::string_view text) {
        ++number_;
        const std::string_view content = trimmed(text);
        if (content.empty() || content.front() == '#' || problems_.size() >= most_problems) {
            return;
        }
        std::vector<std::string> fields = fields_of(content);
        if (columns_.count == 0) {
            header(fields);
        } else {
            row(fields);
        }
    }

    void finish() {
        if (columns_.count == 0) {
            problem("is empty; a header such as tokens,time_ms is needed");
        }
        if (!problems_.empty()) {
            throw InputError(std::move(problems_));
        }
    }

private:
    void problem(const std::string& sentence) { problems_.push_back(fmt::format("{}: {}", file_.path, sentence)); }

    void take(std::optional<std::size_t>& column, std::size_t at, const std::string& name) {
        if (column) {
            problem(fmt::format("the header gives the same quantity twice: {}", name));
        }
        column = at;
    }

    void header(const std::vector<std::string>& names) {
        columns_.count = names.size();
        for (std::size_t i = 0; i < names.size(); ++i) {
            header_field(names[i], i);
        }
        if (problems_.empty() && (!columns_.tokens || !columns_.time)) {
            problem("the header needs a column tokens and one of time_s, time_ms, time_us, time_ns");
        }
    }

    void header_field(const std::string& name, std::size_t at) {
        if (name == "tokens") {
            return take(columns_.tokens, at, name);
        }
        if (name == "series") {
            return take(columns_.series, at, name);
        }
        for (const TimeUnit& unit : time_units) {
            if (name == fmt::format("time_{}", unit.name)) {
                columns_.time_unit = unit.seconds;
                columns_.time_name = name;
                return take(columns_.time, at, name);
            }
            if (name == fmt::format("spread_{}", unit.name)) {
                columns_.spread_unit = unit.seconds;
                columns_.spread_name = name;
                return take(columns_.spread, at, name);
            }
        }
        const std::string hint = did_you_mean(name, known_columns());
        problem(fmt::format("the header has an unknown column \"{}\"{}", name,
                            hint.empty() ? "; known are tokens, series, time_ms and spread_ms (or _s, _us, _ns)" : hint));
    }

    std::optional<double> number(const std::vector<std::string>& fields, std::size_t column, const std::string& name) {
        const std::optional<double> value = number_in(fields[column]);
        if (!value) {
            problem(fmt::format("line {}: {} must be a number, not \"{}\"", number_, name, fields[column]));
        }
        return value;
    }

    void row(const std::vector<std::string>& fields) {
        if (fields.size() != columns_.count) {
            return problem(fmt::format("line {}: has {} fields, but the header {}", number_, fields.size(), columns_.count));
        }
        if (!problems_.empty() && !columns_.time) {
            return;
        }
        const std::optional<double> tokens = number(fields, *columns_.tokens, "tokens");
        const std::optional<double> time = number(fields, *columns_.time, columns_.time_name);
        Timing timing{tokens.value_or(0.0), Seconds(time.value_or(0.0) * columns_.time_unit), {}};
        if (tokens && (*tokens < 0.0)) {
            problem(fmt::format("line {}: tokens must be zero or above, not {}", number_, fields[*columns_.tokens]));
        }
        if (time && !(*time > 0.0)) {
            problem(fmt::format("line {}: {} must be above zero, not {}", number_, columns_.time_name, fields[*columns_.time]));
        }
        if (columns_.spread && !fields[*columns_.spread].empty()) {
            const std::optional<double> spread = number(fields, *columns_.spread, columns_.spread_name);
            timing.spread = Seconds(spread.value_or(0.0) * columns_.spread_unit);
            if (spread && *spread < 0.0) {
                problem(fmt::format("line {}: {} must be zero or above, not {}", number_, columns_.spread_name,
                                    fields[*columns_.spread]));
            }
        }
        add_timing(file_, columns_.series ? fields[*columns_.series] : "", timing);
    }

    TimingFile& file_;
    Columns columns_;
    std::size_t number_ = 0;
    std::vector<std::string> problems_;
};

}  // namespace

void read_timings_csv(std::string_view text, TimingFile& file) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text.starts_with(byte_order_mark)) {
        text.remove_prefix(byte_order_mark.size());
    }
    CsvReader reader(file);
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        reader.line(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    reader.finish();
}

}  // namespace treeline
