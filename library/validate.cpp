#include "treeline/validate.h"

#include <nlohmann/json.hpp>

#include "reports/validate/validation_output.h"
#include "requests/validate/experiment_reader.h"

namespace treeline {

Validation validate_files(const std::vector<std::filesystem::path>& further, const Catalogue& catalogue) {
    return validate_published(further, catalogue);
}

std::string as_table(const Validation& validation, bool all_rows) { return validation_table(validation, all_rows); }
std::string as_json(const Validation& validation) { return validation_json(validation).dump(1) + "\n"; }
std::string as_csv(const Validation& validation) { return validation_csv(validation); }

}  // namespace treeline
