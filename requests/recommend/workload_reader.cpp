#include "requests/recommend/workload_reader.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "requests/assumed_siblings.h"
#include "requests/keys/setup_keys.h"
#include "requests/keys/workload_keys.h"
#include "requests/lengths_reader.h"
#include "requests/load_reader.h"
#include "requests/loading.h"
#include "requests/measured_errors_reader.h"
#include "requests/recommend/candidates_reader.h"
#include "requests/speculation_reader.h"
#include "requests/variant_reader.h"
#include "sim/constants.h"
#include "sweeps/deadline.h"
#include "text/number_text.h"

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

/// Requests per second: a number, a list, or a list with shares.
std::vector<sweeps::WeightedValue> read_rates(json::Reader& traffic) {
    constexpr json::NumberKey rate = point_keys::arrival_rate;
    const auto& raw = traffic.raw().at(std::string(rate));
    std::vector<sweeps::WeightedValue> values;
    if (asks_for_most(traffic)) {  // what it is follows from the answer
        return {{1.0, 1.0}};
    }
    if (raw.is_array() && !raw.empty() && raw.front().is_object()) {
        for (json::Reader& element : traffic.objects(rate)) {
            const double value = element.number(share_keys::value, rate.low, rate.high);
            values.push_back({value, read(element, share_keys::share)});
            element.finish();
        }
    } else if (raw.is_array()) {
        for (const double value : traffic.numbers(rate, rate.low, rate.high)) {
            values.push_back({value, 1.0});
        }
    } else {
        values.push_back({read_or(traffic, rate, 1.0), 1.0});
    }
    return values;
}

std::vector<sweeps::WeightedValue> read_loads(json::Reader& traffic, sweeps::LoadKind kind) {
    switch (kind) {
        case sweeps::LoadKind::batch:
            return read_distribution(traffic, traffic_keys::batch);
        case sweeps::LoadKind::concurrency:
            return read_distribution(traffic, traffic_keys::concurrency);
        case sweeps::LoadKind::arrival_rate:
            return read_rates(traffic);
    }
    return {};
}

void check_shares(json::Reader& traffic, std::string_view key, const std::vector<sweeps::WeightedValue>& values) {
    const auto counts = [](const sweeps::WeightedValue& value) { return value.share > 0.0; };
    if (!values.empty() && std::none_of(values.begin(), values.end(), counts)) {
        traffic.problem(key, "has no share above 0");
    }
}

/// `steady`: the input says how long answers are.
sweeps::Traffic read_traffic(json::Reader traffic, const RequestLengths& lengths, bool steady, sim::TrafficKind& of_requests,
                             bool& most) {
    most = asks_for_most(traffic);
    of_requests = read_traffic_kind(traffic);
    const sweeps::LoadKind kind = load_kind_of(traffic, steady);
    const std::vector<sweeps::WeightedValue> load = read_loads(traffic, kind);
    check_shares(traffic, name_of(kind), load);
    const std::optional<double> in_the_mean = lengths.context();
    const std::vector<sweeps::WeightedValue> context = in_the_mean && !traffic.has(traffic_keys::context)
                                                           ? std::vector<sweeps::WeightedValue>{{*in_the_mean, 1.0}}
                                                           : read_distribution(traffic, traffic_keys::context);
    check_shares(traffic, traffic_keys::context, context);
    set_loads(of_requests, kind == sweeps::LoadKind::arrival_rate ? std::vector<sweeps::WeightedValue>() : load, context);
    const sweeps::ShareOf shares_of = read(traffic, traffic_keys::shares_of);
    traffic.finish();
    if (static_cast<double>(load.size()) * static_cast<double>(context.size()) > 1e6) {
        traffic.problem({}, "has more than a million combinations of load and context");
        return {};
    }
    return sweeps::traffic_from(load, context, shares_of, kind);
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
    limits.first_token_growth = read(*at, limit_keys::ttft_growth);
    if (at->has(limit_keys::ttft_growth)) {
        limits.first_token_of_saved = 0.0;
    }
    limits.waiting = read(*at, limit_keys::waiting);
    limits.waiting_stated = at->has(limit_keys::waiting);
    at->finish();
    return limits;
}

/// Under an arrival rate each configuration of a device generates what is asked for: in tokens/s and money all are the same.
sweeps::Objective read_objective(json::Reader& root, sweeps::LoadKind kind, bool most) {
    if (most) {
        const sweeps::Objective objective = read(root, workload_keys::objective);
        if (objective != sweeps::Objective::throughput) {
            root.problem(
                workload_keys::objective,
                fmt::format("is {}, but the largest rate within the limits is asked for: leave it out", name_of(objective)));
        }
        return sweeps::Objective::throughput;
    }
    if (kind == sweeps::LoadKind::arrival_rate && !root.has(workload_keys::objective)) {
        return sweeps::Objective::latency;
    }
    const sweeps::Objective objective = read(root, workload_keys::objective);
    if (kind == sweeps::LoadKind::arrival_rate &&
        (objective == sweeps::Objective::throughput || objective == sweeps::Objective::cost)) {
        root.problem(workload_keys::objective,
                     fmt::format("is {}, which is the same for all under an arrival rate: each generates what is asked for; it "
                                 "may be latency or energy",
                                 name_of(objective)));
    }
    return objective;
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
                         "is cost, but the description of " + device.name +
                             " does not state a price: give \"price\" of its platform in dollars per hour (--price 2.5)");
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

/// Every platform with its cuts. Of several devices, or numbers of them, those without a cut are left out with their reason.
std::vector<sim::Platform> read_platforms_of(json::Reader& root, Descriptions& descriptions, const sim::Model& target,
                                             std::vector<sweeps::Exclusion>& excluded) {
    std::vector<sim::Platform> platforms;
    std::vector<json::Reader> elements = root.objects_or_texts(workload_keys::platforms, "device");
    const bool several = elements.size() > 1;
    for (json::Reader& element : elements) {
        sweeps::check_deadline();
        const bool up_to = element.has(platform_keys::gpus) && element.raw().at(std::string(platform_keys::gpus)).is_object();
        for (sim::Platform& platform :
             read_platforms(std::move(element), descriptions, target, several || up_to ? &excluded : nullptr)) {
            platforms.push_back(std::move(platform));
        }
    }
    if (platforms.empty() && !excluded.empty()) {
        root.problem(workload_keys::platforms,
                     fmt::format("no device can run {}: {}: {}", target.name, excluded.front().label, excluded.front().reason));
    }
    return platforms;
}

/// Why a platform cannot hold the target: its engine does not load the format, or the cut does not divide.
std::string why_left_out(const sweeps::TargetChoice& target, const sim::Platform& platform) {
    if (const std::string problem = why_not_loaded(target, platform); !problem.empty()) {
        return fmt::format("{} {}", target.model.name, problem);
    }
    const std::vector<std::string> of_cut = problems_of(target.model, platform.ranks, platform.parallel);
    return platform.accelerator || of_cut.empty() ? "" : of_cut.front();
}

/// Of several platforms, those that cannot hold the target are left out with their reason; where none can, that is a problem.
void keep_what_runs(json::Reader& root, sweeps::VariantLists& lists, std::vector<sweeps::Exclusion>& excluded) {
    const sweeps::TargetChoice& target = lists.targets.front();
    const auto runs = [&](const sim::Platform& platform) { return why_left_out(target, platform).empty(); };
    if (std::none_of(lists.platforms.begin(), lists.platforms.end(), runs)) {
        for (const sim::Platform& platform : lists.platforms) {
            check_loading(root, workload_keys::target.key, target, platform);
        }
        return;  // plain_problems() names a cut that does not divide
    }
    for (const sim::Platform& platform : lists.platforms) {
        if (!runs(platform)) {
            excluded.push_back({sweeps::label_of(platform), why_left_out(target, platform), sweeps::Exclusion::no_variant});
        }
    }
    std::erase_if(lists.platforms, [&](const sim::Platform& platform) { return !runs(platform); });
}

sweeps::VariantLists read_lists(json::Reader& root, Descriptions& descriptions, const sim::TrafficKind& traffic,
                                std::vector<sweeps::Exclusion>& excluded, Candidates& candidates) {
    sweeps::VariantLists lists;
    lists.targets = {read_target(root.object_or_text(workload_keys::target, "model"), descriptions)};
    std::vector<std::string> labels;
    lists.platforms = read_platforms_of(root, descriptions, lists.targets.front().model, excluded);
    for (const sim::Platform& platform : lists.platforms) {
        labels.push_back(sweeps::label_of(platform));
    }
    load_as_gguf(lists.targets.front(), lists.platforms);
    keep_what_runs(root, lists, excluded);
    check_labels(root, workload_keys::platforms, labels);
    candidates = read_candidates(
        root, descriptions,
        {&lists.targets.front().model, traffic, root.has(workload_keys::draft_tokens) || root.has(workload_keys::shapes)});
    lists.drafters = candidates.drafters;
    labels.clear();
    for (const sweeps::DrafterChoice& drafter : lists.drafters) {
        labels.push_back(drafter.label);
    }
    check_labels(root, workload_keys::drafters, labels);
    lists.rollbacks = read_rollbacks(root, workload_keys::rollbacks);
    lists.decoding = read(root, workload_keys::decoding);
    return lists;
}

/// What decides between devices errs by.
std::string energy_note() {
    return fmt::format(
        "a token's energy errs by {:.0f} % in the median and {:.0f} % at p90 on devices whose draw no number was fitted to, so "
        "devices that differ by less are alike",
        100.0 * sim::usual_energy_error, 100.0 * sim::energy_error);
}

/// Whether some platform says how many devices there are in all.
bool counts_devices(const json::Reader& root) {
    const auto platforms = root.raw().find(std::string(workload_keys::platforms));
    const auto counts = [](const auto& platform) {
        return platform.is_object() && platform.contains(std::string(platform_keys::gpus));
    };
    return platforms != root.raw().end() &&
           (platforms->is_array() ? std::any_of(platforms->begin(), platforms->end(), counts) : counts(*platforms));
}

/// Shares that do not sum to 1 are taken as parts of their sum.
void add_notes_on_load(const json::Reader& root, std::vector<std::string>& notes) {
    constexpr double rounding = 0.011;  // of three shares of 0.33
    const auto traffic = root.raw().find(std::string(workload_keys::traffic));
    if (traffic == root.raw().end() || !traffic->is_object()) {
        return;  // a problem that is noted
    }
    const auto share_of = [](const auto& element) {
        const auto share = element.is_object() ? element.find(std::string(share_keys::share.key)) : element.end();
        return share != element.end() && share->is_number() ? share->template get<double>() : 1.0;
    };
    for (const std::string_view key : {name_of(sweeps::LoadKind::batch), name_of(sweeps::LoadKind::concurrency),
                                       name_of(sweeps::LoadKind::arrival_rate), traffic_keys::context.key}) {
        const auto list = traffic->find(std::string(key));
        if (list == traffic->end() || !list->is_array() || list->empty() || !list->front().is_object()) {
            continue;
        }
        double sum = 0.0;
        for (const auto& element : *list) {
            sum += share_of(element);
        }
        // Whole numbers are weights, which need not sum to anything.
        const bool fractions = std::any_of(list->begin(), list->end(), [&](const auto& element) {
            return share_of(element) != std::floor(share_of(element));
        });
        if (fractions && std::abs(sum - 1.0) > rounding) {
            notes.push_back(
                fmt::format("the shares of {} sum to {}, not 1: each counts as its part of that", key, text::short_text(sum)));
        }
    }
}

/// Lengths that are all longer than any at which the drafters were measured.
void add_note_on_lengths(const json::Reader& root, const std::vector<sim::Speculation>& speculations,
                         const std::vector<sweeps::DrafterChoice>& drafters, std::vector<std::string>& notes) {
    int shortest = 0, measured = 0;
    for (const sim::Speculation& speculation : speculations) {
        const auto* chain = std::get_if<sim::ChainShape>(&speculation.shape);
        const int drafts = chain != nullptr ? chain->draft_tokens : 0;
        shortest = drafts == 0 ? shortest : shortest == 0 ? drafts : std::min(shortest, drafts);
    }
    for (const sweeps::DrafterChoice& drafter : drafters) {
        measured = std::max(measured, drafter.acceptance.chain.measured_positions());
    }
    if (root.raw().contains(std::string(workload_keys::draft_tokens)) && measured > 0 && shortest > 2 * measured) {
        notes.push_back(
            fmt::format("at least {} draft tokens are asked for, and none of the drafters was measured with more than "
                        "{}: --draft-tokens 1-{} tries what is known",
                        shortest, measured, measured));
    }
}

}  // namespace

sweeps::RecommendInput read_workload(json::Document& document, Descriptions& descriptions) {
    json::Reader root = document.root();
    sweeps::RecommendInput input;
    input.title = read(root, workload_keys::title);
    input.source = read(root, workload_keys::source);
    sweeps::Workload& workload = input.workload;
    const RequestLengths lengths = read_request_lengths(root);
    sim::TrafficKind kind;
    workload.traffic =
        read_traffic(root.object(workload_keys::traffic), lengths, states_answers(root), kind, workload.most_arrivals);
    const double typical_context = workload.traffic.points.empty() ? 0.0 : sweeps::typical_point(workload.traffic).context;
    Candidates candidates;
    sweeps::VariantLists lists = read_lists(root, descriptions, kind, workload.excluded, candidates);
    // Trees of any shape are for accelerators, which are made for them; engines take the shapes that they are asked for.
    const bool accelerated = std::any_of(lists.platforms.begin(), lists.platforms.end(),
                                         [](const sim::Platform& platform) { return platform.accelerator.has_value(); });
    workload.speculations = read_speculations(root, descriptions, candidates.longest_chain(),
                                              accelerated ? candidates.measured_trees() : std::vector<std::string>())
                                .speculations;
    for (sweeps::DrafterChoice& drafter : lists.drafters) {
        assume_siblings(drafter, workload.speculations);
    }
    check_expert_pool(root, lengths.expert_pool, {&lists.targets.front().model});
    workload.prompt_tokens = lengths.prompts ? mean_length(*lengths.prompts) : typical_context;
    workload.limits = read_limits(root);
    workload.objective = read_objective(root, workload.traffic.kind, workload.most_arrivals);
    check_objective(root, workload.objective, lists.platforms);
    root.finish();
    if (document.problems().empty()) {
        check_shapes(root, workload.speculations, lists.drafters);
        workload.variants = lists.drafters.empty() ? sweeps::plain_variants(lists) : sweeps::all_variants(lists);
        for (sweeps::Variant& variant :
             workload.variants) {  // memory is that of the prompts if the file says how long they are
            lengths.set(variant.setup, lengths.answers ? workload.prompt_tokens : 0.0);
        }
        document.add_problems(plain_problems(workload.variants));
        document.add_problems(problems_of(workload));
    }
    document.throw_if_problems();
    input.target = lists.targets.front();
    input.title = !input.title.empty()     ? input.title
                  : lists.drafters.empty() ? "Decoding of " + input.target.label + " without a drafter"
                                           : "Speculative decoding of " + input.target.label;
    input.counts_devices = counts_devices(root);
    add_notes_on_load(root, input.notes);
    add_note_on_lengths(root, workload.speculations, lists.drafters, input.notes);
    input.doubts = input.notes.size();
    const std::vector<std::string> of_choices = notes_on(candidates, root);
    input.notes.insert(input.notes.end(), of_choices.begin(), of_choices.end());
    if (workload.objective == sweeps::Objective::energy) {
        input.notes.insert(input.notes.begin() + static_cast<std::ptrdiff_t>(input.doubts), energy_note());
    }
    workload.title = input.title;
    input.drafters = lists.drafters;
    input.provenance = descriptions.provenance();
    input.errors = measured_errors_of(descriptions.catalogue());
    return input;
}

}  // namespace treeline::requests
