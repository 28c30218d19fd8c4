#include "treeline/estimate.h"

#include <nlohmann/json.hpp>

#include "engines/priced_engine.h"
#include "reports/estimate/estimate_output.h"
#include "requests/point_file.h"

namespace treeline {
namespace {

EstimateAnswer estimated(requests::PointSource source) {
    return {engines::estimate_point(std::move(source.input)),
            std::make_shared<const nlohmann::ordered_json>(std::move(source.raw))};
}

}  // namespace

EstimateAnswer estimate_file(const std::filesystem::path& file, const requests::Catalogue& catalogue) {
    return estimated(requests::read_point(file.string(), requests::FlagTexts{}, catalogue));
}

EstimateAnswer estimate_json(std::string_view text, const requests::Catalogue& catalogue, const std::filesystem::path& folder) {
    return estimated(requests::read_point_text(text, "point", folder, catalogue));
}

EstimateAnswer estimate(sweeps::PointInput input) {
    if (std::vector<std::string> problems = problems_of(input); !problems.empty()) {
        throw text::InputError(std::move(problems));
    }
    return {engines::estimate_point(std::move(input)), nullptr};
}

std::string as_table(const EstimateAnswer& answer, const std::optional<std::string>& explain) {
    return reports::estimate_table(answer, explain);
}

std::string as_json(const EstimateAnswer& answer) {
    const nlohmann::ordered_json point = answer.point_json ? *answer.point_json : nlohmann::ordered_json();
    return reports::estimate_json(answer, point).dump(2) + "\n";
}

std::string as_csv(const EstimateAnswer& answer) { return reports::estimate_csv(answer); }

}  // namespace treeline
