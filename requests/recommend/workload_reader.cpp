#include "requests/recommend/workload_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "requests/keys/workload_keys.h"
#include "requests/speculation_reader.h"
#include "requests/variant_reader.h"

namespace treeline::requests {
namespace {

/// [{"value": 8, "share": 0.5}, ...], or whole numbers with equal shares.
std::vector<sweeps::WeightedValue> read_distribution(json::Reader& traffic, const json::AxisKey& axis) {
    const std::string key(axis);
    std::vector<sweeps::WeightedValue> values;
    const auto& raw = traffic.raw();
    const bool weighted = traffic.has(key) && raw.at(key).is_array() && !raw.at(key).empty() && raw.at(key).front().is_object();
    if (!weighted) {
        for (const int value : read(traffic, axis)) {
            values.push_back({static_cast<double>(value), 1.0});
        }
        return values;
    }
    for (json::Reader& element : traffic.objects(key)) {
        const auto value = static_cast<double>(element.count(share_keys::value, axis.low, axis.high));
        const double share = read(element, share_keys::share);
        element.finish();
        if (std::any_of(values.begin(), values.end(),
                        [&](const sweeps::WeightedValue& other) { return other.value == value; })) {
            traffic.problem(key, fmt::format("holds {:.0f} twice", value));
        }
        values.push_back({value, share});
    }
    return values;
}

sweeps::Traffic read_traffic(json::Reader traffic) {
    const std::vector<sweeps::WeightedValue> batch = read_distribution(traffic, traffic_keys::batch);
    const std::vector<sweeps::WeightedValue> context = read_distribution(traffic, traffic_keys::context);
    const sweeps::ShareOf shares_of = read(traffic, traffic_keys::shares_of);
    traffic.finish();
    if (static_cast<double>(batch.size()) * static_cast<double>(context.size()) > 1e6) {
        traffic.problem({}, "has more than a million combinations of batch and context");
        return {};
    }
    return sweeps::traffic_from(batch, context, shares_of);
}

sweeps::Limits read_limits(json::Reader& root) {
    sweeps::Limits limits;
    std::optional<json::Reader> at = root.optional_object(workload_keys::limits);
    if (!at) {
        return limits;
    }
    if (at->has(limit_keys::tpot_ms)) {
        limits.time_per_token = Seconds(1e-3 * read(*at, limit_keys::tpot_ms));
    }
    if (at->has(limit_keys::ttft_ms)) {
        limits.time_to_first_token = Seconds(1e-3 * read(*at, limit_keys::ttft_ms));
    }
    if (at->has(limit_keys::memory_gb)) {
        limits.memory = Bytes(1e9 * read(*at, limit_keys::memory_gb));
    }
    limits.minimum_gain = read(*at, limit_keys::minimum_gain);
    at->finish();
    return limits;
}

/// An objective that a device's description does not cover would rank that device best.
void check_objective(json::Reader& root, sweeps::Objective objective, const std::vector<sim::Platform>& platforms) {
    for (const sim::Platform& platform : platforms) {
        const sim::Device& device = platform.device;
        if (objective == sweeps::Objective::energy && !device.knows_energy()) {
            root.problem(workload_keys::objective,
                         "is energy, but the description of " + device.name + " does not state its power and energy");
        }
        if (objective == sweeps::Objective::cost && device.price <= DollarsPerSecond(0.0)) {
            root.problem(workload_keys::objective,
                         "is cost, but the description of " + device.name + " does not state a price");
        }
    }
}

/// A tree that no drafter's acceptance covers would be left out silently.
void check_shapes(json::Reader& root, const std::vector<sim::Speculation>& speculations,
                  const std::vector<sweeps::DrafterChoice>& drafters) {
    for (const sim::Speculation& speculation : speculations) {
        std::string why_not;
        const bool priced = sim::is_chain(speculation) ||
                            std::any_of(drafters.begin(), drafters.end(), [&](const sweeps::DrafterChoice& drafter) {
                                const sim::DraftTree tree = sim::build_tree(
                                    speculation.shape, sim::RankAcceptance::known_or_assumed(drafter.acceptance.siblings));
                                why_not = sim::acceptance_problem(drafter.acceptance, speculation.shape, tree);
                                return why_not.empty();
                            });
        if (!priced && !drafters.empty()) {
            root.problem(workload_keys::shapes, speculation.label + " cannot be priced with any of the drafters: " + why_not);
        }
    }
}

sweeps::VariantLists read_lists(json::Reader& root, Descriptions& descriptions) {
    sweeps::VariantLists lists;
    lists.targets = {read_target(root.object_or_text(workload_keys::target, "model"), descriptions)};
    std::vector<std::string> labels;
    for (json::Reader& element : root.objects_or_texts(workload_keys::platforms, "device")) {
        for (sim::Platform& platform : read_platforms(std::move(element), descriptions, lists.targets.front().model)) {
            labels.push_back(sweeps::label_of(platform));
            lists.platforms.push_back(std::move(platform));
        }
    }
    check_labels(root, workload_keys::platforms, labels);
    labels.clear();
    for (json::Reader& element : root.objects(workload_keys::drafters)) {
        lists.drafters.push_back(read_drafter(std::move(element), descriptions));
        labels.push_back(lists.drafters.back().label);
    }
    check_labels(root, workload_keys::drafters, labels);
    lists.rollbacks = read_rollbacks(root, workload_keys::rollbacks);
    lists.decoding = read(root, workload_keys::decoding);
    return lists;
}

}  // namespace

sweeps::RecommendInput read_workload(json::Document& document, Descriptions& descriptions) {
    json::Reader root = document.root();
    sweeps::RecommendInput input;
    input.title = read(root, workload_keys::title);
    input.source = read(root, workload_keys::source);
    const sweeps::VariantLists lists = read_lists(root, descriptions);
    sweeps::Workload& workload = input.workload;
    workload.speculations = read_speculations(root, descriptions).speculations;
    workload.traffic = read_traffic(root.object(workload_keys::traffic));
    const double typical_context = workload.traffic.points.empty() ? 0.0 : sweeps::typical_point(workload.traffic).context;
    workload.prompt_tokens = read_or<double>(root, workload_keys::prompt_tokens, static_cast<std::int64_t>(typical_context));
    const auto output_tokens = read<double>(root, workload_keys::output_tokens);
    const double prefix_hit = read(root, workload_keys::prefix_hit);
    workload.limits = read_limits(root);
    workload.objective = read(root, workload_keys::objective);
    check_objective(root, workload.objective, lists.platforms);
    root.finish();
    if (document.problems().empty()) {
        check_shapes(root, workload.speculations, lists.drafters);
        document.add_problems(sweeps::platform_problems(lists));
        workload.variants = sweeps::all_variants(lists);
        for (sweeps::Variant& variant :
             workload.variants) {  // memory is that of the prompts if the file says how long they are
            const bool of_prompts = root.has(workload_keys::prompt_tokens) || output_tokens > 0.0;
            variant.setup.prompt_tokens = of_prompts ? workload.prompt_tokens : 0.0;
            variant.setup.output_tokens = output_tokens;
            variant.setup.prefix_hit = prefix_hit;
        }
        document.add_problems(problems_of(workload));
    }
    document.throw_if_problems();
    input.target = lists.targets.front();
    input.title = input.title.empty() ? "Speculative decoding of " + input.target.label : input.title;
    workload.title = input.title;
    input.drafters = lists.drafters;
    input.provenance = descriptions.provenance();
    return input;
}

}  // namespace treeline::requests
