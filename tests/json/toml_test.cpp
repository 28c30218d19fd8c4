// TOML as configuration files have it. Expected values stand in the texts.
#include <catch2/catch.hpp>

#include "json/parse.h"
#include "json/toml.h"

namespace toml_test {

using namespace treeline;
using Json = nlohmann::ordered_json;

namespace {

Json tree_of(const std::string& text) {
    const json::ParsedToml parsed = json::parse_toml(text);
    INFO(parsed.failure);
    REQUIRE(parsed.failure.empty());
    return parsed.tree;
}

std::string failure(const std::string& text) { return json::parse_toml(text).failure; }

}  // namespace

TEST_CASE("tables, dotted keys and lists of tables") {
    CHECK(tree_of("a = 1\n[b]\nc = 2 # comment\n[b.d]\ne.f = 3\n") ==
          Json::parse(R"({"a": 1, "b": {"c": 2, "d": {"e": {"f": 3}}}})"));
    CHECK(tree_of("[[m]]\nn = 1\n[m.o]\np = 2\n[[m]]\nn = 3\n") ==
          Json::parse(R"({"m": [{"n": 1, "o": {"p": 2}}, {"n": 3}]})"));
    CHECK(tree_of("\"a b\" = { x = 1, 'y.z' = [1, [2], {}], }\r\n") ==
          Json::parse(R"({"a b": {"x": 1, "y.z": [1, [2], {}]}})"));
    CHECK(tree_of("list = [\n  'a', # one\n  'b',\n]\n") == Json::parse(R"({"list": ["a", "b"]})"));
    CHECK(tree_of("").empty());
}

TEST_CASE("values of every kind") {
    CHECK(tree_of("n = 1_000\nm = -0.5\ne = 1e3\nh = 0xff\no = 0o17\nb = 0b101\np = +7\nt = true\nf = false\n") ==
          Json::parse(R"({"n": 1000, "m": -0.5, "e": 1000.0, "h": 255, "o": 15, "b": 5, "p": 7, "t": true, "f": false})"));
    CHECK(tree_of("d = 2026-11-27T18:00:00Z")["d"] == "2026-11-27T18:00:00Z");
    CHECK(tree_of(R"(s = "a\t\"b\" \u00e9")")["s"] == "a\t\"b\" \xc3\xa9");
    CHECK(tree_of(R"(s = 'C:\models\a')")["s"] == "C:\\models\\a");
    CHECK(tree_of("s = \"\"\"\nvllm \\\n   serve\n\"\"\"\n")["s"] == "vllm serve\n");
    CHECK(tree_of("s = '''it's'''\n")["s"] == "it's");
}

TEST_CASE("what is no TOML is refused with its place") {
    CHECK(failure("a = b\n").find("line 1, column 5: strings stand in quotes") != std::string::npos);
    CHECK(failure("[a\nb = 1\n").find("line 1") != std::string::npos);
    CHECK(failure("a = 1 2\n").find("more follows the value") != std::string::npos);
    CHECK(failure("a = \"b\nc = 1\n").find("a string does not end") != std::string::npos);
    CHECK(failure("a = 1\n[a.b]\n").find("is a value, not a table") != std::string::npos);
    CHECK(failure("a = \"C:\\models\"\n").find("a backslash is written twice") != std::string::npos);
    CHECK(failure("a =\n").find("a value is missing") != std::string::npos);
    CHECK(failure("a = [1\n").find("a list goes on") != std::string::npos);
    CHECK(failure("a = \"\xff\"\n").find("UTF-8") != std::string::npos);
    CHECK(failure("a = " + std::string(100, '[') + std::string(100, ']')) == json::too_deep_text());
    CHECK(json::parse_toml("a = 1\na = 2\n").repeated_keys == std::vector<std::string>{"a"});
    std::string many = "a = [";
    for (std::size_t i = 0; i <= json::most_toml_values; ++i) {
        many += "1,";
    }
    CHECK(failure(many + "]").find("values") != std::string::npos);
}

}  // namespace toml_test
