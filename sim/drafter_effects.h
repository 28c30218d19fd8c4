// Drafters that were measured on different requests, made comparable, so that the best of several is not the luckiest.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/measured_acceptance.h"

namespace treeline::sim {

/// What was measured of one drafter.
struct MeasuredDrafter {
    std::string kind, target;
    std::vector<MeasuredAcceptance> measured;
};

/// The log-odds of the mean rate of four drafts as a sum: what the drafter adds, and what the kind of requests does. Fitted by
/// alternating means to all drafters whose chains were measured; kinds of requests count as often as drafters were measured on
/// them.
class DrafterEffects {
public:
    explicit DrafterEffects(const std::vector<MeasuredDrafter>& drafters);

    /// By how much the log-odds of what was measured of one of them are to be moved for what it probably accepts: towards the
    /// mean of its kind (of other drafters, one vote a source, since what one source measures is alike) by what `weight`
    /// leaves, and from its kinds of requests to the mean one, unless those are the ones that are asked for. 0 where no chain
    /// of it was measured.
    [[nodiscard]] double move(std::size_t drafter, double weight, bool requests_are_those) const;
    /// Kinds of requests that it was measured on.
    [[nodiscard]] int kinds_of_requests(std::size_t drafter) const;

private:
    struct Drafter {
        std::string kind, source;
        std::map<std::string, double> log_odds;  ///< by kind of requests; empty: no chain was measured
        double effect = 0.0;
    };
    [[nodiscard]] double of_its_requests(const Drafter& drafter) const;
    [[nodiscard]] std::optional<double> mean_beside(std::size_t drafter) const;

    std::vector<Drafter> drafters_;
    std::map<std::string, double> requests_;  ///< effects; their mean is 0
};

}  // namespace treeline::sim
