// Measured kernels as the simulator sees them: an operation at a shape took so long.
#pragma once

#include <string>
#include <vector>

#include "sim/pass.h"

namespace treeline::calibrate {

/// One measurement. `site` names the shape that is held out as a whole (a layer's n and k, an attention's heads): points of one
/// site are never on both sides of a cross-validation.
struct KernelSample {
    std::string site;
    sim::Operation operation;
    sim::PassShape shape;
    Seconds time;
    /// All linear layers of a pass together, that is, many kernels: its startup is not that of a kernel, so no law with a
    /// startup is fitted to it.
    bool whole_pass = false;
    double spread = 0.0;  ///< median absolute deviation of repeated measurements, as a share of the time; 0 = unknown
};

/// Measurements that one law should describe.
struct KernelTable {
    sim::KernelClass kernel = sim::KernelClass::gemm;
    sim::NumberFormat format = sim::NumberFormat::bf16;
    std::vector<KernelSample> samples;
    std::vector<KernelSample> tiny;  ///< so small that launching dominates: they show the launch alone
    Bytes ramp_bytes;                ///< least traffic of `samples`: above it data come from main memory
    std::string domain;              ///< which of the measurements are included, as a sentence
    std::size_t left_out = 0;        ///< measurements outside that domain
    bool on_cpu = false;      ///< also try what laws of few cores need: costs of rows and outputs, whole items for each core
    std::string family = {};  ///< of kernels, where several exist for the class and format
    double workers = 0.0;     ///< multiprocessors of the device; 0 = unknown
    std::vector<KernelSample> from_cache = {};  ///< left out only because a replay found its data in the cache
    std::string file = {};                      ///< that holds the measurements (the first, if there are several)
    bool ours = false;                          ///< kernels of ours: what one block of them takes is known
};

/// "experts (triton), bf16".
std::string title_of(const KernelTable& table);

/// The figures to which a law's shares refer: of an all-reduce those of the fastest link, of experts in 4 bits the peak of 16.
sim::Rates data_sheet_of(const sim::Device& device, sim::KernelClass kernel, sim::NumberFormat format);

/// Time of a sample by a law, by the same functions with which the simulator prices rounds.
Seconds predicted(const sim::KernelLaw& law, const sim::Rates& data_sheet, const KernelSample& sample);

/// The bytes that it moves, and its FLOPs.
Bytes bytes_at(const KernelSample& sample);
Flops flops_at(const KernelSample& sample);

/// Bytes of an activation beside weights, caches or states of this format: 4 in fp32, else 2.
double activation_bytes(sim::NumberFormat format);

/// Linear layer y[m,n] = x[m,k]·W[n,k]ᵀ.
KernelSample linear_sample(double m, double n, double k, sim::NumberFormat format, Seconds time);

/// Attention of `query_tokens` new tokens a sequence that see `context` tokens, themselves included, or the last `window` (0 =
/// all) of them.
struct AttentionShape {
    double batch = 1.0, query_tokens = 1.0, context = 1.0, query_heads = 1.0, kv_heads = 1.0, head_dim = 128.0, window = 0.0;
};
KernelSample attention_sample(const AttentionShape& shape, sim::NumberFormat cache, Seconds time);
/// Bytes of keys and values that it reads.
Bytes cache_bytes(const AttentionShape& shape, sim::NumberFormat cache);

/// Latent attention of DeepSeek's shape (rank 512, rotary 64, heads of 128) over `context` cached tokens, the new ones
/// included; a prompt has nothing cached.
struct LatentShape {
    double heads = 1.0, batch = 1.0, query_tokens = 1.0, context = 1.0;
    bool prompt = false;
};
KernelSample latent_sample(const LatentShape& shape, sim::NumberFormat cache, Seconds time);

/// Routed experts of one rank under tensor parallelism: `width` is the rank's part of an expert's hidden width, `touched` the
/// distinct experts that the tokens reach.
struct ExpertShape {
    double tokens = 1.0, hidden = 1.0, width = 1.0, active = 1.0, experts = 1.0, touched = 1.0;
    double matrices = 3.0;  ///< 2 where no gate multiplies
};
KernelSample expert_sample(const ExpertShape& shape, const sim::Storage& weights, Seconds time);

/// All-reduce of a tensor of so many bytes over so many ranks. Its site is the size, whatever the ranks.
KernelSample all_reduce_sample(double ranks, double bytes, Seconds time);

/// Dispatch or combine of the rows of `tokens` tokens of each rank. Its site is the layer, whatever the tokens.
KernelSample exchange_sample(sim::KernelClass kernel, const sim::ExchangeShape& shape, double tokens, Seconds time);

/// Recurrent step over `tokens` tokens a sequence. With one token the state is read and written once; with several
/// (verification) it is read once and written after every token: (1 + T)·S bytes.
struct RecurrentShape {
    double batch = 1.0, tokens = 1.0, heads = 1.0, key_dim = 128.0, value_dim = 128.0;
};
KernelSample recurrent_sample(const RecurrentShape& shape, sim::NumberFormat state, Seconds time);
Bytes state_bytes(const RecurrentShape& shape, sim::NumberFormat state);

/// Causal convolution update of `tokens` tokens a sequence over so many channels.
KernelSample convolution_sample(double batch, double tokens, double channels, double width, sim::NumberFormat activations,
                                Seconds time);

/// What a Mamba-2 layer's scan does with its states; `prompt` is scanned in chunks.
enum class Mamba2Scan { none_written, final_written, every_written, tree, replay, prompt };

/// One layer's recurrence over `tokens` tokens a sequence, one group of B and C: the operations of sim/layers/state_scan.cpp.
struct Mamba2Shape {
    double batch = 1.0, tokens = 1.0;
    sim::Count heads = 1, head_dim = 64, state_size = 128;
    sim::Count chunk = 256;  ///< of a prompt
};
KernelSample mamba2_sample(Mamba2Scan scan, const Mamba2Shape& shape, sim::NumberFormat activations, sim::NumberFormat state,
                           Seconds time);

/// A scan of Mamba-1 or of the gated delta rule over `tokens` tokens a sequence, with the state written after the last of them
/// or after every one.
struct StepScanShape {
    double batch = 1.0, tokens = 1.0;
    bool writes_every = false;
};
KernelSample mamba1_sample(const StepScanShape& shape, const sim::Mamba1& layer, sim::NumberFormat state, Seconds time);
KernelSample delta_sample(const StepScanShape& shape, const sim::GatedDelta& layer, sim::NumberFormat state, Seconds time);
/// A prompt of `tokens` for each of `batch` sequences, in chunks.
KernelSample delta_prompt_sample(const sim::GatedDelta& layer, double batch, double tokens, sim::NumberFormat state,
                                 Seconds time);

/// A kernel over rows of `width` elements: the operations of sim/layers/.
enum class ElementWiseForm { norm, gated_norm, activation, rotary };
KernelSample element_wise_sample(ElementWiseForm form, double rows, double width, sim::NumberFormat activations, Seconds time);

/// Verification of so many tokens a sequence, the root included, from their fp32 logits.
KernelSample sampling_sample(sim::Sampling sampling, double batch, double tokens, double vocabulary, Seconds time);

}  // namespace treeline::calibrate
