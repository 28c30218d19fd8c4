// What `treeline study fit` finds, as table, JSON, CSV and page.
#pragma once

#include <string>
#include <vector>

#include "calibrate/timings/timing_fit.h"

namespace treeline::reports {

std::string fit_table(const calibrate::FitAnswer& answer);
/// Format "treeline-fit", version 1. Its `rows` are the measurements, so `treeline study fit` reads it again, and its `series`
/// hold the laws, which `treeline study break-even` reads.
std::string fit_json(const calibrate::FitAnswer& answer);
/// One line per measurement.
std::string fit_csv(const calibrate::FitAnswer& answer);
/// A self-contained page: data, law, prediction interval, residuals, laws compared.
std::string fit_page(const calibrate::FitAnswer& answer);

}  // namespace treeline::reports
