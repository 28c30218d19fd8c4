// Decoders to which no law is fitted: whole speculation rounds of small models, which the calibration alone must predict.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "decoder/decode.h"
#include "sim/enum_names.h"
#include "sim/precision.h"

namespace treeline::calibrate {

enum class DecoderFamily { transformer, mamba2, hybrid };
constexpr auto names_in(DecoderFamily) {
    using enum DecoderFamily;
    return enum_names<DecoderFamily>({{transformer, "transformer"}, {mamba2, "mamba2"}, {hybrid, "hybrid"}});
}

enum class HeldOutDrafter {
    none,         ///< plain decoding
    first_layer,  ///< the target's first layer under the target's head
    ngram,        ///< continuations of earlier occurrences
};
constexpr auto names_in(HeldOutDrafter) {
    using enum HeldOutDrafter;
    return enum_names<HeldOutDrafter>({{none, "none"}, {first_layer, "first-layer"}, {ngram, "n-gram"}});
}

/// One configuration. Each round accepts the same number of drafts, all of them first choices. Rounds are then alike, so that
/// their median means something, and their yield is known in advance.
struct HeldOutDecoder {
    DecoderFamily family = DecoderFamily::transformer;
    sim::NumberFormat format = sim::NumberFormat::fp32;  ///< of weights, activations, cache and state
    int batch = 1;
    int context = 256;  ///< of a sequence, in the middle of the rounds that are timed
    HeldOutDrafter drafter = HeldOutDrafter::none;
    std::vector<int> children;  ///< of each node, by level: {1, 1} is a chain of 2, {2, 2} a binary tree of 6 nodes
    sim::Verification verification = sim::Verification::packed;
    sim::Rollback rollback = sim::Rollback::truncate;
    int accepted = 0;  ///< drafts, in each round

    friend bool operator==(const HeldOutDecoder&, const HeldOutDecoder&) = default;
};

/// Every configuration for a device; those of one group are adjacent. Quick: a handful.
std::vector<HeldOutDecoder> held_out_decoders(bool on_gpu, bool quick);

/// "transformer, fp32, batch 4, context 256": configurations of a group do the same work, so one may choose between them.
std::string group_of(const HeldOutDecoder& decoder);
/// "first-layer, chain 4, unrolled, replay": what tells them apart.
std::string policy_of(const HeldOutDecoder& decoder);
/// "chain 4", "tree 2x2".
std::string draft_of(const HeldOutDecoder& decoder);

/// How a configuration is run: rounds that are timed, after those that are not.
struct HeldOutRounds {
    int untimed = 2;
    int timed = 12;
};
decoder::DecodeSetup setup_of(const HeldOutDecoder& decoder, const HeldOutRounds& rounds, bool on_gpu);

}  // namespace treeline::calibrate
