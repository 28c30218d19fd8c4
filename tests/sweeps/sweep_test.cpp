// Does a sweep visit every point once, in a fixed order, whatever the number of threads, and drop exactly what conditions drop?
#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "setups.h"
#include "sweeps/parallel.h"
#include "sweeps/sweep.h"

namespace sweep_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

Variant variant(const std::string& drafter, const std::string& device_name) {
    Variant result;
    result.labels = {"llama-3-8b", "bf16", device_name, "cuda-graph", "roofline", drafter, "truncate", 1};
    result.setup = pair_setup("llama-3-8b", drafter, platform(device_name, "cuda-graph"));
    return result;
}

DesignSpace small_space() {
    DesignSpace space;
    space.variants = {variant("llama-3.2-1b", "h100-sxm"), variant("llama-3.2-1b", "rtx-4090")};
    space.speculation = {1, 2, 3, 4, 5, 6, 7, 8};
    for (int batch = 1; batch <= 64; ++batch) {
        space.batch.push_back(batch);
    }
    for (int context = 0; context < 50; ++context) {
        space.context.push_back(512.0 * context);
    }
    return space;
}

std::string row(const SweepChunk& chunk) {
    std::string text;
    for (std::size_t i = 0; i < chunk.estimates.size(); ++i) {
        text += chunk.variant.labels.device + "," + std::to_string(chunk.speculation[i]) + "," +
                std::to_string(chunk.batch[i]) + "," + std::to_string(chunk.context[i]) + "," +
                std::to_string(chunk.estimates[i].throughput_multiplier) + "\n";
    }
    return text;
}

struct Run {
    SweepSummary summary;
    std::string text;
};

Run run(const DesignSpace& space, unsigned threads) {
    Run result;
    SweepOptions options;
    options.threads = threads;
    options.format = row;
    options.write = [&result](const std::string& text) { result.text += text; };
    result.summary = run_sweep(space, options);
    return result;
}

}  // namespace

TEST_CASE("a sweep gives the same rows and summary with any number of threads") {
    const DesignSpace space = small_space();
    const Run one = run(space, 1);
    CHECK(one.summary.points == space.size());
    CHECK(std::count(one.text.begin(), one.text.end(), '\n') == static_cast<std::ptrdiff_t>(space.size()));
    for (const unsigned threads : {2u, 3u, 16u}) {
        const Run many = run(space, threads);
        CHECK(many.text == one.text);
        REQUIRE(many.summary.best.size() == one.summary.best.size());
        REQUIRE(many.summary.pareto.size() == one.summary.pareto.size());
        for (std::size_t i = 0; i < one.summary.best.size(); ++i) {
            CHECK(many.summary.best[i].estimate.throughput_multiplier == one.summary.best[i].estimate.throughput_multiplier);
            CHECK(many.summary.best[i].variant == one.summary.best[i].variant);
        }
        for (std::size_t i = 0; i < one.summary.pareto.size(); ++i) {
            CHECK(many.summary.pareto[i].estimate.round == one.summary.pareto[i].estimate.round);
        }
    }
}

TEST_CASE("the best point and the Pareto set are those of an exhaustive search") {
    const DesignSpace space = small_space();
    const SweepSummary summary = run(space, 2).summary;
    double best = 0.0;
    std::vector<sim::RoundEstimate> all;
    for (const Variant& v : space.variants) {
        const sim::CompiledRound round = sim::compile_round(v.setup);
        for (const double context : space.context) {
            for (const double batch : space.batch) {
                for (const int k : space.speculation) {
                    const sim::RoundEstimate estimate = sim::evaluate(round, {k, batch, context});
                    if (estimate.fits) {
                        all.push_back(estimate);
                        best = std::max(best, estimate.throughput_multiplier);
                    }
                }
            }
        }
    }
    CHECK(summary.best.front().estimate.throughput_multiplier == best);
    for (const SweepPoint& point : summary.pareto) {
        const sim::RoundEstimate& p = point.estimate;
        const bool beaten = std::any_of(all.begin(), all.end(), [&](const sim::RoundEstimate& q) {
            return q.tokens_per_second_user > p.tokens_per_second_user &&
                   q.tokens_per_second_device > p.tokens_per_second_device;
        });
        CHECK_FALSE(beaten);
    }
}

TEST_CASE("conditions drop the points they name, in the variants they name") {
    DesignSpace space = small_space();
    space.conditions = {{{{"device", "rtx-4090"}}, "batch * draft_tokens <= 64"}};
    REQUIRE(space.problems().empty());
    std::uint64_t expected = 0;
    for (const int k : space.speculation) {
        for (const double batch : space.batch) {
            expected += batch * k > 64.0 ? 50 : 0;
        }
    }
    const SweepSummary summary = run(space, 2).summary;
    CHECK(summary.dropped == expected);
    CHECK(summary.points == space.size() - expected);
}

TEST_CASE("conditions that cannot be read are sentences") {
    DesignSpace space = small_space();
    space.conditions = {{{}, "batch * tokens <= 4"}, {{{"colour", "red"}}, "batch <= "}};
    const std::vector<std::string> problems = space.problems();
    REQUIRE(problems.size() == 3);
    CHECK(problems[0].find("batch * tokens") != std::string::npos);
    CHECK(problems[1].find("'colour'") != std::string::npos);
    space.batch.clear();
    CHECK(space.problems().size() == 4);
}

TEST_CASE("a variant that cannot be priced is left out with its reason, the others run") {
    DesignSpace space = small_space();
    space.variants.push_back(variant("mamba2-130m", "h100-sxm"));
    const SweepSummary summary = run(space, 2).summary;
    REQUIRE(summary.excluded.size() == 1);
    CHECK(summary.excluded.front().reason.find("vocabulary") != std::string::npos);
    CHECK(summary.points == small_space().size());
}

TEST_CASE("an exception in a worker reaches the caller") {
    for (const unsigned threads : {1u, 4u}) {
        CHECK_THROWS_AS(parallel_for(1000, threads,
                                     [](std::size_t i) {
                                         if (i == 77) {
                                             throw std::runtime_error("seventy-seven");
                                         }
                                     }),
                        std::runtime_error);
    }
}

TEST_CASE("points of shapes that a variant cannot run are dropped, and every point is counted once") {
    DesignSpace space = small_space();
    space.variants[1].setup.drafter = sim::MedusaDrafter{.heads = 3};  // no drafts of 4 to 8
    for (const bool shown : {false, true}) {
        SweepOptions options;
        if (shown) {
            options.visit = [](const SweepChunk&) {};
        }
        const SweepSummary summary = run_sweep(space, options);
        CHECK(summary.excluded.empty());
        CHECK(summary.dropped == 5 * 64 * 50);
        CHECK(summary.points == space.size() - 5 * 64 * 50);
    }
}

TEST_CASE("progress ends with all points, whatever a tile holds of batches and contexts") {
    DesignSpace space = small_space();
    for (const std::size_t batches : {1u, 3u, 64u}) {
        space.batch.resize(batches);
        std::uint64_t last = 0;
        SweepOptions options;
        options.visit = [](const SweepChunk&) {};
        options.progress = [&](std::uint64_t done, std::uint64_t all) {
            CHECK(done > last);
            CHECK(done <= all);
            last = done;
        };
        run_sweep(space, options);
        CHECK(last == space.size());
    }
}

TEST_CASE("a sweep that is kept runs four tasks for each thread before it is first written down") {
    const DesignSpace space = small_space();
    std::vector<std::uint64_t> written;
    SweepOptions options;
    options.threads = 3;
    options.visit = [](const SweepChunk&) {};
    options.save = [&](const SweepState& state) { written.push_back(state.next_task); };
    run_sweep(space, options);
    CHECK(written.front() == 12);
    CHECK(written.back() == 50);  // tiles of two contexts, where points are shown: 25 of each variant
}

TEST_CASE(
    "what runs between two states that are kept grows fourfold while it takes less time than asked for, and shrinks to a "
    "quarter where it takes more") {
    const DesignSpace space = small_space();
    std::vector<std::uint64_t> written;
    SweepOptions options;
    options.threads = 1;
    options.visit = [](const SweepChunk&) {};
    options.save = [&](const SweepState& state) { written.push_back(state.next_task); };
    options.save_seconds = 10.0;  // four tasks take less than a quarter of it
    run_sweep(space, options);
    CHECK(written == std::vector<std::uint64_t>{4, 4 + 16, 50});
    written.clear();
    options.save = [&](const SweepState& state) {
        written.push_back(state.next_task);
        std::this_thread::sleep_for(std::chrono::milliseconds(4));
    };
    options.save_seconds = 1e-3;  // no more than a quarter of what a state takes
    run_sweep(space, options);
    CHECK(std::vector<std::uint64_t>(written.begin(), written.begin() + 3) == std::vector<std::uint64_t>{4, 5, 6});
}

TEST_CASE("as many threads as asked for, or else as the machine has") {
    CHECK(thread_count(3) == 3);
    CHECK(thread_count(0) == std::max(1u, std::thread::hardware_concurrency()));
}

TEST_CASE("more batches than one grid keeps are priced in parts: each point once, in order, as by itself") {
    DesignSpace space = small_space();
    space.variants.resize(1);
    space.context = {1024.0};
    space.batch.clear();
    for (int batch = 1; batch <= 70'000; ++batch) {  // 8 shapes of each: more than 2^19 points
        space.batch.push_back(batch);
    }
    std::uint64_t seen = 0, wrong = 0;
    SweepOptions options;
    options.threads = 1;
    options.visit = [&](const SweepChunk& chunk) {
        wrong += chunk.first == seen ? 0 : 1;
        for (std::size_t i = 0; i < chunk.batch.size(); ++i, ++seen) {
            const std::size_t batch = seen / space.speculation.size(), shape = seen % space.speculation.size();
            wrong += chunk.batch[i] == space.batch[batch] && chunk.speculation[i] == space.speculation[shape] ? 0 : 1;
            if (seen % 9973 == 0) {
                const sim::RoundEstimate alone =
                    sim::evaluate(chunk.round, {chunk.speculation[i], chunk.batch[i], chunk.context[i]});
                wrong += alone.round == chunk.estimates[i].round ? 0 : 1;
            }
        }
    };
    run_sweep(space, options);
    CHECK(seen == space.size());
    CHECK(wrong == 0);
    space.conditions = {{{}, "batch >= 69991"}};
    options.visit = nullptr;
    const SweepSummary last_ten = run_sweep(space, options);
    CHECK(last_ten.points == 10 * space.speculation.size());
    CHECK(last_ten.best.empty());  // no memory holds so many
}

}  // namespace sweep_test
