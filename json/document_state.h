// What the readers of one document share.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "json/reader.h"

namespace treeline::json::detail {

struct DocumentState {
    explicit DocumentState(std::string file) : name(std::move(file)) {}

    /// A file of nothing but mistakes must not fill the memory or the screen.
    static constexpr std::size_t most_problems = 100;

    void add_problem(std::string sentence) {
        if (std::find(problems.begin(), problems.end(), sentence) != problems.end()) {
            return;  // a part that is read once for each of several others
        }
        if (problems.size() < most_problems) {
            problems.push_back(std::move(sentence));
        } else if (problems.size() == most_problems) {
            problems.push_back(name + ": more problems follow; these are the first " + std::to_string(most_problems));
        }
    }

    std::string name;
    nlohmann::ordered_json tree;
    std::deque<nlohmann::ordered_json> expanded;  ///< objects that texts stand for (Reader::object_or_text)
    std::vector<std::string> problems;
    std::vector<text::Provenance> provenance;
    std::map<std::string, std::set<std::string>> known_keys;
};

}  // namespace treeline::json::detail
