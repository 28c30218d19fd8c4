// Latent attention within a window: what a pass reads, computes and keeps is that of the window, by hand and against the same
// layer without one.
#include <catch2/catch.hpp>

#include "setups.h"
#include "sim/drafters/drafter.h"
#include "sim/layers/layers.h"
#include "sim/operations.h"

namespace windowed_latents_test {

using namespace treeline;
using namespace treeline::sim;

namespace {

/// Four heads over latents of 6 and rotary keys of 2, within 8 tokens.
LatentAttention windowed() {
    LatentAttention attention;
    attention.heads = 4;
    attention.kv_lora_rank = 6;
    attention.nope_dim = 3;
    attention.rope_dim = 2;
    attention.value_dim = 5;
    attention.reach.window = 8.0;
    return attention;
}

Operation scores_of(const LatentAttention& attention, PassKind pass) {
    LayerContext context;
    context.width = 7.0;
    context.precision = checkpoint_precision(NumberFormat::bf16, NumberFormat::bf16);
    context.pass = pass;
    context.layer = "layer";
    std::vector<Operation> operations;
    append(attention, context, operations);
    for (const Operation& operation : operations) {
        if (operation.name == "layer: latent attention") {
            return operation;
        }
    }
    FAIL("no attention");
    return {};
}

}  // namespace

TEST_CASE("a window bounds what latent attention reads and computes") {
    const Operation scores = scores_of(windowed(), PassKind::decode);
    // 16 bits of latent and rotary key; scores against both, outputs of the latent.
    CHECK(scores.bytes.per_context == Bytes(2.0 * (6 + 2)));
    CHECK(scores.flops.per_visible == Flops(2.0 * 4 * ((6 + 2) + 6)));
    // Two sequences of 3 new tokens: of 100 cached tokens 8 are read, and each new token sees 8. Each is written (16 bytes),
    // its four queries and outputs of 6 elements go in and out.
    const ShapeTerms far = terms_of({2.0, 3.0, 100.0}), near = terms_of({2.0, 3.0, 5.0});
    CHECK(flops_of<true>(scores, far) == Flops(112.0 * 2 * 3 * 8));
    CHECK(bytes_of<true, false>(scores, far) == Bytes(2 * 8 * 16.0 + 2 * 3 * (16.0 + 2 * 2 * 4 * 6)));
    // Of 5 cached tokens all are read, and the new ones see 6, 7 and 8.
    CHECK(flops_of<true>(scores, near) == Flops(112.0 * 2 * (6 + 7 + 8)));
    LatentAttention everything = windowed();
    everything.reach = {};
    CHECK(flops_of<true>(scores_of(everything, PassKind::decode), far) == Flops(112.0 * 2 * (101 + 102 + 103)));
    // A prompt of 20 tokens, expanded: the first eight see 1 to 8, the others 8.
    CHECK(flops_of<true>(scores_of(windowed(), PassKind::prefill), terms_of({1.0, 20.0, 0.0})) ==
          Flops(2.0 * 4 * (3 + 2 + 5) * (36 + 12 * 8)));
}

TEST_CASE("a sparse attention reads its picks and keeps everything") {
    LatentAttention sparse = windowed();
    sparse.reach = {};
    sparse.indexer = SparseIndexer{2, 4, 16.0, 1.0};
    const Operation scores = scores_of(sparse, PassKind::decode);
    CHECK(scores.reach.window == 16.0);
    REQUIRE(scores.keeps);
    CHECK(*scores.keeps == ContextReach{});
    // DeepSeek-V3.2: 61 layers of a latent of 576 elements of 16 bits and an index key of 128 bytes, at any context.
    const Model model = treeline::testing::model("deepseek-v3.2");
    double bytes = 0.0;
    for (const CacheTerm& cache : caches_of(model, uniform_precision(NumberFormat::bf16), 1.0)) {
        bytes += cached_bytes(cache, 100000.0).value();
    }
    CHECK(bytes == Approx(100000.0 * 61 * (2 * 576 + 128)));
}

TEST_CASE("a drafter that cuts its cache cuts latents, too, but for layers with a window of their own") {
    Model model;
    model.kinds = {{"all", {{windowed()}}}, {"window", {{windowed()}}}};
    std::get<LatentAttention>(model.kinds[0].blocks[0].kind).reach = {};
    const Model cut = with_reach(model, {4.0, 1.0, 1.0});
    CHECK(std::get<LatentAttention>(cut.kinds[0].blocks[0].kind).reach == ContextReach{4.0, 1.0, 1.0});
    CHECK(std::get<LatentAttention>(cut.kinds[1].blocks[0].kind).reach == ContextReach{8.0, 0.0, 1.0});
}

TEST_CASE("a window of latents must be one") {
    const auto problems = [](double window) {
        Model model = treeline::testing::model("deepseek-v2-lite");
        for (LayerKind& kind : model.kinds) {
            for (Block& block : kind.blocks) {
                if (auto* latent = std::get_if<LatentAttention>(&block.kind)) {
                    latent->reach.window = window;
                }
            }
        }
        return problems_of(model);
    };
    CHECK(problems(1.0).empty());
    REQUIRE_FALSE(problems(0.0).empty());
    CHECK_THAT(problems(0.0).front(), Catch::Contains("reach.window must be at least 1 token"));
}

}  // namespace windowed_latents_test
