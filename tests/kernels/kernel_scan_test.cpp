// Do the scans compute the recurrence of the double reference, in every write mode, type and shape?
#include <catch2/catch.hpp>

#include <numeric>
#include <span>

#include "scan_case.h"

namespace kernel_scan_test {

using namespace treeline;
using namespace treeline::testing;
using namespace treeline::kernels;

namespace {

/// ||left - right|| / ||right||
double relative_difference(const std::vector<double>& left, const std::vector<double>& right) {
    double difference = 0.0, size = 0.0;
    for (std::size_t i = 0; i < left.size(); ++i) {
        difference += (left[i] - right[i]) * (left[i] - right[i]);
        size += right[i] * right[i];
    }
    return std::sqrt(difference / size);
}

/// Rows first, first + 1, … of a matrix with `width` columns.
std::vector<double> rows_of(const std::vector<double>& values, int width, std::int64_t first, int count) {
    return {values.begin() + first * width, values.begin() + (first + count) * width};
}

}  // namespace

TEST_CASE("the fused scan agrees with the reference, whatever it writes") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    for (const ElementType activation : {ElementType::fp32, ElementType::bf16}) {
        for (const ElementType state : {ElementType::fp32, ElementType::bf16}) {
            for (const int sequences : {1, pick(random, {2, 3, 5}), 64}) {
                for (const int tokens : {1, pick(random, {2, 3, 4, 5, 8})}) {
                    const ScanCase data(random_scan_shape(random, sequences, tokens), sequences * tokens, sequences, activation,
                                        state, random);
                    for (const StateWrite write : {StateWrite::none, StateWrite::final, StateWrite::every}) {
                        Output y = data.new_y();
                        Output written = data.new_states(write == StateWrite::every ? sequences * tokens : sequences);
                        reference_backend().scan(data.scan(Side::reference, &y, write, &written), {});
                        backend_under_test().scan(data.scan(Side::device, &y, write, &written), {});
                        INFO(name_of(activation) << " tokens, " << name_of(state) << " states, " << sequences << " x " << tokens
                                                 << " tokens, write " << static_cast<int>(write));
                        CHECK(y.relative_error() < data.allowed_error());
                        // With `none` nothing may be written: both sides are poison still.
                        CHECK((write == StateWrite::none ? std::isnan(written.device_values().front())
                                                         : written.relative_error() < data.allowed_error()));
                    }
                }
            }
        }
    }
}

TEST_CASE("softplus is the identity above 20") {
    std::mt19937_64 random(test_seed());
    ScanCase data({2, 3, 2, 64, 128, 1}, 6, 2, ElementType::fp32, ElementType::fp32, random);
    data.dt_bias.host() = {19.5F, 40.0F};  // around 20 and far above
    data.a.host() = {-0.01F, -0.02F};
    data.dt_bias.to_device();
    data.a.to_device();
    Output y = data.new_y();
    Output written = data.new_states(2);
    reference_backend().scan(data.scan(Side::reference, &y, StateWrite::final, &written), {});
    backend_under_test().scan(data.scan(Side::device, &y, StateWrite::final, &written), {});
    CHECK(y.relative_error() < 1e-5);
    CHECK(written.relative_error() < 1e-5);
}

TEST_CASE("sequences start from the states they name, end where they say, and overwrite their own state") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    const ScanCase data({4, 3, 2, 64, 128, 1}, 6, 5, ElementType::fp32, ElementType::fp32, random);
    // Sequence 1 takes two steps, sequence 3 none; two sequences read state 4.
    const Both<int> row_of({0, 2, 5, 1, 3, -1, 4, 4, 0, -1, -1, -1}), state_of({4, 0, -1, 2}), written_to({3, 1, 0, 2});
    Output y = data.new_y();
    Output written = data.new_states(4);
    const auto on = [&](Side side, States target, const int* to) {
        Scan scan = data.scan(side, &y, StateWrite::final, nullptr);
        scan.row_of = row_of.on(side);
        scan.state_of = state_of.on(side);
        scan.written = target;
        scan.written_to = to;
        return scan;
    };
    reference_backend().scan(
        on(Side::reference, {written.data(Side::reference), ElementType::fp64}, written_to.on(Side::reference)), {});
    backend_under_test().scan(on(Side::device, {written.data(Side::device), ElementType::fp32}, written_to.on(Side::device)),
                              {});
    CHECK(y.relative_error() < 1e-5);
    CHECK(written.relative_error() < 1e-5);

    SECTION("in place") {
        Output in_place = data.new_states(5);
        backend_under_test().upload(in_place.data(Side::device), data.states.data(Side::reference),
                                    std::size_t(5) * data.state_elements() * 4, {});
        const Both<int> own({4, 0, 1, 2});
        Scan scan = on(Side::device, {in_place.data(Side::device), ElementType::fp32}, own.on(Side::device));
        scan.initial = {in_place.data(Side::device), ElementType::fp32};
        scan.state_of = own.on(Side::device);
        backend_under_test().scan(scan, {});
        // Sequences 0, 1 and 3 read the same states as above and left their results in places 3, 1 and 2 there.
        const std::vector<double> values = in_place.device_values(), apart = written.device_values();
        CHECK(rows_of(values, data.state_elements(), 4, 1) == rows_of(apart, data.state_elements(), 3, 1));
        CHECK(rows_of(values, data.state_elements(), 0, 1) == rows_of(apart, data.state_elements(), 1, 1));
        CHECK(rows_of(values, data.state_elements(), 2, 1) == rows_of(apart, data.state_elements(), 2, 1));
    }
}

TEST_CASE("the tree scan agrees with the reference on chains, combs, full trees, published and random ones") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    for (const sim::DraftTree& shape : test_trees(random)) {
        const TreeOnBoth tree(shape);
        const int tokens = shape.verified_tokens();
        for (const ElementType activation : {ElementType::fp32, ElementType::bf16}) {
            const ElementType state = random() % 2 == 0 ? ElementType::fp32 : ElementType::bf16;
            const int sequences = tokens < 20 ? pick(random, {1, 3, 16, 64}) : pick(random, {1, 2, 4});
            const ScanCase data(random_scan_shape(random, sequences, tokens), sequences * tokens, sequences, activation, state,
                                random);
            Output y = data.new_y();
            reference_backend().tree_scan(data.tree_scan(Side::reference, tree, y), {});
            backend_under_test().tree_scan(data.tree_scan(Side::device, tree, y), {});
            INFO(tokens << " tokens, " << sequences << " sequences, " << name_of(activation) << ", state " << name_of(state));
            CHECK(y.relative_error() < data.allowed_error());
        }
    }
}

TEST_CASE("the chunk scan agrees with the reference's recurrence, in chunks of every size and from states that are replaced") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    for (const ElementType activation : {ElementType::fp32, ElementType::bf16}) {
        for (const ElementType state : {ElementType::fp32, ElementType::bf16}) {
            for (const auto& [chunk, chunks] :
                 {std::pair{64, pick(random, {1, 3})}, std::pair{pick(random, {128, 192, 256}), 2}}) {
                const int sequences = pick(random, {1, 2}), tokens = chunk * chunks;
                const ScanCase data(random_scan_shape(random, sequences, tokens), sequences * tokens, sequences, activation,
                                    state, random, pick(random, {3, 16}));
                const TreeOnBoth chain(sim::build_tree(sim::ChainShape{chunk - 1}, sim::RankAcceptance{}));
                const std::size_t floats = chunk_scan_scratch_floats(data.shape, chunk);
                const Both<float> scratch(std::vector<float>(floats, std::numeric_limits<float>::quiet_NaN()));
                Output y = data.new_y(), written = data.new_states(sequences);
                const auto run = [&](Side side, const Backend& backend) {
                    ChunkScan scan{data.shape,
                                   data.tokens(side),
                                   chain.on(side),
                                   data.initial(side),
                                   y.on(side),
                                   {written.data(side), written.type(side)},
                                   const_cast<float*>(scratch.on(side))};
                    backend.chunk_scan(scan, {});
                };
                run(Side::reference, reference_backend());
                run(Side::device, backend_under_test());
                INFO(name_of(activation) << " tokens, " << name_of(state) << " states, " << sequences << " x " << chunks
                                         << " chunks of " << chunk);
                CHECK(y.relative_error() < data.allowed_error());
                CHECK(written.relative_error() < data.allowed_error());
            }
        }
    }
    std::mt19937_64 any(1);
    const ScanCase data({1, 64, 1, 64, 64, 1}, 64, 1, ElementType::fp32, ElementType::fp32, any);
    Output y = data.new_y(), written = data.new_states(1);
    const TreeOnBoth short_chain(sim::build_tree(sim::ChainShape{31}, sim::RankAcceptance{}));
    const ChunkScan scan{data.shape,
                         data.tokens(Side::reference),
                         short_chain.on(Side::reference),
                         data.initial(Side::reference),
                         y.on(Side::reference),
                         {written.data(Side::reference), ElementType::fp64},
                         reinterpret_cast<float*>(y.data(Side::reference))};
    CHECK_THROWS_AS(reference_backend().chunk_scan(scan, {}), std::invalid_argument);
}

TEST_CASE("scans take every shape that is allowed, many heads in turns, and rows that are not aligned") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    // Several tiles of tokens, channels and state columns, none of them full. The last has heads enough for a block of the CUDA
    // kernel to go through three of them, and of each group's 11 the last through two.
    for (const ScanShape shape :
         {ScanShape{1, 150, 2, 16, 48, 1}, ScanShape{1, 70, 3, 128, 256, 1}, ScanShape{2, 20, 6, 80, 144, 2},
          ScanShape{2, 3, 7, 48, 16, 7}, ScanShape{50, 3, 22, 16, 144, 2}}) {
        std::vector<int> parents;
        for (int i = 0; i + 1 < shape.tokens; ++i) {
            parents.push_back(std::uniform_int_distribution<int>(0, i)(random));
        }
        const TreeOnBoth tree(sim::DraftTree::from_parents(parents));
        const ElementType any[] = {ElementType::fp32, ElementType::bf16};
        for (const ElementType activation : shape.sequences < 50 ? std::span(any) : std::span(any).subspan(random() % 2, 1)) {
            const ElementType state = any[random() % 2];
            const int gap = pick(random, {3, 16});
            const ScanCase data(shape, shape.sequences * shape.tokens, shape.sequences, activation, state, random, gap);
            INFO(shape.sequences << " x " << shape.tokens << " tokens, " << shape.heads << " heads of " << shape.head_dim
                                 << " x " << shape.state_size << ", " << name_of(activation) << ", state " << name_of(state)
                                 << ", gap " << gap);
            Output of_tree = data.new_y(), of_chain = data.new_y();
            for (const Side side : {Side::reference, Side::device}) {
                const Backend& backend = side == Side::reference ? reference_backend() : backend_under_test();
                backend.tree_scan(data.tree_scan(side, tree, of_tree), {});
                backend.scan(data.scan(side, &of_chain, StateWrite::none, nullptr), {});
            }
            CHECK(of_tree.relative_error() < data.allowed_error());
            CHECK(of_chain.relative_error() < data.allowed_error());
        }
    }
}

TEST_CASE("the tree scan of a chain is the fused scan") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    const TreeOnBoth chain(sim::build_tree(sim::ChainShape{11}, {}));
    const ScanCase data({3, 12, 4, 64, 128, 2}, 36, 3, ElementType::fp32, ElementType::fp32, random);
    Output of_tree = data.new_y(), of_chain = data.new_y();
    backend_under_test().tree_scan(data.tree_scan(Side::device, chain, of_tree), {});
    backend_under_test().scan(data.scan(Side::device, &of_chain, StateWrite::none, nullptr), {});
    CHECK(relative_difference(of_tree.device_values(), of_chain.device_values()) < 1e-5);
}

TEST_CASE("decays that vanish leave no NaN in the tree scan") {
    // exp(A dt) is about e^-400 a token: e^{L_i - L_j} underflows along paths and would overflow against them.
    std::mt19937_64 random(test_seed());
    const TreeOnBoth tree(sim::build_tree(sim::BinaryShape{5}, {}));
    ScanCase data({1, 31, 1, 64, 128, 1}, 31, 1, ElementType::fp32, ElementType::fp32, random);
    data.a.host() = {-20.0F};
    data.dt_bias.host() = {20.0F};
    data.a.to_device();
    data.dt_bias.to_device();
    Output y = data.new_y();
    reference_backend().tree_scan(data.tree_scan(Side::reference, tree, y), {});
    backend_under_test().tree_scan(data.tree_scan(Side::device, tree, y), {});
    CHECK(y.relative_error() < 1e-5);
}

TEST_CASE("the tokens of a tree may lie anywhere, and several of its tokens in one row") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    const TreeOnBoth tree(sim::build_tree(sim::BranchingShape{{2, 2}}, {}));  // 7 tokens
    for (const ElementType type : {ElementType::fp32, ElementType::bf16}) {
        const ScanCase data({2, 7, 2, 64, 32, 1}, 9, 2, type, type, random);
        const Both<int> row_of({8, 3, 3, 0, 1, 7, 5, 2, 2, 2, 6, 4, 8, 0});
        Output y = data.new_y();
        for (const Side side : {Side::reference, Side::device}) {
            TreeScan scan = data.tree_scan(side, tree, y);
            scan.row_of = row_of.on(side);
            (side == Side::reference ? reference_backend() : backend_under_test()).tree_scan(scan, {});
        }
        CHECK(y.relative_error() < data.allowed_error());
    }
}

TEST_CASE("the unrolled scan gives the packed scan's outputs, path by path") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    const sim::DraftTree shape = sim::build_tree(sim::BranchingShape{{2, 3, 1}}, {});
    const std::vector<std::vector<int>> paths = shape.unrolled().paths;
    const int tokens = shape.verified_tokens(), steps = shape.depth() + 1, leaves = shape.leaves(), batch = 2;
    const ScanCase packed({batch, tokens, 2, 64, 128, 1}, batch * tokens, batch, ElementType::fp32, ElementType::fp32, random);
    std::vector<int> rows, states;
    for (int sequence = 0; sequence < batch; ++sequence) {
        for (const std::vector<int>& path : paths) {
            states.push_back(sequence);
            for (const int token : path) {
                rows.push_back(sequence * tokens + token);
            }
        }
    }
    const Both<int> row_of(rows), state_of(states);
    Output of_tree = packed.new_y();
    Output of_paths(batch * leaves * steps, 2 * 64, ElementType::fp32);
    const TreeOnBoth tree(shape);
    backend_under_test().tree_scan(packed.tree_scan(Side::device, tree, of_tree), {});
    Scan scan = packed.scan(Side::device, &of_paths, StateWrite::none, nullptr);
    scan.shape.sequences = batch * leaves;
    scan.shape.tokens = steps;
    scan.row_of = row_of.on(Side::device);
    scan.state_of = state_of.on(Side::device);
    backend_under_test().scan(scan, {});
    const std::vector<double> tree_y = of_tree.device_values(), path_y = of_paths.device_values();
    for (std::size_t step = 0; step < rows.size(); ++step) {
        CHECK(relative_difference(rows_of(path_y, 128, std::int64_t(step), 1), rows_of(tree_y, 128, rows[step], 1)) < 1e-5);
    }
}

TEST_CASE("replaying the accepted tokens of a tree gives the state of a direct run over them") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    const sim::DraftTree shape = sim::build_tree(sim::BinaryShape{5}, {});
    const int tokens = shape.verified_tokens(), steps = shape.depth() + 1;
    for (const ElementType state : {ElementType::fp32, ElementType::bf16}) {
        const ScanCase data({2, tokens, 3, 64, 128, 1}, 2 * tokens, 2, ElementType::fp32, state, random);
        // Sequence 0 accepts three drafts of a random path, sequence 1 the root alone.
        const std::vector<std::vector<int>> paths = shape.unrolled().paths;
        const std::vector<int>& path = paths[random() % paths.size()];
        const Both<int> row_of({path[0], path[1], path[2], path[3], -1, tokens, -1, -1, -1, -1});
        Output replayed = data.new_states(2), direct = data.new_states(2), every = data.new_states(2 * steps);
        const auto along_path = [&](Side side, Output* y, StateWrite write, Output& written) {
            Scan scan = data.scan(side, y, write, &written);
            scan.shape.tokens = steps;
            scan.row_of = row_of.on(side);
            return scan;
        };
        reference_backend().scan(along_path(Side::reference, nullptr, StateWrite::final, replayed), {});
        backend_under_test().scan(along_path(Side::device, nullptr, StateWrite::final, replayed), {});
        CHECK(replayed.relative_error() < data.allowed_error());

        Output y(2 * steps, 3 * 64, ElementType::fp32);
        backend_under_test().scan(along_path(Side::device, &y, StateWrite::final, direct), {});
        CHECK(relative_difference(replayed.device_values(), direct.device_values()) < data.allowed_error());

        // Writing every state and picking the accepted one is the same again.
        backend_under_test().scan(along_path(Side::device, &y, StateWrite::every, every), {});
        const std::vector<double> picked = rows_of(every.device_values(), data.state_elements(), 3, 1);
        CHECK(relative_difference(picked, rows_of(direct.device_values(), data.state_elements(), 0, 1)) < data.allowed_error());
    }
}

TEST_CASE("one step at a time gives the states and outputs of the fused scan") {
    std::mt19937_64 random(test_seed());
    const ScanCase data({2, 4, 2, 64, 128, 1}, 8, 2, ElementType::fp32, ElementType::fp32, random);
    Output y = data.new_y(), fused = data.new_states(2), stepped = data.new_states(2);
    backend_under_test().scan(data.scan(Side::device, &y, StateWrite::final, &fused), {});
    for (int step = 0; step < 4; ++step) {
        Output one_y(2, 128, ElementType::fp32);
        const Both<int> row_of({step, 4 + step});
        Scan scan = data.scan(Side::device, &one_y, StateWrite::final, &stepped);
        scan.shape.tokens = 1;
        scan.row_of = row_of.on(Side::device);
        if (step > 0) {
            scan.initial = {stepped.data(Side::device), ElementType::fp32};
        }
        backend_under_test().scan(scan, {});
        const std::vector<double> all = y.device_values(), one = one_y.device_values();
        for (int sequence = 0; sequence < 2; ++sequence) {
            CHECK(relative_difference(rows_of(one, 128, sequence, 1), rows_of(all, 128, sequence * 4 + step, 1)) < 1e-5);
        }
    }
    CHECK(relative_difference(stepped.device_values(), fused.device_values()) < 1e-5);
}

TEST_CASE("scans refuse arguments that contradict each other") {
    std::mt19937_64 random(1);
    const ScanCase data({1, 2, 2, 64, 128, 1}, 2, 1, ElementType::fp32, ElementType::fp32, random);
    Output y = data.new_y();
    Scan scan = data.scan(Side::device, &y, StateWrite::final, nullptr);
    CHECK_THROWS_WITH(backend_under_test().scan(scan, {}), "scan: there is no place for the states written");
    scan.write = StateWrite::none;
    scan.shape.groups = 3;
    CHECK_THROWS_WITH(backend_under_test().scan(scan, {}), "scan: the heads are not a multiple of the groups");
    scan.shape.groups = 1;
    scan.tokens.x.stride = 100;
    CHECK_THROWS_WITH(backend_under_test().scan(scan, {}), "scan: rows of x are 128 elements wide, but only 100 apart");
    CHECK_THROWS_WITH(backend_under_test().tree_scan(data.tree_scan(Side::device, TreeOnBoth(sim::DraftTree()), y), {}),
                      "tree scan: the shape and the tree differ in tokens");
}

}  // namespace kernel_scan_test
