// Flags of `treeline estimate` as keys of a point.
#include <array>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/inputs/point_reader.h"

namespace treeline {
namespace {

using Json = nlohmann::ordered_json;

/// A number where the text is one, an object where it opens a brace, else the text itself; the point's reader complains.
Json value_of(const std::string& text) {
    Json value = Json::parse(text, nullptr, false);
    if (value.is_number() || value.is_object()) {
        return value;
    }
    if (!text.empty() && text.front() == '{') {
        throw InputError({fmt::format("flags: \"{}\" opens an object in braces, but is not JSON", text)});
    }
    return text;
}

/// The object under `key`; a text there is the value of its `meaning`.
Json& object_under(Json& point, const char* key, const char* meaning) {
    Json& node = point[key];
    if (node.is_string()) {
        node = Json{{meaning, node}};
    } else if (!node.is_object()) {
        node = Json::object();
    }
    return node;
}

void set(Json& object, const char* key, const std::string& flag) {
    if (!flag.empty()) {
        object[key] = value_of(flag);
    }
}

/// A kind of drafter, a JSON object, or else the name or path of a model.
Json drafter_of(const std::string& flag) {
    const auto& kinds = drafter_kinds();
    if (flag != "model" && std::find(kinds.begin(), kinds.end(), flag) != kinds.end()) {
        return Json{{"kind", flag}};
    }
    Json value = value_of(flag);
    return value.is_object() ? value : Json{{"kind", "model"}, {"model", flag}};
}

/// "0.8" is the same rate everywhere, "0.8,0.6" is by position, and an object stands as it is.
Json acceptance_of(const std::string& flag) {
    if (flag.find(',') == std::string::npos || flag.front() == '{') {
        Json value = value_of(flag);
        return value.is_object() ? value : Json{{"geometric", value}};
    }
    Json positions = Json::array();
    for (std::size_t start = 0; start <= flag.size();) {
        const std::size_t end = std::min(flag.find(',', start), flag.size());
        positions.push_back(value_of(flag.substr(start, end - start)));
        start = end + 1;
    }
    return Json{{"per_position", positions}};
}

void set_drafter(Json& point, const PointFlags& flags) {
    if (!flags.drafter.empty()) {
        const Json before = point.value("drafter", Json::object());
        point["drafter"] = drafter_of(flags.drafter);
        if (before.is_object() && before.contains("acceptance") && !point["drafter"].contains("acceptance")) {
            point["drafter"]["acceptance"] = before["acceptance"];
        }
    }
    if (!flags.acceptance.empty() && !flags.accept_length.empty()) {
        throw InputError({"flags: --acceptance and --accept-length say the same thing twice; give one of them"});
    }
    if (flags.acceptance.empty() && flags.accept_length.empty()) {
        return;
    }
    if (!point.contains("drafter") || !point["drafter"].is_object()) {
        throw InputError({"flags: --acceptance and --accept-length need a --drafter"});
    }
    if (!flags.acceptance.empty()) {
        point["drafter"]["acceptance"] = acceptance_of(flags.acceptance);
    } else {
        const Json drafts = point.value("draft_tokens", Json(5));
        point["drafter"]["acceptance"] = Json{{"mean_length", value_of(flags.accept_length)}, {"draft_tokens", drafts}};
    }
}

struct FlagKey {
    std::string_view flag, key;
};

// The longest keys first: the first that fits names the flag.
constexpr std::array<FlagKey, 24> flag_keys = {{{"--accept-length", "drafter.acceptance.mean_length"},
                                                {"--draft-tokens", "drafter.acceptance.draft_tokens"},
                                                {"--acceptance", "drafter.acceptance"},
                                                {"--drafter", "drafter"},
                                                {"--model", "target.model"},
                                                {"--precision", "target.precision"},
                                                {"--model", "target"},
                                                {"--device", "platform.device"},
                                                {"--design", "platform.design"},
                                                {"--tensor-parallel", "platform.tensor_parallel"},
                                                {"--interconnect", "platform.interconnect"},
                                                {"--stack", "platform.stack"},
                                                {"--mode", "platform.mode"},
                                                {"--device", "platform"},
                                                {"--draft-tokens", "draft_tokens"},
                                                {"--shape", "shape"},
                                                {"--verification", "verification"},
                                                {"--batch", "batch"},
                                                {"--context", "context"},
                                                {"--prompt", "prompt_tokens"},
                                                {"--rollback", "rollback"},
                                                {"--decoding", "decoding"},
                                                {"--decoding-budget", "training.decoding_budget"},
                                                {"--draft-training", "training.draft_training"}}};

std::string in_terms_of_flags(const std::string& problem) {
    constexpr std::string_view prefix = "flags: ";
    if (!problem.starts_with(prefix)) {
        return problem;
    }
    const std::string_view rest = std::string_view(problem).substr(prefix.size());
    for (const auto& [flag, key] : flag_keys) {
        const bool names_it = rest.starts_with(key) && rest.size() > key.size() &&
                              (rest[key.size()] == ':' || rest[key.size()] == '.' || rest[key.size()] == '[');
        if (names_it) {
            const std::string_view after = rest.substr(key.size());
            return std::string(flag) + (after.front() == '.' ? ": " + std::string(after.substr(1)) : std::string(after));
        }
    }
    return std::string(rest);
}

}  // namespace

Json with_flags(Json point, const PointFlags& flags) {
    if (!point.is_object()) {
        return point;  // the reader says what is wrong with it
    }
    if (!flags.model.empty() || !flags.precision.empty()) {
        Json& target = object_under(point, "target", "model");
        if (!flags.model.empty()) {
            target["model"] = flags.model;
        }
        set(target, "precision", flags.precision);
    }
    const bool sets_platform = !(flags.device.empty() && flags.design.empty() && flags.tensor_parallel.empty() &&
                                 flags.interconnect.empty() && flags.stack.empty() && flags.mode.empty());
    if (sets_platform) {
        Json& platform = object_under(point, "platform", "device");
        if (!flags.device.empty()) {
            platform["device"] = flags.device;
            platform.erase("design");
        }
        if (!flags.design.empty()) {
            platform["design"] = flags.design;
        }
        set(platform, "tensor_parallel", flags.tensor_parallel);
        set(platform, "interconnect", flags.interconnect);
        set(platform, "stack", flags.stack);
        set(platform, "mode", flags.mode);
    }
    set(point, "draft_tokens", flags.draft_tokens);
    set(point, "shape", flags.shape);
    set(point, "verification", flags.verification);
    set_drafter(point, flags);
    set(point, "batch", flags.batch);
    set(point, "context", flags.context);
    set(point, "prompt_tokens", flags.prompt);
    set(point, "rollback", flags.rollback);
    set(point, "decoding", flags.decoding);
    if (!flags.decoding_budget.empty() || !flags.draft_training.empty()) {
        Json& training = point["training"];
        set(training, "decoding_budget", flags.decoding_budget);
        set(training, "draft_training", flags.draft_training);
    }
    return point;
}

std::vector<std::string> in_terms_of_flags(std::vector<std::string> problems) {
    for (std::string& problem : problems) {
        problem = in_terms_of_flags(std::as_const(problem));
    }
    return problems;
}

}  // namespace treeline
