// What an engine or a client counted while it served, in any of the formats of runs/formats.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "requests/acceptance/acceptance_file.h"
#include "text/input_error.h"
#include "text/number_text.h"

namespace treeline::requests::acceptance_file {
namespace {

/// An accept length that was printed without saying how often it was measured; 0 for none.
double stated_length(const runs::MeasuredRun& run, int draft_tokens) {
    for (const runs::RunCell& cell : run.cells) {
        if (cell.draft_tokens == draft_tokens && cell.stated_length >= 1.0) {
            return cell.stated_length;
        }
    }
    return 0.0;
}

}  // namespace

AcceptanceFile counted_run(const runs::MeasuredRun& run, const std::string& name) {
    std::vector<sim::MeasuredAcceptance> rows;
    double rounds = 0.0;
    for (const int length : run.draft_lengths()) {
        const runs::AcceptanceCounts counts = run.acceptance(length);
        sim::MeasuredAcceptance row;
        row.category = "mixed";
        row.draft_tokens = length;
        row.source = name;
        row.per_position = counts.positions();
        row.accept_length = !row.per_position.empty() ? 0.0
                            : counts.known()          ? counts.accept_length()
                                                      : stated_length(run, length);
        row.runs = std::max(1.0, counts.drafts);
        row.samples = counts.blocks;
        rounds += counts.drafts;
        if (!row.per_position.empty() || row.accept_length >= 1.0) {
            rows.push_back(row);
        }
    }
    if (rows.empty()) {
        throw text::InputError({fmt::format("{}: is of a run that measured no acceptance", name)});
    }
    const std::string source =
        fmt::format("measured by {}{}: {}", run.identity.engine.empty() ? "a deployment" : run.identity.engine,
                    rounds > 0.0 ? fmt::format(", {} rounds", text::grouped_text(std::llround(rounds))) : "", name);
    for (sim::MeasuredAcceptance& row : rows) {
        row.source = source;
    }
    AcceptanceFile file;
    file.format = "counts of a run";
    file.models.emplace_back("", std::move(rows));
    return file;
}

}  // namespace treeline::requests::acceptance_file
