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

/// Loads this far apart are two. What is counted over a while scatters around its load; who prints a mean names the load.
constexpr double apart = 1.5, apart_of_stated = 1.1;

using Cells = std::vector<const runs::RunCell*>;

bool is_stated(const runs::RunCell* cell) { return !cell->acceptance.known(); }

/// The cells, in groups whose figures are alike, by rising figure; one group where some are not known or all are alike.
template <class Figure>
std::vector<Cells> groups_by(Cells cells, Figure figure) {
    const double factor = std::all_of(cells.begin(), cells.end(), is_stated) ? apart_of_stated : apart;
    std::stable_sort(cells.begin(), cells.end(), [&](const auto* a, const auto* b) { return figure(*a) < figure(*b); });
    if (cells.empty() || figure(*cells.front()) <= 0.0 || figure(*cells.back()) < factor * figure(*cells.front())) {
        return {std::move(cells)};
    }
    std::vector<Cells> groups;
    for (const runs::RunCell* cell : cells) {
        if (groups.empty() || figure(*cell) >= factor * figure(*groups.back().front())) {
            groups.emplace_back();
        }
        groups.back().push_back(cell);
    }
    return groups;
}

/// Rounds where they were counted, or what the times beside a printed mean weigh.
double weight_of(const runs::RunCell& cell) {
    return cell.acceptance.known() ? cell.acceptance.drafts : std::max({cell.round.weight(), cell.tpot.weight(), 1.0});
}

template <class Figure>
double mean_of(const Cells& cells, Figure figure) {
    runs::MeasuredMean mean;
    for (const runs::RunCell* cell : cells) {
        mean.add(figure(*cell), weight_of(*cell));
    }
    return mean.mean();
}

/// Of several groups: the mean figure of one, by its rounds.
template <class Figure>
std::optional<double> figure_of(const Cells& cells, std::size_t groups, Figure figure) {
    return groups > 1 ? std::optional(mean_of(cells, figure)) : std::nullopt;
}

/// Of loads that are alike: what was counted, or else the mean of what was printed without counts. Over the rounds that
/// drafted, of which `hit_rate` is the share in the whole run.
sim::MeasuredAcceptance row_of(const Cells& alike, const runs::RunCell& draft, double hit_rate) {
    runs::AcceptanceCounts counts;
    for (const runs::RunCell* cell : alike) {
        counts.add(cell->acceptance);
    }
    sim::MeasuredAcceptance row;
    row.category = "mixed";
    row.shape = draft.shape;
    row.draft_tokens = draft.shape.empty() ? draft.draft_tokens : 0;
    // Rates that rise are no chances of a chain; what a round yields in the mean is counted all the same.
    const bool chain = draft.shape.empty() && !counts.rising_position();
    row.per_position = chain ? counts.positions() : std::vector<double>();
    if (!counts.known()) {
        row.accept_length = mean_of(alike, [](const runs::RunCell& cell) { return cell.stated_length; });
    } else if (row.per_position.empty()) {
        row.accept_length = runs::length_over_drafts(counts.accept_length(), hit_rate, draft.most_accepted());
    }
    for (double& rate : row.per_position) {
        rate = std::min(1.0, rate / hit_rate);
    }
    row.runs = std::max(1.0, counts.drafts);
    row.samples = counts.blocks;
    return row;
}

/// What was counted or printed with this draft. Acceptance falls with the context and may differ between batches, so that
/// loads which are not alike are not added up.
std::vector<sim::MeasuredAcceptance> rows_by_load(const runs::MeasuredRun& run, const runs::RunCell& draft, double hit_rate) {
    Cells measured;
    for (const runs::RunCell& cell : run.cells) {
        if (cell.draft_tokens == draft.draft_tokens && cell.shape == draft.shape &&
            (cell.acceptance.known() || cell.stated_length >= 1.0)) {
            measured.push_back(&cell);
        }
    }
    if (measured.empty()) {
        return {};
    }
    const auto batch_of = [](const runs::RunCell& cell) { return cell.batch; };
    const auto context_of = [](const runs::RunCell& cell) { return cell.context; };
    std::vector<sim::MeasuredAcceptance> rows;
    const std::vector<Cells> batches = groups_by(measured, batch_of);
    for (const Cells& of_batch : batches) {
        const std::vector<Cells> contexts = groups_by(of_batch, context_of);
        for (const Cells& alike : contexts) {
            rows.push_back(row_of(alike, draft, hit_rate));
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

/// Whether some load has a printed mean alone, of nobody knows how many rounds.
bool has_stated_means(const runs::MeasuredRun& run) {
    return std::any_of(run.cells.begin(), run.cells.end(), [](const runs::RunCell& cell) {
        return cell.draft_tokens > 0 && is_stated(&cell) && cell.stated_length >= 1.0;
    });
}

}  // namespace

AcceptanceFile counted_run(const runs::MeasuredRun& run, const std::string& name) {
    std::vector<sim::MeasuredAcceptance> rows;
    double rounds = 0.0;
    AcceptanceFile file;
    file.hit_rate = std::max(1e-6, run.acceptance().hit_rate());
    for (const runs::RunCell& draft : run.drafts()) {
        const runs::AcceptanceCounts all = run.acceptance(draft.draft_tokens, draft.shape);
        note_counts(all, draft.most_accepted(), file);
        rounds += all.drafts;
        const std::vector<sim::MeasuredAcceptance> of_length = rows_by_load(run, draft, file.hit_rate);
        std::copy_if(of_length.begin(), of_length.end(), std::back_inserter(rows),
                     [](const sim::MeasuredAcceptance& row) { return !row.per_position.empty() || row.accept_length >= 1.0; });
    }
    if (rows.empty()) {
        throw text::InputError({fmt::format("{}: is of a run that measured no acceptance", name)});
    }
    file.of_a_run = true;
    if (std::any_of(run.cells.begin(), run.cells.end(), [](const auto& cell) { return cell.acceptance.rising_position(); })) {
        file.remarks.emplace_back(runs::rising_remark);
    }
    const bool counted = file.counted.has_value();
    if (has_stated_means(run)) {
        file.counted.reset();
    }
    file.format = file.counted ? "counts of a run" : counted ? "counts and stated means of a run" : "stated mean of a run";
    const std::string source =
        fmt::format("measured by {}{}{}: {}", run.identity.engine.empty() ? "a deployment" : run.identity.engine,
                    rounds > 0.0 ? fmt::format(", {} rounds", text::grouped_text(std::llround(rounds))) : "",
                    file.counted ? "" : ", stated mean", name);
    for (sim::MeasuredAcceptance& row : rows) {
        row.source = source;
    }
    file.models.emplace_back("", std::move(rows));
    return file;
}

}  // namespace treeline::requests::acceptance_file
