// The drafters of a workload: those that it names, or those that the catalogue knows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "requests/setup_reader.h"

namespace treeline::requests {

/// The word that stands for every drafter that the catalogue knows for the target.
inline constexpr std::string_view known_word = "known";

struct Candidates {
    std::vector<sweeps::DrafterChoice> drafters;
    bool named = true;               ///< the input names each, or says that there is none
    std::vector<std::string> kinds;  ///< of which it names the kind alone
    std::size_t of_target = 0;       ///< of those that it does not name: published for the target
    std::size_t of_others = 0;       ///< measured with other models
    std::string target;

    /// Where the input may leave lengths of drafts open: as far as any of the drafters was measured, at most 16.
    [[nodiscard]] std::optional<int> longest_chain() const;
    /// Trees that drafters were measured with, as inputs write them.
    [[nodiscard]] std::vector<std::string> measured_trees() const;
};

/// Reads "drafters": a list, or "known", which may also be one of its elements and is meant where the key is absent. An element
/// that is a kind alone ("eagle3") stands for the known ones of that kind. An empty list asks for none. Known ones draft as far
/// as they were measured.
Candidates read_candidates(json::Reader& root, Descriptions& descriptions, const DrafterUse& use);

/// What a workload that leaves the choice to the catalogue should be told, as sentences.
std::vector<std::string> notes_on(const Candidates& candidates, const json::Reader& root);

}  // namespace treeline::requests
