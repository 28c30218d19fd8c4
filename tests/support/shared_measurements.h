// Measurements of others that lie beside the checkout, in ../shared, where somebody put them. A test that needs them has the
// tag [shared]: ctest runs such cases of a file as an entry of their own, which counts as skipped where the measurements are
// missing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace treeline::testing {

/// `name` in ../shared. Nothing where it is missing: it then says so, and the program that asked is to end with
/// `skipped_exit_code` unless something failed.
std::optional<std::filesystem::path> shared_measurements(const std::string& name);

/// Whether something asked for was missing.
bool missed_measurements();

/// What ctest reads as "skipped".
inline constexpr int skipped_exit_code = 77;

}  // namespace treeline::testing
