#include "requests/point_reader.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace treeline {
namespace {

constexpr int default_draft_tokens = 5;
constexpr int default_context = 2048;

/// A request in its steady state has, in the mean, its prompt and half of its answer in the cache.
void read_lengths(json::Reader& root, PointInput& input) {
    const std::int64_t output = root.count_or("output_tokens", 0, 0, longest_context);
    const bool steady = output > 0 && root.has("prompt_tokens");
    const std::int64_t in_the_mean = steady ? root.count("prompt_tokens", 0, longest_context) + output / 2 : default_context;
    const std::int64_t context = root.count_or("context", in_the_mean, 0, longest_context);
    input.context = static_cast<double>(context);
    input.prompt_tokens = static_cast<double>(root.count_or("prompt_tokens", context, 0, longest_context));
    input.output_tokens = static_cast<double>(output);
    input.prefix_hit = root.number_or("prefix_hit", 0.0, 0.0, 1.0);
}

void read_load(json::Reader& root, PointInput& input) {
    if (root.has("concurrency")) {
        input.load.concurrency = static_cast<double>(root.count("concurrency", 1, largest_batch));
    }
    if (root.has("arrival_rate")) {
        input.load.arrival_rate = root.number("arrival_rate", 1e-9, 1e9);
    }
    const int given = (root.has("batch") ? 1 : 0) + (input.load.concurrency ? 1 : 0) + (input.load.arrival_rate ? 1 : 0);
    if (given > 1) {
        root.problem("",
                     "sets more than one of \"batch\", \"concurrency\" and \"arrival_rate\": the batch follows from the "
                     "other two");
    }
    if (input.load.given() && input.output_tokens <= 0.0) {
        root.problem(input.load.concurrency ? "concurrency" : "arrival_rate",
                     "needs \"output_tokens\" above 0: without the length of answers nothing says how long a request stays");
    }
}

}  // namespace

PointInput read_point(json::Document& document, Descriptions& descriptions) {
    json::Reader root = document.root();
    PointInput input;
    input.title = root.text_or("title", "");
    input.source = root.text_or("source", "");
    input.target = read_target(root.object_or_text("target", "model"), descriptions);
    input.platform = read_platform(root.object_or_text("platform", "device"), descriptions);
    if (root.has("drafter")) {
        input.drafter = read_drafter(root.object("drafter"), descriptions);
    }
    input.speculations = read_speculation(root, descriptions, input.drafter ? default_draft_tokens : 0);
    if (!input.drafter && input.speculates()) {
        root.problem(root.has("shape") ? "shape" : "draft_tokens", "is set, but there is no drafter");
    }
    input.batch = static_cast<double>(root.count_or("batch", 1, 1, largest_batch));
    read_lengths(root, input);
    read_load(root, input);
    input.rollback = read_rollback(root, "rollback");
    input.decoding = read_decoding(root);
    if (auto training = root.optional_object("training")) {
        input.training =
            TrainingCost{training->number("decoding_budget", 1e-9, 1e15), training->number("draft_training", 0.0, 1e15)};
        training->finish();
        if (!input.drafter) {
            root.problem("training", "is set, but there is no drafter to train");
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

}  // namespace treeline
