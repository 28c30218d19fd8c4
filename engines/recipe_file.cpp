#include "engines/recipe_file.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "engines/deployment_file.h"
#include "engines/started_engine.h"

namespace treeline::engines {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array roles = {"prefill", "decode", "aggregated"};

bool is_mapping_at(const Json& tree, const std::string& key) {
    return tree.is_object() && tree.contains(key) && tree[key].is_object();
}

std::string string_at(const Json& tree, const char* key) {
    return tree.is_object() && tree.contains(key) && tree[key].is_string() ? tree[key].get<std::string>() : "";
}

/// The engine of a backend: its type, or the one whose configuration it holds; empty where it tells none.
std::string engine_of_backend(const Json& backend) {
    constexpr std::string_view suffix = "_config";
    if (const std::string type = string_at(backend, "type"); !type.empty()) {
        return type;
    }
    for (const char* engine : {"sglang", "vllm", "trtllm"}) {
        if (is_mapping_at(backend, engine + std::string(suffix))) {
            return engine;
        }
    }
    return {};
}

/// A recipe says beside its engine on which machines it runs, or of which model.
bool is_recipe(const Json& tree) {
    return is_mapping_at(tree, "backend") && !engine_of_backend(tree["backend"]).empty() &&
           (is_mapping_at(tree, "resources") || is_mapping_at(tree, "model"));
}

/// What a variant changes of the base: lists replace lists, null takes a key away.
void put_over(Json& base, const Json& changes) {
    for (const auto& [key, value] : changes.items()) {
        if (value.is_null()) {
            base.erase(key);
        } else if (value.is_object() && is_mapping_at(base, key)) {
            put_over(base[key], value);
        } else {
            base[key] = value;
        }
    }
}

/// How many variants lists within a mapping stand for: as many as the longest has entries.
std::size_t variants_within(const Json& changes) {
    std::size_t most = 1;
    for (const Json& value : changes) {
        most = std::max(most, value.is_array() ? value.size() : value.is_object() ? variants_within(value) : 1);
    }
    return most;
}

/// The entry at `place` of each list within a mapping; of a list of one, that one.
Json variant_at(const Json& changes, std::size_t place) {
    Json variant = Json::object();
    for (const auto& [key, value] : changes.items()) {
        if (value.is_object()) {
            variant[key] = variant_at(value, place);
        } else if (!value.is_array()) {
            variant[key] = value;
        } else if (!value.empty()) {
            variant[key] = value[std::min(place, value.size() - 1)];
        }
    }
    return variant;
}

/// A recipe of the file, over its base.
struct Variant {
    std::string name;
    const Json* changes = nullptr;     ///< null: the base, or the file, alone
    std::optional<std::size_t> place;  ///< of lists in the changes that are one entry for each variant
};

/// A base with variants runs only as these.
std::vector<Variant> variants_of(const Json& tree) {
    std::vector<Variant> variants;
    if (is_mapping_at(tree, "base")) {
        for (const auto& [key, changes] : tree.items()) {
            constexpr std::string_view one = "override_", several = "zip_override_";
            const bool zipped = key.starts_with(several);
            if (!changes.is_object() || !(zipped || key.starts_with(one))) {
                continue;
            }
            const std::string name = key.substr(zipped ? several.size() : one.size());
            const std::size_t count = zipped ? variants_within(changes) : 1;
            refuse_many_servers(variants.size() + count);
            for (std::size_t i = 0; i < count; ++i) {
                variants.push_back(
                    {count > 1 ? name + " " + std::to_string(i) : name, &changes, zipped ? std::optional(i) : std::nullopt});
            }
        }
    }
    return variants.empty() ? std::vector<Variant>{{}} : variants;
}

Json recipe_of(const Json& tree, const Variant& variant) {
    Json recipe = is_mapping_at(tree, "base") ? tree["base"] : tree;
    if (variant.changes != nullptr) {
        put_over(recipe, variant.place ? variant_at(*variant.changes, *variant.place) : *variant.changes);
    }
    return recipe;
}

/// "{steps}" of a sweep is a value that is not known here.
void open_swept(Json& options, const Json& sweep) {
    for (Json& value : options) {
        const std::string text = value.is_string() ? value.get<std::string>() : "";
        if (text.size() > 2 && text.front() == '{' && text.back() == '}' && sweep.contains(text.substr(1, text.size() - 2))) {
            value = "$" + text.substr(1, text.size() - 2);
        } else if (value.is_object()) {
            open_swept(value, sweep);
        }
    }
}

bool drafts(const Json& options) {
    return std::any_of(options.items().begin(), options.items().end(),
                       [](const auto& option) { return !option.value().is_null() && starts_speculation("--" + option.key()); });
}

void add_environment(const Json& tree, const std::string& key, CommandLine& command) {
    const Json variables = is_mapping_at(tree, key) ? tree[key] : Json::object();
    for (const auto& variable : variables.items()) {
        const Json& value = variable.value();
        command.environment.emplace_back(variable.key(), value.is_string() ? value.get<std::string>() : value.dump());
    }
}

void add_worker(const Json& recipe, const std::string& variant, const std::string& role, Json options,
                std::vector<RecipeWorker>& workers) {
    const Json& backend = recipe["backend"];
    RecipeWorker worker;
    worker.engine = engine_of_backend(backend);
    worker.name = variant + (variant.empty() || role.empty() ? "" : " ") + role;
    worker.prefills = role == "prefill";
    if (is_mapping_at(recipe, "sweep")) {
        open_swept(options, recipe["sweep"]);
    }
    worker.device = is_mapping_at(recipe, "resources") ? string_at(recipe["resources"], "gpu_type") : "";
    worker.drafts = drafts(options);
    worker.options = std::move(options);
    if (const std::string image = is_mapping_at(recipe, "model") ? string_at(recipe["model"], "container") : "";
        !image.empty()) {
        worker.command.words.push_back(image);
    }
    add_environment(recipe, "environment", worker.command);
    add_environment(backend, role + "_environment", worker.command);
    const bool known = std::any_of(workers.begin(), workers.end(), [&](const RecipeWorker& other) {
        return other.prefills == worker.prefills && other.options == worker.options &&
               other.command.environment == worker.command.environment;
    });
    if (!known) {
        workers.push_back(std::move(worker));
        refuse_many_servers(workers.size());
    }
}

/// Those of each role, or, where none has flags of its own, one worker with all.
void add_workers(const Json& recipe, const std::string& variant, std::vector<RecipeWorker>& workers) {
    const std::string key = engine_of_backend(recipe["backend"]) + "_config";
    const Json config = is_mapping_at(recipe["backend"], key) ? recipe["backend"][key] : Json::object();
    bool any = false;
    for (const char* role : roles) {
        if (is_mapping_at(config, role)) {
            add_worker(recipe, variant, role, config[role], workers);
            any = true;
        }
    }
    if (!any) {
        add_worker(recipe, variant, "", config, workers);
    }
}

}  // namespace

std::optional<std::vector<RecipeWorker>> workers_of_recipe(const Json& tree) {
    std::vector<RecipeWorker> workers;
    bool any = false;
    for (const Variant& variant : variants_of(tree)) {
        if (const Json recipe = recipe_of(tree, variant); is_recipe(recipe)) {
            any = true;
            add_workers(recipe, variant.name, workers);
        }
    }
    return any ? std::optional(std::move(workers)) : std::nullopt;
}

}  // namespace treeline::engines
