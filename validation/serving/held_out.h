// Predictions for rows of a family from what was fitted on all others, and intervals from the errors on those others.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "numerics/residual_interval.h"

namespace treeline::validation {

/// Predicts a row, by index.
using PredictRow = std::function<double(std::size_t row)>;
/// Fits on these rows. One that fits nothing returns the same PredictRow whatever the rows.
using FitRows = std::function<PredictRow(std::span<const std::size_t> training)>;

struct HeldOutRow {
    double predicted = 0.0;
    double low = 0.0, high = 0.0;  ///< interval for the measured value
    double below_one = 0.0;        ///< chance that the measured value lies below 1, by the same ratios
};

/// What rows belong to: the family that is left out as a whole, the source whose errors resemble each other, and what they have
/// in common with others (empty: nothing).
struct RowGroups {
    std::span<const std::string> family, source;
    std::span<const numerics::CaseTraits> traits = {};
};

/// For each row: fitted on the rows of all other families. Its interval is that of measured / predicted among those rows
/// (numerics/residual_interval.h), as recommendations use it. A family of which no other exists has no rows to fit on: its rows
/// are predicted by a fit on all, and their interval is unbounded.
std::vector<HeldOutRow> leave_families_out(const RowGroups& groups, std::span<const double> measured, const FitRows& fit,
                                           double nominal = 0.8);

/// Share of rows whose measured value lies in its interval.
double coverage(std::span<const HeldOutRow> rows, std::span<const double> measured);

}  // namespace treeline::validation
