// Does the law of verification over recurrent states follow its definition, and is more work never cheaper?
#include <catch2/catch.hpp>

#include "setups.h"
#include "sim/kernel_law.h"
#include "sim/recurrent_verification.h"

namespace recurrent_verification_test {

using namespace treeline;
using namespace treeline::sim;

namespace {

/// 1 B/s at a share of one half: a byte takes two seconds.
RecurrentVerificationLaw example() {
    RecurrentVerificationLaw law;
    law.family = "vllm";
    law.startup = Seconds(10.0);
    law.per_token = Seconds(3.0);
    law.bandwidth_share = 0.5;
    return law;
}

double seconds(const RecurrentVerificationLaw& law, double sequences, double tokens, double heads = 4.0) {
    return time_of(law, {sequences, tokens, heads, Bytes(1.0)}, BytesPerSecond(1.0), 2.0).value();
}

}  // namespace

TEST_CASE("a chain over a recurrent state takes its steps or its traffic") {
    RecurrentVerificationLaw law = example();
    // One sequence, 4 tokens: steps 4·3 = 12; one read and four writes of 1 B at 0.5 B/s = 10. 10 + 12.
    CHECK(seconds(law, 1.0, 4.0) == Approx(22.0));
    // Three sequences move three times as much, 30, and their steps run side by side.
    CHECK(seconds(law, 3.0, 4.0) == Approx(40.0));
    law.overlap = 0.25;  // a quarter of the shorter one is not hidden: 10 + 30 + 3
    CHECK(seconds(law, 3.0, 4.0) == Approx(43.0));
    law.per_head = Seconds(9.0);  // 3 sequences of 4 heads on 2 multiprocessors: 6 turns of 9 s
    CHECK(seconds(law, 3.0, 4.0) == Approx(54.0));
}

TEST_CASE("more tokens, sequences or state never take a recurrent kernel less time") {
    RecurrentVerificationLaw law = example();
    law.per_head = Seconds(2.0);
    for (const double overlap : {0.0, 0.5, 1.0}) {
        law.overlap = overlap;
        for (double sequences = 1.0; sequences < 9.0; ++sequences) {
            for (double tokens = 1.0; tokens < 17.0; ++tokens) {
                CHECK(seconds(law, sequences, tokens + 1.0) >= seconds(law, sequences, tokens));
                CHECK(seconds(law, sequences + 1.0, tokens) > seconds(law, sequences, tokens));
            }
        }
    }
}

TEST_CASE("an engine without a measured chain takes the one with the shortest steps") {
    Calibration calibration;
    CHECK(calibration.recurrent_verification_law("vllm") == nullptr);
    RecurrentVerificationLaw fused = example(), slow = example(), fast = example();
    fused.family = "sglang-fused";
    fused.convolves = true;
    fused.per_token = Seconds(0.1);
    slow.family = "sglang";
    slow.per_token = Seconds(5.0);
    calibration.recurrent_verification = {fused, slow, fast};
    CHECK(calibration.recurrent_verification_law("sglang")->family == "sglang");
    CHECK(calibration.recurrent_verification_law("sglang-fused")->family == "sglang-fused");
    CHECK(calibration.recurrent_verification_law("llama.cpp")->family == "vllm");
}

TEST_CASE("laws of recurrent verification carry over as shares and times") {
    const Device measured = treeline::testing::device("h100-sxm"), other = treeline::testing::device("h200");
    REQUIRE(measured.calibration);
    REQUIRE(other.calibration);
    REQUIRE(!measured.calibration->recurrent_verification.empty());
    const RecurrentVerificationLaw& own = *measured.calibration->recurrent_verification_law("vllm");
    const RecurrentVerificationLaw& carried = *other.calibration->recurrent_verification_law("vllm");
    CHECK(carried.per_token == own.per_token);
    CHECK(carried.bandwidth_share == own.bandwidth_share);
}

TEST_CASE("a law of recurrent verification without a share of the bandwidth is refused") {
    Calibration calibration = *testing::device("h100-sxm").calibration;
    CHECK(problems_of(calibration).empty());
    calibration.recurrent_verification.assign(2, example());
    calibration.recurrent_verification[1].bandwidth_share = 0.0;
    // The share of the second one, and each of the two for being there twice.
    CHECK(problems_of(calibration).size() == 3);
}

}  // namespace recurrent_verification_test
