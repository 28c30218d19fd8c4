// Measured kernels as the simulator sees them: an operation at a shape took so long.
#pragma once

#include <string>
#include <vector>

#include "sim/pass.h"

namespace treeline {

/// One measurement. `site` names the shape that is held out as a whole (a layer's n and k, an attention's heads): points of one
/// site are never on both sides of a cross-validation.
struct KernelSample {
    std::string site;
    Operation operation;
    PassShape shape;
    Seconds time;
    /// All linear layers of a pass together, that is, many kernels: its startup is not that of a kernel, so no law with a
    /// startup is fitted to it.
    bool whole_pass = false;
    double spread = 0.0;  ///< median absolute deviation of repeated measurements, as a share of the time; 0 = unknown
};

/// Measurements that one law should describe.
struct KernelTable {
    KernelClass kernel = KernelClass::gemm;
    NumberFormat format = NumberFormat::bf16;
    std::vector<KernelSample> samples;
    std::vector<KernelSample> tiny;  ///< so small that launching dominates: they show the launch alone
    Bytes ramp_bytes;                ///< least traffic of `samples`: above it data come from main memory
    std::string domain;              ///< which of the measurements are included, as a sentence
    std::size_t left_out = 0;        ///< measurements outside that domain
    bool on_cpu = false;    ///< also try what laws of few cores need: costs of rows and outputs, whole items for each core
    std::string file = {};  ///< that holds the measurements (the first, if there are several)
};

/// The figures to which a law's shares refer.
Rates data_sheet_of(const Device& device, KernelClass kernel, NumberFormat format);

/// Time of a sample by a law, by the same functions with which the simulator prices rounds.
Seconds predicted(const KernelLaw& law, const Rates& data_sheet, const KernelSample& sample);

/// The bytes that it moves, and its FLOPs.
Bytes bytes_at(const KernelSample& sample);
Flops flops_at(const KernelSample& sample);

/// Bytes of an activation beside weights, caches or states of this format: 4 in fp32, else 2.
double activation_bytes(NumberFormat format);

/// Linear layer y[m,n] = x[m,k]·W[n,k]ᵀ.
KernelSample linear_sample(double m, double n, double k, NumberFormat format, Seconds time);

/// Attention of `query_tokens` new tokens a sequence that see `context` tokens, themselves included, or the last `window` (0 =
/// all) of them.
struct AttentionShape {
    double batch = 1.0, query_tokens = 1.0, context = 1.0, query_heads = 1.0, kv_heads = 1.0, head_dim = 128.0, window = 0.0;
};
KernelSample attention_sample(const AttentionShape& shape, NumberFormat cache, Seconds time);
/// Bytes of keys and values that it reads.
Bytes cache_bytes(const AttentionShape& shape, NumberFormat cache);

/// Recurrent step over `tokens` tokens a sequence. With one token the state is read and written once; with several
/// (verification) it is read once and written after every token: (1 + T)·S bytes.
struct RecurrentShape {
    double batch = 1.0, tokens = 1.0, heads = 1.0, key_dim = 128.0, value_dim = 128.0;
};
KernelSample recurrent_sample(const RecurrentShape& shape, NumberFormat state, Seconds time);
Bytes state_bytes(const RecurrentShape& shape, NumberFormat state);

/// Causal convolution update of `tokens` tokens a sequence over so many channels.
KernelSample convolution_sample(double batch, double tokens, double channels, double width, NumberFormat activations,
                                Seconds time);

/// What a Mamba-2 layer's scan does with its states.
enum class Mamba2Scan { none_written, final_written, every_written, tree, replay };

/// One layer's recurrence over `tokens` tokens a sequence, one group of B and C: the operations of sim/layers/state_scan.cpp.
struct Mamba2Shape {
    double batch = 1.0, tokens = 1.0;
    Count heads = 1, head_dim = 64, state_size = 128;
};
KernelSample mamba2_sample(Mamba2Scan scan, const Mamba2Shape& shape, NumberFormat activations, NumberFormat state,
                           Seconds time);

/// A kernel over rows of `width` elements: the operations of sim/layers/.
enum class ElementWiseForm { norm, gated_norm, activation, rotary };
KernelSample element_wise_sample(ElementWiseForm form, double rows, double width, NumberFormat activations, Seconds time);

/// Verification of so many tokens a sequence, the root included, from their fp32 logits.
KernelSample sampling_sample(Sampling sampling, double batch, double tokens, double vocabulary, Seconds time);

}  // namespace treeline
