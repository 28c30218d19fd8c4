// Limits of what is priced; anything beyond is a slip of the pen.
#pragma once

namespace treeline::sim {

inline constexpr int most_draft_tokens = 1024;
inline constexpr int largest_batch = 1'000'000;
inline constexpr int longest_context = 100'000'000;
inline constexpr int most_ranks = 4096;

}  // namespace treeline::sim
