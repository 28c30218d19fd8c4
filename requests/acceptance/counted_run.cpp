// What an engine or a client counted while it served, in any of the formats of runs/formats.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "requests/acceptance/acceptance_file.h"
#include "text/input_error.h"
#include "text/number_text.h"

namespace treeline::requests::acceptance_file {
namespace {

/// An accept length that was printed without saying how often it was measured; 0 for none.
double stated_length(const runs::MeasuredRun& run, const runs::RunCell& draft) {
    for (const runs::RunCell& cell : run.cells) {
        if (cell.draft_tokens == draft.draft_tokens && cell.shape == draft.shape && cell.stated_length >= 1.0) {
            return cell.stated_length;
        }
    }
    return 0.0;
}

/// Loads this far apart are two.
constexpr double apart = 1.5;

using Cells = std::vector<const runs::RunCell*>;

/// The cells, in groups whose figures are alike, by rising figure; one group where some are not known or all are alike.
template <class Figure>
std::vector<Cells> groups_by(Cells cells, Figure figure) {
    std::stable_sort(cells.begin(), cells.end(), [&](const auto* a, const auto* b) { return figure(*a) < figure(*b); });
    if (cells.empty() || figure(*cells.front()) <= 0.0 || figure(*cells.back()) < apart * figure(*cells.front())) {
        return {std::move(cells)};
    }
    std::vector<Cells> groups;
    for (const runs::RunCell* cell : cells) {
        if (groups.empty() || figure(*cell) >= apart * figure(*groups.back().front())) {
            groups.emplace_back();
        }
        groups.back().push_back(cell);
    }
    return groups;
}

/// Of several groups: the mean figure of one, by its rounds.
template <class Figure>
std::optional<double> figure_of(const Cells& cells, std::size_t groups, Figure figure) {
    double sum = 0.0, rounds = 0.0;
    for (const runs::RunCell* cell : cells) {
        sum += figure(*cell) * cell->acceptance.drafts;
        rounds += cell->acceptance.drafts;
    }
    return groups > 1 && rounds > 0.0 ? std::optional(sum / rounds) : std::nullopt;
}

sim::MeasuredAcceptance row_of(const runs::AcceptanceCounts& counts, const runs::RunCell& draft) {
    sim::MeasuredAcceptance row;
    row.category = "mixed";
    row.shape = draft.shape;
    row.draft_tokens = draft.shape.empty() ? draft.draft_tokens : 0;
    row.per_position = draft.shape.empty() ? counts.positions() : std::vector<double>();
    row.accept_length = row.per_position.empty() && counts.known() ? counts.accept_length() : 0.0;
    row.runs = std::max(1.0, counts.drafts);
    row.samples = counts.blocks;
    return row;
}

/// What was counted with this draft. Acceptance falls with the context and may differ between batches, so that loads
/// which are not alike are not added up.
std::vector<sim::MeasuredAcceptance> rows_by_load(const runs::MeasuredRun& run, const runs::RunCell& draft) {
    Cells counted;
    for (const runs::RunCell& cell : run.cells) {
        if (cell.draft_tokens == draft.draft_tokens && cell.shape == draft.shape && cell.acceptance.known()) {
            counted.push_back(&cell);
        }
    }
    const auto batch_of = [](const runs::RunCell& cell) { return cell.batch; };
    const auto context_of = [](const runs::RunCell& cell) { return cell.context; };
    std::vector<sim::MeasuredAcceptance> rows;
    const std::vector<Cells> batches = groups_by(counted, batch_of);
    for (const Cells& of_batch : batches) {
        const std::vector<Cells> contexts = groups_by(of_batch, context_of);
        for (const Cells& alike : contexts) {
            runs::AcceptanceCounts counts;
            for (const runs::RunCell* cell : alike) {
                counts.add(cell->acceptance);
            }
            rows.push_back(row_of(counts, draft));
            rows.back().batch = figure_of(of_batch, batches.size(), batch_of);
            rows.back().context = figure_of(alike, contexts.size(), context_of);
        }
    }
    return rows;
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
    for (const runs::RunCell& draft : run.drafts()) {
        const runs::AcceptanceCounts all = run.acceptance(draft.draft_tokens, draft.shape);
        note_counts(all, draft.most_accepted(), file);
        rounds += all.drafts;
        std::vector<sim::MeasuredAcceptance> of_length = rows_by_load(run, draft);
        if (!all.known()) {
            of_length = {row_of(all, draft)};
            of_length.front().accept_length = stated_length(run, draft);
        }
        std::copy_if(of_length.begin(), of_length.end(), std::back_inserter(rows),
                     [](const sim::MeasuredAcceptance& row) { return !row.per_position.empty() || row.accept_length >= 1.0; });
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
