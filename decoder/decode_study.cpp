#include "decoder/decode_study.h"

#include <algorithm>
#include <numeric>

namespace treeline::decoder {

double DecodeResult::accept_length() const {
    double rounds_of_sequences = 0.0, produced = 0.0;
    for (std::size_t accepted = 0; accepted < rounds_by_accepted.size(); ++accepted) {
        rounds_of_sequences += rounds_by_accepted[accepted];
        produced += rounds_by_accepted[accepted] * static_cast<double>(accepted + 1);
    }
    return rounds_of_sequences > 0.0 ? produced / rounds_of_sequences : 0.0;
}

double DecodeResult::tokens_per_second() const {
    const double total = std::accumulate(seconds.round.begin(), seconds.round.end(), 0.0);
    return total > 0.0 ? std::accumulate(tokens_per_round.begin(), tokens_per_round.end(), 0.0) / total : 0.0;
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
