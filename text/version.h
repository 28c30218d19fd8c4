// Versions as people write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace treeline::text {

using Version = std::vector<int>;

/// The numbers that a text begins with: "0.12.1" is {0, 12, 1}, and what follows the last number ("rc3", "post1") does not
/// count. Empty if there is none at the start.
Version version_in(std::string_view text);

/// Which of the known versions to take for another one: the newest that is not newer, or else the oldest. Nothing where no
/// version is known; empty ones are none. A known "0.10" stands for every 0.10.x, and who asks for "0.10" gets its newest.
std::optional<std::size_t> nearest_version(const std::vector<Version>& known, const Version& asked);

/// "February 2026" for "2026-02"; empty for what is no month.
std::string month_text(std::string_view month);

/// The release that a name states, "2507" of "…-Instruct-2507-SpecForge": four digits between dashes that are a year and a
/// month, or a month and a day; empty if there is none.
std::string release_in(const std::string& name);

}  // namespace treeline::text
