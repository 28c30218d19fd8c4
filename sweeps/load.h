// From a load, as users know it, to the batch that it keeps decoding in the steady state.
#pragma once

#include <optional>
#include <string>

#include "sim/round.h"

namespace treeline::sweeps {

/// Nothing set: the batch is stated. One of the two: it follows.
struct Load {
    std::optional<double>
        concurrency;  ///< requests that clients keep in flight: each sends the next one when it has its answer
    std::optional<double> arrival_rate;  ///< requests per second that arrive at random, of all ranks together

    [[nodiscard]] bool given() const { return concurrency || arrival_rate; }
};

/// Where a load settles.
struct SettledLoad {
    double batch = 1.0;          ///< requests in service, from the point of view of one of them; not always a whole number
    double queued = 0.0;         ///< requests of a concurrency that wait because memory holds no more
    double largest_batch = 1.0;  ///< that memory holds
    std::string problem;         ///< why the load cannot be served, as a sentence; the rest is unset then
};

/// Settles a load on a speculation of a compiled round with a steady state (RoundSetup::output_tokens), all at one context. A
/// closed loop of C requests is a batch of C, as far as memory holds it: the times of a steady state are those of such a loop
/// (docs/cost-model.md, section 3.5). Arrivals at random find N requests in service, where Little's law N = rate · (reading the
/// prompt + writing the answer as one of N + 1) holds.
SettledLoad settle(const sim::CompiledRound& round, int speculation, const Load& load, double context, double output_tokens);

/// The estimate there. Under arrivals the device generates what is asked for and no more, so that its tokens/s and the price of
/// a token follow from the rate.
sim::RoundEstimate under_load(const sim::CompiledRound& round, int speculation, const Load& load, const SettledLoad& settled,
                              double context, double output_tokens);

}  // namespace treeline::sweeps
