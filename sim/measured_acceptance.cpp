#include "sim/measured_acceptance.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace treeline::sim {
namespace {

using Rows = std::vector<const MeasuredAcceptance*>;

/// What measurements over requests of several kinds are filed under.
constexpr const char* mixed_requests = "mixed";

template <class Keep>
Rows kept(const Rows& rows, Keep keep) {
    Rows result;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(result), [&](const auto* row) { return keep(*row); });
    return result;
}

/// The rows whose figure is nearest to the asked one, those of unknown figure among them only if no figure is known.
template <class Figure>
Rows nearest(const Rows& rows, double asked, Figure figure) {
    double least = std::numeric_limits<double>::infinity();
    for (const MeasuredAcceptance* row : rows) {
        if (const std::optional<double> known = figure(*row)) {
            least = std::min(least, std::abs(*known - asked));
        }
    }
    const bool known = std::isfinite(least);
    return kept(rows, [&](const MeasuredAcceptance& row) {
        const std::optional<double> stated = figure(row);
        return known ? stated && std::abs(*stated - asked) <= least : true;
    });
}

/// Mean of what several measurements say, by their runs.
struct Mean {
    double sum = 0.0, weight = 0.0;
    void add(double value, double runs) {
        sum += value * runs;
        weight += runs;
    }
    [[nodiscard]] double value() const { return sum / weight; }
};

/// The measurements of one category in this traffic, and what had to stand in for others.
Rows rows_of_category(const Rows& all, const std::string& category, const TrafficKind& traffic, AcceptanceOfTraffic& result) {
    Rows rows = kept(all, [&](const MeasuredAcceptance& row) { return row.category == category; });
    if (!traffic.thinking.empty()) {
        const Rows asked = kept(rows, [&](const MeasuredAcceptance& row) { return row.thinking == traffic.thinking; });
        if (asked.empty()) {
            result.remarks.push_back("no measurement of " + category + " says that thinking was " + traffic.thinking);
        } else {
            rows = asked;
        }
    }
    if (traffic.temperature) {
        rows = nearest(rows, *traffic.temperature, [](const MeasuredAcceptance& row) { return row.temperature; });
        if (!rows.front()->temperature) {
            result.remarks.push_back("no measurement of " + category + " states its temperature");
        } else if (*rows.front()->temperature != *traffic.temperature) {
            result.remarks.push_back("acceptance of " + category +
                                     " was measured at another temperature, the nearest of which counts");
        }
    }
    return rows;
}

std::map<int, double> values_of(const std::map<int, Mean>& means) {
    std::map<int, double> values;
    for (const auto& [draft_tokens, mean] : means) {
        values[draft_tokens] = mean.value();
    }
    return values;
}

/// Accept lengths by draft tokens: measured at them, or summed over measured positions.
std::map<int, double> lengths_of(const Rows& rows) {
    std::map<int, Mean> means;
    for (const MeasuredAcceptance* row : rows) {
        double length = 1.0;
        int position = 0;
        for (const double accepted : row->per_position) {
            length += accepted;
            means[++position].add(length, row->runs);
        }
        if (row->accept_length > 0.0 && row->draft_tokens > 0) {
            means[row->draft_tokens].add(row->accept_length, row->runs);
        }
    }
    return values_of(means);
}

bool measures_a_chain(const MeasuredAcceptance& row) { return row.shape.empty(); }

Rows rows_of(const std::vector<MeasuredAcceptance>& measured) {
    Rows rows;
    for (const MeasuredAcceptance& row : measured) {
        rows.push_back(&row);
    }
    return rows;
}

/// The categories, each once, in the order of their first chain.
std::vector<std::string> categories_of(const Rows& rows) {
    std::vector<std::string> categories;
    for (const MeasuredAcceptance* row : rows) {
        if (std::find(categories.begin(), categories.end(), row->category) == categories.end()) {
            categories.push_back(row->category);
        }
    }
    return categories;
}

/// The nearest measured figures at or below and at or above the asked one.
template <class Figure>
std::pair<double, double> around(const Rows& rows, double asked, Figure figure) {
    std::pair<double, double> ends = {0.0, std::numeric_limits<double>::infinity()};
    for (const MeasuredAcceptance* row : rows) {
        if (const std::optional<double> known = figure(*row)) {
            ends.first = *known <= asked ? std::max(ends.first, *known) : ends.first;
            ends.second = *known >= asked ? std::min(ends.second, *known) : ends.second;
        }
    }
    return ends;
}

/// Accept lengths at the asked figure: between the nearest measured ones below and above, by the logarithm, of the draft
/// lengths that both have; else at the nearest.
template <class Figure, class LengthsOf>
std::map<int, double> between(const Rows& rows, const std::optional<double>& asked, Figure figure, LengthsOf lengths_of_rows) {
    if (!asked) {
        return lengths_of_rows(rows);
    }
    const auto [below, above] = around(rows, *asked, figure);
    if (below <= 0.0 || !std::isfinite(above) || below == above) {
        return lengths_of_rows(nearest(rows, *asked, figure));
    }
    const auto at = [&](double known) {
        return lengths_of_rows(kept(rows, [&](const MeasuredAcceptance& row) { return figure(row) == known; }));
    };
    const double weight = std::log(*asked / below) / std::log(above / below);
    const std::map<int, double> lower = at(below), upper = at(above);
    std::map<int, double> lengths;
    for (const auto& [draft_tokens, length] : lower) {
        if (const auto other = upper.find(draft_tokens); other != upper.end()) {
            lengths[draft_tokens] = length + weight * (other->second - length);
        }
    }
    return lengths.empty() ? lower : lengths;
}

/// The same at the asked batch and context.
template <class LengthsOf>
std::map<int, double> at_load(const Rows& rows, const TrafficKind& traffic, LengthsOf lengths_of_rows) {
    const auto at_context = [&](const Rows& of_batch) {
        return between(
            of_batch, traffic.context, [](const MeasuredAcceptance& row) { return row.context; }, lengths_of_rows);
    };
    return between(
        rows, traffic.batch, [](const MeasuredAcceptance& row) { return row.batch; }, at_context);
}

/// Accept lengths at the asked batch and context: of each draft length by itself, since not all were measured at every load.
std::map<int, double> lengths_at(const Rows& rows, const TrafficKind& traffic) {
    std::map<int, Rows> alike;
    for (const MeasuredAcceptance* row : rows) {
        alike[row->draft_tokens].push_back(row);
    }
    std::map<int, Mean> means;
    for (const auto& [what, of_length] : alike) {
        double runs = 0.0;
        for (const MeasuredAcceptance* row : of_length) {
            runs += row->runs;
        }
        for (const auto& [draft_tokens, length] : at_load(of_length, traffic, lengths_of)) {
            means[draft_tokens].add(length, runs);
        }
    }
    return values_of(means);
}

/// Accept lengths of trees at the asked batch and context, each by itself.
std::map<std::string, double> shapes_at(const Rows& trees, const TrafficKind& traffic) {
    std::map<std::string, Rows> alike;
    for (const MeasuredAcceptance* row : trees) {
        alike[row->shape].push_back(row);
    }
    std::map<std::string, double> lengths;
    for (const auto& [shape, of_shape] : alike) {
        const auto mean_length = [](const Rows& rows) {
            Mean mean;
            for (const MeasuredAcceptance* row : rows) {
                mean.add(row->accept_length, row->runs);
            }
            return std::map<int, double>{{0, mean.value()}};
        };
        lengths[shape] = at_load(of_shape, traffic, mean_length).at(0);
    }
    return lengths;
}

template <class Figure>
bool differs(const Rows& rows, Figure figure) {
    std::set<double> figures;
    for (const MeasuredAcceptance* row : rows) {
        if (const std::optional<double> known = figure(*row)) {
            figures.insert(*known);
        }
    }
    return figures.size() > 1;
}

/// Of a traffic of several loads whose acceptance differs: at which it is taken; empty where it is the same for all.
std::string remark_on_loads(const Rows& chains, const TrafficKind& traffic) {
    std::string middle;
    const auto add = [&](const char* name, const std::optional<double>& asked, auto figure) {
        if (asked && differs(chains, figure)) {
            middle += (middle.empty() ? "" : " and ") + std::string(name) + " " + std::to_string(std::llround(*asked));
        }
    };
    add("batch", traffic.batch, [](const MeasuredAcceptance& row) { return row.batch; });
    add("context", traffic.context, [](const MeasuredAcceptance& row) { return row.context; });
    return !traffic.several_loads || middle.empty()
               ? ""
               : "acceptance was measured to differ with the load, and is taken at " + middle +
                     ", the middle of the loads that are asked for; ask for one load at a time for that of each";
}

/// The rate of a draft, as a logit: that of the longest chain measured in this category.
std::optional<double> rate_logit(const Rows& chains, const std::string& category) {
    const std::map<int, double> lengths =
        lengths_of(kept(chains, [&](const MeasuredAcceptance& row) { return row.category == category; }));
    if (lengths.empty()) {
        return std::nullopt;
    }
    const auto& [draft_tokens, length] = *lengths.rbegin();
    return log_odds(Acceptance::mean_length(length, draft_tokens, 0.0).position(1));
}

/// How much a category differs from the measured ones with other drafters, in logits, and with how many of them.
std::pair<double, int> difference(const std::string& category, const std::vector<std::string>& measured,
                                  const std::vector<std::vector<MeasuredAcceptance>>& neighbours) {
    double sum = 0.0;
    int count = 0;
    for (const std::vector<MeasuredAcceptance>& neighbour : neighbours) {
        const Rows chains = kept(rows_of(neighbour), measures_a_chain);
        const std::optional<double> asked = rate_logit(chains, category);
        Mean common;
        for (const std::string& known : measured) {
            if (const std::optional<double> rate = rate_logit(chains, known)) {
                common.add(*rate, 1.0);
            }
        }
        if (asked && common.weight > 0.0) {
            sum += *asked - common.value();
            ++count;
        }
    }
    return {count > 0 ? sum / count * count / (count + 2.0) : 0.0, count};
}

/// At each length that all are measured to, the mean of rounds a token.
Acceptance mixture(const std::vector<std::pair<Acceptance, double>>& chains) {
    int most = std::numeric_limits<int>::max();
    double total = 0.0;
    for (const auto& [chain, share] : chains) {
        most = std::min(most, chain.measured_positions());
        total += share;
    }
    std::map<int, double> mixed;
    for (int draft_tokens = 1; draft_tokens <= most; ++draft_tokens) {
        double rounds = 0.0;
        for (const auto& [chain, share] : chains) {
            rounds += share / total / chain.accept_length(draft_tokens);
        }
        mixed[draft_tokens] = 1.0 / rounds;
    }
    return Acceptance::curve(mixed);
}

/// The kinds of requests among these categories, and how they scatter at the longest draft that all were measured to. What is
/// measured over a mix of kinds is of none.
KindsOfRequests kinds_in(const Rows& chains, const std::vector<std::string>& categories) {
    std::vector<std::map<int, double>> lengths;
    int longest = std::numeric_limits<int>::max();
    for (const std::string& category : categories) {
        if (category != mixed_requests) {
            lengths.push_back(lengths_of(kept(chains, [&](const auto& row) { return row.category == category; })));
            longest = std::min(longest, lengths.back().empty() ? 0 : lengths.back().rbegin()->first);
        }
    }
    if (lengths.size() < 2 || longest < 1) {
        return {};
    }
    Mean mean, squares;
    for (const std::map<int, double>& of_kind : lengths) {
        const double odds = rate_log_odds(of_kind, longest);
        mean.add(odds, 1.0);
        squares.add(odds * odds, 1.0);
    }
    const auto count = static_cast<double>(lengths.size());
    const double variance = (squares.value() - mean.value() * mean.value()) * count / (count - 1.0);
    return {static_cast<int>(lengths.size()), std::max(0.0, variance)};
}

/// A question about one drafter.
struct Question {
    Rows chains;
    std::vector<std::string> measured;  ///< categories of the chains
    const TrafficKind& traffic;
    const std::vector<std::vector<MeasuredAcceptance>>& neighbours;
};

Acceptance measured_chain(const Question& question, const std::string& category, AcceptanceOfTraffic& result) {
    const Rows rows = rows_of_category(question.chains, category, question.traffic, result);
    for (const MeasuredAcceptance* row : rows) {
        if (std::find(result.sources.begin(), result.sources.end(), row->source) == result.sources.end()) {
            result.sources.push_back(row->source);
        }
    }
    return Acceptance::curve(lengths_at(rows, question.traffic));
}

Acceptance predicted_chain(const Question& question, const std::string& category, AcceptanceOfTraffic& result) {
    std::vector<std::pair<Acceptance, double>> chains;
    for (const std::string& known : question.measured) {
        chains.emplace_back(measured_chain(question, known, result), 1.0);
    }
    const auto [by, count] = difference(category, question.measured, question.neighbours);
    result.kinds_are_known = result.kinds_are_known && count > 0;
    result.remarks.push_back(
        "acceptance was not measured for " + category + "; " +
        (count > 0 ? "the measured kinds and " + std::to_string(count) + " other drafters, for which it was, stand in"
                   : std::string("the mean of all measured kinds stands in")));
    return with_rates_moved(mixture(chains), by);
}

/// Accept lengths of the trees that were measured in every category asked for.
std::vector<std::pair<std::string, double>> mixed_shapes(const Rows& all,
                                                         const std::vector<std::pair<std::string, double>>& categories,
                                                         const TrafficKind& traffic) {
    double total = 0.0;
    for (const auto& [category, share] : categories) {
        total += share;
    }
    std::map<std::string, double> rounds_by_shape;
    std::map<std::string, std::size_t> measured_in;
    for (const auto& entry : categories) {
        const Rows trees =
            kept(all, [&](const MeasuredAcceptance& row) { return !measures_a_chain(row) && row.category == entry.first; });
        for (const auto& [shape, length] : shapes_at(trees, traffic)) {
            rounds_by_shape[shape] += entry.second / total / length;
            ++measured_in[shape];
        }
    }
    std::vector<std::pair<std::string, double>> shapes;
    for (const auto& [shape, rounds] : rounds_by_shape) {
        if (measured_in[shape] == categories.size()) {
            shapes.emplace_back(shape, 1.0 / rounds);
        }
    }
    return shapes;
}

}  // namespace

Acceptance with_rates_moved(const Acceptance& chain, double by) {
    std::vector<double> positions;
    double position = 1.0;
    for (int i = 1; i <= chain.measured_positions(); ++i) {
        const double before = chain.position(i - 1);
        position *= before > 0.0 ? rate_of_log_odds(log_odds(chain.position(i) / before) + by) : 0.0;
        positions.push_back(position);
    }
    return Acceptance::per_position(positions);
}

std::map<int, double> mean_lengths(const std::vector<MeasuredAcceptance>& chains) { return lengths_of(rows_of(chains)); }

double rate_log_odds(const std::map<int, double>& lengths, int draft_tokens) {
    const double length = Acceptance::curve(lengths).accept_length(draft_tokens);
    return log_odds(Acceptance::mean_length(length, draft_tokens, 0.0).position(1));
}

AcceptanceOfTraffic acceptance_of_traffic(const std::vector<MeasuredAcceptance>& measured, const TrafficKind& traffic,
                                          const std::vector<std::vector<MeasuredAcceptance>>& neighbours) {
    AcceptanceOfTraffic result;
    const Rows all = rows_of(measured);
    Question question{kept(all, measures_a_chain), {}, traffic, neighbours};
    question.measured = categories_of(question.chains);
    result.kinds = kinds_in(question.chains, question.measured);
    result.has_chain = !question.chains.empty();
    std::vector<std::pair<std::string, double>> categories = traffic.categories;
    if (categories.empty()) {
        for (const std::string& category : result.has_chain ? question.measured : categories_of(all)) {
            categories.emplace_back(category, 1.0);
        }
    }
    result.shapes = mixed_shapes(all, categories, traffic);
    if (!result.has_chain) {
        for (const MeasuredAcceptance* row : all) {
            result.sources.push_back(row->source);
        }
        result.chain = Acceptance::geometric(0.0);
        return result;
    }
    std::vector<std::pair<Acceptance, double>> chains;
    for (const auto& [category, share] : categories) {
        const bool known = std::find(question.measured.begin(), question.measured.end(), category) != question.measured.end();
        chains.emplace_back(known ? measured_chain(question, category, result) : predicted_chain(question, category, result),
                            share);
    }
    result.chain = mixture(chains);
    if (const std::string remark = remark_on_loads(question.chains, traffic); !remark.empty()) {
        result.remarks.push_back(remark);
    }
    return result;
}

}  // namespace treeline::sim
