// What a sweep is asked and what it found.
#pragma once

#include <string>
#include <vector>

#include "sweeps/sweep.h"
#include "text/provenance.h"

namespace treeline::sweeps {

struct SweepInput {
    std::string title, source;
    DesignSpace space;
    std::vector<text::Provenance> provenance;
};

/// A sweep that has run, and what of it is shown.
struct SweepAnswer {
    const SweepInput& input;
    const SweepOptions& options;  ///< what the lists are of
    const SweepSummary& summary;
    bool lists_best = true;
    bool lists_pareto = false;
};

/// The shape of a point.
inline const sim::Speculation& speculation_of(const SweepInput& input, const SweepPoint& point) {
    return input.space.speculations[static_cast<std::size_t>(point.point.speculation)];
}

/// The devices, listed once each, whose description lacks what a column needs: "a10g".
std::vector<std::string> devices_without(const SweepColumn& column, const SweepInput& input);

}  // namespace treeline::sweeps
