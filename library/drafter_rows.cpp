#include "library/drafter_rows.h"

#include <nlohmann/json.hpp>

#include "requests/setup_reader.h"

namespace treeline {

reports::DrafterRow drafter_row(const requests::PublishedDrafter& drafter, requests::Descriptions& descriptions) {
    const sweeps::DrafterChoice choice = requests::published_choice(drafter, {}, descriptions);
    const sim::Acceptance& chain = choice.acceptance.chain;
    const int longest = chain.measured_positions();
    const auto* lookup = std::get_if<sim::NgramDrafter>(&choice.drafter);  // whose chain counts rounds with a draft alone
    const double drafting = lookup != nullptr ? lookup->hit_rate : 1.0;
    return {drafter.name, drafter.target, longest, 1.0 + drafting * (chain.accept_length(longest) - 1.0),
            requests::categories_of(drafter)};
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
