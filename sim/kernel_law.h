// Laws of a device's measured kernels: the overlap law with shares of the data-sheet peaks, one for each class of kernel.
//
// calibrate/ fits these laws, hardware/calibrations/*.json holds them, and the `calibrated` cost mode prices with them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/attention_walk.h"
#include "sim/chunk_scan.h"
#include "sim/enum_names.h"
#include "sim/precision.h"
#include "sim/recurrent_verification.h"
#include "sim/units.h"

namespace treeline::sim {

/// Classes of kernels that have a law of their own. All other operations are priced from the data sheet.
enum class KernelClass {
    gemm,                 ///< linear layers
    attention,            ///< heads that share keys and values in groups
    attention_ungrouped,  ///< as many key-value heads as query heads: often another kernel
    scan,                 ///< recurrent scan, token by token, that writes the last state
    scan_unwritten,       ///< the same, writing no state
    scan_every,           ///< the same, writing every state
    tree_scan,            ///< all tokens of a tree at once over one state
    replay,               ///< a state advanced over accepted tokens, without outputs
    convolution,          ///< causal convolution updates
    element_wise,         ///< norms, activations
    norm,                 ///< RMSNorm with residual
    gated_norm,           ///< RMSNorm of gated values
    activation,           ///< gated activations
    rotary,               ///< rotary position embedding of queries and keys
    sampling,             ///< greedy choice of a token from logits
    rejection,            ///< the same by rejection sampling
    top_choices,          ///< several tokens per row of logits, as a level of a draft tree needs
    all_reduce,           ///< sum of a tensor over tensor-parallel ranks
    experts,              ///< routed experts of a mixture: sorting, both grouped products, weighted sum
    latent_attention,     ///< absorbed decode attention over a latent cache that all heads share
    latent_prompt,        ///< prompt attention of the same layers
    prompt_attention,     ///< prompt attention over everything before
    prompt_window,        ///< prompt attention within a sliding window
    expert_dispatch,      ///< rows sent to the ranks that hold their experts
    expert_combine,       ///< and back, summed
    all_gather,           ///< parts of a tensor gathered on every rank
    stage_hop,            ///< activations handed to the next pipeline stage
};
/// As files and reports write them.
constexpr auto names_in(KernelClass) {
    using enum KernelClass;
    return enum_names<KernelClass>({{gemm, "gemm"},
                                    {attention, "attention"},
                                    {attention_ungrouped, "attention-ungrouped"},
                                    {scan, "scan"},
                                    {scan_unwritten, "scan-unwritten"},
                                    {scan_every, "scan-every"},
                                    {tree_scan, "tree-scan"},
                                    {replay, "replay"},
                                    {convolution, "convolution"},
                                    {element_wise, "element-wise"},
                                    {norm, "norm"},
                                    {gated_norm, "gated-norm"},
                                    {activation, "activation"},
                                    {rotary, "rotary"},
                                    {sampling, "sampling"},
                                    {rejection, "rejection"},
                                    {top_choices, "top-choices"},
                                    {all_reduce, "all-reduce"},
                                    {experts, "experts"},
                                    {latent_attention, "latent-attention"},
                                    {latent_prompt, "latent-prompt"},
                                    {prompt_attention, "prompt-attention"},
                                    {prompt_window, "prompt-window"},
                                    {expert_dispatch, "expert-dispatch"},
                                    {expert_combine, "expert-combine"},
                                    {all_gather, "all-gather"},
                                    {stage_hop, "stage-hop"}});
}

/// Attention kernels are tuned for heads up to this width.
inline constexpr double widest_common_head = 128.0;

/// Families of prompt attention: kernels are compiled for each width of a head.
inline constexpr double narrow_head = 64.0;
inline std::string_view prompt_family(double head_dim) { return head_dim > 0.0 && head_dim <= narrow_head ? "64" : "128"; }

/// Families of the experts' kernels that engines run: in formats that matrix units compute, and in int4.
inline constexpr std::string_view triton_family = "triton", marlin_family = "marlin";

/// The family of our own kernels where engines run others (FlashAttention, Triton, Marlin): their laws price no engine.
inline constexpr std::string_view treeline_family = "treeline";

/// Families of products in fp8 with a scale for each block of weights: "sglang, block-scaled".
inline constexpr std::string_view block_scaled = "block-scaled";

/// Families of the exchange of rows between ranks that hold experts: DeepEP's kernels for decoding, which send every copy of a
/// row, and for prompts, which send a row once to each rank.
inline constexpr std::string_view low_latency_family = "low-latency", normal_family = "normal";

/// A bend in the cost of rows: each row between the previous knot (or row 1) and this one costs `slope` rows at full speed.
/// Rows beyond the last knot cost 1 each.
struct RowKnot {
    double rows = 0.0;  ///< 0 = unused, and so are all that follow
    double slope = 1.0;
};
inline constexpr std::size_t most_row_knots = 7;

/// An all-reduce of S bytes over t ranks, in time over the link's data-sheet bandwidth. With V = 2·(t − 1)/t and a = startup +
/// per_rank·(t − 1), the least of
///   one-shot  a + copies·S/(one_shot_share·link)              copies = t − 1 (every rank reads all others), or V if by_ring
///   two-shot  a + two_shot + two_shot_per_rank·(t − 1) + V·S/(two_shot_share·link)
///   ring      ring + ring_per_rank·(t − 1) + V·S/(ring_share·s(t)·link)
/// where the first two are an engine's own kernels, which run up to `limit` bytes, and s(t) is 1 at 2 ranks, ring_scale_4 at 4,
/// ring_scale_8 at 8 and beyond, linear in between. All three never fall with S, and neither does their least.
struct CollectiveLaw {
    Seconds per_rank;
    double one_shot_share = 1.0;
    double by_ring = 0.0;  ///< 1: the first kernel, too, moves V·S (NCCL's protocols, which differ in latency and share)
    Seconds two_shot, two_shot_per_rank;
    double two_shot_share = 1.0;
    Bytes limit;  ///< 0 = none
    Seconds ring, ring_per_rank;
    double ring_share = 1.0, ring_scale_4 = 1.0, ring_scale_8 = 1.0;
};

/// Kernels of a prompt's attention compute tiles of row_tile query rows by columns of keys; `workers` multiprocessors share
/// the tiles, and none finishes before its longest tile.
struct PromptLaw {
    Seconds per_tile;          ///< of each tile: start, first loads, store; 0 = the law is not one of a prompt
    double depth = 1.0;        ///< time of the longest tile over what its FLOPs take on one multiprocessor
    double packs_heads = 0.0;  ///< 1: the query heads of a key-value head fill a tile together
};

/// An exchange of rows between ranks that hold experts, with E experts in all, N tokens of a rank and B bytes that it sends:
///   s = startup + per_input·width + per_expert·E
///   t = B·max(1/(bandwidth_share·link), 1/(E·expert_rate)) + per_token·N
/// time = max(s, t) + overlap·min(s, t): few experts are served by few multiprocessors.
struct ExchangeLaw {
    Seconds per_expert;
    BytesPerSecond expert_rate;  ///< 0 = no limit
    Seconds per_token;
};

/// With B bytes of traffic, F FLOPs, O outputs, and r rows that share what is read (tokens of a linear layer; query rows on a
/// key-value head; tokens of a sequence of a scan)
///   a = launch + (startup − launch)·min(1, B/ramp_bytes) + per_input·k + per_head·(sequences·heads) + u·per_output·O
///       + (r > step_rows, inputs a multiple of step_inputs ? step_share·weights/peak bandwidth : 0) + per_activation·r·k
///   x = a + u·B/(bandwidth_share·peak bandwidth),   y = a + u·F·c(r)/(peak_share·peak)
/// time = max(x, y) + overlap·min(x, y), and never less than a + per_context·s for s cached tokens. Every parameter is zero or
/// above. c(r) is what r rows cost (first_row and knots) over r, so that few rows may compute less well than many; u is the
/// work of the busiest of `workers`, who take whole items, over an even share. FLOPs of an attention are multiplied by 1 +
/// score_elements/head width. Linear layers compute whole tiles: of row_tile rows, or, with least_tile, of the least power of
/// two times least_tile that holds all rows. A row that merely pads a tile costs `padding`. With tile_columns every tile has so
/// many outputs, and `workers` (multiprocessors) take whole tiles: FLOPs are no fewer than those of whole waves of tiles. A law
/// with first_row, knots, per_output, or with workers but no tile_columns has no tiles, and its step for attention is
/// step_share·(bytes of cached tokens beyond step_rows)/peak bandwidth: their pages no longer fit into the TLB. Latent
/// attention computes whole tiles of row_tile query rows.
///
/// Experts: D of the E experts on a rank are touched by R rows, w bytes and f FLOPs a row each. With a = startup +
/// per_input·(inputs + width) + other bytes/(activation_share·peak bandwidth) and
///   x = D·w/(bandwidth_share·peak bandwidth),   y = f·(row_tile·D + max(0, R − E·(row_tile + 1)/2))/(peak_share·peak)
/// time = a + max(x, y) + overlap·min(x, y): each expert's rows fill whole tiles.
///
/// Prompts: with N tiles, c columns in the mean and c' in the longest, f FLOPs of a tile and column,
///   x = N·(per_tile + c·f/(peak_share·peak/workers))/workers,   y = per_tile + depth·c'·f/(peak_share·peak/workers)
/// time = startup + per_head·(tokens·heads) + max(x, y) + overlap·min(x, y) + max(0, B − ramp_bytes)/(bandwidth_share·peak
/// bandwidth): keys and values are written to the cache, token by token, and what was computed just before may still be in the
/// last-level cache.
struct KernelLaw {
    Seconds startup;               ///< for a kernel whose traffic exceeds ramp_bytes: launch, first loads, ragged ends
    Seconds launch;                ///< for a tiny kernel; only with ramp_bytes above zero
    Bytes ramp_bytes;              ///< traffic up to which launch turns into startup; 0 = startup always
    double bandwidth_share = 1.0;  ///< of the data sheet's memory bandwidth
    double peak_share = 1.0;       ///< of the data sheet's peak of the number format
    double overlap = 0.0;          ///< r: 0 hides the shorter of x and y wholly, 1 not at all
    Seconds per_input;    ///< for each input k of a linear layer: thread blocks walk along the inputs, whatever the width
    Seconds per_head;     ///< for each key-value head of each sequence: its thread blocks start, reduce and finish
    Seconds per_context;  ///< for each cached token, if one thread block walks along a whole head's cache
    double wide_head_share = 1.0;  ///< times bandwidth_share for heads wider than 128
    double row_tile = 1.0;         ///< FLOPs are of whole tiles of so many rows (tokens) of a linear layer; 1 = none
    double step_rows = 0.0;        ///< a linear layer of more rows runs a kernel that reads its weights less well; 0 = none
    double step_share = 0.0;       ///< by this much, in units of weights / peak bandwidth
    double step_inputs = 0.0;  ///< only for layers with a multiple of so many inputs (rows in pages collide in caches); 0 = all
    double least_tile = 0.0;   ///< few rows get the smallest tile of this · 2^i that holds them, up to row_tile; 0 = row_tile
    double padding = 1.0;      ///< what a row that merely pads a tile costs, in rows
    double tile_columns = 0.0;  ///< outputs of a tile; whole waves of tiles run on `workers`; 0 = divided evenly
    Seconds per_activation;     ///< for each input element of each row that is quantised before the product
    double first_row = 1.0;     ///< what the first row costs, in rows at full speed
    std::array<RowKnot, most_row_knots> knots{};
    Seconds per_output;             ///< for each output element: loop overhead, sums and functions
    double score_elements = 0.0;    ///< cost of one score's softmax, in elements of a head
    double workers = 1.0;           ///< among whom whole items (tiles) are divided; 1 = evenly
    double activation_share = 0.0;  ///< of the bandwidth, for activations of experts; 0 = the law is not one of experts
    CollectiveLaw collective{};
    PromptLaw prompt{};
    ExchangeLaw exchange{};
};

/// A parameter of a law, as files, tables and fits know it.
struct KernelParameter {
    std::string_view name, unit, meaning;
    double in_unit;  ///< values in `unit` for one base unit (1e6 for microseconds)
    double neutral;  ///< base units: the value that switches it off
    double least;    ///< base units: a fitted value below this is on its bound, so the parameter should be left out
    double most;     ///< base units: the same for values above; nothing runs faster than the data sheet
    double (*get)(const KernelLaw&);
    void (*set)(KernelLaw&, double);
};

/// Every parameter, in the order in which tables show them.
inline constexpr std::size_t kernel_parameter_count = 41 + 2 * most_row_knots;
const std::array<KernelParameter, kernel_parameter_count>& kernel_parameters();

/// least_tile · 2^this is the largest row_tile.
inline constexpr int most_tile_doublings = 4;

/// Largest share of a data-sheet figure. Boost clocks, or memory faster than stated, may bring a kernel slightly above 1.
inline constexpr double most_share = 1.05;

/// A law and what it was measured on.
struct CalibratedKernel {
    KernelClass kernel = KernelClass::gemm;
    NumberFormat format = NumberFormat::bf16;  ///< of the products (gemm), the cache (attention), the state or the activations
    KernelLaw law;
    std::string family = {};  ///< of kernels, where several exist for this class and format ("vllm", "triton"); empty = one
};

/// The measured kernels of one device.
struct Calibration {
    std::string device;  ///< catalogue name of the device
    std::string source;  ///< where the measurements come from
    std::string kind;    ///< measured | published | derived
    std::vector<CalibratedKernel> kernels;
    std::vector<RecurrentVerificationLaw> recurrent_verification = {};  ///< by family
    std::vector<ChunkScanLaw> chunk_scans = {};                         ///< of prompts, by family and rule
    /// Of the engines' attention over 16-bit caches where it walks along them; nothing where its kernels split caches.
    std::optional<AttentionWalkLaw> attention_walk = {};

    /// The law of a kernel: of this format; else of the nearest one that was measured (16-bit formats stand in for each other,
    /// fp8 for other formats of 8 bits and below), whose shares are then taken of this format's own peak. Where they were not
    /// measured themselves, all scans take the law of `scan`, ungrouped attention that of attention, norms, activations and
    /// rotary embeddings that of element-wise kernels, rejection sampling and top choices that of sampling; windowed prompts
    /// that of whole ones. Of several families the one asked for, or else the first that is not our own. Null if
    /// there is none.
    [[nodiscard]] const KernelLaw* law(KernelClass kernel, NumberFormat format, std::string_view family = {}) const;
    /// The law of our own kernel, likewise; null where it was not measured.
    [[nodiscard]] const KernelLaw* own_law(KernelClass kernel, NumberFormat format) const;
    /// How an engine's kernel verifies chains over recurrent states: the family's; else the one with the shortest steps among
    /// those that do not convolve. Null if there is none.
    [[nodiscard]] const RecurrentVerificationLaw* recurrent_verification_law(std::string_view family) const;
    /// How an engine's chunk kernels read prompts. Null if they were not measured.
    [[nodiscard]] const ChunkScanLaw* chunk_scan_law(std::string_view family, bool by_channel) const;
};

/// Every violated constraint as a sentence; empty when usable.
std::vector<std::string> problems_of(const Calibration& calibration);

}  // namespace treeline::sim
