#include "calibrate/timings/time_source.h"

#include <fmt/format.h>

#include "text/number_text.h"

namespace treeline::calibrate {

bool TimeSource::covers(double tokens) const {
    const auto* table = std::get_if<TimeTable>(&source);
    return table == nullptr || table->covers(tokens);
}

bool TimeSource::extrapolates(double tokens) const {
    const auto* fit = std::get_if<RuntimeFit>(&source);
    return fit != nullptr && fit->extrapolates(tokens);
}

Seconds TimeSource::at(double tokens) const {
    const auto* fit = std::get_if<RuntimeFit>(&source);
    return fit != nullptr ? fit->law.at(tokens) : std::get<TimeTable>(source).at(tokens);
}

Seconds TimeSource::half_width(double tokens) const {
    const auto* fit = std::get_if<RuntimeFit>(&source);
    return fit != nullptr ? fit->standard_error(tokens) * fit->t_quantile : Seconds(0.0);
}

std::string TimeSource::range_text() const {
    const auto* fit = std::get_if<RuntimeFit>(&source);
    const double low = fit != nullptr ? fit->lowest_tokens : std::get<TimeTable>(source).lowest_tokens();
    const double high = fit != nullptr ? fit->highest_tokens : std::get<TimeTable>(source).highest_tokens();
    return fmt::format("{} to {} tokens", text::short_text(low), text::short_text(high));
}

}  // namespace treeline::calibrate
