#include "sweeps/recommend.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>

#include "sweeps/parallel.h"

namespace treeline::sweeps {
namespace {

constexpr int largest_scheduled_batch = 1024;

/// A variant ready to be evaluated, or the reason why it cannot be.
struct Prepared {
    sim::CompiledRound round;
    std::vector<int> speculations;  ///< those that it can run
    Seconds time_to_first_token;    ///< of a prompt alone
    bool loaded = false;            ///< the traffic is not stated in batches
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
    plain.origin.drafter.reset();
    plain.setup.drafter = sim::NoDrafter{};
    plain.setup.acceptance = {};
    plain.setup.rollback = sim::Rollback::truncate;
    plain.setup.speculations = sim::chains_up_to(0);
    return plain;
}

std::vector<Variant> with_plain_decoding(const std::vector<Variant>& variants) {
    std::vector<Variant> all = variants;
    std::set<std::pair<std::size_t, std::size_t>> platforms;
    for (const Variant& variant : variants) {
        if (platforms.emplace(variant.origin.target, variant.origin.platform).second && !variant.plain()) {
            all.push_back(plain_variant(variant));
        }
    }
    return all;
}

Prepared prepare(const Variant& variant, const Workload& workload) {
    Prepared prepared;
    if (!variant.plain()) {
        const std::vector<std::string> problems = problems_of(variant.setup);
        if (!problems.empty()) {
            prepared.problem = problems.front();
            return prepared;
        }
    }
    prepared.round = sim::compile_round(variant.setup);
    prepared.round.memory.capacity = allowed_memory(prepared.round, workload.limits);
    prepared.time_to_first_token = sim::time_to_first_token(prepared.round, workload.prompt_tokens);
    prepared.loaded = workload.traffic.kind != LoadKind::batch;
    prepared.speculations = runnable(prepared.round);
    if (!variant.plain()) {
        std::erase(prepared.speculations, 0);
    }
    if (prepared.speculations.empty()) {
        prepared.problem = prepared.round.row(prepared.round.rows.size() > 1 ? 1 : 0).problem;
        if (prepared.problem.empty()) {
            prepared.problem = "none of the given shapes drafts anything";
        }
    }
    return prepared;
}

/// The accept length at which a candidate's objective would be `ratio` times what it is: what it decodes takes the more rounds
/// the fewer tokens a round yields, and prompts are read all the same. Unlimited where prompts alone take longer.
double accept_length_at(const Candidate& candidate, double ratio, Objective objective) {
    const double share = objective == Objective::latency ? candidate.decode_share_user : candidate.decode_share_device;
    const double left = ratio - (1.0 - share);
    return left > 0.0 ? candidate.accept_length * share / left : sim::unlimited;
}

/// Among the others under a load; where batches are stated, alone.
Seconds first_token_of(const Prepared& prepared, const Outcome& outcome) {
    return prepared.loaded ? outcome.means.first_token : prepared.time_to_first_token;
}

/// An outcome over the traffic as a candidate.
Candidate candidate_of(const Prepared& prepared, std::size_t variant, const Outcome& outcome, Objective objective) {
    Candidate candidate;
    static_cast<TrafficMeans&>(candidate) = outcome.means;
    candidate.variant = variant;
    const sim::RoundRow& row = prepared.round.row(outcome.speculation);
    candidate.speculation = outcome.speculation;
    candidate.draft_tokens = static_cast<int>(row.draft_tokens);
    candidate.basis = row.accepted.basis;
    candidate.accept_length = row.accept_length();
    candidate.gain = outcome.gain;
    candidate.speedup = outcome.speedup;
    candidate.break_even_accept_length = accept_length_at(candidate, candidate.gain, objective);
    candidate.tokens_per_second_user = Seconds(1.0) / candidate.time_per_token;
    candidate.time_to_first_token = first_token_of(prepared, outcome);
    candidate.wasted_draft_share =
        row.draft_tokens > 0.0 ? (row.draft_tokens - (candidate.accept_length - 1.0)) / row.draft_tokens : 0.0;
    candidate.objective = outcome.objective;
    return candidate;
}

/// The sentence for a broken limit and the outcome that breaks it.
std::string sentence_of(Limit limit, const Outcome& outcome, const Prepared& prepared, const Limits& limits) {
    switch (limit) {
        case Limit::memory:
            return formatted("needs %.1f GB of memory per device; %.1f GB are allowed", outcome.means.peak_memory.value() / 1e9,
                             allowed_memory(prepared.round, limits).value() / 1e9);
        case Limit::time_per_token:
            return formatted("reaches a TPOT of %.2f ms; %.2f ms are allowed", outcome.means.worst_time_per_token.value() * 1e3,
                             limits.time_per_token->value() * 1e3);
        case Limit::time_to_first_token:
            return formatted("reaches a TTFT of %.0f ms; %.0f ms are allowed", first_token_of(prepared, outcome).value() * 1e3,
                             limits.time_to_first_token->value() * 1e3);
        case Limit::gain:
            return formatted("reaches only %.3fx of plain decoding; the minimum is %.3gx", outcome.gain, limits.minimum_gain);
        case Limit::load:
            return "cannot serve the load: " + outcome.problem;
    }
    return {};
}

std::optional<Limit> limit_of(const Outcome& outcome, const Prepared& prepared, const Limits& limits) {
    const std::optional<Limit> broken = broken_limit(outcome, prepared.round, limits);
    const bool late = limits.time_to_first_token && first_token_of(prepared, outcome) > *limits.time_to_first_token;
    return late && (!broken || *broken == Limit::gain) ? Limit::time_to_first_token : broken;
}

struct VariantOutcome {
    std::vector<Candidate> candidates;
    std::string reason;  ///< for its best candidate, if none meets the limits
};

/// The beginning of that sentence: what a variant's best candidate would have drafted.
std::string at_its_best(const Candidate& candidate, const Variant& variant) {
    if (candidate.draft_tokens == 0) {
        return "it ";
    }
    const sim::Speculation& speculation = variant.setup.speculations[static_cast<std::size_t>(candidate.speculation)];
    const bool chain = std::holds_alternative<sim::ChainShape>(speculation.shape);
    return chain ? "at its best draft length of " + std::to_string(candidate.draft_tokens) + " it "
                 : "at its best shape (" + speculation.label + ") it ";
}

VariantOutcome judge(const Prepared& prepared, std::size_t index, const Variant& variant, const Workload& workload) {
    VariantOutcome outcome{{}, prepared.problem};
    if (!prepared.problem.empty()) {
        return outcome;
    }
    double best_broken = std::numeric_limits<double>::infinity();
    for (const Outcome& each : outcomes_of(prepared.round, prepared.speculations, workload.traffic, workload.objective)) {
        const Candidate candidate = candidate_of(prepared, index, each, workload.objective);
        const std::optional<Limit> broken = limit_of(each, prepared, workload.limits);
        if (!broken) {
            outcome.candidates.push_back(candidate);
        } else if (candidate.objective < best_broken) {
            best_broken = candidate.objective;
            outcome.reason = at_its_best(candidate, variant) + sentence_of(*broken, each, prepared, workload.limits);
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

int largest_batch_of_interest(const Traffic& traffic) {
    return static_cast<int>(std::clamp(4.0 * largest_batch_of(traffic), 64.0, 1024.0));
}

/// For each variant and batch (powers of two) the fastest shape that fits, with the Pareto front marked.
std::vector<TradeoffPoint> tradeoffs_of(const std::vector<Prepared>& prepared, const Traffic& traffic) {
    const double context = typical_point(traffic).context;
    std::vector<TradeoffPoint> points;
    for (std::size_t variant = 0; variant < prepared.size(); ++variant) {
        const sim::CompiledRound& round = prepared[variant].round;
        for (double batch = 1.0; prepared[variant].problem.empty() && batch <= largest_batch_of_interest(traffic);
             batch *= 2.0) {
            if (const auto best = fastest_that_fits(round, prepared[variant].speculations, batch, context)) {
                const sim::RoundEstimate& e = best->estimate;
                points.push_back({variant, best->speculation, static_cast<int>(round.row(best->speculation).draft_tokens),
                                  batch, context, e.tokens_per_second_user, e.tokens_per_second_device, e.throughput_multiplier,
                                  e.energy_per_token, false, round.row(best->speculation).accepted.basis});
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
        const Variant& variant = recommendation.variants[i];
        if (variant.plain() && variant.origin.same_platform(best.origin)) {
            return candidate_of(prepared[i], i,
                                outcomes_of(prepared[i].round, {0}, workload.traffic, workload.objective).front(),
                                workload.objective);
        }
    }
    return {};
}

/// Those of them that are chains; plain decoding is one.
std::vector<int> chains_of(const std::vector<int>& runnable, const std::vector<sim::Speculation>& speculations) {
    std::vector<int> chains;
    std::copy_if(runnable.begin(), runnable.end(), std::back_inserter(chains),
                 [&](int i) { return sim::is_chain(speculations[static_cast<std::size_t>(i)]); });
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
    answer.excluded = workload.excluded;

    std::vector<Prepared> prepared(answer.variants.size());
    std::vector<VariantOutcome> outcomes(answer.variants.size());
    parallel_for(answer.variants.size(), thread_count(threads), [&](std::size_t i) {
        prepared[i] = prepare(answer.variants[i], workload);
        outcomes[i] = judge(prepared[i], i, answer.variants[i], workload);
    });
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        if (outcomes[i].candidates.empty()) {
            answer.excluded.push_back({answer.variants[i].labels.text(), outcomes[i].reason, i});
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
    const sim::CompiledRound& round = prepared[best.variant].round;
    const std::vector<int> all = runnable(round);
    const std::vector<int> chains = chains_of(all, workload.speculations);
    answer.schedule = schedule_for(round, all, workload, largest_scheduled_batch);
    answer.chain_schedule =
        chains.size() == all.size() ? answer.schedule : schedule_for(round, chains, workload, largest_scheduled_batch);
    answer.settled = settled_on(round, best.speculation, workload.traffic);
    answer.tradeoffs = tradeoffs_of(prepared, answer.settled);
    if (answer.speculate && !answer.runners_up.empty()) {
        answer.flip_accept_length =
            accept_length_at(best, answer.runners_up.front().objective / best.objective, workload.objective);
    }
    std::vector<Exclusion> excluded = answer.excluded;
    return {std::move(answer), std::move(excluded)};
}

}  // namespace treeline::sweeps
