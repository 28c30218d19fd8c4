// Where the tests find the catalogues, the examples and, beside them, ../shared.
#pragma once

#include <filesystem>

namespace treeline::testing {

const std::filesystem::path& source_folder();

}  // namespace treeline::testing
