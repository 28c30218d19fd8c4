// Does docs/drafters.md say how every method of every engine is written here?
#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>
#include <sstream>

#include "engines/engine.h"
#include "requests/setup_reader.h"
#include "source_folder.h"

namespace methods_documented_test {

using namespace treeline;
using namespace treeline::engines;

namespace {

std::string page() {
    std::ifstream file(testing::source_folder() / "docs" / "drafters.md");
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("every method of the engines' records has its line") {
    const std::string text = page();
    for (const Engine& engine : all_engines()) {
        for (const std::string& method : engine.methods) {
            INFO(engine.label() << ": " << method);
            CHECK(text.find("`" + method + "`") != std::string::npos);
        }
        for (const EngineDrafter& drafter : engine.drafters) {
            std::istringstream words(drafter.word);
            for (std::string word; std::getline(words, word, ',');) {
                INFO(engine.label() << ": " << word);
                CHECK(text.find("`" + word + "`") != std::string::npos);
            }
        }
    }
}

TEST_CASE("every kind of drafter is on the page of inputs, and those beyond engines on the page of drafters") {
    const std::string text = page();
    for (const char* kind : {"sparse-self", "early-exit", "layer-skip", "quantised-self", "spire", "cascade", "token-recycling",
                             "lookup-first", "hydra", "hass", "p-eagle", "pard", "suffix"}) {
        INFO(kind);
        CHECK(text.find("`" + std::string(kind) + "`") != std::string::npos);
    }
    std::ifstream file(testing::source_folder() / "docs" / "inputs.md");
    const std::string inputs{std::istreambuf_iterator<char>(file), {}};
    for (const std::string& kind : requests::drafter_kinds()) {
        INFO(kind);
        CHECK(inputs.find("`" + kind + "`") != std::string::npos);
    }
}

}  // namespace methods_documented_test
