#include <algorithm>

#include "decoder/drafting.h"

namespace treeline::decoder {

std::vector<int> ngram_continuations(const std::vector<int>& text, int longest_match, int count) {
    std::vector<int> found;
    const auto length = static_cast<std::ptrdiff_t>(text.size());
    for (std::ptrdiff_t match = std::min<std::ptrdiff_t>(longest_match, length - 1); match > 0; --match) {
        const auto pattern = text.end() - match;
        for (std::ptrdiff_t end = length - 1; end >= match; --end) {
            const int next = text[static_cast<std::size_t>(end)];
            if (std::equal(pattern, text.end(), text.begin() + end - match) &&
                std::find(found.begin(), found.end(), next) == found.end()) {
                found.push_back(next);
                if (static_cast<int>(found.size()) == count) {
                    return found;
                }
            }
        }
    }
    return found;
}

HostDrafting::HostDrafting(const sim::DraftTree& tree, std::optional<NgramLookup> lookup, const Batch& batch, Memory& memory,
                           IndexTable& table, int* draft_ids)
    : tree_(tree),
      lookup_(lookup),
      batch_(batch),
      memory_(memory),
      ids_(table.add(static_cast<std::size_t>(batch.sequences) * static_cast<std::size_t>(batch.tree_tokens))),
      draft_ids_(draft_ids) {}

void HostDrafting::prepare(const std::vector<Outcome>& /*outcomes*/, const std::vector<Text>& texts) {
    for (int sequence = 0; sequence < batch_.sequences; ++sequence) {
        const std::vector<int>& tokens = texts[static_cast<std::size_t>(sequence)].tokens;
        int* ids = ids_.host().data() + std::ptrdiff_t{sequence} * batch_.tree_tokens;
        ids[0] = tokens.back();
        for (int token = 0; lookup_ && token < tree_.verified_tokens(); ++token) {
            if (tree_.children(token) == 0) {
                continue;
            }
            std::vector<int> path;
            for (int at = token; at > 0; at = tree_.parent(at)) {
                path.push_back(ids[at]);
            }
            std::vector<int> text = tokens;
            text.insert(text.end(), path.rbegin(), path.rend());
            const std::vector<int> next = ngram_continuations(text, lookup_->longest_match, tree_.children(token));
            for (int rank = 0; rank < tree_.children(token); ++rank) {
                // Where nothing was found any id will do; acceptance by chance wants one.
                const auto i = static_cast<std::size_t>(rank);
                ids[tree_.first_child(token) + rank] = i < next.size() ? next[i] : text.back();
            }
        }
    }
}

void HostDrafting::draft() { gather_ints(memory_, batch_.sequences * batch_.tree_tokens, ids_.device(), {}, draft_ids_, {}); }

}  // namespace treeline::decoder
