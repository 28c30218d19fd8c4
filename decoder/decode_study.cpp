#include "decoder/decode_study.h"

#include <algorithm>
#include <numeric>

#include "numerics/quantile.h"

namespace treeline::decoder {
namespace {

void append(std::vector<double>& to, const std::vector<double>& more) { to.insert(to.end(), more.begin(), more.end()); }

}  // namespace

double DecodeResult::accept_length() const {
    double rounds_of_sequences = 0.0, produced = 0.0;
    for (std::size_t accepted = 0; accepted < rounds_by_accepted.size(); ++accepted) {
        rounds_of_sequences += rounds_by_accepted[accepted];
        produced += rounds_by_accepted[accepted] * static_cast<double>(accepted + 1);
    }
    return rounds_of_sequences > 0.0 ? produced / rounds_of_sequences : 0.0;
}

double DecodeResult::tokens_per_second() const {
    const double median = numerics::quantile(seconds.round, 0.5);
    const double produced = std::accumulate(tokens_per_round.begin(), tokens_per_round.end(), 0.0);
    return median > 0.0 ? produced / static_cast<double>(seconds.round.size()) / median : 0.0;
}

std::pair<double, double> DecodeResult::middle_half() const {
    return {numerics::quantile(seconds.round, 0.25), numerics::quantile(seconds.round, 0.75)};
}

DecodeResult together(const std::vector<DecodeResult>& runs) {
    DecodeResult all = runs.front();
    all.tokens_per_second_of_runs = {all.tokens_per_second()};
    for (std::size_t run = 1; run < runs.size(); ++run) {
        const DecodeResult& more = runs[run];
        for (const auto phase : {&PhaseSeconds::draft, &PhaseSeconds::verify, &PhaseSeconds::accept, &PhaseSeconds::rollback,
                                 &PhaseSeconds::host, &PhaseSeconds::round}) {
            append(all.seconds.*phase, more.seconds.*phase);
        }
        append(all.tokens_per_round, more.tokens_per_round);
        for (std::size_t accepted = 0; accepted < all.rounds_by_accepted.size(); ++accepted) {
            all.rounds_by_accepted[accepted] += more.rounds_by_accepted[accepted];
        }
        all.rounds += more.rounds;
        all.prompt_seconds = std::min(all.prompt_seconds, more.prompt_seconds);
        all.tokens_per_second_of_runs.push_back(more.tokens_per_second());
    }
    return all;
}

double scatter_of(const DecodeResult& result) {
    const auto& runs = result.tokens_per_second_of_runs;
    const auto [low, high] = std::minmax_element(runs.begin(), runs.end());
    if (runs.size() > 1 && *low > 0.0) {
        return *high / *low - 1.0;
    }
    const auto [quick, slow] = result.middle_half();
    return quick > 0.0 ? slow / quick - 1.0 : 0.0;
}

DecodeSetup plain(DecodeSetup setup) {
    setup.drafter = std::monostate{};
    setup.tree = sim::DraftTree();
    setup.given_acceptance.reset();
    setup.verification = sim::Verification::packed;
    return setup;
}

long long DecodeAnswer::equal_tokens() const {
    long long equal = 0;
    for (std::size_t s = 0; s < decoded.tokens.size(); ++s) {
        const auto& a = decoded.tokens[s];
        const auto& b = plain->tokens[s];
        equal += std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
    }
    return equal;
}

long long DecodeAnswer::all_tokens() const {
    long long all = 0;
    for (const std::vector<int>& tokens : decoded.tokens) {
        all += static_cast<long long>(tokens.size());
    }
    return all;
}

}  // namespace treeline::decoder
