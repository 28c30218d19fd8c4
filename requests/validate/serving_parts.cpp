#include "requests/validate/serving_parts.h"

#include <algorithm>
#include <system_error>

#include "hardware/catalogue.h"
#include "hardware/stack_versions.h"
#include "models/catalogue.h"
#include "requests/validate/name_table_reader.h"
#include "text/input_error.h"

namespace treeline {
namespace {

namespace fs = std::filesystem;

/// "name" of ".../org--name.json".
std::string name_of_config(const fs::path& path) {
    const std::string stem = path.stem().string();
    const std::size_t separator = stem.find("--");
    return separator == std::string::npos ? stem : stem.substr(separator + 2);
}

void add_configs(const fs::path& folder, ServingParts& parts, std::vector<std::string>& notes) {
    std::error_code error;
    std::vector<fs::path> files;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        if (at->path().extension() == ".json") {
            files.push_back(at->path());
        }
    }
    if (error) {
        throw InputError({folder.string() + ": cannot be read (" + error.message() + ")"});
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
        const std::string stem = model_stem(name_of_config(file), parts.names);
        if (parts.stems.contains(stem)) {
            continue;
        }
        try {
            const std::string key = file.stem().string();
            parts.models[key] = load_model({}, file.string()).value;
            parts.stems[stem] = key;
        } catch (const InputError& failure) {
            notes.push_back(file.filename().string() + " is left out: " + failure.problems().front());
        }
    }
}

}  // namespace

ServingParts read_serving_parts(const Catalogue& catalogue, const fs::path& configs, std::vector<std::string>& notes) {
    ServingParts parts;
    parts.names = read_name_table(catalogue.names());
    for (const std::string& name : model_names(catalogue.models)) {
        parts.models[name] = load_model(catalogue.models, name).value;
        parts.stems[model_stem(name, parts.names)] = name;
    }
    for (const std::string& name : device_names(catalogue.hardware)) {
        parts.devices[name] = load_device(catalogue.hardware, name).value;
    }
    for (const std::string& name : stack_names(catalogue.hardware)) {
        parts.stacks[name] = load_stack(catalogue.hardware, name).value;
        // An engine of no stated version is its newest one.
        if (const StackVersion version = stack_version(name);
            !version.version.empty() && !parts.stacks.contains(version.engine)) {
            parts.stacks[version.engine] = load_stack(catalogue.hardware, version.engine).value;
        }
    }
    if (!configs.empty()) {
        add_configs(configs, parts, notes);
    }
    return parts;
}

}  // namespace treeline
