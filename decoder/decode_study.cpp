#include "decoder/decode_study.h"

#include <algorithm>

namespace treeline::decoder {

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
