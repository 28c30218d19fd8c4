#include "requests/sweep/sweep_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/wording.h"
#include "requests/keys/sweep_keys.h"
#include "requests/lengths_reader.h"
#include "requests/load_reader.h"
#include "requests/loading.h"
#include "requests/speculation_reader.h"
#include "requests/variant_reader.h"
#include "sim/placement.h"
#include "text/precision_text.h"

namespace treeline::requests {
namespace {

/// Every target in every precision of the axis, if there is one.
std::vector<sweeps::TargetChoice> read_targets(json::Reader& axes, Descriptions& descriptions) {
    std::vector<sweeps::TargetChoice> targets;
    for (json::Reader& element : axes.objects_or_texts(sweep_axis_keys::target, "model")) {
        targets.push_back(read_target(std::move(element), descriptions));
    }
    if (!axes.has(sweep_axis_keys::precision)) {
        return targets;
    }
    std::vector<sweeps::TargetChoice> in_all_precisions;
    for (const sweeps::TargetChoice& target : targets) {
        for (json::Reader& element : axes.objects_or_texts(sweep_axis_keys::precision, sweep_element_keys::format)) {
            sweeps::TargetChoice choice = target;
            const bool one_format = element.has(sweep_element_keys::format) && element.keys().size() == 1;
            choice.precision = one_format ? read_precision(element, sweep_element_keys::format, target.model.precision)
                                          : read_precision_parts(element, target.model.precision);
            choice.precision_label =
                one_format ? element.text(sweep_element_keys::format) : precision_label(element.raw(), choice.precision);
            choice.label = fmt::format("{} ({})", target.model.name, choice.precision_label);
            in_all_precisions.push_back(std::move(choice));
        }
    }
    return in_all_precisions;
}

std::vector<sim::Platform> read_platform_list(json::Reader& axes, Descriptions& descriptions) {
    std::vector<std::string_view> given(platform_keys::degrees.begin(), platform_keys::degrees.end());
    given.insert(given.end(),
                 {sweep_axis_keys::device, sweep_axis_keys::stack, sweep_axis_keys::mode, sweep_axis_keys::interconnect});
    for (const std::string_view key : given) {
        if (axes.has(key)) {
            axes.problem(key, "is already given by \"platform\"");
        }
    }
    std::vector<sim::Platform> platforms;
    for (json::Reader& element : axes.objects_or_texts(sweep_axis_keys::platform, "device")) {
        platforms.push_back(read_platform(std::move(element), descriptions));
    }
    return platforms;
}

std::vector<sim::CostMode> read_modes(json::Reader& axes) {
    std::vector<sim::CostMode> modes;
    for (json::Reader& element : axes.objects_or_texts(sweep_axis_keys::mode, sweep_element_keys::name)) {
        modes.push_back(read_mode(element, sweep_element_keys::name));
        element.finish();
    }
    return modes;
}

/// Empty without the key: each device has its own default.
std::vector<sim::Stack> read_stacks(json::Reader& axes, Descriptions& descriptions) {
    std::vector<sim::Stack> stacks;
    if (!axes.has(sweep_axis_keys::stack)) {
        return stacks;
    }
    for (json::Reader& element : axes.objects_or_texts(sweep_axis_keys::stack, sweep_element_keys::name)) {
        if (const sim::Stack* stack = descriptions.stack(element, sweep_element_keys::name, "")) {
            stacks.push_back(*stack);
        }
        element.finish();
    }
    return stacks;
}

struct Degrees {
    double tensor = 1.0;
    sim::Parallelism parallel;
};

/// Degrees of parallelism, all combined. Experts cannot be dealt out over ranks that do not exist: of several combinations
/// those in which they would be are left out.
std::vector<Degrees> combined_degrees(json::Reader& axes) {
    const auto axis = [&](const json::AxisKey& key) { return axes.has(key) ? read(axes, key) : std::vector<int>{1}; };
    const std::vector<int> tensor = axis(sweep_axis_keys::tensor_parallel);
    const std::vector<int> data = axis(sweep_axis_keys::attention_data_parallel);
    const std::vector<int> experts = axis(sweep_axis_keys::expert_parallel);
    const std::vector<int> pipeline = axis(sweep_axis_keys::pipeline_parallel);
    const auto draft_tensor = read_or<double>(axes, sweep_axis_keys::draft_tensor_parallel, 0);
    const auto context = read<double>(axes, sweep_axis_keys::decode_context_parallel);
    std::vector<Degrees> all;
    for (const int stages : pipeline) {
        for (const int ranks : tensor) {
            for (const int groups : data) {
                for (const int dealt : experts) {
                    const bool one = tensor.size() * data.size() * experts.size() == 1;
                    if (one || (ranks * groups) % dealt == 0) {
                        all.push_back({1.0 * ranks, {1.0 * groups, 1.0 * dealt, 1.0 * stages, draft_tensor}});
                        all.back().parallel.context = context;
                    }
                }
            }
        }
    }
    if (all.empty()) {
        axes.problem(sweep_axis_keys::expert_parallel,
                     "divides none of the products of tensor_parallel and attention_data_parallel");
    }
    return all;
}

/// Devices, degrees, stacks and modes, all combined; accelerators have one of each.
std::vector<sim::Platform> combined_platforms(json::Reader& axes, Descriptions& descriptions) {
    std::vector<sim::Platform> hardware;
    for (json::Reader& element : axes.objects_or_texts(sweep_axis_keys::device, sweep_element_keys::name)) {
        if (const sim::Platform* found = descriptions.hardware(element, sweep_element_keys::name)) {
            hardware.push_back(*found);
        }
        element.finish();
    }
    const std::vector<Degrees> degrees = combined_degrees(axes);
    const std::vector<sim::Stack> stacks = read_stacks(axes, descriptions);
    const std::vector<sim::CostMode> modes = axes.has(sweep_axis_keys::mode) ? read_modes(axes) : std::vector<sim::CostMode>{};
    const std::string interconnect = read(axes, sweep_axis_keys::interconnect);
    std::vector<sim::Platform> platforms;
    for (const sim::Platform& device : hardware) {
        if (device.accelerator) {
            platforms.push_back(device);
            continue;
        }
        std::vector<sim::Stack> of_device = stacks;
        if (!axes.has(sweep_axis_keys::stack)) {
            if (const sim::Stack* stack =
                    descriptions.stack(axes, sweep_axis_keys::stack, sweeps::default_stack(device.device))) {
                of_device.push_back(*stack);
            }
        }
        for (const Degrees& degree : degrees) {
            for (const sim::Stack& stack : of_device) {
                sim::Platform platform{device.device, stack, degree.tensor,  sim::CostMode::roofline,
                                       interconnect,  {},    degree.parallel};
                for (const sim::CostMode mode : modes.empty() ? std::vector{sweeps::default_mode(platform)} : modes) {
                    platform.mode = mode;
                    platforms.push_back(platform);
                    check_mode(axes, platforms.back(), descriptions);
                }
            }
        }
    }
    return platforms;
}

/// A kind alone stands for what was published of it for the target, of which there must be one then. Without the axis nothing
/// is drafted.
std::vector<sweeps::DrafterChoice> read_drafters(json::Reader& axes, Descriptions& descriptions,
                                                 const std::vector<sweeps::TargetChoice>& targets,
                                                 const sim::TrafficKind& traffic) {
    const sweeps::DrafterChoice nothing{std::string(no_drafter_word), sim::NoDrafter{}, {}, "", ""};
    if (!axes.has(sweep_axis_keys::drafter)) {
        return {nothing};
    }
    const bool one_target = std::all_of(targets.begin(), targets.end(), [&](const sweeps::TargetChoice& target) {
        return target.model.name == targets.front().model.name;
    });
    std::vector<sweeps::DrafterChoice> drafters;
    for (json::Reader& element : axes.objects_or_texts(sweep_axis_keys::drafter, drafter_keys::published)) {
        const nlohmann::ordered_json& word =
            element.raw().value(std::string(drafter_keys::published), nlohmann::ordered_json());
        const std::string kind = word.is_string() ? kind_of_word(word.get<std::string>()) : "";
        if (word == no_drafter_word) {
            static_cast<void>(element.has(drafter_keys::published));
            element.finish();
            drafters.push_back(nothing);
        } else if (!kind.empty() && !one_target) {
            axes.problem(sweep_axis_keys::drafter,
                         fmt::format("holds \"{}\", which stands for what was published for one target; with several, give an "
                                     "object with \"kind\" and \"acceptance\"",
                                     kind));
        } else {
            const bool for_target = !kind.empty() && !targets.empty() && !targets.front().model.name.empty();
            drafters.push_back(read_drafter(std::move(element), descriptions,
                                            DrafterUse{for_target ? &targets.front().model : nullptr, traffic, for_target}));
        }
    }
    return drafters;
}

sweeps::VariantLists read_lists(json::Reader& axes, Descriptions& descriptions, const sim::TrafficKind& traffic) {
    sweeps::VariantLists lists;
    lists.targets = read_targets(axes, descriptions);
    if (!axes.has(sweep_axis_keys::platform) &&
        std::any_of(lists.targets.begin(), lists.targets.end(),
                    [](const sweeps::TargetChoice& target) { return sim::layers_on_host(target.model) > 0; })) {
        axes.problem(sweep_axis_keys::target, "has weights on the host: give the devices as \"platform\", which has a host");
    }
    lists.platforms =
        axes.has(sweep_axis_keys::platform) ? read_platform_list(axes, descriptions) : combined_platforms(axes, descriptions);
    for (sweeps::TargetChoice& target : lists.targets) {
        load_as_gguf(target, lists.platforms);
    }
    lists.drafters = read_drafters(axes, descriptions, lists.targets, traffic);
    std::vector<std::string> labels;
    for (const sweeps::DrafterChoice& drafter : lists.drafters) {
        labels.push_back(drafter.label);
    }
    check_labels(axes, sweep_axis_keys::drafter, labels);
    labels.clear();
    for (const sweeps::TargetChoice& target : lists.targets) {
        labels.push_back(target.label);
    }
    check_labels(axes, sweep_axis_keys::target, labels);
    labels.clear();
    for (const sim::Platform& platform : lists.platforms) {
        labels.push_back(sweeps::label_of(platform) +
                         (platform.mode == sim::CostMode::hoi ? " on " + platform.stack.name : ""));
    }
    check_labels(axes, axes.has(sweep_axis_keys::platform) ? sweep_axis_keys::platform : sweep_axis_keys::device, labels);
    lists.rollbacks = read_rollbacks(axes, sweep_axis_keys::rollbacks);
    return lists;
}

/// A value of "when" that no variant carries would make a condition that never applies.
void check_when(json::Reader& when, const std::string& axis, const std::string& value,
                const std::vector<sweeps::Variant>& variants) {
    std::vector<std::string> labels;
    for (const sweeps::Variant& variant : variants) {
        const std::string* label = variant.labels.find(axis);
        if (label != nullptr && std::find(labels.begin(), labels.end(), *label) == labels.end()) {
            labels.push_back(*label);
        }
    }
    if (!labels.empty() && std::find(labels.begin(), labels.end(), value) == labels.end()) {
        when.problem(
            axis, fmt::format("\"{}\" is not on that axis; it holds {}", json::shown_key(value), text::listed(labels, "and")));
    }
}

std::vector<sweeps::ConditionText> read_conditions(json::Reader& root, const std::vector<sweeps::Variant>& variants) {
    std::vector<sweeps::ConditionText> conditions;
    if (!root.has(sweep_keys::conditions)) {
        return conditions;
    }
    for (json::Reader& element : root.objects_or_texts(sweep_keys::conditions, condition_keys::require)) {
        sweeps::ConditionText condition;
        condition.require = read(element, condition_keys::require);
        if (std::optional<json::Reader> when = element.optional_object(condition_keys::when)) {
            for (const std::string& axis : when->keys()) {
                condition.when.emplace_back(axis, when->text(axis));
                check_when(*when, axis, condition.when.back().second, variants);
            }
        }
        element.finish();
        if (!condition.require.empty()) {
            conditions.push_back(std::move(condition));
        }
    }
    return conditions;
}

/// Whose acceptance is asked for: at the loads of the axes.
sim::TrafficKind traffic_over(const sweeps::DesignSpace& space) {
    const auto alike = [](const std::vector<double>& values) {
        std::vector<sweeps::WeightedValue> weighted;
        for (const double value : values) {
            weighted.push_back({value, 1.0});
        }
        return weighted;
    };
    sim::TrafficKind traffic;
    set_loads(traffic, space.kind == sweeps::LoadKind::arrival_rate ? std::vector<sweeps::WeightedValue>() : alike(space.batch),
              alike(space.context));
    return traffic;
}

std::vector<double> as_numbers(const std::vector<int>& values) { return {values.begin(), values.end()}; }

void read_loads(json::Reader& axes, const RequestLengths& lengths, bool steady, sweeps::DesignSpace& space) {
    space.kind = load_kind_of(axes, steady);
    space.batch = space.kind == sweeps::LoadKind::arrival_rate  ? read(axes, sweep_axis_keys::arrival_rate)
                  : space.kind == sweeps::LoadKind::concurrency ? as_numbers(read(axes, sweep_axis_keys::concurrency))
                                                                : as_numbers(read(axes, sweep_axis_keys::batch));
    const std::optional<double> in_the_mean = lengths.context();
    space.context = in_the_mean && !axes.has(sweep_axis_keys::context) ? std::vector<double>{*in_the_mean}
                                                                       : as_numbers(read(axes, sweep_axis_keys::context));
}

}  // namespace

sweeps::SweepInput read_sweep(json::Document& document, Descriptions& descriptions) {
    json::Reader root = document.root();
    sweeps::SweepInput input;
    input.title = read(root, sweep_keys::title);
    input.source = read(root, sweep_keys::source);
    json::Reader axes = root.object(sweep_keys::axes);
    sweeps::DesignSpace& space = input.space;
    const RequestLengths lengths = read_request_lengths(root);
    read_loads(axes, lengths, states_answers(root), space);
    sweeps::VariantLists lists = read_lists(axes, descriptions, traffic_over(space));
    std::vector<const sim::Model*> targets;
    for (const sweeps::TargetChoice& target : lists.targets) {
        targets.push_back(&target.model);
    }
    check_expert_pool(root, lengths.expert_pool, targets);
    lists.decoding = read(root, sweep_keys::decoding);
    const bool drafts = std::any_of(lists.drafters.begin(), lists.drafters.end(), [](const sweeps::DrafterChoice& drafter) {
        return !std::holds_alternative<sim::NoDrafter>(drafter.drafter);
    });
    SpeculationAxis shapes = read_speculations(axes, descriptions, drafts ? std::nullopt : std::optional(0));
    if (!drafts && shapes.asked_for.empty()) {
        shapes.asked_for.push_back(0);
    }
    space.speculations = std::move(shapes.speculations);
    space.speculation = std::move(shapes.asked_for);
    axes.finish();
    if (lengths.answers && !lengths.prompts) {
        root.problem(sweep_keys::output_tokens,
                     "is set, so \"prompt_tokens\" must say how long the prompts are that the server reads meanwhile");
    }
    const bool readable = document.problems().empty();
    if (readable) {
        space.variants = sweeps::all_variants(lists);
        for (sweeps::Variant& variant : space.variants) {
            lengths.set(variant.setup, 0.0);
            const sweeps::TargetChoice& target = lists.targets[variant.origin.target];
            const std::string problem = why_not_loaded(target, lists.platforms[variant.origin.platform]);
            variant.problem = problem.empty() ? "" : fmt::format("{} {}", target.model.name, problem);
        }
        document.add_problems(plain_problems(space.variants));
    }
    space.conditions = read_conditions(root, space.variants);
    root.finish();
    if (readable) {
        document.add_problems(space.problems());
    }
    document.throw_if_problems();
    input.provenance = descriptions.provenance();
    return input;
}

}  // namespace treeline::requests
