#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/validate/serving_output.h"

namespace treeline::reports {
namespace {

using ErrorsJson = nlohmann::ordered_json;

/// Three decimals are enough for a quantile.
double rounded(double ratio) { return std::round(1e3 * ratio) / 1e3; }

/// By source and what its cases have in common, and class of batches, in the order of their names.
ErrorsJson residuals_json(const std::vector<numerics::CaseResidual>& residuals) {
    std::map<std::tuple<std::string, std::array<std::string, 3>, bool>, std::map<int, ErrorsJson>> ratios;
    for (const numerics::CaseResidual& residual : residuals) {
        ratios[{residual.source, residual.traits.alike, residual.traits.own_stack}][residual.traits.level].push_back(
            rounded(residual.ratio));
    }
    ErrorsJson sources = ErrorsJson::array();
    for (const auto& [place, levels] : ratios) {
        const auto& [source, alike, own_stack] = place;
        const auto& [engine, device, kind] = alike;
        ErrorsJson batches = ErrorsJson::array();
        for (const auto& [level, values] : levels) {
            batches.push_back({{"level", level}, {"measured_over_predicted", values}});
        }
        ErrorsJson cases = {{"source", source}, {"engine", engine}, {"device", device}, {"kind", kind}};
        if (!own_stack) {
            cases["own_stack"] = false;
        }
        cases["batches"] = batches;
        sources.push_back(cases);
    }
    return sources;
}

}  // namespace

std::string level_text(int level) {
    constexpr std::array<const char*, numerics::level_count> texts = {"1", "2 to 4", "5 to 16", "17 to 64", "65 and more"};
    return texts.at(static_cast<std::size_t>(level));
}

bool is_determined(const validation::FamilyCoverage& coverage) { return coverage.families > 1 && coverage.width > 0.0; }

std::string level_coverage_text(const validation::FamilyCoverage& coverage, int level) {
    const auto found = std::find_if(coverage.levels.begin(), coverage.levels.end(),
                                    [&](const validation::LevelCoverage& each) { return each.level == level; });
    return found == coverage.levels.end() || !is_determined(coverage)
               ? "–"
               : fmt::format("{:.0f} % of {}", 100.0 * found->covered, found->rows);
}

std::string measured_errors_json(const std::vector<validation::ServingStudy>& studies) {
    ErrorsJson json = {
        {"format", "treeline-measured-errors"},
        {"version", 2},
        {"source",
         "measured / predicted of serving runs and of speed-ups (with the accept length given; from 17 requests on "
         "also with one fitted at the smallest batch of a series; of citations alone that no number was fitted to; the steps "
         "without speculation beside those) that others published; rows and their sources: "
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
