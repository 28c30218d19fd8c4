// What an input names, with the labels that answers call it by.
#pragma once

#include <string>
#include <string_view>

#include "sim/round.h"

namespace treeline::sweeps {

/// The label of a precision that nobody stated.
inline constexpr std::string_view as_published = "as published";

/// A target model in one precision.
struct TargetChoice {
    sim::Model model;
    sim::Precision precision;
    std::string label;            ///< "llama-3-70b", or with the precision if one is requested: "llama-3-70b (fp8)"
    std::string precision_label;  ///< "as published", "fp8", or by parts
};

/// A drafter that may be used, and how many of its drafts are accepted.
struct DrafterChoice {
    std::string label;  ///< its "name", or "llama-3-8b", "eagle", "ngram", …
    sim::Drafter drafter;
    sim::DraftAcceptance acceptance;
    std::string acceptance_text;    ///< "0.80 per token", "3.20 tokens per round with 4 drafts", …
    std::string acceptance_source;  ///< as the file says; empty where it does not
    std::string checkpoint = {};    ///< where it is published, for flags of engines; empty where that is not known
    bool named = true;              ///< the input names it; else it is tried because the catalogue knows it
    bool untrained = false;         ///< a head that nobody is known to have trained for this target: priced as those of others
    std::vector<std::string> acceptance_remarks = {};  ///< on how far it is measured for this traffic; its source ends in them
};

/// The stack of a platform that names none: "cpu" on CPUs, else "cuda-graph".
std::string default_stack(const sim::Device& device);

/// The cost mode of a platform that names none: calibrated where the device's kernels were measured and the stack was fitted
/// with their laws, else roofline.
sim::CostMode default_mode(const sim::Platform& platform);

/// "vllm-0.25", with what the user picked in place of the engine's own: "sglang-0.5.6 with b12x and mixed prefill".
std::string label_of(const sim::Stack& stack);
/// "8 x h100-sxm (nvlink), cuda-graph" or "h100-sxm, HOI model"; a mode that is not the default is named.
std::string label_of(const sim::Platform& platform);

}  // namespace treeline::sweeps
