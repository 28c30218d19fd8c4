#include "runs/rates_by_load.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace treeline::runs {
namespace {

/// Whether rates of rising loads, three at least, never rise and end well below the first.
bool falls(std::vector<std::pair<double, double>> rates) {
    constexpr std::size_t fewest = 3;
    constexpr double well_below = 0.7;
    std::sort(rates.begin(), rates.end());
    const bool rises = std::adjacent_find(rates.begin(), rates.end(), [](const auto& less, const auto& more) {
                           return more.second > less.second || more.first == less.first;
                       }) != rates.end();
    return rates.size() >= fewest && !rises && rates.back().second < well_below * rates.front().second;
}

}  // namespace

std::string doubt_of_totals(const MeasuredRun& run) {
    std::map<std::pair<int, double>, std::vector<std::pair<double, double>>> rates;  // by draft length and context
    for (const RunCell& cell : run.cells) {
        if (cell.concurrency && cell.batch > 0.0 && cell.tokens_per_second.known()) {
            rates[{cell.draft_tokens, cell.context}].emplace_back(cell.batch, cell.tokens_per_second.mean());
        }
    }
    const bool any = std::any_of(rates.begin(), rates.end(), [](const auto& of) { return falls(of.second); });
    return any ? "tokens/s fall as more requests run, as totals of all requests seldom do; if they are of one request each, "
                 "the "
                 "heading \"tok/s per request\" says so"
               : "";
}

}  // namespace treeline::runs
