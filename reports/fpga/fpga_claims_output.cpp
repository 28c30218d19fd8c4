#include "reports/fpga/fpga_claims_output.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/fpga/fpga_output.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

/// The cell as text, numbers by `number`; `unknown` if there is nothing.
std::string cell_text(const sweeps::ClaimCell& cell, std::string (*number)(double), std::string_view unknown) {
    const auto* value = std::get_if<double>(&cell);
    const auto* text = std::get_if<std::string>(&cell);
    return value != nullptr ? number(*value) : text != nullptr ? *text : std::string(unknown);
}

Json cell_json(const sweeps::ClaimCell& cell) {
    const auto* value = std::get_if<double>(&cell);
    const auto* text = std::get_if<std::string>(&cell);
    return value != nullptr ? Json(*value) : text != nullptr ? Json(*text) : Json();
}

}  // namespace

std::string claims_table(const sweeps::FpgaClaimsInput& input, const std::vector<sweeps::FpgaClaim>& claims) {
    std::string text = (input.run.title.empty() ? input.run.design.title : input.run.title) + "\n";
    for (const sweeps::FpgaClaim& claim : claims) {
        std::vector<text::Column> columns;
        for (const std::string& title : claim.columns) {
            const std::size_t at = columns.size();
            columns.push_back({title, !claim.rows.empty() && std::holds_alternative<std::string>(claim.rows.front()[at])
                                          ? text::Align::left
                                          : text::Align::right});
        }
        text::TextTable table(columns);
        for (const auto& row : claim.rows) {
            std::vector<std::string> cells;
            for (const sweeps::ClaimCell& cell : row) {
                cells.push_back(cell_text(cell, text::short_text, text::unknown_text));
            }
            table.add(std::move(cells));
        }
        text += "\n" + claim.title + "\n" + text::wrapped(claim.finding, fpga_page_width) + "\n" + table.text("  ");
    }
    return text;
}

Json claims_json(const sweeps::FpgaClaimsInput& input, const std::vector<sweeps::FpgaClaim>& claims) {
    Json list = Json::array();
    for (const sweeps::FpgaClaim& claim : claims) {
        Json rows = Json::array();
        for (const auto& row : claim.rows) {
            Json entry = Json::object();
            for (std::size_t i = 0; i < row.size(); ++i) {
                entry[claim.columns[i]] = cell_json(row[i]);
            }
            rows.push_back(std::move(entry));
        }
        list.push_back({{"id", claim.id}, {"title", claim.title}, {"finding", claim.finding}, {"rows", rows}});
    }
    return {{"format", "treeline-fpga-claims"}, {"version", 1}, {"design", input.run.design.name}, {"claims", list}};
}

std::string claims_csv(const std::vector<sweeps::FpgaClaim>& claims) {
    std::string text;
    for (const sweeps::FpgaClaim& claim : claims) {
        std::vector<std::string> titles = {"experiment"};
        titles.insert(titles.end(), claim.columns.begin(), claim.columns.end());
        text += text::csv_line(titles);
        for (const auto& row : claim.rows) {
            std::vector<std::string> fields = {claim.id};
            for (const sweeps::ClaimCell& cell : row) {
                fields.push_back(cell_text(cell, text::exact_text, ""));
            }
            text += text::csv_line(fields);
        }
    }
    return text;
}

}  // namespace treeline::reports
