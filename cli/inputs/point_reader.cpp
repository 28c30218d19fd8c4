#include "cli/inputs/point_reader.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace treeline {
namespace {

constexpr int default_draft_tokens = 5;
constexpr int default_context = 2048;

/// Problems of every rollback policy and way of verifying are the input's; those of only some are left to the choice among
/// them.
void check(const PointInput& input, json::Document& document) {
    std::vector<std::string> problems;
    for (const Rollback rollback : policies_to_try(input)) {
        const RoundSetup setup = setup_of(input, rollback);
        std::vector<std::string> found = problems_of(setup);
        if (found.empty()) {
            const CompiledRound round = compile_round(setup);
            for (std::size_t i = input.speculates() ? 1 : 0; i < round.rows.size(); ++i) {
                if (round.rows[i].problem.empty()) {
                    return;
                }
                found = {input.speculations[i].label + ": " + round.rows[i].problem};
            }
        }
        if (problems.empty()) {
            problems = found;
        }
    }
    document.add_problems(problems);
}

}  // namespace

std::vector<Rollback> policies_to_try(const PointInput& input) {
    return input.rollback ? std::vector<Rollback>{*input.rollback} : rollbacks_for(input.target.model, input.platform.stack);
}

RoundSetup setup_of(const PointInput& input, Rollback rollback) {
    RoundSetup setup;
    setup.target = input.target.model;
    setup.precision = input.target.precision;
    setup.prompt_tokens = input.prompt_tokens;
    setup.platform = input.platform;
    setup.drafter = input.drafter ? input.drafter->drafter : Drafter(NgramDrafter{});
    setup.acceptance = input.drafter ? input.drafter->acceptance : DraftAcceptance(Acceptance::geometric(0.0));
    setup.rollback = rollback;
    setup.decoding = input.decoding;
    setup.speculations = input.speculations;
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
    input.speculations = read_speculation(root, descriptions, input.drafter ? default_draft_tokens : 0);
    if (!input.drafter && input.speculates()) {
        root.problem(root.has("shape") ? "shape" : "draft_tokens", "is set, but there is no drafter");
    }
    input.batch = static_cast<double>(root.count_or("batch", 1, 1, largest_batch));
    input.context = static_cast<double>(root.count_or("context", default_context, 0, longest_context));
    const auto context = static_cast<std::int64_t>(input.context);
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
