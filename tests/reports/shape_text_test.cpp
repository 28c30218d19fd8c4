// Words on accept lengths, and sentences that stand on pages.
#include "reports/shape_text.h"

#include <catch2/catch.hpp>

#include "reports/objective_text.h"
#include "sim/round.h"

namespace shape_text_test {

using namespace treeline;
using namespace treeline::reports;

TEST_CASE("drafts pay above an accept length that they can reach, or never") {
    CHECK(pays_text(1.4, 3.0) == "pays above 1.40");
    CHECK(pays_text(4.0, 3.0) == "pays above 4.00");  // three drafts and the bonus token
    CHECK(pays_text(4.01, 3.0) == "never pays with 3 drafts");
    CHECK(pays_text(8.66, 1.0) == "never pays with 1 draft");
    CHECK(pays_text(sim::unlimited, 2.0) == "never pays with 2 drafts");
}

TEST_CASE("a page has no flags in its first sentence") {
    sim::RoundSetup alone;
    const std::string sentence = "Run it: 2.00x" + decoding_alone_text(alone) + ".";
    CHECK(sentence.find("--concurrency") != std::string::npos);
    CHECK(on_a_page(sentence) == "Run it: 2.00x, decoding alone.");
    CHECK(on_a_page("Run it: 2.00x.") == "Run it: 2.00x.");
}

}  // namespace shape_text_test
