#include "cli/version_text.h"

namespace treeline::cli {

std::string version_text() {
    return "treeline " TREELINE_VERSION "\nbuilt with " TREELINE_BUILT_WITH "\ncatalogue of " TREELINE_CATALOGUE_DATE;
}

}  // namespace treeline::cli
