// The input of `treeline decode`:
//   {"target": model, "drafter"?: one of
//        {"kind": "first-layers", "layers": 4, "window"?: 64, "sink"?: 4}   the target's own first layers
//        {"kind": "model", "model": model}                                  a random model of its own
//        {"kind": "ngram", "longest_match"?: 3}                             a look-up in the text so far
//    "draft_tokens": 4 or "shape": a tree, "verification"?: "packed" or "unrolled", "rollback"?: a policy,
//    "acceptance"?: {"greedy": true}, {"per_position": [0.8, 0.6]} or {"per_rank": [0.6, 0.2]},
//    "tokens"?: 64, "batch"?: 1, "prompt_tokens"?: 16, "context_tokens"?: 0, "precision"?: "fp32" or "bf16",
//    "state"?: likewise, "device"?: "cpu", "cuda" or "cuda:1", "graphs"?: "none", "phases" or "round", "seed"?: 1,
//    "repeat"?: 1, "plain"?: true, "title"?, "source"?}
// A model is a name of the catalogue, a path, or a description (models/README.md) in place.
#pragma once

#include <string>

#include "decoder/decode_study.h"
#include "json/reader.h"
#include "requests/descriptions.h"

namespace treeline::requests {

/// Flags that override keys; empty: the file's value.
struct DecodeFlags {
    std::string device, seed, repeat;
};

/// Throws InputError with every problem.
decoder::DecodeInput read_decode(json::Document& document, Descriptions& descriptions, const DecodeFlags& flags);

}  // namespace treeline::requests
