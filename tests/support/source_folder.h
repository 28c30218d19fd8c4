// Where the tests find the catalogues and the examples.
#pragma once

#include <filesystem>

namespace treeline::testing {

const std::filesystem::path& source_folder();

}  // namespace treeline::testing
