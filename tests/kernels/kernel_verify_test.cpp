// Do greedy and rejection verification accept what they should, and does sampling keep the target's distribution?
#include <catch2/catch.hpp>

#include <map>

#include "kernel_case.h"

namespace kernel_verify_test {

using namespace treeline;
using namespace treeline::testing;
using namespace treeline::kernels;

namespace {

/// Where a verification leaves its result, poisoned.
struct Result {
    Both<int> count, path, next_id;

    Result(int sequences, int levels)
        : count(std::vector<int>(std::size_t(sequences), -9)),
          path(std::vector<int>(std::size_t(sequences) * std::size_t(levels), -9)),
          next_id(std::vector<int>(std::size_t(sequences), -9)) {}
    Accepted on(Side side) { return {count.on(side), path.on(side), next_id.on(side)}; }
};

/// Sequences for which the device's result is that of the reference.
int agreements(Result& result, int levels) {
    const std::vector<int> count = result.count.from_device(), path = result.path.from_device(),
                           next = result.next_id.from_device();
    int same = 0;
    for (std::size_t i = 0; i < count.size(); ++i) {
        const auto at = static_cast<std::ptrdiff_t>(i) * levels;
        same += count[i] == result.count.host()[i] && next[i] == result.next_id.host()[i] &&
                        std::equal(path.begin() + at, path.begin() + at + levels, result.path.host().begin() + at)
                    ? 1
                    : 0;
    }
    return same;
}

}  // namespace

TEST_CASE("greedy verification walks the tree as the reference does") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    for (const sim::DraftTree& shape : test_trees(random)) {
        const ElementType type = random() % 2 == 0 ? ElementType::fp32 : ElementType::bf16;
        const int sequences = pick(random, {1, 5, 16}), tokens = shape.verified_tokens(), levels = shape.depth() + 1;
        const int vocabulary = pick(random, {7, 1000, 5000});
        const TreeOnBoth tree(shape);
        const InputRows logits(sequences * tokens, vocabulary, type, random, -4, 4);
        Both<int> ids(std::vector<int>(std::size_t(sequences * tokens), 0));
        Both<int> argmax(std::vector<int>(std::size_t(sequences * tokens), -9));
        Result result(sequences, levels);
        const auto run = [&](Side side, const Backend& backend) {
            backend.greedy_verification({sequences, vocabulary, tree.on(side), levels - 1, ids.on(side), logits.on(side),
                                         argmax.on(side), result.on(side)},
                                        {});
        };
        // Drafts that hit: the reference's argmax of the parent for about two children of three.
        run(Side::reference, reference_backend());
        for (int sequence = 0; sequence < sequences; ++sequence) {
            for (int token = 1; token < tokens; ++token) {
                const int best = argmax.host()[std::size_t(sequence * tokens + shape.parent(token))];
                ids.host()[std::size_t(sequence * tokens + token)] = random() % 3 > 0 ? best : (best + 1) % vocabulary;
            }
        }
        ids.to_device();
        run(Side::reference, reference_backend());
        run(Side::device, backend_under_test());
        INFO(tokens << " tokens, vocabulary " << vocabulary << ", " << name_of(type));
        CHECK(argmax.from_device() == argmax.host());
        CHECK(agreements(result, levels) == sequences);
    }
}

TEST_CASE("greedy verification by hand") {
    // Tree: 0 -> 1, 2; 2 -> 3. Argmax of token 0 is id 5, of 2 is 1, of 3 is 4. Drafts: 1 is 3 (wrong), 2 is 5, 3 is 1.
    const TreeOnBoth tree(sim::DraftTree::from_parents({0, 0, 2}));
    std::vector<float> logits(4 * 6, 0.0F);
    logits[5] = logits[6 * 1 + 2] = logits[6 * 2 + 1] = logits[6 * 3 + 4] = 1.0F;
    const Both<float> rows(logits);
    const Both<int> ids({0, 3, 5, 1});
    Both<int> argmax(std::vector<int>(4, -9));
    Result result(1, 3);
    backend_under_test().greedy_verification({1,
                                              6,
                                              tree.on(Side::device),
                                              2,
                                              ids.on(Side::device),
                                              {rows.on(Side::device), ElementType::fp32, 6},
                                              argmax.on(Side::device),
                                              result.on(Side::device)},
                                             {});
    CHECK(result.count.from_device() == std::vector<int>{2});
    CHECK(result.path.from_device() == std::vector<int>{0, 2, 3});
    CHECK(result.next_id.from_device() == std::vector<int>{4});
}

TEST_CASE("rejection verification agrees with the reference") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    int same = 0, all = 0;
    for (const sim::DraftTree& shape : test_trees(random)) {
        const int sequences = 16, tokens = shape.verified_tokens(), levels = shape.depth() + 1;
        const int vocabulary = pick(random, {5, 300, 3000});
        const TreeOnBoth tree(shape);
        const InputRows target(sequences * tokens, vocabulary, ElementType::fp32, random, -2, 2);
        const InputRows draft(sequences * tokens, vocabulary, ElementType::fp32, random, -2, 2);
        std::vector<int> drawn;
        for (int i = 0; i < sequences * tokens; ++i) {
            drawn.push_back(std::uniform_int_distribution<int>(0, vocabulary - 1)(random));
        }
        const Both<int> ids(drawn);
        const Both<float> uniform(random_floats(random, std::size_t(sequences * (tokens + 1)), 0, 0.999));
        Both<float> scratch(std::vector<float>(std::size_t(sequences * tokens * 4)));
        Result result(sequences, levels);
        const auto run = [&](Side side, const Backend& backend) {
            backend.rejection_verification({sequences, vocabulary, tree.on(side), levels - 1, ids.on(side), target.on(side),
                                            draft.on(side), 0.8F, uniform.on(side), scratch.on(side), result.on(side)},
                                           {});
        };
        run(Side::reference, reference_backend());
        run(Side::device, backend_under_test());
        same += agreements(result, levels);
        all += sequences;
    }
    // A uniform number within 1e-6 of a boundary may fall on either side: some 1e-6 * 3000 ids of 160 draws at the very most.
    CHECK(same >= all - 1);
}

TEST_CASE("rejection verification keeps the target's distribution, with one child and with several", "[many_blocks]") {
    // Four ids; p and q as below. Whatever q is, the first token produced must have distribution p.
    const std::vector<float> p = {0.5F, 0.1F, 0.15F, 0.25F}, q = {0.1F, 0.6F, 0.2F, 0.1F};
    std::mt19937_64 random(20240607);
    const int sequences = 20000;
    for (const int children : {1, 3}) {
        const TreeOnBoth tree(sim::build_tree(sim::BranchingShape{{children}}, {}));
        const int tokens = children + 1;
        std::vector<float> target, draft;
        std::vector<int> drawn;
        for (int sequence = 0; sequence < sequences; ++sequence) {
            for (int token = 0; token < tokens; ++token) {
                for (int id = 0; id < 4; ++id) {
                    target.push_back(std::log(p[std::size_t(id)]));
                    draft.push_back(std::log(q[std::size_t(id)]));
                }
                drawn.push_back(std::discrete_distribution<int>(q.begin(), q.end())(random));
            }
        }
        const Both<float> target_rows(target), draft_rows(draft);
        const Both<float> uniform(random_floats(random, std::size_t(sequences * (tokens + 1)), 0, 1));
        const Both<int> ids(drawn);
        Both<float> scratch(std::vector<float>(std::size_t(sequences * tokens * 4)));
        Result result(sequences, 2);
        backend_under_test().rejection_verification({sequences,
                                                     4,
                                                     tree.on(Side::device),
                                                     1,
                                                     ids.on(Side::device),
                                                     {target_rows.on(Side::device), ElementType::fp32, 4},
                                                     {draft_rows.on(Side::device), ElementType::fp32, 4},
                                                     1.0F,
                                                     uniform.on(Side::device),
                                                     scratch.on(Side::device),
                                                     result.on(Side::device)},
                                                    {});
        const std::vector<int> count = result.count.from_device(), path = result.path.from_device(),
                               next = result.next_id.from_device();
        std::vector<double> seen(4, 0.0);
        for (int sequence = 0; sequence < sequences; ++sequence) {
            const bool accepted = count[std::size_t(sequence)] > 0;
            const int id = accepted ? drawn[std::size_t(sequence * tokens + path[std::size_t(sequence * 2 + 1)])]
                                    : next[std::size_t(sequence)];
            seen[std::size_t(id)] += 1.0 / sequences;
        }
        for (std::size_t id = 0; id < 4; ++id) {
            // Five standard deviations of a share of 20,000: 5 sqrt(0.25 / 20000) = 0.018.
            INFO(children << " children, id " << id);
            CHECK(std::abs(seen[id] - p[id]) < 0.018);
        }
    }
}

TEST_CASE("the choices of a drafter are the largest logits in order, the lowest id of equal ones first") {
    const std::uint64_t seed = test_seed();
    INFO("TREELINE_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    for (const ElementType type : {ElementType::fp32, ElementType::bf16}) {
        for (const int vocabulary : {64, 1000, 5000}) {
            const int rows = pick(random, {1, 7, 30}), choices = pick(random, {1, 2, 8, 64});
            INFO(name_of(type) << ", " << choices << " of " << vocabulary);
            // bf16 has so few values between -1 and 1 that many logits are equal.
            const InputRows logits(rows, vocabulary, type, random, -1, 1);
            Both<int> ids(std::vector<int>(std::size_t(rows) * std::size_t(choices), -9));
            reference_backend().top_choices({rows, vocabulary, choices, logits.on(Side::reference), ids.on(Side::reference)},
                                            {});
            backend_under_test().top_choices({rows, vocabulary, choices, logits.on(Side::device), ids.on(Side::device)}, {});
            CHECK(ids.from_device() == ids.host());
        }
    }
    // 3 is the largest, 2 stands twice, and 1 at the first place.
    const Both<float> logits({1.0F, 2.0F, 0.0F, 2.0F, 3.0F, -1.0F});
    Both<int> ids(std::vector<int>(4, -9));
    backend_under_test().top_choices({1, 6, 4, {logits.on(Side::device), ElementType::fp32, 6}, ids.on(Side::device)}, {});
    CHECK(ids.from_device() == std::vector<int>{4, 1, 3, 0});
    CHECK_THROWS_WITH(
        backend_under_test().top_choices({1, 6, 7, {logits.on(Side::device), ElementType::fp32, 6}, ids.on(Side::device)}, {}),
        "top choices: more than 64 choices, or more than the vocabulary has");
}

}  // namespace kernel_verify_test
