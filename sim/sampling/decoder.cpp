#include "sim/sampling/decoder.h"

#include <algorithm>
#include <cmath>

#include "numerics/random.h"

namespace treeline::sim::sampling {
namespace {

void count_at(std::vector<double>& histogram, std::size_t bin, double count = 1.0) {
    histogram.resize(std::max(histogram.size(), bin + 1), 0.0);
    histogram[bin] += count;
}

void add_round(MeasuredAcceptance& measured, const DrawnRound& drawn) {
    ++measured.rounds;
    measured.tokens += static_cast<long long>(drawn.tokens.size());
    count_at(measured.rounds_accepting, drawn.ranks.size());
    for (const int rank : drawn.ranks) {
        count_at(measured.accepted_by_rank, static_cast<std::size_t>(rank - 1));
    }
    measured.none_accepted += drawn.all_rejected ? 1.0 : 0.0;
}

void add(std::vector<double>& to, const std::vector<double>& values, double share = 1.0) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        count_at(to, i, share * values[i]);
    }
}

}  // namespace

MeasuredAcceptance decode(const Round& round, Requests requests, int count, numerics::Random& random) {
    MeasuredAcceptance measured;
    DrawnRound drawn;
    double squares = 0.0;
    for (int request = 0; request < count; ++request) {
        int last = random.below(requests.vocabulary);
        const long long before = measured.tokens;
        for (int i = 0; i < requests.rounds_each; ++i) {
            drawn.clear();
            round(last, random, drawn);
            add_round(measured, drawn);
            last = drawn.tokens.back();
        }
        const double mean = static_cast<double>(measured.tokens - before) / requests.rounds_each;
        squares += mean * mean;
    }
    measured.accept_length = static_cast<double>(measured.tokens) / static_cast<double>(measured.rounds);
    const double variance = squares - count * measured.accept_length * measured.accept_length;
    measured.standard_error = std::sqrt(std::max(variance, 0.0) / (count - 1.0) / count);
    return measured;
}

MeasuredAcceptance combined(const std::vector<MeasuredAcceptance>& worlds) {
    MeasuredAcceptance all;
    double variance = 0.0;
    const auto count = static_cast<double>(worlds.size());
    for (const MeasuredAcceptance& world : worlds) {
        all.rounds += world.rounds;
        all.tokens += world.tokens;
        all.accept_length += world.accept_length / count;
        variance += world.standard_error * world.standard_error / (count * count);
        add(all.rounds_accepting, world.rounds_accepting);
        add(all.accepted_by_rank, world.accepted_by_rank);
        all.none_accepted += world.none_accepted;
    }
    all.standard_error = std::sqrt(variance);
    return all;
}

ExpectedRound expected_acceptance(const RoundLaw& law, Requests requests) {
    ExpectedRound mean;
    mean.next_root.assign(static_cast<std::size_t>(requests.vocabulary), 1.0 / requests.vocabulary);
    const double share = 1.0 / requests.rounds_each;
    for (int i = 0; i < requests.rounds_each; ++i) {
        ExpectedRound round = law(mean.next_root);
        add(mean.at_least, round.at_least, share);
        add(mean.accepted_by_rank, round.accepted_by_rank, share);
        mean.none_accepted += share * round.none_accepted;
        mean.next_root = std::move(round.next_root);
    }
    return mean;
}

}  // namespace treeline::sim::sampling
