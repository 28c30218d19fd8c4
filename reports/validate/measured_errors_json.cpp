#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include <nlohmann/json.hpp>

#include "reports/validate/serving_output.h"

namespace treeline::reports {
namespace {

using ErrorsJson = nlohmann::ordered_json;

/// Three decimals are enough for a quantile.
double rounded(double ratio) { return std::round(1e3 * ratio) / 1e3; }

/// By deployment and class of batches, in the order of their names.
ErrorsJson residuals_json(const std::vector<numerics::CaseResidual>& residuals) {
    std::map<std::string, std::map<int, ErrorsJson>> ratios;
    std::map<std::string, const numerics::CaseResidual*> first;
    for (const numerics::CaseResidual& residual : residuals) {
        ratios[residual.deployment][residual.traits.level].push_back(rounded(residual.ratio));
        first.try_emplace(residual.deployment, &residual);
    }
    ErrorsJson deployments = ErrorsJson::array();
    for (const auto& [deployment, levels] : ratios) {
        const auto& [engine, device, kind] = first.at(deployment)->traits.alike;
        ErrorsJson batches = ErrorsJson::array();
        for (const auto& [level, values] : levels) {
            batches.push_back({{"level", level}, {"measured_over_predicted", values}});
        }
        deployments.push_back(
            {{"deployment", deployment}, {"engine", engine}, {"device", device}, {"kind", kind}, {"batches", batches}});
    }
    return deployments;
}

}  // namespace

std::string level_text(int level) {
    constexpr std::array texts = {"1", "2 to 4", "5 to 16", "17 to 64", "65 and more"};
    return texts.at(static_cast<std::size_t>(level));
}

std::string measured_errors_json(const std::vector<validation::ServingStudy>& studies) {
    ErrorsJson json = {
        {"format", "treeline-measured-errors"},
        {"version", 1},
        {"source",
         "measured / predicted of serving runs and of speed-ups (with the accept length given; from 17 requests on "
         "also with one fitted at the smallest batch of a series) that others published; rows and their sources: "
         "docs/trust.md. Levels of batches: 0 is 1, 1 to 4, 2 to 16, 3 to 64, 4 more"},
        {"made_by",
         "treeline validate --serving CSV --speculation JSON --mode roofline --mode calibrated --errors FILE, with "
         "the rows that docs/trust.md names"}};
    json["modes"] = ErrorsJson::array();
    for (const validation::ServingStudy& study : studies) {
        json["modes"].push_back({{"mode", name_of(study.input.mode)},
                                 {"speed_ups", residuals_json(study.speed_up_residuals)},
                                 {"times_per_token", residuals_json(study.time_residuals)}});
    }
    return json.dump() + "\n";
}

}  // namespace treeline::reports
