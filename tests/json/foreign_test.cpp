// Do texts that other programs wrote stay within bounds, however they nest or refer to themselves?
#include <catch2/catch.hpp>

#include <iterator>
#include <string>

#include "json/parse.h"
#include "json/yaml.h"

namespace foreign_test {

using namespace treeline::json;
using nlohmann::ordered_json;

namespace {

std::string nested(std::size_t levels, const std::string& inside = "") {
    return std::string(levels, '[') + inside + std::string(levels, ']');
}

}  // namespace

TEST_CASE("brackets are counted where they open a level") {
    CHECK_FALSE(nests_too_deep(nested(deepest_nesting)));
    CHECK(nests_too_deep(nested(deepest_nesting + 1)));
    CHECK(nests_too_deep(std::string(40'000, '[')));
    CHECK(nests_too_deep(std::string(deepest_nesting, '{') + "["));
    // One after the other is not one in the other, and what stands in quotes opens nothing.
    std::string row;
    for (int i = 0; i < 1000; ++i) {
        row += "[],{},";
    }
    CHECK_FALSE(nests_too_deep(row));
    CHECK_FALSE(nests_too_deep("\"" + std::string(1000, '[') + "\""));
    CHECK_FALSE(nests_too_deep(R"("a quote \" and then )" + std::string(1000, '[') + "\""));
    CHECK(nests_too_deep(R"("ends with a backslash \\")" + std::string(1000, '[')));
    CHECK_FALSE(nests_too_deep(std::string(1000, ']') + "[" + std::string(1000, ']')));
}

TEST_CASE("foreign JSON: the parser's own rules, and a bound") {
    CHECK(parse_foreign<ordered_json>(R"({"a": 1, "a": 2})") == ordered_json{{"a", 2}});
    CHECK(parse_foreign<ordered_json>(R"({"b": {"c": 1}, "a": 0, "b": {"d": [2, {"e": 3}]}})")->dump() ==
          R"({"b":{"d":[2,{"e":3}]},"a":0})");
    CHECK(parse_foreign<nlohmann::json>(nested(deepest_nesting, "1")));
    CHECK_FALSE(parse_foreign<ordered_json>(nested(deepest_nesting + 1, "1")));
    CHECK_FALSE(parse_foreign<ordered_json>("{"));
    CHECK_FALSE(parse_foreign<ordered_json>(""));
    CHECK_FALSE(parse_foreign<ordered_json>("1e999"));
    CHECK(parse_strictly(nested(deepest_nesting, "1")).failure.empty());
    CHECK(parse_strictly(nested(deepest_nesting + 1, "1")).failure == "nests deeper than 64 levels");
}

TEST_CASE("nothing behind a zero byte is passed over") {
    using namespace std::string_view_literals;
    CHECK(parse_strictly("{\"a\": 1}\0 {\"a\": 2}"sv).failure == "is not JSON at line 1, column 9: a zero byte");
    CHECK(parse_strictly("1\0"sv).failure == "is not JSON at line 1, column 2: a zero byte");
    CHECK_FALSE(parse_strictly("[1\0]"sv).failure.empty());
    CHECK(parse_strictly(R"("\u0000")").failure.empty());
}

TEST_CASE("YAML by the core schema") {
    const ParsedYaml parsed = parse_yaml("a: 1\nb: 2.5\nc: [true, ~, text, '1']\nd: {e: {f: g}}\n");
    CHECK(parsed.failure.empty());
    CHECK(parsed.tree == ordered_json::parse(R"({"a": 1, "b": 2.5, "c": [true, null, "text", "1"], "d": {"e": {"f": "g"}}})"));
    CHECK(parse_yaml("a: 1\nb: 2\na: 3\n").repeated_keys == std::vector<std::string>{"a"});
    CHECK(parse_yaml("a: [1\n").failure.find("is not YAML: line 2") == 0);
    CHECK(parse_yaml("x: *unknown").failure.find("is not YAML") == 0);
    CHECK(parse_yaml_documents("---\n---\na: 1\n---\nb: 2\n").tree == ordered_json::parse(R"([{"a": 1}, {"b": 2}])"));
    CHECK(parse_yaml_documents("a: 1\n").tree == ordered_json::parse(R"({"a": 1})"));
    CHECK(parse_yaml_documents("---\n---\n").tree.is_null());
    const ParsedYaml bytes = parse_yaml("a\x90: [1\x90 3]");  // no UTF-8: what is written of it must be
    CHECK(bytes.tree.dump() == "{\"a\uFFFD\":[\"1\uFFFD 3\"]}");
    for (const char* endless : {",", ",,*g,x", "a: 1\n---\n]", "}"}) {  // yaml-cpp would report empty documents for ever
        CHECK(parse_yaml_documents(endless).failure.find("is not YAML: line ") == 0);
    }
}

TEST_CASE("the texts that aliases unfold to are bounded, too, and those of many keys are not") {
    const auto unfolded = [](std::size_t bytes) {
        std::string text = "a: &a \"" + std::string(bytes, 'x') + "\"\nb: [";
        for (int i = 0; i < 1000; ++i) {
            text += i > 0 ? ",*a" : "*a";
        }
        return parse_yaml(text + "]\n");
    };
    CHECK(unfolded(4000).failure.empty());
    CHECK(unfolded(4300).failure == "unfolds to texts of more than 4 MiB");
    // 40,000 keys, of which a comparison of each with all before it takes seconds.
    std::string keys;
    for (int i = 0; i < 40'000; ++i) {
        keys += "k" + std::to_string(i) + ": " + std::to_string(i) + "\n";
    }
    const ParsedYaml many = parse_yaml(keys + "k7: last\n");
    CHECK(many.failure.empty());
    CHECK(many.tree.size() == 40'000);
    CHECK(many.repeated_keys == std::vector<std::string>{"k7"});
    CHECK(many.tree.at("k7") == "last");
    CHECK(std::prev(many.tree.end()).key() == "k39999");
}

TEST_CASE("aliases are unfolded up to a bound") {
    // Nine to the power of six values from seven lines; 9^5 + … are 66,430 and fit.
    std::string text = "a: &a [0,0,0,0,0,0,0,0,0]\n";
    char before = 'a';
    for (const char name : {'b', 'c', 'd', 'e', 'f'}) {
        text += std::string(1, name) + ": &" + name + " [";
        for (int i = 0; i < 9; ++i) {
            text += std::string(i > 0 ? "," : "") + "*" + before;
        }
        text += "]\n";
        before = name;
        CAPTURE(text);
        const ParsedYaml parsed = parse_yaml(text);
        // 1 for the mapping, and for its n-th member 1 + 9 + … + 9^n.
        std::size_t values = 1, member = 1;
        for (std::size_t n = 1, power = 1; n <= static_cast<std::size_t>(name - 'a') + 1; ++n) {
            power *= 9;
            member += power;
            values += member;
        }
        CHECK(parsed.failure.empty() == (values <= most_yaml_values));
    }
    CHECK(parse_yaml(text).failure == "unfolds to more than 100000 values");
    CHECK(parse_yaml(text).tree.is_null());
    CHECK(parse_yaml("x: " + nested(deepest_nesting - 1, "1")).failure.empty());
    CHECK(parse_yaml("x: " + nested(deepest_nesting, "1")).failure == "nests deeper than 64 levels");
    CHECK_FALSE(parse_yaml(std::string(10'000, '[')).failure.empty());
    CHECK_FALSE(parse_yaml(std::string(10'000, '{')).failure.empty());
    CHECK_FALSE(parse_yaml("a: &a [*a]").failure.empty());
}

}  // namespace foreign_test
