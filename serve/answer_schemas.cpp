#include "serve/answer_schemas.h"

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace treeline::serve {
namespace {

using Json = nlohmann::ordered_json;

struct AnswerKey {
    const char* name;
    const char* type;  ///< of JSON schema; "number?" may be null
    const char* meaning;
    bool always = true;
};

constexpr bool sometimes = false;

Json schema_of(const std::vector<AnswerKey>& keys) {
    Json properties = Json::object(), required = Json::array();
    for (const AnswerKey& key : keys) {
        const std::string type = key.type;
        const bool may_be_null = type.ends_with('?');
        properties[key.name] = {{"type", may_be_null ? Json{type.substr(0, type.size() - 1), "null"} : Json(type)},
                                {"description", key.meaning}};
        if (key.always) {
            required.push_back(key.name);
        }
    }
    return {{"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}};
}

/// An answer that says what it is: its format and version, then `keys`.
Json document_of(const char* format, std::vector<AnswerKey> keys) {
    keys.insert(keys.begin(), {{"format", "string", "what this is"},
                               {"version", "integer", "counts up when a key changes its meaning or goes"}});
    Json schema = schema_of(keys);
    schema["properties"]["format"]["const"] = format;
    return schema;
}

Json recommendation() {
    return document_of(
        "treeline-recommendation",
        {{"input", "object", "the question"},
         {"sentence", "string", "the answer in words"},
         {"recommendation", "object?", "the best candidate; null where none can run"},
         {"speculate", "boolean", "whether it drafts", sometimes},
         {"objective", "string", "what it is best in", sometimes},
         {"load", "string", "batch, concurrency or arrival-rate", sometimes},
         {"shares_of", "string", "what the shares of several loads are shares of", sometimes},
         {"plain", "object", "the best plain decoding", sometimes},
         {"loads", "array", "the figures of each load", sometimes},
         {"saturation", "object?", "where requests come faster than they are answered", sometimes},
         {"most_rate", "object?", "the largest rates of arrivals within the limits, where those were asked for", sometimes},
         {"capacity", "object", "what the memory holds", sometimes},
         {"schedule", "object", "draft tokens by batch", sometimes},
         {"policies", "array", "the best of each verification and rollback", sometimes},
         {"runners_up", "array", "the next candidates", sometimes},
         {"untrained", "array", "drafters that would have to be trained", sometimes},
         {"flip_accept_length", "number?", "the accept length below which another candidate is better", sometimes},
         {"flip_to", "string?", "that candidate", sometimes},
         {"devices", "array", "the best of each device", sometimes},
         {"pareto", "array", "tokens/s of each user against tokens/s of a device", sometimes},
         {"engine_flags", "array", "how to start the engine", sometimes},
         {"uncertainty", "object?", "the interval of the gain, and what it comes from", sometimes},
         {"plain_time", "object?", "where plain decoding is recommended: factors on its predicted TPOT, with 80 % confidence",
          sometimes},
         {"rejected_drafting", "object?", "where plain decoding is recommended: the best that drafts", sometimes},
         {"excluded", "array", "what was left out, and why"},
         {"inputs", "array", "numbers that were used, with their sources"},
         {"notes", "array", "remarks"}});
}

Json estimate() {
    return document_of("treeline-estimate",
                       {{"input", "object", "the question"},
                        {"sentence", "string", "the answer in words"},
                        {"configuration", "object", "what was priced"},
                        {"fits", "boolean", "whether the memory holds it"},
                        {"speedup", "number", "plain TPOT over TPOT"},
                        {"gain", "number", "the ratio of tokens/s, plain decoding at its own load"},
                        {"interval", "object?", "of the gain, with 80 % confidence"},
                        {"chances", "object?", "that speculation pays"},
                        {"plain_time", "object?", "factors on the predicted TPOT of plain decoding, with 80 % confidence"},
                        {"measured_load", "object?", "how the load compares with those that the stack was measured at"},
                        {"iteration_time_multiplier", "number", "time of a round over that of a plain step"},
                        {"accept_length", "number", "tokens that a round yields"},
                        {"break_even_accept_length", "number", "above which speculation pays"},
                        {"wasted_draft_share", "number", "of drafted tokens"},
                        {"critical_context", "number?", "below which verification can become bound by compute at some batch"},
                        {"critical_batch", "number?", "from which it is, at this context"},
                        {"training", "object?", "what training a drafter costs and when it pays"},
                        {"speculative", "object", "rates with drafting"},
                        {"plain", "object", "rates without"},
                        {"round_ms", "object", "the parts of a round in ms"},
                        {"memory", "object", "what lies in memory"},
                        {"policies_tried", "array", "verification and rollback, each priced"},
                        {"passes", "array", "the forward passes of a round"},
                        {"inputs", "array", "numbers that were used, with their sources"},
                        {"notes", "array", "remarks"}});
}

Json diagnosis() {
    return document_of("treeline-diagnosis", {{"target", "string", "the model"},
                                              {"platform", "string", "what it runs on"},
                                              {"drafter", "string?", "who drafts"},
                                              {"sentence", "string", "the answer in words"},
                                              {"causes", "array", "why it is slower than predicted, the likeliest first"},
                                              {"focus", "integer", "the load that the sentence is about, counted from 0"},
                                              {"loads", "array", "measured and predicted figures of each load"},
                                              {"laws", "array", "time of a round against its draft length"},
                                              {"remarks", "array", "what the files of the run say of the deployment"}});
}

Json findings() {
    return document_of("treeline-lint", {{"engine", "string", "whose rules were used"},
                                         {"engine_version", "string", "the version that was asked for"},
                                         {"rules_of", "string", "the version whose rules they are"},
                                         {"source", "string", "what was read for them"},
                                         {"findings", "array", "what is wrong: kind, key and text of each"},
                                         {"other_engines", "array", "engines of further servers", sometimes},
                                         {"notes", "array", "remarks", sometimes}});
}

/// All of them in short, or one in full.
Json all_or_one(const Json& all) {
    const Json one = schema_of(
        {{"name", "string", "its name in the catalogue"}, {"inputs", "array", "its numbers, with their sources", sometimes}});
    return {{"anyOf", {all, one}}};
}

Json models() { return all_or_one(document_of("treeline-models", {{"models", "array", "each in short"}})); }

Json devices() {
    return all_or_one(document_of("treeline-devices", {{"devices", "array", "GPUs and CPUs"},
                                                       {"boards", "array", "FPGA boards"},
                                                       {"designs", "array", "accelerators on them"}}));
}

}  // namespace

const Json& answer_schema(std::string_view question) {
    static const std::map<std::string, Json, std::less<>> schemas = {{"recommend", recommendation()},
                                                                     {"estimate", estimate()},
                                                                     {"diagnose", diagnosis()},
                                                                     {"lint", findings()},
                                                                     {"models", models()},
                                                                     {"devices", devices()}};
    const auto found = schemas.find(question);
    if (found == schemas.end()) {
        throw std::out_of_range("No schema of answers to " + std::string(question));
    }
    return found->second;
}

}  // namespace treeline::serve
