#include "reports/recommend/explored.h"

#include <nlohmann/json.hpp>

#include "reports/recommend/page_names.h"
#include "reports/recommend/recommendation_output.h"

namespace treeline::reports {

using Json = nlohmann::ordered_json;

Json positions_json(const sim::Acceptance& chain) {
    constexpr int tried = 8;
    const int shown = chain.measured_positions() > 0 ? chain.measured_positions() : tried;
    Json positions = Json::array();
    for (int i = 1; i <= shown; ++i) {
        positions.push_back(chain.position(i));
    }
    return positions;
}

Json explored_json(const sweeps::Answer& answer) {
    Json drafters = Json::array();
    for (const sweeps::DrafterChoice& drafter : answer.input.drafters) {
        drafters.push_back({{"label", drafter.label},
                            {"text", drafter.acceptance_text},
                            {"source", drafter.acceptance_source},
                            {"per_position", positions_json(drafter.acceptance.chain)}});
    }
    Json page = report_page_data(with_names(answer), {}, PageStudies::none);
    for (const char* of_report : {"roofline", "sections", "generator"}) {  // which the live page has no place for
        page.erase(of_report);
    }
    return {{"page", std::move(page)}, {"drafters", drafters}};
}

}  // namespace treeline::reports
