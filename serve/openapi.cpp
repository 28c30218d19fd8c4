#include "serve/openapi.h"

#include <map>

#include <nlohmann/json.hpp>

#include "reports/inputs/inputs_schema.h"
#include "serve/answer_schemas.h"
#include "serve/questions.h"

namespace treeline::serve {
namespace {

using Json = nlohmann::ordered_json;

Json json_content(Json schema) { return {{"application/json", {{"schema", std::move(schema)}}}}; }

Json reference(const std::string& to) { return {{"$ref", to}}; }

Json problem_response(const char* when) {
    return {{"description", when}, {"content", json_content(reference("#/components/schemas/Problems"))}};
}

/// Those that every path may give.
Json with_refusals(Json responses, const std::vector<const char*>& statuses) {
    for (const char* status : statuses) {
        responses[status] = reference("#/components/responses/" + std::string(status));
    }
    return responses;
}

Json answer_response(const Question& question) {
    return {{"description", "What `treeline " + question.name + "` answers in JSON."},
            {"content", json_content(answer_schema(question.name))}};
}

Json asked(const Question& question) {
    return {
        {"operationId", question.name},
        {"summary", question.summary},
        {"requestBody", {{"required", true}, {"content", json_content(reference("#/components/schemas/" + question.table))}}},
        {"responses", with_refusals({{"200", answer_response(question)}},
                                    {"400", "401", "403", "408", "411", "413", "414", "415", "422", "500", "503"})},
        {"security", Json::array({Json::object(), {{"token", Json::array()}}})}};
}

Json looked_up(const Question& question) {
    const Json schema = reports::inputs_schema(key_tables(), question.table).at("properties").at("name");
    return {{"operationId", question.name},
            {"summary", question.summary},
            {"parameters", {{{"name", "name"}, {"in", "query"}, {"schema", schema}}}},
            {"responses", with_refusals({{"200", answer_response(question)}},
                                        {"400", "401", "403", "408", "413", "414", "422", "500", "503"})},
            {"security", Json::array({Json::object(), {{"token", Json::array()}}})}};
}

Json page(const char* id, const char* summary, const char* type) {
    return {{"operationId", id},
            {"summary", summary},
            {"responses", {{"200", {{"description", summary}, {"content", {{type, Json::object()}}}}}}}};
}

Json paths() {
    Json paths = {{"/", {{"get", page("page", "The live page (docs/live.md).", "text/html")}}},
                  {"/healthz", {{"get", page("health", "The server answers.", "application/json")}}},
                  {"/v1/openapi.json", {{"get", page("openapi", "This document.", "application/json")}}}};
    for (const Question& question : questions()) {
        paths["/v1/" + question.name] =
            question.is_a_look_up ? Json{{"get", looked_up(question)}} : Json{{"post", asked(question)}};
    }
    return paths;
}

Json schemas() {
    std::map<std::string, Json> needed;
    for (const Question& question : questions()) {
        if (!question.is_a_look_up) {
            needed[question.table] = reports::inputs_schema(key_tables(), question.table, "#/components/schemas/", needed);
        }
    }
    Json schemas = {{"Problems",
                     {{"type", "object"},
                      {"properties",
                       {{"problems", {{"type", "array"}, {"items", {{"type", "string"}}}, {"description", "a sentence each"}}},
                        {"failure", {{"type", "string"}, {"description", "where the server is at fault"}}}}}}}};
    schemas.update(Json(needed));
    return schemas;
}

}  // namespace

Json openapi() {
    return {{"openapi", "3.1.0"},
            {"info",
             {{"title", "Treeline"},
              {"version", TREELINE_VERSION},
              {"summary", "Speculative decoding of language models, predicted"},
              {"description", "Bodies are the input files of the commands, without paths of files."},
              {"license", {{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}}}},
            {"servers", {{{"url", "/"}}}},
            {"paths", paths()},
            {"components",
             {{"schemas", schemas()},
              {"responses",
               {{"400", problem_response("The request is not HTTP, names no host or two lengths, or its body is not JSON.")},
                {"401", problem_response("The token is missing or wrong.")},
                {"403", problem_response("Another host or origin is asked for.")},
                {"408", problem_response("The request came too slowly.")},
                {"411", problem_response("The length of the body is not stated.")},
                {"413", problem_response("The body, or the head of the request, is too large.")},
                {"414", problem_response("The address is too long.")},
                {"415", problem_response("The body is not application/json, or is compressed.")},
                {"422", problem_response("The question cannot be answered; each sentence says what to change.")},
                {"500", problem_response("Treeline is at fault.")},
                {"503", problem_response("Too much is asked at once; ask again.")}}},
              {"securitySchemes", {{"token", {{"type", "http"}, {"scheme", "bearer"}}}}}}}};
}

}  // namespace treeline::serve
