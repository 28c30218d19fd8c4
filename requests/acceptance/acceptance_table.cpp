// speculators (vllm-project/speculators, scripts/evaluate): acceptance.csv, a row for each run:
//     num_drafts,num_draft_tokens,num_accepted_tokens,acceptance_length,acceptance_at_pos_0,…
// Rates are unconditional, as vLLM counts them; a column `subset` names the kind of requests, if there is one.
#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "requests/acceptance/acceptance_file.h"
#include "text/csv.h"
#include "text/input_error.h"
#include "text/parse_number.h"

namespace treeline::requests::acceptance_file {

std::optional<AcceptanceFile> acceptance_table(const std::string& text, const std::string& name) {
    text::CsvReader csv(text);
    if (!csv.column("acceptance_at_pos_0")) {
        return std::nullopt;
    }
    const std::string category_column = csv.column("subset") ? "subset" : csv.column("category") ? "category" : "";
    std::vector<sim::MeasuredAcceptance> rows;
    while (csv.next()) {
        if (!csv.problem().empty()) {
            throw text::InputError({fmt::format("{}: line {} {}", name, csv.line(), csv.problem())});
        }
        sim::MeasuredAcceptance row;
        row.category = category_column.empty() || csv[category_column].empty() ? "mixed" : csv[category_column];
        row.source = name;
        if (csv.column("num_drafts")) {  // runs count by their drafts
            row.runs = std::max(1.0, text::parse_number<double>(csv["num_drafts"]).value_or(1.0));
        }
        for (int i = 0;; ++i) {
            const std::string column = fmt::format("acceptance_at_pos_{}", i);
            if (!csv.column(column) || csv[column].empty()) {  // a shorter draft than that of other runs
                break;
            }
            const double rate = text::parse_number<double>(csv[column]).value_or(-1.0);
            if (rate < 0.0 || rate > 1.0) {
                throw text::InputError({fmt::format("{}: line {}: {} must be a rate between 0 and 1, not \"{}\"", name,
                                                    csv.line(), column, csv[column])});
            }
            row.per_position.push_back(rate);
        }
        row.draft_tokens = static_cast<int>(row.per_position.size());
        rows.push_back(row);
    }
    if (rows.empty()) {
        throw text::InputError({fmt::format("{}: holds no run", name)});
    }
    AcceptanceFile file;
    file.format = "acceptance table";
    file.models.emplace_back("", rows);
    return file;
}

}  // namespace treeline::requests::acceptance_file
