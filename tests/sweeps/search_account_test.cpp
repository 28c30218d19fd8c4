// Does a search account for every point as an enumeration does, and how does it cut boxes, and stop where they are too many?
#include <catch2/catch.hpp>

#include <cmath>

#include "setups.h"
#include "sweeps/search.h"
#include "sweeps/search_boxes.h"

namespace search_account_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

Variant variant_on(const char* device, const char* target = "llama-3-8b") {
    Variant variant;
    variant.labels = {target, "bf16", device, "vllm", "roofline", "llama-3.2-1b", "truncate", 1};
    variant.setup = pair_setup(target, "llama-3.2-1b", platform(device, "vllm"));
    return variant;
}

/// 80 and 24 GB, on the first device a drafter of three heads as well, which drafts no seven tokens, and a model that does not
/// fit at all.
DesignSpace some_space() {
    DesignSpace space;
    space.variants = {variant_on("h100-sxm"), variant_on("rtx-4090"), variant_on("h100-sxm"),
                      variant_on("h100-sxm", "llama-3-70b")};
    space.variants[2].setup.drafter = sim::MedusaDrafter{.heads = 3};
    space.variants[2].labels.drafter = "medusa";
    space.speculation = {0, 1, 3, 7};
    for (int batch = 1; batch <= 30; ++batch) {
        space.batch.push_back(2 * batch);
    }
    for (int context = 0; context < 20; ++context) {
        space.context.push_back(1500.0 * context);
    }
    return space;
}

/// Of one variant and shape, at as many batches and contexts as wanted.
DesignSpace one_shape(int batches, int contexts) {
    DesignSpace space;
    space.variants = {variant_on("h100-sxm")};
    space.speculation = {3};
    for (int batch = 1; batch <= batches; ++batch) {
        space.batch.push_back(batch);
    }
    for (int context = 0; context < contexts; ++context) {
        space.context.push_back(1000.0 * context);
    }
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

}  // namespace

TEST_CASE("a search that leaves no point out by bounds drops and refuses what an enumeration does") {
    DesignSpace space = some_space();
    space.conditions = {{{}, "batch * draft_tokens <= 200"}};
    SweepOptions options;
    options.best_by = find_sweep_column("tokens_per_s_device");
    options.best_count = space.size();
    const SweepSummary all = run_sweep(space, options);
    std::uint64_t last = 0;
    options.progress = [&](std::uint64_t done, std::uint64_t of) {
        CHECK(done >= last);
        CHECK(of == space.size());
        last = done;
    };
    options.search_gap = 0.0;
    const SweepSummary found = run_sweep(space, options);
    CHECK(orders_of(found) == orders_of(all));
    CHECK(found.search->bounded_away == 0);
    CHECK(found.search->too_large >= 4 * 600);                          // all shapes of the model that is too large
    CHECK(found.too_large + found.search->too_large >= all.too_large);  // of which conditions would have left out some
    CHECK(found.points + found.search->too_large >= all.points);
    CHECK(found.dropped >= 600);  // seven tokens by three heads among them
    CHECK(accounted(found) == space.size());
    CHECK(last == space.size());
}

TEST_CASE("a search keeps points that lie on a limit") {
    const DesignSpace space = some_space();
    SweepOptions options;
    options.best_by = find_sweep_column("tpot_ms");
    options.best_count = space.size();
    const std::vector<SweepPoint> points = run_sweep(space, options).best;
    const double middle = options.best_by->value(points[points.size() / 2].figures(space));
    const auto same = [&](std::vector<FigureLimit> limits) {
        options.limits = std::move(limits);
        options.search_gap.reset();
        const SweepSummary all = run_sweep(space, options);
        options.search_gap = 0.0;
        CHECK(orders_of(run_sweep(space, options)) == orders_of(all));
        return all.best.size();
    };
    CHECK(same({{options.best_by, middle, middle}}) > 0);
    const SweepColumn* const batch = find_sweep_column("batch");
    CHECK(same({{batch, 60.0, 60.0}}) > 0);  // the largest
    CHECK(same({{batch, 2.0, 2.0}}) > 0);    // the smallest
    CHECK(same({{batch, 60.5, 99.0}}) == 0);
}

TEST_CASE("a box of 32 points is priced, and one of more is halved") {
    const auto boxes = [](int batches, int contexts) {
        const DesignSpace space = one_shape(batches, contexts);
        SweepOptions options;
        options.best_count = space.size();
        options.search_gap = 0.0;
        const SweepSummary found = run_sweep(space, options);
        CHECK(found.points == space.size());
        return found.search->boxes;
    };
    CHECK(boxes(8, 4) == 1);
    CHECK(boxes(32, 1) == 1);
    CHECK(boxes(33, 1) == 3);  // and its halves
}

TEST_CASE("a box is cut where the ratio of the figures on both sides is the same, and leaves no half empty") {
    DesignSpace space = one_shape(1, 1);
    space.batch = {1.0, 3.0, 7.0, 8.0, 31.0};
    const Reductions what;
    const SortedAxis batches(space.batch), contexts(space.context);
    const sim::CompiledRound round = sim::compile_round(space.variants[0].setup);
    BoxBounds bounds(space, what, batches, contexts);
    bounds.start(0, round, {});
    const auto cut = [&](std::uint32_t begin, std::uint32_t end) {
        const auto [low, high] = bounds.halves({0, {begin, end}, {0, 1}, {}});
        CHECK(low.batches.begin == begin);
        CHECK(high.batches.begin == low.batches.end);
        CHECK(high.batches.end == end);
        return low.batches.end;
    };
    CHECK(cut(0, 5) == 3);  // (7 + 1)² = (1 + 1)·(31 + 1)
    CHECK(cut(1, 5) == 4);  // (10.3 + 1)² = (3 + 1)·(31 + 1)
    CHECK(cut(2, 5) == 4);  // (15 + 1)² = (7 + 1)·(31 + 1)
    CHECK(cut(3, 5) == 4);
    CHECK(cut(0, 2) == 1);
    CHECK(cut(2, 4) == 3);
}

TEST_CASE("values of an axis are sorted with their places, equal ones in the order of the axis") {
    const SortedAxis sorted({4.0, 1.0, 4.0, 2.0});
    CHECK(sorted.values == std::vector<double>{1.0, 2.0, 4.0, 4.0});
    CHECK(sorted.places == std::vector<std::size_t>{1, 3, 0, 2});
    CHECK_FALSE(sorted.in_order);
    CHECK(SortedAxis({1.0, 1.0, 2.0}).in_order);
}

TEST_CASE("a search that holds too many boxes stops, and says how much better what it left may be") {
    DesignSpace space = some_space();
    for (const char* name : {"tokens_per_s_device", "tpot_ms", "draft_ms"}) {
        SweepOptions options;
        options.best_by = find_sweep_column(name);
        options.best_count = 2;
        const SweepSummary all = run_sweep(space, options);
        options.search_gap = 0.0;
        std::size_t stopped = 0;
        for (const std::size_t most : {0, 1, 2, 5, 1000}) {
            options.most_open_boxes = most;
            const SweepSummary found = run_sweep(space, options);
            INFO(name << " with " << most);
            CHECK(accounted(found) == space.size());
            REQUIRE(found.best.size() == 2);
            const double best = rank_of(*options.best_by, all.best.back().figures(space));
            const double its = rank_of(*options.best_by, found.best.back().figures(space));
            CHECK(its >= best);
            CHECK((its == best || its - best <= found.search->gap * std::abs(its) * (1.0 + 1e-9)));
            CHECK((found.search->stopped || found.search->gap == 0.0));
            stopped += found.search->stopped ? 1 : 0;
        }
        CHECK(stopped > 0);
        CHECK(stopped < 5);
    }
}

TEST_CASE("a search may hold as many boxes as it is allowed beside the one that it looks into") {
    const DesignSpace space = one_shape(33, 1);  // a box and its halves
    SweepOptions options;
    options.best_count = space.size();
    options.search_gap = 0.0;
    options.most_open_boxes = 1;
    CHECK_FALSE(run_sweep(space, options).search->stopped);
    options.most_open_boxes = 0;
    const SweepSummary found = run_sweep(space, options);
    CHECK(found.search->stopped);
    CHECK(found.search->boxes == 3);
    CHECK(found.points + found.search->bounded_away == 33);  // one half is left
    CHECK((found.points == 7 || found.points == 26));        // (7.2 + 1)² = (1 + 1)·(33 + 1)
    options.search_gap.reset();                              // the other half has nothing better
    REQUIRE_FALSE(found.best.empty());
    CHECK(found.best.front().order == run_sweep(space, options).best.front().order);
}

TEST_CASE("where a stopped search has fewer points than asked for no share bounds what is missing") {
    const DesignSpace space = one_shape(40, 30);
    SweepOptions options;
    options.best_count = space.size();
    options.search_gap = 0.0;
    options.most_open_boxes = 0;
    const SweepSummary found = run_sweep(space, options);
    CHECK(found.search->stopped);
    CHECK(found.best.size() < space.size());
    CHECK(found.search->bounded_away > 0);
    CHECK(accounted(found) == space.size());
    CHECK(std::isinf(found.search->gap));
}

}  // namespace search_account_test
