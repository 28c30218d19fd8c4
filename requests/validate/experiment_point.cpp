#include "requests/validate/experiment_point.h"

#include <algorithm>

#include <fmt/format.h>

#include "json/wording.h"
#include "requests/point_reader.h"
#include "text/catalogue_folder.h"

namespace treeline::requests {
namespace {

using Json = nlohmann::ordered_json;

/// Keys of a row that are not conditions.
constexpr const char* own_keys[] = {"name",    "value",          "source",      "role",       "case",
                                    "unit",    "not_reproduced", "relative_to", "observable", "choice_of",
                                    "printed", "out_of_memory",  "ran"};

void put(const Json& from, Json& into) {
    for (const auto& [key, value] : from.items()) {
        into[key] = value;
    }
}

/// The order of siblings, for shapes that grow by it; lengths measured for a shape do not depend on it.
const Json assumed_siblings = {0.6, 0.15, 0.07, 0.04, 0.03, 0.02, 0.01, 0.01};

void add_acceptance(double length, Json& conditions) {
    Json& drafter = conditions["drafter"];
    if (conditions.contains("shape")) {
        drafter["acceptance"] = {{"per_rank", assumed_siblings},
                                 {"measured", Json::array({{{"shape", conditions["shape"]}, {"accept_length", length}}})}};
    } else {
        // Papers take one rate for every position.
        drafter["acceptance"] = {
            {"mean_length", length}, {"draft_tokens", conditions.value("draft_tokens", Json(5))}, {"fall", 0}};
    }
}

/// Removes `key` and gives its number; `fallback` without it.
double take_number(Json& conditions, const char* key, double fallback, double low, double high) {
    if (!conditions.contains(key)) {
        return fallback;
    }
    const Json value = conditions[key];
    conditions.erase(key);
    if (!value.is_number() || value.get<double>() < low || value.get<double>() > high) {
        throw text::InputError({fmt::format("{} must be a number between {} and {}", key, low, high)});
    }
    return value.get<double>();
}

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

std::optional<sim::StateCopy> take_state_copy(Json& conditions) {
    if (!conditions.contains("state_copy")) {
        return std::nullopt;
    }
    const Json value = conditions["state_copy"];
    conditions.erase("state_copy");
    if (value != "eager" && value != "in-graph") {
        throw text::InputError({"state_copy must be \"eager\" or \"in-graph\""});
    }
    return value == "eager" ? sim::StateCopy::eager : sim::StateCopy::in_graph;
}

const validation::ExperimentPlatform& platform_of(const Json& conditions,
                                                  const std::vector<validation::ExperimentPlatform>& platforms) {
    const Json name = conditions.value("platform", Json());
    std::vector<std::string> names;
    for (const validation::ExperimentPlatform& platform : platforms) {
        if (name.is_string() && platform.name == name.get<std::string>()) {
            return platform;
        }
        names.push_back(platform.name);
    }
    const std::string shown = name.is_string() ? name.get<std::string>() : "";
    throw text::InputError({shown.empty() ? "needs the name of a platform"
                                          : fmt::format("unknown platform \"{}\"{}", shown, text::did_you_mean(shown, names))});
}

/// A row without any number of drafts would be priced with the default of `treeline estimate`.
void require_draft_tokens(const Json& conditions) {
    if (conditions.contains("drafter") && !conditions.contains("draft_tokens") && !conditions.contains("shape")) {
        throw text::InputError(
            {"has a drafter, but neither \"draft_tokens\" nor \"shape\"; plain decoding is \"draft_tokens\": 0"});
    }
}

}  // namespace

Json with_whole_paths(Json json, const std::filesystem::path& folder) {
    if (json.is_structured()) {
        for (Json& part : json) {
            part = with_whole_paths(part, folder);
        }
    } else if (json.is_string() && looks_like_path(json.get_ref<const std::string&>())) {
        const std::filesystem::path path = folder / json.get<std::string>();
        if (text::is_file(path) || text::is_folder(path)) {
            json = (text::is_builtin(path) ? path : std::filesystem::absolute(path)).lexically_normal().string();
        }
    }
    return json;
}

ExperimentPoints::ExperimentPoints(json::Reader root, const std::filesystem::path& file, const Catalogue& catalogue,
                                   SharedConditions& shared)
    : shared_(shared),
      folder_(file.parent_path()),
      hardware_(catalogue.hardware),
      descriptions_(catalogue, file.parent_path()) {
    const Json& raw = root.raw();
    const auto object = [&](const char* key) {
        return raw.contains(key) && raw.at(key).is_object() ? raw.at(key) : Json::object();
    };
    conditions_ = cases_ = Json::object();
    const std::string extended = root.text_or("extends", "");
    if (const auto before = shared.files.find(extended); before != shared.files.end()) {
        conditions_ = before->second.conditions;
        cases_ = before->second.cases;
    } else if (!extended.empty()) {
        std::vector<std::string> names;
        for (const auto& [name, of_file] : shared.files) {
            names.push_back(name);
        }
        root.problem("extends", fmt::format("names \"{}\", which is not an earlier file{}; known are {}", extended,
                                            text::did_you_mean(extended, names), text::listed(names, "and")));
    }
    put(object("conditions"), conditions_);
    put(object("cases"), cases_);
    shared.files[file.stem().string()] = {with_whole_paths(conditions_, folder_), with_whole_paths(cases_, folder_)};
}

sim::Platform ExperimentPoints::platform(const std::string& name, json::Reader& at) {
    Json plain = at.raw();
    plain.erase("free");
    plain.erase("source");
    plain.erase("inherits");
    shared_.platforms[name] = with_whole_paths(plain, folder_);
    json::Document document = json::Document::of(plain, "");
    sim::Platform platform = read_platform(document.root(), descriptions_);
    for (const std::string& problem : document.problems()) {
        at.problem({}, problem);
    }
    return platform;
}

Json ExperimentPoints::merged(const Json& row, const Json& table) const {
    Json conditions = conditions_;
    put(table, conditions);
    if (row.contains("case")) {
        const std::string name = row.at("case").is_string() ? row.at("case").get<std::string>() : "";
        if (!cases_.contains(name)) {
            throw text::InputError({fmt::format("unknown case \"{}\"", name)});
        }
        put(cases_.at(name), conditions);
    }
    put(row, conditions);
    for (const char* key : own_keys) {
        conditions.erase(key);
    }
    return conditions;
}

validation::ExperimentPoint ExperimentPoints::point(Json conditions, const validation::ExperimentPlatform& platform) {
    if (!platform.design.empty()) {
        return fpga_point(std::move(conditions), platform);
    }
    validation::ExperimentPoint result;
    constexpr double longest = 1e6;
    const double accept_length = take_number(conditions, "accept_length", 0.0, 1.0, 1025.0);
    result.generated_tokens = take_number(conditions, "generated_tokens", 0.0, 1.0, longest);
    result.state_copy = take_state_copy(conditions);
    if (conditions.contains("draft_graphs")) {
        result.draft_graphs = conditions["draft_graphs"] == true;
        conditions.erase("draft_graphs");
    }
    if (conditions.contains("allocated_only")) {
        result.allocated_only = conditions["allocated_only"] == true;
        conditions.erase("allocated_only");
    }
    conditions["platform"] = shared_.platforms.at(platform.name);
    require_draft_tokens(conditions);
    if (conditions.value("draft_tokens", Json()) == 0) {
        conditions.erase("drafter");  // plain decoding
        conditions.erase("shape");
    } else if (accept_length > 0.0) {
        add_acceptance(accept_length, conditions);
    }
    json::Document document = json::Document::of(conditions, "");
    const sweeps::PointInput input = read_point(document, descriptions_);
    const std::vector<sim::Rollback> policies = sweeps::policies_to_try(input);
    if (input.speculates() && (policies.size() != 1 || input.speculations.size() != 2)) {
        throw text::InputError({"does not say how it verifies or rolls back; state \"verification\" and \"rollback\""});
    }
    result.setup = setup_of(input, policies.front());
    result.speculation = input.speculates() ? 1 : 0;
    result.batch = input.batch;
    result.context = input.context;
    result.prompt_tokens = input.prompt_tokens;
    result.training = input.training.value_or(sim::TrainingCost{});
    return result;
}

void ExperimentPoints::read(const Json& row_object, const Json& table_conditions,
                            const std::vector<validation::ExperimentPlatform>& platforms, validation::ExperimentRow& row) {
    Json conditions = merged(row_object, table_conditions);
    const validation::ExperimentPlatform& platform = platform_of(conditions, platforms);
    row.platform = platform.name;
    for (const auto& [key, value] : conditions.items()) {
        row.conditions.emplace_back(key, text_of(value));
    }
    if (!row.not_reproduced.empty()) {
        return;
    }
    row.point = point(conditions, platform);
    if (row_object.contains("relative_to")) {
        if (!row_object.at("relative_to").is_object()) {
            throw text::InputError({"relative_to must be an object in braces"});
        }
        put(row_object.at("relative_to"), conditions);
        const validation::ExperimentPlatform& other = platform_of(conditions, platforms);
        row.relative_to = point(conditions, other);
        row.relative_to->own_platform = other.name != platform.name;
        row.conditions.emplace_back("relative to", row_object.at("relative_to").dump());
    }
}

}  // namespace treeline::requests
