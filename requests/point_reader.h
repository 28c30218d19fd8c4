// One design point, as `treeline estimate` takes it: from a file, from flags, or from a file with flags that override its keys.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "requests/setup_reader.h"
#include "requests/speculation_reader.h"
#include "sweeps/estimate.h"

namespace treeline {

/// Reads {"target", "platform", "drafter"?, "draft_tokens"? or "shape"?, "verification"?, "batch"? or "concurrency"? or
/// "arrival_rate"?, "context"?, "prompt_tokens"?, "output_tokens"?, "prefix_hit"?, "rollback"?, "decoding"?, "training"?:
/// {"decoding_budget", "draft_training"} in one unit of money, "title"?, "source"?}. Throws InputError with every problem,
/// those of the setup included.
PointInput read_point(json::Document& document, Descriptions& descriptions);

/// A flag of `treeline estimate` and the key of the point that it sets.
struct PointFlags {
    std::string model, precision, device, design, gpus, tensor_parallel, expert_parallel, attention_data_parallel,
        pipeline_parallel, draft_tensor_parallel, interconnect, stack, mode;
    std::string drafter, acceptance, accept_length;
    std::string draft_tokens, shape, verification, batch, concurrency, arrival_rate, context, prompt, output_tokens;
    std::string prefix_hit, rollback, decoding;
    std::string decoding_budget, draft_training;
};

/// `point` with the keys that flags override. Values are passed on unchanged; reading the point judges them.
nlohmann::ordered_json with_flags(nlohmann::ordered_json point, const PointFlags& flags);

/// Sentences of a document named "flags" with the flag in place of the key: "flags: platform.device: ..." → "--device: ...".
std::vector<std::string> in_terms_of_flags(std::vector<std::string> problems);

}  // namespace treeline
