// Are logs that stand under titles of different set-ups kept apart? The numbers are made up.
#include <catch2/catch.hpp>

#include "typed_run.h"

namespace logs_of_two_setups_test {

using namespace treeline;
using namespace treeline::testing::typed;

std::string sglang_line(double length) {
    return fmt::format(
        "[2026-01-02 10:00:00] Decode batch. #running-req: 8, #token: 8000, token usage: 0.27, accept len: {:.2f}, gen "
        "throughput (token/s): 100.00, #queue-req: 0\n",
        length);
}

std::string llama_line(int accepted) {
    return fmt::format(
        "slot print_timing: id 0 | task 0 | draft acceptance = 0.50000 ({} accepted / 300 generated), mean len = {}\n",
        accepted, 1.0 + accepted / 100.0);
}

double length_of(const std::string& text) { return read(text, 3).acceptance().accept_length(); }

TEST_CASE("logs under titles that switch something are of two set-ups") {
    const std::string log = "```\n" + sglang_line(3.5) + "```\n", other = "```\n" + sglang_line(1.5) + "```\n";
    for (const auto& [first, second] : {std::pair{"disable cuda graph:", "open cuda graph:"}, std::pair{"Before:", "After:"},
                                        std::pair{"## With overlap", "## Without overlap"}}) {
        const std::string text = std::string(first) + "\n" + log + second + "\n" + other;
        CHECK(length_of(text) == Approx(3.5));
        CHECK(says(remarks_of(read(text, 3)), second));
        CHECK(length_of(std::string(first) + "\n" + sglang_line(3.5) + second + "\n" + sglang_line(1.5)) == Approx(3.5));
    }
}

TEST_CASE("logs below lines that name different devices are of two set-ups") {
    const std::string first = "Tested on a 3090.\n\n```\n" + llama_line(200) + "```\n\n";
    CHECK(length_of(first + "And on two RTX A5000 with a layer split:\n```\n" + llama_line(100) + "```\n") == Approx(3.0));
    // (200 + 100) of 200 rounds.
    CHECK(length_of(first + "And once more:\n```\n" + llama_line(100) + "```\n") == Approx(2.5));
}

TEST_CASE("logs of one set-up are added up") {
    CHECK(length_of("Log:\n```\n" + sglang_line(3.0) + "```\nA minute later:\n```\n" + sglang_line(2.0) + "```\n") ==
          Approx(2.5));
    CHECK(length_of(sglang_line(3.0) + "[2026-01-02 10:00:01] INFO: cuda graph: on\n" + sglang_line(2.0)) == Approx(2.5));
    // Drafts and none are of one run.
    const std::string plain =
        "INFO Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 100.0 tokens/s, Running: 4 reqs\n";
    CHECK(read("without MTP:\n" + plain + plain + plain + "with MTP:\n" + plain + plain + plain).remarks.empty());
}

}  // namespace logs_of_two_setups_test
