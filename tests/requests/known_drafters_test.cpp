// Drafters that an input does not name: which the catalogue knows for a target, how sure their acceptance is, and workloads
// that leave the choice to it.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include "models/catalogue.h"
#include "numerics/quantile.h"
#include "requests/known_drafters.h"
#include "requests/point_reader.h"
#include "requests/recommend/workload_reader.h"
#include "requests/setup_reader.h"
#include "requests/usual_fall.h"
#include "setups.h"
#include "sim/drafter_effects.h"
#include "sweeps/recommend.h"

namespace known_drafters_test {

using namespace treeline;
using namespace treeline::requests;
using Catch::Contains;
using treeline::testing::source_folder;

namespace {

Descriptions catalogue() { return {{source_folder() / "models", source_folder() / "hardware"}, {}}; }

sim::Model model(const std::string& name) { return models::load_model(source_folder() / "models", name).value; }

std::vector<std::string> names_known_for(const std::string& target) {
    Descriptions descriptions = catalogue();
    std::vector<std::string> names;
    for (const KnownDrafter& known : known_drafters(model(target), descriptions)) {
        names.push_back(known.drafter.name +
                        (known.measured_with == MeasuredWith::target ? "" : " " + measured_with_text(known)));
    }
    return names;
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

sweeps::RecommendInput workload(const std::string& keys, const std::string& target = "qwen3-32b") {
    json::Document document = json::Document::parse(
        R"({"target": ")" + target + R"(", "platforms": "h100-sxm", "traffic": {"concurrency": 32}, "prompt_tokens": 2000,
            "output_tokens": 500)" +
            keys + "}",
        "in");
    Descriptions descriptions = catalogue();
    return read_workload(document, descriptions);
}

std::string workload_problem(const std::string& keys) {
    try {
        static_cast<void>(workload(keys));
    } catch (const text::InputError& failure) {
        return failure.problems().front();
    }
    return "";
}

std::vector<std::string> labels_of(const sweeps::RecommendInput& input) {
    std::vector<std::string> labels;
    for (const sweeps::DrafterChoice& drafter : input.drafters) {
        labels.push_back(drafter.label);
    }
    return labels;
}

double drafts_accepted(const PublishedDrafter& drafter, int k) {
    return sim::acceptance_of_traffic(drafter.measured, {}).chain.accept_length(k) - 1.0;
}

bool measures_chains(const PublishedDrafter& drafter) { return sim::acceptance_of_traffic(drafter.measured, {}).has_chain; }

}  // namespace

TEST_CASE("a target's own drafters come first, then those of models with its vocabulary, each with its model") {
    const std::vector<std::string> names = names_known_for("qwen3-32b");
    REQUIRE_FALSE(names.empty());
    // The one file of models/drafters with this target is of a head that was trained for another one.
    CHECK_FALSE(holds(names, "dspark-qwen3-14b-on-qwen3-32b"));
    CHECK(names_known_for("qwen3-8b").front().find("measured with") == std::string::npos);
    CHECK(holds(names, "eagle3-qwen3-14b measured with qwen3-14b"));
    CHECK(holds(names, "model-qwen3-0.6b-on-qwen3-8b measured with qwen3-8b"));
    CHECK(holds(names, "ngram-qwen3-8b measured with qwen3-8b"));
    CHECK(std::none_of(names.begin(), names.end(), [](const std::string& name) {
        return name.find("llama") != std::string::npos || name.find("qwen3.5") != std::string::npos;
    }));
    // A model is no drafter of itself.
    CHECK_FALSE(holds(names_known_for("qwen3-0.6b"), "model-qwen3-0.6b-on-qwen3-8b measured with qwen3-8b"));
}

TEST_CASE("a target that the catalogue lacks belongs to the family of its series") {
    // Neither qwen3.6-27b nor qwen3.5-35b-a3b is in models/; qwen3.6-35b-a3b and the models of qwen3.5 are.
    const std::vector<std::string> names = names_known_for("qwen3.5-27b");
    CHECK(holds(names, "mtp-qwen3.6-27b measured with qwen3.6-27b"));
    CHECK(holds(names, "dflash-qwen3.5-35b-a3b measured with qwen3.5-35b-a3b"));
}

TEST_CASE("look-up drafts for any model: as measured with others where nobody measured it with the family") {
    const std::vector<std::string> names = names_known_for("gpt-oss-20b");
    CHECK(names.back() == "ngram measured with other models");
    Descriptions descriptions = catalogue();
    const auto known = known_drafters_of_kind("ngram", model("gpt-oss-20b"), descriptions);
    REQUIRE(known.size() == 1);
    std::size_t rows = 0;
    for (const PublishedDrafter& drafter : descriptions.published_drafters()) {
        rows += drafter.name.starts_with("ngram-") ? drafter.measured.size() : 0;
    }
    CHECK(known.front().drafter.measured.size() == rows);
    CHECK(known_drafters_of_kind("medusa", model("gpt-oss-20b"), descriptions).empty());
    CHECK(known_drafters_of_kind("mtp", model("qwen3-32b"), descriptions).empty());  // its checkpoint has no such module
    // Heads whose architecture is not that of their kind do not stand for others.
    CHECK(known_drafters_of_kind("dflash", model("gpt-oss-20b"), descriptions).empty());
}

TEST_CASE("a drafter of another family predicts as well as one of the target's own family, and neither well") {
    const std::vector<PublishedDrafter> all = load_published_drafters(source_folder() / "models" / "drafters");
    Descriptions descriptions = catalogue();
    std::vector<double> in_family, across;
    for (const PublishedDrafter& asked : all) {
        const std::vector<std::string> described = models::model_names(source_folder() / "models");
        if (!holds(described, asked.target) || !measures_chains(asked)) {
            continue;
        }
        const std::vector<KnownDrafter> known = known_drafters(model(asked.target), descriptions);
        for (const PublishedDrafter& other : all) {
            const std::string kind = asked.name.substr(0, asked.name.find('-'));
            if (other.target == asked.target || !other.name.starts_with(kind + "-") || !measures_chains(other)) {
                continue;
            }
            const int k = std::min(sim::acceptance_of_traffic(asked.measured, {}).chain.measured_positions(),
                                   sim::acceptance_of_traffic(other.measured, {}).chain.measured_positions());
            const bool family = std::any_of(known.begin(), known.end(),
                                            [&](const KnownDrafter& each) { return each.drafter.name == other.name; });
            (family ? in_family : across).push_back(std::abs(drafts_accepted(other, k) / drafts_accepted(asked, k) - 1.0));
        }
    }
    REQUIRE(in_family.size() >= 50);
    INFO(in_family.size() << " pairs in families: median " << numerics::quantile(in_family, 0.5) << ", p80 "
                          << numerics::quantile(in_family, 0.8) << "; " << across.size()
                          << " across: " << numerics::quantile(across, 0.5) << ", " << numerics::quantile(across, 0.8));
    // So both get the spread of another target, which the same measurements give (sim/acceptance_curves.h).
    CHECK(numerics::quantile(in_family, 0.8) == Approx(numerics::quantile(across, 0.8)).margin(0.1));
    CHECK(numerics::quantile(in_family, 0.8) > 0.3);
}

TEST_CASE("a module that is published apart for another model is none that could be loaded") {
    Descriptions descriptions = catalogue();
    for (const char* target : {"gemma-4-12b", "gemma-4-26b-a4b"}) {
        const auto choices = choices_of(known_drafters_of_kind("mtp", model(target), descriptions), {}, false, descriptions);
        REQUIRE_FALSE(choices.empty());
        for (const auto& each : choices) {
            CHECK(each.choice.checkpoint.empty() == (std::string(target) == "gemma-4-26b-a4b"));
            CHECK_FALSE(each.choice.untrained);
        }
    }
}

TEST_CASE("a workload without drafters tries the known ones as far as they were measured") {
    const sweeps::RecommendInput absent = workload(""), named = workload(R"(, "drafters": "known")");
    CHECK(labels_of(absent) == labels_of(named));
    for (const sweeps::DrafterChoice& drafter : absent.drafters) {
        INFO(drafter.label);
        const bool of_other = drafter.label.find("(measured with ") != std::string::npos;
        CHECK((drafter.acceptance.origin == sim::AcceptanceOrigin::other_target ||
               drafter.acceptance.origin == sim::AcceptanceOrigin::kind_of_drafter) == of_other);
        // A head of another model is none that could be loaded.
        const bool head = !std::holds_alternative<sim::IndependentDrafter>(drafter.drafter) && of_other;
        CHECK((!head || drafter.checkpoint.empty()));
        CHECK(drafter.acceptance.most_draft_tokens <= drafter.acceptance.chain.measured_positions());
    }
    // Who states lengths gets them: rates beyond those that were measured are extrapolated.
    for (const sweeps::DrafterChoice& drafter : workload(R"(, "draft_tokens": [12])").drafters) {
        CHECK(drafter.acceptance.most_draft_tokens == 0);
    }
    REQUIRE(absent.notes.size() == 2);
    CHECK_THAT(absent.notes[0], Contains("0 published for qwen3-32b") && Contains("treeline models qwen3-32b"));
    CHECK_THAT(absent.notes[1], Contains("cuda-graph") && Contains("--engine vllm"));
    const sweeps::RecommendInput beside =
        workload(R"(, "drafters": ["known", {"kind": "eagle", "name": "mine", "acceptance": {"geometric": 0.7}}],
                    "draft_tokens": [1, 2])");
    CHECK(beside.drafters.size() == absent.drafters.size() + 1);
    CHECK(beside.drafters.back().label == "mine");
}

TEST_CASE("trees are tried beside the chains of known drafters, not in their place") {
    for (const char* drafters : {R"(, "drafters": ["eagle3"])", ""}) {
        const sweeps::RecommendInput both = workload(std::string(drafters) + R"(, "shapes": ["sglang:3,2,8"])");
        const sweeps::RecommendInput chains = workload(drafters);
        const auto& all = both.workload.speculations;
        CHECK(all.size() == chains.workload.speculations.size() + 2);  // a tree is verified packed and unrolled
        CHECK(std::count_if(all.begin(), all.end(), [](const auto& each) { return sim::is_chain(each); }) ==
              static_cast<std::ptrdiff_t>(chains.workload.speculations.size()));
    }
}

TEST_CASE("a kind alone stands for what was published of it") {
    CHECK(labels_of(workload(R"(, "drafters": ["eagle3"])", "gpt-oss-120b")) ==
          std::vector<std::string>{"eagle3-gpt-oss-120b-nebius"});  // those for gpt-oss-20b do not draft for it
    CHECK_THAT(workload_problem(R"(, "drafters": ["medusa"])"),
               Contains("no medusa was published for qwen3-32b or its family, so state how many of its drafts are accepted") &&
                   Contains("what drafts accept is known of dflash-qwen3-14b, dspark-qwen3-14b, eagle3-qwen3-14b"));
    json::Document document = json::Document::parse(
        R"({"target": "deepseek-r1", "platform": {"device": "h200", "tensor_parallel": 8}, "drafter": "mtp"})", "in");
    Descriptions descriptions = catalogue();
    CHECK(read_point(document, descriptions).drafter->label == "mtp-deepseek-r1");
}

TEST_CASE("of several drafters the best is not the one that was measured luckiest") {
    Descriptions descriptions = catalogue();
    const std::vector<PublishedDrafter>& all = descriptions.published_drafters();
    std::vector<sim::MeasuredDrafter> measured;
    for (const PublishedDrafter& drafter : all) {
        measured.push_back({drafter.name.substr(0, drafter.name.find('-')), drafter.target, drafter.measured});
    }
    const sim::DrafterEffects effects(measured);
    // Math is easier than chat (docs/drafters.md), so that a head which was measured on math alone is moved down, and by more
    // than one that was measured on chat, code and math.
    const auto index = [&](const std::string& name) {
        const auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == name; });
        REQUIRE(found != all.end());
        return static_cast<std::size_t>(found - all.begin());
    };
    const std::size_t luckiest = index("dflash-qwen3.6-35b-a3b"), middle = index("eagle3-qwen3-235b-a22b-redhat");
    CHECK(effects.kinds_of_requests(luckiest) == 1);
    CHECK(effects.kinds_of_requests(middle) == 3);
    CHECK(effects.move(luckiest, sim::weight_of_measured(1), false) < -0.3);
    CHECK(std::abs(effects.move(middle, sim::weight_of_measured(3), false)) < 0.3);
    // With all of its weight on the measurement, requests alone move it; if they are those that are asked for, nothing does.
    CHECK(effects.move(luckiest, 1.0, false) < 0.0);
    CHECK(effects.move(luckiest, 1.0, true) == 0.0);
    // What one source measured has one vote: four heads, each on one prompt of mathematics, do not make the mean of their kind.
    const std::size_t beside_them = index("dflash-qwen3-14b");
    std::vector<sim::MeasuredDrafter> once = measured;
    for (const char* again : {"dflash-qwen3.5-4b", "dflash-qwen3.5-9b", "dflash-qwen3.6-35b-a3b"}) {
        once[index(again)].measured = measured[index("dflash-qwen3.5-35b-a3b")].measured;
    }
    const double as_measured = effects.move(beside_them, 0.0, true);
    CHECK(sim::DrafterEffects(once).move(beside_them, 0.0, true) == Approx(as_measured).margin(0.1));
    for (const char* again : {"dflash-qwen3.5-4b", "dflash-qwen3.5-9b", "dflash-qwen3.6-35b-a3b"}) {
        once[index(again)].measured.clear();
    }
    CHECK(sim::DrafterEffects(once).move(beside_them, 0.0, true) == Approx(as_measured).margin(0.1));
    // Heads of one kind for other models of the family are as good as one another.
    std::set<double> lengths;
    for (const KnownChoice& known :
         choices_of(known_drafters_of_kind("eagle3", model("qwen3-32b"), descriptions), {}, false, descriptions)) {
        const sim::Acceptance& chain = known.choice.acceptance.chain;
        if (known.measured_with == MeasuredWith::family && chain.measured_positions() >= 4) {
            lengths.insert(chain.accept_length(4));
            CHECK(known.choice.acceptance.spread == sim::spread_of(sim::AcceptanceOrigin::kind_of_drafter));
        }
    }
    REQUIRE(lengths.size() > 1);
    CHECK(*lengths.rbegin() / *lengths.begin() < 1.15);  // as measured they differ by a factor of 1.7
}

TEST_CASE("a drafter accepts the same whether it is named or not, and never more than was measured of it", "[slow]") {
    Descriptions descriptions = catalogue();
    for (const PublishedDrafter& drafter : descriptions.published_drafters()) {
        const std::vector<std::string> described = models::model_names(source_folder() / "models");
        if (!holds(described, drafter.target) || !drafter.trained_for.empty()) {
            continue;
        }
        INFO(drafter.name);
        const sweeps::RecommendInput unnamed = workload("", drafter.target),
                                     named = workload(R"(, "drafters": [")" + drafter.name + "\"], \"draft_tokens\": [1]",
                                                      drafter.target);
        REQUIRE(named.drafters.size() == 1);
        const auto same = std::find_if(unnamed.drafters.begin(), unnamed.drafters.end(),
                                       [&](const auto& choice) { return choice.label == drafter.name; });
        REQUIRE(same != unnamed.drafters.end());
        const sim::DraftAcceptance &a = named.drafters.front().acceptance, &b = same->acceptance;
        if (const int k = a.chain.measured_positions(); k > 0) {
            CHECK(a.chain.accept_length(k) == b.chain.accept_length(k));
            sim::TrafficKind kind;  // of workload()
            kind.batch = 32.0;
            kind.context = 2250.0;
            const sweeps::DrafterChoice measured = published_choice(drafter, kind, descriptions);
            CHECK(a.chain.accept_length(k) <= measured.acceptance.chain.accept_length(k) * (1.0 + 1e-9));
        }
    }
    // Requests that are asked for by their kind are those that were measured.
    for (const char* drafters : {"", R"(, "drafters": ["eagle3-llama-3.3-70b"], "draft_tokens": [7])"}) {
        json::Document document =
            json::Document::parse(R"({"target": "llama-3.3-70b", "platforms": {"device": "h100-sxm", "tensor_parallel": 4},
            "traffic": {"batch": 1, "context": 1000, "categories": {"chat": 1}})" +
                                      std::string(drafters) + "}",
                                  "in");
        const sweeps::RecommendInput input = read_workload(document, descriptions);
        const auto asked = std::find_if(input.drafters.begin(), input.drafters.end(),
                                        [](const auto& choice) { return choice.label == "eagle3-llama-3.3-70b"; });
        REQUIRE(asked != input.drafters.end());
        CHECK(asked->acceptance.chain.accept_length(7) == Approx(2.88).epsilon(0.01));  // nebius' model card, MT-bench
    }
}

TEST_CASE("a checkpoint's own module is known as modules elsewhere are") {
    CHECK(holds(names_known_for("mimo-7b"), "mtp measured with other models"));
    CHECK_FALSE(holds(names_known_for("deepseek-r1"), "mtp measured with other models"));  // its own was measured
    CHECK_FALSE(holds(names_known_for("qwen3-32b"), "mtp measured with other models"));    // has none
    Descriptions descriptions = catalogue();
    const auto choices = choices_of(known_drafters_of_kind("mtp", model("mimo-7b"), descriptions), {}, false, descriptions);
    REQUIRE(choices.size() == 1);
    CHECK_FALSE(choices.front().choice.untrained);
    CHECK(choices.front().choice.acceptance.origin == sim::AcceptanceOrigin::other_target);
}

TEST_CASE("a head that nobody trained for the target is not recommended, unless it was asked for") {
    const auto found = [](const std::string& drafters) {
        return *sweeps::recommend(workload(drafters, "qwen3.5-27b").workload, 1).recommendation;
    };
    const auto drafter_of = [](const sweeps::Recommendation& answer, const sweeps::Candidate& candidate) {
        return answer.variants[candidate.variant].labels.drafter;
    };
    // Of qwen3.5-27b no DFlash head was published; one of qwen3.5-4b was. Its checkpoint has modules for MTP.
    const sweeps::Recommendation answer = found("");
    CHECK_THAT(drafter_of(answer, answer.candidates.front()), Catch::StartsWith("mtp-"));
    REQUIRE(!answer.untrained.empty());
    CHECK_THAT(drafter_of(answer, answer.untrained.front()), Contains("measured with"));
    CHECK(answer.untrained.front().gain > answer.candidates.front().gain);
    CHECK(answer.untrained.front().regret < 0.0);
    for (const sweeps::Candidate& candidate : answer.candidates) {
        CHECK(!answer.variants[candidate.variant].untrained);
    }
    for (const sweeps::TradeoffPoint& point : answer.tradeoffs) {
        CHECK(!answer.variants[point.variant].untrained);
    }
    // Where nothing meets a limit, what nobody can run is named last.
    const sweeps::RecommendationResult nothing =
        sweeps::recommend(workload(R"(, "limits": {"tpot_ms": 0.01})", "qwen3.5-27b").workload, 1);
    REQUIRE(!nothing.recommendation);
    const auto is_head = [](const sweeps::Exclusion& each) {
        return each.label.find("dflash-") != std::string::npos || each.label.find("eagle3-") != std::string::npos;
    };
    CHECK(!is_head(nothing.excluded.front()));
    CHECK(std::is_partitioned(nothing.excluded.begin(), nothing.excluded.end(),
                              [&](const sweeps::Exclusion& each) { return !is_head(each); }));
    const sweeps::Recommendation wished = found(R"(, "drafters": ["dflash"])");
    CHECK(wished.untrained.empty());
    CHECK(wished.candidates.front().gain == Approx(answer.untrained.front().gain));
}

TEST_CASE("an empty list of drafters asks for plain decoding alone") {
    const sweeps::RecommendInput input = workload(R"(, "drafters": [])");
    CHECK(input.drafters.empty());
    REQUIRE(input.workload.variants.size() == 1);
    CHECK(input.workload.variants.front().plain());
    const sweeps::RecommendationResult result = sweeps::recommend(input.workload, 1);
    REQUIRE(result.recommendation);
    CHECK(result.recommendation->variants.size() == 1);  // not once more as the baseline
    CHECK_FALSE(result.recommendation->speculate);
    CHECK(result.recommendation->candidates.front().gain == 1.0);
}

TEST_CASE("modules for MTP fall as those of the same publisher do") {
    Descriptions descriptions = catalogue();
    const sim::Drafter module = sim::OneLayerDrafter{0, 2, sim::OneLayerKind::mtp};
    const auto fall_for = [&](const std::string& target) {
        const sim::Model described = model(target);
        return usual_fall_of(module, &described, descriptions);
    };
    // DeepSeek-R1's and DeepSeek-V4-Pro's modules fall as i^-0.52 and i^-0.48, each the other's only neighbour: (0.52 + 0.1)/2
    // and (0.48 + 0.1)/2; for a third model of theirs (0.52 + 0.48 + 0.1)/3.
    CHECK(fall_for("deepseek-v4-pro") == Approx(0.31).margin(0.021));
    CHECK(fall_for("deepseek-r1") == Approx(0.29).margin(0.021));
    CHECK(fall_for("deepseek-v3.2") == Approx(0.37).margin(0.021));
    // Qwen's modules fall as all drafters do.
    CHECK(fall_for("qwen3.5-4b") == Approx(sim::measured_fall).margin(0.021));
    CHECK(usual_fall_of(sim::NgramDrafter{}, nullptr, descriptions) == sim::fall_of_lookups);
    CHECK(usual_fall_of(module, nullptr, descriptions) == sim::measured_fall);
    CHECK(usual_fall_of(sim::OneLayerDrafter::published_eagle3(), nullptr, descriptions) == sim::measured_fall);
}

}  // namespace known_drafters_test
