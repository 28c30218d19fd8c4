// One design point, as `treeline estimate` takes it: from a file, from flags, or from a file whose keys flags replace.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/inputs/setup_reader.h"
#include "cli/inputs/speculation_reader.h"
#include "sim/critical.h"

namespace treeline {

struct PointInput {
    std::string title, source;
    TargetChoice target;
    Platform platform;
    std::optional<DrafterChoice> drafter;  ///< nothing: plain decoding
    std::optional<Rollback> rollback;      ///< nothing: the best one that fits
    Decoding decoding = Decoding::greedy;
    std::vector<Speculation> speculations;  ///< plain decoding, and the shape in every way of verifying that may be used
    double batch = 1.0;
    double context = 0.0;
    double prompt_tokens = 0.0;
    std::optional<TrainingCost> training;  ///< asked for: does training the drafter pay?
    std::vector<Provenance> provenance;

    [[nodiscard]] bool speculates() const { return speculations.size() > 1; }
};

/// The rollback policies that the input leaves open, or its own.
std::vector<Rollback> policies_to_try(const PointInput& input);

/// The setup that this input describes under one rollback policy. Without a drafter, one that never drafts.
RoundSetup setup_of(const PointInput& input, Rollback rollback);

/// Reads {"target", "platform", "drafter"?, "draft_tokens"? or "shape"?, "verification"?, "batch"?, "context"?,
/// "prompt_tokens"?, "rollback"?, "decoding"?, "training"?: {"decoding_budget", "draft_training"} in one unit of money,
/// "title"?, "source"?}. Throws InputError with every problem, those of the setup included.
PointInput read_point(json::Document& document, Descriptions& descriptions);

/// A flag of `treeline estimate` and the key of the point that it sets.
struct PointFlags {
    std::string model, precision, device, design, tensor_parallel, interconnect, stack, mode;
    std::string drafter, acceptance, accept_length;
    std::string draft_tokens, shape, verification, batch, context, prompt, rollback, decoding;
    std::string decoding_budget, draft_training;
};

/// `point` with the keys that flags give replaced. Values are passed on as they stand; reading the point judges them.
nlohmann::ordered_json with_flags(nlohmann::ordered_json point, const PointFlags& flags);

/// Sentences of a document named "flags" with the flag in place of the key: "flags: platform.device: ..." → "--device: ...".
std::vector<std::string> in_terms_of_flags(std::vector<std::string> problems);

}  // namespace treeline
