// Does a sweep file give the design space that it describes?
#include <catch2/catch.hpp>

#include "requests/sweep/sweep_flags.h"
#include "requests/sweep/sweep_reader.h"
#include "setups.h"
#include "text/input_error.h"

namespace sweep_reader_test {

using namespace treeline;
using namespace treeline::requests;
using namespace treeline::testing;

namespace {

sweeps::SweepInput read(const std::string& axes) {
    const Catalogue catalogue{source_folder() / "models", source_folder() / "hardware"};
    json::Document document = json::Document::parse(
        R"({"axes": {"target": "deepseek-v3", "device": "h200", "stack": "vllm", "drafter": {"kind": "ngram", "acceptance": {"geometric": 0.5}},
            "draft_tokens": [0, 3], "batch": [1, 16], "context": 60000, )" +
            axes + "}}",
        "sweep");
    Descriptions descriptions(catalogue, {});
    return read_sweep(document, descriptions);
}

std::string problem_of(const std::string& axes) {
    try {
        static_cast<void>(read(axes));
    } catch (const text::InputError& error) {
        return error.problems().front();
    }
    return "";
}

}  // namespace

namespace {

sweeps::SweepInput read_axes(const std::string& axes) {
    const Catalogue catalogue{source_folder() / "models", source_folder() / "hardware"};
    json::Document document = json::Document::parse(
        R"({"axes": {"device": "h100-sxm", "stack": "vllm", "batch": [1, 16], "context": 1000, )" + axes + "}}", "sweep");
    Descriptions descriptions(catalogue, {});
    return read_sweep(document, descriptions);
}

}  // namespace

TEST_CASE("a sweep may draft with nobody, and a kind alone stands for what was published of it") {
    const sweeps::SweepInput nobody = read_axes(R"("target": "llama-3.1-8b")");
    REQUIRE(nobody.space.variants.size() == 1);
    CHECK(nobody.space.variants.front().plain());
    CHECK(nobody.space.speculation == std::vector<int>{0});
    const sweeps::SweepInput both =
        read_axes(R"("target": "llama-3.1-8b", "drafter": ["none", "eagle3", "ngram"], "draft_tokens": [0, 3])");
    REQUIRE(both.space.variants.size() == 3);
    CHECK(both.space.variants[0].plain());
    CHECK(both.space.variants[0].labels.drafter == "none");
    CHECK(std::holds_alternative<sim::OneLayerDrafter>(both.space.variants[1].setup.drafter));
    CHECK(both.space.variants[1].setup.acceptance.chain.measured_positions() > 0);
    CHECK(std::holds_alternative<sim::NgramDrafter>(both.space.variants[2].setup.drafter));
    // Nobody drafts no tokens: of nobody there are the points without drafts alone.
    sweeps::SweepOptions options;
    options.ignore_memory = true;
    CHECK(sweeps::run_sweep(both.space, options).points == 2 * (1 + 2 + 2));
    const auto refused = [](const std::string& axes) {
        try {
            static_cast<void>(read_axes(axes));
        } catch (const text::InputError& error) {
            return error.problems().front();
        }
        return std::string();
    };
    CHECK(refused(R"("target": ["llama-3.1-8b", "qwen3-8b"], "drafter": ["eagle3"], "draft_tokens": 3)")
              .find("stands for what was published for one target") != std::string::npos);
}

TEST_CASE("decode_context_parallel reaches every platform of a sweep, and its points are those of that cut") {
    const sweeps::SweepInput alone = read(R"("tensor_parallel": [8, 4])");
    const sweeps::SweepInput shared = read(R"("tensor_parallel": [8, 4], "decode_context_parallel": 4)");
    REQUIRE(shared.space.variants.size() == alone.space.variants.size());
    REQUIRE(shared.space.variants.size() == 2);
    for (std::size_t v = 0; v < 2; ++v) {
        CHECK(alone.space.variants[v].setup.platform.parallel.context == 1.0);
        CHECK(shared.space.variants[v].setup.platform.parallel.context == 4.0);
        sim::RoundSetup by_hand = alone.space.variants[v].setup;
        by_hand.platform.parallel.context = 4.0;
        by_hand.speculations = alone.space.speculations;
        const sim::CompiledRound expected = sim::compile_round(by_hand);
        sweeps::SweepOptions options;
        options.ignore_memory = true;
        const sweeps::SweepSummary priced = sweeps::run_sweep(shared.space, options);
        const sweeps::SweepSummary before = sweeps::run_sweep(alone.space, options);
        std::size_t seen = 0;
        for (const sweeps::SweepPoint& point : priced.best) {
            if (point.variant == v) {
                const sim::RoundEstimate e = sim::evaluate(expected, point.point);
                CHECK(point.estimate.round == e.round);
                CHECK(point.estimate.memory == e.memory);
                ++seen;
            }
        }
        CHECK(seen == 4);
        // Each rank holds a fourth of the latent cache, so a long context takes less memory.
        const auto memory = [&](const sweeps::SweepSummary& summary) {
            Bytes most;
            for (const sweeps::SweepPoint& point : summary.best) {
                most = point.variant == v ? std::max(most, point.estimate.memory) : most;
            }
            return most;
        };
        CHECK(memory(priced) < memory(before));
    }
}

TEST_CASE("what decode_context_parallel cannot divide is a sentence") {
    CHECK_THAT(problem_of(R"("tensor_parallel": 8, "decode_context_parallel": 3)"),
               Catch::Contains("decode_context_parallel is 3, which does not divide tensor_parallel 8"));
    CHECK_THAT(problem_of(R"("tensor_parallel": 8, "decode_context_parallel": 0)"), Catch::Contains("decode_context_parallel"));
    CHECK_THAT(problem_of(R"("platform": "h200", "decode_context_parallel": 2)"),
               Catch::Contains("decode_context_parallel: is already given by \"platform\""));
}

TEST_CASE("a space too large to be priced point by point is refused, and searched") {
    const std::string axis = R"({"from": 1, "to": 100000})";
    const Catalogue catalogue{source_folder() / "models", source_folder() / "hardware"};
    json::Document document = json::Document::parse(
        R"({"axes": {"target": "llama-3-8b", "device": ["h100-sxm", "h200", "b200"], "stack": ["vllm", "vllm-0.10", "eager", "ideal"],
            "drafter": {"kind": "ngram", "acceptance": {"geometric": 0.5}}, "draft_tokens": {"from": 1, "to": 1000}, "batch": )" +
            axis + R"(, "context": )" + axis + "}}",
        "sweep");
    Descriptions descriptions(catalogue, {});
    const sweeps::SweepInput input = read_sweep(document, descriptions);
    const FlagTexts priced, searched = {{"search", "0"}};
    CHECK_THROWS_WITH(check_size(priced, sweep_options(priced, false), input.space),
                      Catch::Contains("1.2e+14 points") && Catch::Contains("--search 0"));  // 12 x 10^3 x 10^5 x 10^5
    CHECK_NOTHROW(check_size(searched, sweep_options(searched, false), input.space));
}

TEST_CASE("what a search cannot answer is a sentence") {
    const sweeps::SweepInput input = read(R"("tensor_parallel": 8)");
    const auto refused = [&](FlagTexts texts) {
        texts.try_emplace("search", "0");
        try {
            check_size(texts, sweep_options(texts, false), input.space);
        } catch (const text::InputError& error) {
            return error.problems().front();
        }
        return std::string();
    };
    CHECK(refused({}).empty());
    CHECK_THAT(refused({{"group_by", "batch"}}), Catch::Contains("give --group-by without it"));
    CHECK_THAT(refused({{"pareto", "tpot_ms,speedup"}}), Catch::Contains("give --pareto without it"));
    CHECK_THAT(refused({{"store", "x.sqlite"}}), Catch::Contains("give --store without it"));
    CHECK_THAT(refused({{"top", "0"}}), Catch::Contains("nothing to find"));
    CHECK_THAT(refused({{"search", "1"}}), Catch::Contains("must be a share from 0 to below 1"));
    CHECK_THAT(refused({{"search", "exact"}}), Catch::Contains("not \"exact\""));
}

}  // namespace sweep_reader_test
