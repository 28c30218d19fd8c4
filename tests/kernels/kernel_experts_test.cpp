// Do the kernels of a mixture of experts choose, group, multiply and sum as the reference does?
#include <catch2/catch.hpp>

#include <algorithm>

#include "kernel_case.h"

namespace kernel_experts_test {

using namespace treeline;
using namespace treeline::testing;
using namespace treeline::kernels;

namespace {

/// Random logits, and what a choice leaves on both sides.
struct ChoiceCase {
    int rows, experts, active;
    InputRows logits;
    Both<float> bias, weight;
    Both<int> present, slot, row_of_slot, first_slot;

    ChoiceCase(int of_rows, int of_experts, int of_active, std::mt19937_64& random)
        : rows(of_rows),
          experts(of_experts),
          active(of_active),
          logits(of_rows, of_experts, ElementType::fp32, random, -3, 3),
          bias(random_floats(random, std::size_t(of_experts), -1, 1)),
          weight(std::vector<float>(std::size_t(of_rows * of_active), -1.0F)),
          present(std::vector<int>(std::size_t(of_rows))),
          slot(std::vector<int>(std::size_t(of_rows * of_active), -2)),
          row_of_slot(std::vector<int>(std::size_t(of_rows * of_active), -2)),
          first_slot(std::vector<int>(std::size_t(of_experts + 1), -2)) {
        for (int& number : present.host()) {
            number = static_cast<int>(random() % 5) - 1;  // -1: visits none
        }
        present.to_device();
    }
    void run(const Backend& backend, Side side, bool biased, bool some_absent) {
        backend.expert_choice(
            {rows, experts, active, logits.on(side), biased ? bias.on(side) : nullptr, some_absent ? present.on(side) : nullptr,
             weight.on(side), slot.on(side), row_of_slot.on(side), first_slot.on(side)},
            {});
    }
    void run_both(bool biased, bool some_absent) {
        run(reference_backend(), Side::reference, biased, some_absent);
        run(backend_under_test(), Side::device, biased, some_absent);
    }
};

}  // namespace

TEST_CASE("rows are sent to the experts with the largest logits, and stand in the order of experts") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    for (const int rows : {1, 5, 64}) {
        for (const int experts : {1, 8, pick(random, {31, 60, 128}), 512}) {
            const int active = std::min(experts, pick(random, {1, 2, 8, 10}));
            ChoiceCase data(rows, experts, active, random);
            const bool some_absent = random() % 2 == 0;
            INFO(rows << " rows, " << active << " of " << experts << (some_absent ? ", some rows absent" : ""));
            data.run_both(random() % 2 == 0, some_absent);
            CHECK(data.slot.from_device() == data.slot.host());
            CHECK(data.first_slot.from_device() == data.first_slot.host());
            const std::vector<float> weight = data.weight.from_device();
            const std::vector<int> row_of_slot = data.row_of_slot.from_device();
            for (int place = 0; place < rows * active; ++place) {
                const int slot = data.slot.host()[std::size_t(place)];
                if (slot >= 0) {
                    CHECK(weight[std::size_t(place)] == Approx(data.weight.host()[std::size_t(place)]).epsilon(1e-5));
                    CHECK(row_of_slot[std::size_t(slot)] == place / active);
                }
            }
        }
    }
}

TEST_CASE("equal logits choose the lower number, and the weights of a row sum to 1") {
    const Both<float> logits({1.0F, 2.0F, 2.0F, 0.0F});
    std::mt19937_64 random(1);
    ChoiceCase data(1, 4, 3, random);
    backend_under_test().expert_choice({1,
                                        4,
                                        3,
                                        {logits.on(Side::device), ElementType::fp32, 4},
                                        nullptr,
                                        nullptr,
                                        data.weight.on(Side::device),
                                        data.slot.on(Side::device),
                                        data.row_of_slot.on(Side::device),
                                        data.first_slot.on(Side::device)},
                                       {});
    // Experts 1, 2 and 0 in this order stand in slots 1, 2 and 0; expert 3 has none. e^0 : e^0 : e^-1.
    CHECK(data.slot.from_device() == std::vector<int>{1, 2, 0});
    CHECK(data.first_slot.from_device() == std::vector<int>{0, 1, 2, 3, 3});
    const double total = 2.0 + std::exp(-1.0);
    const std::vector<float> weight = data.weight.from_device();
    CHECK(weight[0] == Approx(1.0 / total));
    CHECK(weight[1] == Approx(1.0 / total));
    CHECK(weight[2] == Approx(std::exp(-1.0) / total));
}

TEST_CASE("experts multiply the rows that visit them, and the sum weighs what they leave") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    for (const ElementType type : {ElementType::fp32, ElementType::bf16}) {
        for (const int rows : {1, 3, 40}) {
            const int experts = pick(random, {4, 16}), active = pick(random, {1, 2, 4});
            const int inputs = pick(random, {8, 68, 256}), outputs = pick(random, {1, 24, 130});
            ChoiceCase data(rows, experts, active, random);
            data.run_both(false, rows > 1);
            INFO(name_of(type) << ", " << rows << " rows, " << active << " of " << experts << ", " << inputs << " -> "
                               << outputs);
            const int slots = rows * active;
            const InputRows x(rows, inputs, type, random, -1, 1), of_slots(slots, inputs, type, random, -1, 1);
            const InputRows weight(experts * outputs, inputs, type, random, -1, 1);
            Output gathered(slots, outputs, type), in_place(slots, outputs, type);
            const InputRows left(slots, outputs, type, random, -1, 1), shared(rows, outputs, type, random, -1, 1);
            const InputRows shared_gate(rows, 1, type, random, -2, 2);
            Output sum(rows, outputs, type), with_shared(rows, outputs, type), with_gate(rows, outputs, type);
            for (const Side side : {Side::reference, Side::device}) {
                const Backend& backend = side == Side::reference ? reference_backend() : backend_under_test();
                backend.expert_linear({slots, experts, inputs, outputs, x.on(side), data.row_of_slot.on(side), weight.on(side),
                                       data.first_slot.on(side), gathered.on(side)},
                                      {});
                backend.expert_linear({slots, experts, inputs, outputs, of_slots.on(side), nullptr, weight.on(side),
                                       data.first_slot.on(side), in_place.on(side)},
                                      {});
                ExpertSum total{rows, outputs, active,      left.on(side), data.slot.on(side), data.weight.on(side),
                                {},   {},      sum.on(side)};
                backend.expert_sum(total, {});
                total.shared = shared.on(side);
                total.output = with_shared.on(side);
                backend.expert_sum(total, {});
                total.shared_gate = shared_gate.on(side);
                total.output = with_gate.on(side);
                backend.expert_sum(total, {});
            }
            CHECK(gathered.relative_error(typical_product(inputs)) < tolerance({type}));
            CHECK(in_place.relative_error(typical_product(inputs)) < tolerance({type}));
            CHECK(sum.relative_error(typical_product(active) / active) < tolerance({type}));
            CHECK(with_shared.relative_error(typical_product(active) / active) < tolerance({type}));
            CHECK(with_gate.relative_error(typical_product(active) / active) < tolerance({type}));
        }
    }
}

TEST_CASE("an impossible choice of experts is refused in a sentence") {
    std::mt19937_64 random(1);
    ChoiceCase data(1, 4, 3, random);
    data.active = 5;
    CHECK_THROWS_WITH(data.run(backend_under_test(), Side::device, false, false),
                      "expert choice: more experts are active than there are, or than 32");
    data.experts = 1025;
    CHECK_THROWS_WITH(data.run(backend_under_test(), Side::device, false, false),
                      "expert choice: there are more than 1024 experts");
}

}  // namespace kernel_experts_test
