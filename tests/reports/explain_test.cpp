// Which sections does --explain show, and what is said of a name that is none?
#include <catch2/catch.hpp>

#include "reports/explain.h"
#include "text/input_error.h"

namespace explain_test {

using namespace treeline::reports;
using Names = std::vector<std::string>;

namespace {

const Names known = {"candidates", "trust", "memory"};

std::string shown(const Explain& explain) {
    return explained_answer(explain, known, "first screen\n", "sentence\n",
                            [](const std::string& name) { return name == "trust" ? "" : "of " + name + "\n"; });
}

}  // namespace

TEST_CASE("names of sections are taken in their order, and all of them where none is given") {
    CHECK(explained_names("memory,candidates", known) == Names{"memory", "candidates"});
    CHECK(explained_names("", known) == known);
    CHECK(explained_names("all", known) == known);
    CHECK(explained_names("memory,all", known) == known);
}

TEST_CASE("a name that is no section is a sentence with those that are") {
    CHECK_THROWS_WITH(explained_names("memry", known),
                      "--explain: there is no section \"memry\"; write candidates, trust, memory or all");
}

TEST_CASE("the first screen stands alone or before every section; named ones follow the sentence") {
    CHECK(shown(std::nullopt) == "first screen\n");
    CHECK(shown("memory") == "sentence\n\nMEMORY\nof memory\n");
    CHECK(shown("") == "first screen\n\nCANDIDATES\nof candidates\n\nTRUST\nNothing to say here.\n\nMEMORY\nof memory\n");
}

}  // namespace explain_test
