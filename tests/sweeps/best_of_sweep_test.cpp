// Are the points that a sweep lists those of a sort of all points, by every column, with any number of threads?
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "setups.h"
#include "sweeps/sweep.h"

namespace best_of_sweep_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

/// Three devices, of which one knows its energy; some points of the smallest do not fit. More than one chunk each.
DesignSpace space() {
    DesignSpace space;
    for (const char* device : {"rtx-4090", "h100-sxm", "l40s"}) {
        Variant variant;
        variant.labels = {"llama-3-8b", "bf16", device, "cuda-graph", "roofline", "llama-3.2-1b", "truncate", 1};
        variant.setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform(device, "cuda-graph"));
        variant.setup.platform.device.energy_per_byte = JoulesPerByte(std::string(device) == "l40s" ? 0.0 : 5e-11);
        variant.setup.platform.device.energy_per_flop = JoulesPerFlop(std::string(device) == "l40s" ? 0.0 : 5e-13);
        variant.setup.platform.device.idle_power = Watts(std::string(device) == "l40s" ? 0.0 : 80.0);
        variant.setup.platform.device.active_power = Watts(0.0);
        variant.setup.platform.device.price = DollarsPerSecond(2.0 / 3600.0);
        space.variants.push_back(variant);
    }
    space.speculation = {0, 1, 2, 3, 5, 8};
    for (int batch = 1; batch <= 40; ++batch) {
        space.batch.push_back(batch);
    }
    for (int context = 0; context < 50; ++context) {
        space.context.push_back(700.0 * context);
    }
    return space;
}

/// Every point in the order of the design space, one at a time.
std::vector<SweepPoint> all_points(const DesignSpace& space) {
    std::vector<SweepPoint> points;
    std::uint64_t order = 0;
    for (std::size_t variant = 0; variant < space.variants.size(); ++variant) {
        const sim::CompiledRound round = sim::compile_round(space.variants[variant].setup);
        for (const double context : space.context) {
            for (const double batch : space.batch) {
                for (const int choice : space.speculation) {
                    const sim::DesignPoint point{choice, batch, context};
                    const int draft_tokens = static_cast<int>(round.row(choice).draft_tokens);
                    points.push_back({variant, point, draft_tokens, order++, sim::evaluate(round, point)});
                }
            }
        }
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

/// The first `count` of a stable sort of those that fit and have a value.
std::vector<std::uint64_t> sorted_by(const SweepColumn& column, std::size_t count, bool ignore_memory, const DesignSpace& space,
                                     const std::vector<SweepPoint>& points) {
    std::vector<SweepPoint> sorted;
    for (const SweepPoint& point : points) {
        if ((ignore_memory || point.estimate.fits) && std::isfinite(column.value(point.figures(space)))) {
            sorted.push_back(point);
        }
    }
    std::stable_sort(sorted.begin(), sorted.end(), [&](const SweepPoint& a, const SweepPoint& b) {
        const double left = column.value(a.figures(space)), right = column.value(b.figures(space));
        return column.better == Better::higher ? left > right : left < right;
    });
    sorted.resize(std::min(count, sorted.size()));
    return orders_of(sorted);
}

/// Of those that fit, every point that no other beats; of equal ones the first.
std::vector<std::uint64_t> front_by(const SweepColumn& first, const SweepColumn& second, const DesignSpace& space,
                                    const std::vector<SweepPoint>& points) {
    struct Ranks {
        double first, second;
        std::uint64_t order;
    };
    std::vector<Ranks> ranks;
    for (const SweepPoint& point : points) {
        const SweepFigures figures = point.figures(space);
        if (point.estimate.fits && std::isfinite(first.value(figures)) && std::isfinite(second.value(figures))) {
            ranks.push_back({rank_of(first, figures), rank_of(second, figures), point.order});
        }
    }
    // Sorted, a point is on the front when it is better in the second rank than every point before it.
    std::sort(ranks.begin(), ranks.end(), [](const Ranks& a, const Ranks& b) {
        return std::tie(a.first, a.second, a.order) < std::tie(b.first, b.second, b.order);
    });
    std::vector<std::uint64_t> front;
    double best = std::numeric_limits<double>::infinity();
    for (const Ranks& rank : ranks) {
        if (rank.second < best) {
            front.push_back(rank.order);
            best = rank.second;
        }
    }
    return front;
}

}  // namespace

TEST_CASE("the best points by any column are those of a sort of all points", "[slow]") {
    const DesignSpace space_of_points = space();
    const std::vector<SweepPoint> points = all_points(space_of_points);
    const bool some_too_large = std::any_of(points.begin(), points.end(), [](const SweepPoint& p) { return !p.estimate.fits; });
    REQUIRE(some_too_large);
    for (const SweepColumn& column : sweep_columns) {
        for (const std::size_t count : {1u, 20u, 9000u}) {
            for (const bool ignore_memory : {false, true}) {
                SweepOptions options;
                options.best_by = &column;
                options.best_count = count;
                options.ignore_memory = ignore_memory;
                const auto expected = sorted_by(column, count, ignore_memory, space_of_points, points);
                const bool of_loads = column.name == "ttft_ms" || column.name == "load" ||
                                      column.name == "gain";  // unknown where batches are stated
                REQUIRE(expected.empty() == of_loads);
                for (const unsigned threads : {1u, 3u}) {
                    options.threads = threads;
                    INFO(column.name << ", " << count << " points, " << threads << " threads");
                    CHECK((orders_of(run_sweep(space_of_points, options).best) == expected));
                }
            }
        }
    }
}

TEST_CASE("the Pareto set of any two columns is that of a comparison of all points", "[slow]") {
    const DesignSpace space_of_points = space();
    const std::vector<SweepPoint> points = all_points(space_of_points);
    for (const SweepColumn& first : sweep_columns) {
        for (const SweepColumn& second : sweep_columns) {
            if (&first < &second) {
                SweepOptions options;
                options.threads = 2;
                options.pareto_of = {&first, &second};
                INFO(first.name << " against " << second.name);
                CHECK((orders_of(run_sweep(space_of_points, options).pareto) ==
                       front_by(first, second, space_of_points, points)));
            }
        }
    }
}

TEST_CASE("a figure that a device's description cannot give keeps its points out of the list") {
    DesignSpace space_of_points = space();
    SweepOptions options;
    options.best_by = find_sweep_column("tokens_per_joule");
    options.best_count = 50'000;
    const SweepSummary summary = run_sweep(space_of_points, options);
    CHECK(std::none_of(summary.best.begin(), summary.best.end(), [](const SweepPoint& p) { return p.variant == 2; }));
    CHECK(find_sweep_column("fits") == nullptr);
    CHECK(find_sweep_column("tokens_per_s") == nullptr);
}

}  // namespace best_of_sweep_test
