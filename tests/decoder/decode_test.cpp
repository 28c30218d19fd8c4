// Does a decoder accept as often as it is told, report what it did, and refuse what has no kernel?
#include <catch2/catch.hpp>

#include <cmath>
#include <numeric>
#include <utility>

#include "decoder/decode_study.h"
#include "decoder/drafting.h"
#include "decoder/given_acceptance.h"
#include "decoder/phases.h"
#include "decoder_models.h"
#include "kernels/backend.h"
#include "numerics/random.h"
#include "sim/rollback/rollback.h"

namespace decode_test {

using namespace treeline;
using namespace treeline::testing;
using namespace treeline::decoder;

namespace {

DecodeSetup drafting_setup(const char* architecture) {
    DecodeSetup setup;
    setup.target = tiny_model(architecture);
    setup.drafter = SharedLayers{.layers = 1};
    setup.tree = chain_of(3);
    setup.rollback = sim::has_recurrent_state(setup.target) ? sim::Rollback::replay : sim::Rollback::truncate;
    setup.new_tokens = 20;
    return setup;
}

int rounds_of_sequences(const DecodeResult& result) {
    return std::accumulate(result.rounds_by_accepted.begin(), result.rounds_by_accepted.end(), 0);
}

}  // namespace

TEST_CASE("drafts are accepted as often as given, by position and by rank") {
    constexpr int rounds = 20'000;
    const auto frequencies = [](const sim::DraftTree& tree, const GivenAcceptance& given) {
        numerics::Random random(3);
        std::vector<double> share(std::size_t(tree.verified_tokens()), 0.0);
        for (int round = 0; round < rounds; ++round) {
            for (const int token : accepted_by_chance(tree, given, random)) {
                share[std::size_t(token)] += 1.0 / rounds;
            }
        }
        return share;
    };
    // Five standard deviations of a share of 1/2 in 20,000 rounds: 5 sqrt(1/4 / 20000) = 0.018.
    const std::vector<double> chain = frequencies(chain_of(3), {{0.8, 0.6, 0.1}, {}});
    CHECK(chain[0] == Approx(1.0));
    CHECK(chain[1] == Approx(0.8).margin(0.018));
    CHECK(chain[2] == Approx(0.6).margin(0.018));
    CHECK(chain[3] == Approx(0.1).margin(0.018));
    // Tokens 1, 2 under the root, 3 and 4 under 1: 0.5, 0.3, 0.5 * 0.5, 0.5 * 0.3.
    const std::vector<double> tree = frequencies(sim::DraftTree::from_parents({0, 0, 1, 1}), {{}, {0.5, 0.3}});
    CHECK(tree[1] == Approx(0.5).margin(0.018));
    CHECK(tree[2] == Approx(0.3).margin(0.018));
    CHECK(tree[3] == Approx(0.25).margin(0.018));
    CHECK(tree[4] == Approx(0.15).margin(0.018));
}

TEST_CASE("given acceptance runs with every verification and policy, whatever is drafted") {
    for (const sim::Verification verification : sim::all_verifications) {
        for (const sim::Rollback rollback : sim::rollbacks_for(tiny_model("hybrid"))) {
            if (!sim::rollback_problem(rollback, verification).empty()) {
                continue;
            }
            DecodeSetup setup = drafting_setup("hybrid");
            setup.tree = sim::DraftTree::from_parents({0, 0, 1, 1, 2});
            setup.verification = verification;
            setup.rollback = rollback;
            setup.given_acceptance = GivenAcceptance{{}, {0.0, 1.0}};  // always the second child, which only the root has twice
            setup.batch = 2;
            INFO(name_of(verification) << ", " << name_of(rollback));
            const DecodeResult result = decode(setup);
            // Root, its second child (2), whose only child has rank 1: one draft a round, so 2 tokens: 10 rounds of 2
            // sequences.
            CHECK(result.rounds_by_accepted == std::vector<int>{0, 20, 0});
            CHECK(result.rounds == 10);
            CHECK(result.accept_length() == 2.0);
        }
    }
}

TEST_CASE("a result holds every timed round, all tokens, and is the same again") {
    DecodeSetup setup = drafting_setup("hybrid");
    setup.batch = 3;
    const DecodeResult result = decode(setup), again = decode(setup);
    CHECK(result.tokens == again.tokens);
    CHECK(result.rounds == again.rounds);
    REQUIRE(result.tokens.size() == 3);
    for (const std::vector<int>& tokens : result.tokens) {
        CHECK(tokens.size() == 20);
        CHECK(std::all_of(tokens.begin(), tokens.end(), [](int id) { return id >= 0 && id < 96; }));
    }
    CHECK(result.tokens[0] != result.tokens[1]);  // each sequence has a prompt of its own
    const auto timed = static_cast<std::size_t>(result.rounds - setup.untimed_rounds);
    CHECK(result.seconds.round.size() == timed);
    CHECK(result.tokens_per_round.size() == timed);
    for (std::size_t round = 0; round < timed; ++round) {
        const PhaseSeconds& seconds = result.seconds;
        const double sum = seconds.draft[round] + seconds.verify[round] + seconds.accept[round] + seconds.rollback[round] +
                           seconds.host[round];
        CHECK(sum == Approx(seconds.round[round]));
        CHECK(seconds.verify[round] > 0.0);
        CHECK(seconds.draft[round] > 0.0);
    }
    CHECK(rounds_of_sequences(result) <= 3 * result.rounds);
    setup.seed = 2;
    CHECK(decode(setup).tokens != result.tokens);
}

TEST_CASE("tokens depend on more than the last one: else rolled-back states could be wrong unseen") {
    for (const char* architecture : all_architectures) {
        DecodeSetup setup = plain(drafting_setup(architecture));
        setup.new_tokens = 60;
        const std::vector<int> tokens = decode(setup).tokens.front();
        // Where a token decided alone what follows, each would always be followed by the same one.
        int repeats = 0, other_successor = 0;
        for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                repeats += tokens[i] == tokens[j] ? 1 : 0;
                other_successor += tokens[i] == tokens[j] && tokens[i + 1] != tokens[j + 1] ? 1 : 0;
            }
        }
        INFO(architecture << ": " << other_successor << " of " << repeats);
        CHECK(other_successor > 0);
    }
}

TEST_CASE("memory is what caches, states and weights take, and snapshots take more") {
    DecodeSetup setup = drafting_setup("mamba2");
    setup.verification = sim::Verification::unrolled;
    const DecodeResult replay = decode(setup);
    setup.rollback = sim::Rollback::snapshot;
    const DecodeResult snapshot = decode(setup);
    CHECK(replay.weight_bytes == snapshot.weight_bytes);
    // Four verified tokens keep a state each instead of one alone: 3 more of 4 heads * 16 * 16 floats in 4 layers.
    CHECK(snapshot.peak_bytes - replay.peak_bytes == std::size_t{3} * (4 * 16 * 16) * 4 * 4);
    // Embedding and head 2 * 96 * 48, four in-projections of 48 x (64 + 128 + 4) and out-projections of 64 x 48, in floats;
    // rows are padded and small vectors come on top.
    const std::size_t least = (2 * 96 * 48 + 4 * (48 * 196 + 64 * 48)) * sizeof(float);
    CHECK(replay.weight_bytes >= least);
    CHECK(replay.weight_bytes < 2 * least);
    DecodeSetup halved = setup;
    halved.elements = kernels::ElementType::bf16;
    CHECK(10 * decode(halved).weight_bytes < 7 * replay.weight_bytes);
}

TEST_CASE("a look-up continues the longest match, then the most recent one") {
    //                             0  1  2  3  4  5  6  7  8
    const std::vector<int> text = {1, 2, 3, 9, 2, 3, 7, 2, 3};
    CHECK(ngram_continuations(text, 3, 1) == std::vector<int>{7});                         // "2 3" at 4, 5 is the latest
    CHECK(ngram_continuations(text, 3, 3) == std::vector<int>{7, 9});                      // then that at 1, 2
    CHECK(ngram_continuations({1, 2, 3, 5, 3, 6, 2, 3}, 2, 2) == std::vector<int>{5, 6});  // two tokens match before one
    CHECK(ngram_continuations({1, 2}, 3, 4).empty());
    CHECK(ngram_continuations({4}, 3, 4).empty());
}

TEST_CASE("what has no kernel or makes no sense is refused in a sentence") {
    const auto problem = [](auto change) {
        DecodeSetup setup = drafting_setup("hybrid");
        change(setup);
        const std::vector<std::string> problems = problems_of(setup);
        CHECK_THROWS_AS(decode(setup), std::invalid_argument);
        return problems.empty() ? std::string() : problems.front();
    };
    CHECK(problems_of(drafting_setup("hybrid")).empty());
    CHECK(problem([](DecodeSetup& s) { s.rollback = sim::Rollback::joint; }) ==
          "'joint' cannot follow verification 'packed': it adds a row to rows that are padded on the left, and a packed tree "
          "has none");
    CHECK(problem([](DecodeSetup& s) { s.rollback = sim::Rollback::truncate; }) ==
          "rollback 'truncate' cannot serve tiny-hybrid, which has recurrent states");
    CHECK(problem([](DecodeSetup& s) { s.target = tiny_model("transformer"); }) ==
          "rollback 'replay' is for recurrent states, and tiny-transformer has none: use 'truncate'");
    CHECK(problem([](DecodeSetup& s) {
              s.rollback = sim::Rollback::snapshot;
              s.verification = sim::Verification::unrolled_chunk;
          }) ==
          "'snapshot' cannot follow verification 'unrolled-chunk': the chunk scan starts from the live state and returns the "
          "last one only");
    CHECK(problem([](DecodeSetup& s) { s.drafter = std::monostate{}; }) == "there are draft tokens, but no drafter");
    CHECK(problem([](DecodeSetup& s) { s.tree = sim::DraftTree(); }) == "there is a drafter, but no draft tokens");
    CHECK(problem([](DecodeSetup& s) { s.drafter = SharedLayers{.layers = 5}; }) ==
          "the drafter's number of layers is 5, but must be 1 to 4");
    CHECK(problem([](DecodeSetup& s) {
              s.target = tiny_model("latent");
              s.rollback = sim::Rollback::truncate;
              s.drafter = SharedLayers{.layers = 4, .window = 4};
          }) == "the drafter cannot have a window: latent attention has no kernel with one");
    CHECK(problem([](DecodeSetup& s) {
              sim::Model other = tiny_model("mamba2");
              other.vocabulary_size = 97;
              s.drafter = OwnModel{other};
          }) == "tiny-mamba2 and tiny-hybrid have vocabularies of different sizes");
    CHECK(problem([](DecodeSetup& s) {
              s.given_acceptance = GivenAcceptance{{0.5}, {}};
          }) == "acceptance is given for 1 positions, but drafts have 3");
    CHECK(problem([](DecodeSetup& s) { s.tree = sim::DraftTree::from_child_counts({65}); }) ==
          "a token has 65 children, but at most 64 (and no more than the vocabulary) can be chosen");
    CHECK(problem([](DecodeSetup& s) { s.batch = 0; }) == "the batch is 0, but must be 1 to 4096");
    CHECK(problem([](DecodeSetup& s) {
              s.target.kinds[0].blocks[0].kind = sim::Mamba1{.inner = 96, .state = 12, .dt_rank = 3};
          }) == "tiny-hybrid: Mamba (1) needs a state that is a power of 2 from 4 to 32, and a convolution of width 2 to 8");
    CHECK(problem([](DecodeSetup& s) { std::get<sim::Attention>(s.target.kinds[1].blocks[0].kind).learned_sinks = true; }) ==
          "tiny-hybrid: attention with learned sinks has no kernel");
}

TEST_CASE("a CUDA decoder says why it cannot run, or runs") {
    DecodeSetup setup = drafting_setup("hybrid");
    setup.device = decoder::DeviceKind::cuda;
    const kernels::CudaDevices found = kernels::available_devices();
    if (found.devices.empty()) {
        CHECK_THROWS_WITH(decode(setup), "CUDA cannot be used here: " + found.reason);
        return;
    }
    CHECK(decode(setup).tokens.front().size() == 20);
    setup.device_index = 1000;
    CHECK_THROWS_WITH(decode(setup), Catch::StartsWith("there is no CUDA device 1000"));
}

namespace {

/// Rounds of these seconds, of which each yields two tokens.
DecodeResult rounds_of(std::vector<double> seconds) {
    DecodeResult result;
    result.tokens_per_round.assign(seconds.size(), 2.0);
    result.rounds = static_cast<int>(seconds.size());
    result.seconds.round = std::move(seconds);
    return result;
}

}  // namespace

TEST_CASE("tokens/s are those of the median round: what else ran on the machine for a while counts for little") {
    const DecodeResult quiet = rounds_of({0.01, 0.01, 0.01, 0.01, 0.01}), busy = rounds_of({0.01, 0.01, 0.01, 0.01, 5.0});
    CHECK(quiet.tokens_per_second() == Approx(200.0));
    CHECK(busy.tokens_per_second() == Approx(200.0));
    DecodeAnswer answer;
    answer.decoded = busy;
    answer.plain = quiet;
    CHECK(answer.speedup() == Approx(1.0));
    CHECK(rounds_of({}).tokens_per_second() == 0.0);
    CHECK(rounds_of({0.01, 0.02, 0.03, 0.04, 0.05}).middle_half() == std::pair{0.02, 0.04});
}

TEST_CASE("runs are timed together, and by how much they scatter is known") {
    const DecodeResult one = together({rounds_of({0.01, 0.01, 0.01, 0.012})});
    CHECK(one.tokens_per_second_of_runs.size() == 1);
    CHECK(scatter_of(one) == Approx(0.05));  // the upper quartile is 10.5 ms
    const DecodeResult two = together({rounds_of({0.01, 0.01}), rounds_of({0.015, 0.015})});
    CHECK(two.rounds == 4);
    CHECK(two.seconds.round.size() == 4);
    CHECK(two.tokens_per_round.size() == 4);
    CHECK(two.tokens_per_second_of_runs.size() == 2);
    CHECK(scatter_of(two) == Approx(0.5));
    CHECK(two.tokens_per_second() == Approx(2.0 / 0.0125));
    CHECK(scatter_of(together({rounds_of({})})) == 0.0);
}

}  // namespace decode_test
