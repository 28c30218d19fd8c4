// How `treeline estimate` shows what it found.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "reports/figure.h"
#include "sweeps/fpga/fpga_estimate.h"

namespace treeline::reports {

/// Columns of text next to tables.
inline constexpr std::size_t fpga_page_width = 110;

/// The answer: one sentence.
std::string sentence_of(const sweeps::FpgaEstimate& estimate);
std::string fpga_table(const sweeps::FpgaEstimate& estimate);
/// Format "treeline-fpga-estimate", version 1; `echo` is the run itself, so that the result can be run again.
nlohmann::ordered_json fpga_json(const sweeps::FpgaEstimate& estimate, const nlohmann::ordered_json& echo);
/// One line for each term of each pass.
std::string fpga_csv(const sweeps::FpgaEstimate& estimate);
/// Charts: cycles of a layer, units over time, FIFO over time, ablation, power, resources.
std::vector<FigureSection> fpga_sections(const sweeps::FpgaEstimate& estimate);
/// The same as a page of their own.
std::string fpga_html(const sweeps::FpgaEstimate& estimate);

}  // namespace treeline::reports
