// Flags of `treeline recommend` and `treeline report`, which replace or override a workload file.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace treeline {

/// A --drafter and what follows it on the command line. Without a name it refers to the file's only drafter.
struct DrafterFlags {
    std::string drafter, acceptance, accept_length;
};

struct WorkloadFlags {
    std::string title, model, precision;
    std::vector<std::string> devices;
    std::string design, gpus, tensor_parallel, expert_parallel, attention_data_parallel, pipeline_parallel,
        draft_tensor_parallel, interconnect, stack, mode;
    std::vector<DrafterFlags> drafters;
    std::string draft_tokens;
    std::vector<std::string> shapes;
    std::string verification, rollback, decoding;
    std::string batch, context, shares_of, prompt, output_tokens, prefix_hit;
    std::string max_tpot_ms, max_ttft_ms, max_memory_gb, minimum_gain, objective;
};

/// `workload` with the keys that flags override; a list of flags replaces the whole list. A --device without braces, a --stack
/// and so on are combined into platforms; flags of the platform without a --device change every platform. A --drafter that
/// names one of the workload's (its name, model or kind) keeps that one's other keys. In an empty workload the keys without a
/// flag get the defaults of the help text. Throws InputError.
nlohmann::ordered_json with_flags(nlohmann::ordered_json workload, const WorkloadFlags& flags);

/// "flags: platforms[0].device: ..." → "--device: ...".
std::vector<std::string> in_terms_of_workload_flags(std::vector<std::string> problems);

}  // namespace treeline
