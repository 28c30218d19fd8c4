#include "sweeps/load.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "text/number_text.h"

namespace treeline::sweeps {
namespace {

constexpr int load_bisections = 40;

/// Sequences whose rounds one step holds.
double budget_holds(const sim::CompiledRound& round, const sim::RoundRow& row) {
    return std::floor(round.step_tokens * round.groups / row.logits);
}

/// The most sequences that step and engine let run at once, whatever memory holds.
struct Bound {
    double sequences;
    HeldBy by;
};

Bound bound_beside_memory(const sim::CompiledRound& round, const sim::RoundRow& row) {
    const double budget = budget_holds(round, row);
    return round.most_requests < budget ? Bound{round.most_requests, HeldBy::engine} : Bound{budget, HeldBy::step};
}

/// Why so many sequences do not run together.
std::string beyond_text(const sim::CompiledRound& round, const sim::RoundRow& row, double sequences, HeldBy limit) {
    return limit == HeldBy::engine
               ? fmt::format("a batch of {:.0f} is more than the {:.0f} requests {}", sequences, round.most_requests,
                             text_of(limit))
               : fmt::format(
                     "a round of {:.0f} sequences with {:.0f} tokens each exceeds the token budget of {:.0f} for a step",
                     sequences, row.logits, round.step_tokens);
}

/// The least value in [low, high] at which a falling function is no longer positive.
template <class Function>
double root_of(double low, double high, Function positive) {
    for (int i = 0; i < load_bisections; ++i) {
        const double middle = 0.5 * (low + high);
        (positive(middle) ? low : high) = middle;
    }
    return 0.5 * (low + high);
}

double to_hundredths(double value) { return std::round(100.0 * value) / 100.0; }

/// What a request takes of the devices that decode, from the moment that it is taken up to its last token, as one of `batch`:
/// its own prompt, those before its first token, and its answer.
Seconds stay_of_request(const sim::CompiledRound& round, int speculation, double batch, const sim::RoundEstimate& estimate) {
    const double others = sim::sequences_of_group(round, batch) - 1.0;
    const double before_first = (1.0 + others * (1.0 - round.prompt_wait)) * (1.0 - round.prefill_pool);
    return sim::prompt_time(round, speculation) * before_first + estimate.time_per_token * round.output_tokens;
}

Seconds stay_of_request(const sim::CompiledRound& round, int speculation, double batch, double context) {
    return stay_of_request(round, speculation, batch, sim::evaluate(round, {speculation, batch, context}));
}

/// Requests/s of a server with `batch` in service at all times.
double rate_when_full(const sim::CompiledRound& round, int speculation, double batch, double context) {
    return batch / stay_of_request(round, speculation, batch, context).value();
}

void settle_concurrency(const sim::CompiledRound& round, int speculation, double in_flight, double context,
                        SettledLoad& settled) {
    settled.batch = std::min(in_flight, settled.largest_batch);
    settled.queued = in_flight - settled.batch;
    if (round.prefill_pool <= 0.0) {
        return;
    }
    const auto reading = [&](double batch) {
        const sim::RoundEstimate estimate = sim::evaluate(round, {speculation, batch, context});
        return batch * (estimate.first_token / (estimate.time_per_token * round.output_tokens));
    };
    const double most = settled.batch;
    if (most + reading(most) > in_flight) {
        settled.batch =
            std::max(1.0, to_hundredths(root_of(0.0, most, [&](double b) { return b < 1.0 || b + reading(b) < in_flight; })));
    }
    settled.reading = std::min(reading(settled.batch), in_flight - settled.batch);
    settled.queued = std::max(0.0, in_flight - settled.batch - settled.reading);
}

void settle_arrivals(const sim::CompiledRound& round, int speculation, double rate, double context, SettledLoad& settled) {
    // The number of requests in service that the rate asks for, were there `others`; it grows more slowly than `others` as long
    // as the rate can be served. A server that is always full still has one of its places for each request that comes.
    const double all = settled.largest_batch;
    const auto asked_for = [&](double others) {
        return rate * stay_of_request(round, speculation, std::min(others + 1.0, all), context).value();
    };
    if (asked_for(all) > all) {
        settled.batch = all;
        settled.waits_for_ever = true;
        settled.problem =
            fmt::format("{} requests/s are more than can be served: at most about {}/s, with the {:.0f} requests {}",
                        text::short_text(rate), text::short_text_below(rate_when_full(round, speculation, all, context)), all,
                        text_of(settled.held_by));
        return;
    }
    const double others = root_of(0.0, all, [&](double tried) { return asked_for(tried) > tried; });
    settled.batch = std::min(all, to_hundredths(1.0 + others));
}

/// A request that comes at random waits for the round in progress, and those that came during it read their prompts beside it.
/// Rounds take r + J·t with J prompts of time t that arrived during the one before: E[T] = r/(1 − λt), E[T²] = E[T]² +
/// λ·E[T]·t². Nobody is in service with probability e^−N.
Seconds first_token_of_arrival(const sim::RoundEstimate& at_batch, const sim::CompiledRound& round, int speculation,
                               double rate, double others) {
    const Seconds prompt = sim::prompt_time(round, speculation);
    const double r = (at_batch.round - at_batch.prompts).value(), t = prompt.value() * round.prompt_wait;
    const double rate_of_group = rate / round.groups;
    const double left = std::max(1e-3, 1.0 - rate_of_group * t);
    const double mean = r / left, square = mean * mean + rate_of_group * mean * t * t;
    const double busy = -std::expm1(-others);
    const double in_line = round.prefill_pool > 0.0 ? 1.0 : 1.0 + others / round.groups * (1.0 - round.prompt_wait);
    return prompt * in_line + Seconds(r + busy * (0.5 * square / mean + rate_of_group * square / mean * t)) +
           round.target_transfer + round.draft_transfer * round.row(speculation).holds_drafter;
}

/// What a request that comes at random waits until one of the places is free: of c places, the share u taken, each for a stay
/// S, half of S/c · u^(√(2(c + 1)) − 1)/(1 − u) (Sakasegawa 1977; all of it where stays vary as much as their mean).
Seconds wait_for_place(Seconds stay, double rate, const SettledLoad& settled) {
    const double places = settled.largest_batch;
    const double taken = rate * stay.value() / places;
    return taken < 1.0 ? stay * (0.5 * std::pow(taken, std::sqrt(2.0 * (places + 1.0)) - 1.0) / (1.0 - taken) / places)
                       : Seconds(sim::unlimited);
}

}  // namespace

std::string text_of(HeldBy limit) {
    return limit == HeldBy::memory ? "that memory holds"
           : limit == HeldBy::step ? "that a step holds"
                                   : "that the engine runs at once";
}

SettledLoad settle(const sim::CompiledRound& round, int speculation, const Load& load, double context) {
    SettledLoad settled;
    const sim::RoundRow& row = round.row(speculation);
    const Bound bound = bound_beside_memory(round, row);
    if (!load.given()) {
        settled.batch = load.value;
        if (bound.sequences < load.value) {
            settled.held_by = bound.by;
            settled.problem = beyond_text(round, row, load.value, bound.by);
        }
        return settled;
    }
    const bool all = load.kind == LoadKind::concurrency && load.value <= bound.sequences &&
                     sim::memory_holds(round, row, load.value, context);  // the usual case, without a search
    settled.largest_batch = all ? load.value : sim::largest_that_fits(round, row, context);
    settled.held_by = bound.sequences < settled.largest_batch ? bound.by : HeldBy::memory;
    settled.largest_batch = std::min(settled.largest_batch, bound.sequences);
    if (settled.largest_batch < 1.0) {
        return settled;  // one sequence does not fit: its estimate says so
    }
    if (load.kind == LoadKind::concurrency) {
        settle_concurrency(round, speculation, load.value, context, settled);
    } else {
        settle_arrivals(round, speculation, load.value, context, settled);
    }
    return settled;
}

double most_sequences(const sim::CompiledRound& round, int speculation, double context) {
    const sim::RoundRow& row = round.row(speculation);
    return std::min(sim::largest_that_fits(round, row, context), bound_beside_memory(round, row).sequences);
}

double most_arrivals(const sim::CompiledRound& round, int speculation, double context) {
    return rate_when_full(round, speculation, std::max(1.0, most_sequences(round, speculation, context)), context);
}

SettledLoad settle_capped(const sim::CompiledRound& round, int speculation, double sequences, double context) {
    SettledLoad settled;
    const sim::RoundRow& row = round.row(speculation);
    const Bound bound = bound_beside_memory(round, row);
    settled.batch = settled.largest_batch = sequences;
    if (sequences <= bound.sequences && memory_holds(round, row, sequences, context)) {
        return settled;
    }
    settled.largest_batch = most_sequences(round, speculation, context);
    settled.held_by = bound.sequences <= settled.largest_batch ? bound.by : HeldBy::memory;
    if (settled.largest_batch >= 1.0) {
        settled.batch = std::min(sequences, settled.largest_batch);
        settled.queued = sequences - settled.batch;
    }
    return settled;
}

sim::RoundEstimate under_load(const sim::CompiledRound& round, int speculation, const Load& load, const SettledLoad& settled,
                              const sim::RoundEstimate& at_batch) {
    sim::RoundEstimate estimate = at_batch;
    if (load.kind == LoadKind::arrival_rate && settled.problem.empty()) {
        const double tokens_per_second = load.value * round.output_tokens;
        // Devices of a pool that reads the prompts, for each that decodes.
        const double pool = round.prefill_pool * load.value * sim::prompt_time(round, speculation).value();
        estimate.tokens_per_second_device = tokens_per_second / (round.ranks * (1.0 + pool));
        estimate.price_per_token = round.price * Seconds((1.0 + pool) / tokens_per_second);
        estimate.first_token =
            first_token_of_arrival(at_batch, round, speculation, load.value, settled.batch - 1.0) +
            wait_for_place(stay_of_request(round, speculation, settled.batch, at_batch), load.value, settled);
    }
    if (settled.queued > 0.0) {  // Little's law for those who wait: as many leave as answers are finished
        estimate.first_token += stay_of_request(round, speculation, settled.batch, at_batch) * (settled.queued / settled.batch);
    }
    return estimate;
}

}  // namespace treeline::sweeps
