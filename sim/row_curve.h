// How products of few rows are computed by kernels that read weights again for each row, unpack them, or take whole tiles:
// habits of an engine's kernels, stated in its stack's file.
#pragma once

#include "sim/enum_names.h"

namespace treeline::sim {

/// Products that a curve is about.
enum class CurveProducts { linear, experts };
constexpr auto names_in(CurveProducts) {
    using enum CurveProducts;
    return enum_names<CurveProducts>({{linear, "linear"}, {experts, "experts"}});
}

/// Whose weights are stored as a curve wants them.
enum class CurveWeights {
    any,
    narrow,   ///< in 8 bits or fewer
    unpacked  ///< narrower than they are multiplied
};
constexpr auto names_in(CurveWeights) {
    using enum CurveWeights;
    return enum_names<CurveWeights>({{any, "any"}, {narrow, "narrow"}, {unpacked, "unpacked"}});
}

/// Where an engine has the kernels of a curve.
enum class CurveDevices { all, metal };
constexpr auto names_in(CurveDevices) {
    using enum CurveDevices;
    return enum_names<CurveDevices>({{all, "all"}, {metal, "metal"}});
}

/// What rows cost: those up to few_rows what one takes on vector units or with its own reading of the weights, the next ones
/// nothing until matrix units would be as fast or a tile is full, further ones what matrix units take. Rows of experts are
/// those of one expert.
struct RowCurve {
    CurveProducts of = CurveProducts::linear;
    CurveWeights weights = CurveWeights::any;
    CurveDevices devices = CurveDevices::all;
    double least_generation = 0.0;  ///< of Apple's GPUs (Device::gpu_generation) that have the kernels
    /// Operations of vector units that unpacking an element takes at least, of weights in blocks with scales of scales
    /// (Storage::block), whatever the memory yields; 0: reading hides it.
    double least_unpacking = 0.0;
    double few_rows = 1.0;
    double few_rows_speed = 0.0;  ///< FLOP/s of each of the few rows over the fp32 peak; 0: those of matrix units
    double reads_per_row = 0.0;   ///< each of the few rows takes as many readings of the weights; 0: all take one
    double tile = 0.0;            ///< beyond, rows that are computed at least; 0: they follow the rows
    double matrix_tile = 0.0;     ///< the same on devices whose matrix units are faster than fp32
    double speed = 0.0;           ///< most FLOP/s of all rows over the fp32 peak; 0: those of matrix units
    bool hides = false;           ///< the shorter of reading and computing hides behind the other
};

}  // namespace treeline::sim
