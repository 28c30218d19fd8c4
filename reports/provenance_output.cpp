#include "reports/provenance_output.h"

#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include "text/table.h"

namespace treeline::reports {

std::string provenance_summary(const std::vector<text::Provenance>& provenance) {
    std::map<std::string, int> kinds;
    for (const text::Provenance& entry : provenance) {
        ++kinds[entry.kind];
    }
    std::string text = fmt::format("{} described values", provenance.size());
    const char* separator = ": ";
    for (const auto& [kind, count] : kinds) {
        text += fmt::format("{}{} {}", separator, count, kind);
        separator = ", ";
    }
    return text;
}

std::string provenance_table(const std::vector<text::Provenance>& provenance) {
    text::TextTable table({{"Described value", text::Align::left},
                           {"value", text::Align::left},
                           {"kind", text::Align::left},
                           {"source", text::Align::left}});
    for (const text::Provenance& entry : provenance) {
        const std::size_t colon = entry.path.find(": ");
        table.add(
            {colon == std::string::npos ? entry.path : entry.path.substr(colon + 2), entry.text, entry.kind, entry.source});
    }
    return table.text();
}

nlohmann::ordered_json provenance_json(const std::vector<text::Provenance>& provenance) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const text::Provenance& entry : provenance) {
        list.push_back({{"name", entry.path}, {"value", entry.text}, {"source", entry.source}, {"kind", entry.kind}});
    }
    return list;
}

}  // namespace treeline::reports
