// Internal to the formats: the words of tables and results that people write in Chinese.
#pragma once

#include <string>
#include <string_view>

namespace treeline::runs::run_formats_of {

/// A line with the Chinese words for loads, drafts, times and acceptance in English, and with plain punctuation.
std::string in_english(std::string_view line);
/// Whether a line may hold such words: most lines of logs hold none, and need no copy.
bool may_be_chinese(std::string_view line);

}  // namespace treeline::runs::run_formats_of
