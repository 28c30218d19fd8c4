#include "source_folder.h"

namespace treeline::testing {

const std::filesystem::path& source_folder() {
    static const std::filesystem::path folder = TREELINE_SOURCE_DIR;
    return folder;
}

}  // namespace treeline::testing
