#include "reports/json_rows.h"

#include <nlohmann/json.hpp>

#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

std::string field_of(const Json& value) {
    return value.is_null()             ? ""
           : value.is_string()         ? value.get<std::string>()
           : value.is_number_integer() ? std::to_string(value.get<long long>())
           : value.is_number()         ? text::exact_text(value.get<double>())
           : value.is_boolean()        ? (value.get<bool>() ? "yes" : "no")
                                       : value.dump();
}

}  // namespace

std::string csv_of(const std::vector<std::string>& keys, const Json& rows) {
    std::string text = text::csv_line(keys);
    for (const Json& row : rows) {
        std::vector<std::string> fields;
        for (const std::string& key : keys) {
            fields.push_back(row.contains(key) ? field_of(row.at(key)) : "");
        }
        text += text::csv_line(fields);
    }
    return text;
}

std::string csv_of(const Json& rows) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : rows.front().items()) {
        keys.push_back(key);
    }
    return csv_of(keys, rows);
}

}  // namespace treeline::reports
