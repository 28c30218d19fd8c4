#include <optional>

#include <fmt/format.h>

#include "calibrate/timings/timing_formats.h"
#include "json/reader.h"
#include "json/wording.h"
#include "text/csv.h"
#include "text/parse_number.h"
#include "text/problems.h"

namespace treeline::calibrate {
namespace {

/// The columns of the header.
struct Columns {
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

class TimingRows {
public:
    TimingRows(text::CsvReader& csv, TimingFile& file, std::vector<std::string>& bad_rows)
        : csv_(csv), file_(file), bad_rows_(bad_rows) {}

    void read() {
        if (csv_.header().empty()) {
            problem("is empty; a header such as tokens,time_ms is needed");
        } else {
            header(csv_.header());
        }
        if (!problems_.empty()) {
            throw text::InputError(std::move(problems_));
        }
        while (csv_.next()) {
            row(csv_.fields());
        }
    }

private:
    void problem(const std::string& sentence) { problems_.push_back(fmt::format("{}: {}", file_.path, sentence)); }

    void row_problem(const std::string& sentence) {
        text::add_problem(bad_rows_, fmt::format("{}: line {}: {}", file_.path, csv_.line(), sentence));
    }

    void take(std::optional<std::size_t>& column, std::size_t at, const std::string& name) {
        if (column) {
            problem(fmt::format("the header gives the same quantity twice: {}", name));
        }
        column = at;
    }

    void header(const std::vector<std::string>& names) {
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
        const std::string hint = text::did_you_mean(name, known_columns());
        problem(fmt::format("the header has an unknown column \"{}\"{}", name,
                            hint.empty() ? "; known are tokens, series, time_ms and spread_ms (or _s, _us, _ns)" : hint));
    }

    std::optional<double> number(const std::vector<std::string>& fields, std::size_t column, const std::string& name) {
        const std::optional<double> value = text::parse_number(fields[column]);
        if (!value) {
            row_problem(fmt::format("{} must be a number, not \"{}\"", name, fields[column]));
        }
        return value;
    }

    void row(const std::vector<std::string>& fields) {
        if (const std::string misfit = csv_.problem(); !misfit.empty()) {
            return row_problem(misfit);
        }
        const std::size_t before = bad_rows_.size();
        const std::optional<double> tokens = number(fields, *columns_.tokens, "tokens");
        const std::optional<double> time = number(fields, *columns_.time, columns_.time_name);
        Timing timing{tokens.value_or(0.0), Seconds(time.value_or(0.0) * columns_.time_unit), {}};
        if (tokens && (*tokens < 0.0)) {
            row_problem(fmt::format("tokens must be zero or above, not {}", fields[*columns_.tokens]));
        }
        if (time && !(*time > 0.0)) {
            row_problem(fmt::format("{} must be above zero, not {}", columns_.time_name, fields[*columns_.time]));
        }
        if (columns_.spread && !fields[*columns_.spread].empty()) {
            const std::optional<double> spread = number(fields, *columns_.spread, columns_.spread_name);
            timing.spread = Seconds(spread.value_or(0.0) * columns_.spread_unit);
            if (spread && *spread < 0.0) {
                row_problem(fmt::format("{} must be zero or above, not {}", columns_.spread_name, fields[*columns_.spread]));
            }
        }
        if (bad_rows_.size() == before) {
            add_timing(file_, columns_.series ? fields[*columns_.series] : "", timing);
        }
    }

    text::CsvReader& csv_;
    TimingFile& file_;
    Columns columns_;
    std::vector<std::string> problems_;  ///< of the header
    std::vector<std::string>& bad_rows_;
};

}  // namespace

void read_timings_csv(std::string_view text, TimingFile& file, std::vector<std::string>& bad_rows) {
    text::CsvReader csv(text);
    TimingRows(csv, file, bad_rows).read();
}

}  // namespace treeline::calibrate
