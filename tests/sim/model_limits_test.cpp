// Is every size of a model accepted at its limits and refused beyond them, by one sentence that names it?
#include <catch2/catch.hpp>

#include <limits>
#include <string>
#include <vector>

#include "sim/model.h"

namespace model_limits_test {

using namespace treeline;
using namespace treeline::sim;

namespace {

constexpr Count width = 1 << 20, heads = 1 << 14, table = 1 << 30;

/// Blocks of every kind without a fault; an entry or head for each thing that is compared.
template <class Kind>
Kind sound();
template <>
Attention sound() {
    Attention attention;
    attention.query_heads = attention.kv_heads = 1;
    attention.head_dim = 64;
    attention.indexer = SparseIndexer{1, 64, 16.0, 1.0};
    return attention;
}
template <>
LatentAttention sound() {
    return {1, 0, 64, 64, 0, 64, false, {}, {}};
}
template <>
CompressedAttention sound() {
    CompressedAttention attention;
    attention.heads = attention.head_dim = attention.q_lora_rank = attention.output_groups = attention.output_rank = 1;
    attention.window = 16;
    attention.compression = 4;
    attention.index_heads = attention.index_head_dim = 1;
    return attention;
}
template <>
Mamba1 sound() {
    return {64, 16, 4, 4, false};
}
template <>
Mamba2 sound() {
    Mamba2 mamba;
    mamba.heads = mamba.head_dim = 1;
    return mamba;
}
template <>
GatedDelta sound() {
    GatedDelta delta;
    delta.key_heads = delta.value_heads = 1;
    return delta;
}
template <>
Mlp sound() {
    return {64, true, false, 0};
}
template <>
MixtureOfExperts sound() {
    MixtureOfExperts mixture;
    mixture.experts = mixture.active = 1;
    mixture.hidden = 64;
    return mixture;
}
template <>
Projection sound() {
    return {64, 64, false};
}
template <>
LookupTable sound() {
    return {64, 64, 1};
}

Model with(BlockKind kind) {
    Model model;
    model.vocabulary = "words";
    model.vocabulary_size = 1000;
    model.width = 64;
    LayerKind layer;
    layer.name = "layer";
    layer.blocks = {{kind}};
    model.kinds = {layer};
    model.order = {0};
    return model;
}

/// What is wrong with a block of one kind after a change.
template <class Kind, class Change>
std::vector<std::string> wrong_with(Change change) {
    Kind kind = sound<Kind>();
    change(kind);
    return problems_of(with(kind));
}

/// A count of a block may be `least` to `most`, and the sentence about any other names it.
template <class Kind>
void check_count(const std::string& name, Count Kind::*count, Count least, Count most) {
    CAPTURE(name);
    const auto wrong = [&](Count value) { return wrong_with<Kind>([&](Kind& kind) { kind.*count = value; }); };
    const std::string range = name + " must lie between " + std::to_string(least) + " and " + std::to_string(most) + ", not ";
    for (const Count beyond : {least - 1, most + 1}) {
        const std::string sentence = "layer \"layer\", block 1: " + range + std::to_string(beyond);
        const std::vector<std::string> problems = wrong(beyond);
        CHECK(std::count(problems.begin(), problems.end(), sentence) == 1);
    }
    for (const Count within : {least, most}) {
        for (const std::string& problem : wrong(within)) {
            CHECK(problem.find(range) == std::string::npos);
        }
    }
}

}  // namespace

TEST_CASE("blocks of every kind without a fault are accepted") {
    for (const BlockKind& kind : std::vector<BlockKind>{
             sound<Attention>(), sound<LatentAttention>(), sound<CompressedAttention>(), sound<Mamba1>(), sound<Mamba2>(),
             sound<GatedDelta>(), sound<Mlp>(), sound<MixtureOfExperts>(), sound<Projection>(), sound<LookupTable>()}) {
        CAPTURE(kind.index());
        CHECK(problems_of(with(kind)).empty());
    }
}

TEST_CASE("each size of attention lies within its limits") {
    check_count("query_heads", &Attention::query_heads, 1, heads);
    check_count("kv_heads", &Attention::kv_heads, 1, heads);
    check_count("head_dim", &Attention::head_dim, 1, width);
    check_count("value_dim", &Attention::value_dim, 0, width);
    check_count("input_width", &Attention::input_width, 0, width);
    check_count("query_key_norm", &Attention::query_key_norm, 0, width);
    check_count("heads", &LatentAttention::heads, 1, heads);
    check_count("q_lora_rank", &LatentAttention::q_lora_rank, 0, width);
    check_count("kv_lora_rank", &LatentAttention::kv_lora_rank, 1, width);
    check_count("nope_dim", &LatentAttention::nope_dim, 1, width);
    check_count("rope_dim", &LatentAttention::rope_dim, 0, width);
    check_count("value_dim", &LatentAttention::value_dim, 1, width);
    check_count("heads", &CompressedAttention::heads, 1, heads);
    check_count("head_dim", &CompressedAttention::head_dim, 1, width);
    check_count("q_lora_rank", &CompressedAttention::q_lora_rank, 1, width);
    check_count("output_groups", &CompressedAttention::output_groups, 1, heads);
    check_count("output_rank", &CompressedAttention::output_rank, 1, width);
    check_count("window", &CompressedAttention::window, 1, width);
    check_count("compression", &CompressedAttention::compression, 0, width);
    check_count("series", &CompressedAttention::series, 1, 2);
}

TEST_CASE("each size of recurrent layers, networks and tables lies within its limits") {
    check_count("inner", &Mamba1::inner, 1, width);
    check_count("state", &Mamba1::state, 1, width);
    check_count("dt_rank", &Mamba1::dt_rank, 1, width);
    check_count("conv_width", &Mamba1::conv_width, 1, 64);
    check_count("heads", &Mamba2::heads, 1, heads);
    check_count("head_dim", &Mamba2::head_dim, 1, width);
    check_count("state", &Mamba2::state, 1, width);
    check_count("groups", &Mamba2::groups, 1, heads);
    check_count("conv_width", &Mamba2::conv_width, 1, 64);
    check_count("chunk", &Mamba2::chunk, 1, width);
    check_count("shared_width", &Mamba2::shared_width, 0, width);
    check_count("key_heads", &GatedDelta::key_heads, 1, heads);
    check_count("value_heads", &GatedDelta::value_heads, 1, heads);
    check_count("key_dim", &GatedDelta::key_dim, 1, width);
    check_count("value_dim", &GatedDelta::value_dim, 1, width);
    check_count("conv_width", &GatedDelta::conv_width, 1, 64);
    check_count("chunk", &GatedDelta::chunk, 1, width);
    check_count("decay_rank", &GatedDelta::decay_rank, 0, width);
    check_count("gate_rank", &GatedDelta::gate_rank, 0, width);
    check_count("hidden", &Mlp::hidden, 1, width);
    check_count("input_width", &Mlp::input_width, 0, width);
    check_count("experts", &MixtureOfExperts::experts, 1, heads);
    check_count("active", &MixtureOfExperts::active, 1, heads);
    check_count("hidden", &MixtureOfExperts::hidden, 1, width);
    check_count("shared_hidden", &MixtureOfExperts::shared_hidden, 0, width);
    check_count("latent", &MixtureOfExperts::latent, 0, width);
    check_count("in", &Projection::in, 1, width);
    check_count("out", &Projection::out, 1, width);
    check_count("rows", &LookupTable::rows, 1, table);
    check_count("width", &LookupTable::width, 1, width);
    check_count("lookups", &LookupTable::lookups, 1, 64);
}

TEST_CASE("heads are shared out evenly, and what belongs together is stated together") {
    const auto problems = [](auto change) { return wrong_with<Attention>(change).size(); };
    CHECK(problems([](Attention& a) { a.query_heads = 8, a.kv_heads = 2; }) == 0);
    CHECK(problems([](Attention& a) { a.query_heads = 8, a.kv_heads = 3; }) == 1);
    CHECK(problems([](Attention& a) { a.query_heads = 0, a.kv_heads = 3; }) == 1);  // one sentence, not a second of multiples
    CHECK(problems([](Attention& a) { a.query_heads = 8, a.kv_heads = 0; }) == 1);
    CHECK(wrong_with<Mamba2>([](Mamba2& m) { m.heads = 8, m.groups = 3; }).size() == 1);
    CHECK(wrong_with<Mamba2>([](Mamba2& m) { m.heads = 8, m.shared_width = 4; }).empty());
    CHECK(wrong_with<Mamba2>([](Mamba2& m) { m.heads = 8, m.shared_width = 3; }).size() == 1);
    CHECK(wrong_with<GatedDelta>([](GatedDelta& d) { d.value_heads = 8, d.key_heads = 3; }).size() == 1);
    CHECK(wrong_with<CompressedAttention>([](CompressedAttention& c) { c.heads = 8, c.output_groups = 3; }).size() == 1);
    CHECK(wrong_with<CompressedAttention>([](CompressedAttention& c) { c.index_heads = 0; }).size() == 1);
    CHECK(wrong_with<CompressedAttention>([](CompressedAttention& c) { c.index_heads = c.index_head_dim = 0; }).empty());
    CHECK(wrong_with<CompressedAttention>([](CompressedAttention& c) { c.compression = 0; }).size() == 1);
    CHECK(wrong_with<CompressedAttention>([](CompressedAttention& c) {
              c.compression = c.index_heads = c.index_head_dim = 0;
          }).empty());
    CHECK(wrong_with<CompressedAttention>([](CompressedAttention& c) { c.top_k = 1.0; }).empty());
    CHECK(wrong_with<CompressedAttention>([](CompressedAttention& c) { c.top_k = 0.9; }).size() == 1);
    CHECK(wrong_with<MixtureOfExperts>([](MixtureOfExperts& m) { m.experts = m.active = 8; }).empty());
    CHECK(wrong_with<MixtureOfExperts>([](MixtureOfExperts& m) { m.active = 2; }).size() == 1);
    CHECK(wrong_with<MixtureOfExperts>([](MixtureOfExperts& m) { m.experts = 0; }).size() == 1);  // that says it all
    CHECK(wrong_with<MixtureOfExperts>([](MixtureOfExperts& m) { m.shared_gate = true; }).size() == 1);
    CHECK(wrong_with<MixtureOfExperts>([](MixtureOfExperts& m) { m.shared_gate = true, m.shared_hidden = 1; }).empty());
}

TEST_CASE("what attention reads of its cache is a number of tokens, or a share") {
    const auto reach = [](auto change) { return wrong_with<Attention>([&](Attention& a) { change(a.reach); }).size(); };
    CHECK(reach([](ContextReach& r) { r.window = 1.0; }) == 0);
    CHECK(reach([](ContextReach& r) { r.window = 0.9; }) == 1);
    CHECK(reach([](ContextReach& r) { r.sink = 0.0; }) == 0);
    CHECK(reach([](ContextReach& r) { r.sink = -1.0; }) == 1);
    CHECK(reach([](ContextReach& r) { r.sink = unlimited; }) == 1);
    CHECK(reach([](ContextReach& r) { r.scale = 1e-9; }) == 0);
    CHECK(reach([](ContextReach& r) { r.scale = 0.0; }) == 1);
    CHECK(reach([](ContextReach& r) { r.scale = 1.01; }) == 1);
    const auto indexer = [](auto change) { return wrong_with<Attention>([&](Attention& a) { change(*a.indexer); }).size(); };
    CHECK(indexer([](SparseIndexer& i) { i.heads = i.head_dim = 0; }) == 0);
    CHECK(indexer([](SparseIndexer& i) { i.heads = 0; }) == 1);
    CHECK(indexer([](SparseIndexer& i) { i.head_dim = 0; }) == 1);
    CHECK(indexer([](SparseIndexer& i) { i.heads = heads; }) == 0);
    CHECK(indexer([](SparseIndexer& i) { i.heads = heads + 1; }) == 1);
    CHECK(indexer([](SparseIndexer& i) { i.head_dim = width + 1; }) == 1);
    CHECK(indexer([](SparseIndexer& i) { i.top_k = 1.0; }) == 0);
    CHECK(indexer([](SparseIndexer& i) { i.top_k = 0.9; }) == 1);
    CHECK(indexer([](SparseIndexer& i) { i.tokens_per_key = 0.9; }) == 1);
    CHECK(indexer([](SparseIndexer& i) { i.tokens_per_key = unlimited; }) == 1);
}

TEST_CASE("a model's own sizes, layers and norms lie within their limits") {
    const auto wrong = [](auto change) {
        Model model = with(sound<Mlp>());
        change(model);
        return problems_of(model).size();
    };
    CHECK(wrong([](Model&) {}) == 0);
    CHECK(wrong([](Model& m) { m.vocabulary.clear(); }) == 1);
    for (const Count size : {Count(1), Count(1) << 24}) {
        CHECK(wrong([&](Model& m) { m.vocabulary_size = size; }) == 0);
    }
    CHECK(wrong([](Model& m) { m.vocabulary_size = 0; }) == 1);
    CHECK(wrong([](Model& m) { m.vocabulary_size = (1 << 24) + 1; }) == 1);
    CHECK(wrong([](Model& m) { m.width = width; }) == 0);
    CHECK(wrong([](Model& m) { m.width = width + 1; }) == 1);
    CHECK(wrong([](Model& m) { m.final_norm_vectors = 2; }) == 0);
    CHECK(wrong([](Model& m) { m.final_norm_vectors = 3; }) == 1);
    CHECK(wrong([](Model& m) { m.order.clear(); }) == 1);
    CHECK(wrong([](Model& m) { m.order.assign(10'000, 0); }) == 0);
    CHECK(wrong([](Model& m) { m.order.assign(10'001, 0); }) == 1);
    CHECK(wrong([](Model& m) { m.order = {1}; }) == 1);
    CHECK(wrong([](Model& m) { m.kinds.front().blocks.clear(); }) == 1);
    CHECK(wrong([](Model& m) { m.kinds.front().distinct_copies = -1; }) == 1);
    CHECK(wrong([](Model& m) { m.kinds.front().blocks.front().norms = 16; }) == 0);
    CHECK(wrong([](Model& m) { m.kinds.front().blocks.front().norms = 17; }) == 1);
    CHECK(wrong([](Model& m) { m.kinds.front().blocks.front().norm_vectors = 64; }) == 0);
    CHECK(wrong([](Model& m) { m.kinds.front().blocks.front().norm_vectors = 65; }) == 1);
    CHECK(wrong([](Model& m) { m.precision.weights.group_size = -1.0; }) == 1);
    Model twice = with(sound<Mlp>());
    twice.order = {0, 0, 0};
    CHECK(occurrences(twice, 0) == 3);
}

TEST_CASE("layers with a state, and layers that compress their cache, are told") {
    CHECK(has_recurrent_state(with(sound<Mamba1>())));
    CHECK(has_recurrent_state(with(sound<Mamba2>())));
    CHECK(has_recurrent_state(with(sound<GatedDelta>())));
    CHECK_FALSE(has_recurrent_state(with(sound<Attention>())));
    CHECK(compresses_cache(with(sound<CompressedAttention>())));
    CHECK_FALSE(compresses_cache(with(sound<Attention>())));
    // Two groups of 8 elements beside 3 heads of 4: 12 channels of x, 16 of B and of C
    Mamba2 block;
    block.heads = 3, block.head_dim = 4, block.groups = 2, block.state = 8;
    CHECK(block.inner() == 12);
    CHECK(block.conv_channels() == 12 + 16 + 16);
    CHECK(block.in_proj_width() == 12 + 44 + 3);
    block.shared_width = 6;
    CHECK(block.conv_channels() == 6 + 6 + 16);
    GatedDelta delta;
    delta.key_heads = 2, delta.value_heads = 4, delta.key_dim = 8, delta.value_dim = 16;
    CHECK(delta.conv_channels() == 2 * 16 + 64);
}

}  // namespace model_limits_test
