#include "reports/inputs/inputs_output.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "text/table.h"

namespace treeline::reports {

namespace {

std::string kinds_markdown(const json::KeyTable& table) {
    std::string text;
    for (const json::WordRow& kind : table.kinds) {
        text += fmt::format("| `{}` | {} |\n", kind.word, kind.meaning);
    }
    return text.empty() ? "" : fmt::format("<!-- keys: {}, kinds -->\n| kind | it is |\n|---|---|\n{}", table.name, text);
}

}  // namespace

std::string inputs_table(const std::vector<json::KeyTable>& tables) {
    std::string text;
    for (const json::KeyTable& table : tables) {
        text::TextTable shown({{"key", text::Align::left},
                               {"type", text::Align::left},
                               {"default", text::Align::left},
                               {"meaning", text::Align::left}});
        for (const json::KeyRow& row : table.rows) {
            shown.add({row.key, json::without_backticks(row.type), json::without_backticks(row.fallback),
                       json::without_backticks(row.meaning)});
        }
        text += (text.empty() ? "" : "\n") + table.name + "\n" + shown.text("  ");
    }
    return text;
}

std::string inputs_json(const std::vector<json::KeyTable>& tables) {
    nlohmann::ordered_json json = {
        {"format", "treeline-inputs"}, {"version", 1}, {"objects", nlohmann::ordered_json::object()}};
    for (const json::KeyTable& table : tables) {
        for (const json::KeyRow& row : table.rows) {
            json["objects"][table.name][row.key] = {
                {"type", row.type}, {"default", row.fallback}, {"meaning", row.meaning + row.note}};
        }
    }
    return json.dump(2) + "\n";
}

std::string inputs_csv(const std::vector<json::KeyTable>& tables) {
    std::string text = text::csv_line({"object", "key", "type", "default", "meaning"});
    for (const json::KeyTable& table : tables) {
        for (const json::KeyRow& row : table.rows) {
            text += text::csv_line({table.name, row.key, row.type, row.fallback, row.meaning + row.note});
        }
    }
    return text;
}

std::string inputs_markdown(const std::vector<json::KeyTable>& tables) {
    std::string text;
    for (const json::KeyTable& table : tables) {
        text += fmt::format("<!-- keys: {} -->\n| key | type | default | meaning |\n|---|---|---|---|\n", table.name);
        for (const json::KeyRow& row : table.rows) {
            text += fmt::format("| `{}` | {} | {} | {} |\n", row.key, row.type, row.fallback, row.meaning + row.note);
        }
        text += kinds_markdown(table);
    }
    return text;
}

}  // namespace treeline::reports
