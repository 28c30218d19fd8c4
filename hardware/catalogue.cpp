#include "hardware/catalogue.h"

#include <algorithm>

#include "hardware/calibration.h"
#include "hardware/catalogue_files.h"
#include "hardware/stack_versions.h"

namespace treeline {
namespace {

namespace fs = std::filesystem;

const CatalogueFolders device_folders = {"gpu", "cpu"};
const CatalogueFolders stack_folders = {"stacks"};

template <class T, class Read>
Described<T> load(const fs::path& file, Read read) {
    json::Document document = json::Document::load(file);
    json::Reader root = document.root();
    T value = read(root, file.stem().string());
    // Sentences about values that could not be read would only repeat what is already said.
    if (document.problems().empty()) {
        document.add_problems(problems_of(value));
    }
    document.throw_if_problems();
    return {std::move(value), document.provenance()};
}

}  // namespace

std::vector<std::string> device_names(const fs::path& catalogue) { return catalogue_names(catalogue, device_folders); }

std::vector<std::string> stack_names(const fs::path& catalogue) { return catalogue_names(catalogue, stack_folders); }

Described<Device> load_device(const fs::path& catalogue, const std::string& name_or_path) {
    const fs::path file = catalogue_file(catalogue, device_folders, "device", name_or_path);
    Described<Device> described = load<Device>(file, read_device);
    Device& device = described.value;
    if (!device.calibration_file.empty()) {
        device.calibration = load_calibration(catalogue, file, device.calibration_file, device.name);
    }
    return described;
}

Described<Device> load_uncalibrated_device(const fs::path& catalogue, const std::string& name_or_path) {
    return load<Device>(catalogue_file(catalogue, device_folders, "device", name_or_path), read_device);
}

fs::path stack_file(const fs::path& catalogue, const std::string& name_or_path) {
    const std::vector<std::string> names = stack_names(catalogue);
    if (std::find(names.begin(), names.end(), name_or_path) == names.end()) {
        if (const auto newest = newest_version(names, name_or_path)) {
            return catalogue_file(catalogue, stack_folders, "software stack", *newest);
        }
        if (const auto nearest = nearest_version(names, name_or_path)) {
            throw InputError({"there is no software stack \"" + name_or_path + "\"; the nearest version known is \"" +
                              *nearest + "\", the newest one \"" + *newest_version(names, stack_version(name_or_path).engine) +
                              "\"."});
        }
    }
    return catalogue_file(catalogue, stack_folders, "software stack", name_or_path, engines_of(names));
}

Described<Stack> load_stack(const fs::path& catalogue, const std::string& name_or_path) {
    return load<Stack>(stack_file(catalogue, name_or_path), read_stack);
}

}  // namespace treeline
