#include "sweeps/recommend.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>

#include <fmt/format.h>

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
    plain.problem.clear();
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
    if (!variant.problem.empty()) {
        prepared.problem = variant.problem;
        return prepared;
    }
    if (!variant.plain()) {
        const std::vector<std::string> problems = problems_of(variant.setup);
        if (!problems.empty()) {
            prepared.problem = problems.front();
            return prepared;
        }
    }
    prepared.round = sim::compile_round(variant.setup);
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
Candidate candidate_of(const Prepared& prepared, std::size_t variant, const DraftPlan& plan, const Outcome& outcome,
                       Objective objective) {
    Candidate candidate;
    candidate.plan = plan;
    static_cast<TrafficMeans&>(candidate) = outcome.means;
    candidate.variant = variant;
    const sim::RoundRow& row = prepared.round.row(outcome.speculation);
    candidate.speculation = outcome.speculation;
    candidate.draft_tokens = static_cast<int>(row.draft_tokens);
    candidate.basis = row.accepted.basis;
    candidate.accept_length = row.accept_length();
    candidate.gain = outcome.gain;
    candidate.gain_of_capacity = outcome.gain_of_capacity;
    candidate.speedup = outcome.speedup;
    candidate.break_even_accept_length = accept_length_at(candidate, candidate.gain, objective);
    candidate.tokens_per_second_user = Seconds(1.0) / candidate.time_per_token;
    candidate.time_to_first_token = first_token_of(prepared, outcome);
    candidate.wasted_draft_share =
        row.draft_tokens > 0.0 ? (row.draft_tokens - (candidate.accept_length - 1.0)) / row.draft_tokens : 0.0;
    candidate.objective = outcome.objective;
    return candidate;
}

std::string waiting_sentence(const Outcome& outcome, const Prepared& prepared, const Traffic& traffic, const Limits& limits) {
    const double context = longest_context_of(traffic);
    return fmt::format(
        "holds a batch of {:.0f} at once where plain decoding holds {:.0f}, so that {:.3g} % more of the requests wait; "
        "waiting "
        "allows {:.3g} %",
        most_sequences(prepared.round, outcome.speculation, context), most_sequences(prepared.round, 0, context),
        100.0 * outcome.waiting, 100.0 * limits.waiting);
}

/// The sentence for a broken limit and the outcome that breaks it.
std::string sentence_of(Limit limit, const Outcome& outcome, const Prepared& prepared, const Traffic& traffic,
                        const Limits& limits) {
    switch (limit) {
        case Limit::memory:
            return formatted("needs %.1f GB of memory per device; %.1f GB are allowed", outcome.means.peak_memory.value() / 1e9,
                             allowed_memory(prepared.round, outcome.speculation, limits).value() / 1e9);
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
        case Limit::first_token_growth:
            return formatted("makes the TTFT %.3g times that of plain decoding; ttft_growth allows %.3g",
                             outcome.first_token_growth, limits.first_token_growth);
        case Limit::waiting:
            return waiting_sentence(outcome, prepared, traffic, limits);
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
    std::string reason;           ///< for its best candidate, if none meets the limits
    std::optional<Limit> broken;  ///< by that one
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

/// A speculation that breaks a limit, off at those of several loads where it does; nothing if that does not help.
std::optional<Candidate> candidate_off_where_broken(const Prepared& prepared, std::size_t index, int speculation,
                                                    const Workload& workload) {
    const PlannedOutcome planned =
        planned_outcome(prepared.round, speculation, workload.traffic, workload.objective, workload.limits);
    return planned.plan.by_point.empty() || limit_of(planned.outcome, prepared, workload.limits)
               ? std::nullopt
               : std::optional(candidate_of(prepared, index, planned.plan, planned.outcome, workload.objective));
}

VariantOutcome judge(const Prepared& prepared, std::size_t index, const Variant& variant, const Workload& workload) {
    VariantOutcome outcome{{}, prepared.problem, {}};
    if (!prepared.problem.empty()) {
        return outcome;
    }
    double best_broken = std::numeric_limits<double>::infinity();
    for (const Outcome& each : outcomes_of(prepared.round, prepared.speculations, workload.traffic, workload.objective)) {
        const std::optional<Limit> broken = limit_of(each, prepared, workload.limits);
        if (!broken) {
            outcome.candidates.push_back(candidate_of(prepared, index, each.speculation, each, workload.objective));
        } else if (const auto partly = variant.switching == Switching::nothing
                                           ? std::nullopt
                                           : candidate_off_where_broken(prepared, index, each.speculation, workload)) {
            outcome.candidates.push_back(*partly);
        } else if (each.objective < best_broken) {
            best_broken = each.objective;
            outcome.reason = at_its_best(candidate_of(prepared, index, each.speculation, each, workload.objective), variant) +
                             sentence_of(*broken, each, prepared, workload.traffic, workload.limits);
            outcome.broken = broken;
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

/// Devices and stack, however a model is cut: what a recommendation and its plain decoding must share.
bool same_server(const Variant& a, const Variant& b) {
    const sim::Platform &x = a.setup.platform, &y = b.setup.platform;
    return a.origin.target == b.origin.target && x.device.name == y.device.name && x.devices() == y.devices() &&
           a.labels.stack == b.labels.stack && x.mode == y.mode && x.stack.prefill == y.stack.prefill &&
           x.stack.step_tokens == y.stack.step_tokens;
}

/// Plain decoding on the platforms of all variants; within the limits or not, since it is what others are compared with.
std::vector<std::optional<Candidate>> plain_candidates(const std::vector<Variant>& variants,
                                                       const std::vector<Prepared>& prepared, const Workload& workload) {
    std::vector<std::optional<Candidate>> plain(variants.size());
    for (std::size_t i = 0; i < variants.size(); ++i) {
        if (variants[i].plain() && prepared[i].problem.empty()) {
            plain[i] = candidate_of(prepared[i], i, 0,
                                    outcomes_of(prepared[i].round, {0}, workload.traffic, workload.objective).front(),
                                    workload.objective);
        }
    }
    return plain;
}

/// The best plain decoding on the devices and stack of a variant.
const Candidate& plain_beside(const Variant& variant, const std::vector<Variant>& variants,
                              const std::vector<std::optional<Candidate>>& plain) {
    const Candidate* best = nullptr;
    for (std::size_t i = 0; i < variants.size(); ++i) {
        if (plain[i] && same_server(variants[i], variant) && (best == nullptr || plain[i]->objective < best->objective)) {
            best = &*plain[i];
        }
    }
    return *best;
}

const Candidate* plain_on_platform_of(const Variant& variant, const std::vector<Variant>& variants,
                                      const std::vector<std::optional<Candidate>>& plain) {
    for (std::size_t i = 0; i < variants.size(); ++i) {
        if (plain[i] && variants[i].origin.same_platform(variant.origin)) {
            return &*plain[i];
        }
    }
    return nullptr;
}

/// Gains were measured against plain decoding on the same cut of the devices; another cut may be better for it.
void compare_with_best_plain(std::vector<Candidate>& candidates, const std::vector<Variant>& variants,
                             const std::vector<std::optional<Candidate>>& plain, const Limits& limits) {
    for (Candidate& candidate : candidates) {
        const Variant& variant = variants[candidate.variant];
        const Candidate& best = plain_beside(variant, variants, plain);
        if (!candidate.gain_of_capacity) {
            candidate.gain *= best.objective / plain_on_platform_of(variant, variants, plain)->objective;
        }
    }
    std::erase_if(candidates, [&](const Candidate& candidate) {
        return candidate.draft_tokens > 0 && candidate.gain < limits.minimum_gain;
    });
}

Capacity capacity_of(const sim::CompiledRound& round, int speculation, const Traffic& traffic) {
    Capacity capacity;
    capacity.context = longest_context_of(traffic);
    capacity.plain = most_sequences(round, 0, capacity.context);
    capacity.off = most_sequences(round, sim::drafting_off, capacity.context);
    capacity.drafting = most_sequences(round, speculation, capacity.context);
    capacity.allowed = round.memory.capacity;
    capacity.parts = sim::memory_parts(round, {speculation, std::max(1.0, capacity.drafting), capacity.context});
    return capacity;
}

/// Those of them that one server may change between as its batch does; plain decoding is always named.
std::vector<int> switchable(const std::vector<int>& runnable, const std::vector<sim::Speculation>& speculations,
                            Switching switching, int best) {
    const auto chain = [&](int i) { return sim::is_chain(speculations[static_cast<std::size_t>(i)]); };
    const bool fixed = switching == Switching::nothing || (switching == Switching::lengths && !chain(best));
    std::vector<int> all;
    std::copy_if(runnable.begin(), runnable.end(), std::back_inserter(all),
                 [&](int i) { return switching == Switching::shapes || (fixed ? i == 0 || i == best : chain(i)); });
    return all;
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

namespace {

/// All variants, ready and judged.
struct Judged {
    std::vector<Variant> variants;
    std::vector<Prepared> prepared;
    std::vector<VariantOutcome> outcomes;
};

Judged judged(const Workload& workload, unsigned threads) {
    Judged all;
    std::vector<Variant> variants = workload.variants;
    for (Variant& variant : variants) {
        variant.setup.speculations = workload.speculations;
        variant.setup.platform.memory_limit = workload.limits.memory;
    }
    all.variants = with_plain_decoding(variants);
    all.prepared.resize(all.variants.size());
    all.outcomes.resize(all.variants.size());
    parallel_for(all.variants.size(), thread_count(threads), [&](std::size_t i) {
        all.prepared[i] = prepare(all.variants[i], workload);
        all.outcomes[i] = judge(all.prepared[i], i, all.variants[i], workload);
    });
    return all;
}

/// The schedules of the recommended variant, and what its server holds.
void add_schedules(const sim::CompiledRound& round, const Workload& workload, Recommendation& answer) {
    const Candidate& best = answer.candidates.front();
    const Switching switching = answer.variants[best.variant].switching;
    answer.schedule = schedule_for(round, switchable(runnable(round), workload.speculations, switching, best.speculation),
                                   workload, largest_scheduled_batch, best.speculation);
    answer.settled = settled_on(round, best.plan, workload.traffic);
    answer.capacity = capacity_of(round, best.speculation, workload.traffic);
}

RecommendationResult answer_for(const Workload& workload, unsigned threads) {
    Recommendation answer;
    answer.traffic = workload.traffic;
    answer.objective = workload.objective;
    answer.limits = workload.limits;
    Judged all = judged(workload, threads);
    answer.variants = std::move(all.variants);
    answer.speculations = workload.speculations;
    answer.excluded = workload.excluded;
    for (std::size_t i = 0; i < all.outcomes.size(); ++i) {
        const VariantOutcome& of_variant = all.outcomes[i];
        answer.candidates.insert(answer.candidates.end(), of_variant.candidates.begin(), of_variant.candidates.end());
        if (of_variant.candidates.empty()) {
            answer.excluded.push_back({answer.variants[i].labels.text(), of_variant.reason, i});
        }
    }
    const auto plain = plain_candidates(answer.variants, all.prepared, workload);
    compare_with_best_plain(answer.candidates, answer.variants, plain, workload.limits);
    if (answer.candidates.empty()) {
        return {std::nullopt, std::move(answer.excluded)};
    }
    std::sort(answer.candidates.begin(), answer.candidates.end(), before);
    const Candidate& best = answer.candidates.front();
    for (Candidate& candidate : answer.candidates) {
        candidate.regret = candidate.objective / best.objective - 1.0;
    }
    answer.runners_up = best_of_each_other_variant(answer.candidates);
    answer.speculate = best.draft_tokens > 0;
    answer.plain = plain_beside(answer.variants[best.variant], answer.variants, plain);
    add_schedules(all.prepared[best.variant].round, workload, answer);
    answer.tradeoffs = tradeoffs_of(all.prepared, answer.settled);
    if (answer.speculate && !answer.runners_up.empty()) {
        answer.flip_accept_length =
            accept_length_at(best, answer.runners_up.front().objective / best.objective, workload.objective);
    }
    std::vector<Exclusion> excluded = answer.excluded;
    return {std::move(answer), std::move(excluded)};
}

/// The most requests per second that any variant serves at a point, whatever it drafts.
double most_requests_served(const Judged& all, const TrafficPoint& point) {
    double most = 0.0;
    for (std::size_t i = 0; i < all.variants.size(); ++i) {
        const sim::CompiledRound& round = all.prepared[i].round;
        for (const int speculation : all.prepared[i].speculations) {
            const double batch = std::max(1.0, most_sequences(round, speculation, point.context));
            const sim::RoundEstimate full = sim::evaluate(round, {speculation, batch, point.context});
            most = std::max(most, full.tokens_per_second_device * round.ranks / round.output_tokens);
        }
    }
    return most;
}

/// Why nobody serves one load of the workload within its limits, and the limit in the way of plain decoding; nothing if
/// somebody does.
struct Unserved {
    std::string reason;
    std::optional<Limit> broken;
};
std::optional<Unserved> why_unserved(Workload workload, const TrafficPoint& point, unsigned threads) {
    workload.traffic.points = {point};
    workload.traffic.points.front().share = 1.0;
    const Judged all = judged(workload, threads);
    if (std::any_of(all.outcomes.begin(), all.outcomes.end(),
                    [](const VariantOutcome& outcome) { return !outcome.candidates.empty(); })) {
        return std::nullopt;
    }
    const VariantOutcome& plain = all.outcomes.back();  // the last one is plain decoding
    if (plain.broken == Limit::load && workload.traffic.kind == LoadKind::arrival_rate) {
        return Unserved{fmt::format("at most about {:.3g} requests/s can be served", most_requests_served(all, point)),
                        plain.broken};
    }
    return Unserved{plain.reason, plain.broken};
}

/// The answer for the loads that somebody serves, where nobody serves all.
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

/// Arrivals beyond what anybody serves, as clients that keep every server full.
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
    const Prepared plain = prepare(plain_variant(workload.variants.front()), workload);
    for (TrafficPoint& point : full.traffic.points) {
        point.load = std::max(1.0, most_sequences(plain.round, 0, point.context));
    }
    RecommendationResult result = answer_for(full, threads);
    if (result.recommendation) {
        Recommendation& found = *result.recommendation;
        const double per_request = plain.round.output_tokens;
        const auto rate = [&](const Candidate& candidate) {
            return candidate.tokens_per_second_device * found.variants[candidate.variant].setup.platform.devices() /
                   per_request;
        };
        found.saturation = Saturation{largest_batch_of(workload.traffic), rate(found.plain), rate(found.candidates.front())};
    }
    return result;
}

}  // namespace

RecommendationResult recommend(const Workload& workload, unsigned threads) {
    RecommendationResult result = answer_for(workload, threads);
    if (result.recommendation) {
        return result;
    }
    if (auto partly = without_unserved(workload, threads); partly && partly->recommendation) {
        return std::move(*partly);
    }
    if (auto full = saturated(workload, threads); full && full->recommendation) {
        return std::move(*full);
    }
    return result;
}

}  // namespace treeline::sweeps
