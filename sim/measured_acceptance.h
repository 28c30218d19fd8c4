// Acceptance that others measured, by kind of request, as the acceptance of a traffic.
#pragma once

#include <map>
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
    std::optional<double> batch;        ///< sequences that decoded together; nothing = not stated
    int draft_tokens = 0;               ///< of the chain; 0 for a tree
    std::string shape;                  ///< of the tree, as inputs write it; empty for a chain
    double accept_length = 0.0;         ///< mean tokens a round, bonus token included; 0 where positions are given
    std::vector<double> per_position;   ///< P(the first i drafts are all accepted); empty where only the length is known
    double runs = 1.0;                  ///< measurements that this is the mean of
    double samples = 0.0;               ///< requests of a measurement; 0 = not stated
    std::string source;
};

/// What is asked of the measurements.
struct TrafficKind {
    std::vector<std::pair<std::string, double>> categories;  ///< with their shares of generated tokens; empty = all alike
    std::optional<double> temperature;
    std::string thinking;  ///< "on", "off" or empty = either
    std::optional<double> context;
    std::optional<double> batch = {};
    bool several_loads = false;  ///< `context` and `batch` are the middle of several that are asked for at once
};

/// The answer, and what it rests on.
struct AcceptanceOfTraffic {
    Acceptance chain;                                    ///< of nothing accepted where only trees were measured
    bool has_chain = true;                               ///< whether any chain was measured
    std::vector<std::pair<std::string, double>> shapes;  ///< measured trees, with their accept lengths in this traffic
    std::vector<std::string> remarks;                    ///< what was not measured, and what stands in for it, as sentences
    std::vector<std::string> sources;                    ///< of the measurements used, each once
    KindsOfRequests kinds;                               ///< that were measured, whatever was asked for
    bool kinds_are_known = true;  ///< each kind asked for was measured with this drafter, or with others as with this one
};

/// Acceptance of a traffic of several categories: at each length k that all of them were measured to, the accept length
/// 1/Σ (share/τ_c(k)), since rounds, not tokens, take the time. Of a category the measurements with the asked thinking, and
/// then with the nearest temperature, count, weighted by their runs; between two measured contexts, and between two measured
/// batches, they are weighted by its logarithm. A category that was not measured is predicted from the measured ones: their
/// mean, moved by as much as the category differs from them with other drafters (`neighbours`, each the measurements of one),
/// in logits of the rate of a draft and shrunk by n/(n + 2) for n of them; a remark says so. How far that may be off is
/// AcceptanceOrigin::same_kind. `measured` is not empty.
AcceptanceOfTraffic acceptance_of_traffic(const std::vector<MeasuredAcceptance>& measured, const TrafficKind& traffic,
                                          const std::vector<std::vector<MeasuredAcceptance>>& neighbours = {});

/// The same chain with the log-odds of each conditional rate moved.
Acceptance with_rates_moved(const Acceptance& chain, double by);

/// Accept lengths by draft tokens of measured chains: their means, by their runs.
std::map<int, double> mean_lengths(const std::vector<MeasuredAcceptance>& chains);
/// The mean rate of that many drafts, as log-odds, of measured accept lengths; those of other draft lengths follow by the law
/// of curves.
double rate_log_odds(const std::map<int, double>& lengths, int draft_tokens);

}  // namespace treeline::sim
