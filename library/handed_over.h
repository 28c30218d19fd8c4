// A file that a user hands to a page: told apart, and kept where questions may name it.
#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace treeline {

/// What treeline/questions.h says of the question "file". Throws InputError: neither a description nor a measurement that is
/// known, or a name that is no file's.
nlohmann::ordered_json handed_over(const std::string& name, const std::string& text, const std::filesystem::path& folder);

}  // namespace treeline
