// Recommendations put together by hand, so that a test chooses drafter, shapes and schedule.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engines/engine_flags.h"
#include "setups.h"

namespace treeline::testing {

struct NamedDrafter {
    std::string name;
    sim::Drafter drafter;
};

inline std::vector<NamedDrafter> every_drafter() {
    return {{"draft model", sim::IndependentDrafter{}},
            {"eagle", sim::OneLayerDrafter{0, 2, sim::OneLayerKind::eagle}},
            {"eagle3", sim::OneLayerDrafter::published_eagle3()},
            {"mtp", sim::OneLayerDrafter{0, 2, sim::OneLayerKind::mtp}},
            {"one-layer", sim::OneLayerDrafter{}},
            {"medusa", sim::MedusaDrafter{}},
            {"ngram", sim::NgramDrafter{}},
            {"sparse-self", sim::SelfDrafter{}},
            {"spire", sim::SpireDrafter{}}};
}

/// From batch and draft tokens: each range ends where the next one starts, the last at `last`.
inline sweeps::Schedule schedule_of(const std::vector<std::pair<int, int>>& starts, int last) {
    sweeps::Schedule schedule;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const int to = i + 1 < starts.size() ? starts[i + 1].first - 1 : last;
        schedule.entries.push_back({starts[i].first, to, starts[i].second, starts[i].second, 1.5, 1.2});
    }
    schedule.largest_batch = last;
    return schedule;
}

/// Recommends a chain of `length` (of up to eight) with this schedule for an 8B model on an H100.
inline sweeps::Recommendation recommendation_of(const sim::Drafter& drafter, int length, const sweeps::Schedule& chains) {
    sweeps::Recommendation found;
    sweeps::Variant variant;
    static const sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    variant.setup = setup;
    variant.setup.drafter = drafter;
    variant.labels.drafter = "drafter";
    found.variants = {variant};
    found.speculations = sim::chains_up_to(8);
    sweeps::Candidate best;
    best.speculation = length;
    best.draft_tokens = length;
    found.candidates = {best};
    found.speculate = true;
    found.schedule = chains;
    found.schedule.gain = 1.5;  // over 1 of the best length alone: engines are told of it
    return found;
}

inline engines::EngineFlags flags_for(const sweeps::Recommendation& recommendation, const std::string& engine) {
    return engines::flags_for(recommendation, engines::find_engine(engine));
}

}  // namespace treeline::testing
