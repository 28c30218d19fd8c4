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

Traffic traffic_from(const std::vector<WeightedValue>& load, const std::vector<WeightedValue>& context, ShareOf shares_of,
                     LoadKind kind) {
    Traffic traffic{{}, shares_of, kind};
    for (const WeightedValue& b : load) {
        for (const WeightedValue& s : context) {
            if (b.share * s.share > 0.0) {  // what never happens changes nothing
                traffic.points.push_back({b.value, s.value, b.share * s.share});
            }
        }
    }
    normalise(traffic.points);
    return traffic;
}

const TrafficPoint& typical_point(const Traffic& traffic) {
    return *std::min_element(traffic.points.begin(), traffic.points.end(), [](const TrafficPoint& a, const TrafficPoint& b) {
        return std::tuple(-a.share, a.load, a.context) < std::tuple(-b.share, b.load, b.context);
    });
}

double largest_batch_of(const Traffic& traffic) {
    return largest(traffic, [](const TrafficPoint& point) { return point.load; });
}

double longest_context_of(const Traffic& traffic) {
    return largest(traffic, [](const TrafficPoint& point) { return point.context; });
}

Traffic at_batch(const Traffic& traffic, double batch) {
    std::map<double, double> shares;  // by context
    for (const TrafficPoint& point : traffic.points) {
        shares[point.context] += point.share;
    }
    Traffic result{{}, traffic.shares_of, LoadKind::batch};
    result.points.reserve(shares.size());
    for (const auto& [context, share] : shares) {
        result.points.push_back({batch, context, share});
    }
    return result;
}

Traffic single_point(double batch, double context) { return {{{batch, context, 1.0}}, ShareOf::time}; }

std::string problem_of(std::span<const SettledLoad> loads) {
    const auto found = std::find_if(loads.begin(), loads.end(), [](const SettledLoad& load) { return !load.problem.empty(); });
    return found == loads.end() ? std::string() : found->problem;
}

SettledLoad settle(const sim::CompiledRound& round, int speculation, LoadKind kind, const TrafficPoint& point) {
    return kind == LoadKind::batch ? settle_capped(round, speculation, point.load, point.context)
                                   : settle(round, speculation, Load{kind, point.load}, point.context);
}

bool keeps_states(const sim::CompiledRound& round, int speculation) {
    return speculation > 0 && sim::state_memory(round.memory, round.row(speculation)) >
                                  sim::state_memory(round.memory, round.row(sim::drafting_off));
}

StartedRound::StartedRound(const sim::CompiledRound& round, int speculation) : stated_(round) {
    if (!keeps_states(round, speculation)) {
        return;
    }
    started_ = round;
    const sim::RoundRow& longest = round.row(speculation);
    const auto keep = [&](sim::RoundRow& row) {
        row.target_states = std::max(row.target_states, longest.target_states);
        row.draft_states = std::max(row.draft_states, longest.draft_states);
        row.cached_activations = std::max(row.cached_activations, longest.cached_activations);
    };
    keep(started_->off);
    std::for_each(started_->rows.begin() + 1, started_->rows.end(), keep);
}

StartedRound server_of(const sim::CompiledRound& round, const DraftPlan& plan) {
    return {round, plan.by_point.empty() ? sim::drafting_off : plan.speculation};
}

Traffic settled_on(const sim::CompiledRound& round, const DraftPlan& plan, const Traffic& traffic) {
    const StartedRound server = server_of(round, plan);
    Traffic settled = traffic;
    settled.kind = LoadKind::batch;
    for (std::size_t i = 0; i < settled.points.size(); ++i) {
        settled.points[i].load = settle(server.get(), plan.at(i), traffic.kind, traffic.points[i]).batch;
    }
    return settled;
}

TrafficMeans means_over(const Traffic& traffic, std::span<const SettledLoad> loads,
                        std::span<const sim::RoundEstimate> estimates) {
    TrafficMeans means;
    means.in_service = 0.0;
    double rounds = 0.0;
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
        means.in_service += spent * loads[i].batch;
        means.queued += spent * loads[i].queued;
        const double rounds_of_token = estimate.time_per_token / estimate.round;
        rounds += generated * rounds_of_token;
        means.first_token += generated * estimate.first_token;
        prompts += generated * (estimate.prompts * rounds_of_token);
        means.time_per_token += generated * estimate.time_per_token;
        means.energy_per_token += generated * estimate.energy_per_token;
        means.price_per_token += generated * estimate.price_per_token;
        means.worst_time_per_token = std::max(means.worst_time_per_token, estimate.time_per_token);
        means.peak_memory = std::max(means.peak_memory, estimate.memory);
    }
    means.decode_share_device = decoding / time;
    means.in_service /= time;
    means.queued /= time;
    means.time_per_round = means.time_per_token / rounds;
    means.first_token = means.first_token / tokens;
    means.decode_share_user = 1.0 - prompts / means.time_per_token;
    means.time_per_token = means.time_per_token / tokens;
    means.energy_per_token = means.energy_per_token / tokens;
    means.price_per_token = means.price_per_token / tokens;
    means.tokens_per_second_device = tokens / time;
    return means;
}

TrafficMeans means_over(const Traffic& traffic, const sim::CompiledRound& stated, const DraftPlan& plan) {
    const StartedRound server = server_of(stated, plan);
    const sim::CompiledRound& round = server.get();
    std::vector<SettledLoad> loads;
    std::vector<sim::RoundEstimate> estimates;
    for (std::size_t i = 0; i < traffic.points.size(); ++i) {
        const TrafficPoint& point = traffic.points[i];
        const int speculation = plan.at(i);
        loads.push_back(settle(round, speculation, traffic.kind, point));
        estimates.push_back(under_load(round, speculation, {traffic.kind, point.load}, loads.back(),
                                       sim::evaluate(round, {speculation, loads.back().batch, point.context})));
    }
    return means_over(traffic, loads, estimates);
}

}  // namespace treeline::sweeps
