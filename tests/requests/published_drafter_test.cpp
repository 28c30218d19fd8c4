// A published drafter's name alone: its kind and architecture, its target, its acceptance in this traffic, and how sure that
// is.
#include <catch2/catch.hpp>

#include <algorithm>

#include <cmath>
#include <map>
#include <set>

#include "json_input.h"
#include "numerics/quantile.h"
#include "requests/point_reader.h"
#include "requests/published_acceptance.h"
#include "requests/recommend/workload_reader.h"
#include "requests/setup_reader.h"
#include "sim/round.h"
#include "sweeps/estimate.h"

namespace published_drafter_test {

using namespace treeline;
using namespace treeline::requests;
using treeline::testing::Input;
using treeline::testing::source_folder;

namespace {

std::filesystem::path folder() { return source_folder() / "models" / "drafters"; }

sweeps::PointInput point(const std::string& text) {
    json::Document document = json::Document::parse(text, "in");
    Descriptions descriptions({source_folder() / "models", source_folder() / "hardware"}, {});
    return read_point(document, descriptions);
}

std::string point_problem(const std::string& keys, const char* target = "llama-3.1-8b") {
    try {
        point(std::string(R"({"target": ")") + target + R"(", "platform": "h100-sxm", )" + keys + "}");
    } catch (const text::InputError& failure) {
        return failure.problems().front();
    }
    return "";
}

const std::string chat_and_code = R"("traffic": {"categories": {"chat": 0.6, "code": 0.4}})";

/// The rate of each draft, from the longest chain measured in a category.
std::map<std::string, std::vector<sim::MeasuredAcceptance>> chains_by_category(const PublishedDrafter& drafter) {
    std::map<std::string, std::vector<sim::MeasuredAcceptance>> rows;
    for (const sim::MeasuredAcceptance& row : drafter.measured) {
        if (row.shape.empty() && row.category != "mixed") {
            rows[row.category].push_back(row);
        }
    }
    return rows;
}

}  // namespace

TEST_CASE("a name gives kind, architecture and the acceptance of the traffic") {
    const sweeps::PointInput input =
        point(R"({"target": "llama-3.3-70b", "platform": {"device": "h100-sxm", "tensor_parallel": 4},
                                       "drafter": "eagle3-llama-3.3-70b", )" +
              chat_and_code + "}");
    REQUIRE(input.drafter);
    CHECK(input.drafter->label == "eagle3-llama-3.3-70b");
    CHECK(std::get<sim::OneLayerDrafter>(input.drafter->drafter).draft_vocabulary == 32'000);
    // nebius' model card, seven drafts: 2.88 on MT-bench, 3.62 on HumanEval. Of 100 tokens 60/2.88 + 40/3.62 = 31.88 rounds.
    CHECK(input.drafter->acceptance.chain.accept_length(7) == Approx(100.0 / (60.0 / 2.88 + 40.0 / 3.62)).epsilon(0.002));
    CHECK(input.drafter->acceptance.origin == sim::AcceptanceOrigin::same_kind);  // the traffic says what it is made of
    const sweeps::PointInput unsaid = point(R"({"target": "llama-3.3-70b", "platform": {"device": "h100-sxm",
        "tensor_parallel": 4}, "drafter": "eagle3-llama-3.3-70b"})");
    CHECK(unsaid.drafter->acceptance.origin == sim::AcceptanceOrigin::other_requests);
    // Chat, code and math were measured: less unsure than one kind alone, more than where they are asked for.
    CHECK(unsaid.drafter->acceptance.spread < sim::spread_of(sim::AcceptanceOrigin::other_requests));
    CHECK(unsaid.drafter->acceptance.spread > sim::spread_of(sim::AcceptanceOrigin::same_kind));
}

TEST_CASE("the drafter says otherwise where it has keys of its own") {
    const sweeps::PointInput input = point(R"({"target": "llama-3.1-8b", "platform": "h100-sxm", )" + chat_and_code + R"(,
        "drafter": {"published": "eagle3-llama-3.1-8b", "name": "mine", "draft_vocabulary": 16000, "categories": {"math": 1}}})");
    CHECK(input.drafter->label == "mine");
    CHECK(std::get<sim::OneLayerDrafter>(input.drafter->drafter).draft_vocabulary == 16'000);
    CHECK(input.drafter->acceptance.chain.accept_length(1) == Approx(1.699).margin(0.03));
}

TEST_CASE("a drafter of another target is refused unless that is asked for") {
    const std::string wrong = point_problem(R"("drafter": "eagle3-llama-3.1-8b")", "qwen3-8b");
    CHECK(wrong.find("eagle3-llama-3.1-8b drafts for llama-3.1-8b, not for qwen3-8b") != std::string::npos);
    CHECK(wrong.find("\"any_target\": true") != std::string::npos);
    CHECK(point_problem(R"("drafter": {"published": "eagle3-llama-3.1-8b", "any_target": true})", "qwen3-8b").empty());
    const sweeps::PointInput elsewhere = point(R"({"target": "qwen3-8b", "platform": "h100-sxm",
        "drafter": {"published": "eagle3-llama-3.1-8b", "any_target": true}})");
    CHECK(elsewhere.drafter->acceptance.origin == sim::AcceptanceOrigin::other_target);
    CHECK(point_problem(R"("drafter": "eagle3-llama-3.1-8b")").empty());
}

TEST_CASE("a model drafts for targets of its vocabulary, called as where nobody names it") {
    const sweeps::PointInput input =
        point(R"({"target": "qwen3-32b", "platform": "h100-sxm", "drafter": "model-qwen3-0.6b-on-qwen3-8b"})");
    CHECK(input.drafter->label == "model-qwen3-0.6b-on-qwen3-8b (measured with qwen3-8b)");
    CHECK(input.drafter->acceptance.origin == sim::AcceptanceOrigin::other_target);
    CHECK(point_problem(R"("drafter": "model-qwen3-0.6b-on-qwen3-8b")", "llama-3.1-8b").find("drafts for qwen3-8b") !=
          std::string::npos);
    CHECK(point_problem(R"("drafter": "eagle3-llama-3.1-8b")", "qwen3-8b")
              .find("--drafter '{\"published\": \"eagle3-llama-3.1-8b\", \"any_target\": true}'") != std::string::npos);
}

TEST_CASE("what measurements do not say, and what a stated acceptance does not depend on, has a remark") {
    const auto remarks = [](const std::string& drafter, const std::string& traffic) {
        return point(R"({"target": "llama-3.1-8b", "platform": "h100-sxm", "traffic": {)" + traffic + R"(}, "drafter": )" +
                     drafter + "}")
            .drafter->acceptance_remarks;
    };
    const std::string stated = R"({"kind": "eagle3", "acceptance": {"per_position": [0.7, 0.5]}})";
    const std::string published = R"("ngram-llama-3.1-8b")";  // states no temperature
    CHECK(remarks(published, "").empty());
    REQUIRE_FALSE(remarks(published, R"("temperature": 0.7)").empty());
    CHECK(remarks(published, R"("temperature": 0.7)").front() == "no measurement of math states its temperature");
    CHECK(remarks(stated, "").empty());
    CHECK(remarks(stated, R"("temperature": 0.7)") ==
          std::vector<std::string>{"the acceptance is stated, and holds whatever temperature is asked for"});
    CHECK(remarks(stated, R"("temperature": 0.7, "thinking": "on")").front().find("temperature and thinking") !=
          std::string::npos);
    // One publication is named once.
    const std::string source =
        point(R"({"target": "llama-3.1-8b", "platform": "h100-sxm", "drafter": )" + published + "}").drafter->acceptance_source;
    CHECK(source.find("SpecDecode-Bench/simulator") == source.rfind("SpecDecode-Bench/simulator"));
}

TEST_CASE("SpecMamba's drafter is as its paper's Table V has it, with the bonus token") {
    const sweeps::PointInput input =
        point(R"({"target": "mamba2-2.7b", "platform": "specmamba-vck190", "drafter": "model-mamba2-370m-on-mamba2-2.7b",
                  "traffic": {"categories": {"code": 1}}, "shape": "specmamba-16"})");
    REQUIRE(input.drafter);
    const auto& measured = input.drafter->acceptance.measured;
    REQUIRE(measured.size() == 4);
    const auto of_16 =
        std::find_if(measured.begin(), measured.end(), [](const auto& shape) { return shape.name == "specmamba-16"; });
    REQUIRE(of_16 != measured.end());
    CHECK(of_16->tree.nodes() == 15);
    CHECK(of_16->tree.depth() == 8);
    CHECK(of_16->accept_length == Approx(5.82 + 1.0));
    CHECK(input.drafter->acceptance.chain.accept_length(5) == Approx(2.05 + 1.0).epsilon(0.02));
}

TEST_CASE("impossible keys of a published drafter are sentences") {
    CHECK(point_problem(R"("drafter": "eagle3-llama-3.1-8c")").find("did you mean \"eagle3-llama-3.1-8b\"") !=
          std::string::npos);
    CHECK(point_problem(R"("drafter": {"published": "eagle3-llama-3.1-8b", "block": 3})").find("block") != std::string::npos);
    CHECK(point_problem(R"("drafter": "eagle3-llama-3.1-8b", "traffic": {"categories": {"chat": -1}})").find("chat") !=
          std::string::npos);
    CHECK(point_problem(R"("drafter": "eagle3-llama-3.1-8b", "traffic": {"categories": {"caht": 1}})")
              .find("no drafter was measured on the category \"caht\"; did you mean \"chat\"?") != std::string::npos);
    CHECK(point_problem(R"("drafter": "eagle3-llama-3.1-8b", "traffic": {"categories": {"sermons": 1}})").empty());
    CHECK(point_problem(R"("drafter": "eagle3-llama-3.1-8b", "traffic": {"temperature": -1})").find("temperature") !=
          std::string::npos);
    CHECK(point_problem(R"("drafter": "eagle3-llama-3.1-8b", "traffic": {"thinking": "maybe"})").find("thinking") !=
          std::string::npos);
}

TEST_CASE("every drafter of the catalogue can be read as one, and its name begins with its kind") {
    std::set<std::string> pairs;
    for (const std::string& name : published_drafters(folder())) {
        INFO(name);
        CHECK(looks_published(name));
        Input input(R"({"d": {"published": ")" + name + "\"}}");
        const sweeps::DrafterChoice choice = read_drafter(input.root.object("d"), input.descriptions);
        CHECK(input.problems().empty());
        CHECK_FALSE(std::holds_alternative<sim::NoDrafter>(choice.drafter));
        bool measured = false;
        for (const sim::MeasuredAcceptance& row : load_published_drafter(folder(), name).measured) {
            CHECK_FALSE(row.source.empty());
            measured = measured || !row.source.starts_with("derived");
        }
        if (measured) {
            pairs.insert(name);
        }
    }
    CHECK(pairs.size() >= 40);
}

TEST_CASE("a category that was not measured is predicted from neighbours, within the spread that is stated") {
    std::vector<double> with_neighbours, with_mean;
    int within = 0;
    for (const std::string& name : published_drafters(folder())) {
        const PublishedDrafter drafter = load_published_drafter(folder(), name);
        const auto by_category = chains_by_category(drafter);
        const auto others = measured_of_others(load_published_drafters(folder()), name);
        for (const auto& [category, rows] : by_category) {
            std::vector<sim::MeasuredAcceptance> rest;
            for (const auto& [other, more] : by_category) {
                if (other != category) {
                    rest.insert(rest.end(), more.begin(), more.end());
                }
            }
            if (rest.empty() || drafter.measured.front().source.starts_with("derived")) {
                continue;
            }
            const sim::TrafficKind asked{{{category, 1.0}}, {}, "", {}};
            const int k = std::min(sim::acceptance_of_traffic(rows, asked).chain.measured_positions(),
                                   sim::acceptance_of_traffic(rest, {}).chain.measured_positions());
            const auto drafts_accepted = [&](const sim::AcceptanceOfTraffic& found) {
                return found.chain.accept_length(k) - 1.0;
            };
            const double truth = drafts_accepted(sim::acceptance_of_traffic(rows, asked));
            const sim::AcceptanceOfTraffic predicted = sim::acceptance_of_traffic(rest, asked, others);
            const auto end = [&](double place) {
                return predicted.chain.moved(place, sim::spread_of(sim::AcceptanceOrigin::same_kind)).accept_length(k) - 1.0;
            };
            within += truth >= end(-1.0) && truth <= end(1.0) ? 1 : 0;
            with_neighbours.push_back(std::abs(drafts_accepted(predicted) / truth - 1.0));
            with_mean.push_back(std::abs(drafts_accepted(sim::acceptance_of_traffic(rest, asked)) / truth - 1.0));
        }
    }
    REQUIRE(with_neighbours.size() >= 50);
    INFO(with_neighbours.size() << " categories: with neighbours median " << numerics::quantile(with_neighbours, 0.5)
                                << ", p80 " << numerics::quantile(with_neighbours, 0.8) << "; with the mean "
                                << numerics::quantile(with_mean, 0.5) << ", " << numerics::quantile(with_mean, 0.8));
    CHECK(numerics::quantile(with_neighbours, 0.5) < 0.7 * numerics::quantile(with_mean, 0.5));
    CHECK(numerics::quantile(with_neighbours, 0.8) < 0.8 * numerics::quantile(with_mean, 0.8));
    CHECK(within >= 0.75 * static_cast<double>(with_neighbours.size()));
    // Means over the data sets of a category scatter less than the data sets, of which eight in ten lie within.
    CHECK(within <= 0.95 * static_cast<double>(with_neighbours.size()));
}

TEST_CASE("acceptance falls with the context between the measured ones") {
    const PublishedDrafter magic = load_published_drafter(folder(), "sparse-self-llama-3.1-8b");
    const auto rate = [&](double context) {
        return sim::acceptance_of_traffic(magic.measured, {{}, {}, "", context}).chain.accept_length(1) - 1.0;
    };
    CHECK(rate(4000.0) == Approx(0.84));
    CHECK(rate(32000.0) == Approx(0.81));
    // Halfway between 32,000 and 64,000 by the logarithm: between 0.81 and 0.79.
    CHECK(rate(45255.0) == Approx(0.80).margin(0.001));
    CHECK(rate(1e6) == Approx(0.79));
}

TEST_CASE("a drafter drafts no further than it, its file of acceptance or its input says") {
    const auto rows = [](const std::string& drafter) {
        const sweeps::PointInput input = point(R"({"target": "llama-3.1-8b", "platform": "h100-sxm", "draft_tokens": 3,
                                                   "drafter": )" +
                                               drafter + "}");
        sim::RoundSetup setup = sweeps::setup_of(input, sim::Rollback::truncate);
        setup.speculations = sim::chains_up_to(5);
        return sim::compile_round(setup);
    };
    const sim::CompiledRound eagle = rows(R"({"kind": "eagle3", "max_draft_tokens": 4, "acceptance": {"geometric": 0.7}})");
    CHECK(eagle.row(4).problem.empty());
    CHECK(eagle.row(5).problem == "the drafter drafts at most 4 tokens, not 5");
    CHECK(rows(R"({"published": "eagle3-llama-3.1-8b", "max_draft_tokens": 3})").row(4).problem ==
          "the drafter drafts at most 3 tokens, not 4");
    CHECK(point_problem(
              R"("draft_tokens": 5, "drafter": {"kind": "eagle3", "max_draft_tokens": 4, "acceptance": {"geometric": 0.7}})")
              .find("chain 5: the drafter drafts at most 4 tokens, not 5") != std::string::npos);
}

TEST_CASE("published look-ups verify nothing in rounds that find nothing, and keep their accept length") {
    const sweeps::PointInput input = point(R"({"target": "qwen3-8b", "platform": "h100-sxm",
                                               "drafter": {"published": "ngram-qwen3-8b", "categories": {"summarisation": 1}}})");
    const auto& lookup = std::get<sim::NgramDrafter>(input.drafter->drafter);
    // 1.59 tokens with three drafts: of 0.62·(1 + 0.75 + 0.75²) = 1.434 drafts where some are found, so in 0.411 of the rounds.
    CHECK(lookup.hit_rate == Approx(0.59 / 1.43375).epsilon(0.002));
    CHECK(1.0 + lookup.hit_rate * (input.drafter->acceptance.chain.accept_length(3) - 1.0) == Approx(1.59).epsilon(1e-6));
    const sweeps::PointInput stated = point(R"({"target": "qwen3-8b", "platform": "h100-sxm",
                                                "drafter": {"published": "ngram-qwen3-8b", "hit_rate": 1}})");
    CHECK(std::get<sim::NgramDrafter>(stated.drafter->drafter).hit_rate == 1.0);
}

TEST_CASE("each new key of a drafter is judged in a sentence") {
    const auto problem = [](const std::string& keys) {
        return point_problem("\"drafter\": {" + keys + R"(, "acceptance": {"geometric": 0.5}})");
    };
    CHECK(problem(R"("kind": "suffix", "hit_rate": 1.5)").find("hit_rate") != std::string::npos);
    CHECK(problem(R"("kind": "suffix", "mean_draft": 0.5)").find("mean_draft") != std::string::npos);
    CHECK(problem(R"("kind": "eagle3", "max_draft_tokens": 0)").find("max_draft_tokens") != std::string::npos);
    CHECK(problem(R"("kind": "early-exit")").find("layers") != std::string::npos);
    CHECK(problem(R"("kind": "early-exit", "layers": 64)").find("must rise from 0 to at most 31") != std::string::npos);
    CHECK(problem(R"("kind": "layer-skip")").find("kept_layers") != std::string::npos);
    CHECK(problem(R"("kind": "quantised-self")").find("precision") != std::string::npos);
    CHECK(problem(R"("kind": "mlp-speculator", "width": 0)").find("width") != std::string::npos);
    CHECK(problem(R"("kind": "mtp", "reads_target_cache": 1)").find("reads_target_cache") != std::string::npos);
    CHECK(problem(R"("kind": "lookup-first", "lookup": {"kind": "eagle3"}, "otherwise": {"kind": "eagle3"})")
              .find("must be a look-up") != std::string::npos);
    CHECK(problem(R"("kind": "cascade", "middle": {"kind": "ngram"}, "inner": {"kind": "ngram"}, "inner_draft_tokens": 2,
                      "inner_accept_length": 2)")
              .find("must be a model, or the target") != std::string::npos);
    CHECK(problem(R"("kind": "cascade", "middle": {"kind": "sparse-self", "window": 512}, "inner": {"kind": "ngram"},
                      "inner_draft_tokens": 2, "inner_accept_length": 9)")
              .find("yields 1 to 3 tokens") != std::string::npos);
}

TEST_CASE("a look-up tried first mixes what both accept, round by round") {
    const sweeps::PointInput input =
        point(R"({"target": "llama-3.1-8b", "platform": "h100-sxm", "drafter": {"kind": "lookup-first",
        "lookup": {"kind": "suffix", "hit_rate": 0.25, "acceptance": {"per_position": [0.9, 0.8]}},
        "otherwise": {"kind": "eagle3", "acceptance": {"per_position": [0.7, 0.4]}}}})");
    // A quarter of the rounds accepts 0.9 and 0.8, the others 0.7 and 0.4.
    CHECK(input.drafter->acceptance.chain.position(1) == Approx(0.75));
    CHECK(input.drafter->acceptance.chain.position(2) == Approx(0.5));
}

TEST_CASE("a curve that forbids it is not carried over to other lengths") {
    Input input(R"({"d": {"kind": "dspark", "acceptance": {"curve": {"3": 2.4, "7": 3.73}, "extrapolate": false}}})");
    const sweeps::DrafterChoice choice = read_drafter(input.root.object("d"), input.descriptions);
    CHECK(input.problems().empty());
    const auto problem = [&](int k) {
        const sim::TreeShape shape = sim::ChainShape{k};
        return sim::acceptance_problem(choice.acceptance, shape, sim::build_tree(shape, sim::RankAcceptance()));
    };
    CHECK(problem(3).empty());
    CHECK(problem(7).empty());
    CHECK(problem(5) ==
          "acceptance was not measured with 5 draft tokens, and its source says that other lengths say nothing about it");
    Input rate(R"({"d": {"kind": "dspark", "acceptance": {"geometric": 0.5, "extrapolate": false}}})");
    static_cast<void>(read_drafter(rate.root.object("d"), rate.descriptions));
    CHECK(rate.problems().find("a rate holds for any length") != std::string::npos);
}

}  // namespace published_drafter_test
