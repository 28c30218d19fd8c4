#include "library/drafter_rows.h"

#include <nlohmann/json.hpp>

#include "requests/setup_reader.h"

namespace treeline {

reports::DrafterRow drafter_row(const requests::PublishedDrafter& drafter, requests::Descriptions& descriptions) {
    const sim::Acceptance chain = requests::published_choice(drafter, {}, descriptions).acceptance.chain;
    const int longest = chain.measured_positions();
    return {drafter.name, drafter.target, longest, chain.accept_length(longest), requests::categories_of(drafter)};
}

std::vector<reports::DrafterRow> known_drafter_rows(const sim::Model& target, const requests::Catalogue& catalogue) {
    requests::Descriptions descriptions(catalogue, {});
    std::vector<reports::DrafterRow> rows;
    for (const requests::KnownDrafter& known : requests::known_drafters(target, descriptions)) {
        rows.push_back(drafter_row(known.drafter, descriptions));
    }
    return rows;
}

}  // namespace treeline
