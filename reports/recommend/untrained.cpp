#include "reports/recommend/untrained.h"

#include <fmt/format.h>

#include "reports/objective_text.h"
#include "reports/recommend/recommendation_output.h"
#include "reports/shape_text.h"
#include "sweeps/variants.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {

std::string untrained_note(const sweeps::Recommendation& found) {
    if (found.untrained.empty() || found.untrained.front().regret >= 0.0) {
        return "";
    }
    const sweeps::Candidate& best = found.untrained.front();
    const sweeps::VariantLabels& labels = found.variants[best.variant].labels;
    return fmt::format("A head trained for {} that accepts as {} would {} with {} drafts; none is known here.", labels.target,
                       labels.drafter,
                       found.most_rate ? fmt::format("serve {} requests/s", text::short_text_below(best.requests_per_second))
                                       : "gain " + text::ratio_text(best.gain),
                       best.draft_tokens);
}

std::string untrained_table(const sweeps::Recommendation& found, sweeps::Objective objective) {
    if (found.untrained.empty()) {
        return "";
    }
    text::TextTable table({{"Would have to be trained", text::Align::left},
                           {"draft tokens"},
                           {objective_heading(objective)},
                           {"gain"},
                           {"speed-up"}});
    for (const sweeps::Candidate& c : found.untrained) {
        table.add({text_of(found.variants[c.variant], found.variants),
                   drafted_text(found.speculations, c.speculation, c.draft_tokens) + basis_text(c.basis),
                   objective_cell(c, objective), text::ratio_text(c.gain), text::ratio_text(c.speedup)});
    }
    return table.text();
}

}  // namespace treeline::reports
