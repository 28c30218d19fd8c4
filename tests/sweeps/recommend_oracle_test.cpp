// Does brute force over estimates of single configurations find anything better than what is recommended, or than what its
// schedule drafts at a batch, and does a verdict ever contradict the objective? 2,000 random workloads of catalogue models,
// devices and engines.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "requests/measured_errors_reader.h"
#include "setups.h"
#include "source_folder.h"
#include "sweeps/estimate.h"
#include "sweeps/recommend.h"
#include "sweeps/variants.h"

namespace recommend_oracle_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

constexpr int workloads = 2000;
constexpr double tolerance = 1e-3;

using Random = std::mt19937;

template <class Value>
const Value& one_of(const std::vector<Value>& values, Random& random) {
    return values[std::uniform_int_distribution<std::size_t>(0, values.size() - 1)(random)];
}

double between(double low, double high, Random& random) { return std::uniform_real_distribution<double>(low, high)(random); }

/// Evenly in the logarithm, a whole number.
double count_between(double low, double high, Random& random) {
    return std::round(std::exp(between(std::log(low), std::log(high), random)));
}

struct Pair {
    const char *target, *drafter;
};

/// Descriptions are read once.
struct Catalogue {
    std::vector<Pair> pairs = {{"llama-3-8b", "llama-3.2-1b"},  {"qwen3-8b", "qwen3-1.7b"}, {"qwen3-32b", "qwen3-1.7b"},
                               {"qwen3-30b-a3b", "qwen3-1.7b"}, {"qwen3.5-4b", ""},         {"qwen3.5-27b", ""}};
    std::vector<sim::Platform> platforms;
    std::vector<std::pair<sim::Model, sim::Model>> models;

    Catalogue() {
        for (const char* device_name : {"h100-sxm", "a100-sxm-80", "l40s", "rtx-4090"}) {
            for (const char* stack_name : {"vllm", "sglang", "tensorrt-llm", "cuda-graph"}) {
                platforms.push_back(platform(device_name, stack_name));
                platforms.back().mode = default_mode(platforms.back());
            }
        }
        for (const Pair& pair : pairs) {
            models.emplace_back(model(pair.target), *pair.drafter == '\0' ? sim::Model() : model(pair.drafter));
        }
    }
};

const Catalogue& catalogue() {
    static const Catalogue known;
    return known;
}

/// A workload with what all its configurations share: they are priced one by one from these.
struct Asked {
    VariantLists lists;
    Workload workload;
    double prompt = 0.0, answer = 0.0;
};

DrafterChoice drafter_of(std::size_t pair, Random& random) {
    DrafterChoice drafter;
    const sim::Model& small = catalogue().models[pair].second;
    const bool external = !small.name.empty() && between(0.0, 1.0, random) < 0.4;
    drafter.drafter =
        external ? sim::Drafter{sim::IndependentDrafter{small, small.precision}} : sim::Drafter{sim::OneLayerDrafter{}};
    drafter.label = external ? small.name : "one-layer";
    drafter.acceptance = sim::Acceptance::geometric(between(0.2, 0.9, random));
    return drafter;
}

Limits limits_of(Random& random) {
    Limits limits;
    if (between(0.0, 1.0, random) < 0.3) {
        limits.time_per_token = Seconds(between(0.005, 0.05, random));
    }
    if (between(0.0, 1.0, random) < 0.2) {
        limits.minimum_gain = between(0.9, 1.3, random);
    }
    if (between(0.0, 1.0, random) < 0.2) {
        limits.waiting = between(0.0, 1.0, random);
        limits.waiting_stated = random() % 2 == 0;
        limits.first_token_of_saved = random() % 2 == 0 ? 0.0 : between(0.0, 1.0, random);
        limits.first_token_growth = between(1.0, 30.0, random);
    }
    return limits;
}

Asked random_workload(Random& random) {
    Asked asked;
    const auto pair = std::uniform_int_distribution<std::size_t>(0, catalogue().pairs.size() - 1)(random);
    const sim::Model& target = catalogue().models[pair].first;
    asked.lists.targets = {{target, target.precision, target.name, "as published"}};
    sim::Platform where = one_of(catalogue().platforms, random);
    if (between(0.0, 1.0, random) < 0.2) {
        where.memory_utilisation = between(0.6, 1.0, random);
    }
    asked.lists.platforms = {where};
    asked.lists.drafters = {drafter_of(pair, random)};
    Workload& workload = asked.workload;
    workload.speculations = sim::chains_up_to(std::uniform_int_distribution<int>(2, 6)(random));
    const LoadKind kind = one_of<LoadKind>({LoadKind::batch, LoadKind::concurrency, LoadKind::arrival_rate}, random);
    asked.prompt = count_between(50, 8000, random);
    asked.answer = kind == LoadKind::batch && between(0.0, 1.0, random) < 0.5 ? 0.0 : count_between(50, 2000, random);
    const double context = asked.prompt + asked.answer / 2.0;
    const int loads = std::uniform_int_distribution<int>(1, 3)(random);
    for (int i = 0; i < loads; ++i) {
        const double load = kind == LoadKind::arrival_rate ? between(0.05, 4.0, random) : count_between(1, 200, random);
        workload.traffic.points.push_back({load + i * 0.001 * (kind == LoadKind::arrival_rate), context, 1.0 / loads});
    }
    workload.traffic.kind = kind;
    workload.traffic.shares_of = one_of<ShareOf>({ShareOf::time, ShareOf::tokens}, random);
    workload.objective =
        kind == LoadKind::arrival_rate || between(0.0, 1.0, random) < 0.25 ? Objective::latency : Objective::throughput;
    workload.prompt_tokens = asked.prompt;
    workload.limits = limits_of(random);
    workload.variants = all_variants(asked.lists);
    for (Variant& variant : workload.variants) {
        variant.setup.prompt_tokens = asked.prompt;
        variant.setup.output_tokens = asked.answer;
        variant.setup.speculations = workload.speculations;
    }
    return asked;
}

PointInput input_of(const Asked& asked, const Variant& variant, int speculation, const TrafficPoint& point) {
    PointInput input;
    input.target = asked.lists.targets.front();
    input.platform = variant.setup.platform;
    input.drafter = DrafterChoice{"", variant.setup.drafter, variant.setup.acceptance, "", ""};
    input.rollback = variant.setup.rollback;
    input.speculations = {sim::chains_up_to(0).front()};
    if (speculation > 0) {
        input.speculations.push_back(asked.workload.speculations[static_cast<std::size_t>(speculation)]);
    }
    input.batch = point.load;
    input.load = {asked.workload.traffic.kind, point.load};
    input.context = point.context;
    input.prompt_tokens = asked.prompt;
    input.output_tokens = asked.answer;
    return input;
}

/// What one configuration does at all loads, from estimates of one load each.
struct ByHand {
    bool allowed = true;
    double objective = 0.0, plain_objective = 0.0;
};

ByHand by_hand(const Asked& asked, const Variant& variant, int speculation) {
    const Limits& limits = asked.workload.limits;
    const Traffic& traffic = asked.workload.traffic;
    ByHand sum;
    double tokens = 0.0, time = 0.0, tpot = 0.0, plain_tokens = 0.0, plain_time = 0.0, plain_tpot = 0.0;
    double first = 0.0, plain_first = 0.0, waits = 0.0, serves = 0.0, plain_waits = 0.0, plain_serves = 0.0;
    for (const TrafficPoint& point : traffic.points) {
        const PointInput input = input_of(asked, variant, speculation, point);
        if (!problems_of(input).empty()) {
            return {false, 0.0, 0.0};
        }
        const PointEstimate estimate = estimate_point(input);
        const sim::RoundEstimate &e = estimate.speculative, &p = estimate.plain;
        sum.allowed = sum.allowed && e.fits && p.fits && estimate.load.problem.empty() && estimate.plain_load.problem.empty() &&
                      (!limits.time_per_token || e.time_per_token <= *limits.time_per_token);
        const auto add = [&](const sim::RoundEstimate& of, const SettledLoad& load, double& all_tokens, double& all_time,
                             double& all_tpot, double& all_first, double& waiting, double& serving) {
            const bool by_time = traffic.shares_of == ShareOf::time;
            const double made = by_time ? point.share * of.tokens_per_second_device : point.share;
            const double spent = by_time ? point.share : point.share / of.tokens_per_second_device;
            all_tokens += made;
            all_time += spent;
            all_tpot += made * of.time_per_token.value();
            all_first += made * of.first_token.value();
            waiting += spent * load.queued;
            serving += spent * load.batch;
        };
        add(e, estimate.load, tokens, time, tpot, first, waits, serves);
        add(p, estimate.plain_load, plain_tokens, plain_time, plain_tpot, plain_first, plain_waits, plain_serves);
    }
    const bool latency = asked.workload.objective == Objective::latency;
    sum.objective = latency ? tpot / tokens : time / tokens;
    sum.plain_objective = latency ? plain_tpot / plain_tokens : plain_time / plain_tokens;
    if (speculation > 0) {
        const double growth = traffic.kind == LoadKind::batch ? 1.0 : first / tokens / (plain_first / plain_tokens);
        const double waiting = waits / (waits + serves) - plain_waits / (plain_waits + plain_serves);
        const double saved = traffic.kind == LoadKind::batch || waiting <= 0.0
                                 ? 0.0
                                 : (plain_tpot / plain_tokens - tpot / tokens) * asked.answer / (plain_first / plain_tokens);
        const bool in_time = growth <= std::max(limits.first_token_growth, 1.0 + limits.first_token_of_saved * saved);
        const bool faster = limits.waiting_stated ? growth < 1.0 : traffic.kind != LoadKind::batch && in_time;
        sum.allowed = sum.allowed && in_time && (waiting <= limits.waiting || faster) &&
                      sum.plain_objective / sum.objective >= limits.minimum_gain;
    }
    return sum;
}

/// What a speculation costs at a batch: the objective, lower is better; unlimited where it breaks a limit of the workload.
double cost_at(const Asked& asked, const sim::CompiledRound& round, int speculation, int batch, double context) {
    const Limits& limits = asked.workload.limits;
    const bool latency = asked.workload.objective == Objective::latency;
    const auto cost = [&](int of) {
        const sim::RoundEstimate e = sim::evaluate(round, {of, static_cast<double>(batch), context});
        return e.fits && (!limits.time_per_token || e.time_per_token <= *limits.time_per_token)
                   ? (latency ? e.time_per_token.value() : 1.0 / e.tokens_per_second_device)
                   : sim::unlimited;
    };
    const double here = cost(speculation);
    const sim::RoundEstimate plain = sim::evaluate(round, {0, static_cast<double>(batch), context});
    const double gain = (latency ? plain.time_per_token.value() : 1.0 / plain.tokens_per_second_device) / here;
    const bool too_little = speculation > 0 && limits.minimum_gain > 1.0 && gain < limits.minimum_gain;
    return too_little ? sim::unlimited : here;
}

/// The most that a schedule loses against the best choice of its server at the ends and in the middle of its ranges; and how
/// many batches were compared. A server that keeps room for states, or for what replays them, was started for the
/// schedule's longest draft.
std::pair<double, int> worst_of_schedule(const Asked& asked, const Recommendation& found) {
    const Candidate& best = found.candidates.front();
    const Variant& variant = found.variants[best.variant];
    int longest = best.speculation;
    for (const ScheduleEntry& entry : found.schedule.entries) {
        longest = std::max(longest, entry.speculation);  // chains, by length
    }
    const sim::CompiledRound compiled = sim::compile_round(variant.setup);
    const StartedRound server(compiled, longest);
    const sim::CompiledRound& round = server.get();
    const auto room = [&](int k) { return sim::state_memory(compiled.memory, compiled.row(k)); };
    const double context = asked.prompt + asked.answer / 2.0;
    double worst = 0.0;
    int compared = 0;
    for (const ScheduleEntry& entry : found.schedule.entries) {
        for (const int batch : {entry.batch_from, (entry.batch_from + entry.batch_to) / 2, entry.batch_to}) {
            double least = cost_at(asked, round, sim::drafting_off, batch, context);
            for (int k = 1; k < static_cast<int>(round.rows.size()); ++k) {
                const bool started = k <= longest || room(k) <= room(longest);
                const bool offered = started && (variant.switching != Switching::nothing || k == best.speculation);
                least = round.runs(k) && offered ? std::min(least, cost_at(asked, round, k, batch, context)) : least;
            }
            const int chosen = entry.speculation == 0 ? sim::drafting_off : entry.speculation;
            worst = std::max(worst, cost_at(asked, round, chosen, batch, context) / least - 1.0);
            ++compared;
        }
    }
    return {worst, compared};
}

}  // namespace

TEST_CASE("brute force over estimates finds nothing better than what is recommended", "[oracle][slow]") {
    Random random(20261125);
    int answered = 0, drafting = 0, compared = 0, scheduled = 0, worse = 0;
    for (int i = 0; i < workloads; ++i) {
        const Asked asked = random_workload(random);
        const RecommendationResult result = recommend(asked.workload, 1);
        CAPTURE(i, asked.lists.targets.front().label, label_of(asked.lists.platforms.front()),
                asked.lists.drafters.front().label, asked.prompt, asked.answer);
        double best = sim::unlimited;
        for (const Variant& variant : asked.workload.variants) {
            if (!problems_of(variant.setup).empty()) {
                continue;
            }
            for (int k = 0; k < static_cast<int>(asked.workload.speculations.size()); ++k) {
                const ByHand hand = by_hand(asked, variant, k);
                best = hand.allowed ? std::min(best, hand.objective) : best;
                ++compared;
            }
        }
        if (!result.recommendation) {
            CHECK(best == sim::unlimited);
            continue;
        }
        const Recommendation& found = *result.recommendation;
        const Candidate& chosen = found.candidates.front();
        ++answered;
        drafting += found.speculate ? 1 : 0;
        if (found.unserved.empty() && !found.saturation) {
            CHECK(chosen.objective <= best * (1.0 + tolerance));
        }
        // What is recommended against the server without the drafter, and the schedule against both.
        if (found.speculate) {
            CHECK(chosen.gain >= asked.workload.limits.minimum_gain * (1.0 - 1e-12));
            CHECK(found.plain.objective >=
                  chosen.objective * std::min(1.0, asked.workload.limits.minimum_gain) * (1.0 - 1e-12));
            const auto [worst, batches] = worst_of_schedule(asked, found);
            const bool changes = std::any_of(found.schedule.entries.begin(), found.schedule.entries.end(), [&](const auto& e) {
                return e.speculation > 0 && e.speculation != chosen.speculation;
            });
            CHECK(
                (!changes || worst <= schedule_tolerance * (1.0 + 1e-9)));  // else its one length may serve a full server best
            worse += found.unserved.empty() && found.schedule.gain < chosen.gain * (1.0 - schedule_tolerance) ? 1 : 0;
            scheduled += batches;
        }
    }
    CHECK(answered > workloads / 2);
    CHECK(drafting > answered / 5);
    CHECK(drafting < answered);
    // Where off lets more requests run than drafts do, a server that drafts at first stays full with few of them.
    CHECK(worse <= drafting / 200);
    WARN(workloads << " workloads, " << compared << " configurations priced one by one, " << answered << " answered, "
                   << drafting << " with drafts, their schedules at " << scheduled << " batches");
}

TEST_CASE("a verdict never says that speculation pays where the objective loses", "[oracle][slow]") {
    const MeasuredErrors errors = requests::read_measured_errors(source_folder() / "hardware" / "errors" / "serving.json");
    Random random(20261126);
    int pays = 0, loses = 0;
    for (int i = 0; i < 400; ++i) {
        const Asked asked = random_workload(random);
        const Variant& variant = one_of(asked.workload.variants, random);
        const int drafts =
            static_cast<int>(count_between(1, static_cast<double>(asked.workload.speculations.size()) - 1, random));
        PointInput input = input_of(asked, variant, drafts, asked.workload.traffic.points.front());
        input.errors = errors;
        if (variant.plain() || !problems_of(input).empty()) {
            continue;
        }
        const PointEstimate estimate = estimate_point(input);
        if (!estimate.chances) {
            continue;
        }
        CAPTURE(i, estimate.gain, estimate.chances->pays);
        pays += estimate.chances->verdict == numerics::Verdict::pays ? 1 : 0;
        loses += estimate.gain < 1.0 ? 1 : 0;
        CHECK((estimate.gain >= 1.0 || estimate.chances->verdict != numerics::Verdict::pays));
    }
    CHECK(pays > 20);
    CHECK(loses > 20);
}

TEST_CASE("an estimate's verdict is about tokens/s per device under the load", "[oracle]") {
    // The case of an operator: the drafter's memory leaves room for fewer requests, which are faster one by one.
    const sim::Platform where = platform("rtx-4090", "vllm");
    PointInput input;
    input.target = {model("qwen3-8b"), model("qwen3-8b").precision, "qwen3-8b", "as published"};
    input.platform = where;
    const sim::Model small = model("qwen3-1.7b");
    input.drafter =
        DrafterChoice{"qwen3-1.7b", sim::IndependentDrafter{small, small.precision}, sim::Acceptance::geometric(0.75), "", ""};
    input.speculations = {sim::chains_up_to(2)[0], sim::chains_up_to(2)[2]};
    input.load = {LoadKind::concurrency, 12.0};
    input.prompt_tokens = 3600.0;
    input.output_tokens = 800.0;
    input.context = 4000.0;
    const PointEstimate estimate = estimate_point(input);
    input.drafter.reset();
    input.speculations = {sim::chains_up_to(0)};
    const PointEstimate alone = estimate_point(input);
    CHECK(estimate.plain.tokens_per_second_device == alone.speculative.tokens_per_second_device);
    CHECK(estimate.plain.first_token.value() == alone.speculative.first_token.value());
    CHECK(estimate.plain.memory == alone.speculative.memory);
    CHECK(estimate.plain_load.batch == alone.load.batch);
    CHECK(estimate.gain == Approx(estimate.speculative.tokens_per_second_device / alone.speculative.tokens_per_second_device));
    CHECK(estimate.gain < 1.0);
    CHECK(estimate.speculative.throughput_multiplier > 1.0);
    CHECK(estimate.break_even_accept_length > estimate.speculative.accept_length);
}

TEST_CASE("one load that does not fit with the drafter does not wipe out the answer", "[oracle]") {
    Workload workload;
    VariantLists lists;
    const sim::Model target = model("qwen3.5-27b");
    lists.targets = {{target, target.precision, target.name, "as published"}};
    lists.platforms = {platform("h100-sxm", "vllm")};
    DrafterChoice mtp;
    mtp.label = "mtp";
    mtp.drafter = sim::OneLayerDrafter{};
    mtp.acceptance = sim::DraftAcceptance{sim::Acceptance::geometric(0.75)};
    lists.drafters = {mtp};
    workload.variants = all_variants(lists);
    workload.speculations = sim::chains_up_to(5);
    workload.prompt_tokens = 8000.0;
    workload.traffic = traffic_from({{1, 1.0}, {8, 1.0}}, {{8000, 1.0}});
    const RecommendationResult small = recommend(workload, 1);
    REQUIRE(small.recommendation);
    REQUIRE(small.recommendation->speculate);
    workload.traffic = traffic_from({{1, 1.0}, {8, 1.0}, {28, 1.0}}, {{8000, 1.0}});
    const RecommendationResult result = recommend(workload, 1);
    REQUIRE(result.recommendation);
    const Recommendation& found = *result.recommendation;
    CHECK(found.speculate);
    CHECK(found.candidates.front().plan.at(0) == found.candidates.front().speculation);
    CHECK(found.capacity.drafting < 28.0);
    CHECK(found.settled.points[2].load == found.capacity.drafting);  // no more run at once: their states fill the memory
    CHECK(found.capacity.plain >= found.capacity.off);
    CHECK_FALSE(found.schedule.entries.empty());
    // A load that never happens changes nothing.
    workload.traffic = traffic_from({{1, 1.0}, {8, 1.0}, {28, 0.0}}, {{8000, 1.0}});
    const RecommendationResult without = recommend(workload, 1);
    REQUIRE(without.recommendation);
    CHECK(without.recommendation->candidates.front().objective == small.recommendation->candidates.front().objective);
}

}  // namespace recommend_oracle_test
