// Are the measured drafters of the catalogue usable, and does an input that names one get what was measured?
#include <catch2/catch.hpp>

#include "requests/published_acceptance.h"
#include "source_folder.h"
#include "text/input_error.h"

namespace published_acceptance_test {

using namespace treeline;
using namespace treeline::requests;

namespace {

std::filesystem::path folder() { return testing::source_folder() / "models" / "drafters"; }

}  // namespace

TEST_CASE("every drafter of the catalogue gives an acceptance, measured as far as its chains") {
    const std::vector<std::string> names = published_drafters(folder());
    CHECK(names.size() >= 30);
    for (const std::string& name : names) {
        INFO(name);
        const PublishedDrafter drafter = load_published_drafter(folder(), name);
        const sim::AcceptanceOfTraffic found = sim::acceptance_of_traffic(drafter.measured, {});
        CHECK(found.chain.problems().empty());
        CHECK(found.chain.measured_positions() >= 1);
        CHECK(found.chain.accept_length(found.chain.measured_positions()) > 1.0);
        CHECK_FALSE(found.sources.empty());
        for (const sim::MeasuredAcceptance& row : drafter.measured) {
            CHECK(row.per_position.size() <= static_cast<std::size_t>(row.draft_tokens));
        }
    }
}

TEST_CASE("categories keep their own acceptance, as SpecDecode-Bench's traces of EAGLE-3 say") {
    const PublishedDrafter eagle3 = load_published_drafter(folder(), "eagle3-llama-3.1-8b");
    CHECK(eagle3.target == "llama-3.1-8b");
    const auto length = [&](const char* category, int k) {
        return sim::acceptance_of_traffic(eagle3.measured, {{{category, 1.0}}, {}, "", {}}).chain.accept_length(k);
    };
    CHECK(length("math", 1) == Approx(1.699).margin(0.03));  // greedy walks of each length differ by a little
    // The README's example has the same traces on ShareGPT, position by position.
    CHECK(length("chat", 3) == Approx(1.0 + 0.605 + 0.361 + 0.233).margin(0.05));
}

TEST_CASE("an unknown drafter gets the nearest name") {
    try {
        load_published_drafter(folder(), "eagle3-llama-3.1-8c");
        FAIL("it was found");
    } catch (const text::InputError& failure) {
        CHECK(failure.problems().front().find("did you mean \"eagle3-llama-3.1-8b\"") != std::string::npos);
    }
}

}  // namespace published_acceptance_test
