#include "requests/point_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "requests/assumed_siblings.h"
#include "requests/keys/point_keys.h"
#include "requests/keys/setup_keys.h"
#include "requests/lengths_reader.h"
#include "requests/load_reader.h"
#include "requests/loading.h"
#include "requests/measured_errors_reader.h"

namespace treeline::requests {
namespace {

/// A request in its steady state has, in the mean, its prompt and half of its answer in the cache.
void read_lengths(json::Reader& root, sweeps::PointInput& input) {
    const RequestLengths lengths = read_request_lengths(root);
    const std::int64_t in_the_mean = static_cast<std::int64_t>(lengths.context().value_or(point_keys::usual_context));
    input.context = read_or<double>(root, point_keys::context, in_the_mean);
    input.prompt_tokens = lengths.prompts ? mean_length(*lengths.prompts) : input.context;
    input.prompt_lengths = only_if_several(lengths.prompts);
    input.output_tokens = lengths.output_tokens();
    input.prefix_hit = lengths.prefix_hit;
    input.shared_prefix = lengths.shared_prefix;
    input.expert_pool = lengths.expert_pool;
}

void read_load(json::Reader& root, sweeps::PointInput& input) {
    const sweeps::LoadKind kind = load_kind_of(root, states_answers(root));
    input.batch = read<double>(root, point_keys::batch);
    const double concurrency = read_or<double>(root, point_keys::concurrency, 1);
    double arrival_rate = 1.0;
    if (asks_for_most(root)) {
        root.problem(point_keys::arrival_rate, "\"most\" is a question for treeline recommend, which takes the limits, too");
    } else {
        arrival_rate = read_or(root, point_keys::arrival_rate, arrival_rate);
    }
    input.load = {kind, kind == sweeps::LoadKind::batch         ? input.batch
                        : kind == sweeps::LoadKind::concurrency ? concurrency
                                                                : arrival_rate};
}

/// The drafter, with its acceptance for the point's requests.
void read_drafting(json::Reader& root, Descriptions& descriptions, sweeps::PointInput& input) {
    sim::TrafficKind kind;
    if (std::optional<json::Reader> traffic = root.optional_object(point_keys::traffic)) {
        kind = read_traffic_kind(*traffic);
        traffic->finish();
    }
    if (root.has(point_keys::context) || input.output_tokens > 0.0) {
        kind.context = input.context;
    }
    if (input.load.kind != sweeps::LoadKind::arrival_rate) {
        kind.batch = input.load.value;
    }
    if (root.has(point_keys::drafter) && root.raw().at(std::string(point_keys::drafter)) != no_drafter_word) {
        input.drafter =
            read_drafter(root.object_or_text(point_keys::drafter, drafter_keys::published), descriptions,
                         {&input.target.model, kind, root.has(point_keys::draft_tokens) || root.has(point_keys::shape)});
    } else if (root.has(point_keys::traffic) && root.raw().at(std::string(point_keys::traffic)).is_object()) {
        for (const auto& [key, value] : root.raw().at(std::string(point_keys::traffic)).items()) {
            root.problem(fmt::format("{}.{}", point_keys::traffic.key, key),
                         "is of requests that a drafter is measured on, but there is no drafter");
        }
    }
}

/// Where nothing says how far to draft: the usual length, or as far as the drafter reaches if that is less.
int usual_draft_tokens(const sweeps::DrafterChoice& choice) {
    int most = point_keys::usual_draft_tokens;
    if (choice.acceptance.most_draft_tokens > 0) {
        most = std::min(most, choice.acceptance.most_draft_tokens);
    }
    if (const auto* heads = std::get_if<sim::MedusaDrafter>(&choice.drafter)) {
        most = std::min(most, static_cast<int>(heads->heads));
    }
    if (const auto* block = std::get_if<sim::ParallelDrafter>(&choice.drafter)) {
        most = std::min(most, static_cast<int>(block->block) - (block->kind == sim::ParallelKind::dflash ? 1 : 0));
    }
    return most;
}

}  // namespace

sweeps::PointInput read_point(json::Document& document, Descriptions& descriptions) {
    json::Reader root = document.root();
    sweeps::PointInput input;
    input.title = read(root, point_keys::title);
    input.source = read(root, point_keys::source);
    input.target = read_target(root.object_or_text(point_keys::target, "model"), descriptions);
    input.platform = read_platform(root.object_or_text(point_keys::platform, "device"), descriptions);
    load_as_gguf(input.target, std::span(&input.platform, 1));
    check_loading(root, point_keys::target.key, input.target, input.platform);
    read_lengths(root, input);
    check_expert_pool(root, input.expert_pool, {&input.target.model});
    read_load(root, input);
    read_drafting(root, descriptions, input);
    input.speculations = read_speculation(root, descriptions, input.drafter ? usual_draft_tokens(*input.drafter) : 0);
    if (input.drafter) {
        assume_siblings(*input.drafter, input.speculations);
    }
    if (!input.drafter && input.speculates()) {
        root.problem(root.has(point_keys::shape) ? point_keys::shape.key : point_keys::draft_tokens.key,
                     "is set, but there is no drafter");
    }
    input.rollback = read_rollback(root, point_keys::rollback);
    input.decoding = read(root, point_keys::decoding);
    if (auto training = root.optional_object(point_keys::training)) {
        input.training =
            sim::TrainingCost{read(*training, training_keys::decoding_budget), read(*training, training_keys::draft_training)};
        training->finish();
        if (!input.drafter) {
            root.problem(point_keys::training, "is set, but there is no drafter to train");
        }
    }
    root.finish();
    if (document.problems().empty()) {
        document.add_problems(problems_of(input));
    }
    document.throw_if_problems();
    input.provenance = descriptions.provenance();
    input.errors = measured_errors_of(descriptions.catalogue());
    return input;
}

}  // namespace treeline::requests
