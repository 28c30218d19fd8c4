#include "sim/measured_acceptance.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

namespace treeline::sim {
namespace {

using Rows = std::vector<const MeasuredAcceptance*>;

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
        if (rows.front()->temperature.value_or(*traffic.temperature) != *traffic.temperature) {
            result.remarks.push_back("acceptance of " + category +
                                     " was measured at another temperature, the nearest of which counts");
        }
    }
    return rows;
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
    std::map<int, double> lengths;
    for (const auto& [draft_tokens, mean] : means) {
        lengths[draft_tokens] = mean.value();
    }
    return lengths;
}

std::map<std::string, double> shapes_of(const Rows& rows) {
    std::map<std::string, Mean> means;
    for (const MeasuredAcceptance* row : rows) {
        if (!row->shape.empty()) {
            means[row->shape].add(row->accept_length, row->runs);
        }
    }
    std::map<std::string, double> lengths;
    for (const auto& [shape, mean] : means) {
        lengths[shape] = mean.value();
    }
    return lengths;
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

/// Accept lengths at the asked context: between the nearest measured ones below and above, by the logarithm.
std::map<int, double> lengths_at(const Rows& rows, const std::optional<double>& context) {
    double below = 0.0, above = std::numeric_limits<double>::infinity();
    for (const MeasuredAcceptance* row : rows) {
        if (context && row->context && *row->context <= *context) {
            below = std::max(below, *row->context);
        }
        if (context && row->context && *row->context >= *context) {
            above = std::min(above, *row->context);
        }
    }
    const auto at = [&](double known) {
        return lengths_of(kept(rows, [&](const MeasuredAcceptance& row) { return row.context == known; }));
    };
    if (below <= 0.0 || !std::isfinite(above) || below == above) {
        const auto context_of = [](const MeasuredAcceptance& row) { return row.context; };
        return lengths_of(context ? nearest(rows, *context, context_of) : rows);
    }
    const double weight = std::log(*context / below) / std::log(above / below);
    std::map<int, double> lengths = at(below);
    const std::map<int, double> upper = at(above);
    for (auto& [draft_tokens, length] : lengths) {
        if (const auto other = upper.find(draft_tokens); other != upper.end()) {
            length += weight * (other->second - length);
        }
    }
    return lengths;
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

/// The same chain with the logit of each conditional rate moved.
Acceptance moved(const Acceptance& chain, double by) {
    std::vector<double> positions;
    double position = 1.0;
    for (int i = 1; i <= chain.measured_positions(); ++i) {
        const double before = chain.position(i - 1);
        position *= before > 0.0 ? rate_of_log_odds(log_odds(chain.position(i) / before) + by) : 0.0;
        positions.push_back(position);
    }
    return Acceptance::per_position(positions);
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
    return Acceptance::curve(lengths_at(rows, question.traffic.context));
}

Acceptance predicted_chain(const Question& question, const std::string& category, AcceptanceOfTraffic& result) {
    std::vector<std::pair<Acceptance, double>> chains;
    for (const std::string& known : question.measured) {
        chains.emplace_back(measured_chain(question, known, result), 1.0);
    }
    const auto [by, count] = difference(category, question.measured, question.neighbours);
    result.remarks.push_back(
        "acceptance was not measured for " + category + "; " +
        (count > 0 ? "the measured kinds and " + std::to_string(count) + " other drafters, for which it was, stand in"
                   : std::string("the mean of all measured kinds stands in")));
    return moved(mixture(chains), by);
}

/// Accept lengths of the trees that were measured in every category asked for.
std::vector<std::pair<std::string, double>> mixed_shapes(const Rows& all,
                                                         const std::vector<std::pair<std::string, double>>& categories) {
    double total = 0.0;
    for (const auto& [category, share] : categories) {
        total += share;
    }
    std::map<std::string, double> rounds_by_shape;
    std::map<std::string, std::size_t> measured_in;
    for (const auto& entry : categories) {
        const Rows trees =
            kept(all, [&](const MeasuredAcceptance& row) { return !measures_a_chain(row) && row.category == entry.first; });
        for (const auto& [shape, length] : shapes_of(trees)) {
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

AcceptanceOfTraffic acceptance_of_traffic(const std::vector<MeasuredAcceptance>& measured, const TrafficKind& traffic,
                                          const std::vector<std::vector<MeasuredAcceptance>>& neighbours) {
    AcceptanceOfTraffic result;
    const Rows all = rows_of(measured);
    Question question{kept(all, measures_a_chain), {}, traffic, neighbours};
    question.measured = categories_of(question.chains);
    result.has_chain = !question.chains.empty();
    std::vector<std::pair<std::string, double>> categories = traffic.categories;
    if (categories.empty()) {
        for (const std::string& category : result.has_chain ? question.measured : categories_of(all)) {
            categories.emplace_back(category, 1.0);
        }
    }
    result.shapes = mixed_shapes(all, categories);
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
    return result;
}

}  // namespace treeline::sim
