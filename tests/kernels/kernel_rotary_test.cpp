// Does the rotary embedding turn by the right angles, in place, and agree with the reference?
#include <catch2/catch.hpp>

#include "kernel_case.h"

namespace kernel_rotary_test {

using namespace treeline;
using namespace treeline::testing;
using namespace treeline::kernels;

TEST_CASE("heads are turned as the reference turns them") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    for (const ElementType type : {ElementType::fp32, ElementType::bf16}) {
        for (int repeat = 0; repeat < 10; ++repeat) {
            const int rows = pick(random, {1, 5, 64}), heads = pick(random, {1, 3, 40}),
                      head_dim = pick(random, {2, 16, 64, 128});
            constexpr int positions = 3000;
            const Both<float> table(rotary_table(positions, head_dim));
            std::vector<int> places;
            for (int row = 0; row < rows; ++row) {
                places.push_back(static_cast<int>(random() % positions));
            }
            const Both<int> position(places);
            Output x(rows, heads * head_dim, type, random, -2, 2);
            INFO(name_of(type) << ", " << rows << " rows of " << heads << " x " << head_dim);
            const auto run = [&](Side side, const Backend& backend) {
                backend.rotary({rows, heads, head_dim, x.on(side), position.on(side), table.on(side)}, {});
            };
            run(Side::reference, reference_backend());
            run(Side::device, backend_under_test());
            CHECK(x.relative_error() < tolerance({type}));
        }
    }
}

TEST_CASE("the rotary table holds angles of double precision, and position 0 leaves heads as they are") {
    const std::vector<float> table = rotary_table(100'001, 4, 10000.0);
    // Row p: cos p, cos p/100 (10000^(-2/4) = 1/100), sin p, sin p/100.
    CHECK(table[0] == 1.0F);
    CHECK(table[2] == 0.0F);
    const std::size_t last = std::size_t{100'000} * 4;
    CHECK(table[last] == Approx(std::cos(100'000.0)).margin(1e-7));
    CHECK(table[last + 1] == Approx(std::cos(1'000.0)).margin(1e-7));
    CHECK(table[last + 2] == Approx(std::sin(100'000.0)).margin(1e-7));
    CHECK(table[last + 3] == Approx(std::sin(1'000.0)).margin(1e-7));

    // Scores depend on the distance of positions alone: <R(7) q, R(5) k> = <R(102) q, R(100) k>.
    const std::vector<float> head = {0.3F, -1.2F, 0.7F, 0.4F, -0.9F, 0.8F, 1.1F, -0.2F};
    const auto score = [&](int of_query, int of_key) {
        const Both<float> angles(table);
        Both<float> rows(head);
        const Both<int> position({of_query, of_key});
        backend_under_test().rotary(
            {2, 1, 4, {rows.on(Side::device), ElementType::fp32, 4}, position.on(Side::device), angles.on(Side::device)}, {});
        const std::vector<float> turned = rows.from_device();
        double sum = 0.0;
        for (std::size_t i = 0; i < 4; ++i) {
            sum += double(turned[i]) * double(turned[4 + i]);
        }
        return sum;
    };
    CHECK(score(7, 5) == Approx(score(102, 100)).margin(1e-5));
    CHECK(std::abs(score(7, 5) - score(7, 2)) > 0.1);
    // Unturned: 0.3 * -0.9 + -1.2 * 0.8 + 0.7 * 1.1 + 0.4 * -0.2 = -0.54.
    CHECK(score(0, 0) == Approx(-0.54).margin(1e-6));
}

TEST_CASE("a rotary embedding of odd heads is refused") {
    float x[3] = {};
    const int position = 0;
    CHECK_THROWS_WITH(backend_under_test().rotary({1, 1, 3, {x, ElementType::fp32, 3}, &position, x}, {}),
                      "rotary embedding: head_dim is odd");
}

}  // namespace kernel_rotary_test
