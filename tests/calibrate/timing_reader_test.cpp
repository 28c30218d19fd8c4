// Are measured times read as their files mean them, and do the examples hold what was published?
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "calibrate/timings/timing_formats.h"
#include "calibrate/timings/timing_reader.h"
#include "requests/fit/time_source_reader.h"
#include "shared_measurements.h"
#include "source_folder.h"

namespace timing_reader_test {

using namespace treeline;
using namespace treeline::calibrate;

namespace {

TimingFile from_csv(std::string_view text) {
    TimingFile file;
    file.path = "times.csv";
    std::vector<std::string> bad_rows;
    read_timings_csv(text, file, bad_rows);
    CHECK(bad_rows.empty());
    return file;
}

TimingFile from_json(const std::string& text) {
    TimingFile file;
    file.path = "times.json";
    std::vector<std::string> bad_rows;
    read_timings_json(text, file, bad_rows);
    CHECK(bad_rows.empty());
    return file;
}

}  // namespace

TEST_CASE("CSV: quotes, comments, Windows line ends, a byte-order mark, columns in any order") {
    const TimingFile file = from_csv(
        "\xEF\xBB\xBFseries,spread_us,time_ms,tokens\r\n# measured twice\r\n\"a, \"\"b\"\"\",5,2.5,8\r\n\r\nc,,3,1\r\n");
    REQUIRE(file.series.size() == 2);
    CHECK(file.series[0].name == "a, \"b\"");
    CHECK(file.series[0].timings[0].tokens == 8.0);
    CHECK(file.series[0].timings[0].time.value() == Approx(0.0025));
    CHECK(file.series[0].timings[0].spread->value() == Approx(5e-6));
    CHECK_FALSE(file.series[1].timings[0].spread);
}

TEST_CASE("one bad row never stops a file of times") {
    TimingFile file;
    file.path = "times";
    std::vector<std::string> bad_rows;
    read_timings_csv("tokens,time_ms\n1,2\nx,2\n3,0\n4\n5,2\n", file, bad_rows);
    REQUIRE(file.series.size() == 1);
    CHECK(file.series[0].timings.size() == 2);
    REQUIRE(bad_rows.size() == 3);
    CHECK(bad_rows[0] == "times: line 3: tokens must be a number, not \"x\"");
    CHECK(bad_rows[1] == "times: line 4: time_ms must be above zero, not 0");
    file.series.clear();
    bad_rows.clear();
    // More bad rows than a document keeps problems of.
    std::string rows = R"({"tokens": 1, "time_s": 2})";
    for (int i = 0; i < 300; ++i) {
        rows += R"(, {"tokens": -1, "time_s": 2})";
    }
    read_timings_json("[" + rows + "]", file, bad_rows);
    CHECK(file.series.at(0).timings.size() == 1);
    REQUIRE(bad_rows.size() == 300);
    CHECK(bad_rows[299].find("times: rows[300]: tokens: ") == 0);
}

TEST_CASE("JSON: rows keep their own units") {
    const TimingFile file = from_json(
        R"({"title": "t", "rows": [{"tokens": 1, "time_s": 2}, {"tokens": 2, "time_ns": 5, "spread_ms": 1, "series": "x"}]})");
    CHECK(file.title == "t");
    CHECK(file.series[0].timings[0].time.value() == 2.0);
    CHECK(file.series[1].timings[0].time.value() == Approx(5e-9));
    CHECK(file.series[1].timings[0].spread->value() == Approx(1e-3));
}

TEST_CASE("llama-bench: what varies tells series apart, and the spread is that of the mean") {
    const TimingFile file = from_json(R"([
        {"model_type": "m", "n_threads": 4, "n_prompt": 8, "n_gen": 0, "n_depth": 512, "avg_ns": 1000000, "stddev_ns": 20000,
         "samples_ns": [1, 2, 3, 4]},
        {"model_type": "m", "n_threads": 8, "n_prompt": 8, "n_gen": 0, "n_depth": 512, "avg_ns": 700000, "stddev_ns": 10000},
        {"model_type": "m", "n_threads": 8, "n_prompt": 0, "n_gen": 1, "n_depth": 512, "avg_ns": 600000, "stddev_ns": 10000},
        {"model_type": "m", "n_threads": 8, "n_prompt": 64, "n_gen": 16, "n_depth": 0, "avg_ns": 600000, "stddev_ns": 10000}])");
    REQUIRE(file.series.size() == 2);
    CHECK(file.series[0].name == "m at context 512, n_threads 4");
    CHECK(file.series[0].timings[0].time.value() == Approx(0.001));
    CHECK(file.series[0].timings[0].spread->value() == Approx(20e-6 / 2));  // √4 samples
    CHECK(file.series[1].timings[0].spread->value() == Approx(10e-6));
    CHECK(file.series[1].timings[1].tokens == 1.0);  // one generated token is a pass over one
    CHECK(file.notes.size() == 1);
}

TEST_CASE("the example of STree's runs holds what its repository holds", "[shared]") {
    const auto published = treeline::testing::shared_measurements("published/stree.json");
    if (!published) {
        return;
    }
    using Rows = std::map<std::string, std::set<std::pair<double, double>>>;
    Rows expected, found;
    std::ifstream in(*published);
    const nlohmann::json runs = nlohmann::json::parse(in);
    for (const auto& table : runs.at("tables")) {
        if (table.at("id") != "repo-runs") {
            continue;
        }
        for (const auto& row : table.at("rows")) {
            const bool greedy_chain = row.at("method") == "chain" && row.at("temperature") == 0;
            if (greedy_chain) {
                expected["hybrid 8B, chain"].insert(
                    {row.at("speculated_tokens").get<double>() + 1.0, row.at("value").get<double>()});
            } else if (row.at("method") == "beam tree") {
                const double nodes = row.at("beam_steps").get<double>() * row.at("beams").get<double>();
                expected["hybrid 8B, beam tree of 4 steps"].insert({nodes + 1.0, row.at("value").get<double>()});
            } else if (row.value("drafts", 0) == 1) {
                expected["Mamba2-2.7B, chain of Mamba2-130M"].insert(
                    {row.at("speculated_tokens").get<double>() + 1.0, row.at("value").get<double>()});
            }
        }
    }
    const TimingFile file =
        read_timings(treeline::testing::source_folder() / "examples" / "fits" / "stree-repository-runs.csv");
    for (const TimingSeries& series : file.series) {
        for (const Timing& timing : series.timings) {
            found[series.name].insert({timing.tokens, std::round(timing.time.value() * 1e4) / 10.0});
        }
    }
    CHECK(found == expected);
}

}  // namespace timing_reader_test
