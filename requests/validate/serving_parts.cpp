#include "requests/validate/serving_parts.h"

#include <system_error>

#include <fmt/format.h>

#include "hardware/catalogue.h"
#include "hardware/stack_versions.h"
#include "models/catalogue.h"
#include "requests/descriptions.h"
#include "requests/keys/setup_keys.h"
#include "requests/published_acceptance.h"
#include "requests/setup_reader.h"
#include "requests/validate/name_table_reader.h"
#include "text/catalogue_folder.h"
#include "text/input_error.h"
#include "text/wording.h"

namespace treeline::requests {
namespace {

namespace fs = std::filesystem;

/// "name" of ".../org--name.json".
std::string name_of_config(const fs::path& path) {
    const std::string stem = path.stem().string();
    const std::size_t separator = stem.find("--");
    return separator == std::string::npos ? stem : stem.substr(separator + 2);
}

void add_configs(const fs::path& folder, validation::ServingParts& parts, std::vector<std::string>& notes) {
    std::error_code error;
    const std::vector<fs::path> files = text::descriptions_in(folder, error);
    if (error) {
        throw text::InputError({folder.string() + ": cannot be read (" + error.message() + ")"});
    }
    for (const fs::path& file : files) {
        const std::string stem = validation::model_stem(name_of_config(file), parts.names);
        if (parts.stems.contains(stem)) {
            continue;
        }
        try {
            const std::string key = file.stem().string();
            parts.models[key] = models::load_model({}, file.string()).value;
            parts.stems[stem] = key;
        } catch (const text::InputError& failure) {
            notes.push_back(file.filename().string() + " is left out: " + failure.problems().front());
        }
    }
}

/// Names of the table that the catalogue does not hold.
void check_names(const validation::ServingParts& parts, const fs::path& table) {
    std::vector<std::string> problems;
    const auto check = [&](const validation::NameEntry& entry, const auto& known, const char* what) {
        if (!entry.name.empty() && !known.contains(entry.name)) {
            problems.push_back(fmt::format("{}: names the {} \"{}\", which the catalogue does not hold", table.string(), what,
                                           text::shortened(entry.name, 60)));
        }
    };
    for (const validation::NameEntry& entry : parts.names.models) {
        check(entry, parts.models, "model");
    }
    for (const validation::NameEntry& entry : parts.names.devices) {
        check(entry, parts.devices, "device");
    }
    for (const validation::EngineEntry& entry : parts.names.engines) {
        check(entry.names, parts.stacks, "stack");
    }
    if (!problems.empty()) {
        throw text::InputError(std::move(problems));
    }
}

/// What the catalogue knows of modules that read their target's cache, for all models of the family.
void add_modules_apart(const Catalogue& catalogue, validation::ServingParts& parts) {
    Descriptions descriptions(catalogue, no_files);
    for (const PublishedDrafter& published : descriptions.published_drafters()) {
        if (published.description.find(drafter_keys::reads_target_cache.key) == std::string::npos) {
            continue;
        }
        const sim::Drafter drafter = published_choice(published, {}, descriptions).drafter;
        const auto* layers = std::get_if<sim::OneLayerDrafter>(&drafter);
        const auto target = parts.models.find(published.target);
        if (layers == nullptr || !layers->reads_target_cache || target == parts.models.end()) {
            continue;
        }
        for (const auto& [name, model] : parts.models) {
            const bool of_family = model.vocabulary == target->second.vocabulary && !parts.modules_apart.contains(name);
            if (model.mtp_layers == 0 && (name == published.target || of_family)) {
                parts.modules_apart[name] = drafter;
            }
        }
    }
}

}  // namespace

validation::ServingParts read_serving_parts(const Catalogue& catalogue, const fs::path& configs,
                                            std::vector<std::string>& notes) {
    validation::ServingParts parts;
    parts.names = read_name_table(catalogue.names());
    parts.names.evidence = read_evidence(catalogue.evidence());
    for (const std::string& name : models::model_names(catalogue.models)) {
        parts.models[name] = models::load_model(catalogue.models, name).value;
        parts.stems[validation::model_stem(name, parts.names)] = name;
    }
    parts.devices = hardware::load_devices(catalogue.hardware);
    for (const std::string& name : hardware::stack_names(catalogue.hardware)) {
        parts.stacks[name] = hardware::load_stack(catalogue.hardware, name).value;
        // An engine of no stated version is its newest one.
        if (const hardware::StackVersion version = hardware::stack_version(name);
            !version.version.empty() && !parts.stacks.contains(version.engine)) {
            parts.stacks[version.engine] = hardware::load_stack(catalogue.hardware, version.engine).value;
        }
    }
    for (const std::string& name : hardware::expert_kernel_names(catalogue.hardware)) {
        parts.expert_kernels[name] = hardware::load_expert_kernels(catalogue.hardware, name).value;
    }
    for (const std::string& name : hardware::attention_kernel_names(catalogue.hardware)) {
        parts.attention_kernels[name] = hardware::load_attention_kernels(catalogue.hardware, name).value;
    }
    check_names(parts, catalogue.names());
    add_modules_apart(catalogue, parts);
    if (!configs.empty()) {
        add_configs(configs, parts, notes);
    }
    return parts;
}

}  // namespace treeline::requests
