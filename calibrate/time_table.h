// Measured times of passes as a table: the measurements, and straight lines between them.
#pragma once

#include <vector>

#include "calibrate/timings.h"

namespace treeline::calibrate {

class TimeTable {
public:
    /// Several measurements of one token count become their mean. Precondition: no problems(timings).
    explicit TimeTable(const std::vector<Timing>& timings);

    /// Whether `tokens` lies within the measurements. A table is not extrapolated: that takes a law.
    [[nodiscard]] bool covers(double tokens) const;
    /// Precondition: covers(tokens).
    [[nodiscard]] Seconds at(double tokens) const;
    [[nodiscard]] double lowest_tokens() const { return points_.front().tokens; }
    [[nodiscard]] double highest_tokens() const { return points_.back().tokens; }

private:
    std::vector<Timing> points_;
};

}  // namespace treeline::calibrate
