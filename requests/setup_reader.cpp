#include "requests/setup_reader.h"

#include "requests/parallelism_reader.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/wording.h"
#include "text/precision_text.h"

namespace treeline {
namespace {

void refuse_software(json::Reader& at, const Platform& platform) {
    for (const auto& [key, why] :
         {std::pair{"stack", "its controller is on the chip"}, std::pair{"mode", "it is priced by its cycle model"}}) {
        if (at.has(key)) {
            at.problem(key, fmt::format("is set, but {} is an accelerator: {}", platform.device.name, why));
            static_cast<void>(at.text(key));
        }
    }
}

}  // namespace

TargetChoice read_target(json::Reader at, Descriptions& descriptions) {
    TargetChoice choice;
    if (const Model* model = descriptions.model(at, "model")) {
        choice.model = *model;
    }
    choice.precision = read_precision(at, "precision", choice.model.precision);
    choice.label = choice.model.name;
    choice.precision_label = "as published";
    if (at.has("precision")) {
        const auto& asked = at.raw().at("precision");
        choice.precision_label = asked.is_string() ? asked.get<std::string>() : text_of(choice.precision);
        choice.label += fmt::format(" ({})", choice.precision_label);
    }
    at.finish();
    return choice;
}

namespace {

/// All of a platform but how its devices share the model.
Platform read_one_device(json::Reader& at, Descriptions& descriptions) {
    Platform platform;
    if (const Platform* hardware = descriptions.hardware(at, "device")) {
        platform = *hardware;
    }
    if (platform.accelerator) {
        refuse_software(at, platform);
    } else if (const Stack* stack = descriptions.stack(at, "stack", default_stack(platform.device))) {
        platform.stack = *stack;
    }
    platform.interconnect = at.text_or("interconnect", "");
    if (!platform.accelerator) {
        platform.mode = at.has("mode") ? read_mode(at, "mode") : default_mode(platform);
    }
    check_mode(at, platform, descriptions);
    return platform;
}

}  // namespace

Platform read_platform(json::Reader at, Descriptions& descriptions) {
    Platform platform = read_one_device(at, descriptions);
    read_parallelism(at, platform);
    at.finish();
    return platform;
}

std::vector<Platform> read_platforms(json::Reader at, Descriptions& descriptions, const Model& target) {
    Platform platform = read_one_device(at, descriptions);
    std::vector<Platform> platforms;
    if (at.has("gpus") && !platform.device.name.empty() && !platform.accelerator && !target.name.empty()) {
        platform.parallel.draft_tensor = static_cast<double>(at.count_or("draft_tensor_parallel", 0, 1, most_ranks));
        platforms = read_cuts(at, platform, target);
    } else {
        read_parallelism(at, platform);
        platforms = {platform};
    }
    at.finish();
    return platforms;
}

CostMode read_mode(json::Reader& at, std::string_view key) {
    std::vector<std::string> names;
    for (const CostMode mode : all_cost_modes) {
        names.emplace_back(name_of(mode));
    }
    return value_named<CostMode>(at.choice(key, names)).value_or(CostMode::roofline);
}

void check_mode(json::Reader& at, const Platform& platform, Descriptions& descriptions) {
    if (platform.mode != CostMode::calibrated || platform.device.name.empty()) {
        return;
    }
    if (platform.device.calibration) {
        const Calibration& calibration = *platform.device.calibration;
        const std::string path = fmt::format("{}: calibration", platform.device.name);
        const std::vector<Provenance>& known = descriptions.provenance();
        if (std::none_of(known.begin(), known.end(), [&](const Provenance& entry) { return entry.path == path; })) {
            descriptions.add_provenance(
                {{path, fmt::format("{} laws of kernels", calibration.kernels.size()), calibration.source, calibration.kind}});
        }
        return;
    }
    at.problem("mode",
               fmt::format("\"calibrated\" needs measured kernels, and the description of {} names neither a calibration nor "
                           "a relative (laws_of); measured are {}",
                           platform.device.name, listed(descriptions.calibrated_devices(), "and")));
}

Decoding read_decoding(json::Reader& at) { return at.choice_or("decoding", Decoding::greedy); }

std::optional<Rollback> rollback_of(json::Reader& at, std::string_view key, const std::string& name) {
    const std::vector<std::string> names = names_of<Rollback>();
    const std::optional<Rollback> rollback = value_named<Rollback>(name);
    if (!rollback && !name.empty()) {
        at.problem(key, fmt::format("must be {}, not \"{}\"{}", listed(names, "or"), json::shown_key(name),
                                    did_you_mean(name, names)));
    }
    return rollback;
}

std::optional<Rollback> read_rollback(json::Reader& at, std::string_view key) {
    const std::string name = at.text_or(key, "auto");
    return name == "auto" ? std::nullopt : rollback_of(at, key, name);
}

}  // namespace treeline
