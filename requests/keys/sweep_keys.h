// Keys of a design space.
#pragma once

#include "requests/keys/point_keys.h"
#include "requests/keys/setup_keys.h"
#include "requests/keys/shared_keys.h"

namespace treeline::requests::sweep_keys {

using namespace shared_keys;

inline constexpr PartKey axes{"axes", "object", "the space: every combination is priced"};
inline constexpr PartKey conditions{"conditions", "list", "which points are kept", "none"};

inline std::vector<KeyRow> rows() {
    return rows_of(title, source, axes, decoding, prompt_tokens, output_tokens, prefix_hit, shared_prefix, expert_pool,
                   conditions);
}

}  // namespace treeline::requests::sweep_keys

/// `axes`.
namespace treeline::requests::sweep_axis_keys {

using namespace json;
using shared_keys::draft_tokens, shared_keys::shapes, shared_keys::verification, shared_keys::rollbacks;

inline constexpr PartKey target{"target", "list, or one", "models, each a name or an object"};
inline constexpr PartKey precision{"precision", "list, or one", "every target in each of these", "each target's own"};
inline constexpr PartKey platform{"platform", "list, or one", "either whole platforms …"};
inline constexpr PartKey device{"device", "list, or one", "… or devices, combined with all of these down to `interconnect`"};
inline constexpr AxisKey tensor_parallel{"tensor_parallel", 1, sim::most_ranks, "devices that share each layer", "1"};
inline constexpr AxisKey expert_parallel{
    "expert_parallel",
    1,
    sim::most_ranks,
    "as in a [platform](#platform-platform-platforms)",
    "1",
    ". Of several combinations those are left out whose experts would be dealt out over ranks that there are not"};
inline constexpr AxisKey attention_data_parallel{"attention_data_parallel", 1, sim::most_ranks, "likewise", "1"};
inline constexpr AxisKey pipeline_parallel{"pipeline_parallel", 1, sim::most_ranks, "likewise", "1"};
using platform_keys::decode_context_parallel;
using platform_keys::draft_tensor_parallel;
inline constexpr PartKey stack{"stack", "list, or one", "names or paths", "each device's own"};
inline constexpr PartKey mode{"mode", "list, or one", "cost models", "as for a platform"};
inline constexpr TextKey interconnect{"interconnect", "text", "", "link between devices", "the fastest that joins them"};
inline constexpr PartKey drafter{"drafter", "list of objects", "who drafts; `\"none\"`: nobody", "nobody"};
inline constexpr AxisKey batch{"batch", 1, sim::largest_batch, "sequences decoded together"};
inline constexpr AxisKey concurrency{"concurrency", 1, sim::largest_batch,
                                     "instead of `batch`: requests that clients keep in flight; needs `output_tokens`", "none"};
inline constexpr NumbersKey arrival_rate{"arrival_rate", 1e-9, 1e9,
                                         "instead of `batch`: requests/s that arrive at random; needs `output_tokens`", "none"};
inline constexpr AxisKey context{"context", 0, sim::longest_context, "tokens cached for a sequence",
                                 "the prompt and half of the answer, if both lengths are given"};

inline std::vector<KeyRow> rows() {
    return rows_of(target, precision, platform, device, tensor_parallel, expert_parallel, attention_data_parallel,
                   pipeline_parallel, draft_tensor_parallel, decode_context_parallel, stack, mode, interconnect, drafter,
                   rollbacks, draft_tokens, shapes, verification, batch, concurrency, arrival_rate, context);
}

}  // namespace treeline::requests::sweep_axis_keys

/// Elements of the axes `device`, `stack` and `mode`, and of `precision`.
namespace treeline::requests::sweep_element_keys {

using namespace json;
using platform_keys::design;

inline constexpr PartKey name{"name", "name or path", "the device or stack, or the word"};
inline constexpr PartKey format{"format", "word", "of a checkpoint"};

inline std::vector<KeyRow> rows() { return rows_of(name, design); }
inline std::vector<KeyRow> rows_of_precision() { return rows_of(format); }

}  // namespace treeline::requests::sweep_element_keys

namespace treeline::requests::condition_keys {

using namespace json;

inline constexpr TextKey require{"require", "expression",
                                 {},        "a point is kept if it holds: `\"batch * draft_tokens <= 512\"`",
                                 {},        ", of `draft_tokens`, `depth`, `batch`, `context`, `tensor_parallel`"};
inline constexpr PartKey when{"when", "object", "applies only to points with these values: `{\"drafter\": \"eagle\"}`",
                              "always"};

inline std::vector<KeyRow> rows() { return rows_of(require, when); }

}  // namespace treeline::requests::condition_keys
