#include "serve/protocol.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "json/parse.h"
#include "json/wording.h"
#include "reports/inputs/inputs_schema.h"
#include "text/plain_text.h"

namespace treeline::serve {
namespace {

using Json = nlohmann::ordered_json;

/// Oldest first; they sort by their dates.
constexpr std::array versions = {"2024-11-05", "2025-03-26", "2025-06-18"};
constexpr const char* with_batches = "2025-03-26";    ///< alone has them
constexpr const char* with_structure = "2025-06-18";  ///< since then tools return JSON beside text
constexpr const char* with_annotations = "2025-03-26";

/// Codes of JSON-RPC 2.0, section 5.1.
enum class Fault { parse = -32700, request = -32600, method = -32601, parameters = -32602, internal = -32603 };

struct Refused {
    Fault fault;
    std::string sentence;
};

Json error_reply(const Json& id, const Refused& refused) {
    return {
        {"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", static_cast<int>(refused.fault)}, {"message", refused.sentence}}}};
}

bool is_id(const Json& id) { return id.is_string() || id.is_number_integer(); }

constexpr const char* form_key = "format";  ///< of a tool's arguments beside the keys of its question

Json input_schema(const Question& question) {
    Json schema = reports::inputs_schema(key_tables(), question.table);
    schema["properties"][form_key] = {{"type", "string"},
                                      {"enum", {"text", "json"}},
                                      {"description", "how the answer is written (default text): for reading, or in full"}};
    return schema;
}

Form form_of(const Json& arguments) {
    const Json form = arguments.value(form_key, Json("text"));
    if (form != "text" && form != "json") {
        throw Refused{Fault::parameters, std::string(form_key) + ": must be text or json"};
    }
    return form == "json" ? Form::json : Form::text;
}

/// Problems as lines, which models read better than JSON.
std::string error_text(const std::string& json) {
    const Json parsed = Json::parse(json, nullptr, false);
    std::string text;
    for (const Json& problem : parsed.value("problems", Json::array())) {
        text += (text.empty() ? "" : "\n") + problem.get<std::string>();
    }
    return text.empty() ? parsed.value("failure", json) : text;
}

}  // namespace

std::string Protocol::reply(std::string_view message) {
    Json replies;
    try {
        const json::Parsed parsed = json::parse_strictly(message);
        replies =
            !parsed.failure.empty() ? error_reply(nullptr, {Fault::parse, "the message is not JSON: " + parsed.failure})
            : !parsed.duplicate_keys.empty()
                ? error_reply(nullptr, {Fault::request, "the key \"" + parsed.duplicate_keys.front() + "\" is there twice"})
                : this->replies(parsed.tree);
    } catch (const std::exception& error) {
        replies = error_reply(nullptr, {Fault::internal, error.what()});
    }
    return replies.is_null() ? "" : text::json_without_controls(replies.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Json Protocol::replies(const Json& message) {
    if (!message.is_array()) {
        return reply_to(message);
    }
    if (version_ != with_batches || message.empty()) {
        return error_reply(nullptr, {Fault::request, message.empty() ? "a batch holds at least one message"
                                                                     : "this version of the protocol has no batches"});
    }
    Json all = Json::array();
    for (const Json& each : message) {
        if (Json one = reply_to(each); !one.is_null()) {
            all.push_back(std::move(one));
        }
    }
    return all.empty() ? Json() : all;
}

Json Protocol::reply_to(const Json& message) {
    const Json id = message.is_object() ? message.value("id", Json()) : Json();
    const bool has_id = message.is_object() && message.contains("id");
    const Json method = message.is_object() ? message.value("method", Json()) : Json();
    if (message.is_object() && method.is_null() && (message.contains("result") || message.contains("error"))) {
        return {};  // an answer, and nothing was asked
    }
    if (!method.is_string() || message.value("jsonrpc", Json()) != "2.0" || (has_id && !is_id(id))) {
        return error_reply(is_id(id) ? id : Json(), {Fault::request, "the message is not a request of JSON-RPC 2.0"});
    }
    if (!has_id) {
        return {};
    }
    try {
        const Json parameters = message.value("params", Json::object());
        if (!parameters.is_object()) {
            throw Refused{Fault::parameters, "params: must be an object"};
        }
        return {{"jsonrpc", "2.0"}, {"id", id}, {"result", result_of(method.get<std::string>(), parameters)}};
    } catch (const Refused& refused) {
        return error_reply(id, refused);
    } catch (const std::exception& error) {
        return error_reply(id, {Fault::internal, error.what()});
    }
}

Json Protocol::result_of(const std::string& method, const Json& parameters) {
    if (method == "initialize") {
        return initialized(parameters);
    }
    if (method == "ping") {
        return Json::object();
    }
    if (method == "tools/list") {
        if (parameters.contains("cursor")) {
            throw Refused{Fault::parameters, "cursor: the list of tools has one page"};
        }
        return {{"tools", tools()}};
    }
    if (method == "tools/call") {
        return called(parameters);
    }
    throw Refused{Fault::method, "there is no method \"" + method + "\""};
}

Json Protocol::initialized(const Json& parameters) {
    const Json wanted = parameters.value("protocolVersion", Json());
    if (!wanted.is_string()) {
        throw Refused{Fault::parameters, "protocolVersion: is missing"};
    }
    const auto* const known =
        std::find_if(versions.begin(), versions.end(), [&](const char* version) { return wanted == version; });
    version_ = known == versions.end() ? versions.back() : *known;
    return {{"protocolVersion", version_},
            {"capabilities", {{"tools", Json::object()}}},
            {"serverInfo", {{"name", "treeline"}, {"title", "Treeline"}, {"version", TREELINE_VERSION}}},
            {"instructions",
             "Treeline predicts speculative decoding of language models on GPUs and FPGAs: which drafter and how many draft "
             "tokens to run, what that gains, and how sure that is. `models` and `devices` list the names that questions "
             "take. Start with `recommend`; `diagnose` explains a measured run, `lint` checks an engine's flags."}};
}

Json Protocol::tools() const {
    Json list = Json::array();
    for (const Question& question : questions()) {
        Json tool = {{"name", question.name}, {"description", question.summary}, {"inputSchema", input_schema(question)}};
        if (version_ >= with_annotations) {
            tool["annotations"] = {{"readOnlyHint", true}, {"idempotentHint", true}, {"openWorldHint", false}};
        }
        list.push_back(std::move(tool));
    }
    return list;
}

Json Protocol::called(const Json& parameters) const {
    const Json name = parameters.value("name", Json());
    const auto found =
        std::find_if(questions().begin(), questions().end(), [&](const Question& question) { return name == question.name; });
    if (found == questions().end()) {
        throw Refused{Fault::parameters, "Unknown tool: " + (name.is_string() ? name.get<std::string>() : name.dump())};
    }
    Json arguments = parameters.value("arguments", Json::object());
    if (!arguments.is_object()) {
        throw Refused{Fault::parameters, "arguments: must be an object"};
    }
    const Form form = form_of(arguments);
    arguments.erase(form_key);
    const Answered answer = ask(*found, arguments.dump(), form, setting_);
    const bool good = answer.outcome == Answered::Outcome::answered;
    // Who reads the text sees it without the escapes of the message around it.
    const std::string shown = !good                ? text::without_controls(error_text(answer.text))
                              : form == Form::json ? text::json_without_controls(answer.text)
                                                   : text::without_controls(answer.text);
    Json result = {{"content", {{{"type", "text"}, {"text", shown}}}}, {"isError", !good}};
    if (good && form == Form::json && version_ >= with_structure) {
        result["structuredContent"] = Json::parse(answer.text);
    }
    return result;
}

}  // namespace treeline::serve
