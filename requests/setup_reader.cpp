#include "requests/setup_reader.h"

#include "requests/parallelism_reader.h"
#include "requests/placement_reader.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "hardware/catalogue.h"
#include "hardware/stack_versions.h"
#include "json/wording.h"
#include "models/catalogue.h"
#include "requests/keys/setup_keys.h"
#include "requests/keys/shared_keys.h"
#include "requests/loading.h"
#include "text/precision_text.h"

namespace treeline::requests {
namespace {

/// "vllm" of "vllm@0.24".
std::string engine_word(const std::string& engine) { return engine.substr(0, engine.find('@')); }

void refuse_software(json::Reader& at, const sim::Platform& platform) {
    for (const auto& [key, why] : {std::pair{platform_keys::stack.key, "its controller is on the chip"},
                                   std::pair{platform_keys::engine.key, "no engine serves on it"},
                                   std::pair{platform_keys::expert_kernels.key, "it has its own"},
                                   std::pair{platform_keys::attention_kernels.key, "it has its own"},
                                   std::pair{platform_keys::mode.key, "it is priced by its cycle model"},
                                   std::pair{platform_keys::prefill.key, "it reads prompts itself"}}) {
        if (at.has(key)) {
            at.problem(key, fmt::format("is set, but {} is an accelerator: {}", platform.device.name, why));
            static_cast<void>(at.text(key));
        }
    }
    if (at.has(platform_keys::token_budget)) {
        at.problem(
            platform_keys::token_budget,
            fmt::format("is set, but {} is an accelerator: it serves one sequence after the other", platform.device.name));
        static_cast<void>(read(at, platform_keys::token_budget));
    }
    for (const auto& [key, why] :
         {std::pair{platform_keys::power_limit.key, "what it draws follows from its clock and its units"},
          std::pair{platform_keys::host_speed.key, "no host takes part in a round"},
          std::pair{platform_keys::memory_utilisation.key, "its memory holds nothing but weights and states"}}) {
        if (at.has(key)) {
            at.problem(key, fmt::format("is set, but {} is an accelerator: {}", platform.device.name, why));
        }
    }
}

}  // namespace

std::string precision_label(const nlohmann::ordered_json& asked, const sim::Precision& precision) {
    const std::string checkpoint(precision_keys::checkpoint);
    if (asked.is_string()) {
        return asked.get<std::string>();
    }
    if (!asked.contains(checkpoint) || !asked[checkpoint].is_string()) {
        return text::text_of(precision);
    }
    std::string label = asked[checkpoint].get<std::string>();
    for (const auto& [key, value] : asked.items()) {
        if (key != checkpoint) {
            const std::string part = key == std::string(precision_keys::kv_cache) ? "key-value cache" : key;
            label += fmt::format(", {} {}", part, value.is_string() ? value.get<std::string>() : value.dump());
        }
    }
    return label;
}

namespace {

/// Reads the model, and returns the format in which its name says that it is ("Qwen/Qwen3.6-27B-FP8"); empty where it says
/// none, or one that is not known.
std::string read_model(json::Reader& at, const std::string& called, Descriptions& descriptions, sim::Model& model) {
    const auto [name, format] = called.empty() ? std::pair<std::string, std::string>()
                                               : models::known_model_and_format(descriptions.catalogue().models, called);
    const bool known = !format.empty() && precision_named(format, {}).has_value();
    if (const sim::Model* found = descriptions.model_called(at, target_keys::model, known ? name : called)) {
        model = *found;
        model.repository = known && called.find('/') != std::string::npos ? called : model.repository;
    }
    return known ? format : std::string();
}

}  // namespace

sweeps::TargetChoice read_target(json::Reader at, Descriptions& descriptions) {
    sweeps::TargetChoice choice;
    const std::string called = models::without_address(at.text(target_keys::model));
    const std::string format = read_model(at, called, descriptions, choice.model);
    const sim::Precision& published = choice.model.precision;
    const sim::Precision named = format.empty() ? published : precision_named(format, published).value();
    choice.precision = read_precision(at, target_keys::precision, named);
    read_placement(at, descriptions, choice.model);
    choice.label = choice.model.name;
    choice.precision_label = sweeps::as_published;
    if (at.has(target_keys::precision)) {
        const auto& asked = at.raw().at(std::string(target_keys::precision));
        choice.precision_label = precision_label(asked, choice.precision);
        choice.label += fmt::format(" ({})", choice.precision_label);
        const nlohmann::ordered_json word =
            asked.is_object() ? asked.value(std::string(precision_keys::checkpoint), nlohmann::ordered_json()) : asked;
        if (!format.empty() && word.is_string() && precision_named(word.get<std::string>(), published) != named) {
            at.problem(target_keys::precision, fmt::format("is {}, but {} is in {} by its name; name the model, {}, alone",
                                                           choice.precision_label, called, format, choice.model.name));
        }
    } else if (!format.empty()) {
        choice.precision_label = format;
        choice.label += fmt::format(" ({})", format);
    }
    if (const std::string placed = placement_text(choice.model); !placed.empty()) {
        choice.label += ", " + placed;
    }
    at.finish();
    return choice;
}

void check_loading(json::Reader& at, std::string_view key, const sweeps::TargetChoice& target, const sim::Platform& platform) {
    if (const std::string problem = why_not_loaded(target, platform); !problem.empty()) {
        at.problem(key, problem);
    }
}

namespace {

/// What the input says of prefill, in place of the stack's own.
void read_prefill(json::Reader& at, sim::Stack& stack) {
    if (at.has(platform_keys::prefill)) {
        const sim::PrefillPolicy asked = read_or(at, platform_keys::prefill, stack.serving.prefill);
        if (asked == sim::PrefillPolicy::mixed && stack.serving.prefill != asked) {
            stack.serving.prompt_wait = 1.0;  // steps that go on for all wait for every prompt
        }
        stack.serving.prefill = asked;
        stack.serving.states_prefill = true;
    }
    if (at.has(platform_keys::token_budget)) {
        stack.serving.step_tokens = read<double>(at, platform_keys::token_budget);
        stack.serving.prefill_tokens = stack.serving.step_tokens;
        stack.serving.states_budget = true;
    }
}

/// Why an engine does not run on a device, as the end of a sentence about it; empty if it may. Stacks of engines other than
/// llama.cpp describe GPUs.
std::string device_problem(const sim::Device& device, const std::string& word, const sim::Stack& stack) {
    if (word.empty() || device.name.empty()) {
        return {};
    }
    // vLLM alone has plug-ins for these.
    const bool accelerator = device.title.starts_with("Google TPU") || device.title.starts_with("Intel Gaudi");
    if (accelerator && word != "vllm") {
        return fmt::format("it has no back end for {}; vllm has", device.title);
    }
    if (word == "llama.cpp") {
        return {};
    }
    if (device.compute_capability > 0.0 && device.compute_capability < stack.least_capability) {
        return fmt::format("its kernels need compute capability {:.1f}, and {} has {:.1f}", stack.least_capability, device.name,
                           device.compute_capability);
    }
    if (device.kind == sim::DeviceKind::cpu || device.metal) {
        return fmt::format("its flags and stacks are those for GPUs, and {} {}; llama.cpp runs there", device.name,
                           device.metal ? "runs Metal" : "is a CPU");
    }
    return word == "tensorrt-llm" && !device.title.starts_with("NVIDIA")
               ? fmt::format("TensorRT-LLM runs on GPUs of NVIDIA, which {} is not", device.name)
               : "";
}

/// The stack that is named, or the engine's own, or the device's default; and the engine that is asked for. That it does not
/// run on the device is a problem, or among several devices the reason in `why_not`.
void read_stack(json::Reader& at, Descriptions& descriptions, sim::Platform& platform, std::string* why_not) {
    const bool stack_named = at.has(platform_keys::stack);
    const std::string asked = read(at, platform_keys::engine), word = engine_word(asked);
    const auto& known = platform_keys::engine_words;
    if (!asked.empty() && asked != platform_keys::no_engine && std::find(known.begin(), known.end(), word) == known.end()) {
        const std::vector<std::string> words(known.begin(), known.end());
        const std::vector<std::string> stacks = hardware::stack_names(descriptions.catalogue().hardware);
        const bool stack_alone = std::any_of(stacks.begin(), stacks.end(), [&](const std::string& name) {
            return name == word || hardware::stack_version(name).engine == word;
        });
        const std::string hint =
            stack_alone ? fmt::format("; no flags are written for {}, but its stack is priced (--stack {})", word, asked)
                        : text::did_you_mean(word, words);
        at.problem(platform_keys::engine,
                   fmt::format("must be {}, not \"{}\"{}", text::listed(words, "or"), json::shown_key(word), hint));
        return;
    }
    const bool of_engine =
        !stack_named && !asked.empty() && asked != platform_keys::no_engine && platform.device.kind != sim::DeviceKind::cpu;
    const sim::Stack* stack = of_engine ? descriptions.stack_of_engine(at, platform_keys::engine, asked)
                                        : descriptions.stack(at, platform_keys::stack, sweeps::default_stack(platform.device));
    if (stack == nullptr) {
        return;
    }
    platform.stack = *stack;
    const std::string own(stack->engine_word());
    const bool asks = !asked.empty() && asked != platform_keys::no_engine;
    if (asks && stack_named && own != word) {
        at.problem(platform_keys::engine, fmt::format("is {}, but the stack {} is {}", word, stack->name,
                                                      own.empty() ? "no engine's" : "that of " + own));
    }
    // A device's own stack is taken on trust but for a CPU, which would get a GPU's host times.
    const bool matters = asks || stack_named || platform.device.kind == sim::DeviceKind::cpu;
    if (const std::string problem = matters ? device_problem(platform.device, asks ? word : own, *stack) : "";
        !problem.empty() && why_not != nullptr) {
        *why_not = fmt::format("{} does not run there: {}", asks ? word : stack->name, problem);
    } else if (!problem.empty()) {
        at.problem(asks ? platform_keys::engine.key : platform_keys::stack.key,
                   fmt::format("is {}, but {}", asks ? word : stack->name, problem));
    }
    if (!asked.empty()) {
        platform.stack.engine = asked == platform_keys::no_engine ? "" : asked;
    }
}

void read_power_limit(json::Reader& at, sim::Device& device) {
    const Watts limit(read_or(at, platform_keys::power_limit, 1.0));
    const bool read = at.raw().at(std::string(platform_keys::power_limit.key)) == limit.value();
    if (device.name.empty() || !read) {  // an unknown device and a value that is none are problems of their own
        return;
    }
    if (const std::string problem = sim::power_limit_problem(device, limit); !problem.empty()) {
        at.problem(platform_keys::power_limit, problem);
        return;
    }
    device = sim::under_power_limit(std::move(device), limit);
}

/// All of a platform but how its devices share the model; `why_not` is that of read_stack().
sim::Platform read_one_device(json::Reader& at, Descriptions& descriptions, std::string* why_not = nullptr) {
    sim::Platform platform;
    if (const sim::Platform* hardware = descriptions.hardware(at, platform_keys::device)) {
        platform = *hardware;
    }
    if (platform.accelerator) {
        refuse_software(at, platform);
    } else {
        read_stack(at, descriptions, platform, why_not);
    }
    platform.interconnect = read(at, platform_keys::interconnect);
    if (at.has(platform_keys::price)) {
        constexpr double seconds_of_an_hour = 3600.0;
        platform.device.price = DollarsPerSecond(read_or(at, platform_keys::price, 1.0) / seconds_of_an_hour);
    }
    if (!platform.accelerator) {
        if (at.has(platform_keys::expert_kernels)) {
            if (const sim::ExpertKernels* kernels = descriptions.expert_kernels(at, platform_keys::expert_kernels)) {
                platform.stack.picked.expert_kernels = *kernels;
            }
        }
        if (at.has(platform_keys::attention_kernels)) {
            if (const sim::AttentionKernels* kernels = descriptions.attention_kernels(at, platform_keys::attention_kernels)) {
                platform.stack.picked.attention_kernels = *kernels;
            }
        }
        platform.host = read_host(at, descriptions);
        read_prefill(at, platform.stack);
        if (at.has(platform_keys::memory_utilisation)) {
            platform.memory_utilisation = read(at, platform_keys::memory_utilisation);
        }
        if (at.has(platform_keys::host_speed)) {
            platform.device.host_speed = read_or(at, platform_keys::host_speed, 1.0);
        }
        if (at.has(platform_keys::power_limit)) {
            read_power_limit(at, platform.device);
        }
        platform.mode = at.has(platform_keys::mode) ? read_mode(at, platform_keys::mode) : sweeps::default_mode(platform);
    }
    check_mode(at, platform, descriptions);
    return platform;
}

}  // namespace

sim::Platform read_platform(json::Reader at, Descriptions& descriptions) {
    sim::Platform platform = read_one_device(at, descriptions);
    read_parallelism(at, platform);
    at.finish();
    return platform;
}

std::vector<sim::Platform> read_platforms(json::Reader at, Descriptions& descriptions, const sim::Model& target,
                                          std::vector<sweeps::Exclusion>* excluded) {
    std::string why_not;
    sim::Platform platform = read_one_device(at, descriptions, excluded != nullptr ? &why_not : nullptr);
    std::vector<sweeps::Exclusion> of_cuts;
    std::vector<sim::Platform> platforms;
    if (at.has(platform_keys::gpus) && !platform.device.name.empty() && !platform.accelerator && !target.name.empty()) {
        platforms = read_cuts(at, platform, target, excluded != nullptr ? &of_cuts : nullptr);
    } else {
        read_parallelism(at, platform);
        platforms = {platform};
    }
    at.finish();
    if (!why_not.empty()) {
        platforms.clear();
        of_cuts = {{platform.device.name, why_not, sweeps::Exclusion::no_variant}};
    }
    if (excluded != nullptr) {
        excluded->insert(excluded->end(), of_cuts.begin(), of_cuts.end());
    }
    return platforms;
}

sim::CostMode read_mode(json::Reader& at, std::string_view key) {
    json::WordKey mode = platform_keys::mode;
    mode.key = key;
    return value_named<sim::CostMode>(read(at, mode)).value_or(sim::CostMode::roofline);
}

void check_mode(json::Reader& at, const sim::Platform& platform, Descriptions& descriptions) {
    if (!platform.by_laws() || platform.device.name.empty()) {
        return;
    }
    if (platform.device.calibration) {
        const sim::Calibration& calibration = *platform.device.calibration;
        const std::string path = fmt::format("{}: calibration", platform.device.name);
        const std::vector<text::Provenance>& known = descriptions.provenance();
        if (std::none_of(known.begin(), known.end(), [&](const text::Provenance& entry) { return entry.path == path; })) {
            descriptions.add_provenance(
                {{path, fmt::format("{} laws of kernels", calibration.kernels.size()), calibration.source, calibration.kind}});
        }
        return;
    }
    at.problem("mode",
               fmt::format("\"calibrated\" needs measured kernels, and the description of {} names neither a calibration nor "
                           "a relative (laws_of); measured are {}",
                           platform.device.name, text::listed(descriptions.calibrated_devices(), "and")));
}

sim::Decoding read_decoding(json::Reader& at) { return read(at, shared_keys::decoding); }

std::optional<sim::Rollback> rollback_of(json::Reader& at, std::string_view key, const std::string& name) {
    const std::vector<std::string> names = names_of<sim::Rollback>();
    const std::optional<sim::Rollback> rollback = value_named<sim::Rollback>(name);
    if (!rollback && !name.empty()) {
        at.problem(key, fmt::format("must be {}, not \"{}\"{}", text::listed(names, "or"), json::shown_key(name),
                                    text::did_you_mean(name, names)));
    }
    return rollback;
}

std::optional<sim::Rollback> read_rollback(json::Reader& at, std::string_view key) {
    const std::string name = at.text_or(key, "auto");
    return name == "auto" ? std::nullopt : rollback_of(at, key, name);
}

}  // namespace treeline::requests
