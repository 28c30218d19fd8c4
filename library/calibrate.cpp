#include "treeline/calibrate.h"

#include <nlohmann/json.hpp>

#include "reports/calibrate/calibration_output.h"
#include "reports/calibrate/serving_output.h"

namespace treeline {

std::string as_table(const CalibrationAnswer& answer) { return calibration_table(answer); }
std::string as_json(const CalibrationAnswer& answer) { return calibration_json(answer); }
std::string as_csv(const CalibrationAnswer& answer) { return calibration_csv(answer); }

std::string as_table(const ServingFit& fit) { return serving_fit_table(fit); }
std::string as_json(const ServingFit& fit) { return serving_fit_json(fit).dump(2) + "\n"; }
std::string as_csv(const ServingFit& fit) { return serving_fit_csv(fit); }

std::string fitted_stack_json(const ServingFit& fit, const std::string& stack, const Catalogue& catalogue) {
    json::Document base = json::Document::load(stack_file(catalogue.hardware, stack));
    return stack_description(fit, base.root().raw()).dump(2) + "\n";
}

}  // namespace treeline
