#include "calibrate/serving_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "json/reader.h"
#include "json/wording.h"
#include "sim/input_limits.h"
#include "text/csv.h"
#include "text/input_file.h"
#include "text/parse_number.h"
#include "text/problems.h"

namespace treeline::calibrate {
namespace {

constexpr std::array<const char*, 4> measures = {"tpot_ms", "tokens_per_s", "itl_ms", "round_ms"};
const std::vector<std::string> columns = {"batch",   "draft_tokens", "context", "accept_length",
                                          "tpot_ms", "tokens_per_s", "itl_ms",  "round_ms"};

class ServingReader {
public:
    ServingReader(text::CsvReader& csv, const std::filesystem::path& path) : csv_(csv) { table_.path = path.string(); }

    ServingTable read(std::vector<std::string>* left_out) {
        if (csv_.header().empty()) {
            problem("is empty; a header such as batch,draft_tokens,accept_length,tpot_ms is needed");
        } else {
            header(csv_.header());
        }
        for (const bool usable = problems_.empty(); usable && csv_.next();) {
            row();
        }
        if (!bad_rows_.empty() && (left_out == nullptr || table_.rows.empty())) {
            throw text::InputError(std::move(bad_rows_));
        }
        for (const std::string& bad_row : bad_rows_) {
            text::add_problem(*left_out, bad_row + text::left_out_row);
        }
        if (problems_.empty() && table_.rows.empty()) {
            problem("holds a header and no rows");
        } else if (table_.rows.size() > most_serving_rows) {
            problem(fmt::format("holds {} rows; at most {} are allowed: a few of each batch are enough", table_.rows.size(),
                                most_serving_rows));
        }
        if (!problems_.empty()) {
            throw text::InputError(std::move(problems_));
        }
        return std::move(table_);
    }

private:
    void problem(const std::string& sentence) { problems_.push_back(fmt::format("{}: {}", table_.path, sentence)); }
    void row_problem(const std::string& sentence) {
        text::add_problem(bad_rows_, fmt::format("{}: line {}: {}", table_.path, csv_.line(), sentence));
    }

    void header(const std::vector<std::string>& names) {
        if (names.size() == 1 && names.front().find(';') != std::string::npos) {
            problem("its columns are separated by semicolons; use commas, and a point in decimal numbers");
        }
        for (const std::string& name : names) {
            if (std::find(columns.begin(), columns.end(), name) == columns.end()) {
                const std::string suggestion = text::did_you_mean(name, columns);
                problem(fmt::format("unknown column \"{}\"{}", json::shown_key(name),
                                    suggestion.empty() ? "; known are " + text::listed(columns, "and") : suggestion));
            } else if (!given_.insert(name).second) {
                problem(fmt::format("the column {} appears twice", name));
            }
        }
        for (const char* needed : {"batch", "draft_tokens"}) {
            if (problems_.empty() && !given_.contains(needed)) {
                problem(fmt::format(
                    "lacks the column {}{}", needed,
                    std::string_view(needed) == "batch" ? " (sequences decoded together)" : " (0 for plain decoding)"));
            }
        }
        for (const char* measure : measures) {
            if (given_.contains(measure)) {
                measure_ = measure_.empty() ? measure : measure_ + " and " + measure;
            }
        }
        if (problems_.empty() && measure_.empty()) {
            problem("lacks a measured column: one of tpot_ms, tokens_per_s (of all users), itl_ms or round_ms");
        } else if (problems_.empty() && !given_.contains(measure_)) {
            problem(fmt::format("holds {}; keep one of them", measure_));
        }
    }

    /// The number in a column; nothing, without a problem, where the cell is empty or there is no such column.
    std::optional<double> number(const std::string& name, double low, double high, bool whole) {
        if (!given_.contains(name) || csv_[name].empty()) {
            return std::nullopt;
        }
        const std::string& text = csv_[name];
        const std::optional<double> value = text::parse_number(text);
        if (!value) {
            row_problem(
                fmt::format("{} must be a bare number, not \"{}\" (units belong in the header)", name, json::shown_key(text)));
        } else if (*value < low || *value > high || (whole && *value != std::floor(*value))) {
            row_problem(fmt::format("{} must be {} from {} to {}, not {}", name, whole ? "a whole number" : "a number",
                                    text::number_text(low), text::number_text(high), text));
        }
        return value;
    }

    void row() {
        if (const std::string misfit = csv_.problem(); !misfit.empty()) {
            return row_problem(misfit);
        }
        const std::size_t before = bad_rows_.size();
        ServingRow row;
        row.line = csv_.line();
        const auto batch = number("batch", 1, sim::largest_batch, true);
        const auto drafts = number("draft_tokens", 0, sim::most_draft_tokens, true);
        row.context = number("context", 0, sim::longest_context, true);
        const auto measured = number(measure_, 1e-9, 1e12, false);
        if (bad_rows_.size() == before && !(batch && drafts && measured)) {
            row_problem(fmt::format("leaves {} empty", !batch ? "batch" : !drafts ? "draft_tokens" : measure_));
        }
        if (bad_rows_.size() > before) {
            return;
        }
        row.batch = *batch;
        row.draft_tokens = static_cast<int>(*drafts);
        row.accept_length = number("accept_length", 1, row.draft_tokens + 1.0, false);
        const bool needs_length = row.draft_tokens > 0 && (measure_ == "tpot_ms" || measure_ == "tokens_per_s");
        if (needs_length && !row.accept_length) {
            row_problem(fmt::format(
                "drafts {} tokens, but its accept_length is not given; without it {} does not give the time of a round",
                row.draft_tokens, measure_));
        }
        if (bad_rows_.size() == before) {
            row.round = round_of(row, *measured);
            table_.rows.push_back(row);
        }
    }

    [[nodiscard]] Seconds round_of(const ServingRow& row, double measured) const {
        const double length = row.accept_length.value_or(1.0);
        if (measure_ == "tpot_ms") {
            return Seconds(1e-3 * measured * length);
        }
        return measure_ == "tokens_per_s" ? Seconds(row.batch * length / measured) : Seconds(1e-3 * measured);
    }

    text::CsvReader& csv_;
    ServingTable table_;
    std::vector<std::string> problems_, bad_rows_;
    std::set<std::string, std::less<>> given_;
    std::string measure_;
};

}  // namespace

ServingTable read_serving_csv(const std::filesystem::path& path, std::vector<std::string>* bad_rows) {
    const std::string text = text::read_file(path);
    text::CsvReader csv(text);
    return ServingReader(csv, path).read(bad_rows);
}

}  // namespace treeline::calibrate
