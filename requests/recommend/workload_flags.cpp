#include "requests/recommend/workload_flags.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "hardware/stack_versions.h"
#include "json/wording.h"
#include "requests/descriptions.h"
#include "requests/keys/setup_keys.h"
#include "requests/keys/workload_keys.h"
#include "requests/load_reader.h"
#include "requests/point_reader.h"
#include "requests/recommend/candidates_reader.h"
#include "text/parse_number.h"
#include "text/split.h"

namespace treeline::requests {
namespace {

/// The elements of a list, or the single one without brackets.
std::vector<FlagJson> elements_of(const FlagJson& list) {
    if (list.is_array()) {
        return {list.begin(), list.end()};
    }
    return list.is_null() ? std::vector<FlagJson>{} : std::vector<FlagJson>{list};
}

constexpr std::string_view up_to_text = "up-to-";  ///< a number of devices

/// Every platform once with each of the comma-separated values.
std::vector<FlagJson> with_each(const std::vector<FlagJson>& platforms, const char* key, const std::string& values) {
    if (values.empty()) {
        return platforms;
    }
    std::vector<FlagJson> all;
    for (const FlagJson& platform : platforms) {
        for (const std::string& value : text::split(values, ',')) {
            FlagJson changed = platform.is_string() ? FlagJson{{"device", platform}} : platform;
            const bool up_to = std::string_view(key) == platform_keys::gpus && value.starts_with(up_to_text);
            changed[key] = up_to ? FlagJson{{"up_to", value_of_flag(value.substr(up_to_text.size()))}} : value_of_flag(value);
            all.push_back(std::move(changed));
        }
    }
    return all;
}

/// An engine among the flags takes the place of the file's, and so of its stack: only one of the engine's own stays, if no
/// version is asked for, and one that is a path, which the reader judges. Platforms that are then alike become one.
std::vector<FlagJson> without_stacks_of_others(std::vector<FlagJson> platforms, const std::string& engine) {
    std::vector<FlagJson> all;
    for (FlagJson& platform : platforms) {
        const FlagJson stack = platform.is_object() ? platform.value("stack", FlagJson()) : FlagJson();
        const std::string name = stack.is_string() ? stack.get<std::string>() : "";
        const bool newest = name == engine;  // what the engine picks anyway
        if (!name.empty() && !looks_like_path(name) && (newest || hardware::stack_version(name).engine != engine)) {
            platform.erase("stack");
        }
        if (std::find(all.begin(), all.end(), platform) == all.end()) {
            all.push_back(std::move(platform));
        }
    }
    return all;
}

/// One price for all, or one for each device by its name.
void set_prices(std::vector<FlagJson>& platforms, const std::string& text) {
    if (text.empty()) {
        return;
    }
    for (const std::string& part : text::split(text, ',')) {
        const std::size_t colon = part.rfind(':');
        const std::string device = colon == std::string::npos ? "" : part.substr(0, colon);
        bool meant = false;
        for (FlagJson& platform : platforms) {
            if (platform.is_string()) {
                platform = FlagJson{{"device", platform}};
            }
            if (device.empty() || platform.value("device", FlagJson()) == device) {
                platform[std::string(platform_keys::price)] = value_of_flag(part.substr(colon + 1));
                meant = true;
            }
        }
        if (!meant) {
            throw text::InputError({fmt::format("--price: no --device is called \"{}\"", device)});
        }
    }
}

/// What a file says of its only platform but of the device itself; empty where it has several, or names it alone.
FlagJson beside_device(const FlagJson& workload) {
    const std::vector<FlagJson> platforms = elements_of(workload.value("platforms", FlagJson()));
    FlagJson others = platforms.size() == 1 && platforms.front().is_object() ? platforms.front() : FlagJson::object();
    for (const char* key : {"device", "design", "host", "interconnect", "price", "host_speed", "power_limit"}) {
        others.erase(key);
    }
    return others;
}

void set_platforms(FlagJson& workload, const WorkloadFlags& flags) {
    if (flags.devices.empty() && !any_given(flags.texts, "platforms")) {
        return;
    }
    const FlagJson others = beside_device(workload);
    std::vector<FlagJson> described, named;  // an object in braces stands as it is
    for (const std::string& device : flags.devices) {
        if (device.starts_with("{")) {
            described.push_back(value_of_flag(device));
        } else {
            for (const std::string& name : text::split(device, ',')) {
                FlagJson platform = others;
                platform["device"] = name;
                named.push_back(std::move(platform));
            }
        }
    }
    if (flags.devices.empty()) {
        named = elements_of(workload.value("platforms", FlagJson()));
    }
    if (const std::string& engine = given(flags.texts, "platforms.engine");
        !engine.empty() && engine != platform_keys::no_engine) {
        named = without_stacks_of_others(std::move(named), engine);
    }
    for (const char* key :
         {"design", "host", "gpus", "tensor_parallel", "expert_parallel", "attention_data_parallel", "pipeline_parallel",
          "draft_tensor_parallel", "interconnect", "stack", "engine", "expert_kernels", "attention_kernels", "mode", "prefill",
          "token_budget", "memory_utilisation", "host_speed", "power_limit"}) {
        named = with_each(named, key, given(flags.texts, std::string("platforms.") + key));
    }
    set_prices(named, given(flags.texts, "platforms.price"));
    named.insert(named.end(), described.begin(), described.end());
    if (!named.empty()) {
        workload["platforms"] = named;
    }
}

bool is_called(const FlagJson& drafter, const std::string& text) {
    return drafter.is_object() && (drafter.value("name", FlagJson()) == text || drafter.value("model", FlagJson()) == text ||
                                   drafter.value("kind", FlagJson()) == text || drafter.value("published", FlagJson()) == text);
}

/// The drafter that the flag means: the only one of the workload, one of its own, or a new one.
FlagJson drafter_meant(const std::vector<FlagJson>& known, const DrafterFlags& flags) {
    if (flags.drafter.empty()) {
        if (known.size() != 1 || !known.front().is_object()) {
            throw text::InputError({"--acceptance and --accept-length belong to the preceding --drafter; name it"});
        }
        return known.front();
    }
    const auto found = std::find_if(known.begin(), known.end(), [&](const FlagJson& d) { return is_called(d, flags.drafter); });
    return found != known.end() ? *found : drafter_of_flag(flags.drafter);
}

/// Whether a description says how many of its drafts are accepted: itself, by a published drafter, or in its parts.
bool states_acceptance(const FlagJson& drafter) {
    return drafter.contains("acceptance") || drafter.contains("published") ||
           (drafter.contains("otherwise") && drafter["otherwise"].is_object() && states_acceptance(drafter["otherwise"]));
}

/// A draft model, of which something may be published; its reader says what is missing if not.
bool is_model_alone(const FlagJson& drafter) { return drafter.is_object() && drafter.value("kind", FlagJson()) == "model"; }

/// A --drafter that names no drafter: all that are known, or none at all.
void set_word(const DrafterFlags& word, std::size_t among, FlagJson& drafters) {
    if (!word.acceptance.empty() || !word.accept_length.empty()) {
        throw text::InputError(
            {fmt::format("--drafter {}: takes no acceptance; name the drafter that has it before --acceptance", word.drafter)});
    }
    if (word.drafter == known_word) {
        drafters.push_back(std::string(known_word));
    } else if (among > 1) {
        throw text::InputError({"--drafter none: means that nothing drafts, so no other --drafter can be beside it"});
    }
}

void set_drafters(FlagJson& workload, const WorkloadFlags& flags) {
    if (flags.drafters.empty()) {
        return;
    }
    const std::vector<FlagJson> known = elements_of(workload.value("drafters", FlagJson()));
    FlagJson drafters = FlagJson::array();
    for (const DrafterFlags& each : flags.drafters) {
        if (each.drafter == no_drafter_word || each.drafter == known_word) {
            set_word(each, flags.drafters.size(), drafters);
            continue;
        }
        FlagJson drafter = drafter_meant(known, each);
        if (!each.precision.empty()) {
            drafter["precision"] = value_of_flag(each.precision);
        }
        if (!each.acceptance.empty() && !each.accept_length.empty()) {
            throw text::InputError({"--acceptance and --accept-length say the same thing; give one of them"});
        }
        if (!each.acceptance.empty()) {
            drafter["acceptance"] = acceptance_of_flag(each.acceptance);
        } else if (!each.accept_length.empty()) {
            const std::string shape = flags.shapes.size() == 1 ? flags.shapes.front() : "";
            drafter["acceptance"] =
                accept_length_of_flag(each.accept_length, axis_of_flag(given(flags.texts, "draft_tokens")), shape);
        } else if (is_kind_alone(drafter)) {
            drafter = drafter["kind"];  // as published ones of this kind accept
        } else if (!states_acceptance(drafter) && !is_model_alone(drafter)) {
            throw text::InputError(
                {fmt::format("--drafter {}: state after it how many of its drafts are accepted, as your engine logs it: "
                             "--acceptance 0.7,0.5,0.35 (P that the first 1, 2, 3 drafts are), --acceptance 0.7 (the first) "
                             "or --accept-length 4:2.6 (tokens per round)",
                             each.drafter)});
        }
        drafters.push_back(std::move(drafter));
    }
    workload["drafters"] = std::move(drafters);
}

void set_shapes(FlagJson& workload, const WorkloadFlags& flags) {
    if (!flags.shapes.empty()) {
        workload["shapes"] = FlagJson::array();
        for (const std::string& shape : flags.shapes) {
            workload["shapes"].push_back(value_of_flag(shape));
        }
    }
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
        longest = std::max(longest, text::parse_number<int>(draft_tokens).value_or(0));
    }
    return longest;
}

bool states_load(const FlagJson& traffic) {
    const std::vector<std::string> kinds = names_of<sweeps::LoadKind>();
    return std::any_of(kinds.begin(), kinds.end(), [&](const std::string& kind) { return traffic.contains(kind); });
}

/// A load among the flags takes the place of the file's, however that is stated.
void clear_replaced_load(FlagJson& workload, const WorkloadFlags& flags) {
    if (!workload.contains("traffic") || !workload["traffic"].is_object()) {
        return;
    }
    const std::vector<std::string> kinds = names_of<sweeps::LoadKind>();
    const bool replaced = std::any_of(kinds.begin(), kinds.end(),
                                      [&](const std::string& kind) { return !given(flags.texts, "traffic." + kind).empty(); });
    for (const std::string& kind : replaced ? kinds : std::vector<std::string>()) {
        workload["traffic"].erase(kind);
    }
}

/// What a command line without FILE may omit. Drafts beyond the measured positions would rest on a guess.
FlagJson with_defaults(FlagJson workload) {
    constexpr int usual = 8;
    int most = 0;
    for (const FlagJson& drafter : elements_of(workload.value("drafters", FlagJson()))) {
        const int measured = measured_positions(drafter);
        most = drafter.is_string() ? most : std::max(most, measured > 0 ? measured : usual);
    }
    if (!workload.contains("drafters")) {
        workload["drafters"] = std::string(known_word);
    }
    if (!workload.contains("draft_tokens") && most > 0) {
        workload["draft_tokens"] = {{"from", 1}, {"to", most}};
    }
    FlagJson& traffic = workload["traffic"];
    if (!states_load(traffic)) {
        traffic[std::string(shared_keys::batch)] = *shared_keys::batch.fallback;
    }
    const bool context_follows = workload.contains("prompt_tokens") && workload.contains("output_tokens");
    if (!traffic.contains(shared_keys::context.key) && !context_follows) {
        traffic[std::string(shared_keys::context)] = *shared_keys::context.fallback;
    }
    return workload;
}

/// In the order in which a person writes a workload: what runs where, what is tried, for which traffic and objective.
FlagJson in_usual_order(const FlagJson& workload) {
    FlagJson ordered = FlagJson::object();
    for (const char* key :
         {"title", "target", "platforms", "drafters", "decoding", "draft_tokens", "shapes", "verification", "rollback",
          "traffic", "prompt_tokens", "output_tokens", "prefix_hit", "shared_prefix", "expert_pool", "limits", "objective"}) {
        if (workload.contains(key)) {
            ordered[key] = workload[key];
        }
    }
    return ordered;
}

KeyFlag as_for_a_point(std::string_view path) { return flags_at(point_flags(), {path}).front(); }

FlagJson batches_of_flag(const std::string& text) { return shares_of_flag("--batch", text); }
FlagJson concurrencies_of_flag(const std::string& text) { return shares_of_flag("--concurrency", text); }
FlagJson rates_of_flag(const std::string& text) {
    return text == most_word ? FlagJson(text) : shares_of_flag("--arrival-rate", text);
}
FlagJson contexts_of_flag(const std::string& text) { return shares_of_flag("--context", text); }

}  // namespace

const std::vector<KeyFlag>& workload_flags() {
    using json::help_of;
    static const std::vector<KeyFlag> flags = {
        as_for_a_point("target.model"),
        as_for_a_point("target.precision"),
        as_for_a_point("target.precision.kv_cache"),
        as_for_a_point("target.placement"),
        {"--device", "NAME|PATH,...|JSON", "platforms.device",
         "Devices to choose from: GPUs, FPGA designs, or platforms as JSON", nullptr},
        {"--design", "NAME|PATH", "platforms.design", help_of(platform_keys::design), nullptr},
        {"--host", "NAME|PATH", "platforms.host", help_of(platform_keys::host), nullptr},
        {"--tensor-parallel", "N,...", "platforms.tensor_parallel",
         help_of(platform_keys::tensor_parallel) + "; 1,2,4 tries each", nullptr},
        {"--gpus", "N,...|up-to-N", "platforms.gpus",
         "Devices in all: every cut of so many that the stack's engine offers is tried; up-to-8 tries those of 1 to 8",
         nullptr},
        {"--expert-parallel", "N,...", "platforms.expert_parallel", help_of(platform_keys::expert_parallel), nullptr},
        {"--attention-data-parallel", "N,...", "platforms.attention_data_parallel",
         help_of(platform_keys::attention_data_parallel), nullptr},
        {"--pipeline-parallel", "N,...", "platforms.pipeline_parallel", help_of(platform_keys::pipeline_parallel), nullptr},
        {"--draft-tensor-parallel", "N", "platforms.draft_tensor_parallel", help_of(platform_keys::draft_tensor_parallel),
         nullptr},
        {"--interconnect", "NAME", "platforms.interconnect", help_of(platform_keys::interconnect), nullptr},
        {"--stack", "NAME|PATH,...", "platforms.stack", help_of(platform_keys::stack) + "; see treeline hardware", nullptr},
        {"--engine", "NAME[@VERSION],...", "platforms.engine",
         "Engine to price, on its own stack, and to print flags for: vllm, sglang, tensorrt-llm or llama.cpp, with a version "
         "if "
         "you like (vllm@0.19); all, or several, are compared; none keeps what the stack's engine lacks (default: the stack's)",
         nullptr},
        {"--expert-kernels", "NAME|PATH,...", "platforms.expert_kernels", help_of(platform_keys::expert_kernels), nullptr},
        {"--attention-kernels", "NAME|PATH,...", "platforms.attention_kernels", help_of(platform_keys::attention_kernels),
         nullptr},
        {"--mode", "MODE,...", "platforms.mode", help_of(platform_keys::mode), nullptr},
        {"--prefill", "POLICY,...", "platforms.prefill", help_of(platform_keys::prefill), nullptr},
        {"--token-budget", "TOKENS,...", "platforms.token_budget", help_of(platform_keys::token_budget), nullptr},
        {"--memory-utilisation", "SHARE,...", "platforms.memory_utilisation", help_of(platform_keys::memory_utilisation),
         nullptr},
        {"--host-speed", "SPEED", "platforms.host_speed", help_of(platform_keys::host_speed), nullptr},
        {"--power-limit", "WATTS", "platforms.power_limit", help_of(platform_keys::power_limit), nullptr},
        {"--price", "DOLLARS|NAME:DOLLARS,...", "platforms.price",
         help_of(platform_keys::price) + "; of several devices h100-sxm:2.5,l40s:0.9", nullptr},
        {"--concurrency", "N[:SHARE],...", "traffic.concurrency",
         "Load: requests that clients keep in flight; needs --output-tokens: 32, 8,16,40, or with shares 8:0.3,16:0.5,40:0.2",
         concurrencies_of_flag},
        {"--arrival-rate", "PER_SECOND[:SHARE],...|most", "traffic.arrival_rate",
         "Load: requests that arrive at random; needs --output-tokens; in the same form; or most: the largest rate that is "
         "served within the limits is the answer",
         rates_of_flag},
        as_for_a_point("prompt_tokens"),
        as_for_a_point("output_tokens"),
        {"--batch", "N[:SHARE],...", "traffic.batch",
         "Load of decoding alone: sequences decoded together, in the same form (default 1)", batches_of_flag},
        {"--context", "TOKENS[:SHARE],...", "traffic.context",
         help_of(traffic_keys::context) + ", in the same form (default 2048)", contexts_of_flag},
        {"--drafter", "NAME|KIND|JSON", "drafters",
         "Candidate; repeat the flag for more: " + drafter_choices() +
             "; known (default) is every published one of the target and its family, none is plain decoding alone",
         nullptr},
        {"--acceptance", "RATE,...|JSON", "drafters.acceptance",
         "Acceptance of the preceding --drafter: P(first 1, 2, ... drafts accepted): 0.8,0.65,0.5; the rate of the first (0.8; "
         "later ones fall as measured curves do); geometric:0.8 (the same rate of every draft); or a measurement's file",
         nullptr},
        {"--accept-length", "[K:]TOKENS,...", "drafters.acceptance.mean_length",
         "Alternative: mean tokens per round, bonus token included; with K drafts 4:2.6, of the one tree of --shape 2.6",
         nullptr},
        {"--draft-precision", "FORMAT|JSON", "drafters.precision",
         "Format of the preceding --drafter where it is a model, or a head with layers of its own: fp8, q4_k_m, ... (default: "
         "as "
         "published)",
         nullptr},
        {"--draft-tokens", "K,...", "draft_tokens",
         "Draft tokens to try: 5, 1,2,4 or 1-8 (default: 1 to the number of measured positions, else 8)", axis_of_flag},
        {"--shape", "TREE", "shapes",
         "Trees to try in addition to chains; repeatable: sglang:5,4,32, a name from examples/trees, or a path", nullptr,
         "shapes.shape"},
        {"--verification", "NAME,...", "verification", "auto (default), " + text::listed(names_of<sim::Verification>(), "or"),
         words_of_flag},
        {"--rollback", "POLICY,...", "rollback", "auto (default), " + text::listed(names_of<sim::Rollback>(), "or"),
         words_of_flag},
        as_for_a_point("decoding"),
        {"--categories", "NAME:SHARE,...", "traffic.categories",
         "Kinds of requests that published drafters are asked for: chat:0.6,code:0.4", shares_by_name},
        {"--temperature", "T", "traffic.temperature", help_of(traffic_kind_keys::temperature)},
        {"--thinking", "on|off", "traffic.thinking", help_of(traffic_kind_keys::thinking)},
        {"--shares-of", "WHAT", "traffic.shares_of", help_of(traffic_keys::shares_of)},
        as_for_a_point("prefix_hit"),
        as_for_a_point("shared_prefix"),
        as_for_a_point("expert_pool"),
        {"--objective", "WHAT", "objective", help_of(workload_keys::objective) + "; of arrival rates latency is the default"},
        {"--max-tpot-ms", "MS", "limits.tpot_ms", "Limit: " + std::string(limit_keys::tpot_ms.meaning)},
        {"--max-ttft-ms", "MS", "limits.ttft_ms", "Limit: " + std::string(limit_keys::ttft_ms.meaning)},
        {"--max-memory-gb", "GB", "limits.memory_gb", "Limit: " + std::string(limit_keys::memory_gb.meaning)},
        {"--minimum-gain", "RATIO", "limits.minimum_gain", help_of(limit_keys::minimum_gain)},
        {"--ttft-growth", "RATIO", "limits.ttft_growth", help_of(limit_keys::ttft_growth)},
        {"--waiting", "SHARE", "limits.waiting", help_of(limit_keys::waiting)},
        {"--title", "TEXT", "title", "Title of the report"},
    };
    return flags;
}

FlagJson with_flags(FlagJson workload, const WorkloadFlags& flags) {
    if (!workload.is_object()) {
        return workload;  // the reader says what is wrong with it
    }
    const bool from_nothing = workload.empty();
    clear_replaced_load(workload, flags);
    set_given(workload, workload_flags(), flags.texts);
    set_platforms(workload, flags);
    set_drafters(workload, flags);
    set_shapes(workload, flags);
    return from_nothing ? in_usual_order(with_defaults(std::move(workload))) : workload;
}

}  // namespace treeline::requests
