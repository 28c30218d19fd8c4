// From a load, as users know it, to the batch that it keeps decoding in the steady state.
#pragma once

#include <optional>
#include <string>

#include "sim/enum_names.h"
#include "sim/round.h"

namespace treeline::sweeps {

/// What a traffic is stated in.
enum class LoadKind {
    batch,        ///< sequences that decode together
    concurrency,  ///< requests that clients keep in flight: each sends the next one when it has its answer
    arrival_rate  ///< requests per second that arrive at random, of all ranks together
};
constexpr auto names_in(LoadKind) {
    using enum LoadKind;
    return enum_names<LoadKind>({{batch, "batch"}, {concurrency, "concurrency"}, {arrival_rate, "arrival_rate"}});
}

struct Load {
    LoadKind kind = LoadKind::batch;
    double value = 1.0;

    /// Whether the batch follows from it.
    [[nodiscard]] bool given() const { return kind != LoadKind::batch; }
};

/// What lets no more requests run at once.
enum class HeldBy { memory, step, engine };

/// The same in words: "that memory holds".
std::string text_of(HeldBy limit);

/// Share of the requests in flight that wait for a place.
inline double waiting_share(double in_service, double queued) { return queued / (in_service + queued); }

/// Where a load settles.
struct SettledLoad {
    double batch = 1.0;          ///< requests in service, from the point of view of one of them; not always a whole number
    double queued = 0.0;         ///< requests of a concurrency that wait because no more are in service at once
    double reading = 0.0;        ///< requests of a concurrency whose prompts a pool of its own reads (disaggregated prefill)
    double largest_batch = 1.0;  ///< that memory, token budget and engine hold
    HeldBy held_by = HeldBy::memory;
    std::string problem;          ///< why the load cannot be served, as a sentence; then `batch` is the largest one
    bool waits_for_ever = false;  ///< requests come faster than they are answered: there is no steady TTFT
};

/// Settles a load on a speculation of a compiled round, all at one context. Other loads than a batch need a steady state
/// (RoundSetup::output_tokens).
///
/// A closed loop of C requests is a batch of C, as far as memory, token budget and engine hold it: the times of a steady state
/// are those of such a loop (docs/cost-model.md, section 3.5). If a pool of its own reads the prompts, C = b + b/(time of
/// decoding)·(time to the first token). Arrivals at random find N requests in service, where Little's law N = rate · (reading
/// the prompt + writing the answer as one of N + 1) holds.
SettledLoad settle(const sim::CompiledRound& round, int speculation, const Load& load, double context);

/// The same for sequences that are asked to decode together: those that memory, token budget or engine do not hold wait, as
/// engines let them. Where not even one fits, the batch stays what was asked for, and its estimate does not fit.
SettledLoad settle_capped(const sim::CompiledRound& round, int speculation, double sequences, double context);

/// The most sequences that one server holds with this speculation: by memory, by the token budget of a step, and by the
/// engine's own limit.
double most_sequences(const sim::CompiledRound& round, int speculation, double context);

/// The most requests per second that arrive and are served: those of a server that is always full.
double most_arrivals(const sim::CompiledRound& round, int speculation, double context);

/// The estimate there: `at_batch` is that of the settled batch. TTFT counts the wait for a place among those in service and,
/// under arrivals, for the round in progress. Under arrivals the device generates what is asked for and no more, so that its
/// tokens/s and the price of a token follow from the rate.
sim::RoundEstimate under_load(const sim::CompiledRound& round, int speculation, const Load& load, const SettledLoad& settled,
                              const sim::RoundEstimate& at_batch);

}  // namespace treeline::sweeps
