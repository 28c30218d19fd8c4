#include "requests/point_reader.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "requests/keys/point_keys.h"

namespace treeline {

PointInput read_point(json::Document& document, Descriptions& descriptions) {
    json::Reader root = document.root();
    PointInput input;
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
    const auto context = read(root, point_keys::context);
    input.context = static_cast<double>(context);
    input.prompt_tokens = read_or<double>(root, point_keys::prompt_tokens, context);
    input.output_tokens = read<double>(root, point_keys::output_tokens);
    input.rollback = read_rollback(root, point_keys::rollback);
    input.decoding = read(root, point_keys::decoding);
    if (auto training = root.optional_object(point_keys::training)) {
        input.training =
            TrainingCost{read(*training, training_keys::decoding_budget), read(*training, training_keys::draft_training)};
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

}  // namespace treeline
