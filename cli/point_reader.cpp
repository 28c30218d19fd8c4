#include "cli/point_reader.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace treeline {
namespace {

constexpr int default_draft_tokens = 5;
constexpr int default_context = 2048;

void check(const PointInput& input, json::Document& document) {
    const Rollback rollback = input.rollback.value_or(rollbacks_for(input.target.model).front());
    const RoundSetup setup = setup_of(input, rollback);
    document.add_problems(problems_of(setup));
    if (!document.problems().empty()) {
        return;
    }
    const int most = plan(setup.drafter, setup.target, setup.precision).max_draft_tokens;
    if (input.point.draft_tokens > most) {
        document.add_problems({fmt::format("draft_tokens is {}, but {} drafts at most {}", input.point.draft_tokens,
                                           input.drafter ? input.drafter->label : "this drafter", most)});
    }
}

}  // namespace

RoundSetup setup_of(const PointInput& input, Rollback rollback) {
    RoundSetup setup;
    setup.target = input.target.model;
    setup.precision = input.target.precision;
    setup.platform = input.platform;
    setup.drafter = input.drafter ? input.drafter->drafter : Drafter(NgramDrafter{});
    setup.acceptance = input.drafter ? input.drafter->acceptance : Acceptance::geometric(0.0);
    setup.rollback = rollback;
    setup.decoding = input.decoding;
    setup.max_draft_tokens = input.point.draft_tokens;
    return setup;
}

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
    const int draft_tokens = input.drafter ? default_draft_tokens : 0;
    input.point.draft_tokens = static_cast<int>(root.count_or("draft_tokens", draft_tokens, 0, most_draft_tokens));
    if (!input.drafter && input.point.draft_tokens > 0) {
        root.problem("draft_tokens", "is set, but there is no drafter");
    }
    input.point.batch = static_cast<double>(root.count_or("batch", 1, 1, largest_batch));
    input.point.context = static_cast<double>(root.count_or("context", default_context, 0, longest_context));
    const auto context = static_cast<std::int64_t>(input.point.context);
    input.prompt_tokens = static_cast<double>(root.count_or("prompt_tokens", context, 0, longest_context));
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
        check(input, document);
    }
    document.throw_if_problems();
    input.provenance = descriptions.provenance();
    return input;
}

}  // namespace treeline
