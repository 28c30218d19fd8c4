#include "reports/provenance_output.h"

#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include "text/table.h"

namespace treeline {

std::string provenance_summary(const std::vector<Provenance>& provenance) {
    std::map<std::string, int> kinds;
    for (const Provenance& entry : provenance) {
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

std::string provenance_table(const std::vector<Provenance>& provenance) {
    TextTable table({{"Described value", Align::left}, {"value", Align::left}, {"kind", Align::left}, {"source", Align::left}});
    for (const Provenance& entry : provenance) {
        const std::size_t colon = entry.path.find(": ");
        table.add(
            {colon == std::string::npos ? entry.path : entry.path.substr(colon + 2), entry.text, entry.kind, entry.source});
    }
    return table.text();
}

nlohmann::ordered_json provenance_json(const std::vector<Provenance>& provenance) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Provenance& entry : provenance) {
        list.push_back({{"name", entry.path}, {"value", entry.text}, {"source", entry.source}, {"kind", entry.kind}});
    }
    return list;
}

}  // namespace treeline
