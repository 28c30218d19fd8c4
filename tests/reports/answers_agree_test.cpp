// Do the headline, the tables, the schedule, the page and the flags of one answer say the same, on every example?
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "engines/priced_engine.h"
#include "reports/objective_text.h"
#include "reports/recommend/recommendation_output.h"
#include "reports/recommend/report_studies.h"
#include "requests/recommend/workload_file.h"
#include "source_folder.h"
#include "text/number_text.h"

namespace answers_agree_test {

using namespace treeline;
using namespace treeline::reports;
using treeline::testing::source_folder;

namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> workload_examples() {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(source_folder() / "examples")) {
        if (entry.path().extension() == ".json") {
            const Json json = json::Document::load(entry.path().string()).root().raw();
            if (json.contains("traffic")) {
                files.push_back(entry.path().string());
            }
        }
    }
    return files;
}

struct Shown {
    sweeps::Answer answer;
    Json json;  ///< recommend --format json
    Json page;  ///< the data of the report
};

Shown shown(const std::string& file, double least_gain = 0.0) {
    requests::WorkloadSource source =
        requests::read_workload(file, {}, {source_folder() / "models", source_folder() / "hardware"});
    if (least_gain > 0.0) {
        source.input.workload.limits.minimum_gain = least_gain;
    }
    sweeps::Answer answer = engines::answer(std::move(source.input), 0);
    REQUIRE(answer.result.recommendation);
    Json json = recommendation_json(answer, source.raw);
    Json page = report_page_data(answer);
    return {std::move(answer), std::move(json), std::move(page)};
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

double objective_in(const Json& candidate, const std::string& objective) {
    return objective == "throughput" ? 1.0 / candidate["tokens_per_s_device"].get<double>()
           : objective == "latency"  ? candidate["tpot_ms"].get<double>()
           : objective == "cost"     ? candidate["usd_per_million_tokens"].get<double>()
                                     : candidate["energy_j_per_token"].get<double>();
}

/// The accept length at which the recommended configuration would be worse by `ratio`: rounds scale, prompts do not.
double length_at(const Shown& s, double ratio) {
    const sweeps::Candidate& best = s.answer.result.recommendation->candidates.front();
    const bool latency = s.answer.input.workload.objective == sweeps::Objective::latency;
    const double decoding = latency ? best.decode_share_user : best.decode_share_device;
    return best.accept_length * decoding / (ratio - 1.0 + decoding);
}

void check_headline(const Shown& s) {
    const Json& best = s.json["recommendation"];
    const std::string sentence = s.json["sentence"];
    const std::string objective = s.json["objective"];
    CHECK(contains(sentence, fmt::format("drafting {} token", best["draft_tokens"].get<int>())));
    CHECK(contains(sentence, text::ratio_text(best["gain"].get<double>())));
    CHECK(contains(recommendation_table(s.answer), text::ratio_text(best["gain"].get<double>())));
    CHECK(s.page["summary"]["sentence"] == reports::on_a_page(sentence));  // which has no command line
    CHECK(s.page["summary"]["metrics"][0]["value"].get<double>() == best["gain"].get<double>());
    CHECK(best["gain"].get<double>() == Approx(objective_in(s.json["plain"], objective) / objective_in(best, objective)));
    CHECK(best["break_even_accept_length"].get<double>() == Approx(length_at(s, best["gain"].get<double>())));
    const Json& interval = s.json["uncertainty"];
    CHECK(interval["gain"].get<double>() == Approx(best["gain"].get<double>()));
    CHECK(interval["low"].get<double>() <= best["gain"].get<double>());
    CHECK(interval["high"].get<double>() >= best["gain"].get<double>());
}

void check_rivals(const Shown& s) {
    const std::string objective = s.json["objective"];
    const double best = objective_in(s.json["recommendation"], objective);
    for (const Json& rival : s.json["runners_up"]) {
        CHECK(objective_in(rival, objective) >= best);
        CHECK(rival["regret"].get<double>() == Approx(objective_in(rival, objective) / best - 1.0).margin(1e-12));
    }
    // Rivals with the same drafter lose their accept length, too, and may win nowhere.
    const auto other = std::find_if(s.json["runners_up"].begin(), s.json["runners_up"].end(),
                                    [&](const Json& rival) { return rival["drafter"] != s.json["recommendation"]["drafter"]; });
    if (other != s.json["runners_up"].end()) {
        const double flip = s.json["flip_accept_length"];
        CHECK(flip >= Approx(length_at(s, objective_in(*other, objective) / best)));
        CHECK(flip <= s.json["recommendation"]["accept_length"].get<double>());
    }
    const Json& row = s.page["candidates"]["rows"][0];
    CHECK(row["gain"].get<double>() == s.json["recommendation"]["gain"].get<double>());
    CHECK(row["draft_tokens"] == s.json["recommendation"]["draft_tokens"]);
}

void check_schedule(const Shown& s) {
    const sweeps::Limits& limits = s.answer.input.workload.limits;
    const Json& entries = s.json["schedule"]["entries"];
    const Json& rows = s.page["schedule"];
    REQUIRE(rows.size() == entries.size());
    int next = 1;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Json& entry = entries[i];
        CHECK(entry["batch_from"] == next);
        next = entry["batch_to"].get<int>() + 1;
        CHECK(rows[i]["batch_to"] == entry["batch_to"]);
        CHECK(rows[i]["draft_tokens"] == entry["draft_tokens"]);
        CHECK(rows[i]["least"] == entry["least_speedup"]);
        CHECK(rows[i]["greatest"] == entry["greatest_speedup"]);
        CHECK(rows[i]["extrapolated"] == (entry["accept_length_basis"] == "extrapolated"));
        if (entry["draft_tokens"] > 0 && s.json["objective"] != "energy") {  // at one batch money and time are one objective
            CHECK(entry["least_speedup"].get<double>() >= limits.minimum_gain);
        }
    }
    CHECK(s.json["schedule"]["largest_batch"].get<int>() >= next - 1);
    // Following the schedule cannot lose against the one shape that the recommendation has for every batch, where it reaches.
    if (sweeps::largest_batch_of(s.answer.input.workload.traffic) < next) {
        CHECK(s.json["schedule"]["gain"].get<double>() >=
              s.json["recommendation"]["gain"].get<double>() * (1.0 - sweeps::schedule_tolerance));
    }
}

}  // namespace

TEST_CASE("headline, tables, schedule and page of every example agree", "[slow]") {
    const std::vector<std::string> files = workload_examples();
    REQUIRE(files.size() >= 5);
    for (const std::string& file : files) {
        CAPTURE(file);
        const Shown s = shown(file);
        if (s.json["speculate"].get<bool>()) {
            check_headline(s);
            check_rivals(s);
            check_schedule(s);
        }
    }
}

TEST_CASE("requests that arrive ask for answers as long as the workload's") {
    requests::WorkloadSource source =
        requests::read_workload((source_folder() / "examples" / "llama-3.1-8b-h100.json").string(), {},
                                {source_folder() / "models", source_folder() / "hardware"});
    const sweeps::Answer answer = engines::answer(std::move(source.input), 0);
    const std::vector<FigureSection> sections = study_sections(answer);
    const auto traffic = std::find_if(sections.begin(), sections.end(),
                                      [](const FigureSection& section) { return contains(section.text, "Poisson arrivals"); });
    REQUIRE(traffic != sections.end());
    CHECK(source.raw["output_tokens"] == 740);
    CHECK(contains(traffic->text, "answers of 740 tokens on average"));
}

TEST_CASE("a headline says when the first token comes more than a fifth later under a load, and only then") {
    Shown s = shown((source_folder() / "examples" / "llama-3.1-8b-h100-concurrency.json").string());
    sweeps::Recommendation& found = *s.answer.result.recommendation;
    REQUIRE(found.speculate);
    REQUIRE_FALSE(found.candidates.front().gain_of_capacity);
    found.plain.time_to_first_token = Seconds(2.0);
    found.candidates.front().queued = 0.0;
    const auto says_it = [&](double seconds) {
        found.candidates.front().time_to_first_token = Seconds(seconds);
        return contains(sentence_of(s.answer), "the first token comes");
    };
    CHECK_FALSE(says_it(2.39));
    CHECK(says_it(2.5));
    const std::string later =
        fmt::format(", but the first token comes after {} instead of {}", text_of(Seconds(2.5)), text_of(Seconds(2.0)));
    CHECK(contains(sentence_of(s.answer), later + "."));
    found.plain.time_to_first_token = Seconds(0.02);
    CHECK_FALSE(says_it(0.03));  // half as much again, and nobody notices
    CHECK(says_it(0.13));
    found.plain.time_to_first_token = Seconds(2.0);
    CHECK(says_it(2.5));
    found.candidates.front().queued = 44.0;
    CHECK(contains(sentence_of(s.answer), later + ", with 44 requests waiting."));
    found.saturation.emplace();  // nobody catches up
    CHECK_FALSE(says_it(2.5));
    found.saturation.reset();
    s.answer.input.workload.traffic.kind = sweeps::LoadKind::batch;  // a prompt read alone
    CHECK_FALSE(says_it(2.5));
}

TEST_CASE("the page says beside its schedule where a load keeps fewer requests running than plain decoding does") {
    Shown s = shown((source_folder() / "examples" / "llama-3.1-8b-h100-concurrency.json").string());
    sweeps::Recommendation& found = *s.answer.result.recommendation;
    REQUIRE(found.speculate);
    found.candidates.front().gain_of_capacity = false;
    const auto beside_schedule = [&](double drafting, double plain) {
        found.candidates.front().in_service = drafting;
        found.plain.in_service = plain;
        return contains(report_page_data(s.answer, {}, PageStudies::none)["schedule_sentence"],
                        "this load keeps 4 of them running, and 5 in plain decoding");
    };
    CHECK(beside_schedule(4.0, 5.0));
    CHECK_FALSE(beside_schedule(4.0, 4.0));
}

TEST_CASE("the page writes a wait for the first token in seconds where it is long") {
    Shown s = shown((source_folder() / "examples" / "llama-3.1-8b-h100-concurrency.json").string());
    const auto first_token = [&](double seconds) {
        s.answer.result.recommendation->candidates.front().time_to_first_token = Seconds(seconds);
        const Json metrics = report_page_data(s.answer, {}, PageStudies::none)["summary"]["metrics"];
        return *std::find_if(metrics.begin(), metrics.end(), [](const Json& metric) { return metric["name"] == "TTFT"; });
    };
    const Json brief = first_token(9.0), long_wait = first_token(278.0);
    CHECK(brief["unit"] == "ms");
    CHECK(brief["value"].get<double>() == Approx(9000.0));
    CHECK(long_wait["unit"] == "s");
    CHECK(long_wait["value"].get<double>() == Approx(278.0));
    CHECK(long_wait["plain"].get<double>() == Approx(s.answer.result.recommendation->plain.time_to_first_token.value()));
}

TEST_CASE("where plain decoding is recommended, table, JSON and page say how near drafting came") {
    const Shown s = shown((source_folder() / "examples" / "llama-3.1-8b-h100.json").string(), 20.0);
    REQUIRE_FALSE(s.json["speculate"].get<bool>());
    const Json& rejected = s.json["rejected_drafting"];
    REQUIRE(rejected.is_object());
    CHECK(rejected["gain"].get<double>() > 1.0);
    CHECK(rejected["gain"].get<double>() < 20.0);
    const std::string sentence = s.page["uncertainty"]["sentence"];
    CHECK(contains(sentence, rejected["label"]));
    CHECK(contains(sentence, text::ratio_text(rejected["gain"].get<double>())));
    const std::string table = recommendation_table(s.answer, "trust");
    CHECK(contains(table, sentence.substr(0, 40)));
}

TEST_CASE("the report of plain decoding shows no gain over itself, but between what times a token lies") {
    Shown s = shown((source_folder() / "examples" / "llama-3.1-8b-h100.json").string(), 20.0);
    s.answer.plain_time = sweeps::MeasuredTime{.nominal = 0.8, .low = 0.75, .high = 1.5, .cases = 40, .sources = 9};
    const Json metrics = report_page_data(s.answer, {}, PageStudies::none)["summary"]["metrics"];
    CHECK(std::none_of(metrics.begin(), metrics.end(), [](const Json& metric) { return metric["unit"] == "x"; }));
    const auto time = std::find_if(metrics.begin(), metrics.end(), [](const Json& metric) { return metric["name"] == "TPOT"; });
    REQUIRE(time != metrics.end());
    CHECK((*time)["low"].get<double>() == Approx(0.75 * (*time)["value"].get<double>()));
    CHECK((*time)["high"].get<double>() == Approx(1.5 * (*time)["value"].get<double>()));
}

}  // namespace answers_agree_test
