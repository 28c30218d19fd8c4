// Keys of the trees whose object has several.
#pragma once

#include "json/key.h"

namespace treeline::requests::tree_keys {

using namespace json;

inline constexpr PartKey shape{"shape", "text", "a tree in its short form, where an object is expected"};
inline constexpr PartKey drafts{"drafts", "whole number", "chains"};
inline constexpr PartKey chain_tokens{"draft_tokens", "whole number", "tokens of each chain"};
inline constexpr PartKey beams{"beams", "whole number", "beams that are kept"};
inline constexpr PartKey beam_steps{"steps", "whole number", "drafting steps"};
inline constexpr PartKey sglang_steps{"steps", "whole number", "`--speculative-num-steps`"};
inline constexpr PartKey top_k{"top_k", "whole number", "`--speculative-eagle-topk`"};
inline constexpr PartKey sglang_tokens{"draft_tokens", "whole number", "`--speculative-num-draft-tokens`, root included"};
inline constexpr PartKey max_draft_len{"max_draft_len", "whole number", "levels of its dynamic tree"};
inline constexpr PartKey max_top_k{"max_top_k", "whole number", "most children of a node"};
inline constexpr PartKey max_total_draft_tokens{"max_total_draft_tokens", "whole number", "nodes, root excluded"};
inline constexpr PartKey nodes{"nodes", "whole number; in `shapes` an axis", "draft tokens"};
inline constexpr PartKey depth{"depth", "whole number; in `shapes` an axis", "levels"};
inline constexpr PartKey children{"children", "whole number", "most children of a node", "0, any number"};

/// The keys of tree_kinds() and `shape`.
std::vector<KeyRow> rows();
/// Those of the object under one of them.
std::vector<KeyRow> rows_of_kind(const std::string& kind);

}  // namespace treeline::requests::tree_keys
