// Is what a sweep keeps what a comparison of all its points gives, in one piece, in parts, and after interruptions?
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "setups.h"
#include "sweeps/sweep.h"

namespace reductions_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

DesignSpace space_of_two(std::size_t contexts = 30) {
    DesignSpace space;
    for (const char* device : {"h100-sxm", "l40s"}) {
        Variant variant;
        variant.labels = {"llama-3-8b", "bf16", device, "cuda-graph", "roofline", "llama-3.2-1b", "truncate", 1};
        variant.setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform(device, "cuda-graph"));
        variant.setup.platform.device.price = DollarsPerSecond(2.0 / 3600.0);
        space.variants.push_back(variant);
    }
    space.speculation = {0, 1, 3, 7};
    for (int batch = 1; batch <= 150; ++batch) {
        space.batch.push_back(batch);
    }
    for (std::size_t context = 0; context < contexts; ++context) {
        space.context.push_back(811.0 * static_cast<double>(context));
    }
    return space;
}

std::vector<SweepPoint> all_points(const DesignSpace& space) {
    std::vector<SweepPoint> points;
    for (std::uint64_t order = 0; order < space.size(); ++order) {
        const Place place = place_of(space, order);
        REQUIRE(order_of(space, place) == order);
        static std::map<std::size_t, sim::CompiledRound> rounds;
        if (order == 0) {
            rounds.clear();
        }
        const auto known = rounds.find(place.variant);
        const sim::CompiledRound& round =
            known != rounds.end()
                ? known->second
                : rounds.emplace(place.variant, sim::compile_round(space.variants[place.variant].setup)).first->second;
        const sim::DesignPoint point{space.speculation[place.shape], space.batch[place.batch], space.context[place.context]};
        points.push_back({place.variant, point, static_cast<int>(round.row(point.speculation).draft_tokens), order,
                          sim::evaluate(round, point)});
    }
    return points;
}

std::vector<std::uint64_t> orders_of(const std::vector<SweepPoint>& points) {
    std::vector<std::uint64_t> orders;
    for (const SweepPoint& point : points) {
        orders.push_back(point.order);
    }
    return orders;
}

bool within(const Reductions& what, const SweepPoint& point, const DesignSpace& space) {
    return (what.ignore_memory || point.estimate.fits) &&
           std::all_of(what.limits.begin(), what.limits.end(), [&](const FigureLimit& limit) {
               const double value = limit.column->value(point.figures(space));
               return value >= limit.least && value <= limit.most;
           });
}

}  // namespace

TEST_CASE("the best of every group is that of a loop over all points") {
    const DesignSpace space = space_of_two();
    const std::vector<SweepPoint> points = all_points(space);
    SweepOptions options;
    options.threads = 3;
    for (const std::vector<std::string>& axes : std::vector<std::vector<std::string>>{
             {"batch"}, {"device"}, {"context", "shape"}, {"device", "batch", "shape"}, {"target"}}) {
        options.groups.push_back({axes, find_sweep_column("tpot_ms")});
        options.groups.push_back({axes, find_sweep_column("tokens_per_s_device")});
    }
    options.limits = {{find_sweep_column("speedup"), 0.9, 3.0}, {find_sweep_column("memory_gb"), 0.0, 60.0}};
    const SweepSummary summary = run_sweep(space, options);
    std::uint64_t beyond = 0;
    for (const SweepPoint& point : points) {
        beyond += point.estimate.fits && !within(options, point, space) ? 1 : 0;
    }
    CHECK(summary.beyond_limits == beyond);
    CHECK(beyond > 0);
    for (std::size_t i = 0; i < options.groups.size(); ++i) {
        const Groups groups(space, options.groups[i].axes);
        std::map<std::vector<std::string>, const SweepPoint*> best;
        for (const SweepPoint& point : points) {
            if (!within(options, point, space)) {
                continue;
            }
            const SweepPoint*& known = best[groups.values(place_of(space, point.order))];
            const SweepColumn& by = *options.groups[i].by;
            if (known == nullptr || rank_of(by, point.figures(space)) < rank_of(by, known->figures(space))) {
                known = &point;
            }
        }
        REQUIRE(summary.groups[i].entries.size() == best.size());
        for (const GroupList::Entry& entry : summary.groups[i].entries) {
            CHECK(best.at(entry.values)->order == entry.point.order);
        }
    }
}

TEST_CASE("Pareto sets of three and four columns are those of a comparison of every pair") {
    const DesignSpace space = space_of_two(7);
    const std::vector<SweepPoint> points = all_points(space);
    for (const std::vector<const char*>& names :
         std::vector<std::vector<const char*>>{{"tpot_ms", "tokens_per_s_device", "memory_gb"},
                                               {"tokens_per_s_user", "usd_per_million_tokens", "context"},
                                               {"speedup", "draft_ms", "batch", "wasted_draft_share"}}) {
        SweepOptions options;
        options.threads = 2;
        options.pareto_of.clear();
        for (const char* name : names) {
            options.pareto_of.push_back(find_sweep_column(name));
        }
        std::vector<std::vector<double>> ranks;
        for (const SweepPoint& point : points) {
            ranks.emplace_back();
            for (const SweepColumn* column : options.pareto_of) {
                ranks.back().push_back(rank_of(*column, point.figures(space)));
            }
        }
        std::vector<std::uint64_t> expected;
        for (std::size_t i = 0; i < points.size(); ++i) {
            bool beaten = !points[i].estimate.fits;
            for (std::size_t j = 0; j < points.size() && !beaten; ++j) {
                bool nowhere_behind = points[j].estimate.fits;
                for (std::size_t c = 0; c < ranks[i].size() && nowhere_behind; ++c) {
                    nowhere_behind = ranks[j][c] <= ranks[i][c];
                }
                beaten = nowhere_behind && (ranks[j] != ranks[i] || j < i);
            }
            if (!beaten) {
                expected.push_back(i);
            }
        }
        std::vector<std::uint64_t> front = orders_of(run_sweep(space, options).pareto);
        std::sort(front.begin(), front.end());
        INFO(names[0] << ", " << names[1] << ", " << names[2]);
        CHECK(front.size() > 3);
        CHECK((front == expected));
    }
}

TEST_CASE("quantiles lie within 0.4 % of those of all values") {
    const DesignSpace space = space_of_two();
    SweepOptions options;
    options.distributions = {find_sweep_column("tpot_ms"), find_sweep_column("speedup"), find_sweep_column("draft_ms")};
    const SweepSummary summary = run_sweep(space, options);
    const std::vector<SweepPoint> points = all_points(space);
    for (std::size_t i = 0; i < 3; ++i) {
        std::vector<double> values;
        for (const SweepPoint& point : points) {
            if (point.estimate.fits) {
                values.push_back(options.distributions[i]->value(point.figures(space)));
            }
        }
        std::sort(values.begin(), values.end());
        const Distribution& found = summary.distributions[i];
        REQUIRE(found.count() == values.size());
        CHECK(found.least() == values.front());
        CHECK(found.most() == values.back());
        for (const double share : {0.1, 0.5, 0.9, 0.99, 1.0}) {
            const auto place = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size()))) - 1;
            CHECK(found.quantile(share) == Approx(values[place]).epsilon(0.004));
        }
        std::uint64_t in_bars = 0;
        for (const Distribution::Bar& bar : found.histogram(20)) {
            in_bars += bar.count;
        }
        CHECK(in_bars == values.size());
    }
}

TEST_CASE("a sweep that stops and goes on anywhere, and one run in parts, keep what an undisturbed one keeps") {
    const DesignSpace space = space_of_two(120);  // several tasks
    SweepOptions options;
    options.threads = 2;
    options.best_count = 500;
    options.groups = {{{"device", "batch"}, find_sweep_column("speedup")}, {{"context"}, find_sweep_column("tpot_ms")}};
    options.distributions = {find_sweep_column("tpot_ms")};
    SweepRun whole(space, options);
    ReductionState undisturbed = whole.nothing();
    whole.run(0, whole.tasks(), undisturbed);
    const std::string expected = undisturbed.bytes();
    REQUIRE(whole.tasks() >= 2);
    CHECK(undisturbed.seen == space.size());

    std::mt19937 random(11);
    for (int repeat = 0; repeat < 20; ++repeat) {
        std::vector<SweepState> saved;
        SweepOptions first = options;
        first.save_seconds = 0.0;  // after every task or so
        first.save = [&](const SweepState& state) { saved.push_back(state); };
        static_cast<void>(run_sweep(space, first));
        REQUIRE(saved.back().next_task == whole.tasks());
        SweepOptions second = options;
        second.resume = saved[random() % saved.size()];
        second.threads = static_cast<unsigned>(1 + random() % 3);
        std::string last;
        second.save = [&](const SweepState& state) { last = state.kept; };
        static_cast<void>(run_sweep(space, second));
        CHECK((last.empty() ? second.resume->kept : last) == expected);
    }

    for (const std::uint64_t count : {2u, 3u, 7u}) {
        ReductionState joined = whole.nothing();
        for (std::uint64_t part = count; part-- > 0;) {
            SweepOptions of_part = options;
            of_part.part = {part, count};
            std::string kept = whole.nothing().bytes();
            of_part.save = [&](const SweepState& state) { kept = state.kept; };
            static_cast<void>(run_sweep(space, of_part));
            joined.merge(kept);
        }
        CHECK(joined.bytes() == expected);
    }
}

TEST_CASE("stored reductions that are damaged are refused") {
    const DesignSpace space = space_of_two(2);
    const SweepOptions options;
    SweepRun run(space, options);
    ReductionState state = run.nothing();
    run.run(0, run.tasks(), state);
    const std::string bytes = state.bytes();
    ReductionState other = run.nothing();
    CHECK_THROWS_AS(other.merge(bytes.substr(0, bytes.size() - 3)), std::invalid_argument);
    CHECK_THROWS_AS(other.merge(bytes + "x"), std::invalid_argument);
    CHECK_THROWS_AS(other.merge("nonsense"), std::invalid_argument);
}

TEST_CASE("a stored group that the space does not have is refused") {
    const DesignSpace space = space_of_two(2);
    SweepOptions options;
    options.groups = {{{"context"}, find_sweep_column("tpot_ms")}};  // groups 0 and 1
    SweepRun run(space, options);
    ReductionState state = run.nothing();
    run.run(0, run.tasks(), state);
    const SweepSummary summary = run_sweep(space, options);
    // A version and four counts, then lists behind their lengths: best points, Pareto set, groups.
    const std::size_t first_group =
        4 + 4 * 8 + (8 + summary.best.size() * sizeof(RankedPoint)) + (8 + summary.pareto.size() * sizeof(FrontPoint)) + 8;
    const auto merged_with = [&](char group) {
        std::string bytes = state.bytes();
        REQUIRE(bytes[first_group] == 0);
        REQUIRE(bytes[first_group - 8] == 2);
        bytes[first_group] = group;
        run.nothing().merge(bytes);
    };
    CHECK_NOTHROW(merged_with(1));
    CHECK_THROWS_WITH(merged_with(2), "the stored reductions are damaged");
}

TEST_CASE("a Pareto set has two columns at least, and as many as are compared at most") {
    const DesignSpace space = space_of_two(2);
    SweepOptions options;
    const SweepColumn* const first = options.pareto_of.front();
    for (const std::size_t columns : {1U, 2U, 4U, 5U}) {
        options.pareto_of.assign(columns, first);
        if (columns < 2 || columns > most_front_columns) {
            CHECK_THROWS_WITH(run_sweep(space, options), Catch::Contains("a Pareto set has 2 to"));
        } else {
            CHECK_NOTHROW(run_sweep(space, options));
        }
    }
}

TEST_CASE("groups that cannot be made are sentences") {
    const DesignSpace space = space_of_two(2);
    CHECK_THROWS_WITH(Groups(space, {"colour"}), Catch::Contains("cannot be grouped by colour; the axes are target"));
    DesignSpace large = space;
    large.context.assign(40'000, 1.0);
    DesignSpace largest = large;
    largest.batch.assign(2000, 1);
    largest.context.assign(2000, 0.0);
    CHECK(Groups(largest, {"context", "batch"}).count() == Groups::most);
    CHECK_THROWS_WITH(Groups(large, {"context", "batch"}), Catch::Contains("6000000 groups; at most 4000000"));
}

TEST_CASE("conditions on the context drop the points they name") {
    DesignSpace space = space_of_two();
    space.conditions = {{{}, "batch * context <= 100000"}, {{{"device", "l40s"}}, "draft_tokens < 5"}};
    REQUIRE(space.problems().empty());
    SweepOptions options;
    options.best_count = 100'000;
    options.ignore_memory = true;
    std::vector<std::uint64_t> expected;
    for (const SweepPoint& point : all_points(space)) {
        if (point.point.batch * point.point.context <= 100'000.0 && (point.variant == 0 || point.draft_tokens < 5)) {
            expected.push_back(point.order);
        }
    }
    const SweepSummary summary = run_sweep(space, options);
    std::vector<std::uint64_t> kept = orders_of(summary.best);
    std::sort(kept.begin(), kept.end());
    CHECK((kept == expected));
    CHECK(summary.points == expected.size());
    CHECK(summary.dropped == space.size() - expected.size());
}

TEST_CASE("the best of every batch is found in whichever context of a tile it lies") {
    DesignSpace space = space_of_two(64);
    space.batch = {1.0, 2.0, 3.0, 4.0};                        // 32 contexts in a tile
    std::reverse(space.context.begin(), space.context.end());  // the shortest, which is the best, last
    SweepOptions options;
    options.groups = {{{"batch"}, find_sweep_column("tpot_ms")}, {{"batch"}, find_sweep_column("tokens_per_s_device")}};
    const SweepSummary summary = run_sweep(space, options);
    for (const GroupList& list : summary.groups) {
        REQUIRE(list.entries.size() == 4);
        for (const GroupList::Entry& entry : list.entries) {
            CHECK(entry.point.point.context == 0.0);
        }
    }
}

TEST_CASE("each context of a tile is a group of its own") {
    DesignSpace space = space_of_two(64);
    space.batch = {1.0, 2.0, 3.0, 4.0};
    SweepOptions options;
    options.groups = {{{"context"}, find_sweep_column("tpot_ms")}, {{"context", "batch"}, find_sweep_column("tpot_ms")}};
    const SweepSummary summary = run_sweep(space, options);
    REQUIRE(summary.groups[0].entries.size() == 64);
    for (const GroupList::Entry& entry : summary.groups[0].entries) {
        CHECK(entry.point.point.batch == 1.0);  // the fastest for one user
        CHECK(std::stod(entry.values[0]) == entry.point.point.context);
    }
    REQUIRE(summary.groups[1].entries.size() == 4 * 64);
    for (const GroupList::Entry& entry : summary.groups[1].entries) {
        CHECK(std::stod(entry.values[0]) == entry.point.point.context);
        CHECK(std::stod(entry.values[1]) == entry.point.point.batch);
    }
}

}  // namespace reductions_test
