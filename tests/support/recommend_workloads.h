// Workloads of recommendations: Llama-3-8B on one H100, with drafters that differ in cost and acceptance.
#pragma once

#include <string>

#include "origins.h"
#include "setups.h"
#include "sweeps/recommend.h"

namespace treeline::testing {

inline sweeps::Variant variant(const std::string& name, const sim::RoundSetup& setup,
                               const std::string& rollback = "truncate") {
    const sweeps::VariantLabels labels = {setup.target.name,
                                          "bf16",
                                          setup.platform.device.name,
                                          setup.platform.stack.name,
                                          "roofline",
                                          name,
                                          rollback,
                                          static_cast<int>(setup.platform.ranks)};
    return {labels, setup, origin_of(labels)};
}

inline sweeps::Workload llama_workload() {
    const sim::Platform where = platform("h100-sxm", "cuda-graph");
    sim::RoundSetup ngram = pair_setup("llama-3-8b", "llama-3.2-1b", where);
    ngram.drafter = sim::NgramDrafter{};
    ngram.acceptance = sim::Acceptance::geometric(0.3);
    sim::RoundSetup one_layer = ngram;
    one_layer.drafter = sim::OneLayerDrafter{};
    one_layer.acceptance = sim::Acceptance::geometric(0.7);
    sweeps::Workload workload;
    workload.variants = {variant("llama-3.2-1b", pair_setup("llama-3-8b", "llama-3.2-1b", where)), variant("ngram", ngram),
                         variant("one-layer", one_layer)};
    workload.speculations = sim::chains_up_to(8);
    for (sweeps::Variant& each : workload.variants) {
        each.setup.speculations = workload.speculations;
    }
    workload.traffic = sweeps::traffic_from({{1, 0.5}, {16, 0.5}}, {{1024, 1.0}, {8192, 1.0}}, sweeps::ShareOf::tokens);
    workload.prompt_tokens = 1024;
    return workload;
}

}  // namespace treeline::testing
