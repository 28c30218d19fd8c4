// Every variant of a workload, ready to be evaluated, with its candidates within the limits or the reason why there are none.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "sweeps/most_rate.h"
#include "sweeps/parallel.h"
#include "sweeps/recommend_inside.h"
#include "text/number_text.h"

namespace treeline::sweeps {
namespace {

/// A figure and its limit, as sentences name them.
struct Apart {
    std::string figure, limit;
};

/// Both with as many decimals, `least` of them to six, as tell the two apart.
Apart decimals_apart(double figure, double limit, int least) {
    constexpr int most = 6;
    const auto text_of = [](double number, int decimals) { return fmt::format("{:.{}f}", number, decimals); };
    int decimals = least;
    while (decimals < most && text_of(figure, decimals) == text_of(limit, decimals)) {
        ++decimals;
    }
    return {text_of(figure, decimals), text_of(limit, decimals)};
}

/// Both in three digits, if these tell the two apart.
Apart digits_apart(double figure, double limit) {
    const Apart text{text::short_text(figure), text::short_text(limit)};
    return text.figure != text.limit ? text : decimals_apart(figure, limit, 1);
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

/// "would gain 1.84x, but " of drafts that a limit on what users wait for excludes: they may raise it.
std::string would_gain(const Outcome& outcome) {
    return outcome.gain > 1.0 ? fmt::format("would gain {:.2f}x, but ", outcome.gain) : "";
}

std::string waiting_sentence(const Outcome& outcome, const Prepared& prepared, const Traffic& traffic, const Limits& limits) {
    const double context = longest_context_of(traffic);
    const auto [wait, allowed] = digits_apart(100.0 * (outcome.waiting + limits.own_plain.waiting), 100.0 * limits.waiting);
    if (limits.own_plain.waiting > 0.0) {
        return would_gain(outcome) + fmt::format(
                                         "holds a batch of {:.0f} at once, so that {} % more of the requests wait than "
                                         "where plain decoding holds most; --waiting allows {} %",
                                         most_sequences(prepared.round, outcome.speculation, context), wait, allowed);
    }
    return would_gain(outcome) +
           fmt::format(
               "holds a batch of {:.0f} at once where plain decoding holds {:.0f}, so that {} % more of the requests "
               "wait; --waiting allows {} %",
               most_sequences(prepared.round, outcome.speculation, context), most_sequences(prepared.round, 0, context), wait,
               allowed);
}

std::string memory_sentence(Bytes needed, Bytes allowed) {
    const Apart text = decimals_apart(needed.value() / 1e9, allowed.value() / 1e9, 1);
    return fmt::format("needs {} GB of memory per device; {} GB are allowed", text.figure, text.limit);
}

std::string growth_sentence(const Outcome& outcome, const Prepared& prepared, const Limits& limits) {
    const double allowed = allowed_first_token_growth(outcome, limits);
    const Apart text = digits_apart(first_token_growth_of(prepared, outcome, limits), allowed);
    const std::string limit = allowed > limits.first_token_growth
                                  ? text.limit + " times are allowed for what it saves (--ttft-growth allows more)"
                                  : "--ttft-growth allows " + text.limit;
    return would_gain(outcome) + fmt::format("makes the TTFT {} times that of plain decoding; {}", text.figure, limit);
}

/// The sentence for a broken limit and the outcome that breaks it.
std::string sentence_of(Limit limit, const Outcome& outcome, const Prepared& prepared, const Traffic& traffic,
                        const Limits& limits) {
    switch (limit) {
        case Limit::memory:
            return memory_sentence(outcome.means.peak_memory, allowed_memory(prepared.round, outcome.speculation, limits));
        case Limit::time_per_token: {
            const Apart text =
                decimals_apart(outcome.means.worst_time_per_token.value() * 1e3, limits.time_per_token->value() * 1e3, 2);
            return fmt::format("reaches a TPOT of {} ms; {} ms are allowed", text.figure, text.limit);
        }
        case Limit::time_to_first_token: {
            const Apart text =
                digits_apart(first_token_of(prepared, outcome).value() * 1e3, limits.time_to_first_token->value() * 1e3);
            return fmt::format("reaches a TTFT of {} ms; {} ms are allowed", text.figure, text.limit);
        }
        case Limit::gain:
            return fmt::format("reaches only {}x of plain decoding; the minimum is {:.6g}x",
                               decimals_apart(outcome.gain, limits.minimum_gain, 3).figure, limits.minimum_gain);
        case Limit::load:
            return "cannot serve the load: " + outcome.problem;
        case Limit::first_token_growth:
            return growth_sentence(outcome, prepared, limits);
        case Limit::waiting:
            return waiting_sentence(outcome, prepared, traffic, limits);
    }
    return {};
}

struct Miss {
    Limit limit;
    double factor;  ///< figure / limit
};

/// Of the limits on times and memory, the one that an outcome exceeds most; nothing where it exceeds none of them, or does not
/// serve the load.
std::optional<Miss> greatest_miss(const Outcome& outcome, const Prepared& prepared, const Limits& limits) {
    std::optional<Miss> greatest;
    const auto compare = [&](Limit limit, double factor) {
        if (factor > 1.0 && (!greatest || factor > greatest->factor)) {
            greatest = {limit, factor};
        }
    };
    if (outcome.problem.empty()) {
        compare(Limit::memory, outcome.means.peak_memory / allowed_memory(prepared.round, outcome.speculation, limits));
        if (limits.time_per_token) {
            compare(Limit::time_per_token, outcome.means.worst_time_per_token / *limits.time_per_token);
        }
        if (limits.time_to_first_token) {
            compare(Limit::time_to_first_token, first_token_of(prepared, outcome) / *limits.time_to_first_token);
        }
    }
    return greatest;
}

/// The beginning of that sentence: what a variant's best candidate would have drafted.
std::string at_its_best(const Candidate& candidate, const Variant& variant) {
    if (candidate.draft_tokens == 0) {
        return "it ";
    }
    const sim::Speculation& speculation = variant.setup.speculations[static_cast<std::size_t>(candidate.speculation)];
    const bool chain = std::holds_alternative<sim::ChainShape>(speculation.shape);
    return chain ? fmt::format("with {} draft{} it ", candidate.draft_tokens, candidate.draft_tokens > 1 ? "s" : "")
                 : "at its best shape (" + speculation.label + ") it ";
}

/// A speculation that breaks a limit, off at those of several loads where it does; nothing if that does not help.
std::optional<Candidate> candidate_off_where_broken(const Prepared& prepared, std::size_t index, const ComparedPlain& plain,
                                                    int speculation, Limit broken, const Workload& workload,
                                                    const Limits& limits) {
    PlannedOutcome planned = planned_outcome(prepared.round, speculation, workload.traffic, workload.objective, limits);
    if (planned.plan.by_point.empty()) {
        return std::nullopt;
    }
    compare_with_plain(plain, planned.outcome);
    if (limit_of(planned.outcome, prepared, limits)) {
        return std::nullopt;
    }
    Candidate candidate = candidate_of(prepared, index, planned.plan, planned.outcome, workload.objective);
    candidate.off_for = broken;
    return candidate;
}

void note_miss(const Prepared& prepared, std::size_t index, const Outcome& each, const Variant& variant,
               const Workload& workload, VariantOutcome& outcome) {
    const std::optional<Miss> miss = greatest_miss(each, prepared, workload.limits);
    if (miss && miss->factor < outcome.nearest_miss) {
        outcome.nearest_miss = miss->factor;
        outcome.nearest_limit = miss->limit;
        outcome.nearest_reason =
            at_its_best(candidate_of(prepared, index, each.speculation, each, workload.objective), variant) +
            sentence_of(miss->limit, each, prepared, workload.traffic, workload.limits);
    }
}

/// Beside the plain decoding that is judged already.
VariantOutcome judge(const Judged& all, std::size_t index, const Workload& workload) {
    const Prepared& prepared = all.prepared[index];
    const Variant& variant = all.variants[index];
    VariantOutcome outcome;
    outcome.reason = prepared.problem;
    if (!prepared.problem.empty()) {
        return outcome;
    }
    Limits limits = workload.limits;
    limits.own_plain = all.own_plain[index];
    const ComparedPlain plain = compared_plain(all, index);
    for (Outcome& each : outcomes_of(prepared.round, prepared.speculations, workload.traffic, workload.objective)) {
        compare_with_plain(plain, each);
        const std::optional<Limit> broken = limit_of(each, prepared, limits);
        note_miss(prepared, index, each, variant, workload, outcome);
        if (!broken) {
            outcome.candidates.push_back(candidate_of(prepared, index, each.speculation, each, workload.objective));
        } else if (const auto partly =
                       variant.switching == Switching::nothing
                           ? std::nullopt
                           : candidate_off_where_broken(prepared, index, plain, each.speculation, *broken, workload, limits)) {
            outcome.candidates.push_back(*partly);
        } else if (each.objective < outcome.objective) {
            outcome.objective = each.objective;
            outcome.reason = at_its_best(candidate_of(prepared, index, each.speculation, each, workload.objective), variant) +
                             sentence_of(*broken, each, prepared, workload.traffic, limits);
            outcome.broken = broken;
        }
    }
    return outcome;
}

/// The candidates of a variant, each at the largest rate that it serves; else why it serves none.
VariantOutcome judge_at_most_rate(const Judged& all, std::size_t index, const Workload& workload) {
    constexpr double just_above = 1.0 + 1e-6;
    const Prepared& prepared = all.prepared[index];
    VariantOutcome outcome;
    for (const int speculation : prepared.problem.empty() ? prepared.speculations : std::vector<int>()) {
        const double rate = most_rate(prepared.round, speculation, workload);
        if (rate > 0.0) {
            const Workload asked = at_rate(workload, rate);
            const Outcome at_most = outcomes_of(prepared.round, {speculation}, asked.traffic, workload.objective).front();
            outcome.candidates.push_back(candidate_of(prepared, index, speculation, at_most, workload.objective));
            outcome.candidates.back().requests_per_second = rate;
            outcome.candidates.back().overrun =
                broken_at_rate(prepared.round, speculation, workload, just_above * rate) == Limit::load;
        }
    }
    return outcome.candidates.empty() ? judge(all, index, at_rate(workload, rate_nearly_alone)) : outcome;
}

/// Plain decoding on a cut of the devices where more requests wait than need to is no choice, nor what others are compared
/// with.
void hold_to_waiting(Judged& all, std::size_t index, const Workload& workload) {
    VariantOutcome& outcome = all.outcomes[index];
    if (outcome.candidates.empty()) {
        return;
    }
    Limits limits = workload.limits;
    limits.own_plain = waiting_beside(all, index, workload);
    const Prepared& prepared = all.prepared[index];
    const Outcome plain = outcomes_of(prepared.round, {0}, workload.traffic, workload.objective).front();
    if (broken_limit(plain, prepared.round, limits) != Limit::waiting) {
        return;
    }
    outcome.candidates.clear();
    outcome.objective = plain.objective;
    outcome.broken = Limit::waiting;
    outcome.reason = sentence_of(Limit::waiting, plain, prepared, workload.traffic, limits);
}

/// Plain decoding on a cut of the devices beside that on their best one.
void compare_with_best_cut(const Judged& all, std::vector<Candidate>& plain, Objective objective) {
    for (Candidate& candidate : plain) {
        candidate.gain = plain_beside(all, candidate.variant)->objective / candidate.objective;
        candidate.break_even_accept_length = accept_length_at(candidate, candidate.gain, objective);
    }
}

}  // namespace

Seconds first_token_of(const Prepared& prepared, const Outcome& outcome) {
    return prepared.loaded ? outcome.means.first_token : prepared.time_to_first_token;
}

double first_token_growth_of(const Prepared& prepared, const Outcome& outcome, const Limits& limits) {
    return prepared.loaded ? outcome.first_token_growth * limits.own_plain.mean
                           : prepared.time_to_first_token / prepared.plain_first_token * limits.own_plain.alone;
}

std::optional<Limit> limit_of(const Outcome& outcome, const Prepared& prepared, const Limits& limits) {
    const std::optional<Limit> broken = broken_limit(outcome, prepared.round, limits);
    if (broken && *broken != Limit::gain) {
        return broken;
    }
    if (limits.time_to_first_token && first_token_of(prepared, outcome) > *limits.time_to_first_token) {
        return Limit::time_to_first_token;
    }
    const bool grows = outcome.speculation != 0 &&
                       first_token_growth_of(prepared, outcome, limits) > allowed_first_token_growth(outcome, limits);
    return grows ? Limit::first_token_growth : broken;
}

PlannedOutcome planned_for(const Variant& variant, const sim::CompiledRound& round, int speculation, const Traffic& traffic,
                           Objective objective, const Limits& limits) {
    if (variant.switching != Switching::nothing) {
        return planned_outcome(round, speculation, traffic, objective, limits);
    }
    PlannedOutcome planned{speculation, outcomes_of(round, {speculation}, traffic, objective).front(), std::nullopt};
    planned.broken = broken_limit(planned.outcome, round, limits);
    return planned;
}

Variant plain_variant(const Variant& variant) {
    Variant plain = variant;
    plain.labels.drafter = "plain decoding";
    plain.labels.rollback.clear();
    plain.problem.clear();
    plain.untrained = false;
    plain.origin.drafter.reset();
    plain.setup.drafter = sim::NoDrafter{};
    plain.setup.acceptance = {};
    plain.setup.rollback = sim::Rollback::truncate;
    plain.setup.speculations = sim::chains_up_to(0);
    return plain;
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
    if (!prepared.loaded) {
        sim::CompiledRound target_alone = prepared.round;
        target_alone.draft_prefill = {};
        prepared.plain_first_token = sim::time_to_first_token(target_alone, workload.prompt_tokens);
    }
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

double decode_share_of(const Candidate& candidate, Objective objective) {
    return objective == Objective::latency ? candidate.decode_share_user : candidate.decode_share_device;
}

double accept_length_at(const Candidate& candidate, double ratio, Objective objective) {
    const double share = decode_share_of(candidate, objective);
    const double left = ratio - (1.0 - share);
    return left > 0.0 ? candidate.accept_length * share / left : sim::unlimited;
}

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
    candidate.overrun = prepared.loaded && !outcome.problem.empty();
    candidate.speedup = outcome.speedup;
    candidate.break_even_accept_length = accept_length_at(candidate, candidate.gain, objective);
    candidate.tokens_per_second_user = Seconds(1.0) / candidate.time_per_token;
    candidate.time_to_first_token = first_token_of(prepared, outcome);
    candidate.wasted_draft_share = row.drafted > 0.0 ? (row.drafted - (candidate.accept_length - 1.0)) / row.drafted : 0.0;
    candidate.objective = outcome.objective;
    return candidate;
}

std::optional<std::size_t> nearest_miss_of(const Judged& all) {
    std::optional<std::size_t> nearest;
    double least = sim::unlimited;
    for (std::size_t i = 0; i < all.outcomes.size(); ++i) {
        if (!all.variants[i].untrained && all.outcomes[i].nearest_miss < least) {
            least = all.outcomes[i].nearest_miss;
            nearest = i;
        }
    }
    return nearest;
}

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
    all.plain.resize(all.variants.size());
    all.own_plain.resize(all.variants.size());
    const auto judge_one = workload.most_arrivals ? judge_at_most_rate : judge;
    const auto for_all = [&](const std::function<void(std::size_t)>& work) {
        parallel_for(all.variants.size(), thread_count(threads), work);
    };
    for_all([&](std::size_t i) {
        all.prepared[i] = prepare(all.variants[i], workload);
        all.outcomes[i] = all.variants[i].plain() ? judge_one(all, i, workload) : VariantOutcome();
    });
    // Those are what gains and waits of the others are over, and of plain decoding on other cuts.
    all.plain = workload.most_arrivals ? all.plain : plain_candidates(all, workload);
    all.plain_waiting.resize(all.variants.size());
    for (std::size_t i = 0; i < all.variants.size(); ++i) {
        if (all.plain[i] && !workload.most_arrivals) {
            all.plain_waiting[i] = plain_waiting_of(all.prepared[i], *all.plain[i], workload.traffic);
        }
    }
    for (std::size_t i = 0; i < all.variants.size(); ++i) {
        hold_to_waiting(all, i, workload);
    }
    for_all([&](std::size_t i) {
        if (!all.variants[i].plain()) {
            all.own_plain[i] = own_plain_of(all, i, workload);
            all.outcomes[i] = judge_one(all, i, workload);
        } else if (!workload.most_arrivals) {
            compare_with_best_cut(all, all.outcomes[i].candidates, workload.objective);
        }
    });
    all.plain = workload.most_arrivals ? plain_candidates(all, workload) : all.plain;
    return all;
}

}  // namespace treeline::sweeps
