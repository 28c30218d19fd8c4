#include "calibrate/time_table.h"

#include <algorithm>
#include <map>

namespace treeline::calibrate {

TimeTable::TimeTable(const std::vector<Timing>& timings) {
    struct Sum {
        Seconds time;
        double count = 0.0;
    };
    std::map<double, Sum> sums;
    for (const Timing& timing : timings) {
        sums[timing.tokens].time += timing.time;
        sums[timing.tokens].count += 1.0;
    }
    for (const auto& [tokens, sum] : sums) {
        points_.push_back({tokens, sum.time / sum.count, {}});
    }
}

bool TimeTable::covers(double tokens) const { return tokens >= lowest_tokens() && tokens <= highest_tokens(); }

Seconds TimeTable::at(double tokens) const {
    const auto above = std::lower_bound(points_.begin(), points_.end(), tokens,
                                        [](const Timing& point, double wanted) { return point.tokens < wanted; });
    if (above->tokens == tokens) {
        return above->time;
    }
    const auto below = above - 1;
    const double share = (tokens - below->tokens) / (above->tokens - below->tokens);
    return below->time + (above->time - below->time) * share;
}

}  // namespace treeline::calibrate
