#include "calibrate/serving_rows.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>

#include <fmt/format.h>

#include "json/reader.h"
#include "json/wording.h"
#include "sim/input_limits.h"

namespace treeline {
namespace {

constexpr std::size_t most_problems = 10;
constexpr std::array<const char*, 4> measures = {"tpot_ms", "tokens_per_s", "itl_ms", "round_ms"};
const std::vector<std::string> columns = {"batch",   "draft_tokens", "context", "accept_length",
                                          "tpot_ms", "tokens_per_s", "itl_ms",  "round_ms"};

std::string stripped(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\"");
    return first == std::string_view::npos ? std::string()
                                           : std::string(text.substr(first, text.find_last_not_of(" \t\r\"") - first + 1));
}

std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells;
    for (std::size_t start = 0; start <= line.size();) {
        const std::size_t end = std::min(line.find(',', start), line.size());
        cells.push_back(stripped(std::string_view(line).substr(start, end - start)));
        start = end + 1;
    }
    return cells;
}

class ServingReader {
public:
    explicit ServingReader(const std::filesystem::path& path) { table_.path = path.string(); }

    void line(const std::string& text) {
        ++line_;
        const std::string content = stripped(text);
        if (content.empty() || content.front() == '#') {
            return;
        }
        if (header_.empty()) {
            header(content);
            usable_ = problems_.empty();
        } else if (usable_ && problems_.size() < most_problems) {
            row(cells_of(content));
        }
    }

    ServingTable finish() {
        if (header_.empty()) {
            problem("is empty; a header such as batch,draft_tokens,accept_length,tpot_ms is needed");
        } else if (problems_.empty() && table_.rows.empty()) {
            problem("holds a header and no rows");
        } else if (table_.rows.size() > most_serving_rows) {
            problem(fmt::format("holds {} rows; at most {} are allowed: a few of each batch are enough", table_.rows.size(),
                                most_serving_rows));
        }
        if (!problems_.empty()) {
            throw InputError(std::move(problems_));
        }
        return std::move(table_);
    }

private:
    void problem(const std::string& sentence) { problems_.push_back(fmt::format("{}: {}", table_.path, sentence)); }
    void row_problem(const std::string& sentence) { problem(fmt::format("line {}: {}", line_, sentence)); }

    void header(const std::string& content) {
        if (content.find(';') != std::string::npos && content.find(',') == std::string::npos) {
            problem("its columns are separated by semicolons; use commas, and a point in decimal numbers");
        }
        header_ = cells_of(content);
        for (std::size_t i = 0; i < header_.size(); ++i) {
            const std::string& name = header_[i];
            if (std::find(columns.begin(), columns.end(), name) == columns.end()) {
                const std::string suggestion = did_you_mean(name, columns);
                problem(fmt::format("unknown column \"{}\"{}", json::shown_key(name),
                                    suggestion.empty() ? "; known are " + listed(columns, "and") : suggestion));
            } else if (!places_.emplace(name, i).second) {
                problem(fmt::format("the column {} appears twice", name));
            }
        }
        for (const char* needed : {"batch", "draft_tokens"}) {
            if (problems_.empty() && !places_.contains(needed)) {
                problem(fmt::format(
                    "lacks the column {}{}", needed,
                    std::string_view(needed) == "batch" ? " (sequences decoded together)" : " (0 for plain decoding)"));
            }
        }
        for (const char* measure : measures) {
            if (places_.contains(measure)) {
                measure_ = measure_.empty() ? measure : measure_ + " and " + measure;
            }
        }
        if (problems_.empty() && measure_.empty()) {
            problem("lacks a measured column: one of tpot_ms, tokens_per_s (of all users), itl_ms or round_ms");
        } else if (problems_.empty() && !places_.contains(measure_)) {
            problem(fmt::format("holds {}; keep one of them", measure_));
        }
    }

    /// The number in a column; nothing, without a problem, where the cell is empty or there is no such column.
    std::optional<double> number(const std::vector<std::string>& cells, const std::string& name, double low, double high,
                                 bool whole) {
        const auto place = places_.find(name);
        if (place == places_.end() || cells[place->second].empty()) {
            return std::nullopt;
        }
        const std::string& text = cells[place->second];
        double value = 0.0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
            row_problem(
                fmt::format("{} must be a bare number, not \"{}\" (units belong in the header)", name, json::shown_key(text)));
        } else if (value < low || value > high || (whole && value != std::floor(value))) {
            row_problem(fmt::format("{} must be {} from {} to {}, not {}", name, whole ? "a whole number" : "a number",
                                    number_text(low), number_text(high), text));
        }
        return value;
    }

    void row(const std::vector<std::string>& cells) {
        if (cells.size() != header_.size()) {
            return row_problem(fmt::format("has {} fields, but the header has {}", cells.size(), header_.size()));
        }
        const std::size_t before = problems_.size();
        ServingRow row;
        row.line = line_;
        const auto batch = number(cells, "batch", 1, largest_batch, true);
        const auto drafts = number(cells, "draft_tokens", 0, most_draft_tokens, true);
        row.context = number(cells, "context", 0, longest_context, true);
        const auto measured = number(cells, measure_, 1e-9, 1e12, false);
        if (problems_.size() == before && !(batch && drafts && measured)) {
            row_problem(fmt::format("leaves {} empty", !batch ? "batch" : !drafts ? "draft_tokens" : measure_));
        }
        if (problems_.size() > before) {
            return;
        }
        row.batch = *batch;
        row.draft_tokens = static_cast<int>(*drafts);
        row.accept_length = number(cells, "accept_length", 1, row.draft_tokens + 1.0, false);
        const bool needs_length = row.draft_tokens > 0 && (measure_ == "tpot_ms" || measure_ == "tokens_per_s");
        if (needs_length && !row.accept_length) {
            row_problem(fmt::format(
                "drafts {} tokens, but its accept_length is not given; without it {} does not give the time of a round",
                row.draft_tokens, measure_));
        }
        if (problems_.size() == before) {
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

    ServingTable table_;
    std::vector<std::string> header_, problems_;
    std::map<std::string, std::size_t> places_;
    std::string measure_;
    bool usable_ = false;  ///< the header has no problems
    int line_ = 0;
};

}  // namespace

ServingTable read_serving_csv(const std::filesystem::path& path) {
    std::ifstream file(path);
    if (!file || std::filesystem::is_directory(path)) {
        throw InputError({fmt::format("{}: cannot be read", path.string())});
    }
    ServingReader reader(path);
    for (std::string line; std::getline(file, line);) {
        reader.line(line);
    }
    return reader.finish();
}

}  // namespace treeline
