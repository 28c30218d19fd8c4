#include "calibrate/measure/sample.h"

#include <algorithm>
#include <cmath>

#include "calibrate/timings.h"
#include "numerics/quantile.h"

namespace treeline::calibrate {
namespace {

template <class Value>
std::vector<double> each(const std::vector<const Sample*>& samples, Value value) {
    std::vector<double> values;
    for (const Sample* sample : samples) {
        values.push_back(value(*sample));
    }
    return values;
}

double first_quartile(std::vector<double> values) { return numerics::quantile(std::move(values), 0.25); }

}  // namespace

Measurement summary_of(std::size_t index, const std::vector<const Sample*>& samples) {
    Measurement result;
    result.index = index;
    result.samples = static_cast<int>(samples.size());
    if (samples.empty()) {
        return result;
    }
    const std::vector<double> seconds = each(samples, [](const Sample& sample) { return sample.seconds; });
    result.median = numerics::quantile(seconds, 0.5);
    result.first_quartile = first_quartile(seconds);
    result.third_quartile = numerics::quantile(seconds, 0.75);
    result.deviation =
        numerics::quantile(each(samples, [&](const Sample& sample) { return std::abs(sample.seconds - result.median); }), 0.5);
    for (std::size_t part = 0; part < samples.front()->parts.size(); ++part) {
        result.parts.push_back(first_quartile(each(samples, [&](const Sample& sample) { return sample.parts[part]; })));
    }
    result.seen.launch = numerics::quantile(each(samples, [](const Sample& sample) { return sample.before.launch; }), 0.5);
    result.seen.clock = numerics::quantile(each(samples, [](const Sample& sample) { return sample.before.clock; }), 0.5);
    const auto throttled = std::count_if(samples.begin(), samples.end(), [](const Sample* sample) {
        return sample->before.throttles || sample->after.throttles;
    });
    result.throttled = static_cast<double>(throttled) / static_cast<double>(samples.size());
    result.operand_bytes = samples.front()->operand_bytes;
    result.eviction = samples.front()->eviction;
    return result;
}

double median_uncertainty(const Measurement& measurement) {
    const double range = measurement.third_quartile - measurement.first_quartile;
    return 1.57 * range / (std::sqrt(static_cast<double>(std::max(measurement.samples, 1))) * measurement.median);
}

std::vector<const Sample*> samples_in(const Conditions& state, const std::vector<Sample>& samples,
                                      const ConditionLimits& limits) {
    std::vector<const Sample*> found;
    for (const Sample& sample : samples) {
        if (is_of_state(sample.before, state, limits) && is_of_state(sample.after, state, limits)) {
            found.push_back(&sample);
        }
    }
    return found;
}

}  // namespace treeline::calibrate
