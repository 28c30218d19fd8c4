// What keeps a setup from being priced, each sentence at the limit where it begins.
#include <catch2/catch.hpp>

#include <limits>
#include <string>
#include <vector>

#include "setups.h"

namespace setup_problems_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

using Sentences = std::vector<std::string>;

RoundSetup llama(double ranks = 1.0) {
    RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "ideal", ranks));
    setup.drafter = NgramDrafter{};
    setup.platform.device.name = "mine";
    setup.platform.device.interconnects = {{"fast", BytesPerSecond(2e11), {}, 8.0, ""},
                                           {"slow", BytesPerSecond(1e11), {}, 4.0, ""}};
    setup.platform.device.calibration.reset();
    return setup;
}

void set_heads(Model& target, int query_heads, int kv_heads) {
    for (LayerKind& kind : target.kinds) {
        for (Block& block : kind.blocks) {
            if (auto* attention = std::get_if<Attention>(&block.kind)) {
                attention->query_heads = query_heads;
                attention->kv_heads = kv_heads;
            }
        }
    }
}

}  // namespace

TEST_CASE("devices that share layers need a link that joins them") {
    RoundSetup setup = llama();
    setup.platform.device.interconnects.clear();
    CHECK(problems_of(setup).empty());
    setup.platform.ranks = 2.0;
    CHECK(problems_of(setup) == Sentences{"mine has no interconnect, so its layers cannot be shared by 2 devices"});
    setup.platform.interconnect = "wire";
    CHECK(problems_of(setup) ==
          Sentences{"mine has no interconnect named 'wire', so its layers cannot be shared by 2 devices"});
    setup = llama(2.0);
    CHECK(problems_of(setup).empty());
    setup.platform.interconnect = "wire";
    CHECK(problems_of(setup) ==
          Sentences{"mine has no interconnect named 'wire' (it has fast, slow), so its layers cannot be shared by 2 devices"});
    setup = llama(8.0);
    CHECK(problems_of(setup).empty());
    setup.platform.ranks = 16.0;
    CHECK(problems_of(setup) == Sentences{"mine has no interconnect that reaches so far, so its layers cannot be shared by 16 "
                                          "devices (fast joins 8, slow joins 4)"});
    setup.platform.interconnect = "slow";
    setup.platform.ranks = 8.0;
    CHECK(problems_of(setup) == Sentences{"mine has no interconnect that reaches so far, so its layers cannot be shared by 8 "
                                          "devices (slow joins 4)"});
    setup.platform.ranks = 4.0;
    CHECK(problems_of(setup).empty());
}

TEST_CASE("heads are shared evenly; heads of keys and values are shared or repeated, unless the engine divides them") {
    RoundSetup setup = llama(3.0);
    CHECK(problems_of(setup) == Sentences{"llama-3-8b has layers of 32 heads, which 3 devices cannot share evenly"});
    const auto refused = [&](bool divides, double ranks, int kv_heads) {
        setup.platform.stack.caches.divides_kv_heads = divides;
        setup.platform.ranks = ranks;
        set_heads(setup.target, 24, kv_heads);
        return problems_of(setup);
    };
    CHECK(refused(true, 3.0, 6).empty());
    CHECK(refused(true, 3.0, 1).empty());  // on each device
    CHECK(refused(true, 6.0, 3).empty());  // on two devices each
    CHECK(refused(true, 3.0, 8) ==
          Sentences{"llama-3-8b has layers of 8 key-value heads, which 3 devices cannot share evenly"});
    CHECK(refused(true, 6.0, 4) ==
          Sentences{"llama-3-8b has layers of 4 key-value heads, which 6 devices cannot share evenly"});
    CHECK(refused(false, 3.0, 8).empty());
    // Of several kinds the first is told.
    set_heads(setup.target, 25, 5);
    const LayerKind other = setup.target.kinds.front();
    set_heads(setup.target, 26, 2);
    setup.target.kinds.push_back(other);
    setup.target.order.back() = setup.target.kinds.size() - 1;
    CHECK(problems_of(setup) == Sentences{"llama-3-8b has layers of 26 heads, which 3 devices cannot share evenly"});
}

TEST_CASE("a prefix that all share is a number of tokens, no longer than the shortest prompt") {
    RoundSetup setup = llama();
    for (const double prefix : {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        setup.shared_prefix = prefix;
        CHECK(problems_of(setup) == Sentences{"shared_prefix must be a number of tokens"});
    }
    setup.prompt_tokens = 125.0;
    setup.prompt_lengths = {{200.0, 1.0}, {50.0, 1.0}};
    setup.shared_prefix = 50.0;
    CHECK(problems_of(setup).empty());
    setup.shared_prefix = 60.0;
    CHECK(problems_of(setup) == Sentences{"a shared_prefix of 60 tokens is longer than the shortest prompts, of 50"});
    setup.prompt_lengths.clear();
    CHECK(problems_of(setup).empty());
}

TEST_CASE("caches that another pool fills travel over a link that joins twice the devices") {
    RoundSetup setup = llama(4.0);
    setup.prompt_tokens = 100.0;
    const auto problems = [&](PrefillPolicy prefill, double output_tokens, double ranks) {
        setup.platform.stack.serving.prefill = prefill;
        setup.output_tokens = output_tokens;
        setup.platform.ranks = ranks;
        return problems_of(setup);
    };
    CHECK(problems(PrefillPolicy::disaggregated, 10.0, 4.0).empty());
    CHECK(problems(PrefillPolicy::disaggregated, 10.0, 8.0) ==
          Sentences{"with disaggregated prefill caches travel between devices, and mine states no link that joins 16 of them"});
    CHECK(problems(PrefillPolicy::disaggregated, 0.0, 8.0).empty());
    CHECK(problems(PrefillPolicy::mixed, 10.0, 8.0).empty());
    setup.platform.device.interconnects.clear();
    CHECK(problems(PrefillPolicy::disaggregated, 10.0, 1.0) ==
          Sentences{"with disaggregated prefill caches travel between devices, and mine states no link that joins 2 of them"});
    CHECK(problems(PrefillPolicy::mixed, 10.0, 1.0).empty());
}

TEST_CASE("the first shape is plain decoding, and the device computes in the model's format") {
    RoundSetup setup = llama();
    setup.speculations = {};
    CHECK(problems_of(setup) == Sentences{"the first shape must be plain decoding"});
    setup.speculations = {{ChainShape{1}, Verification::unrolled, "chain 1"}};
    CHECK(problems_of(setup) == Sentences{"the first shape must be plain decoding"});
    setup.speculations = chains_up_to(0);
    CHECK(problems_of(setup).empty());
    setup.rollback = Rollback::snapshot;
    CHECK(problems_of(setup) == Sentences{"llama-3-8b keeps no recurrent state, so 'snapshot' cannot be its rollback"});
    RoundSetup mamba = pair_setup("mamba2-2.7b", "mamba2-130m", platform("h100-sxm", "ideal"));
    mamba.rollback = Rollback::truncate;
    CHECK(problems_of(mamba) == Sentences{"mamba2-2.7b keeps a recurrent state, so 'truncate' cannot be its rollback"});
}

}  // namespace setup_problems_test
