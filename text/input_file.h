#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace treeline::text {

inline constexpr std::uintmax_t largest_table = 64u << 20;  ///< bytes of a file of measurements

/// In place of a file: standard input.
inline constexpr const char* standard_input_word = "-";

/// All of a file, of standard input (`-`), or of a pipe, which gives the same text to whoever reads it again. Throws InputError
/// where it cannot be read or is larger than `size_limit` bytes; an endless one ends there, too.
std::string read_file(const std::filesystem::path& path, std::uintmax_t size_limit = largest_table);

}  // namespace treeline::text
