// Acceptance that others measured, by kind of request, as the acceptance of a traffic.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/acceptance.h"

namespace treeline::sim {

/// One measurement of a drafter: mean tokens a round at one draft length, or acceptance by position up to it.
struct MeasuredAcceptance {
    std::string category;               ///< kind of requests: "math", "code", "chat", …
    std::string dataset;                ///< as the source names it; empty = not stated
    std::optional<double> temperature;  ///< nothing = not stated
    std::string thinking;               ///< "on", "off" or empty = not stated
    std::optional<double> context;      ///< tokens before the answer; nothing = not stated
    int draft_tokens = 0;               ///< of the chain; 0 for a tree
    std::string shape;                  ///< of the tree, as inputs write it; empty for a chain
    double accept_length = 0.0;         ///< mean tokens a round, bonus token included; 0 where positions are given
    std::vector<double> per_position;   ///< P(the first i drafts are all accepted); empty where only the length is known
    double runs = 1.0;                  ///< measurements that this is the mean of
    std::string source;
};

/// What is asked of the measurements.
struct TrafficKind {
    std::vector<std::pair<std::string, double>> categories;  ///< with their shares of generated tokens; empty = all alike
    std::optional<double> temperature;
    std::string thinking;  ///< "on", "off" or empty = either
    std::optional<double> context;
};

/// The answer, and what it rests on.
struct AcceptanceOfTraffic {
    Acceptance chain;
    std::vector<std::pair<std::string, double>> shapes;  ///< measured trees, with their accept lengths in this traffic
    std::vector<std::string> remarks;                    ///< what was not measured, and what stands in for it, as sentences
    std::vector<std::string> sources;                    ///< of the measurements used, each once
};

/// Acceptance of a traffic of several categories: at each length k that all of them were measured to, the accept length
/// 1/Σ (share/τ_c(k)), since rounds, not tokens, take the time. Of a category the measurements with the asked thinking, and
/// then with the nearest temperature and context, count, weighted by their runs. Where a category was not measured, all others
/// stand in for it, and a remark says so. `measured` holds at least one chain.
AcceptanceOfTraffic acceptance_of_traffic(const std::vector<MeasuredAcceptance>& measured, const TrafficKind& traffic);

}  // namespace treeline::sim
