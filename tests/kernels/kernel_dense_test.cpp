// Linear layers, norms, activations, row moves and probes against the reference.
#include <catch2/catch.hpp>

#include <numeric>

#include "kernel_case.h"

namespace kernel_dense_test {

using namespace treeline;
using namespace treeline::testing;
using namespace treeline::kernels;

TEST_CASE("linear layers agree with the reference for one row and many") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    for (const ElementType type : {ElementType::fp32, ElementType::bf16}) {
        for (const ElementType result : {ElementType::fp32, ElementType::bf16}) {
            if (type == ElementType::fp32 && result == ElementType::bf16) {
                continue;
            }
            for (const int rows : {1, 2, 3, 4, 5, pick(random, {8, 17, 64}), 200}) {
                const int inputs = pick(random, {64, 104, 512}), outputs = pick(random, {8, 64, 72, 328});
                const InputRows x(rows, inputs, type, random, -1, 1), weight(outputs, inputs, type, random, -1, 1);
                Output y(rows, outputs, result);
                reference_backend().linear(
                    {rows, inputs, outputs, x.on(Side::reference), weight.on(Side::reference), y.on(Side::reference)}, {});
                backend_under_test().linear(
                    {rows, inputs, outputs, x.on(Side::device), weight.on(Side::device), y.on(Side::device)}, {});
                INFO(name_of(type) << " to " << name_of(result) << ", " << rows << " x " << inputs << " -> " << outputs);
                CHECK(y.relative_error() < tolerance({type, result}));
            }
        }
    }
}

TEST_CASE("linear layers in fp8 and int8 agree with the reference on a device that has them") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    for (const auto& [type, result] :
         {std::pair{ElementType::fp8, ElementType::bf16}, std::pair{ElementType::fp8, ElementType::fp32},
          std::pair{ElementType::int8, ElementType::int32}}) {
        for (const int rows : {1, 3, pick(random, {17, 64})}) {
            const int inputs = pick(random, {64, 112, 512}), outputs = pick(random, {16, 64, 336});
            const double most = type == ElementType::int8 ? 100.0 : 1.0;
            const InputRows x(rows, inputs, type, random, -most, most), weight(outputs, inputs, type, random, -most, most);
            Output y(rows, outputs, result);
            reference_backend().linear(
                {rows, inputs, outputs, x.on(Side::reference), weight.on(Side::reference), y.on(Side::reference)}, {});
            const auto run = [&] {
                backend_under_test().linear(
                    {rows, inputs, outputs, x.on(Side::device), weight.on(Side::device), y.on(Side::device)}, {});
            };
            INFO(name_of(type) << " to " << name_of(result) << ", " << rows << " x " << inputs << " -> " << outputs);
            if (backend_under_test().name == "cpu") {
                CHECK_THROWS_AS(run(), std::invalid_argument);
                continue;
            }
            try {
                run();
            } catch (const KernelError& error) {
                WARN("not on this device: " << error.what());  // fp8 before Ada
                continue;
            }
            // Integers are exact; products of fp8 are summed less finely than in fp32 on some devices.
            CHECK(y.relative_error() <= (type == ElementType::int8 ? 0.0 : 2e-2));
        }
    }
}

TEST_CASE("fp8 is E4M3: every code is a number of its own, and numbers become the nearest") {
    CHECK(to_fp8(1.0F).bits == 0x38);
    CHECK(to_fp8(-448.0F).bits == 0xfe);
    CHECK(to_fp8(1e9F).bits == 0x7e);  // no infinity
    CHECK(to_fp8(0x1p-9F).bits == 0x01);
    CHECK(to_fp8(0x1p-10F).bits == 0x00);             // a tie, to even
    CHECK(to_fp8(0x3p-10F).bits == 0x02);             // likewise
    CHECK(to_fp8(0x1.fp-7F).bits == 0x08);            // up to the least normal number
    CHECK(to_fp8(17.0F).bits == to_fp8(16.0F).bits);  // between 16 and 18, to even
    CHECK(to_fp8(19.0F).bits == to_fp8(20.0F).bits);
    for (unsigned code = 0; code < 256; ++code) {
        const float value = to_float(Fp8{static_cast<std::uint8_t>(code)});
        const bool is_nan = (code & 0x7fU) == 0x7fU;
        CHECK((is_nan ? std::isnan(value) : to_fp8(value).bits == code));
    }
}

TEST_CASE("norms and the gated activation agree with the reference") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    for (const ElementType type : {ElementType::fp32, ElementType::bf16}) {
        for (const int rows : {1, 7, 64}) {
            const int groups = pick(random, {1, 2, 8}), width = groups * pick(random, {8, 96, 320});
            const InputRows x(rows, width, type, random, -2, 2), gate(rows, width, type, random, -4, 4);
            const Both<float> weight(random_floats(random, std::size_t(width), 0.5, 1.5));
            const auto on_both = [&](const auto& run) {
                run(Side::reference, reference_backend());
                run(Side::device, backend_under_test());
            };
            INFO(name_of(type) << ", " << rows << " x " << width << ", groups " << groups);

            Output plain(rows, width, type), added(rows, width, type), residual(rows, width, type, random, -2, 2);
            on_both([&](Side side, const Backend& backend) {
                backend.rms_norm({rows, width, x.on(side), {}, weight.on(side), 1e-5F, plain.on(side)}, {});
                backend.rms_norm({rows, width, x.on(side), residual.on(side), weight.on(side), 1e-5F, added.on(side)}, {});
            });
            CHECK(plain.relative_error() < tolerance({type}));
            CHECK(added.relative_error() < tolerance({type}));
            CHECK(residual.relative_error() < tolerance({type}));

            Output gated(rows, width, type), activated(rows, width, type);
            on_both([&](Side side, const Backend& backend) {
                backend.gated_rms_norm({rows, width, groups, x.on(side), gate.on(side), weight.on(side), 1e-5F, gated.on(side)},
                                       {});
                backend.gated_activation({rows, width, gate.on(side), x.on(side), activated.on(side)}, {});
            });
            CHECK(gated.relative_error() < tolerance({type}));
            CHECK(activated.relative_error() < tolerance({type}));
        }
    }
}

TEST_CASE("biases, LayerNorm, norms of heads and both kinds of gates agree with the reference, in place as well") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    for (const ElementType type : {ElementType::fp32, ElementType::bf16}) {
        const int rows = pick(random, {1, 7, 64}), heads = pick(random, {1, 4, 6}), width = heads * pick(random, {8, 64, 96});
        const InputRows x(rows, width, type, random, -1, 3), gate(rows, width, type, random, -4, 4);
        const Both<float> weight(random_floats(random, std::size_t(width), 0.5, 1.5));
        const Both<float> bias(random_floats(random, std::size_t(width), -1, 1));
        Output summed(rows, width, type, random, -1, 1), centred(rows, width, type), of_heads(rows, width, type, random, -1, 1);
        Output gated_after(rows, width, type), opened(rows, width, type, random, -1, 1);
        Output added(rows, width, type), residual(rows, width, type, random, -2, 2);
        for (const Side side : {Side::reference, Side::device}) {
            const Backend& backend = side == Side::reference ? reference_backend() : backend_under_test();
            const auto in_place = [&](Output& output) { return output.on(side); };
            backend.add_bias({rows, width, summed.on(side), bias.on(side)}, {});
            backend.rms_norm({rows, width, x.on(side), {}, weight.on(side), 1e-5F, centred.on(side), bias.on(side)}, {});
            backend.rms_norm(
                {rows, width, x.on(side), residual.on(side), weight.on(side), 1e-5F, added.on(side), bias.on(side)}, {});
            backend.gated_rms_norm({rows, width, heads, in_place(of_heads), {}, weight.on(side), 1e-6F, in_place(of_heads)},
                                   {});
            backend.gated_rms_norm(
                {rows, width, heads, x.on(side), gate.on(side), weight.on(side), 1e-6F, gated_after.on(side), true}, {});
            backend.gated_activation({rows, width, gate.on(side), in_place(opened), in_place(opened), GateFunction::sigmoid},
                                     {});
        }
        INFO(name_of(type) << ", " << rows << " x " << width << ", heads " << heads);
        CHECK(summed.relative_error() < tolerance({type}));
        CHECK(centred.relative_error() < tolerance({type}));
        CHECK(added.relative_error() < tolerance({type}));
        CHECK(residual.relative_error() < tolerance({type}));
        CHECK(of_heads.relative_error() < tolerance({type}));
        CHECK(gated_after.relative_error() < tolerance({type}));
        CHECK(opened.relative_error() < tolerance({type}));
    }
}

TEST_CASE("silu keeps its ends: no overflow for large gates of either sign") {
    // silu(-200) = -200 / (1 + e^200), about -3e-85: 0 in fp32; silu(200) = 200.
    const Both<float> gate({-200.0F, -88.0F, 0.0F, 200.0F}), up({1.0F, 1.0F, 1.0F, 1.0F});
    Output out(1, 4, ElementType::fp32);
    backend_under_test().gated_activation({1,
                                           4,
                                           {gate.on(Side::device), ElementType::fp32, 4},
                                           {up.on(Side::device), ElementType::fp32, 4},
                                           out.on(Side::device)},
                                          {});
    const std::vector<double> values = out.device_values();
    CHECK(std::abs(values[0]) < 1e-30);
    CHECK(std::abs(values[1]) < 1e-30);
    CHECK(values[2] == 0.0);
    CHECK(values[3] == 200.0);
}

TEST_CASE("rows move by index, and negative indices leave rows out") {
    std::mt19937_64 random(test_seed());
    for (const ElementType type : {ElementType::fp32, ElementType::bf16}) {
        const InputRows from(5, 40, type, random, -1, 1);
        const Both<int> from_row({4, 0, -1, 2}), to_row({1, -1, 0, 3});
        Output to(4, 40, type);
        // The reference writes the type of `from`, so its result is read off the host copy here.
        backend_under_test().gather_rows(
            {4, 40, from.on(Side::device), from_row.on(Side::device), to.on(Side::device), to_row.on(Side::device)}, {});
        Both<std::byte> expected(std::vector<std::byte>(std::size_t(4) * 40 * bytes_of(type), std::byte{0xff}));  // NaNs
        reference_backend().gather_rows({4,
                                         40,
                                         from.on(Side::reference),
                                         from_row.on(Side::reference),
                                         {expected.on(Side::reference), type, 40},
                                         to_row.on(Side::reference)},
                                        {});
        const std::vector<double> values = to.device_values();
        for (int i = 0; i < 160; ++i) {
            const bool written = i / 40 == 1 || i / 40 == 3;
            CHECK(std::isnan(values[std::size_t(i)]) != written);
            if (written && type == ElementType::fp32) {
                CHECK(values[std::size_t(i)] == reinterpret_cast<const float*>(expected.host().data())[i]);
            }
        }
    }
}

TEST_CASE("probes touch all of their memory and nothing else") {
    for (const std::size_t words : {std::size_t{4}, std::size_t{1000}, std::size_t{1} << 20}) {
        std::vector<unsigned> numbers(words);
        std::iota(numbers.begin(), numbers.end(), 7U);
        const Both<unsigned> from(numbers);
        Both<unsigned> to(std::vector<unsigned>(words + 4, 0xabU)), sum(std::vector<unsigned>{1U});
        backend_under_test().read_probe({from.on(Side::device), words * 4, sum.on(Side::device)}, {});
        CHECK(sum.from_device().front() == std::accumulate(numbers.begin(), numbers.end(), 0U));

        backend_under_test().copy_probe({to.on(Side::device), from.on(Side::device), words * 4}, {});
        std::vector<unsigned> copied = to.from_device();
        CHECK(std::equal(numbers.begin(), numbers.end(), copied.begin()));
        CHECK(std::count(copied.end() - 4, copied.end(), 0xabU) == 4);

        backend_under_test().write_probe({to.on(Side::device), words * 4, 0x12345678U}, {});
        copied = to.from_device();
        CHECK(std::count(copied.begin(), copied.end(), 0x12345678U) == static_cast<std::ptrdiff_t>(words));
        CHECK(std::count(copied.end() - 4, copied.end(), 0xabU) == 4);
    }
    backend_under_test().empty({});
    CHECK_THROWS_WITH(backend_under_test().write_probe({nullptr, 16, 0}, {}),
                      "write probe: needs memory of a multiple of 16 bytes");
}

TEST_CASE("bf16 rounds to nearest, ties to even") {
    // 1 + 2^-8 lies halfway between 1 and 1 + 2^-7, whose last bit is odd; 1 + 3 * 2^-8 between 1 + 2^-7 and 1 + 2^-6.
    CHECK(to_float(to_bf16(1.0F + 0x1p-8F)) == 1.0F);
    CHECK(to_float(to_bf16(1.0F + 3 * 0x1p-8F)) == 1.0F + 0x1p-6F);
    CHECK(to_float(to_bf16(1.0F + 0x1p-8F + 0x1p-20F)) == 1.0F + 0x1p-7F);
    CHECK(to_float(to_bf16(3.4e38F)) == std::numeric_limits<float>::infinity());
    CHECK(std::isnan(to_float(to_bf16(std::numeric_limits<float>::quiet_NaN()))));
}

}  // namespace kernel_dense_test
