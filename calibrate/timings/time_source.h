// The time of a pass by its tokens: a stated law, a fit, a measured table.
#pragma once

#include <string>
#include <variant>

#include "calibrate/runtime_fit.h"
#include "calibrate/time_table.h"

namespace treeline::calibrate {

struct TimeSource {
    std::variant<RuntimeFit, TimeTable> source;  ///< a stated law is a fit without errors and limits
    std::string text;                            ///< "measured.csv, linear, T(n) = 10 ms + 52 us n"

    /// A law holds everywhere, a table within its measurements.
    [[nodiscard]] bool covers(double tokens) const;
    [[nodiscard]] bool extrapolates(double tokens) const;
    /// Precondition: covers(tokens).
    [[nodiscard]] Seconds at(double tokens) const;
    /// Of the interval of the time, 95 % unless another was requested; 0 if none is known.
    [[nodiscard]] Seconds half_width(double tokens) const;
    /// "1 to 64 tokens": where it was measured.
    [[nodiscard]] std::string range_text() const;
};

}  // namespace treeline::calibrate
