// The small parts of a sweep: distributions, conditions over boxes, limits of a space, and the loops over columns.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <memory>

#include "sweeps/column_kernels.h"
#include "sweeps/condition_bounds.h"
#include "sweeps/cuts.h"
#include "sweeps/design_space.h"
#include "sweeps/distribution.h"
#include "sweeps/groups.h"
#include "sweeps/kept_points.h"
#include "sweeps/sweep_columns.h"

namespace sweep_parts_test {

using namespace treeline;
using namespace treeline::sweeps;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

Distribution of(const std::vector<double>& values, const std::vector<double>& penalties = {}) {
    TileColumn column{}, penalty{};
    std::copy(values.begin(), values.end(), column.values);
    std::copy(penalties.begin(), penalties.end(), penalty.values);
    Distribution distribution;
    distribution.add(column, penalty, values.size());
    return distribution;
}

/// Whether a condition may hold for these batches at 3 draft tokens.
bool may_hold(const std::string& condition, double least, double most) {
    const ConditionBounds bounds(condition);
    REQUIRE(bounds.understood());
    return bounds.may_hold({ValueRange{3.0, 3.0}, {3.0, 3.0}, {least, most}, {100.0, 200.0}, {1.0, 1.0}});
}

DesignSpace small_space() {
    DesignSpace space;
    space.variants.resize(1);
    space.speculation = {0, 1};
    space.batch = {1.0, 2.0, 3.0};
    space.context = {100.0, 200.0, 300.0, 400.0, 500.0};
    return space;
}
template <class Change>
std::size_t wrong(Change change) {
    DesignSpace space = small_space();
    change(space);
    return space.problems().size();
}

}  // namespace

TEST_CASE("a distribution counts what is finite and not penalised, in classes of 1/128 of a power of two") {
    const Distribution d = of({1.0, 2.0, infinite, 4.0, 8.0, std::nan("")}, {0.0, 0.0, 0.0, infinite, 0.0, 0.0});
    CHECK(d.count() == 3);
    CHECK(d.least() == 1.0);
    CHECK(d.most() == 8.0);
    CHECK(std::isnan(Distribution().quantile(0.5)));
    CHECK(Distribution().histogram(4).empty());
    CHECK(d.filled().size() == 3);  // classes that hold something
    CHECK(d.quantile(0.0) == Approx(1.0).epsilon(0.004));
    CHECK(d.quantile(1.0 / 3) == Approx(1.0).epsilon(0.004));
    CHECK(d.quantile(0.34) == 2.0 * (1 + 0.5 / 128));  // the middle of its class
    CHECK(d.quantile(1.0) == 8.0);
    const Distribution zeros = of({0.0, -3.0, 5.0});
    CHECK(zeros.quantile(0.5) == -3.0);  // of 0 and below only the least is known
    CHECK(zeros.least() == -3.0);
    CHECK(of({1e-30}).quantile(1.0) == 1e-30);
    CHECK(of({1e30, 1.0}).quantile(0.9) == 1e30);
    // The last class begins just below 2^64 and ends with the largest value.
    CHECK(of({3e30, 5e30, 2e31}).quantile(0.5) == Approx(1e31));
    CHECK(of({3e30}).histogram(3).back().to == 3e30);
    const double top = 0x1p63;
    CHECK(of({(1.0 + 125.5 / 128) * top, (1.0 + 126.5 / 128) * top, (1.0 + 127.5 / 128) * top, 3e30}).filled().size() == 3);
    CHECK(of({0x1p-64, 0x1p-65}).filled().size() == 2);  // the first class begins with 2^-64
}

TEST_CASE("the bars of a histogram hold every value once") {
    Distribution d = of({1.0, 1.5, 2.0, 3.0, 3.99});
    const auto bars = d.histogram(2);  // two powers of two, a class less
    REQUIRE(bars.size() == 2);
    CHECK(bars[0].from == 1.0);
    CHECK(bars[0].to == 2.0);
    CHECK(bars[0].count == 2);
    CHECK(bars[1].count == 3);
    CHECK(bars[1].to == 4.0);
    d.merge(of({0.5, 64.0}));
    CHECK(d.count() == 7);
    CHECK(d.least() == 0.5);
    CHECK(d.most() == 64.0);
    std::uint64_t counted = 0;
    for (const Distribution::Bar& bar : d.histogram(10)) {
        counted += bar.count;
    }
    CHECK(counted == 7);
    CHECK(d.histogram(10).size() <= 10);
    Distribution stored;
    stored.restore(d.least(), d.most(), d.filled());
    CHECK(stored.count() == 7);
    CHECK(stored.quantile(0.5) == d.quantile(0.5));
    CHECK(stored.filled().size() == d.filled().size());
}

TEST_CASE("comparisons over a box hold somewhere, or nowhere") {
    CHECK(may_hold("batch < 5", 4.0, 9.0));
    CHECK_FALSE(may_hold("batch < 4", 4.0, 9.0));
    CHECK(may_hold("batch <= 4", 4.0, 9.0));
    CHECK_FALSE(may_hold("batch <= 3", 4.0, 9.0));
    CHECK(may_hold("batch > 8", 4.0, 9.0));
    CHECK_FALSE(may_hold("batch > 9", 4.0, 9.0));
    CHECK(may_hold("batch >= 9", 4.0, 9.0));
    CHECK_FALSE(may_hold("batch >= 10", 4.0, 9.0));
    CHECK(may_hold("batch == 5", 4.0, 9.0));
    CHECK(may_hold("batch == 9", 4.0, 9.0));
    CHECK_FALSE(may_hold("batch == 10", 4.0, 9.0));
    CHECK_FALSE(may_hold("batch == 3", 4.0, 9.0));
    CHECK_FALSE(may_hold("batch != 4", 4.0, 4.0));
    CHECK(may_hold("batch != 4", 4.0, 5.0));
    CHECK(may_hold("batch != 3", 4.0, 4.0));
    CHECK_FALSE(may_hold("batch - batch * 1 > 5", 4.0, 9.0));
    // A divisor that may be zero may be a zero of either sign, and a quotient of it anything.
    CHECK(may_hold("1 / (0 * (batch - 5)) > 0", 4.0, 6.0));
    CHECK(may_hold("1 / (0 * (batch - 5)) < 0", 4.0, 6.0));
    CHECK_FALSE(may_hold("1 / (batch - 3) < 0", 4.0, 6.0));
}

TEST_CASE("arithmetic over a box: the corners that bound it") {
    CHECK(may_hold("batch * (draft_tokens + 1) <= 16", 4.0, 9.0));
    CHECK_FALSE(may_hold("batch * (draft_tokens + 1) < 16", 4.0, 9.0));
    CHECK(may_hold("batch - context >= -91", 4.0, 9.0));
    CHECK_FALSE(may_hold("batch - context > -91", 4.0, 9.0));
    CHECK(may_hold("batch - context <= -196", 4.0, 9.0));
    CHECK_FALSE(may_hold("batch - context < -196", 4.0, 9.0));
    CHECK(may_hold("-batch * context <= -1800", 4.0, 9.0));
    CHECK_FALSE(may_hold("-batch * context < -1800", 4.0, 9.0));
    CHECK(may_hold("-batch * context >= -400", 4.0, 9.0));
    CHECK_FALSE(may_hold("-batch * context > -400", 4.0, 9.0));
    CHECK(may_hold("context / batch >= 50", 4.0, 9.0));
    CHECK_FALSE(may_hold("context / batch > 50", 4.0, 9.0));
    CHECK_FALSE(may_hold("context / batch < 11", 4.0, 9.0));
    CHECK(may_hold("context / batch > 1000", 0.0, 9.0));  // anything, by 0
    CHECK(may_hold("context / batch > 1000", -1.0, 0.0));
    CHECK_FALSE(may_hold("batch + context > 209", 4.0, 9.0));
    CHECK(may_hold("batch + context >= 209", 4.0, 9.0));
    CHECK_FALSE(may_hold("batch + context < 104", 4.0, 9.0));
    CHECK_FALSE(may_hold("batch > 4 && batch < 4", 4.0, 4.0));
    CHECK(may_hold("batch > 5 && batch < 5", 4.0, 9.0));  // each somewhere: that both do nowhere is not seen
    CHECK_FALSE(may_hold("batch > 9 && context > 0", 4.0, 9.0));
    CHECK_FALSE(may_hold("context > 0 && batch > 9", 4.0, 9.0));
    CHECK(may_hold("batch > 9 || context > 0", 4.0, 9.0));
    CHECK(may_hold("context > 0 || batch > 9", 4.0, 9.0));
    CHECK_FALSE(may_hold("batch > 9 || context < 0", 4.0, 9.0));
    CHECK_FALSE(may_hold("batch * 0", 4.0, 9.0));
    CHECK(may_hold("-batch", 4.0, 9.0));  // whatever is not 0 is true
    CHECK_FALSE(ConditionBounds("batch ^ 2 < 4").understood());
    CHECK(ConditionBounds("batch ^ 2 < 4").may_hold({}));
}

TEST_CASE("a condition compares with ==") {
    CHECK_NOTHROW(Condition("batch == 4"));
    CHECK_NOTHROW(Condition("batch <= 4 && batch >= 1 && batch != 2"));
    CHECK_THROWS_WITH(Condition("batch = 4"), Catch::Contains("it compares with ==, not with ="));
    CHECK_THROWS(Condition("= 4"));
    CHECK_THROWS(Condition("batch ="));
    CHECK(Condition("batch == 4").holds(1.0, 1.0, 4.0, 1.0, 1.0));
    CHECK_FALSE(Condition("batch == 4").holds(4.0, 4.0, 1.0, 4.0, 4.0));
    CHECK(Condition("draft_tokens").names("draft_tokens"));
    CHECK_FALSE(Condition("draft_tokens").names("depth"));
}

TEST_CASE("a space of a few points, and what its axes may hold") {
    CHECK(small_space().size() == 1 * 2 * 3 * 5);
    CHECK(wrong([](DesignSpace&) {}) == 0);
    CHECK(wrong([](DesignSpace& s) { s.variants.clear(); }) == 1);
    CHECK(wrong([](DesignSpace& s) { s.batch.clear(); }) == 1);
    CHECK(wrong([](DesignSpace& s) { s.context.clear(); }) == 1);
    CHECK(wrong([](DesignSpace& s) { s.speculation.clear(); }) == 1);
    CHECK(wrong([](DesignSpace& s) { s.batch = {1.0, 1e6}; }) == 0);
    CHECK(wrong([](DesignSpace& s) { s.batch = {0.99}; }) == 1);
    CHECK(wrong([](DesignSpace& s) { s.batch = {1.1e6}; }) == 1);
    CHECK(wrong([](DesignSpace& s) { s.context = {0.0, 1e8}; }) == 0);
    CHECK(wrong([](DesignSpace& s) { s.context = {-1.0}; }) == 1);
    CHECK(wrong([](DesignSpace& s) { s.context = {1.1e8}; }) == 1);
    const auto arrivals = [](double rate, double output_tokens) {
        return wrong([&](DesignSpace& s) {
            s.kind = LoadKind::arrival_rate;
            s.batch = {rate};
            s.variants.front().setup.output_tokens = output_tokens;
        });
    };
    CHECK(arrivals(0.001, 1.0) == 0);
    CHECK(arrivals(1e9, 1.0) == 0);
    CHECK(arrivals(0.0, 1.0) == 1);
    CHECK(arrivals(1.1e9, 1.0) == 1);
    CHECK(arrivals(1.0, 0.0) == 1);  // nothing says how long a request stays
    CHECK(wrong([](DesignSpace& s) { s.conditions = {{{}, "batch <"}}; }) == 1);
    CHECK(wrong([](DesignSpace& s) { s.conditions = {{{{"device", "x"}}, "batch < 3"}}; }) == 0);
    CHECK(wrong([](DesignSpace& s) { s.conditions = {{{{"planet", "x"}}, "batch < 3"}}; }) == 1);
}

TEST_CASE("the names of a variant") {
    VariantLabels labels{"model", "bf16", "h100", "vllm", "roofline", "eagle", "truncate", 1};
    CHECK(labels.platform() == "h100");
    CHECK(labels.text() == "eagle on h100");
    labels.tensor_parallel = 2;
    labels.rollback = "replay";
    CHECK(labels.platform() == "2x h100");
    CHECK(labels.text() == "eagle on 2x h100, replay");
    labels.rollback = "";
    labels.parallel.data = 4.0;
    CHECK(labels.text() == "eagle on 8x h100 (tensor 2, attention data 4)");
    CHECK(*labels.find("stack") == "vllm");
    CHECK(labels.find("rollback")->empty());
    CHECK(labels.find("batch") == nullptr);
}

TEST_CASE("loops over columns: what is counted, penalised and found") {
    TileColumn values{}, penalty{};
    const double some[] = {1.0, 2.0, 3.0, 4.0, infinite, -infinite};
    std::copy(std::begin(some), std::end(some), values.values);
    CHECK(count_unpenalised(penalty, 6) == 6);
    CHECK(penalise_outside(values, 2.0, 3.0, 6, penalty) == 4);
    CHECK(penalty.values[1] == 0.0);
    CHECK(penalty.values[2] == 0.0);
    CHECK(penalty.values[0] == infinite);
    CHECK(penalty.values[3] == infinite);
    CHECK(count_unpenalised(penalty, 6) == 2);
    CHECK(penalise_outside(values, 3.0, 9.0, 6, penalty) == 1);  // the others are penalised already
    auto estimates = std::make_unique<sim::EstimateColumns>();
    estimates->capacity = 10.0;
    const double memory[] = {9.0, 10.0, 11.0, 12.0, 13.0, 14.0};
    estimates->size = 5;
    std::copy(std::begin(memory), std::end(memory), estimates->memory);
    const Variant variant;
    CHECK_FALSE(find_sweep_column("usd_per_million_tokens")->known(variant));  // of a device without a price
    TileColumn misfits{};
    misfits.values[3] = infinite;  // was left out before
    CHECK(penalise_misfits({variant, 0.0, memory, memory, *estimates}, misfits) == 2);
    CHECK(misfits.values[1] == 0.0);
    CHECK(misfits.values[2] == infinite);
    CHECK(misfits.values[4] == infinite);
    CHECK(misfits.values[5] == 0.0);  // no point is there
    TilePlaces found;
    find_at_most(some, 3.0, 6, found);
    REQUIRE(found.count == 3);
    CHECK(found.places[2] == 2);
    find_at_most(some, infinite, 6, found);
    CHECK(found.count == 4);  // what is not finite is no rank
    const double bars[] = {1.0, 1.9, 4.0, 4.0, infinite, 9.0};
    find_at_most(some, bars, 6, found);
    REQUIRE(found.count == 3);
    CHECK(found.places[0] == 0);
    CHECK(found.places[1] == 2);
    const double other[] = {4.0, 3.0, 3.0, 1.0, 0.0, 0.0};
    const double* const ranks[] = {some, other};
    FrontRanks guard{};
    guard[0] = 2.0;
    guard[1] = 3.0;
    find_unbeaten(ranks, {&guard, 1}, 6, found);
    REQUIRE(found.count == 3);  // the third is beaten; the second is the guard's equal
    CHECK(found.places[0] == 0);
    CHECK(found.places[1] == 1);
    CHECK(found.places[2] == 3);
}

TEST_CASE("loops over columns reach the last point of a full tile") {
    const auto ranks = std::make_unique<TileColumn>();
    std::fill_n(ranks->values, sim::tile_size, 2.0);
    ranks->values[sim::tile_size - 1] = 1.0;
    const double* const both[] = {ranks->values, ranks->values};
    FrontRanks guard{};
    guard[0] = guard[1] = 1.5;
    TilePlaces found;
    find_at_most(ranks->values, 1.5, sim::tile_size, found);
    CHECK(found.count == 1);
    find_at_most(ranks->values, ranks->values, sim::tile_size, found);
    CHECK(found.count == sim::tile_size);
    find_unbeaten(both, {&guard, 1}, sim::tile_size, found);
    REQUIRE(found.count == 1);
    CHECK(found.places[0] == sim::tile_size - 1);
}

TEST_CASE("a comparison that holds, or fails, in a whole box is known to, its ends included") {
    CHECK_FALSE(may_hold("(batch >= 4) == 0", 4.0, 9.0));
    CHECK_FALSE(may_hold("(batch <= 9) == 0", 4.0, 9.0));
    CHECK_FALSE(may_hold("(batch > 3) == 0", 4.0, 9.0));
    CHECK_FALSE(may_hold("(batch < 10) == 0", 4.0, 9.0));
    CHECK(may_hold("(batch > 4) == 0", 4.0, 9.0));
    CHECK(may_hold("(batch < 9) == 0", 4.0, 9.0));
}

TEST_CASE("a histogram has a bar for its largest value where that one begins a class") {
    const auto bars = of({1.0, 1.0 + 1.0 / 128}).histogram(2);
    REQUIRE(bars.size() == 2);
    CHECK(bars[0].count == 1);
    CHECK(bars[1].count == 1);
}

TEST_CASE("points are ordered by rank and then by number, and none comes before itself") {
    const RankedPoint first{1.0, 5}, second{1.0, 6}, third{1.5, 0};
    CHECK(first.comes_before(second));
    CHECK(second.comes_before(third));
    CHECK_FALSE(second.comes_before(first));
    CHECK_FALSE(first.comes_before(first));
}

TEST_CASE("figures are in the units that their names state") {
    const Variant variant;
    sim::RoundEstimate estimate;
    estimate.memory = Bytes(80e9);
    estimate.round = Seconds(0.25);
    const auto figure = [&](const char* name) { return find_sweep_column(name)->value({variant, 3.0, 4.0, 5.0, estimate}); };
    CHECK(figure("memory_gb") == Approx(80.0));
    CHECK(figure("itl_ms") == Approx(250.0));
}

TEST_CASE("variants are grouped by each of their degrees of parallelism") {
    DesignSpace space = small_space();
    VariantLabels& labels = space.variants.front().labels;
    labels.tensor_parallel = 2;
    labels.parallel.experts = 4.0;
    labels.parallel.pipeline = 3.0;
    labels.parallel.data = 5.0;
    const Groups groups(space, {"tensor_parallel", "expert_parallel", "pipeline_parallel", "attention_data_parallel"});
    CHECK(groups.values({}) == std::vector<std::string>{"2", "4", "3", "5"});
}

TEST_CASE("every column is its figure of the estimate in the unit of its name") {
    sim::RoundEstimate estimate;
    estimate.draft = Seconds(0.002);
    estimate.verify = Seconds(0.003);
    estimate.rollback = Seconds(0.004);
    estimate.host = Seconds(0.005);
    estimate.round = Seconds(0.014);
    estimate.first_token = Seconds(0.25);
    estimate.time_per_token = Seconds(0.007);
    estimate.accept_length = 2.0;
    estimate.iteration_multiplier = 1.4;
    estimate.throughput_multiplier = 1.5;
    estimate.decode_share = 0.75;
    estimate.tokens_per_second_user = 140.0;
    estimate.tokens_per_second_device = 560.0;
    estimate.memory = Bytes(16e9);
    estimate.energy_per_token = Joules(4.0);
    estimate.price_per_token = Dollars(3e-6);
    estimate.wasted_draft_share = 0.6;
    Variant variant;
    variant.setup.platform.device.price = DollarsPerSecond(1e-3);
    const SweepFigures at{variant, 3.0, 4.0, 512.0, estimate, 9.0, 5.0, 1.25};
    // The device states no energy.
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    const std::vector<double> values = {3,   4,  512,     1.5,     2, 1.4, 7,  2,   3,    4, 5, 140,
                                        560, 16, unknown, unknown, 3, 0.6, 14, 250, 0.25, 9, 5, 1.25};
    REQUIRE(values.size() == sweep_columns.size());
    for (const SweepColumn& column : sweep_columns) {
        INFO(column.name);
        const double value = values[index_of(column)];
        if (std::isnan(value)) {
            CHECK(std::isnan(column.value(at)));
        } else {
            CHECK(column.value(at) == Catch::Detail::Approx(value));
            CHECK(rank_of(column, at) == Catch::Detail::Approx(column.better == Better::higher ? -value : value));
        }
    }
    CHECK(find_sweep_column("energy_j_per_token")->figure(at) == 4.0);
    CHECK(find_sweep_column("tokens_per_joule")->figure(at) == 0.25);
    estimate.first_token = Seconds(0.0);
    CHECK(std::isnan(find_sweep_column("ttft_ms")->value(at)));
}

TEST_CASE("a tile's row fills as many places as it has points, and ranks the better first") {
    const auto estimates = std::make_unique<sim::EstimateColumns>();
    estimates->size = 3;
    for (std::size_t i = 0; i < 4; ++i) {
        sim::RoundEstimate e;
        e.time_per_token = Seconds(0.010 + 0.001 * static_cast<double>(i));
        e.tokens_per_second_device = 100.0 * static_cast<double>(i + 1);
        estimates->set_times(i, e);
        estimates->memory[i] = 0.0;
    }
    const double batch[] = {1.0, 2.0, 3.0, 4.0}, context[] = {5.0, 5.0, 5.0, 5.0};
    const Variant variant;
    const TileRow row{variant, 2.0, batch, context, *estimates};
    const auto columns = std::make_unique<std::array<TileColumn, 3>>();
    TileColumn &values = (*columns)[0], &ranks = (*columns)[1], &penalty = (*columns)[2];
    std::fill_n(values.values, 4, -7.0);
    std::fill_n(ranks.values, 4, -7.0);
    std::fill_n(penalty.values, 4, 0.0);
    penalty.values[1] = infinite;
    fill_values(*find_sweep_column("tpot_ms"), row, values);
    CHECK(values.values[0] == Catch::Detail::Approx(10.0));
    CHECK(values.values[2] == Catch::Detail::Approx(12.0));
    CHECK(values.values[3] == -7.0);  // no point is there
    fill_ranks(*find_sweep_column("tpot_ms"), row, penalty, ranks);
    CHECK(ranks.values[0] == Catch::Detail::Approx(10.0));
    CHECK(ranks.values[1] == infinite);
    CHECK(ranks.values[2] == Catch::Detail::Approx(12.0));
    fill_ranks(*find_sweep_column("tokens_per_s_device"), row, penalty, ranks);
    CHECK(ranks.values[0] == Catch::Detail::Approx(-100.0));
    CHECK(ranks.values[2] == Catch::Detail::Approx(-300.0));
    CHECK(ranks.values[3] == -7.0);
}

}  // namespace sweep_parts_test
