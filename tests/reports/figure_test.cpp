// Do figures given as data reach the page whole?
#include <catch2/catch.hpp>

#include "reports/figure.h"

namespace figure_test {

using namespace treeline;
using namespace treeline::reports;

TEST_CASE("a figure keeps what was given and leaves out what was not", "[figure]") {
    Figure figure;
    figure.id = "time";
    figure.title = "Time by tokens";
    figure.reading = "Lower is faster.";
    figure.x = {"tokens", "Tokens", true};
    figure.y = {"time_ms", "Time (ms)"};
    figure.points = "measured_ms";
    figure.rules = {{1.0, "plain decoding"}};
    figure.columns = {{"tokens", "Tokens", "", 0}, {"time_ms", "Time", "ms"}};
    figure.rows.push_back({{"tokens", 4}, {"time_ms", 2.5}, {"measured_ms", 2.4}});
    const nlohmann::ordered_json json = section_json({"fits", "Fits", "One law.", {figure}});
    REQUIRE(json["figures"].size() == 1);
    const nlohmann::ordered_json& shown = json["figures"][0];
    CHECK(shown["mark"] == "line");
    CHECK(shown["x"] == nlohmann::ordered_json({{"key", "tokens"}, {"title", "Tokens"}, {"log", true}}));
    CHECK_FALSE(shown["y"].contains("log"));
    CHECK(shown["points"] == "measured_ms");
    CHECK(shown["rules"][0]["at"] == 1.0);
    CHECK(shown["columns"][0]["digits"] == 0);
    CHECK_FALSE(shown["columns"][1].contains("digits"));
    CHECK(shown["rows"][0]["time_ms"] == 2.5);
    for (const char* absent : {"series", "low", "end", "stacked", "diagonal", "band", "choices"}) {
        INFO(absent);
        CHECK_FALSE(shown.contains(absent));
    }
}

TEST_CASE("a page of figures is a whole report page with its own heading", "[figure]") {
    const std::string page =
        render_figures({"Fits", "one series", "What was fitted", "A line fits best.", {{"a", "A", "", {}}}});
    CHECK(page.find("<title>Fits</title>") != std::string::npos);
    CHECK(page.find(R"("heading":"What was fitted","sentence":"A line fits best.")") != std::string::npos);
    CHECK(page.find("\"id\":\"a\"") != std::string::npos);
}

}  // namespace figure_test
