#include "sim/acceptance_curves.h"

#include <algorithm>
#include <cmath>

#include "numerics/root_of_squares.h"
#include "sim/acceptance.h"

namespace treeline::sim {

namespace {

constexpr double deviations_of_80_percent = 1.2816;  // of a normal law

}  // namespace

double spread_of(AcceptanceOrigin origin) {
    switch (origin) {
        case AcceptanceOrigin::own_run:
            return 0.06;
        case AcceptanceOrigin::these_requests:
            return 0.11;
        case AcceptanceOrigin::same_kind:
            return 0.55;
        case AcceptanceOrigin::other_requests:
            return spread_over_kinds({});
        case AcceptanceOrigin::kind_of_drafter:
        case AcceptanceOrigin::other_target:
            return 1.0;
        case AcceptanceOrigin::assumed:
            return 1.2;
    }
    return 0.0;
}

std::string text_of(AcceptanceOrigin origin) {
    switch (origin) {
        case AcceptanceOrigin::own_run:
            return "counted in a run of your own";
        case AcceptanceOrigin::these_requests:
            return "measured on these requests by others";
        case AcceptanceOrigin::same_kind:
            return "the same kinds of requests, other data";
        case AcceptanceOrigin::other_requests:
            return "other requests than those measured";
        case AcceptanceOrigin::kind_of_drafter:
            return "mean of drafters of its kind";
        case AcceptanceOrigin::other_target:
            return "measured on another target";
        case AcceptanceOrigin::assumed:
            return "assumed";
    }
    return {};
}

double spread_over_kinds(const KindsOfRequests& known) {
    const double own = std::max(0, known.count - 1);
    const double variance =
        (kinds_of_the_rest * deviation_of_kinds * deviation_of_kinds + own * known.variance) / (kinds_of_the_rest + own);
    return deviations_of_80_percent * std::sqrt(variance * (1.0 + 1.0 / std::max(1, known.count)));
}

double weight_of_measured(int kinds_of_requests) {
    constexpr double between = deviation_of_drafters * deviation_of_drafters;
    constexpr double unknown = deviation_of_a_measurement * deviation_of_a_measurement;
    return between / (between + unknown / std::max(1, kinds_of_requests));
}

double spread_of_counts(double accept_length, double standard_error, double draft_tokens) {
    const auto odds_at = [&](double length) {
        const double inside = std::clamp(length, 1.0, draft_tokens + 1.0);
        return log_odds(Acceptance::mean_length(inside, draft_tokens, 0.0).position(1));
    };
    const double by = deviations_of_80_percent * standard_error;
    return numerics::root_of_squares(spread_of(AcceptanceOrigin::own_run),
                                     0.5 * (odds_at(accept_length + by) - odds_at(accept_length - by)));
}

double log_odds(double rate) {
    const double inside = std::clamp(rate, 1e-4, 1.0 - 1e-4);
    return std::log(inside / (1.0 - inside));
}

double rate_of_log_odds(double value) { return 1.0 / (1.0 + std::exp(-value)); }

}  // namespace treeline::sim
