#include "reports/small_table.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

using CellOf = std::function<std::optional<std::string>(const ServerRow&)>;

struct FigureOfServer {
    const char* title;
    CellOf cell;
};

template <class Value, class Text>
CellOf known(std::optional<Value> ServerRow::*member, Text text) {
    return [member, text](const ServerRow& row) {
        return row.*member ? std::optional<std::string>(text(*(row.*member))) : std::nullopt;
    };
}

std::vector<FigureOfServer> all_figures() {
    const auto whole = [](double value) { return text::fixed_text(std::floor(value), 0); };
    const auto requests = [](double value) { return text::fixed_text(value, value > 0.0 && value < 10.0 ? 1 : 0); };
    const auto seconds = [](Seconds value) { return text_of(value); };
    const auto energy = [](Joules value) { return text_of(value); };
    const auto dollars = [](Dollars value) { return text::dollars_text(1e6 * value.value()); };
    return {
        {"requests/s", known(&ServerRow::requests_per_second, text::short_text_below)},
        {"tokens/s/device", [](const ServerRow& row) { return std::optional(text::short_text(row.tokens_per_second_device)); }},
        {"TPOT", known(&ServerRow::time_per_token, seconds)},
        {"TTFT", known(&ServerRow::first_token, seconds)},
        {"waiting", known(&ServerRow::waiting, requests)},
        {"largest batch", known(&ServerRow::largest_batch, whole)},
        {"J/token", known(&ServerRow::energy_per_token, energy)},
        {"$/M tokens", known(&ServerRow::price_per_token, dollars)}};
}

}  // namespace

std::string small_table(const std::vector<ServerRow>& rows) {
    std::vector<FigureOfServer> figures = all_figures();
    std::erase_if(figures, [&](const FigureOfServer& figure) {
        return std::none_of(rows.begin(), rows.end(), [&](const ServerRow& row) { return figure.cell(row).has_value(); });
    });
    std::vector<text::Column> columns = {{"", text::Align::left}};
    for (const FigureOfServer& figure : figures) {
        columns.push_back({figure.title});
    }
    text::TextTable table(columns);
    for (const ServerRow& row : rows) {
        std::vector<std::string> cells = {row.name};
        for (const FigureOfServer& figure : figures) {
            cells.push_back(figure.cell(row).value_or(std::string(text::unknown_text)));
        }
        table.add(std::move(cells));
    }
    return table.text();
}

}  // namespace treeline::reports
