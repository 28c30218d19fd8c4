// Files beyond flags that a recommendation can be written as: for engines that plan for themselves, for other planners, and
// commands that check what was promised.
#pragma once

#include <string>
#include <vector>

#include "sim/enum_names.h"
#include "sweeps/recommend.h"

namespace treeline::engines {

enum class ExportKind {
    vllm_batch_context,  ///< draft lengths by batch and context
    sglang_sps,          ///< steps per second by tokens of a batch
    sglang_sps_model,    ///< the same as bias, requests and tokens
    aisimulate,          ///< engine.speculation of Dynamo's AISimulate
    check_vllm,
    check_guidellm,
    check_aiperf,
};
constexpr auto names_in(ExportKind) {
    using enum ExportKind;
    return enum_names<ExportKind>({{vllm_batch_context, "vllm-batch-context"},
                                   {sglang_sps, "sglang-sps"},
                                   {sglang_sps_model, "sglang-sps-model"},
                                   {aisimulate, "aisimulate"},
                                   {check_vllm, "check-vllm"},
                                   {check_guidellm, "check-guidellm"},
                                   {check_aiperf, "check-aiperf"}});
}

struct Exported {
    std::string text;    ///< of the file
    std::string remark;  ///< which versions read it, and what it leaves out; one sentence
};

/// The recommendation, which must speculate with chains on a GPU, in this form. Throws InputError where it cannot be written
/// so, and where the form holds times for one engine and another one was priced.
Exported export_recommendation(ExportKind kind, const sweeps::Recommendation& recommendation, const sweeps::Workload& workload);

}  // namespace treeline::engines
