#include "requests/sweep/sweep_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/wording.h"
#include "requests/parallelism_reader.h"
#include "requests/speculation_reader.h"
#include "requests/variant_reader.h"
#include "text/precision_text.h"

namespace treeline {
namespace {

constexpr double most_points = 1e11;

/// Every target in every precision of the axis, if there is one.
std::vector<TargetChoice> read_targets(json::Reader& axes, Descriptions& descriptions) {
    std::vector<TargetChoice> targets;
    for (json::Reader& element : axes.objects_or_texts("target", "model")) {
        targets.push_back(read_target(std::move(element), descriptions));
    }
    if (!axes.has("precision")) {
        return targets;
    }
    std::vector<TargetChoice> in_all_precisions;
    for (const TargetChoice& target : targets) {
        for (json::Reader& element : axes.objects_or_texts("precision", "format")) {
            TargetChoice choice = target;
            const bool one_format = element.has("format") && element.keys().size() == 1;
            choice.precision = one_format ? read_precision(element, "format", target.model.precision)
                                          : read_precision_parts(element, target.model.precision);
            choice.precision_label = one_format ? element.text("format") : text_of(choice.precision);
            choice.label = fmt::format("{} ({})", target.model.name, choice.precision_label);
            in_all_precisions.push_back(std::move(choice));
        }
    }
    return in_all_precisions;
}

std::vector<Platform> read_platform_list(json::Reader& axes, Descriptions& descriptions) {
    std::vector<const char*> given = parallelism_keys();
    given.insert(given.end(), {"device", "stack", "mode", "interconnect"});
    for (const char* key : given) {
        if (axes.has(key)) {
            axes.problem(key, "is already given by \"platform\"");
        }
    }
    std::vector<Platform> platforms;
    for (json::Reader& element : axes.objects_or_texts("platform", "device")) {
        platforms.push_back(read_platform(std::move(element), descriptions));
    }
    return platforms;
}

std::vector<CostMode> read_modes(json::Reader& axes) {
    std::vector<CostMode> modes;
    for (json::Reader& element : axes.objects_or_texts("mode", "name")) {
        modes.push_back(read_mode(element, "name"));
        element.finish();
    }
    return modes;
}

/// Empty without the key: each device has its own default.
std::vector<Stack> read_stacks(json::Reader& axes, Descriptions& descriptions) {
    std::vector<Stack> stacks;
    if (!axes.has("stack")) {
        return stacks;
    }
    for (json::Reader& element : axes.objects_or_texts("stack", "name")) {
        if (const Stack* stack = descriptions.stack(element, "name", "")) {
            stacks.push_back(*stack);
        }
        element.finish();
    }
    return stacks;
}

struct Degrees {
    double tensor = 1.0;
    Parallelism parallel;
};

/// Degrees of parallelism, all combined. Experts cannot be dealt out over ranks that do not exist: of several combinations
/// those in which they would be are left out.
std::vector<Degrees> combined_degrees(json::Reader& axes) {
    const auto axis = [&](const char* key) {
        return axes.has(key) ? read_axis(axes, key, 1, most_ranks) : std::vector<int>{1};
    };
    const std::vector<int> tensor = axis("tensor_parallel"), data = axis("attention_data_parallel");
    const std::vector<int> experts = axis("expert_parallel"), pipeline = axis("pipeline_parallel");
    const auto draft_tensor = static_cast<double>(axes.count_or("draft_tensor_parallel", 0, 1, most_ranks));
    std::vector<Degrees> all;
    for (const int stages : pipeline) {
        for (const int ranks : tensor) {
            for (const int groups : data) {
                for (const int dealt : experts) {
                    const bool one = tensor.size() * data.size() * experts.size() == 1;
                    if (one || (ranks * groups) % dealt == 0) {
                        all.push_back({1.0 * ranks, {1.0 * groups, 1.0 * dealt, 1.0 * stages, draft_tensor}});
                    }
                }
            }
        }
    }
    if (all.empty()) {
        axes.problem("expert_parallel", "divides none of the products of tensor_parallel and attention_data_parallel");
    }
    return all;
}

/// Devices, degrees, stacks and modes, all combined; accelerators have one of each.
std::vector<Platform> combined_platforms(json::Reader& axes, Descriptions& descriptions) {
    std::vector<Platform> hardware;
    for (json::Reader& element : axes.objects_or_texts("device", "name")) {
        if (const Platform* found = descriptions.hardware(element, "name")) {
            hardware.push_back(*found);
        }
        element.finish();
    }
    const std::vector<Degrees> degrees = combined_degrees(axes);
    const std::vector<Stack> stacks = read_stacks(axes, descriptions);
    const std::vector<CostMode> modes = axes.has("mode") ? read_modes(axes) : std::vector<CostMode>{};
    const std::string interconnect = axes.text_or("interconnect", "");
    std::vector<Platform> platforms;
    for (const Platform& device : hardware) {
        if (device.accelerator) {
            platforms.push_back(device);
            continue;
        }
        std::vector<Stack> of_device = stacks;
        if (!axes.has("stack")) {
            if (const Stack* stack = descriptions.stack(axes, "stack", default_stack(device.device))) {
                of_device.push_back(*stack);
            }
        }
        for (const Degrees& degree : degrees) {
            for (const Stack& stack : of_device) {
                Platform platform{device.device, stack, degree.tensor, CostMode::roofline, interconnect, {}, degree.parallel};
                for (const CostMode mode : modes.empty() ? std::vector{default_mode(platform)} : modes) {
                    platform.mode = mode;
                    platforms.push_back(platform);
                    check_mode(axes, platforms.back(), descriptions);
                }
            }
        }
    }
    return platforms;
}

VariantLists read_lists(json::Reader& axes, Descriptions& descriptions) {
    VariantLists lists;
    lists.targets = read_targets(axes, descriptions);
    lists.platforms = axes.has("platform") ? read_platform_list(axes, descriptions) : combined_platforms(axes, descriptions);
    std::vector<std::string> labels;
    for (json::Reader& element : axes.objects("drafter")) {
        lists.drafters.push_back(read_drafter(std::move(element), descriptions));
        labels.push_back(lists.drafters.back().label);
    }
    check_labels(axes, "drafter", labels);
    labels.clear();
    for (const TargetChoice& target : lists.targets) {
        labels.push_back(target.label);
    }
    check_labels(axes, "target", labels);
    labels.clear();
    for (const Platform& platform : lists.platforms) {
        labels.push_back(label_of(platform) + (platform.mode == CostMode::hoi ? " on " + platform.stack.name : ""));
    }
    check_labels(axes, axes.has("platform") ? "platform" : "device", labels);
    lists.rollbacks = read_rollbacks(axes, "rollback");
    return lists;
}

/// A value of "when" that no variant carries would make a condition that never applies.
void check_when(json::Reader& when, const std::string& axis, const std::string& value, const std::vector<Variant>& variants) {
    std::vector<std::string> labels;
    for (const Variant& variant : variants) {
        const std::string* label = variant.labels.find(axis);
        if (label != nullptr && std::find(labels.begin(), labels.end(), *label) == labels.end()) {
            labels.push_back(*label);
        }
    }
    if (!labels.empty() && std::find(labels.begin(), labels.end(), value) == labels.end()) {
        when.problem(axis,
                     fmt::format("\"{}\" is not on that axis; it holds {}", json::shown_key(value), listed(labels, "and")));
    }
}

std::vector<ConditionText> read_conditions(json::Reader& root, const std::vector<Variant>& variants) {
    std::vector<ConditionText> conditions;
    if (!root.has("conditions")) {
        return conditions;
    }
    for (json::Reader& element : root.objects_or_texts("conditions", "require")) {
        ConditionText condition;
        condition.require = element.text("require");
        if (std::optional<json::Reader> when = element.optional_object("when")) {
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

std::vector<double> as_numbers(const std::vector<int>& values) { return {values.begin(), values.end()}; }

}  // namespace

SweepInput read_sweep(json::Document& document, Descriptions& descriptions) {
    json::Reader root = document.root();
    SweepInput input;
    input.title = root.text_or("title", "");
    input.source = root.text_or("source", "");
    json::Reader axes = root.object("axes");
    VariantLists lists = read_lists(axes, descriptions);
    lists.decoding = read_decoding(root);
    DesignSpace& space = input.space;
    SpeculationAxis shapes = read_speculations(axes, descriptions);
    space.speculations = std::move(shapes.speculations);
    space.speculation = std::move(shapes.asked_for);
    space.batch = as_numbers(read_axis(axes, "batch", 1, largest_batch));
    space.context = as_numbers(read_axis(axes, "context", 0, longest_context));
    axes.finish();
    const auto prompt_tokens = static_cast<double>(root.count_or("prompt_tokens", 0, 0, longest_context));
    const auto output_tokens = static_cast<double>(root.count_or("output_tokens", 0, 0, longest_context));
    const double prefix_hit = root.number_or("prefix_hit", 0.0, 0.0, 1.0);
    if (output_tokens > 0.0 && prompt_tokens == 0.0) {
        root.problem("output_tokens",
                     "is set, so \"prompt_tokens\" must say how long the prompts are that the server reads meanwhile");
    }
    const bool readable = document.problems().empty();
    if (readable) {
        document.add_problems(platform_problems(lists));
        space.variants = all_variants(lists);
        for (Variant& variant : space.variants) {
            variant.setup.prompt_tokens = prompt_tokens;
            variant.setup.output_tokens = output_tokens;
            variant.setup.prefix_hit = prefix_hit;
        }
    }
    space.conditions = read_conditions(root, space.variants);
    root.finish();
    if (readable) {
        document.add_problems(space.problems());
        if (static_cast<double>(space.size()) > most_points) {
            document.add_problems({fmt::format("the axes span {:.3g} points; at most {:.0e} are allowed",
                                               static_cast<double>(space.size()), most_points)});
        }
    }
    document.throw_if_problems();
    input.provenance = descriptions.provenance();
    return input;
}

}  // namespace treeline
