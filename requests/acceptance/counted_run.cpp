// What an engine or a client counted while it served, in any of the formats of runs/formats.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

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

/// What was counted at about one context; nothing where one context is all there is, or some are not known.
struct AtContext {
    std::optional<double> context;
    runs::AcceptanceCounts counts;
};

/// Contexts this far apart are two.
constexpr double apart = 1.5;

/// The cells of a draft length, joined where their contexts are alike: acceptance falls with context, so they are not added up.
std::vector<AtContext> by_context(const runs::MeasuredRun& run, int draft_tokens) {
    std::vector<const runs::RunCell*> cells;
    bool known = true;
    for (const runs::RunCell& cell : run.cells) {
        if (cell.draft_tokens == draft_tokens && cell.acceptance.known()) {
            cells.push_back(&cell);
            known = known && cell.context > 0.0;
        }
    }
    std::sort(cells.begin(), cells.end(), [](const auto* a, const auto* b) { return a->context < b->context; });
    if (!known || cells.empty() || cells.back()->context < apart * cells.front()->context) {
        return {{std::nullopt, run.acceptance(draft_tokens)}};
    }
    std::vector<AtContext> parts;
    double first = 0.0;
    for (const runs::RunCell* cell : cells) {
        if (parts.empty() || cell->context >= apart * first) {
            first = cell->context;
            parts.push_back({0.0, {}});
        }
        AtContext& part = parts.back();
        const double before = part.counts.drafts;
        part.counts.add(cell->acceptance);
        part.context = (*part.context * before + cell->context * cell->acceptance.drafts) / part.counts.drafts;
    }
    return parts;
}

sim::MeasuredAcceptance row_of(const runs::AcceptanceCounts& counts, int draft_tokens) {
    sim::MeasuredAcceptance row;
    row.category = "mixed";
    row.draft_tokens = draft_tokens;
    row.per_position = counts.positions();
    row.accept_length = row.per_position.empty() && counts.known() ? counts.accept_length() : 0.0;
    row.runs = std::max(1.0, counts.drafts);
    row.samples = counts.blocks;
    return row;
}

/// The most frequent draft length says how far the acceptance may be off, if its sampling error is known.
void note_counts(const runs::AcceptanceCounts& counts, int draft_tokens, AcceptanceFile& file) {
    const double error = counts.accept_length_error();
    if (error > 0.0 && (!file.counted || counts.drafts > file.counted->rounds)) {
        file.counted = {counts.drafts, counts.accept_length(), error, static_cast<double>(draft_tokens)};
    }
}

}  // namespace

AcceptanceFile counted_run(const runs::MeasuredRun& run, const std::string& name) {
    std::vector<sim::MeasuredAcceptance> rows;
    double rounds = 0.0;
    AcceptanceFile file;
    file.format = "counts of a run";
    for (const int length : run.draft_lengths()) {
        const runs::AcceptanceCounts all = run.acceptance(length);
        note_counts(all, length, file);
        rounds += all.drafts;
        for (const AtContext& part : by_context(run, length)) {
            sim::MeasuredAcceptance row = row_of(part.counts, length);
            if (row.per_position.empty() && !part.counts.known()) {
                row.accept_length = stated_length(run, length);
            }
            row.context = part.context;
            if (!row.per_position.empty() || row.accept_length >= 1.0) {
                rows.push_back(row);
            }
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
    file.models.emplace_back("", std::move(rows));
    return file;
}

}  // namespace treeline::requests::acceptance_file
