#include "sweeps/traffic.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace treeline::sweeps {
namespace {

void normalise(std::vector<TrafficPoint>& points) {
    double total = 0.0;
    for (const TrafficPoint& point : points) {
        total += point.share;
    }
    for (TrafficPoint& point : points) {
        point.share /= total;
    }
}

template <class Value>
double largest(const Traffic& traffic, Value value_of) {
    double most = 0.0;
    for (const TrafficPoint& point : traffic.points) {
        most = std::max(most, value_of(point));
    }
    return most;
}

}  // namespace

Traffic traffic_from(const std::vector<WeightedValue>& batch, const std::vector<WeightedValue>& context, ShareOf shares_of) {
    Traffic traffic{{}, shares_of};
    for (const WeightedValue& b : batch) {
        for (const WeightedValue& s : context) {
            traffic.points.push_back({b.value, s.value, b.share * s.share});
        }
    }
    normalise(traffic.points);
    return traffic;
}

const TrafficPoint& typical_point(const Traffic& traffic) {
    return *std::min_element(traffic.points.begin(), traffic.points.end(), [](const TrafficPoint& a, const TrafficPoint& b) {
        return std::tuple(-a.share, a.batch, a.context) < std::tuple(-b.share, b.batch, b.context);
    });
}

double largest_batch_of(const Traffic& traffic) {
    return largest(traffic, [](const TrafficPoint& point) { return point.batch; });
}

double longest_context_of(const Traffic& traffic) {
    return largest(traffic, [](const TrafficPoint& point) { return point.context; });
}

Traffic at_batch(const Traffic& traffic, double batch) {
    std::map<double, double> shares;  // by context
    for (const TrafficPoint& point : traffic.points) {
        shares[point.context] += point.share;
    }
    Traffic result{{}, traffic.shares_of};
    result.points.reserve(shares.size());
    for (const auto& [context, share] : shares) {
        result.points.push_back({batch, context, share});
    }
    return result;
}

Traffic single_point(double batch, double context) { return {{{batch, context, 1.0}}, ShareOf::time}; }

TrafficMeans means_over(const Traffic& traffic, std::span<const sim::RoundEstimate> estimates) {
    TrafficMeans means;
    double tokens = 0.0;  // in units of which `time` takes one
    double time = 0.0;
    Seconds prompts;
    double decoding = 0.0;
    for (std::size_t i = 0; i < estimates.size(); ++i) {
        const sim::RoundEstimate& estimate = estimates[i];
        const double share = traffic.points[i].share;
        const bool of_time = traffic.shares_of == ShareOf::time;
        const double generated = of_time ? share * estimate.tokens_per_second_device : share;
        tokens += generated;
        const double spent = of_time ? share : share / estimate.tokens_per_second_device;
        time += spent;
        decoding += spent * estimate.decode_share;
        prompts += generated * (estimate.prompts / estimate.accept_length);
        means.time_per_token += generated * estimate.time_per_token;
        means.energy_per_token += generated * estimate.energy_per_token;
        means.price_per_token += generated * estimate.price_per_token;
        means.worst_time_per_token = std::max(means.worst_time_per_token, estimate.time_per_token);
        means.peak_memory = std::max(means.peak_memory, estimate.memory);
    }
    means.decode_share_device = decoding / time;
    means.decode_share_user = 1.0 - prompts / means.time_per_token;
    means.time_per_token = means.time_per_token / tokens;
    means.energy_per_token = means.energy_per_token / tokens;
    means.price_per_token = means.price_per_token / tokens;
    means.tokens_per_second_device = tokens / time;
    return means;
}

TrafficMeans means_over(const Traffic& traffic, const sim::CompiledRound& round, int speculation) {
    std::vector<sim::RoundEstimate> estimates;
    estimates.reserve(traffic.points.size());
    for (const TrafficPoint& point : traffic.points) {
        estimates.push_back(sim::evaluate(round, {speculation, point.batch, point.context}));
    }
    return means_over(traffic, estimates);
}

}  // namespace treeline::sweeps
