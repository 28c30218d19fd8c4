#include "requests/point_reader.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace treeline {
namespace {

constexpr int default_draft_tokens = 5;
constexpr int default_context = 2048;

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
    input.context = static_cast<double>(root.count_or("context", default_context, 0, longest_context));
    const auto context = static_cast<std::int64_t>(input.context);
    input.prompt_tokens = static_cast<double>(root.count_or("prompt_tokens", context, 0, longest_context));
    input.output_tokens = static_cast<double>(root.count_or("output_tokens", 0, 0, longest_context));
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
