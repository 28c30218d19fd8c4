// Kernels of attention whose thread blocks walk along a whole cache, and which of them an engine runs to verify several tokens.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/device.h"
#include "sim/precision.h"
#include "sim/units.h"

namespace treeline::sim {

/// How a thread block walks along a cache, which takes so long for each cached token however few sequences there are. Kernels
/// that an engine runs by itself (VerificationRule), or that a user picks (`--attention-backend`).
struct AttentionKernels {
    std::string name;  ///< empty: the engine's own
    std::string title;
    Seconds decode_walk;  ///< one new token a sequence: its cache is split among a few blocks
    Seconds verify_walk;  ///< several new tokens a sequence; at least decode_walk
    /// Width of a head for which the walks below are stated; they grow in proportion. 0 = they hold for any width.
    double walk_width = 0.0;
    std::map<std::string, Seconds> verify_walks;  ///< verify_walk on devices where it was measured, by their names
    /// On other devices: share of a multiprocessor's 16-bit peak at which a block computes row_tile rows of scores and outputs.
    /// 0 = verify_walk holds.
    double tile_efficiency = 0.0;
    /// Query rows of a thread block. Blocks of all heads and sequences share the multiprocessors, and those beyond wait; 0 =
    /// none waits.
    double row_tile = 0.0;
    std::map<std::string, std::string> flags;  ///< with which an engine ("sglang") is told to run them
};

/// verify_walk on this device, for heads of this width.
Seconds verify_walk_of(const AttentionKernels& kernels, const Device& device, double head_width);

std::vector<std::string> problems_of(const AttentionKernels& kernels);

/// What an engine does by itself to verify several tokens of a sequence, on some devices and caches.
struct VerificationRule {
    std::string backend;                ///< as people call it: "FlashAttention 2"
    std::vector<double> generations;    ///< major compute capabilities for which it holds; empty = any device
    std::vector<NumberFormat> caches;   ///< formats of keys and values for which it holds; empty = any
    std::vector<NumberFormat> weights;  ///< formats of linear layers or experts for which it holds; empty = any
    AttentionKernels kernels;           ///< whose name is empty where the laws of plain decoding hold
    bool in_pieces = false;  ///< the pass is no single graph: between its pieces, the host launches the attention of a layer
    std::string because;     ///< one clause
    std::string otherwise;   ///< the flag that changes it; empty = none
};

/// The first of the rules that holds for this device, cache and checkpoint; null if none does.
const VerificationRule* rule_for(const std::vector<VerificationRule>& rules, const Device& device, const Precision& precision);

}  // namespace treeline::sim
