#include "sim/acceptance_curves.h"

#include <algorithm>
#include <cmath>

#include "sim/acceptance.h"

namespace treeline::sim {

double spread_of(AcceptanceOrigin origin) {
    switch (origin) {
        case AcceptanceOrigin::own_run:
            return 0.06;
        case AcceptanceOrigin::these_requests:
            return 0.11;
        case AcceptanceOrigin::other_requests:
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
        case AcceptanceOrigin::other_requests:
            return "other requests than those measured";
        case AcceptanceOrigin::other_target:
            return "measured on another target";
        case AcceptanceOrigin::assumed:
            return "assumed";
    }
    return {};
}

double spread_of_counts(double accept_length, double standard_error, double draft_tokens) {
    constexpr double deviations_of_80_percent = 1.2816;  // of a normal law
    const auto odds_at = [&](double length) {
        const double inside = std::clamp(length, 1.0, draft_tokens + 1.0);
        return log_odds(Acceptance::mean_length(inside, draft_tokens, 0.0).position(1));
    };
    const double by = deviations_of_80_percent * standard_error;
    return std::hypot(spread_of(AcceptanceOrigin::own_run), 0.5 * (odds_at(accept_length + by) - odds_at(accept_length - by)));
}

double log_odds(double rate) {
    const double inside = std::clamp(rate, 1e-4, 1.0 - 1e-4);
    return std::log(inside / (1.0 - inside));
}

double rate_of_log_odds(double value) { return 1.0 / (1.0 + std::exp(-value)); }

}  // namespace treeline::sim
