// JSON Schema of the input files. That it takes every example, and what it refuses, is judged by a validator of others
// (tests/serve/http.mjs); here is what its parts say.
#include <catch2/catch.hpp>

#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "reports/inputs/inputs_schema.h"
#include "requests/keys/key_tables.h"

namespace inputs_schema_test {

using namespace treeline;

namespace {

using Json = nlohmann::ordered_json;

/// The tables that a schema refers to.
void collect(const Json& schema, std::set<std::string>& to) {
    for (const auto& [key, value] : schema.items()) {
        if (key == "$ref") {
            to.insert(value.get<std::string>().substr(std::string("#/$defs/").size()));
        } else if (value.is_structured()) {
            collect(value, to);
        }
    }
}

Json property(const Json& schema, const std::string& key) {
    Json of = schema.at("properties").at(key);
    of.erase("description");
    return of;
}

}  // namespace

TEST_CASE("keys become properties with their bounds, words and meanings") {
    const Json workload = reports::inputs_schema(requests::key_tables(), "workload");
    CHECK(workload["additionalProperties"] == false);
    CHECK(property(workload, "title") == Json{{"type", "string"}});
    CHECK(property(workload, "objective")["enum"] == Json({"throughput", "latency", "cost", "energy"}));
    CHECK(property(workload, "prefix_hit") == Json{{"type", "number"}, {"minimum", 0.0}, {"exclusiveMaximum", 1.0}});
    CHECK(workload["properties"]["target"]["description"] == "the model that is served");
    const Json platform = workload["$defs"]["platform"];
    CHECK(property(platform, "tensor_parallel")["minimum"] == 1.0);
    CHECK(property(platform, "tensor_parallel")["type"] == "integer");
}

TEST_CASE("a schema refuses words and empty lists that the reader refuses") {
    const Json rollbacks = Json::array({"auto", "truncate", "replay", "ring", "joint", "snapshot", "recompute"});
    const Json text = {{"type", "string"}, {"enum", rollbacks}};
    const Json point = reports::inputs_schema(requests::key_tables(), "point");
    CHECK(property(point, "rollback") == text);
    const Json workload = reports::inputs_schema(requests::key_tables(), "workload");
    CHECK(property(workload, "rollback") == Json{{"anyOf", {{{"type", "array"}, {"minItems", 1}, {"items", text}}, text}}});
    CHECK(property(workload, "platforms")["anyOf"][0]["minItems"] == 1);
    CHECK(property(workload, "draft_tokens")["anyOf"][1]["minItems"] == 1);
    CHECK_FALSE(property(workload, "drafters")["anyOf"][0].contains("minItems"));  // plain decoding alone
    CHECK(property(workload, "verification")["anyOf"][0]["items"]["enum"][0] == "auto");
}

TEST_CASE("objects are those of the tables that stand under the key") {
    const Json workload = reports::inputs_schema(requests::key_tables(), "workload");
    CHECK(property(workload, "target") == Json{{"anyOf", {{{"type", "string"}}, {{"$ref", "#/$defs/target"}}}}});
    CHECK(property(workload, "traffic") == Json{{"$ref", "#/$defs/traffic"}});
    const Json point = reports::inputs_schema(requests::key_tables(), "point");
    CHECK(property(point, "traffic") == Json{{"$ref", "#/$defs/point.traffic"}});           // another object under the same key
    CHECK(property(workload["$defs"]["acceptance"], "curve") == Json{{"type", "object"}});  // its keys are the user's
    const Json batch = property(workload["$defs"]["traffic"], "batch");
    std::set<std::string> below;
    collect(batch, below);
    CHECK(below == std::set<std::string>{"range", "shares"});
}

TEST_CASE("a schema says without which keys nothing is read") {
    const auto required = [](const char* name) { return reports::inputs_schema(requests::key_tables(), name)["required"]; };
    CHECK(required("workload") == Json({"target", "platforms", "traffic"}));
    CHECK(required("point") == Json({"target", "platform"}));
    CHECK(required("diagnosis") == Json({"run", "point"}));
    CHECK(required("lint") == Json({"text"}));
    CHECK_FALSE(reports::inputs_schema(requests::key_tables(), "platform").contains("required"));
}

TEST_CASE("what a schema refers to is in it") {
    for (const char* name : {"workload", "point", "diagnosis", "lint"}) {
        const Json schema = reports::inputs_schema(requests::key_tables(), name);
        std::set<std::string> referred;
        collect(schema, referred);
        for (const std::string& each : referred) {
            INFO(name << ": " << each);
            CHECK(schema["$defs"].contains(each));
        }
        CHECK((std::string(name) == "lint") == referred.empty());
    }
    CHECK_THROWS_AS(reports::inputs_schema(requests::key_tables(), "nothing"), std::invalid_argument);
}

}  // namespace inputs_schema_test
