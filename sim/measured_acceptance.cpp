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

/// The measurements of one category in this traffic, and a sentence where others stand in for it.
Rows rows_of_category(const Rows& all, const std::string& category, const TrafficKind& traffic,
                      std::vector<std::string>& remarks) {
    Rows rows = kept(all, [&](const MeasuredAcceptance& row) { return row.category == category; });
    if (rows.empty()) {
        remarks.push_back("acceptance was not measured for " + category + "; the mean of all measured kinds stands in");
        rows = all;
    }
    if (!traffic.thinking.empty()) {
        const Rows asked = kept(rows, [&](const MeasuredAcceptance& row) { return row.thinking == traffic.thinking; });
        if (asked.empty()) {
            remarks.push_back("no measurement of " + category + " says that thinking was " + traffic.thinking);
        } else {
            rows = asked;
        }
    }
    if (traffic.temperature) {
        rows = nearest(rows, *traffic.temperature, [](const MeasuredAcceptance& row) { return row.temperature; });
        if (rows.front()->temperature.value_or(*traffic.temperature) != *traffic.temperature) {
            remarks.push_back("acceptance of " + category +
                              " was measured at another temperature, the nearest of which counts");
        }
    }
    return traffic.context ? nearest(rows, *traffic.context, [](const MeasuredAcceptance& row) { return row.context; }) : rows;
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

}  // namespace

AcceptanceOfTraffic acceptance_of_traffic(const std::vector<MeasuredAcceptance>& measured, const TrafficKind& traffic) {
    AcceptanceOfTraffic result;
    Rows all;
    for (const MeasuredAcceptance& row : measured) {
        all.push_back(&row);
    }
    std::vector<std::pair<std::string, double>> categories = traffic.categories;
    if (categories.empty()) {
        std::map<std::string, bool> seen;
        for (const Rows chains = kept(all, measures_a_chain); const MeasuredAcceptance* row : chains) {
            if (!std::exchange(seen[row->category], true)) {
                categories.emplace_back(row->category, 1.0);
            }
        }
    }
    double total = 0.0;
    for (const auto& [category, share] : categories) {
        total += share;
    }
    std::vector<Acceptance> chains;
    std::map<std::string, double> rounds_by_shape;  // rounds a token, summed over the categories that were measured
    std::map<std::string, std::size_t> measured_in;
    int most = std::numeric_limits<int>::max();
    for (const auto& [category, share] : categories) {
        const Rows of_chains = rows_of_category(kept(all, measures_a_chain), category, traffic, result.remarks);
        const std::map<int, double> lengths = lengths_of(of_chains);
        chains.push_back(Acceptance::curve(lengths));
        most = std::min(most, lengths.rbegin()->first);
        const Rows trees =
            kept(all, [&](const MeasuredAcceptance& row) { return !measures_a_chain(row) && row.category == category; });
        for (const auto& [shape, length] : shapes_of(trees)) {
            rounds_by_shape[shape] += share / total / length;
            ++measured_in[shape];
        }
        for (const MeasuredAcceptance* row : of_chains) {
            if (std::find(result.sources.begin(), result.sources.end(), row->source) == result.sources.end()) {
                result.sources.push_back(row->source);
            }
        }
    }
    std::map<int, double> mixed;
    for (int draft_tokens = 1; draft_tokens <= most; ++draft_tokens) {
        double rounds = 0.0;
        for (std::size_t i = 0; i < categories.size(); ++i) {
            rounds += categories[i].second / total / chains[i].accept_length(draft_tokens);
        }
        mixed[draft_tokens] = 1.0 / rounds;
    }
    result.chain = Acceptance::curve(mixed);
    for (const auto& [shape, rounds] : rounds_by_shape) {
        if (measured_in[shape] == categories.size()) {
            result.shapes.emplace_back(shape, 1.0 / rounds);
        }
    }
    return result;
}

}  // namespace treeline::sim
