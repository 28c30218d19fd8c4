// How far are accept lengths of which one rate, or one mean length, is known, and how far may an acceptance be off?
//
// - the family of curves (sim/acceptance_curves.h) fitted to the measured curves of models/drafters, and its errors on curves
// of
//   targets that it was not fitted to, the golden curves of InferenceX apart
// - the same with modules for MTP falling as those of the same publisher do, which is what answers use
// - the same fitted by kind of drafter, which does not predict them better
// - kinds of requests left out in turn: how many lie within the intervals
// - by how much the shapes of curves, and acceptance on other requests, targets and drafters, differ (one vote a target)
//
// Exits with 1 where an error is above its limit or a number of sim/acceptance_curves.h is not what these fits give.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "acceptance_spreads.h"
#include "models/catalogue.h"
#include "numerics/bisection.h"
#include "numerics/quantile.h"
#include "requests/published_acceptance.h"
#include "requests/usual_fall.h"
#include "shared_measurements.h"
#include "sim/acceptance.h"
#include "source_folder.h"
#include "text/input_file.h"

using namespace treeline;
using namespace treeline::testing;

namespace {

constexpr int longest = 8;
/// Of golden curves, given the first rate, and given the length at 4 drafts; and how many of their four targets reach 0.12 at
/// p90.
constexpr double median_of_first = 0.05, p90_of_first = 0.12, median_of_middle = 0.02, p90_of_middle = 0.05,
                 p90_of_a_target = 0.12;
constexpr int targets_within = 3;
/// Of kinds of requests that were left out, in intervals of nominal 80 %.
constexpr double least_within = 0.72, most_within = 0.92;
/// By how much a number of sim/acceptance_curves.h may differ from its fit.
constexpr double stale_fall = 0.015, stale_shape = 0.15, stale_spread = 0.15;

/// Accept lengths of one drafter under one set of conditions, by draft tokens.
struct Curve {
    std::string target, kind;
    bool golden = false;
    std::map<int, double> lengths;

    /// The shortest length, and 4 or else 3 or 5 drafts.
    [[nodiscard]] int first() const { return lengths.begin()->first; }
    [[nodiscard]] int middle() const {
        for (const int k : {4, 3, 5}) {
            if (lengths.contains(k)) {
                return k;
            }
        }
        return 0;
    }
};
using Curves = std::vector<Curve>;

/// Means of the rows of a category, data set and way of asking.
Curves curves_of(const std::vector<requests::PublishedDrafter>& drafters) {
    Curves curves;
    for (const requests::PublishedDrafter& drafter : drafters) {
        const std::string kind = nlohmann::json::parse(drafter.description).at("kind");
        std::map<std::string, std::map<int, std::vector<double>>> measured;
        for (const sim::MeasuredAcceptance& row : drafter.measured) {
            if (looks_up(kind) || !row.shape.empty() || row.source.starts_with("derived")) {
                continue;
            }
            std::map<int, std::vector<double>>& lengths =
                measured[fmt::format("{}|{}|{}|{}|{}|{}", row.source, row.category, row.dataset, row.thinking,
                                     row.temperature.value_or(-1.0), row.context.value_or(-1.0))];
            double sum = 1.0;
            for (std::size_t i = 0; i < row.per_position.size(); ++i) {
                sum += row.per_position[i];
                lengths[static_cast<int>(i) + 1].push_back(sum);
            }
            if (row.accept_length > 0.0) {
                lengths[row.draft_tokens].push_back(row.accept_length);
            }
        }
        for (const auto& [name, lengths] : measured) {
            Curve curve{drafter.target, kind, name.find("golden_al_distribution") != std::string::npos, {}};
            for (const auto& [draft_tokens, values] : lengths) {
                if (draft_tokens <= longest) {
                    curve.lengths[draft_tokens] = numerics::quantile(values, 0.5);
                }
            }
            const bool known = std::any_of(curves.begin(), curves.end(), [&](const Curve& other) {
                return other.target == curve.target && other.lengths == curve.lengths;
            });
            if (curve.lengths.size() >= 2 && !known) {
                curves.push_back(std::move(curve));
            }
        }
    }
    return curves;
}

/// predicted / measured of the lengths that are not given.
std::vector<double> ratios(const Curve& curve, int given, double fall) {
    std::vector<double> result;
    const auto at = curve.lengths.find(given);
    if (at == curve.lengths.end()) {
        return result;
    }
    const sim::Acceptance acceptance = sim::Acceptance::mean_length(at->second, given, fall);
    for (const auto& [draft_tokens, measured] : curve.lengths) {
        if (draft_tokens != given) {
            result.push_back(acceptance.accept_length(draft_tokens) / measured);
        }
    }
    return result;
}

using Keep = std::function<bool(const Curve&)>;

/// The fall with the least mean error, given the shortest and given a middle length, one vote a target.
double fitted_fall(const Curves& curves, const Keep& keep) {
    double best = 0.0, least = 1e9;
    for (int step = -10; step <= 60; ++step) {
        const double fall = 0.01 * step;
        std::map<std::string, std::vector<double>> errors;
        for (const Curve& curve : curves) {
            for (const int given : std::set<int>{curve.first(), curve.middle()}) {
                double sum = 0.0;
                const std::vector<double> found = keep(curve) ? ratios(curve, given, fall) : std::vector<double>{};
                for (const double ratio : found) {
                    sum += std::abs(std::log(ratio));
                }
                if (!found.empty()) {
                    errors[curve.target].push_back(sum / static_cast<double>(found.size()));
                }
            }
        }
        double mean = 0.0;
        for (const auto& [target, values] : errors) {
            double sum = 0.0;
            for (const double value : values) {
                sum += value;
            }
            mean += sum / static_cast<double>(values.size());
        }
        if (mean < least) {
            least = mean;
            best = fall;
        }
    }
    return best;
}

struct Errors {
    std::vector<double> size, signed_;
    void add(const std::vector<double>& found) {
        for (const double ratio : found) {
            size.push_back(std::abs(ratio - 1.0));
            signed_.push_back(ratio - 1.0);
        }
    }
    [[nodiscard]] double at(double share) const { return numerics::quantile(size, share); }
    [[nodiscard]] std::string text() const {
        return fmt::format("{:4} lengths, median {:4.1f} %, p90 {:4.1f} %, bias {:+5.1f} %", size.size(), 100.0 * at(0.5),
                           100.0 * at(0.9), 100.0 * numerics::quantile(signed_, 0.5));
    }
};

/// Errors by what is given, each target predicted by a fit to the others.
struct LeftOut {
    Errors golden_first, golden_middle, first, middle;
    std::map<std::string, Errors> first_by_target;
};

LeftOut leave_out(const Curves& curves, const std::function<double(const Curve&)>& fall_for) {
    LeftOut result;
    for (const Curve& curve : curves) {
        const double fall = fall_for(curve);
        result.first.add(ratios(curve, curve.first(), fall));
        result.middle.add(ratios(curve, curve.middle(), fall));
        if (curve.golden) {
            result.golden_first.add(ratios(curve, 1, fall));
            result.golden_middle.add(ratios(curve, 4, fall));
            result.first_by_target[curve.target].add(ratios(curve, 1, fall));
        }
    }
    return result;
}

void print(const char* what, const LeftOut& errors) {
    fmt::print("{}\n  golden curves, given the first rate        {}\n  golden curves, given the length at 4       {}\n", what,
               errors.golden_first.text(), errors.golden_middle.text());
    fmt::print("  all curves, given the shortest length      {}\n  all curves, given a middle length          {}\n",
               errors.first.text(), errors.middle.text());
}

/// How steeply the log-odds of rates beyond the first lie below the family's, by ln of the position: what its longest length
/// says.
double steepness(const Curve& curve) {
    const sim::Acceptance family = sim::Acceptance::falling(curve.lengths.at(1) - 1.0);
    const auto [longest_known, measured] = *curve.lengths.rbegin();
    const auto too_flat = [&, k = longest_known, length = measured](double slope) {
        double position = 1.0, sum = 1.0;
        for (int i = 1; i <= k; ++i) {
            const double rate = family.position(i) / family.position(i - 1);
            position *= sim::rate_of_log_odds(sim::log_odds(rate) - slope * std::log(i));
            sum += position;
        }
        return sum > length;
    };
    return numerics::bisect({-8.0, 8.0}, 50, too_flat).middle();
}

bool near(const char* what, double fitted, double used, double tolerance) {
    const bool is_near = std::abs(fitted - used) <= tolerance;
    fmt::print("  {:<34}{:6.2f}, used {:5.2f}{}\n", what, fitted, used, is_near ? "" : ": sim/acceptance_curves.h is stale");
    return is_near;
}

bool shapes_hold(const Curves& curves) {
    std::vector<Vote> slopes;
    std::set<std::string> targets;
    for (const Curve& curve : curves) {
        if (curve.first() == 1) {
            slopes.push_back({curve.target, steepness(curve)});
            targets.insert(curve.target);
        }
    }
    fmt::print("\nShapes of {} curves of {} targets, log-odds by ln of the position:\n", slopes.size(), targets.size());
    const bool steep = near("steeper, nine targets in ten", quantile_of(slopes, 0.9), sim::steeper_curve, stale_shape);
    return near("flatter, nine targets in ten", -quantile_of(slopes, 0.1), sim::flatter_curve, stale_shape) && steep;
}

/// The chains of a drafter by kind of requests, mixes of kinds left out.
std::map<std::string, std::vector<sim::MeasuredAcceptance>> chains_by_requests(const requests::PublishedDrafter& drafter) {
    std::map<std::string, std::vector<sim::MeasuredAcceptance>> chains;
    for (const sim::MeasuredAcceptance& row : drafter.measured) {
        if (row.shape.empty() && row.category != "mixed" && !row.source.starts_with("derived")) {
            chains[row.category].push_back(row);
        }
    }
    return chains;
}

/// Each kind of requests of each drafter left out in turn, and predicted from the drafter's others: how far that is off over
/// how far it may be, where nothing is said of the traffic and where the kind is asked for. Neighbours are drafters of other
/// targets.
struct KindsLeftOut {
    std::vector<Vote> unsaid, asked;
};

KindsLeftOut leave_kinds_out(const std::vector<requests::PublishedDrafter>& drafters) {
    KindsLeftOut result;
    for (const requests::PublishedDrafter& drafter : drafters) {
        std::vector<std::vector<sim::MeasuredAcceptance>> neighbours;
        for (const requests::PublishedDrafter& other : drafters) {
            if (other.target != drafter.target) {
                neighbours.push_back(other.measured);
            }
        }
        const auto chains = chains_by_requests(drafter);
        for (const auto& [category, rows] : chains) {
            std::vector<sim::MeasuredAcceptance> rest;
            for (const auto& [other, more] : chains) {
                if (other != category) {
                    rest.insert(rest.end(), more.begin(), more.end());
                }
            }
            if (rest.empty() || looks_up(nlohmann::json::parse(drafter.description).at("kind"))) {
                continue;
            }
            const sim::AcceptanceOfTraffic mean = sim::acceptance_of_traffic(rest, {});
            const sim::AcceptanceOfTraffic asked =
                sim::acceptance_of_traffic(rest, {{{category, 1.0}}, {}, "", {}}, neighbours);
            std::map<std::string, std::vector<sim::MeasuredAcceptance>> datasets;
            for (const sim::MeasuredAcceptance& row : rows) {
                datasets[row.dataset].push_back(row);
            }
            for (const auto& [dataset, of_dataset] : datasets) {
                const std::map<int, double> measured = sim::mean_lengths(of_dataset);
                const auto off_by = [&](const sim::AcceptanceOfTraffic& found) {
                    const int k = std::min({longest, measured.rbegin()->first, found.chain.measured_positions()});
                    const double length = found.chain.accept_length(k);
                    return std::abs(sim::rate_log_odds({{k, length}}, k) - sim::rate_log_odds(measured, k));
                };
                result.unsaid.push_back({drafter.target, off_by(mean) / sim::spread_over_kinds(mean.kinds)});
                result.asked.push_back({drafter.target, off_by(asked) / sim::spread_of(sim::AcceptanceOrigin::same_kind)});
            }
        }
    }
    return result;
}

double share_within(const std::vector<Vote>& votes) {
    double within = 0.0;
    for (const Vote& vote : votes) {
        within += vote.value <= 1.0 ? 1.0 : 0.0;
    }
    return within / static_cast<double>(votes.size());
}

bool kinds_hold(const std::vector<requests::PublishedDrafter>& drafters) {
    const KindsLeftOut left_out = leave_kinds_out(drafters);
    bool hold = true;
    for (const auto& [what, votes] : {std::pair{"nothing is said of the traffic", &left_out.unsaid},
                                      std::pair{"its kind of requests is", &left_out.asked}}) {
        const double share = share_within(*votes);
        const bool near_nominal = share >= least_within && share <= most_within;
        fmt::print(
            "  of {} data sets whose kinds of requests are left out, {:.0f} % lie in the interval where {} (nominal 80 %){}\n",
            votes->size(), 100.0 * share, what, near_nominal ? "" : ": sim/acceptance_curves.h is stale");
        hold = near_nominal && hold;
    }
    return hold;
}

bool spreads_hold(const std::vector<requests::PublishedDrafter>& drafters) {
    const auto folder = shared_measurements("data/acceptance");
    if (!folder) {
        return true;
    }
    bool hold = true;
    fmt::print("\nA draft's rate, 80 % within, in log-odds:\n");
    for (const MeasuredSpread& spread : measured_spreads(drafters, text::read_file(*folder / "by_dataset_2026-11-25.json"))) {
        std::set<std::string> targets;
        for (const Vote& vote : spread.differences) {
            targets.insert(vote.target);
        }
        const double used = spread_of(spread.origin);
        const std::string what =
            fmt::format("{} ({} of {})", name_of(spread.origin), spread.differences.size(), targets.size());
        hold = near(what.c_str(), quantile_of(spread.differences, 0.8), used, std::max(0.02, stale_spread * used)) && hold;
    }
    return hold;
}

/// As the program takes it where one rate is known; of a target that the catalogue lacks, as all.
double fall_of_module(const std::string& target, requests::Descriptions& descriptions) {
    const std::filesystem::path folder = source_folder() / "models";
    if (!std::filesystem::is_regular_file(folder / (target + ".json"))) {
        return sim::measured_fall;
    }
    const sim::Model model = models::load_model(folder, target).value;
    return requests::usual_fall_of(sim::OneLayerDrafter{0, 2, sim::OneLayerKind::mtp}, &model, descriptions);
}

}  // namespace

int main() {
    std::vector<requests::PublishedDrafter> drafters;
    const std::filesystem::path folder = source_folder() / "models" / "drafters";
    for (const std::string& name : requests::published_drafters(folder)) {
        drafters.push_back(requests::load_published_drafter(folder, name));
    }
    const Curves curves = curves_of(drafters);
    std::map<std::string, double> without;
    std::map<std::pair<std::string, std::string>, double> without_of_kind;
    for (const Curve& curve : curves) {
        const auto others = [&](const Curve& other) { return other.target != curve.target; };
        if (!without.contains(curve.target)) {
            without[curve.target] = fitted_fall(curves, others);
        }
        const auto key = std::pair{curve.target, curve.kind};
        const auto of_kind = [&](const Curve& other) { return others(other) && other.kind == curve.kind; };
        if (!without_of_kind.contains(key)) {
            without_of_kind[key] =
                std::any_of(curves.begin(), curves.end(), of_kind) ? fitted_fall(curves, of_kind) : without[curve.target];
        }
    }
    fmt::print("{} curves of {} targets, each predicted from the others' fit\n\n", curves.size(), without.size());
    const LeftOut fall = leave_out(curves, [&](const Curve& curve) { return without[curve.target]; });
    print("Falling as measured curves do", fall);
    int within = 0;
    for (const auto& [target, errors] : fall.first_by_target) {
        fmt::print("    {:<40} {}\n", target, errors.text());
        within += errors.at(0.9) <= p90_of_a_target ? 1 : 0;
    }
    std::map<std::string, double> of_publisher;  // of modules for MTP
    requests::Descriptions descriptions({source_folder() / "models", source_folder() / "hardware"}, {});
    for (const Curve& curve : curves) {
        if (curve.kind == "mtp" && !of_publisher.contains(curve.target)) {
            of_publisher[curve.target] = fall_of_module(curve.target, descriptions);
        }
    }
    const LeftOut published = leave_out(
        curves, [&](const Curve& curve) { return curve.kind == "mtp" ? of_publisher[curve.target] : without[curve.target]; });
    print("Modules for MTP as those of the same publisher", published);
    print("Fitted by kind of drafter", leave_out(curves, [&](const Curve& curve) {
              return without_of_kind[{curve.target, curve.kind}];
          }));
    print("Geometric", leave_out(curves, [](const Curve&) { return 0.0; }));
    fmt::print("\n");
    bool holds = near("fall", fitted_fall(curves, [](const Curve&) { return true; }), sim::measured_fall, stale_fall);
    holds = shapes_hold(curves) && holds;
    holds = spreads_hold(drafters) && holds;
    holds = kinds_hold(drafters) && holds;
    return holds && published.golden_first.at(0.5) <= median_of_first && published.golden_first.at(0.9) <= p90_of_first &&
                   published.golden_middle.at(0.5) <= median_of_middle && published.golden_middle.at(0.9) <= p90_of_middle &&
                   within >= targets_within
               ? 0
               : 1;
}
