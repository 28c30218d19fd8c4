#include "reports/inputs/inputs_schema.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include <nlohmann/json.hpp>

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

const json::KeyTable& table_named(const std::vector<json::KeyTable>& tables, const std::string& name) {
    const auto found =
        std::find_if(tables.begin(), tables.end(), [&](const json::KeyTable& table) { return table.name == name; });
    if (found == tables.end()) {
        throw std::invalid_argument("there is no table of keys \"" + name + "\"");
    }
    return *found;
}

/// Tables of the objects that may stand under `key` in an object of `table`: those that name both, else those that name the
/// key.
std::vector<std::string> objects_under(const std::vector<json::KeyTable>& tables, const std::string& table,
                                       const std::string& key) {
    std::vector<std::string> here, anywhere;
    for (const json::KeyTable& each : tables) {
        const std::vector<std::string> under = each.under.empty() ? std::vector{each.name} : each.under;
        const auto names = [&](const std::string& place) {
            return std::find(under.begin(), under.end(), place) != under.end();
        };
        if (names(table + "." + key)) {
            here.push_back(each.name);
        } else if (names(key)) {
            anywhere.push_back(each.name);
        }
    }
    return here.empty() ? anywhere : here;
}

Json one_of(Json kinds) { return kinds.size() == 1 ? kinds.front() : Json{{"anyOf", std::move(kinds)}}; }

class Schemas {
public:
    Schemas(const std::vector<json::KeyTable>& tables, std::string definitions, std::map<std::string, Json>& needed)
        : tables_(tables), definitions_(std::move(definitions)), needed_(needed) {}

    Json object(const json::KeyTable& table) {
        Json properties = Json::object();
        for (const json::KeyRow& row : table.rows) {
            Json property = of(row, objects_under(tables_, table.name, row.key));
            property["description"] = json::without_backticks(row.meaning + row.note);
            properties[row.key] = std::move(property);
        }
        Json schema = {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
        if (!table.required.empty()) {
            schema["required"] = table.required;
        }
        return schema;
    }

private:
    /// Objects of these tables; any where none is known, whose keys are then the user's.
    Json objects(const std::vector<std::string>& names) {
        Json kinds = Json::array();
        for (const std::string& name : names) {
            if (needed_.find(name) == needed_.end()) {
                needed_[name] = Json();  // known from now on: drafters hold drafters
                needed_[name] = object(table_named(tables_, name));
            }
            kinds.push_back({{"$ref", definitions_ + name}});
        }
        return kinds.empty() ? Json{{"type", "object"}} : one_of(std::move(kinds));
    }

    Json of(const json::KeyRow& row, const std::vector<std::string>& below) {
        const auto number = [&](const char* type) {
            return Json{{"type", type}, {"minimum", row.low}, {row.below_high ? "exclusiveMaximum" : "maximum", row.high}};
        };
        switch (row.form) {
            case json::KeyForm::text:
                return {{"type", "string"}};
            case json::KeyForm::whole_number:
                return number("integer");
            case json::KeyForm::number:
                return number("number");
            case json::KeyForm::numbers:
                return {{"type", "array"}, {"items", number("number")}, {"minItems", 1}};
            case json::KeyForm::word:
                return {{"type", "string"}, {"enum", row.words}};
            case json::KeyForm::flag:
                return {{"type", "boolean"}};
            case json::KeyForm::axis: {
                const Json element = one_of({number("integer"), objects(below)});
                return one_of({number("integer"), {{"type", "array"}, {"items", element}, {"minItems", 1}}, objects(below)});
            }
            case json::KeyForm::part:
                break;
        }
        return part(row, below);
    }

    /// From the words of its type: "text or object", "list, or one", "number, list or object".
    Json part(const json::KeyRow& row, const std::vector<std::string>& below) {
        const auto says = [&](std::string_view word) { return row.type.find(word) != std::string::npos; };
        const Json text = row.texts.empty() ? Json{{"type", "string"}} : Json{{"type", "string"}, {"enum", row.texts}};
        Json single = Json::array();
        if (says("text") || says("name") || says("word") || says("policy") || says("format") || says("`") || says("one")) {
            single.push_back(text);
        }
        if (says("number") || says("tokens")) {
            single.push_back({{"type", "number"}});
        }
        if (says("object") || says("format") || says("shares") || says("axis") || (says("list") && !below.empty())) {
            single.push_back(objects(below));
        }
        if (says("axis")) {
            single.push_back({{"type", "array"}, {"items", {{"type", "integer"}}}, {"minItems", 1}});
        }
        if (!says("list")) {
            return one_of(std::move(single));
        }
        // A list of trees holds texts, one of loads numbers; lists in lists are tables of children.
        Json elements = Json::array();
        if (!row.texts.empty()) {
            elements = {text};
        } else if (!below.empty()) {
            elements = {text, {{"type", "number"}}, objects(below)};
        }
        Json list = {{"type", "array"}};
        if (!row.may_be_empty) {
            list["minItems"] = 1;
        }
        if (!elements.empty()) {
            list["items"] = one_of(std::move(elements));
        }
        Json kinds = Json::array({std::move(list)});
        const bool alone = says("or") || says(",");
        for (Json& kind : single) {
            if (alone) {
                kinds.push_back(std::move(kind));
            }
        }
        return one_of(std::move(kinds));
    }

    const std::vector<json::KeyTable>& tables_;
    std::string definitions_;
    std::map<std::string, Json>& needed_;
};

}  // namespace

Json inputs_schema(const std::vector<json::KeyTable>& tables, const std::string& name, const std::string& definitions,
                   std::map<std::string, Json>& needed) {
    return Schemas(tables, definitions, needed).object(table_named(tables, name));
}

Json inputs_schema(const std::vector<json::KeyTable>& tables, const std::string& name) {
    std::map<std::string, Json> needed;
    Json schema = inputs_schema(tables, name, "#/$defs/", needed);
    if (!needed.empty()) {
        schema["$defs"] = needed;
    }
    return schema;
}

}  // namespace treeline::reports
