// One kernel at one shape, ready to be measured.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/measure/workspace.h"
#include "kernels/peer_ranks.h"

namespace treeline::calibrate {

/// Puts one run of the kernel into the queue; each run takes the next place of the rotating memory.
using KernelRun = std::function<void(kernels::Queue)>;

/// Both ranks of a kernel that takes two devices.
struct PeerRuns {
    std::shared_ptr<const kernels::PeerRanks> ranks;
    std::function<void(int rank, kernels::Queue)> run;  ///< puts the rank's part into a queue of its device
};

struct KernelCase {
    std::string table;                                         ///< which table of measurements it belongs to: "gemm"
    std::vector<std::pair<std::string, std::string>> columns;  ///< its shape, as that table's columns and values
    std::size_t largest_piece = 0;                             ///< bytes that it takes from one block of the workspace
    std::size_t operand_bytes = 0;                             ///< weights, caches and states of a run, if not largest_piece
    bool from_host = false;  ///< GPUs: launched kernel by kernel instead of as a graph, and timed by the host's clock
    std::function<KernelRun(Workspace&)> prepare;  ///< makes the small arrays that the runs need
    std::function<PeerRuns()> prepare_peers;       ///< in place of `prepare`, of a kernel that takes two devices

    /// "gemm dtype=fp32 m=1 n=768 k=768".
    [[nodiscard]] std::string name() const;
    /// Bytes that a run takes from rotating memory.
    [[nodiscard]] std::size_t working_set() const { return operand_bytes > 0 ? operand_bytes : largest_piece; }
};

/// How much is measured.
enum class Thoroughness { quick, full };

/// What to measure on a device.
struct CaseOptions {
    Thoroughness thoroughness = Thoroughness::full;
    bool on_gpu = false;  ///< layers of large models in bf16, and larger batches
};

std::vector<KernelCase> linear_cases(const CaseOptions& options);
std::vector<KernelCase> attention_cases(const CaseOptions& options);
/// State update, fused scans in their three write modes, tree scan, replay.
std::vector<KernelCase> scan_cases(const CaseOptions& options);
/// Scans of Mamba (1) and of the gated delta rule, on GPUs.
std::vector<KernelCase> step_scan_cases(const CaseOptions& options);
/// Latent attention and routed experts, on GPUs.
std::vector<KernelCase> mixture_cases(const CaseOptions& options);
/// What the host pays: graphs, waiting, a layer that it launches kernel by kernel. On GPUs.
std::vector<KernelCase> host_cases(const CaseOptions& options);
/// All-reduces of two ranks, on GPUs: a device of their own each.
std::vector<KernelCase> all_reduce_cases(const CaseOptions& options);
/// Convolution updates, norms, activations, rotary embeddings.
std::vector<KernelCase> pointwise_cases(const CaseOptions& options);
/// Greedy and rejection verification of logits, and the choices for a level of a draft tree.
std::vector<KernelCase> sampling_cases(const CaseOptions& options);
/// Bandwidth of reading, writing and copying, and launches of nothing.
std::vector<KernelCase> probe_cases(const CaseOptions& options, std::size_t bytes);

/// Whole layers of held_out_layers(): nothing is fitted to them.
std::vector<KernelCase> layer_cases(const CaseOptions& options);

/// All of them.
std::vector<KernelCase> kernel_cases(const CaseOptions& options, std::size_t probe_bytes);

/// A chain of so many tokens, and a full binary tree of so many levels.
sim::DraftTree chain_tree(int tokens);
sim::DraftTree binary_tree(int levels);

/// The context in as many parts as decoders take it in on a GPU, with the memory for their results.
void cut_context(kernels::Attention& attention, Workspace& workspace);

/// The tree's arrays on the device.
kernels::TreeView tree_on(Workspace& workspace, const kernels::PackedTree& tree);

/// "fp32" and its kernels' type.
struct MeasuredFormat {
    const char* name;
    kernels::ElementType type;
};
inline constexpr MeasuredFormat fp32_format{"fp32", kernels::ElementType::fp32};
inline constexpr MeasuredFormat bf16_format{"bf16", kernels::ElementType::bf16};
inline constexpr MeasuredFormat fp8_format{"fp8", kernels::ElementType::fp8};
inline constexpr MeasuredFormat int8_format{"int8", kernels::ElementType::int8};
/// The formats that a device computes in: both on a CPU, bf16 on a GPU.
std::vector<MeasuredFormat> measured_formats(const CaseOptions& options);

}  // namespace treeline::calibrate
