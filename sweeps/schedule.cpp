#include <algorithm>
#include <limits>
#include <map>

#include "sweeps/recommend.h"

namespace treeline {
namespace {

/// The traffic's contexts with their shares, batches summed out.
std::vector<WeightedValue> contexts_of(const std::vector<TrafficPoint>& traffic) {
    std::map<double, double> shares;
    for (const TrafficPoint& point : traffic) {
        shares[point.context] += point.share;
    }
    std::vector<WeightedValue> contexts;
    contexts.reserve(shares.size());
    for (const auto& [context, share] : shares) {
        contexts.push_back({context, share});
    }
    return contexts;
}

struct Choice {
    int speculation = 0;
    double time_per_token = std::numeric_limits<double>::infinity();  ///< seconds, mean over contexts; infinite = nothing fits
    double plain_time_per_token = 0.0;
    double fastest = std::numeric_limits<double>::infinity();  ///< time per token of the best shape, fitting or not
};

Choice best_at(const CompiledRound& round, const std::vector<int>& speculations, const std::vector<WeightedValue>& contexts,
               double batch) {
    const std::size_t count = speculations.size() * contexts.size();
    std::vector<int> choices(count);
    std::vector<double> batches(count, batch);
    std::vector<double> contexts_column(count);
    for (std::size_t i = 0; i < count; ++i) {
        choices[i] = speculations[i / contexts.size()];
        contexts_column[i] = contexts[i % contexts.size()].value;
    }
    std::vector<RoundEstimate> estimates(count);
    evaluate(round, {choices, batches, contexts_column}, estimates);

    Choice best;
    for (std::size_t choice = 0; choice < speculations.size(); ++choice) {
        double mean = 0.0;
        double plain = 0.0;
        Bytes memory;  // of a batch whose sequences have the traffic's contexts
        for (std::size_t c = 0; c < contexts.size(); ++c) {
            const RoundEstimate& estimate = estimates[choice * contexts.size() + c];
            mean += contexts[c].share * estimate.time_per_token.value();
            plain += contexts[c].share * estimate.autoregressive.value();
            memory += contexts[c].share * estimate.memory;
        }
        best.fastest = std::min(best.fastest, mean);
        if (memory <= round.memory.capacity && mean < best.time_per_token) {
            best.speculation = speculations[choice];
            best.time_per_token = mean;
            best.plain_time_per_token = plain;
        }
    }
    return best;
}

void append(std::vector<ScheduleEntry>& entries, const CompiledRound& round, int batch, const Choice& choice) {
    const double speedup = choice.plain_time_per_token / choice.time_per_token;
    if (entries.empty() || entries.back().speculation != choice.speculation) {
        const int draft_tokens = static_cast<int>(round.row(choice.speculation).draft_tokens);
        entries.push_back({batch, batch, choice.speculation, draft_tokens, speedup, speedup});
    } else {
        entries.back().batch_to = batch;
        entries.back().speedup_to = speedup;
    }
}

double followed_speedup(const CompiledRound& round, const Schedule& schedule, const std::vector<TrafficPoint>& traffic) {
    double plain = 0.0;
    double speculative = 0.0;
    for (const TrafficPoint& point : traffic) {
        int speculation = 0;
        for (const ScheduleEntry& entry : schedule.entries) {
            if (point.batch >= entry.batch_from && point.batch <= entry.batch_to) {
                speculation = entry.speculation;
            }
        }
        const RoundEstimate estimate = evaluate(round, {speculation, point.batch, point.context});
        plain += point.share * estimate.autoregressive.value();
        speculative += point.share * estimate.time_per_token.value();
    }
    return plain / speculative;
}

}  // namespace

Schedule schedule_for(const CompiledRound& round, const std::vector<TrafficPoint>& traffic, int largest_batch) {
    std::vector<int> speculations;
    for (int i = 0; i < static_cast<int>(round.rows.size()); ++i) {
        if (round.runs(i)) {
            speculations.push_back(i);
        }
    }
    return schedule_for(round, speculations, traffic, largest_batch);
}

Schedule schedule_for(const CompiledRound& round, const std::vector<int>& speculations,
                      const std::vector<TrafficPoint>& traffic, int largest_batch) {
    const std::vector<WeightedValue> contexts = contexts_of(traffic);

    Schedule schedule;
    for (int batch = 1; batch <= largest_batch; ++batch) {
        const Choice choice = best_at(round, speculations, contexts, batch);
        const bool nothing_fits = choice.plain_time_per_token == 0.0;
        const bool only_plain_fits = choice.speculation == 0 && choice.fastest < choice.time_per_token;
        if (nothing_fits || only_plain_fits) {
            schedule.ends_with_memory = true;
            break;
        }
        append(schedule.entries, round, batch, choice);
        schedule.largest_batch = batch;
    }
    if (!schedule.entries.empty() && schedule.entries.back().speculation == 0) {
        schedule.switch_off_batch = schedule.entries.back().batch_from;
    }
    schedule.speedup = followed_speedup(round, schedule, traffic);
    return schedule;
}

}  // namespace treeline
