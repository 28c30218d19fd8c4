// Laws of a device's measured kernels: the overlap law with shares of the data-sheet peaks, one for each class of kernel.
//
// calibrate/ fits these laws, hardware/calibrations/*.json holds them, and the `calibrated` cost mode prices with them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/enum_names.h"
#include "sim/precision.h"
#include "sim/units.h"

namespace treeline {

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
                                    {top_choices, "top-choices"}});
}

/// Attention kernels are tuned for heads up to this width.
inline constexpr double widest_common_head = 128.0;

/// A bend in the cost of rows: each row between the previous knot (or row 1) and this one costs `slope` rows at full speed.
/// Rows beyond the last knot cost 1 each.
struct RowKnot {
    double rows = 0.0;  ///< 0 = unused, and so are all that follow
    double slope = 1.0;
};
inline constexpr std::size_t most_row_knots = 7;

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
/// step_share·(bytes of cached tokens beyond step_rows)/peak bandwidth: their pages no longer fit into the TLB.
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
    Seconds per_output;           ///< for each output element: loop overhead, sums and functions
    double score_elements = 0.0;  ///< cost of one score's softmax, in elements of a head
    double workers = 1.0;         ///< among whom whole items (tiles) are divided; 1 = evenly
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
inline constexpr std::size_t kernel_parameter_count = 22 + 2 * most_row_knots;
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
};

/// The measured kernels of one device.
struct Calibration {
    std::string device;  ///< catalogue name of the device
    std::string source;  ///< where the measurements come from
    std::string kind;    ///< measured | published | derived
    std::vector<CalibratedKernel> kernels;

    /// The law of a kernel: of this format; else of the nearest one that was measured (16-bit formats stand in for each other,
    /// fp8 for other formats of 8 bits and below), whose shares are then taken of this format's own peak. Where they were not
    /// measured themselves, all scans take the law of `scan`, ungrouped attention that of attention, norms, activations and
    /// rotary embeddings that of element-wise kernels, rejection sampling and top choices that of sampling. Null if there is
    /// none.
    [[nodiscard]] const KernelLaw* law(KernelClass kernel, NumberFormat format) const;
};

/// Every violated constraint as a sentence; empty when usable.
std::vector<std::string> problems_of(const Calibration& calibration);

}  // namespace treeline
