#include "sweeps/recommend.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>
#include <tuple>

#include "sweeps/parallel.h"

namespace treeline {
namespace {

constexpr int largest_scheduled_batch = 1024;

/// A variant ready to be evaluated, or the reason why it cannot be.
struct Prepared {
    CompiledRound round;
    std::vector<int> speculations;  ///< those that it can run
    std::string problem;
};

std::string formatted(const char* format, double a, double b) {
    char text[256];
    std::snprintf(text, sizeof text, format, a, b);
    return text;
}

/// Plain decoding on the platform of `variant`: nothing drafted, nothing kept for rollback.
Variant plain_variant(const Variant& variant) {
    Variant plain = variant;
    plain.labels.drafter = "plain decoding";
    plain.labels.rollback.clear();
    plain.setup.drafter = NgramDrafter{Seconds(0.0)};
    plain.setup.acceptance = Acceptance::geometric(0.0);
    plain.setup.rollback = Rollback::truncate;
    plain.setup.speculations = chains_up_to(0);
    plain.plain = true;
    return plain;
}

std::vector<Variant> with_plain_decoding(const std::vector<Variant>& variants) {
    std::vector<Variant> all = variants;
    std::set<std::tuple<std::string, std::string, std::string, std::string, std::string>> platforms;
    for (const Variant& variant : variants) {
        const VariantLabels& labels = variant.labels;
        if (platforms.emplace(labels.target, labels.precision, labels.platform(), labels.stack, labels.mode).second) {
            all.push_back(plain_variant(variant));
        }
    }
    return all;
}

Prepared prepare(const Variant& variant) {
    Prepared prepared;
    if (!variant.plain) {
        const std::vector<std::string> problems = problems_of(variant.setup);
        if (!problems.empty()) {
            prepared.problem = problems.front();
            return prepared;
        }
    }
    prepared.round = compile_round(variant.setup);
    const int count = static_cast<int>(prepared.round.rows.size());
    for (int i = variant.plain ? 0 : 1; i < count; ++i) {
        if (prepared.round.runs(i)) {
            prepared.speculations.push_back(i);
        }
    }
    if (prepared.speculations.empty()) {
        prepared.problem = prepared.round.row(count > 1 ? 1 : 0).problem;
        if (prepared.problem.empty()) {
            prepared.problem = "no shape is asked for that drafts anything";
        }
    }
    return prepared;
}

double objective_of(const Candidate& candidate, Objective objective) {
    switch (objective) {
        case Objective::throughput:
            return 1.0 / candidate.tokens_per_second_device;
        case Objective::latency:
            return candidate.time_per_token.value();
        case Objective::cost:
            return candidate.price_per_token.value();
        case Objective::energy:
            return candidate.energy_per_token.value();
    }
    return 0.0;
}

Candidate average(const Prepared& prepared, std::size_t variant, int speculation, const Workload& workload) {
    Candidate candidate;
    candidate.variant = variant;
    const RoundRow& row = prepared.round.row(speculation);
    candidate.speculation = speculation;
    candidate.draft_tokens = static_cast<int>(row.draft_tokens);
    candidate.basis = row.accepted.basis;
    candidate.accept_length = row.accept_length();
    double plain_time = 0.0;
    double device_time = 0.0;
    double round_ratio = 0.0;
    double wasted = 0.0;
    for (const TrafficPoint& point : workload.traffic) {
        const RoundEstimate estimate = evaluate(prepared.round, {speculation, point.batch, point.context});
        candidate.time_per_token += point.share * estimate.time_per_token;
        candidate.worst_time_per_token = std::max(candidate.worst_time_per_token, estimate.time_per_token);
        candidate.peak_memory = std::max(candidate.peak_memory, estimate.memory);
        candidate.energy_per_token += point.share * estimate.energy_per_token;
        candidate.price_per_token += point.share * estimate.price_per_token;
        plain_time += point.share * estimate.autoregressive.value();
        device_time += point.share / estimate.tokens_per_second_device;
        round_ratio += point.share * estimate.iteration_multiplier;
        wasted += point.share * estimate.wasted_draft_share;
    }
    candidate.break_even_accept_length = round_ratio;
    candidate.wasted_draft_share = wasted;
    candidate.speedup = plain_time / candidate.time_per_token.value();
    candidate.tokens_per_second_user = Seconds(1.0) / candidate.time_per_token;
    candidate.tokens_per_second_device = 1.0 / device_time;
    candidate.time_to_first_token = time_to_first_token(prepared.round, workload.prompt_tokens);
    candidate.objective = objective_of(candidate, workload.objective);
    return candidate;
}

/// Why a candidate may not be recommended; empty when it may.
std::string limit_broken(const Candidate& candidate, const Prepared& prepared, const Limits& limits, bool plain) {
    Bytes room = prepared.round.memory.capacity;
    if (limits.memory && *limits.memory < room) {
        room = *limits.memory;
    }
    if (candidate.peak_memory > room) {
        return formatted("needs %.1f GB of memory per device where %.1f GB are allowed", candidate.peak_memory.value() / 1e9,
                         room.value() / 1e9);
    }
    if (limits.time_per_token && candidate.worst_time_per_token > *limits.time_per_token) {
        return formatted("TPOT reaches %.2f ms where %.2f ms are allowed", candidate.worst_time_per_token.value() * 1e3,
                         limits.time_per_token->value() * 1e3);
    }
    if (limits.time_to_first_token && candidate.time_to_first_token > *limits.time_to_first_token) {
        return formatted("TTFT is %.0f ms where %.0f ms are allowed", candidate.time_to_first_token.value() * 1e3,
                         limits.time_to_first_token->value() * 1e3);
    }
    if (!plain && candidate.speedup < limits.minimum_gain) {
        return formatted("gains %.2fx on plain decoding where at least %.2fx are asked for", candidate.speedup,
                         limits.minimum_gain);
    }
    return {};
}

struct VariantOutcome {
    std::vector<Candidate> candidates;
    std::string reason;  ///< of its best candidate, when none keeps the limits
};

/// What the best candidate of a variant that keeps no limit would have drafted.
std::string at_its_best(const Candidate& candidate, const Variant& variant) {
    if (candidate.draft_tokens == 0) {
        return "it ";
    }
    const Speculation& speculation = variant.setup.speculations[static_cast<std::size_t>(candidate.speculation)];
    const bool chain = std::holds_alternative<ChainShape>(speculation.shape);
    return chain ? "at its best draft length of " + std::to_string(candidate.draft_tokens) + " it "
                 : "at its best shape (" + speculation.label + ") it ";
}

VariantOutcome judge(const Prepared& prepared, std::size_t index, const Variant& variant, const Workload& workload) {
    VariantOutcome outcome{{}, prepared.problem};
    if (!prepared.problem.empty()) {
        return outcome;
    }
    double best_broken = std::numeric_limits<double>::infinity();
    for (const int speculation : prepared.speculations) {
        const Candidate candidate = average(prepared, index, speculation, workload);
        const std::string broken = limit_broken(candidate, prepared, workload.limits, variant.plain);
        if (broken.empty()) {
            outcome.candidates.push_back(candidate);
        } else if (candidate.objective < best_broken) {
            best_broken = candidate.objective;
            outcome.reason = at_its_best(candidate, variant) + broken;
        }
    }
    return outcome;
}

bool before(const Candidate& a, const Candidate& b) {
    return std::tuple(a.objective, a.variant, a.draft_tokens, a.speculation) <
           std::tuple(b.objective, b.variant, b.draft_tokens, b.speculation);
}

std::vector<Candidate> best_of_each_other_variant(const std::vector<Candidate>& sorted) {
    std::set<std::size_t> seen = {sorted.front().variant};
    std::vector<Candidate> runners_up;
    for (const Candidate& candidate : sorted) {
        if (seen.insert(candidate.variant).second) {
            runners_up.push_back(candidate);
        }
    }
    return runners_up;
}

int largest_batch_of_interest(const std::vector<TrafficPoint>& traffic) {
    double largest = 1.0;
    for (const TrafficPoint& point : traffic) {
        largest = std::max(largest, point.batch);
    }
    return static_cast<int>(std::clamp(4.0 * largest, 64.0, 1024.0));
}

double most_common_context(const std::vector<TrafficPoint>& traffic) {
    return std::max_element(traffic.begin(), traffic.end(),
                            [](const TrafficPoint& a, const TrafficPoint& b) {
                                return std::tuple(a.share, -a.context) < std::tuple(b.share, -b.context);
                            })
        ->context;
}

/// For each variant and batch (powers of two) the shape with the highest speed-up that fits, with the Pareto front
/// marked.
std::vector<TradeoffPoint> tradeoffs_of(const std::vector<Prepared>& prepared, const std::vector<TrafficPoint>& traffic) {
    const double context = most_common_context(traffic);
    std::vector<TradeoffPoint> points;
    for (std::size_t variant = 0; variant < prepared.size(); ++variant) {
        for (double batch = 1.0; prepared[variant].problem.empty() && batch <= largest_batch_of_interest(traffic);
             batch *= 2.0) {
            TradeoffPoint best;
            for (const int speculation : prepared[variant].speculations) {
                const RoundEstimate e = evaluate(prepared[variant].round, {speculation, batch, context});
                if (e.fits && e.tokens_per_second_user > best.tokens_per_second_user) {
                    best = {variant,
                            speculation,
                            static_cast<int>(prepared[variant].round.row(speculation).draft_tokens),
                            batch,
                            context,
                            e.tokens_per_second_user,
                            e.tokens_per_second_device,
                            e.throughput_multiplier,
                            e.energy_per_token,
                            false};
                }
            }
            if (best.tokens_per_second_user > 0.0) {
                points.push_back(best);
            }
        }
    }
    std::vector<Tradeoff> tradeoffs;
    for (std::size_t i = 0; i < points.size(); ++i) {
        tradeoffs.push_back({points[i].tokens_per_second_user, points[i].tokens_per_second_device, i});
    }
    for (const Tradeoff& on_front : pareto_front(tradeoffs)) {
        points[on_front.id].on_front = true;
    }
    return points;
}

Candidate plain_on_same_platform(const Recommendation& recommendation, const std::vector<Prepared>& prepared,
                                 const Workload& workload) {
    const Variant& best = recommendation.variants[recommendation.candidates.front().variant];
    for (std::size_t i = 0; i < recommendation.variants.size(); ++i) {
        const VariantLabels& labels = recommendation.variants[i].labels;
        if (recommendation.variants[i].plain && labels.platform() == best.labels.platform() &&
            labels.stack == best.labels.stack && labels.mode == best.labels.mode && labels.target == best.labels.target &&
            labels.precision == best.labels.precision) {
            return average(prepared[i], i, 0, workload);
        }
    }
    return {};
}

/// Plain decoding and the chains among the shapes.
std::vector<int> runnable_chains(const CompiledRound& round, const std::vector<Speculation>& speculations) {
    std::vector<int> chains;
    for (int i = 0; i < static_cast<int>(round.rows.size()); ++i) {
        if (round.runs(i) && is_chain(speculations[static_cast<std::size_t>(i)])) {
            chains.push_back(i);
        }
    }
    return chains;
}

}  // namespace

std::vector<DeviceChoice> best_of_each_device(const Recommendation& recommendation) {
    std::vector<DeviceChoice> choices;
    std::set<std::string> seen;
    for (const Candidate& candidate : recommendation.candidates) {
        const std::string platform = recommendation.variants[candidate.variant].labels.platform();
        if (seen.insert(platform).second) {
            choices.push_back({platform, &candidate});
        }
    }
    return choices;
}

RecommendationResult recommend(const Workload& workload, unsigned threads) {
    Recommendation answer;
    std::vector<Variant> variants = workload.variants;
    for (Variant& variant : variants) {
        variant.setup.speculations = workload.speculations;
    }
    answer.variants = with_plain_decoding(variants);
    answer.speculations = workload.speculations;

    std::vector<Prepared> prepared(answer.variants.size());
    std::vector<VariantOutcome> outcomes(answer.variants.size());
    parallel_for(answer.variants.size(), thread_count(threads), [&](std::size_t i) {
        prepared[i] = prepare(answer.variants[i]);
        outcomes[i] = judge(prepared[i], i, answer.variants[i], workload);
    });
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        if (outcomes[i].candidates.empty()) {
            answer.excluded.push_back({answer.variants[i].labels.text(), outcomes[i].reason});
        }
        answer.candidates.insert(answer.candidates.end(), outcomes[i].candidates.begin(), outcomes[i].candidates.end());
    }
    if (answer.candidates.empty()) {
        return {std::nullopt, std::move(answer.excluded)};
    }
    std::sort(answer.candidates.begin(), answer.candidates.end(), before);
    const Candidate best = answer.candidates.front();
    for (Candidate& candidate : answer.candidates) {
        candidate.regret = candidate.objective / best.objective - 1.0;
    }
    answer.runners_up = best_of_each_other_variant(answer.candidates);
    answer.speculate = best.draft_tokens > 0;
    answer.plain = plain_on_same_platform(answer, prepared, workload);
    const CompiledRound& round = prepared[best.variant].round;
    answer.schedule = schedule_for(round, workload.traffic, largest_scheduled_batch);
    const std::vector<int> chains = runnable_chains(round, workload.speculations);
    answer.chain_schedule = chains.size() == workload.speculations.size()
                                ? answer.schedule
                                : schedule_for(round, chains, workload.traffic, largest_scheduled_batch);
    answer.tradeoffs = tradeoffs_of(prepared, workload.traffic);
    if (answer.speculate && !answer.runners_up.empty()) {
        answer.flip_accept_length = best.accept_length * best.objective / answer.runners_up.front().objective;
    }
    std::vector<Exclusion> excluded = answer.excluded;
    return {std::move(answer), std::move(excluded)};
}

}  // namespace treeline
