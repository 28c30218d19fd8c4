// Programs that draft, too, and whose settings lint does not check: named, so that they are not taken for another engine's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace treeline::engines {

/// What such a program is called, by the word of a command line that starts it ("mlx_lm.server"), or by a key that only its
/// files have; nothing where neither is there.
std::optional<std::string_view> program_without_rules(std::string_view text, const std::vector<std::string>& words);

}  // namespace treeline::engines
