// Do the scans by steps (Mamba (1), gated delta rule) agree with the reference, in every form that a decoder uses?
#include <catch2/catch.hpp>

#include "kernel_case.h"

namespace kernel_steps_test {

using namespace treeline;
using namespace treeline::testing;
using namespace treeline::kernels;

namespace {

/// Random tokens and states for one of the two scans.
class StepCase {
public:
    StepCase(int rows, int states, ElementType type, ElementType state_type, std::mt19937_64& random)
        : heads_(pick(random, {1, 2})),
          channels_(pick(random, {8, 60, 200})),
          size_(pick(random, {4, 8, 16, 32})),
          key_dim_(pick(random, {16, 64, 100})),
          value_dim_(pick(random, {4, 20, 64})),
          type_(type),
          state_type_(state_type),
          wide_(rows, most_width, type, random, -1, 1),
          steps_(rows, most_width, type, random, -4, 1),
          queries_(rows, most_width, type, random, -1, 1),
          // Of length 1, as the model makes them: else states of many tokens grow without bound.
          keys_(rows, most_width, type, random, -std::sqrt(3.0 / key_dim_), std::sqrt(3.0 / key_dim_)),
          values_(rows, most_width, type, random, -1, 1),
          states_(states, std::max(channel_elements(), delta_elements()), state_type, random, -1, 1, 0),
          a_(random_floats(random, std::size_t(channels_ * size_), -3, -0.1)),
          bias_(random_floats(random, std::size_t(channels_), -1, 1)),
          d_(random_floats(random, std::size_t(channels_), -1, 1)),
          gated_(random() % 2 == 0) {}

    [[nodiscard]] int channel_elements() const { return channels_ * size_; }
    [[nodiscard]] int delta_elements() const { return 2 * heads_ * value_dim_ * key_dim_; }

    /// `steps` without states, which are filled in; calls the scan of mamba (1) or of the delta rule.
    void run(bool delta, ScanSteps steps, Side side) const {
        const Backend& backend = side == Side::reference ? reference_backend() : backend_under_test();
        steps.initial = {states_.data(side), state_type_};
        if (delta) {
            backend.delta_scan({steps, heads_, 2 * heads_, key_dim_, value_dim_, queries_.on(side), keys_.on(side),
                                values_.on(side), wide_.on(side), steps_.on(side), a_.on(side), bias_.on(side)},
                               {});
        } else {
            backend.channel_scan({steps, channels_, size_, values_.on(side), steps_.on(side), keys_.on(side), queries_.on(side),
                                  gated_ ? wide_.on(side) : ConstRows{}, a_.on(side), bias_.on(side), d_.on(side)},
                                 {});
        }
    }
    [[nodiscard]] Output new_y(bool delta, int rows) const {
        return {rows, delta ? 2 * heads_ * value_dim_ : channels_, type_};
    }
    [[nodiscard]] Output new_states(bool delta, int count) const {
        return {count, delta ? delta_elements() : channel_elements(), state_type_};
    }
    [[nodiscard]] double allowed_error() const { return tolerance({type_, state_type_}); }

private:
    static constexpr int most_width = 256;
    int heads_, channels_, size_, key_dim_, value_dim_;
    ElementType type_, state_type_;
    InputRows wide_, steps_, queries_, keys_, values_, states_;
    Both<float> a_, bias_, d_;
    bool gated_;
};

ScanSteps steps_over(int sequences, int tokens) {
    ScanSteps steps;
    steps.sequences = sequences;
    steps.tokens = tokens;
    return steps;
}

States states_of(Output& output, Side side) { return {output.data(side), output.type(side)}; }

/// Calls use(delta, type, state type) for both scans and all types.
template <class Use>
void for_all(Use use) {
    for (const bool delta : {false, true}) {
        for (const ElementType type : {ElementType::fp32, ElementType::bf16}) {
            for (const ElementType state : {ElementType::fp32, ElementType::bf16}) {
                INFO((delta ? "delta rule, " : "Mamba (1), ") << name_of(type) << ", states " << name_of(state));
                use(delta, type, state);
            }
        }
    }
}

}  // namespace

TEST_CASE("scans by steps agree with the reference over chains, in every write mode") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    for_all([&](bool delta, ElementType type, ElementType state_type) {
        const int sequences = pick(random, {1, 3, 8}), tokens = pick(random, {1, 2, 7, 20});
        const StepCase data(sequences * tokens, sequences, type, state_type, random);
        for (const StateWrite write : {StateWrite::none, StateWrite::final, StateWrite::every}) {
            Output y = data.new_y(delta, sequences * tokens), written = data.new_states(delta, sequences * tokens);
            for (const Side side : {Side::reference, Side::device}) {
                ScanSteps steps = steps_over(sequences, tokens);
                steps.y = y.on(side);
                steps.write = write;
                steps.written = states_of(written, side);
                data.run(delta, steps, side);
            }
            INFO(sequences << " sequences of " << tokens << ", write mode " << static_cast<int>(write));
            CHECK(y.relative_error() < data.allowed_error());
            CHECK((write == StateWrite::none || written.relative_error() < data.allowed_error()));
        }
    });
}

TEST_CASE("scans by steps agree with the reference over trees") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    for (const sim::DraftTree& shape : test_trees(random)) {
        const TreeOnBoth tree(shape);
        const int sequences = 2, tokens = shape.verified_tokens();
        if (tokens > 190) {
            continue;  // more than a GPU's shared memory holds of the delta rule's states
        }
        for_all([&](bool delta, ElementType type, ElementType state_type) {
            const StepCase data(sequences * tokens, sequences, type, state_type, random);
            Output y = data.new_y(delta, sequences * tokens);
            for (const Side side : {Side::reference, Side::device}) {
                ScanSteps steps = steps_over(sequences, tokens);
                steps.tree = tree.on(side);
                steps.y = y.on(side);
                data.run(delta, steps, side);
            }
            INFO(tokens << " tokens");
            CHECK(y.relative_error() < data.allowed_error());
        });
    }
}

TEST_CASE("rows by index end sequences early, states are picked and put by index, and sequences can be left out") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    const Both<int> row_of({4, 1, 6, 0, -1, -1, 5, 2, -1, -1, 3, 3}), state_of({2, 0, -1, 2}), written_to({3, 0, 1, 2});
    for_all([&](bool delta, ElementType type, ElementType state_type) {
        const StepCase data(7, 3, type, state_type, random);
        Output y = data.new_y(delta, 12), written = data.new_states(delta, 4);
        for (const Side side : {Side::reference, Side::device}) {
            ScanSteps steps = steps_over(4, 3);
            steps.row_of = row_of.on(side);
            steps.state_of = state_of.on(side);
            steps.y = y.on(side);
            steps.write = StateWrite::final;
            steps.written = states_of(written, side);
            steps.written_to = written_to.on(side);
            data.run(delta, steps, side);
        }
        CHECK(y.relative_error() < data.allowed_error());  // unwritten rows on both sides, too
        CHECK(written.relative_error() < data.allowed_error());
    });
}

TEST_CASE("a scan by steps that makes no sense is refused in a sentence") {
    std::mt19937_64 random(1);
    const StepCase data(2, 1, ElementType::fp32, ElementType::fp32, random);
    CHECK_THROWS_WITH(data.run(false, steps_over(1, 2), Side::device), "channel scan: it would write nothing");
    CHECK_THROWS_WITH(data.run(true, steps_over(1, 2), Side::device), "delta scan: it would write nothing");
    ScanSteps steps = steps_over(1, 2);
    Output y = data.new_y(true, 2);
    steps.y = y.on(Side::device);
    const TreeOnBoth tree(sim::DraftTree::from_parents({0, 0}));
    steps.tree = tree.on(Side::device);
    CHECK_THROWS_WITH(data.run(true, steps, Side::device), "delta scan: the steps and the tree differ in tokens");
}

}  // namespace kernel_steps_test
