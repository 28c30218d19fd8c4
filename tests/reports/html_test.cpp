// Does render_html put any data safely into the page?
#include <limits>
#include <stdexcept>
#include <string>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "reports/html.h"

namespace html_test {

namespace {

using nlohmann::json;

json smallest() { return {{"title", "A title"}, {"summary", {{"sentence", "Run this."}}}}; }

/// What stands between the tags of the data element.
std::string data_element(const std::string& page) {
    const std::string open = R"(id="report-data">)";
    const std::size_t begin = page.find(open) + open.size();
    return page.substr(begin, page.find("</script", begin) - begin);
}

std::size_t count(const std::string& text, const std::string& word) {
    std::size_t found = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size())) {
        ++found;
    }
    return found;
}

}  // namespace

TEST_CASE("render_html returns the data unchanged inside a whole page", "[html]") {
    json data = smallest();
    data["notes"] = {"plain", "quote \" backslash \\ and </script><!-- & \xE2\x80\xA8 end"};
    const std::string page = treeline::reports::render_html(data);
    CHECK(page.rfind("<!doctype html>", 0) == 0);
    CHECK(page.find("<title>A title</title>") != std::string::npos);
    CHECK(page.find("</html>") != std::string::npos);
    CHECK(json::parse(data_element(page)) == data);
}

TEST_CASE("No string of the data can open or close an element", "[html]") {
    json data = smallest();
    const std::string usual = treeline::reports::render_html(data);
    data["title"] = "</title><script>alert(1)</script>";
    data["notes"] = {"</script><script>alert(2)</script>", "<!--<script>", "<img src=x onerror=alert(3)>"};
    data["</script>"] = "a key";
    const std::string page = treeline::reports::render_html(data);
    for (const char* word : {"<script", "</script", "<!--", "<img", "</title"}) {
        INFO(word);
        CHECK(count(page, word) == count(usual, word));
    }
    CHECK(data_element(page).find_first_of("<>&") == std::string::npos);
    CHECK(json::parse(data_element(page)) == data);
}

TEST_CASE("Bytes that are not UTF-8 are replaced and numbers that are not finite are missing", "[html]") {
    json data = smallest();
    data["title"] = "bad \xFF byte";
    data["value"] = std::numeric_limits<double>::infinity();
    const std::string page = treeline::reports::render_html(data);
    CHECK(page.find("<title>bad \xEF\xBF\xBD byte</title>") != std::string::npos);
    CHECK(json::parse(data_element(page))["value"].is_null());
}

TEST_CASE("Line separators of Unicode are escaped", "[html]") {
    json data = smallest();
    data["notes"] = {"\xE2\x80\xA8\xE2\x80\xA9"};
    CHECK(data_element(treeline::reports::render_html(data)).find("\\u2028\\u2029") != std::string::npos);
}

TEST_CASE("What is missing is named", "[html]") {
    json data = smallest();
    data.erase("title");
    CHECK_THROWS_WITH(treeline::reports::render_html(data), Catch::Contains("title"));
    CHECK_THROWS_WITH(treeline::reports::render_html({{"title", "x"}}), Catch::Contains("summary.sentence"));
    CHECK_THROWS_WITH(treeline::reports::render_html({{"title", "x"}, {"summary", "text"}}),
                      Catch::Contains("summary.sentence"));
    CHECK_THROWS_AS(treeline::reports::render_html(json::array()), std::invalid_argument);
}

TEST_CASE("The page asks for no address and stays small", "[html]") {
    const std::string page = treeline::reports::render_html(smallest());
    CHECK(page.size() < 1'500'000);
    CHECK(page.find("default-src 'none'") != std::string::npos);
    for (const char* word : {"<link rel=\"stylesheet\"", "<script src", "<iframe", "@import", "url(http", "url(//"}) {
        INFO(word);
        CHECK(page.find(word) == std::string::npos);
    }
}

}  // namespace html_test
