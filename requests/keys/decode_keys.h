// Keys of `treeline decode`.
#pragma once

#include <limits>

#include "decoder/decode.h"
#include "requests/keys/shared_keys.h"
#include "sim/verification.h"

namespace treeline::requests::decode_keys {

using namespace shared_keys;

inline constexpr std::int64_t most_tokens = 1 << 20, usual_draft_tokens = 4;
inline constexpr std::array<std::string_view, 2> elements = {"fp32", "bf16"};
inline constexpr std::array<std::string_view, 3> captures = {"none", "phases", "round"};

inline constexpr PartKey model{"target", "name, path or inline description", "the model, with random weights"};
inline constexpr PartKey drafter{"drafter", "object", "who drafts", "none: plain decoding"};
inline constexpr CountKey draft_tokens{"draft_tokens",    0, sim::most_draft_tokens, {}, "length of a chain, or …",
                                       "4 with a drafter"};
inline constexpr PartKey shape{"shape", "text or object", "… a tree", "none"};
inline constexpr ChoiceKey<sim::Verification> verification{
    "verification", {}, "how drafts are verified", "chains `unrolled`, trees `packed`"};
inline constexpr PartKey rollback{"rollback",
                                  "policy, `auto`",
                                  "how rejected drafts are undone",
                                  "`replay` with recurrent state, else `truncate`",
                                  {},
                                  names_or_auto<sim::Rollback>};
inline constexpr PartKey acceptance{"acceptance", "object", "which drafts are accepted", "greedy"};
inline constexpr CountKey tokens{"tokens", 1, most_tokens, 64, "decoded for each sequence"};
inline constexpr CountKey batch{"batch", 1, 4096, 1, "sequences decoded together"};
inline constexpr CountKey prompt_tokens{"prompt_tokens", 1, most_tokens, 16, "length of the prompt"};
inline constexpr CountKey context_tokens{"context_tokens", 0, most_tokens, 0, "tokens cached in addition"};
inline constexpr WordKey precision{"precision", elements, elements[0], "of tensors"};
inline constexpr WordKey state{"state", elements, elements[0], "of recurrent states"};
inline constexpr TextKey device{"device", "`cpu`, `cuda`, `cuda:1`", "cpu", "where it runs"};
inline constexpr WordKey graphs{"graphs", captures, captures[1], "what is captured on a GPU"};
inline constexpr CountKey seed{"seed", 0, std::numeric_limits<std::int64_t>::max(), 1, "seed of weights and prompts"};
inline constexpr CountKey repeat{"repeat", 1, 1000, 1, "runs timed together"};
inline constexpr SwitchKey plain{"plain", true, "also decodes without speculation"};

inline std::vector<KeyRow> rows() {
    return rows_of(title, source, model, drafter, draft_tokens, shape, verification, rollback, acceptance, tokens, batch,
                   prompt_tokens, context_tokens, precision, state, device, graphs, seed, repeat, plain);
}

}  // namespace treeline::requests::decode_keys

namespace treeline::requests::decode_drafter_keys {

using namespace json;

inline constexpr std::array<std::string_view, 3> kinds = {"first-layers", "model", "ngram"};

inline constexpr WordKey kind{"kind", kinds, {}, "what drafts"};
inline constexpr CountKey layers{"layers", 1, 100'000, {}, "of `first-layers`: how many of the target's own"};
inline constexpr CountKey window{
    "window", 1, decode_keys::most_tokens, {}, "of `first-layers`: cached tokens that are read", "the whole cache"};
inline constexpr CountKey sink{"sink", 0, decode_keys::most_tokens, 0, "of `first-layers`: first tokens that are read as well"};
inline constexpr PartKey model{"model", "as `target`", "of `model`"};
inline constexpr CountKey longest_match{"longest_match", 1, 64, 3, "of `ngram`: tokens that are looked up"};

inline std::vector<KeyRow> rows() { return rows_of(kind, layers, window, sink, model, longest_match); }

}  // namespace treeline::requests::decode_drafter_keys

namespace treeline::requests::decode_acceptance_keys {

using namespace json;
using shared_keys::source;

inline constexpr SwitchKey greedy{"greedy", false, "wherever the random models agree, or …"};
inline constexpr NumbersKey per_position{"per_position", 0.0, 1.0, "… drawn by position, or …"};
inline constexpr NumbersKey per_rank{"per_rank", 0.0, 1.0, "… by rank"};

inline std::vector<KeyRow> rows() { return rows_of(greedy, per_position, per_rank, source); }

}  // namespace treeline::requests::decode_acceptance_keys
