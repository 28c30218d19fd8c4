// Answers where no configuration serves the whole traffic: about the loads that one serves, or about servers that are always
// full.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sweeps/recommend_inside.h"
#include "text/number_text.h"

namespace treeline::sweeps {
namespace {

/// The most requests per second that any variant serves at a point, whatever it drafts.
double most_requests_served(const Judged& all, const TrafficPoint& point) {
    double most = 0.0;
    for (std::size_t i = 0; i < all.variants.size(); ++i) {
        if (all.variants[i].untrained) {
            continue;
        }
        const sim::CompiledRound& round = all.prepared[i].round;
        for (const int speculation : all.prepared[i].speculations) {
            most = std::max(most, most_arrivals(round, speculation, point.context));
        }
    }
    return most;
}

/// Of the variants that keep up with the load and break a limit on times, the one that misses it least.
std::optional<std::size_t> too_slow(const Judged& all) {
    std::optional<std::size_t> nearest;
    for (std::size_t i = 0; i < all.outcomes.size(); ++i) {
        const VariantOutcome& outcome = all.outcomes[i];
        const bool slow = outcome.nearest_limit == Limit::time_per_token || outcome.nearest_limit == Limit::time_to_first_token;
        if (slow && !all.variants[i].untrained && (!nearest || outcome.nearest_miss < all.outcomes[*nearest].nearest_miss)) {
            nearest = i;
        }
    }
    return nearest;
}

/// Why nobody serves one load of the workload within its limits, told of what comes nearest to serving it, and the limit in its
/// way; nothing if somebody does.
struct Unserved {
    std::string reason;
    std::optional<Limit> broken;
};
std::optional<Unserved> why_unserved(Workload workload, const TrafficPoint& point, unsigned threads) {
    workload.traffic.points = {point};
    workload.traffic.points.front().share = 1.0;
    const Judged all = judged(workload, threads);
    for (std::size_t i = 0; i < all.outcomes.size(); ++i) {  // what nobody has trained yet serves nobody
        if (!all.outcomes[i].candidates.empty() && !all.variants[i].untrained) {
            return std::nullopt;
        }
    }
    const VariantOutcome& plain = all.outcomes.back();  // the last one is plain decoding
    if (const std::optional<std::size_t> nearest = plain.broken == Limit::load ? too_slow(all) : nearest_miss_of(all)) {
        const VariantOutcome& outcome = all.outcomes[*nearest];
        const std::string who = &outcome == &plain ? "" : all.variants[*nearest].labels.text() + ": ";
        return Unserved{who + outcome.nearest_reason, outcome.nearest_limit};
    }
    if (plain.broken == Limit::load && workload.traffic.kind == LoadKind::arrival_rate) {
        return Unserved{
            fmt::format("at most about {} requests/s can be served", text::short_text_below(most_requests_served(all, point))),
            plain.broken};
    }
    return Unserved{plain.reason, plain.broken};
}

/// As many requests at each point as the platform holds that holds most of them: all servers are full then.
void fill(const Workload& workload, Traffic& traffic) {
    std::set<std::string> seen;
    std::vector<sim::CompiledRound> rounds;
    for (const Variant& variant : workload.variants) {
        Prepared plain = seen.insert(variant.labels.platform()).second ? prepare(plain_variant(variant), workload) : Prepared();
        if (plain.problem.empty() && !plain.round.rows.empty()) {
            rounds.push_back(std::move(plain.round));
        }
    }
    for (TrafficPoint& point : traffic.points) {
        point.load = 1.0;
        for (const sim::CompiledRound& round : rounds) {
            point.load = std::max(point.load, most_sequences(round, 0, point.context));
        }
    }
}

}  // namespace

std::optional<RecommendationResult> without_unserved(const Workload& workload, unsigned threads) {
    constexpr std::size_t most_points = 4096;
    Workload served = workload;
    served.traffic.points.clear();
    std::vector<UnservedLoad> unserved;
    double share = 0.0;
    for (const TrafficPoint& point : workload.traffic.points) {
        const auto why = workload.traffic.points.size() > most_points ? std::nullopt : why_unserved(workload, point, threads);
        if (why) {
            unserved.push_back({point, why->reason});
        } else {
            served.traffic.points.push_back(point);
            share += point.share;
        }
    }
    if (served.traffic.points.empty() || unserved.empty()) {
        return std::nullopt;
    }
    for (TrafficPoint& point : served.traffic.points) {
        point.share /= share;
    }
    RecommendationResult result = answer_for(served, threads);
    if (result.recommendation) {
        result.recommendation->unserved = std::move(unserved);
    }
    return result;
}

std::optional<RecommendationResult> saturated(const Workload& workload, unsigned threads) {
    if (workload.traffic.kind != LoadKind::arrival_rate) {
        return std::nullopt;
    }
    const auto why = why_unserved(workload, workload.traffic.points.front(), threads);
    if (!why || why->broken != Limit::load) {
        return std::nullopt;  // another limit is in the way
    }
    Workload full = workload;
    full.traffic.kind = LoadKind::concurrency;
    full.objective = workload.objective == Objective::latency ? Objective::throughput : workload.objective;
    full.limits.waiting = full.limits.first_token_growth = sim::unlimited;
    full.limits.time_to_first_token.reset();
    fill(workload, full.traffic);
    RecommendationResult result = answer_for(full, threads);
    if (result.recommendation) {
        Recommendation& found = *result.recommendation;
        const double per_request = workload.variants.front().setup.output_tokens;
        const auto rate = [&](const Candidate& candidate) {
            return candidate.tokens_per_second_device * found.variants[candidate.variant].setup.platform.devices() /
                   per_request;
        };
        found.saturation = Saturation{largest_batch_of(workload.traffic), rate(found.plain), rate(found.candidates.front()),
                                      workload.limits.time_to_first_token, workload.objective == Objective::latency};
    }
    return result;
}

}  // namespace treeline::sweeps
