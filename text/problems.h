// Sentences on what is wrong with a file, of which it may hold hundreds of thousands.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "text/input_error.h"

namespace treeline::text {

inline constexpr std::size_t most_kept_problems = 1000;  ///< twenty times what the program prints

/// Adds a sentence; beyond those that are kept, an empty one, which counts.
inline void add_problem(std::vector<std::string>& problems, std::string sentence) {
    problems.push_back(problems.size() < most_kept_problems ? std::move(sentence) : std::string());
}

/// What `work` yields; where it throws, the sentences that were noted before come first.
template <class Work>
auto after_problems(std::vector<std::string>& noted, const Work& work) {
    try {
        return work();
    } catch (const InputError& error) {
        noted.insert(noted.end(), error.problems().begin(), error.problems().end());
        throw InputError(std::move(noted));
    }
}

inline constexpr const char* left_out_row = "; this row is left out";

}  // namespace treeline::text
