// Does a search find what an enumeration finds, with its ties, and does its account of the space add up?
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <random>

#include "setups.h"
#include "sweeps/condition_bounds.h"
#include "sweeps/search.h"

namespace search_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

Variant variant_on(const char* device, const char* target, const char* drafter, sim::CostMode mode, double ranks = 1.0) {
    Variant variant;
    variant.labels = {target, "bf16", device, "vllm", std::string(name_of(mode)), drafter, "truncate", static_cast<int>(ranks)};
    variant.setup = pair_setup(target, drafter, platform(device, "vllm", ranks));
    variant.setup.platform.mode = mode;
    variant.setup.platform.device.price = DollarsPerSecond(ranks * 2.0 / 3600.0);
    return variant;
}

DesignSpace some_space() {
    using enum sim::CostMode;
    DesignSpace space;
    space.variants = {variant_on("h100-sxm", "llama-3-8b", "llama-3.2-1b", roofline),
                      variant_on("h100-sxm", "llama-3-8b", "llama-3.2-1b", calibrated),
                      variant_on("l40s", "llama-3-8b", "llama-3.2-1b", calibrated, 2.0),
                      variant_on("h100-sxm", "llama-3-70b", "llama-3-8b", calibrated, 8.0)};
    space.variants.push_back(space.variants.front());
    space.variants.back().setup.drafter = sim::NgramDrafter{};
    space.variants.push_back(space.variants.front());
    space.variants.back().setup.platform.ranks = 7.0;  // excluded: its heads cannot be shared
    space.speculation = {0, 1, 3, 7};
    return space;
}

std::vector<std::uint64_t> orders_of(const SweepSummary& summary) {
    std::vector<std::uint64_t> orders;
    for (const SweepPoint& point : summary.best) {
        orders.push_back(point.order);
    }
    return orders;
}

std::uint64_t accounted(const SweepSummary& summary) {
    const SearchProof& proof = *summary.search;
    return summary.points + summary.dropped + proof.excluded + proof.bounded_away + proof.too_large + proof.beyond_limits;
}

/// Random values, some of them twice, in rising order or as they come.
std::vector<double> axis(std::mt19937& random, std::size_t size, double low, double high, bool in_order) {
    std::uniform_real_distribution<double> share(0.0, 1.0);
    std::vector<double> values;
    for (std::size_t i = 0; i < size; ++i) {
        values.push_back(std::round((low + 1.0) * std::pow((high + 1.0) / (low + 1.0), share(random)) - 1.0));
    }
    if (in_order) {
        std::sort(values.begin(), values.end());
    }
    return values;
}

}  // namespace

TEST_CASE("a search lists what an enumeration lists, on random spaces, by every column") {
    std::mt19937 random(3);
    DesignSpace space = some_space();
    for (int trial = 0; trial < 46; ++trial) {
        space.batch = axis(random, 60, 1.0, 3000.0, trial % 3 != 0);
        space.context = axis(random, 50, 0.0, 90'000.0, trial % 4 != 0);
        space.conditions.clear();
        SweepOptions options;
        options.threads = 1;
        options.best_by = &sweep_columns[static_cast<std::size_t>(trial) % sweep_columns.size()];
        options.best_count = trial % 2 == 0 ? 1 : 7;
        options.ignore_memory = trial % 5 == 0;
        if (trial % 3 == 1) {
            options.limits = {{find_sweep_column("tpot_ms"), 0.0, 15.0},
                              {find_sweep_column("tokens_per_s_device"), 50.0, 900.0}};
        }
        if (trial % 4 == 2) {
            space.conditions = {{{}, trial % 8 == 2 ? "batch * draft_tokens <= 900" : "min(batch, 9) * context >= 60000"},
                                {{{"device", "l40s"}}, "context > 2000"}};
        }
        const SweepSummary all = run_sweep(space, options);
        options.search_gap = 0.0;
        const SweepSummary found = run_sweep(space, options);
        INFO("trial " << trial << " by " << options.best_by->name);
        CHECK(orders_of(found) == orders_of(all));
        REQUIRE(found.search);
        CHECK(found.search->gap == 0.0);
        CHECK(accounted(found) == space.size());
        CHECK(found.too_large + found.beyond_limits <= found.points);
        CHECK(found.excluded.size() == 1);
        for (std::size_t i = 0; i < std::min(found.best.size(), all.best.size()); ++i) {
            CHECK(found.best[i].estimate.round == all.best[i].estimate.round);
        }
    }
}

TEST_CASE("with a gap a search stops earlier, and what it lists lies within the gap") {
    std::mt19937 random(5);
    DesignSpace space = some_space();
    space.batch = axis(random, 120, 1.0, 3000.0, true);
    space.context = axis(random, 90, 0.0, 90'000.0, true);
    for (const char* name : {"speedup", "tokens_per_s_device", "energy_j_per_token", "usd_per_million_tokens"}) {
        SweepOptions options;
        options.best_by = find_sweep_column(name);
        options.best_count = 3;
        options.limits = {{find_sweep_column("tpot_ms"), 0.0, 20.0}};
        const SweepSummary all = run_sweep(space, options);
        options.search_gap = 0.0;
        const std::uint64_t exact_boxes = run_sweep(space, options).search->boxes;
        options.search_gap = 0.05;
        const SweepSummary found = run_sweep(space, options);
        INFO(name);
        REQUIRE(found.best.size() == all.best.size());
        CHECK(found.search->gap <= 0.05);
        CHECK(found.search->boxes <= exact_boxes);
        CHECK(accounted(found) == space.size());
        for (std::size_t i = 0; i < all.best.size(); ++i) {
            const double best = rank_of(*options.best_by, all.best[i].figures(space));
            const double its = rank_of(*options.best_by, found.best[i].figures(space));
            CHECK(its >= best);
            CHECK(its - best <= found.search->gap * std::abs(its) * (1.0 + 1e-9));
        }
    }
}

TEST_CASE("a space of two million million points is searched with few of them priced, and no sample beats the answer") {
    DesignSpace space = some_space();
    for (int batch = 1; batch <= 1'000'000; ++batch) {
        space.batch.push_back(batch);
    }
    for (int context = 0; context < 100'000; ++context) {
        space.context.push_back(context);
    }
    REQUIRE(space.size() == 2'400'000'000'000);
    std::mt19937_64 random(17);
    for (const char* name : {"tokens_per_s_device", "speedup"}) {
        SweepOptions options;
        options.best_by = find_sweep_column(name);
        options.best_count = 3;
        options.search_gap = 0.0;
        options.limits = {{find_sweep_column("tpot_ms"), 0.0, 25.0}};
        const SweepSummary found = run_sweep(space, options);
        INFO(name);
        REQUIRE(found.best.size() == 3);
        CHECK(found.search->gap == 0.0);
        CHECK_FALSE(found.search->stopped);
        CHECK(accounted(found) == space.size());
        CHECK(found.points < 1'000'000);
        const double worst = rank_of(*options.best_by, found.best.back().figures(space));
        for (std::size_t variant : {0, 1, 2, 3}) {
            const sim::CompiledRound round = sim::compile_round(space.variants[variant].setup);
            for (int i = 0; i < 2000; ++i) {
                const double batch = 1.0 + static_cast<double>(random() % (i % 2 == 0 ? 1000 : 1'000'000));
                const sim::DesignPoint point{space.speculation[random() % 4], batch, static_cast<double>(random() % 100'000)};
                const sim::RoundEstimate e = sim::evaluate(round, point);
                const double drafted = round.row(point.speculation).draft_tokens;
                const SweepFigures at{space.variants[variant], drafted, point.batch, point.context, e};
                if (e.fits && 1e3 * e.time_per_token.value() <= 25.0) {
                    CHECK(rank_of(*options.best_by, at) >= worst);
                }
            }
        }
    }
}

TEST_CASE("a condition that cannot hold in a box holds at none of its points") {
    std::mt19937 random(31);
    std::uniform_real_distribution<double> share(0.0, 1.0);
    const auto value = [&] { return std::floor(share(random) * 40.0); };
    std::size_t decided = 0;
    for (const char* expression :
         {"batch * context <= 300", "batch + draft_tokens * context >= 1200", "context / batch < 0.3", "batch == context",
          "batch != 12 && context != 12", "-batch + 3 > context || depth == 7", "(batch < 5) + (context < 5) == 2",
          "draft_tokens - depth * 2 >= 0 && batch <= 1e1", "tensor_parallel*(batch-20) > .5*context",
          "1 - batch - context > -30", "batch < context < 1"}) {
        const ConditionBounds bounds{std::string(expression)};
        Condition condition{std::string(expression)};
        INFO(expression);
        CHECK(bounds.understood());
        for (int i = 0; i < 2000; ++i) {
            std::array<ValueRange, 5> box;
            for (ValueRange& range : box) {
                range.least = value();
                range.most = share(random) < 0.4 ? range.least : range.least + std::floor(share(random) * 12.0);
            }
            if (bounds.may_hold(box)) {
                continue;
            }
            ++decided;
            for (int p = 0; p < 10; ++p) {
                std::array<double, 5> at{};
                for (std::size_t v = 0; v < at.size(); ++v) {
                    at[v] = box[v].least + std::floor(share(random) * (box[v].most - box[v].least + 1.0));
                }
                CHECK_FALSE(condition.holds(at[0], at[1], at[2], at[3], at[4]));
            }
        }
    }
    CHECK(decided > 2000);
    // What holds everywhere is 1, and no more; what holds nowhere 0.
    const std::array<ValueRange, 5> from_5 = [] {
        std::array<ValueRange, 5> box;
        box.fill({5.0, 9.0});
        return box;
    }();
    const auto may_hold = [&](const std::string& text) { return ConditionBounds(text).may_hold(from_5); };
    CHECK_FALSE(may_hold("(batch > 4) > 1.5"));
    CHECK_FALSE(may_hold("(batch > 7) > 1.5"));
    CHECK(may_hold("(batch > 4) > 0.5"));
    CHECK_FALSE(may_hold("(batch && context) == 0"));
    CHECK_FALSE(may_hold("(-batch && context) == 0"));
    CHECK_FALSE(may_hold("(0 || context) == 0"));
    CHECK_FALSE(may_hold("(0 && context) == 1"));
    for (const char* expression : {"min(batch, context) > 3", "batch^2 < 9", "batch > 3 ? 1 : 0"}) {
        const ConditionBounds bounds{std::string(expression)};
        CHECK_FALSE(bounds.understood());
        CHECK(bounds.may_hold({}));
    }
}

TEST_CASE("a search that prices every point counts those beyond a limit as an enumeration does") {
    DesignSpace space;
    space.variants = {variant_on("h100-sxm", "llama-3-8b", "llama-3.2-1b", sim::CostMode::roofline)};
    space.speculation = {0, 3};
    space.batch = {1.0, 2.0, 4.0, 8.0};
    space.context = {100.0, 1000.0};
    SweepOptions options;
    options.best_by = find_sweep_column("tpot_ms");
    options.best_count = 100;  // no bound closes a box
    const SweepSummary free = run_sweep(space, options);
    const double middle = options.best_by->value(free.best[free.best.size() / 2].figures(space));
    options.limits = {{options.best_by, 0.0, middle}};
    const SweepSummary all = run_sweep(space, options);
    REQUIRE(all.beyond_limits > 0);
    options.search_gap = 0.0;
    const SweepSummary found = run_sweep(space, options);
    CHECK(found.beyond_limits + found.search->beyond_limits == all.beyond_limits);
}

TEST_CASE("a wide gap spares boxes") {
    std::mt19937 random(5);
    DesignSpace space = some_space();
    space.batch = axis(random, 120, 1.0, 3000.0, true);
    space.context = axis(random, 90, 0.0, 90'000.0, true);
    const auto boxes = [&](double gap) {
        SweepOptions options;
        options.best_by = find_sweep_column("tokens_per_s_device");
        options.search_gap = gap;
        return run_sweep(space, options).search->boxes;
    };
    CHECK(boxes(0.3) < boxes(0.0));
}

TEST_CASE("a search's progress rises to all points that can be priced") {
    std::mt19937 random(8);
    DesignSpace space = some_space();
    space.batch = axis(random, 60, 1.0, 3000.0, true);
    space.context = axis(random, 50, 0.0, 90'000.0, true);
    SweepOptions options;
    options.best_by = find_sweep_column("tokens_per_s_device");
    options.search_gap = 0.0;
    options.limits = {{find_sweep_column("tpot_ms"), 0.0, 15.0}};
    std::uint64_t last = 0;
    options.progress = [&](std::uint64_t done, std::uint64_t all) {
        CHECK(done >= last);
        CHECK(all == space.size());
        last = done;
    };
    const SweepSummary found = run_sweep(space, options);
    CHECK(last == space.size() - found.search->excluded);
    CHECK(found.search->beyond_limits > 0);
    CHECK(found.too_large + found.beyond_limits <= found.points);
}

TEST_CASE("a search reports once for each variant that it bounds, once for each that it looks into, and at its end") {
    DesignSpace space = some_space();
    space.batch = {1.0, 8.0, 64.0};
    space.context = {1000.0, 8000.0};
    SweepOptions options;
    options.best_by = find_sweep_column("tokens_per_s_device");
    options.search_gap = 0.0;
    options.best_count = space.size();  // no bound leaves a point out
    std::size_t reports = 0;
    options.progress = [&](std::uint64_t, std::uint64_t) { ++reports; };
    const SweepSummary found = run_sweep(space, options);
    REQUIRE(found.search->boxes < 256);
    CHECK(reports <= 2 * (space.variants.size() - found.excluded.size()) + 1);
}

}  // namespace search_test
