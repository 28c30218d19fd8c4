#include "requests/point_reader.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "requests/keys/point_keys.h"

namespace treeline::requests {
namespace {

/// A request in its steady state has, in the mean, its prompt and half of its answer in the cache.
void read_lengths(json::Reader& root, sweeps::PointInput& input) {
    const std::int64_t output = read(root, point_keys::output_tokens);
    const bool steady = output > 0 && root.has(point_keys::prompt_tokens);
    const std::int64_t in_the_mean =
        steady ? read_or(root, point_keys::prompt_tokens, 0) + output / 2 : point_keys::usual_context;
    const std::int64_t context = read_or(root, point_keys::context, in_the_mean);
    input.context = static_cast<double>(context);
    input.prompt_tokens = read_or<double>(root, point_keys::prompt_tokens, context);
    input.output_tokens = static_cast<double>(output);
    input.prefix_hit = read(root, point_keys::prefix_hit);
}

void read_load(json::Reader& root, sweeps::PointInput& input) {
    if (root.has(point_keys::concurrency)) {
        input.load.concurrency = read_or<double>(root, point_keys::concurrency, 1);
    }
    if (root.has(point_keys::arrival_rate)) {
        input.load.arrival_rate = read(root, point_keys::arrival_rate);
    }
    const int given =
        (root.has(point_keys::batch) ? 1 : 0) + (input.load.concurrency ? 1 : 0) + (input.load.arrival_rate ? 1 : 0);
    if (given > 1) {
        root.problem("",
                     "sets more than one of \"batch\", \"concurrency\" and \"arrival_rate\": the batch follows from the "
                     "other two");
    }
    if (input.load.given() && input.output_tokens <= 0.0) {
        root.problem(input.load.concurrency ? point_keys::concurrency.key : point_keys::arrival_rate.key,
                     "needs \"output_tokens\" above 0: without the length of answers nothing says how long a request stays");
    }
}

}  // namespace

sweeps::PointInput read_point(json::Document& document, Descriptions& descriptions) {
    json::Reader root = document.root();
    sweeps::PointInput input;
    input.title = read(root, point_keys::title);
    input.source = read(root, point_keys::source);
    input.target = read_target(root.object_or_text(point_keys::target, "model"), descriptions);
    input.platform = read_platform(root.object_or_text(point_keys::platform, "device"), descriptions);
    if (root.has(point_keys::drafter)) {
        input.drafter = read_drafter(root.object(point_keys::drafter), descriptions);
    }
    input.speculations = read_speculation(root, descriptions, input.drafter ? point_keys::usual_draft_tokens : 0);
    if (!input.drafter && input.speculates()) {
        root.problem(root.has(point_keys::shape) ? point_keys::shape.key : point_keys::draft_tokens.key,
                     "is set, but there is no drafter");
    }
    input.batch = read<double>(root, point_keys::batch);
    read_lengths(root, input);
    read_load(root, input);
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
    return input;
}

}  // namespace treeline::requests
