// The largest rate of arrivals that is served within the limits (goodput).
#pragma once

#include <optional>

#include "sweeps/recommend.h"
#include "sweeps/trust.h"
#include "sweeps/uncertainty.h"

namespace treeline::sweeps {

/// Requests/s of a server that is next to idle: what breaks a limit there breaks it at every rate.
inline constexpr double rate_nearly_alone = 1e-6;

/// The workload at one rate of arrivals, as one asks it to see whether the limits hold: for latency, since each configuration
/// generates what is asked for. Limits on what drafts beside plain decoding are set aside, which need not serve such a rate.
Workload at_rate(const Workload& workload, double rate);

/// The first limit that a speculation breaks at a rate; nothing where it keeps them all.
std::optional<Limit> broken_at_rate(const sim::CompiledRound& round, int speculation, const Workload& workload, double rate);

/// The largest rate in requests/s at which a speculation keeps up with the workload's traffic and keeps its limits; one per
/// cent more breaks one of them. 0 where no rate does.
double most_rate(const sim::CompiledRound& round, int speculation, const Workload& workload);

/// The accept length with which the speculation would serve `rate` within the limits, its rounds costing what they cost;
/// sim::unlimited where none up to 64 does.
double accept_length_for_rate(const sim::CompiledRound& round, int speculation, const Workload& workload, double rate);

/// How far the gain of a recommendation at its largest rate can be trusted. Errors are those of speed-ups: each end of the
/// interval is the rate that is served were rounds that much faster or slower.
struct MostRateTrust {
    GainInterval interval;
    Trust trust;
};
/// Nothing where plain decoding serves no rate within the limits: there is no ratio then.
std::optional<MostRateTrust> trust_of_most_rate(const Recommendation& found, const Workload& workload,
                                                const MeasuredErrors& errors);

/// The best that drafts, where plain decoding serves the larger rate; nothing if none serves any.
std::optional<RejectedDrafting> rejected_at_most_rate(const Recommendation& found);

}  // namespace treeline::sweeps
