// Half-written files of this process, and those that a killed one has left.
#pragma once

#include <filesystem>
#include <string_view>

namespace treeline::text {

inline constexpr std::string_view temporary_ending = ".tmp";

/// Files that remove_temporary_files() (output_file.h) removes; the first 16 at a time, which is more than a command writes.
void remember_temporary(const std::filesystem::path& path) noexcept;
void forget_temporary(const std::filesystem::path& path) noexcept;

/// Removes files named `beginning`PID-N.tmp whose writer has ended without removing them (kill -9, a power cut): those that
/// nobody holds a lock on and that are a minute old.
void remove_abandoned(const std::filesystem::path& folder, std::string_view beginning) noexcept;

}  // namespace treeline::text
