// From a recommendation to the data of its HTML report (reports/page/README.md lists the members).
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engines/engine_flags.h"
#include "json/reader.h"
#include "reports/figure.h"
#include "sweeps/recommend.h"
#include "sweeps/trust.h"
#include "sweeps/uncertainty.h"

namespace treeline::reports {

/// What the report repeats about a drafter's acceptance; one entry per variant of the workload, in order.
struct AcceptanceNote {
    std::string text;    ///< "0.80 per token"
    std::string source;  ///< as the input says; empty if it does not
};

struct ReportInputs {
    std::string sentence;  ///< the answer, as `recommend` prints it
    const sweeps::Workload& workload;
    const sweeps::Recommendation& recommendation;
    const std::vector<text::Provenance>& provenance;   ///< of every description used
    const std::vector<AcceptanceNote>& acceptance;     ///< by variant of the workload
    std::vector<FigureSection> studies;                ///< further sections of charts
    std::vector<std::string> notes;                    ///< what descriptions leave out, shown at the end
    std::vector<engines::EngineFlags> others = {};     ///< flags beside those of the engine that was priced
    const sweeps::Trust* trust = nullptr;              ///< null: intervals come from the ranges of inputs alone
    const sweeps::MeasuredTime* plain_time = nullptr;  ///< of plain decoding, where that is recommended; null: unknown
};

/// Data for render_html.
nlohmann::ordered_json report_data(const ReportInputs& inputs);

}  // namespace treeline::reports
