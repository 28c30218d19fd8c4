#include "runs/formats/llama_generation.h"

#include <algorithm>
#include <cmath>

namespace treeline::runs::run_formats_of {
namespace {

constexpr double most_tokens = 1e9;  // of a request
constexpr double seconds_a_millisecond = 1e-3;

}  // namespace

double rounds_of(const LlamaGeneration& of) {
    if (of.rounds > 0.0) {
        return of.rounds;
    }
    const double counted = of.predicted - 1.0 - of.accepted;
    if (of.mean_length > 1.0 && of.accepted > 0.0 && !(std::abs(1.0 + of.accepted / counted - of.mean_length) < 0.0051)) {
        return std::round(of.accepted / (of.mean_length - 1.0));
    }
    return counted;
}

int longest_by_mean(double drafted, double rounds) {
    constexpr double miscounted = 0.1, longest = 1e6;
    return static_cast<int>(std::clamp(std::ceil(drafted / rounds - miscounted), 1.0, longest));
}

void add_llama_generation(RunBuilder& run, const LlamaGeneration& of) {
    if (!(of.predicted > 0.0) || !(of.milliseconds > 0.0)) {
        return run.problem("says that it generated nothing, or in no time");
    }
    if (of.predicted > most_tokens || of.drafted < 0.0 || of.context < 0.0) {
        return run.problem("counts tokens below 0, or more than a request can have");
    }
    if (of.rounds <= 0.0 && of.accepted >= of.predicted) {
        return run.problem("accepts as many drafts as it generates tokens, but every round yields one token more");
    }
    if (of.predicted <= 1.0) {
        return run.remark("Answers of a single token hold no round and were left out.");
    }
    const double steps = of.predicted - 1.0;
    if (of.drafted <= 0.0) {
        return run.time(run.cell_of_request(run.batch_or(1.0), 0, of.context, steps).round, "a step",
                        of.milliseconds * seconds_a_millisecond / steps, steps);
    }
    AcceptanceCounts counts;
    counts.drafts = rounds_of(of);
    counts.drafted = of.drafted;
    counts.accepted = of.accepted;
    if (counts.drafts < 1.0) {
        return run.remark("Answers that end in their first draft hold no whole round and were left out.");
    }
    for (const double rate : of.rates) {
        counts.reached.push_back(std::round(rate * counts.drafts));
        counts.drafts_with_positions = counts.drafts;
    }
    const int by_mean = std::max(longest_by_mean(of.drafted, counts.drafts),
                                 static_cast<int>(std::lround(std::ceil(counts.accepted / counts.drafts))));
    const int drafts = run.draft_tokens_or(of.length > 0      ? of.length
                                           : of.rates.empty() ? by_mean
                                                              : static_cast<int>(of.rates.size()));
    RunCell& cell = run.cell_of_request(run.batch_or(1.0), drafts, of.context, counts.drafts);
    run.count(cell, counts);
    // A round without a draft takes a step; those that drafted are not timed apart from them.
    const double timed = of.rounds > 0.0 ? of.rounds : std::max(counts.drafts, steps - of.accepted);
    run.time(cell.round, "a round", of.milliseconds * seconds_a_millisecond / timed, counts.drafts);
}

}  // namespace treeline::runs::run_formats_of
