// What `treeline calibrate` finds, as table, calibration file and page.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "calibrate/measure/own_device.h"
#include "calibrate/tables/calibration_answer.h"
#include "reports/figure.h"

namespace treeline::reports {

std::string calibration_table(const calibrate::CalibrationAnswer& answer);
/// Format "treeline-calibration", version 1: what hardware/calibrations holds (hardware/README.md).
std::string calibration_json(const calibrate::CalibrationAnswer& answer);
/// One line per measurement: kernel, format, site, measured and held-out predicted time.
std::string calibration_csv(const calibrate::CalibrationAnswer& answer);

/// The section of that page on what was held out entirely: predicted against measured, and the choices that follow. Not for an
/// answer without a check.
FigureSection check_section(const calibrate::CalibrationAnswer& answer);

/// The section of that page on what launches cost: chains of empty kernels, and tiny kernels. Nothing if neither was measured.
std::optional<FigureSection> launch_section(const calibrate::CalibrationAnswer& answer);

/// The least number of kernels that a graph runs no slower than a stream does, each time a line through the shortest and the
/// longest chain that were measured. Nothing if one of the two was not measured, or the graph never catches up.
std::optional<double> graph_break_even(const std::vector<calibrate::LaunchCost>& launches);

/// A self-contained page: the check if there is one, measured roofline, what launches cost, predicted against measured times,
/// residuals. At least one kernel was fitted.
std::string calibration_page(const calibrate::CalibrationAnswer& answer);

/// "3.64 us", "0.897": a value with the parameter's unit.
std::string text_of(const sim::KernelParameter& parameter, double base_value);

/// Whole layers, measured and predicted.
std::string check_text(const std::vector<calibrate::CheckRow>& rows);

/// Decoders and the choices that follow, with a summary.
std::string decoder_check_text(const std::vector<calibrate::DecoderCheck>& decoders);

/// The machine and its yardsticks.
std::string machine_text(const calibrate::Machine& machine, const calibrate::MachineFigures& figures);
/// A line for each sentence (without a full stop) on what was left out.
std::string left_out_text(const std::vector<std::string>& notes);

/// The machine's yardsticks, its state while it was measured, and what was left out (`notes`: sentences without a full stop).
std::string measurement_text(const calibrate::OwnDevice& own, const calibrate::MachineFigures& figures,
                             const calibrate::OwnMeasurement& measured, const std::vector<std::string>& notes);

}  // namespace treeline::reports
