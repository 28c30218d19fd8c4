#include "hardware/catalogue.h"

#include <algorithm>
#include <optional>

#include "hardware/calibration.h"

namespace treeline {
namespace {

namespace fs = std::filesystem;

using Folders = std::vector<std::string>;

const Folders device_folders = {"gpu", "cpu"};
const Folders stack_folders = {"stacks"};

std::vector<fs::path> files_of(const fs::path& catalogue, const Folders& folders) {
    std::vector<fs::path> files;
    for (const std::string& folder : folders) {
        std::error_code error;
        for (fs::directory_iterator entry(catalogue / folder, error), end; !error && entry != end; entry.increment(error)) {
            if (entry->path().extension() == ".json") {
                files.push_back(entry->path());
            }
        }
        if (error) {
            throw InputError({(catalogue / folder).string() + ": cannot be listed (" + error.message() + ")"});
        }
    }
    std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) { return a.stem() < b.stem(); });
    return files;
}

std::vector<std::string> names_of(const fs::path& catalogue, const Folders& folders) {
    std::vector<std::string> names;
    for (const fs::path& file : files_of(catalogue, folders)) {
        names.push_back(file.stem().string());
    }
    return names;
}

fs::path file_of(const fs::path& catalogue, const Folders& folders, const std::string& what, const std::string& name_or_path) {
    if (name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".json")) {
        return name_or_path;
    }
    std::string known;
    for (const fs::path& file : files_of(catalogue, folders)) {
        if (file.stem() == name_or_path) {
            return file;
        }
        known += (known.empty() ? "" : ", ") + file.stem().string();
    }
    const std::optional<std::string> near = json::nearest(name_or_path, names_of(catalogue, folders));
    throw InputError({"there is no " + what + " \"" + name_or_path + "\"" + (near ? "; did you mean \"" + *near + "\"?" : ".") +
                      " Known: " + known + ". A path to a description (.json) works, too."});
}

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

std::vector<std::string> device_names(const fs::path& catalogue) { return names_of(catalogue, device_folders); }

std::vector<std::string> stack_names(const fs::path& catalogue) { return names_of(catalogue, stack_folders); }

Described<Device> load_device(const fs::path& catalogue, const std::string& name_or_path) {
    const fs::path file = file_of(catalogue, device_folders, "device", name_or_path);
    Described<Device> described = load<Device>(file, read_device);
    Device& device = described.value;
    if (!device.calibration_file.empty()) {
        device.calibration = load_calibration(catalogue, file.parent_path(), device.calibration_file, device.name);
    }
    return described;
}

Described<Device> load_uncalibrated_device(const fs::path& catalogue, const std::string& name_or_path) {
    return load<Device>(file_of(catalogue, device_folders, "device", name_or_path), read_device);
}

Described<Stack> load_stack(const fs::path& catalogue, const std::string& name_or_path) {
    return load<Stack>(file_of(catalogue, stack_folders, "software stack", name_or_path), read_stack);
}

}  // namespace treeline
