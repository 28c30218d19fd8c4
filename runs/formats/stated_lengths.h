// Internal to the formats: how many tokens are drafted, by the words of a setting or of prose.
#pragma once

#include <string>

namespace treeline::runs::run_formats_of {

/// The draft tokens that a setting states ("MTP k=3", "--spec-draft-n-max 2", "MTP-4", "graph MTP1"; 0: "baseline"); below 0
/// where it says nothing.
int drafts_of_setting(const std::string& text);
/// The same of prose, where "tokens 128" or "n 5" say nothing of drafts, but "3 draft tokens" does; in "18 draft tokens, 9
/// accepted" they are counts of all drafts. Below 0 where it says nothing.
int drafts_of_caption(const std::string& text);
/// Whether a setting ends drafts early by a threshold ("p-min 0.6"): then their length does not follow from it.
bool cuts_drafts(const std::string& text);

}  // namespace treeline::runs::run_formats_of
