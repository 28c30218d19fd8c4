// What `treeline study fit` finds: laws of measured times.
#pragma once

#include <string>
#include <vector>

#include "calibrate/law_selection.h"
#include "calibrate/timings/timing_reader.h"

namespace treeline::calibrate {

/// The laws fitted to one series.
struct SeriesFit {
    std::string name;
    LawSelection selection;
    std::size_t shown = 0;  ///< the candidate that is reported: the selected one, or the requested one

    [[nodiscard]] const LawCandidate& reported() const { return selection.candidates[shown]; }
};

struct FitAnswer {
    TimingFile file;
    std::vector<SeriesFit> series;
    std::vector<double> at;  ///< token counts for which the user wants the time

    [[nodiscard]] const std::vector<Timing>& timings_of(std::size_t i) const { return file.series[i].timings; }
};

}  // namespace treeline::calibrate
