#include "sweeps/load.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "text/number_text.h"

namespace treeline::sweeps {
namespace {

constexpr int load_bisections = 60;
constexpr double most_requests = 1e6;  ///< that are tried

bool memory_holds(const sim::CompiledRound& round, const sim::RoundRow& row, double batch, double context) {
    return sim::peak_memory(round.memory, row, batch, context) <= round.memory.capacity;
}

/// The largest whole batch that fits; 0 if not even one sequence does. Memory never falls with the batch.
double largest_that_fits(const sim::CompiledRound& round, const sim::RoundRow& row, double context) {
    double low = 0.0, high = most_requests + 1.0;
    while (high - low > 1.0) {
        const double middle = std::floor(0.5 * (low + high));
        (memory_holds(round, row, middle, context) ? low : high) = middle;
    }
    return low;
}

/// What a request takes, from its arrival to its last token, as one of `batch`: its own prompt, those before its first token,
/// and its answer.
Seconds stay_of_request(const sim::CompiledRound& round, int speculation, double batch, double context, double output_tokens) {
    const sim::RoundEstimate estimate = sim::evaluate(round, {speculation, batch, context});
    const Seconds prompt = (round.prompts.target + round.prompts.drafter * round.row(speculation).speculates) * output_tokens;
    const double before_first = batch - round.prompt_wait * (batch - 1.0);
    return prompt * before_first + estimate.time_per_token * output_tokens;
}

}  // namespace

SettledLoad settle(const sim::CompiledRound& round, int speculation, const Load& load, double context, double output_tokens) {
    SettledLoad settled;
    settled.largest_batch = largest_that_fits(round, round.row(speculation), context);
    if (settled.largest_batch < 1.0) {
        return settled;  // one sequence does not fit: its estimate says so
    }
    if (load.concurrency) {
        settled.batch = std::min(*load.concurrency, settled.largest_batch);
        settled.queued = *load.concurrency - settled.batch;
        return settled;
    }
    const double rate = load.arrival_rate.value_or(0.0);
    // The number of requests in service that the rate asks for, were there `others`; it grows more slowly than `others` as long
    // as the rate can be served.
    const auto asked_for = [&](double others) {
        return rate * stay_of_request(round, speculation, others + 1.0, context, output_tokens).value();
    };
    double low = 0.0, high = settled.largest_batch - 1.0;
    if (asked_for(high) > high) {
        const double most = high / stay_of_request(round, speculation, high + 1.0, context, output_tokens).value();
        settled.problem = fmt::format(
            "{} requests/s are more than can be served: at most about {}/s, with the {:.0f} requests that memory holds",
            text::short_text(rate), text::short_text(most), settled.largest_batch);
        return settled;
    }
    for (int i = 0; i < load_bisections; ++i) {
        const double middle = 0.5 * (low + high);
        (asked_for(middle) > middle ? low : high) = middle;
    }
    settled.batch = std::round(100.0 * (1.0 + 0.5 * (low + high))) / 100.0;
    return settled;
}

sim::RoundEstimate under_load(const sim::CompiledRound& round, int speculation, const Load& load, const SettledLoad& settled,
                              double context, double output_tokens) {
    sim::RoundEstimate estimate = sim::evaluate(round, {speculation, settled.batch, context});
    if (load.arrival_rate && settled.problem.empty()) {
        const double tokens_per_second = *load.arrival_rate * output_tokens;
        estimate.tokens_per_second_device = tokens_per_second / round.ranks;
        estimate.price_per_token = round.price * Seconds(1.0 / tokens_per_second);
    }
    return estimate;
}

}  // namespace treeline::sweeps
