#include "treeline/estimate.h"

#include <nlohmann/json.hpp>

#include "reports/estimate/estimate_output.h"
#include "requests/point_file.h"

namespace treeline {
namespace {

EstimateAnswer estimated(PointSource source) {
    return {estimate_point(std::move(source.input)), std::make_shared<const nlohmann::ordered_json>(std::move(source.raw))};
}

}  // namespace

EstimateAnswer estimate_file(const std::filesystem::path& file, const Catalogue& catalogue) {
    return estimated(read_point(file.string(), FlagTexts{}, catalogue));
}

EstimateAnswer estimate_json(std::string_view text, const Catalogue& catalogue, const std::filesystem::path& folder) {
    return estimated(read_point_text(text, "point", folder, catalogue));
}

EstimateAnswer estimate(PointInput input) {
    if (std::vector<std::string> problems = problems_of(input); !problems.empty()) {
        throw InputError(std::move(problems));
    }
    return {estimate_point(std::move(input)), nullptr};
}

std::string as_table(const EstimateAnswer& answer) { return estimate_table(answer); }

std::string as_json(const EstimateAnswer& answer) {
    const nlohmann::ordered_json point = answer.point_json ? *answer.point_json : nlohmann::ordered_json();
    return estimate_json(answer, point).dump(2) + "\n";
}

std::string as_csv(const EstimateAnswer& answer) { return estimate_csv(answer); }

}  // namespace treeline
