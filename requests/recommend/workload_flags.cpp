#include "requests/recommend/workload_flags.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <fmt/format.h>

#include "json/reader.h"
#include "requests/flag_values.h"
#include "text/parse_number.h"
#include "text/split.h"

namespace treeline {
namespace {

/// The elements of a list, or the single one without brackets.
std::vector<FlagJson> elements_of(const FlagJson& list) {
    if (list.is_array()) {
        return {list.begin(), list.end()};
    }
    return list.is_null() ? std::vector<FlagJson>{} : std::vector<FlagJson>{list};
}

/// Every platform once with each of the comma-separated values.
std::vector<FlagJson> with_each(const std::vector<FlagJson>& platforms, const char* key, const std::string& values) {
    if (values.empty()) {
        return platforms;
    }
    std::vector<FlagJson> all;
    for (const FlagJson& platform : platforms) {
        for (const std::string& value : split(values, ',')) {
            FlagJson changed = platform.is_string() ? FlagJson{{"device", platform}} : platform;
            set_flag(changed, key, value);
            all.push_back(std::move(changed));
        }
    }
    return all;
}

void set_platforms(FlagJson& workload, const WorkloadFlags& flags) {
    const auto parts =
        std::to_array<std::pair<const char*, const std::string*>>({{"design", &flags.design},
                                                                   {"gpus", &flags.gpus},
                                                                   {"tensor_parallel", &flags.tensor_parallel},
                                                                   {"expert_parallel", &flags.expert_parallel},
                                                                   {"attention_data_parallel", &flags.attention_data_parallel},
                                                                   {"pipeline_parallel", &flags.pipeline_parallel},
                                                                   {"draft_tensor_parallel", &flags.draft_tensor_parallel},
                                                                   {"interconnect", &flags.interconnect},
                                                                   {"stack", &flags.stack},
                                                                   {"mode", &flags.mode}});
    const bool is_set = std::any_of(parts.begin(), parts.end(), [](const auto& part) { return !part.second->empty(); });
    if (flags.devices.empty() && !is_set) {
        return;
    }
    std::vector<FlagJson> described, named;  // an object in braces stands as it is
    for (const std::string& device : flags.devices) {
        if (device.starts_with("{")) {
            described.push_back(value_of_flag(device));
        } else {
            for (const std::string& name : split(device, ',')) {
                named.push_back(FlagJson{{"device", name}});
            }
        }
    }
    if (flags.devices.empty()) {
        named = elements_of(workload.value("platforms", FlagJson()));
    }
    for (const auto& [key, values] : parts) {
        named = with_each(named, key, *values);
    }
    named.insert(named.end(), described.begin(), described.end());
    if (!named.empty()) {
        workload["platforms"] = named;
    }
}

bool is_called(const FlagJson& drafter, const std::string& text) {
    return drafter.is_object() && (drafter.value("name", FlagJson()) == text || drafter.value("model", FlagJson()) == text ||
                                   drafter.value("kind", FlagJson()) == text);
}

/// The drafter that the flag means: the only one of the workload, one of its own, or a new one.
FlagJson drafter_meant(const std::vector<FlagJson>& known, const DrafterFlags& flags) {
    if (flags.drafter.empty()) {
        if (known.size() != 1 || !known.front().is_object()) {
            throw InputError({"--acceptance and --accept-length belong to the preceding --drafter; name it"});
        }
        return known.front();
    }
    const auto found = std::find_if(known.begin(), known.end(), [&](const FlagJson& d) { return is_called(d, flags.drafter); });
    return found != known.end() ? *found : drafter_of_flag(flags.drafter);
}

void set_drafters(FlagJson& workload, const WorkloadFlags& flags) {
    if (flags.drafters.empty()) {
        return;
    }
    const std::vector<FlagJson> known = elements_of(workload.value("drafters", FlagJson()));
    FlagJson drafters = FlagJson::array();
    for (const DrafterFlags& each : flags.drafters) {
        FlagJson drafter = drafter_meant(known, each);
        if (!each.acceptance.empty() && !each.accept_length.empty()) {
            throw InputError({"--acceptance and --accept-length say the same thing; give one of them"});
        }
        if (!each.acceptance.empty()) {
            drafter["acceptance"] = acceptance_of_flag(each.acceptance);
        } else if (!each.accept_length.empty()) {
            drafter["acceptance"] = accept_length_of_flag(each.accept_length, axis_of_flag(flags.draft_tokens));
        } else if (!drafter.contains("acceptance")) {
            throw InputError(
                {fmt::format("--drafter {}: state after it how many of its drafts are accepted, as your engine logs it: "
                             "--acceptance 0.7,0.5,0.35 (P that the first 1, 2, 3 drafts are), --acceptance 0.7 (each draft) "
                             "or --accept-length 4:2.6 (tokens per round)",
                             each.drafter)});
        }
        drafters.push_back(std::move(drafter));
    }
    workload["drafters"] = std::move(drafters);
}

void set_speculation(FlagJson& workload, const WorkloadFlags& flags) {
    if (!flags.decoding.empty()) {
        workload["decoding"] = flags.decoding;
    }
    if (!flags.draft_tokens.empty()) {
        workload["draft_tokens"] = axis_of_flag(flags.draft_tokens);
    }
    if (!flags.shapes.empty()) {
        workload["shapes"] = FlagJson::array();
        for (const std::string& shape : flags.shapes) {
            workload["shapes"].push_back(value_of_flag(shape));
        }
    }
    if (!flags.verification.empty()) {
        workload["verification"] = words_of_flag(flags.verification);
    }
    if (!flags.rollback.empty()) {
        workload["rollback"] = words_of_flag(flags.rollback);
    }
}

void set_traffic(FlagJson& workload, const WorkloadFlags& flags) {
    if (!flags.batch.empty() || !flags.context.empty() || !flags.shares_of.empty()) {
        FlagJson& traffic = object_under(workload, "traffic", "batch");
        if (!flags.batch.empty()) {
            traffic["batch"] = shares_of_flag("--batch", flags.batch);
        }
        if (!flags.context.empty()) {
            traffic["context"] = shares_of_flag("--context", flags.context);
        }
        set_flag(traffic, "shares_of", flags.shares_of);
    }
    set_flag(workload, "prompt_tokens", flags.prompt);
    set_flag(workload, "output_tokens", flags.output_tokens);
    set_flag(workload, "prefix_hit", flags.prefix_hit);
}

void set_limits(FlagJson& workload, const WorkloadFlags& flags) {
    for (const auto& [key, flag] :
         {std::pair{"tpot_ms", flags.max_tpot_ms}, std::pair{"ttft_ms", flags.max_ttft_ms},
          std::pair{"memory_gb", flags.max_memory_gb}, std::pair{"minimum_gain", flags.minimum_gain}}) {
        if (!flag.empty()) {
            set_flag(object_under(workload, "limits", "tpot_ms"), key, flag);
        }
    }
    set_flag(workload, "objective", flags.objective);
}

/// Draft tokens that the acceptance was measured for; 0 if it is a rate, which holds for any number.
int measured_positions(const FlagJson& drafter) {
    const FlagJson acceptance = drafter.is_object() ? drafter.value("acceptance", FlagJson()) : FlagJson();
    if (!acceptance.is_object()) {
        return 0;
    }
    if (acceptance.contains("per_position")) {
        return static_cast<int>(acceptance["per_position"].size());
    }
    const FlagJson curve = acceptance.value("curve", FlagJson::object());
    int longest = 0;
    for (const auto& [draft_tokens, length] : curve.items()) {
        longest = std::max(longest, parse_number<int>(draft_tokens).value_or(0));
    }
    return longest;
}

/// What a command line without FILE may omit. Drafts beyond the measured positions would rest on a guess.
FlagJson with_defaults(FlagJson workload) {
    constexpr int usual = 8;
    int most = 0;
    for (const FlagJson& drafter : elements_of(workload.value("drafters", FlagJson()))) {
        const int measured = measured_positions(drafter);
        most = std::max(most, measured > 0 ? measured : usual);
    }
    if (!workload.contains("draft_tokens")) {
        workload["draft_tokens"] = {{"from", 1}, {"to", most > 0 ? most : usual}};
    }
    FlagJson& traffic = object_under(workload, "traffic", "batch");
    for (const auto& [key, value] : {std::pair{"batch", 1}, std::pair{"context", 2048}}) {
        if (!traffic.contains(key)) {
            traffic[key] = value;
        }
    }
    return workload;
}

/// In the order in which a person writes a workload: what runs where, what is tried, for which traffic and objective.
FlagJson in_usual_order(const FlagJson& workload) {
    FlagJson ordered = FlagJson::object();
    for (const char* key : {"title", "target", "platforms", "drafters", "decoding", "draft_tokens", "shapes", "verification",
                            "rollback", "traffic", "prompt_tokens", "output_tokens", "prefix_hit", "limits", "objective"}) {
        if (workload.contains(key)) {
            ordered[key] = workload[key];
        }
    }
    return ordered;
}

constexpr auto workload_flag_keys = std::to_array<FlagKey>({{"--acceptance", "drafters.acceptance"},
                                                            {"--drafter", "drafters"},
                                                            {"--target", "target.model"},
                                                            {"--precision", "target.precision"},
                                                            {"--target", "target"},
                                                            {"--device", "platforms.device"},
                                                            {"--design", "platforms.design"},
                                                            {"--tensor-parallel", "platforms.tensor_parallel"},
                                                            {"--gpus", "platforms.gpus"},
                                                            {"--expert-parallel", "platforms.expert_parallel"},
                                                            {"--attention-data-parallel", "platforms.attention_data_parallel"},
                                                            {"--pipeline-parallel", "platforms.pipeline_parallel"},
                                                            {"--draft-tensor-parallel", "platforms.draft_tensor_parallel"},
                                                            {"--interconnect", "platforms.interconnect"},
                                                            {"--stack", "platforms.stack"},
                                                            {"--mode", "platforms.mode"},
                                                            {"--device", "platforms"},
                                                            {"--draft-tokens", "draft_tokens"},
                                                            {"--shape", "shapes"},
                                                            {"--batch", "traffic.batch"},
                                                            {"--context", "traffic.context"},
                                                            {"--shares-of", "traffic.shares_of"},
                                                            {"--prompt", "prompt_tokens"},
                                                            {"--output-tokens", "output_tokens"},
                                                            {"--prefix-hit", "prefix_hit"},
                                                            {"--max-tpot-ms", "limits.tpot_ms"},
                                                            {"--max-ttft-ms", "limits.ttft_ms"},
                                                            {"--max-memory-gb", "limits.memory_gb"},
                                                            {"--minimum-gain", "limits.minimum_gain"},
                                                            {"--verification", "verification"},
                                                            {"--rollback", "rollback"},
                                                            {"--decoding", "decoding"},
                                                            {"--objective", "objective"}});

}  // namespace

FlagJson with_flags(FlagJson workload, const WorkloadFlags& flags) {
    if (!workload.is_object()) {
        return workload;  // the reader says what is wrong with it
    }
    const bool from_nothing = workload.empty();
    if (!flags.title.empty()) {
        workload["title"] = flags.title;
    }
    if (!flags.model.empty() || !flags.precision.empty()) {
        FlagJson& target = object_under(workload, "target", "model");
        if (!flags.model.empty()) {
            target["model"] = flags.model;
        }
        set_flag(target, "precision", flags.precision);
    }
    set_platforms(workload, flags);
    set_drafters(workload, flags);
    set_speculation(workload, flags);
    set_traffic(workload, flags);
    set_limits(workload, flags);
    return from_nothing ? in_usual_order(with_defaults(std::move(workload))) : workload;
}

std::vector<std::string> in_terms_of_workload_flags(std::vector<std::string> problems) {
    return in_terms_of_flags(std::move(problems), workload_flag_keys);
}

}  // namespace treeline
