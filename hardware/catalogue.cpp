#include "hardware/catalogue.h"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "hardware/calibration.h"
#include "hardware/catalogue_files.h"
#include "hardware/other_engines.h"
#include "hardware/stack_versions.h"
#include "sim/law_transfer.h"
#include "sim/stack_parameters.h"
#include "text/wording.h"

namespace treeline::hardware {
namespace {

namespace fs = std::filesystem;

using Json = nlohmann::ordered_json;

const CatalogueFolders device_folders = {"gpu", "cpu"};
const CatalogueFolders stack_folders = {"stacks"};
const CatalogueFolders expert_kernel_folders = {"expert_kernels"};
const CatalogueFolders attention_kernel_folders = {"attention_kernels"};

template <class T, class Read>
json::Described<T> described_in(json::Document document, Read read) {
    json::Reader root = document.root();
    T value = read(root, fs::path(document.name()).stem().string());
    // Sentences about values that could not be read would only repeat what is already said.
    if (document.problems().empty()) {
        document.add_problems(problems_of(value));
    }
    document.throw_if_problems();
    return {std::move(value), document.provenance()};
}

template <class T, class Read>
json::Described<T> load(const fs::path& file, Read read) {
    return described_in<T>(json::Document::load(file), read);
}

/// The devices whose laws others take over, each read once.
class MeasuredDevices {
public:
    explicit MeasuredDevices(fs::path catalogue) : catalogue_(std::move(catalogue)) {}

    /// The one that `key` of the description `file` names.
    const sim::Device& of(const fs::path& file, const char* key, const std::string& name) {
        const auto known = known_.find(name);
        return known != known_.end() ? known->second : known_.emplace(name, load_for(file, key, name)).first->second;
    }

private:
    [[nodiscard]] sim::Device load_for(const fs::path& file, const char* key, const std::string& name) const {
        const fs::path of_relative = catalogue_file(catalogue_, device_folders, "device", name);
        sim::Device relative = load<sim::Device>(of_relative, read_device).value;
        if (relative.calibration_file.empty()) {
            throw text::InputError({file.string() + ": " + key + ": names " + relative.name +
                                    ", whose kernels were not measured: its description has no \"calibration\""});
        }
        relative.calibration = load_calibration(catalogue_, of_relative, relative.calibration_file, relative.name);
        return relative;
    }

    fs::path catalogue_;
    std::map<std::string, sim::Device> known_;
};

/// A device whose attention was measured, and does not walk along caches, takes no walk from others.
bool attention_was_not_measured(const sim::Calibration& calibration) {
    return std::none_of(calibration.kernels.begin(), calibration.kernels.end(), [](const sim::CalibratedKernel& known) {
        return known.kernel == sim::KernelClass::attention || known.kernel == sim::KernelClass::attention_ungrouped;
    });
}

/// Gives `device` laws carried over from a relative, for every class of kernels that it has none for.
void add_laws(sim::Calibration transferred, sim::Device& device) {
    if (!device.calibration) {
        device.calibration = std::move(transferred);
        return;
    }
    if (device.calibration->recurrent_verification.empty()) {
        device.calibration->recurrent_verification = transferred.recurrent_verification;
    }
    if (device.calibration->chunk_scans.empty()) {
        device.calibration->chunk_scans = transferred.chunk_scans;
    }
    if (!device.calibration->attention_walk && attention_was_not_measured(*device.calibration)) {
        device.calibration->attention_walk = transferred.attention_walk;
    }
    const std::vector<sim::CalibratedKernel> own = device.calibration->kernels;
    for (sim::CalibratedKernel& kernel : transferred.kernels) {
        if (std::none_of(own.begin(), own.end(),
                         [&](const sim::CalibratedKernel& known) { return known.kernel == kernel.kernel; })) {
            device.calibration->kernels.push_back(std::move(kernel));
        }
    }
    device.calibration->source += "; other kernels " + transferred.source;
}

/// Gives `device` the laws of the measured device that its description names, and of the one that that one's names in turn
/// (RTX PRO 6000's convolutions are those of L40S).
void add_laws_of_relatives(MeasuredDevices& measured, const fs::path& file, sim::Device& device) {
    constexpr int most_relatives = 4;  // and no circle
    std::string next = device.laws_of;
    for (int i = 0; i < most_relatives && !next.empty(); ++i) {
        const sim::Device& relative = measured.of(file, "laws_of", next);
        add_laws(sim::transferred_laws(relative, device), device);
        next = relative.laws_of;
    }
}

/// Gives `device` the all-reduces of the measured device that its fastest link names; they are of use beside other laws only.
/// What rings lose between 4 and 8 ranks stays behind: it is how the two sockets of that host are joined. On eight A30, 0.3 to
/// 1.3 MB take 1.1 to 1.5 times less even than that, and 4 times more than the data sheet says (speculative rounds of
/// Qwen3-32B, vLLM 0.26).
void add_all_reduces_of_link(MeasuredDevices& known, const fs::path& file, sim::Device& device) {
    const sim::Interconnect& link = device.interconnects.front();
    const sim::Device& measured = known.of(file, "interconnects: all_reduces_of", link.all_reduces_of);
    if (measured.interconnects.empty() || measured.interconnects.front().name != link.name) {
        throw text::InputError({file.string() + ": interconnects: all_reduces_of: the fastest link of " + measured.name +
                                " is not called " + link.name});
    }
    std::vector<sim::CalibratedKernel>& own = device.calibration->kernels;
    const auto reduces = [](const sim::CalibratedKernel& kernel) { return kernel.kernel == sim::KernelClass::all_reduce; };
    own.erase(std::remove_if(own.begin(), own.end(), reduces), own.end());
    for (sim::CalibratedKernel kernel : measured.calibration->kernels) {
        if (reduces(kernel)) {
            kernel.law.collective.ring_scale_8 = kernel.law.collective.ring_scale_4;
            own.push_back(std::move(kernel));
        }
    }
    device.calibration->source += "; all-reduces over " + link.name + " as on " + measured.name;
}

json::Described<sim::Device> load_calibrated(const fs::path& catalogue, const std::string& name_or_path,
                                             MeasuredDevices& measured) {
    const fs::path file = catalogue_file(catalogue, device_folders, "device", name_or_path);
    json::Described<sim::Device> described = load<sim::Device>(file, read_device);
    sim::Device& device = described.value;
    if (!device.calibration_file.empty()) {
        device.calibration = load_calibration(catalogue, file, device.calibration_file, device.name);
    }
    if (!device.laws_of.empty()) {
        add_laws_of_relatives(measured, file, device);
    }
    if (device.calibration && !device.interconnects.empty() && !device.interconnects.front().all_reduces_of.empty()) {
        add_all_reduces_of_link(measured, file, device);
    }
    return described;
}

/// Where the description of a stack lies whose name is no engine's with or without a version.
fs::path other_stack_file(const fs::path& catalogue, const std::vector<std::string>& names, const std::string& name_or_path) {
    const std::vector<std::string> engines = engines_of(names);
    if (const auto engine = engine_spelled(engines, name_or_path)) {
        return catalogue_file(catalogue, stack_folders, "software stack", *newest_version(names, *engine));
    }
    if (const std::string within(stack_within(name_or_path)); !within.empty()) {
        throw text::InputError({"there is no software stack \"" + name_or_path + "\": " + name_or_path + " runs " + within +
                                ", so give \"" + within + "\""});
    }
    try {
        return catalogue_file(catalogue, stack_folders, "software stack", name_or_path, engines);
    } catch (const text::InputError& error) {
        throw text::InputError({error.what() + ("; engines that are known are llama.cpp, " + text::listed(engines, "and"))});
    }
}

/// Where the description of that stack lies.
fs::path stack_file(const fs::path& catalogue, const std::string& name_or_path) {
    const std::vector<std::string> names = stack_names(catalogue);
    if (std::find(names.begin(), names.end(), name_or_path) == names.end()) {
        if (const auto newest = newest_version(names, name_or_path)) {
            return catalogue_file(catalogue, stack_folders, "software stack", *newest);
        }
        if (const auto nearest = nearest_version(names, name_or_path)) {
            throw text::InputError({"there is no software stack \"" + name_or_path + "\"; the nearest version known is \"" +
                                    *nearest + "\", the newest one \"" +
                                    *newest_version(names, stack_version(name_or_path).engine) + "\"."});
        }
    }
    return other_stack_file(catalogue, names, name_or_path);
}

/// Where the description lies that `file` extends.
fs::path extended_file(const fs::path& catalogue, const fs::path& file, const std::string& name_or_path) {
    try {
        return stack_file(catalogue, name_or_path);
    } catch (const text::InputError& error) {
        throw text::InputError({file.string() + ": extends: " + error.what()});
    }
}

/// Numbers that the file itself states, without those of what it extends.
std::vector<std::string> numbers_stated_in(const fs::path& file) {
    json::Document document = json::Document::load(file);
    std::vector<std::string> numbers;
    for (const auto& [key, value] : document.root().raw().items()) {
        if (sim::has_stack_parameter(key)) {
            numbers.push_back(key);
        }
    }
    return numbers;
}

}  // namespace

std::vector<std::string> device_names(const fs::path& catalogue) { return catalogue_names(catalogue, device_folders); }

std::vector<std::string> stack_names(const fs::path& catalogue) { return catalogue_names(catalogue, stack_folders); }

std::vector<std::string> expert_kernel_names(const fs::path& catalogue) {
    return catalogue_names(catalogue, expert_kernel_folders);
}

std::vector<std::string> attention_kernel_names(const fs::path& catalogue) {
    return catalogue_names(catalogue, attention_kernel_folders);
}

std::string device_called(const fs::path& catalogue, const std::string& name) {
    const std::optional<fs::path> file = file_called(catalogue_files(catalogue, device_folders), name);
    return file ? file->stem().string() : "";
}

json::Described<sim::Device> load_device(const fs::path& catalogue, const std::string& name_or_path) {
    MeasuredDevices measured(catalogue);
    return load_calibrated(catalogue, name_or_path, measured);
}

std::map<std::string, sim::Device> load_devices(const fs::path& catalogue) {
    MeasuredDevices measured(catalogue);
    std::map<std::string, sim::Device> devices;
    for (const std::string& name : device_names(catalogue)) {
        devices.emplace(name, load_calibrated(catalogue, name, measured).value);
    }
    return devices;
}

json::Described<sim::Device> load_uncalibrated_device(const fs::path& catalogue, const std::string& name_or_path) {
    return load<sim::Device>(catalogue_file(catalogue, device_folders, "device", name_or_path), read_device);
}

json::Document stack_document(const fs::path& catalogue, const std::string& name_or_path) {
    constexpr std::size_t most_files = 8;
    std::vector<fs::path> files;
    Json merged = Json::object();
    for (std::string next = name_or_path; !next.empty();) {
        files.push_back(files.empty() ? stack_file(catalogue, next) : extended_file(catalogue, files.back(), next));
        if (files.size() > most_files) {
            throw text::InputError({files.front().string() + ": extends: more than " + std::to_string(most_files) +
                                    " descriptions extend one another, or they do so in a circle"});
        }
        json::Document document = json::Document::load(files.back());
        json::Reader root = document.root();
        next = root.text_or("extends", "");
        document.throw_if_problems();
        for (const auto& [key, value] : root.raw().items()) {
            if (key != "extends" && !merged.contains(key)) {
                merged[key] = value;
            }
        }
    }
    return json::Document::of(std::move(merged), files.front().string());
}

json::Described<sim::Stack> load_stack(const fs::path& catalogue, const std::string& name_or_path) {
    std::string asked = name_or_path;  // "vllm@0.11" is "vllm-0.11"
    const std::size_t at = asked.find('@');
    if (at != std::string::npos && !asked.ends_with(".json")) {
        asked[at] = '-';
    }
    const std::vector<std::string> names = stack_names(catalogue);
    const bool known = std::find(names.begin(), names.end(), asked) != names.end();
    const std::optional<std::string> nearest = known ? std::nullopt : nearest_version(names, asked);
    json::Document document = stack_document(catalogue, nearest.value_or(asked));
    const fs::path file = document.name();
    json::Described<sim::Stack> described = described_in<sim::Stack>(std::move(document), read_stack);
    described.value.stands_for = nearest ? asked : "";
    if (file.parent_path() != catalogue / stack_folders.front()) {
        described.value.own_numbers = numbers_stated_in(file);
    }
    for (sim::VerificationRule& rule : described.value.picked.verification_rules) {
        if (!rule.kernels.name.empty()) {
            rule.kernels = load_attention_kernels(catalogue, rule.kernels.name).value;
        }
    }
    return described;
}

json::Described<sim::ExpertKernels> load_expert_kernels(const fs::path& catalogue, const std::string& name_or_path) {
    return load<sim::ExpertKernels>(catalogue_file(catalogue, expert_kernel_folders, "kernel of experts", name_or_path),
                                    read_expert_kernels);
}

json::Described<sim::AttentionKernels> load_attention_kernels(const fs::path& catalogue, const std::string& name_or_path) {
    return load<sim::AttentionKernels>(catalogue_file(catalogue, attention_kernel_folders, "kernel of attention", name_or_path),
                                       read_attention_kernels);
}

}  // namespace treeline::hardware
