#include "treeline/validate.h"

#include <nlohmann/json.hpp>

#include "reports/validate/validation_output.h"
#include "requests/validate/experiment_reader.h"

namespace treeline {

validation::Validation validate_files(const std::vector<std::filesystem::path>& further, const requests::Catalogue& catalogue) {
    return requests::validate_published(further, catalogue);
}

std::string as_table(const validation::Validation& validation, bool all_rows) {
    return reports::validation_table(validation, all_rows);
}
std::string as_json(const validation::Validation& validation) { return reports::validation_json(validation).dump(1) + "\n"; }
std::string as_csv(const validation::Validation& validation) { return reports::validation_csv(validation); }

}  // namespace treeline
