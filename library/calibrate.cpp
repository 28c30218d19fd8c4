#include "treeline/calibrate.h"

#include <nlohmann/json.hpp>

#include "reports/calibrate/calibration_output.h"
#include "reports/calibrate/serving_output.h"

namespace treeline {

std::string as_table(const calibrate::CalibrationAnswer& answer) { return reports::calibration_table(answer); }
std::string as_json(const calibrate::CalibrationAnswer& answer) { return reports::calibration_json(answer); }
std::string as_csv(const calibrate::CalibrationAnswer& answer) { return reports::calibration_csv(answer); }

std::string as_table(const calibrate::ServingFit& fit) { return reports::serving_fit_table(fit); }
std::string as_json(const calibrate::ServingFit& fit) { return reports::serving_fit_json(fit).dump(2) + "\n"; }
std::string as_csv(const calibrate::ServingFit& fit) { return reports::serving_fit_csv(fit); }

std::string fitted_stack_json(const calibrate::ServingFit& fit, const std::string& stack,
                              const requests::Catalogue& catalogue) {
    json::Document base = hardware::stack_document(catalogue.hardware, stack);
    return reports::stack_description(fit, base.root().raw()).dump(2) + "\n";
}

}  // namespace treeline
