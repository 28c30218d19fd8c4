// What `treeline calibrate` finds, as table and as calibration file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/kernel_fit.h"
#include "cli/calibrate/check_table.h"
#include "cli/calibrate/decoder_check.h"
#include "cli/calibrate/measured_machine.h"
#include "reports/figure.h"

namespace treeline {

/// The law of one kernel, and what it was fitted to.
struct CalibratedTable {
    KernelTable table;
    KernelFit fit;
};

struct CalibrationAnswer {
    Device device;
    std::string source;              ///< where the measurements come from, as the user says or their files
    std::string kind = "published";  ///< of the measurements: measured | published; "derived" where there are none
    std::vector<CalibratedTable> kernels;
    std::vector<CheckRow> check;            ///< whole layers, held out altogether; may be empty
    std::vector<DecoderCheck> decoders;     ///< whole rounds of decoders, likewise
    std::vector<LaunchCost> launches;       ///< of nothing, in chains; may be empty
    std::string derived_from;               ///< device whose laws stand in for what was not measured; empty = none
    std::vector<CalibratedKernel> derived;  ///< those laws: shares of this device's own data sheet
};

std::string calibration_table(const CalibrationAnswer& answer);
/// Format "treeline-calibration", version 1: what hardware/calibrations holds (hardware/README.md).
std::string calibration_json(const CalibrationAnswer& answer);
/// One line a measurement: kernel, format, site, measured and held-out predicted time.
std::string calibration_csv(const CalibrationAnswer& answer);

/// The section of that page on what was held out altogether: predicted against measured, and the choices that follow. Not for
/// an answer without a check.
FigureSection check_section(const CalibrationAnswer& answer);

/// The section of that page on what launches cost: chains of nothing, and tiny kernels. Nothing where neither was measured.
std::optional<FigureSection> launch_section(const CalibrationAnswer& answer);

/// The least number of kernels that a graph runs no slower than a stream does, each time a line through the shortest and the
/// longest chain that were measured. Nothing where one of the two was not measured, or the graph never catches up.
std::optional<double> graph_break_even(const std::vector<LaunchCost>& launches);

/// A self-contained page: the check where there is one, measured roofline, what launches cost, predicted against measured
/// times, residuals. At least one kernel was fitted.
std::string calibration_page(const CalibrationAnswer& answer);

/// "3.64 us", "0.897": a value with the parameter's unit.
std::string text_of(const KernelParameter& parameter, double base_value);

}  // namespace treeline
