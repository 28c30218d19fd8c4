// Does the law of a walk along caches follow its definition, and does it carry over at one efficiency?
#include <catch2/catch.hpp>

#include "sim/attention_walk.h"

namespace attention_walk_test {

using namespace treeline;
using namespace treeline::sim;

namespace {

/// A byte takes 2 s (1 B/s at one half), a cached token 3 s for heads 128 wide; 8 multiprocessors.
double seconds(const AttentionWalk& shape) {
    const AttentionWalkLaw law{Seconds(10.0), Seconds(3.0), 0.5};
    return time_of(law, shape, BytesPerSecond(1.0), 8.0).value();
}

AttentionWalk shape(double sequences, double rows, double context = 5.0) {
    return {sequences, 4.0, rows, context, 128.0, Bytes(1.0)};
}

}  // namespace

TEST_CASE("one thread block for each head of a sequence walks along the whole cache") {
    // 4 heads leave half of 8 multiprocessors idle: 10 + 5·3, with 1 row or with 64.
    CHECK(seconds(shape(1.0, 1.0)) == Approx(25.0));
    CHECK(seconds(shape(1.0, 64.0)) == Approx(25.0));
    // 65 rows are two tiles: 8 blocks on 8. Three sequences of them: 24 blocks, three walks.
    CHECK(seconds(shape(1.0, 65.0)) == Approx(25.0));
    CHECK(seconds(shape(3.0, 65.0)) == Approx(55.0));
    CHECK(seconds({1.0, 4.0, 1.0, 5.0, 256.0, Bytes(1.0)}) == Approx(40.0));   // twice as wide
    CHECK(seconds({1.0, 4.0, 1.0, 5.0, 128.0, Bytes(20.0)}) == Approx(50.0));  // 20 B at 0.5 B/s take longer than the walk
}

TEST_CASE("a longer context, more rows or more sequences never walk in less time") {
    for (double sequences = 1.0; sequences < 12.0; ++sequences) {
        for (double rows = 1.0; rows < 200.0; rows += 7.0) {
            CHECK(seconds(shape(sequences + 1.0, rows)) >= seconds(shape(sequences, rows)));
            CHECK(seconds(shape(sequences, rows + 7.0)) >= seconds(shape(sequences, rows)));
            CHECK(seconds(shape(sequences, rows, 6.0)) > seconds(shape(sequences, rows, 5.0)));
        }
    }
}

TEST_CASE("a walk is as efficient as a multiprocessor of another device lets it be") {
    // A tile of 64 rows of 128 does 4·64·128 = 32,768 FLOPs a token. 142 multiprocessors with 362 TFLOP/s do 2.549e12 each:
    // 18.36 ns at 70 % of that.
    const FlopsPerSecond peak(362e12);
    CHECK(1e9 * walk_at(0.7, peak, 142.0).value() == Approx(18.36).epsilon(1e-3));
    CHECK(walk_efficiency(walk_at(0.7, peak, 142.0), peak, 142.0) == Approx(0.7));
}

TEST_CASE("blocks wait for each other on a single multiprocessor, or where their number is not known") {
    CHECK(walks({3.0, 4.0, 65.0, 5.0, 128.0, Bytes(1.0)}, 1.0) == 24.0);
    CHECK(walks({3.0, 4.0, 65.0, 5.0, 128.0, Bytes(1.0)}, 0.0) == 24.0);
    CHECK(walks({3.0, 4.0, 65.0, 5.0, 128.0, Bytes(1.0)}, 48.0) == 1.0);
}

}  // namespace attention_walk_test
