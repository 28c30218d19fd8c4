// The time of a pass by its tokens, from where an input takes it: a stated law, a fit, a measured table.
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "calibrate/runtime_fit.h"
#include "calibrate/time_table.h"
#include "json/reader.h"

namespace treeline {

struct TimeSource {
    std::variant<RuntimeFit, TimeTable> source;  ///< a stated law is a fit without errors and limits
    std::string text;                            ///< "measured.csv, linear, T(n) = 10 ms + 52 us n"

    /// A law holds everywhere, a table within its measurements.
    [[nodiscard]] bool covers(double tokens) const;
    [[nodiscard]] bool extrapolates(double tokens) const;
    /// Precondition: covers(tokens).
    [[nodiscard]] Seconds at(double tokens) const;
    /// Of the interval of the time, 95 % unless the fit was asked for another; 0 where none is known.
    [[nodiscard]] Seconds half_width(double tokens) const;
    /// "1 to 64 tokens": where it was measured.
    [[nodiscard]] std::string range_text() const;
};

/// {"law": "linear", "coefficients": [10, 0.05], "unit": "ms", "source": ..., "kind": ...}: in that unit, per token and per
///     token² in the order of formula_of(form)
/// {"fit": "fit.json", "series"?: name}: a law of an earlier `treeline fit --format json`
/// {"measured": "times.csv", "series"?: name, "as"?: "auto", "table", or the name of a law}: fitted here ("auto", also without
///     the key: the law that cross-validation selects), or interpolated
/// Files are relative to `folder`. Notes problems in the reader's document and returns a harmless source then.
TimeSource read_time_source(json::Reader at, const std::filesystem::path& folder);

}  // namespace treeline
