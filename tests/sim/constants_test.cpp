// The numbers of sim/constants.h: is each told with its source, and are they what their sources say?
#include <catch2/catch.hpp>

#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "sim/constants.h"
#include "source_folder.h"

namespace constants_test {

using namespace treeline;

namespace {

std::string cost_model() {
    std::ifstream file(testing::source_folder() / "docs/cost-model.md");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("docs/cost-model.md lists each number that no file states, as it is") {
    const std::string page = cost_model();
    for (const sim::Constant* constant : sim::all_constants()) {
        const std::string line = fmt::format("\n| `{}` | {:.4g} | {} | {} | {} |\n", constant->name, constant->value,
                                             constant->meaning, name_of(constant->kind), constant->source);
        INFO("docs/cost-model.md lacks this line:" << line);
        CHECK(page.find(line) != std::string::npos);
    }
}

TEST_CASE("numbers that no file states have names of their own, and a source") {
    std::set<std::string_view> names;
    for (const sim::Constant* constant : sim::all_constants()) {
        INFO(constant->name);
        CHECK(names.insert(constant->name).second);
        CHECK_FALSE(constant->meaning.empty());
        CHECK_FALSE(constant->source.empty());
    }
}

}  // namespace constants_test
