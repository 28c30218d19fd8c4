// Keys of the parts that design points, workloads and sweeps share: target, precision, platform, drafter, acceptance, axes.
#pragma once

#include <algorithm>
#include <array>

#include "json/key.h"
#include "requests/traffic_kind.h"
#include "sim/drafters/drafter.h"
#include "sim/input_limits.h"
#include "sim/platform.h"
#include "sim/precision.h"

namespace treeline::requests::target_keys {

using namespace json;

inline constexpr PartKey model{"model",
                               "name or path",
                               "catalogue name, description, Hugging Face `config.json`, or GGUF file",
                               {},
                               " ([models](../models/README.md))"};
inline constexpr PartKey precision{"precision", "word or object", "how the target is stored and computed", "as published"};

inline constexpr PartKey placement{"placement", "object", "what of it lies in the host's memory", "all on the device",
                                   " ([below](#placement-placement))"};

inline std::vector<KeyRow> rows() { return rows_of(model, precision, placement); }

}  // namespace treeline::requests::target_keys

/// What of a target lies on the host.
namespace treeline::requests::placement_keys {

using namespace json;

inline constexpr std::array<std::string_view, 2> places = {"device", "host"};
inline constexpr WordKey experts{"experts", places, "device", "where routed experts lie"};
inline constexpr WordKey weights{"weights", places, "device", "where whole layers lie, their caches and states with them"};
inline constexpr CountKey layers{"layers", 1, 10'000, {}, "how many layers that means, from the first on", "all"};
inline constexpr CountKey gpu_layers{
    "gpu_layers", 0, 10'000, {}, "with `weights`, instead: how many layers stay on the device, as `--n-gpu-layers` counts them",
    "none"};

inline std::vector<KeyRow> rows() { return rows_of(experts, weights, layers, gpu_layers); }

}  // namespace treeline::requests::placement_keys

namespace treeline::requests::precision_keys {

using namespace json;

inline constexpr PartKey checkpoint{"checkpoint", "word", "the whole checkpoint, by a word that `precision` takes alone",
                                    "as published", ": the other keys say what a deployment changes of it"};
inline constexpr PartKey weights{"weights", "format", "linear layers", "as published"};
inline constexpr PartKey attention{"attention", "format", "linear layers of attention alone", "`weights`, or as published",
                                   ": NVFP4 checkpoints leave them in 16 bits"};
inline constexpr PartKey lm_head{"lm_head", "format", "LM head alone", "`embeddings`, or as published"};
inline constexpr PartKey experts{"experts", "format", "routed experts", "`weights`"};
inline constexpr PartKey embeddings{"embeddings", "format", "embeddings and LM head", "as published"};
inline constexpr PartKey activations{"activations", "format", "what layers pass on", "as published"};
inline constexpr PartKey kv_cache{"kv_cache", "format", "keys and values", "as published"};
inline constexpr PartKey state{"state", "format", "recurrent states", "as published"};
inline constexpr ChoiceKey<sim::NumberFormat> math{"math", {}, "products with quantised weights", "as published"};
inline constexpr ChoiceKey<sim::NumberFormat> all{
    "all", {}, "everything that the other keys do not name, except the state", "none"};

inline std::vector<KeyRow> rows() {
    return rows_of(checkpoint, weights, attention, lm_head, experts, embeddings, activations, kv_cache, state, math, all);
}

}  // namespace treeline::requests::precision_keys

/// A format of tensors.
namespace treeline::requests::storage_keys {

using namespace json;

inline constexpr ChoiceKey<sim::NumberFormat> format{"format", {}, "of an element"};
inline constexpr NumberKey group_size{
    "group_size", "values", 1.0, 1e9, {}, "values that share a scale", "none: scales are too few to count"};
inline constexpr NumberKey bits{
    "bits", "bits", 1.0, 32.0, {}, "of a value where it is stored in fewer than it is computed in", "those of the format"};
inline constexpr NumberKey scale_bits{"scale_bits", "bits", 1.0, 32.0, 16.0, "size of a scale"};

inline std::vector<KeyRow> rows() { return rows_of(format, group_size, bits, scale_bits); }

}  // namespace treeline::requests::storage_keys

namespace treeline::requests::platform_keys {

using namespace json;

inline constexpr std::array cost_mode_words = [] {
    std::array<std::string_view, sim::all_cost_modes.size()> words{};
    std::transform(sim::all_cost_modes.begin(), sim::all_cost_modes.end(), words.begin(), name_of<sim::CostMode>);
    return words;
}();

inline constexpr PartKey device{
    "device", "name or path", "a GPU, a CPU, an accelerator design or an FPGA board", {}, " (`treeline hardware`)"};
inline constexpr PartKey design{"design", "name or path", "the accelerator on an FPGA board", "the board's own"};
inline constexpr PartKey host{"host", "name or path", "the CPU beside it, whose memory holds what does not lie on the device",
                              "`desktop-ddr5`", ": with `placement` alone it matters"};
inline constexpr CountKey tensor_parallel{"tensor_parallel", 1, sim::most_ranks, 1, "devices that share each layer"};
inline constexpr CountKey expert_parallel{
    "expert_parallel",
    1,
    sim::most_ranks,
    1,
    "ranks over which a mixture's experts are dealt out",
    "1, experts are cut like all layers",
    ". It divides `tensor_parallel` × `attention_data_parallel`; over the rest each expert is cut"};
inline constexpr CountKey attention_data_parallel{
    "attention_data_parallel",
    1,
    sim::most_ranks,
    1,
    "groups of ranks that run attention for requests of their own",
    "",
    " and share the experts, each of `tensor_parallel` ranks. A batch is that of all groups"};
inline constexpr CountKey pipeline_parallel{"pipeline_parallel", 1, sim::most_ranks, 1,
                                            "stages that hold some of the layers each"};
inline constexpr CountKey draft_tensor_parallel{
    "draft_tensor_parallel", 1, sim::most_ranks, {}, "ranks that share the drafter's layers", "as the target's"};
inline constexpr CountKey decode_context_parallel{"decode_context_parallel",
                                                  1,
                                                  sim::most_ranks,
                                                  1,
                                                  "ranks of `tensor_parallel` that share the cached tokens of a sequence",
                                                  "1, each has all tokens of its heads",
                                                  ". It divides `tensor_parallel`"};
inline constexpr CountKey gpus{
    "gpus",
    1,
    sim::most_ranks,
    {},
    "devices in all; alone, they share each layer",
    "the product of the degrees",
    ". In a workload it stands for every cut of so many that the stack's engine offers, or with some of the degrees given for "
    "every cut that has those, and `{\"up_to\": 8}` for every cut of 1 to 8; elsewhere it must be their product"};
inline constexpr std::array<std::string_view, 6> degrees = {tensor_parallel,   expert_parallel,       attention_data_parallel,
                                                            pipeline_parallel, draft_tensor_parallel, decode_context_parallel};
inline constexpr TextKey interconnect{"interconnect",
                                      "text",
                                      "",
                                      "link between them",
                                      "the fastest that joins them all",
                                      ". Sixteen H100 are joined by the `network`, since NVLink joins eight; the platform's "
                                      "label says so"};
inline constexpr PartKey stack{
    "stack", "name or path", "software stack",
    "`cuda-graph`; `cpu` on CPUs; what the description of a device that runs no CUDA names",
    ": what software adds. `vllm`, `sglang` and `tensorrt-llm` are fitted to serving runs, by version (`vllm-0.26`; the plain "
    "name is the newest), `ideal` assumes the data sheet"};
/// As engines/engine.h calls them.
inline constexpr std::array<std::string_view, 4> engine_words = {"vllm", "sglang", "tensorrt-llm", "llama.cpp"};
inline constexpr std::string_view no_engine = "none";  ///< the stack's numbers without its engine's restrictions
inline constexpr TextKey engine{
    "engine",
    "name",
    "",
    "engine to price and to write flags for",
    "the stack's",
    ": vllm, sglang, tensorrt-llm or llama.cpp, or at a version: vllm@0.24. Without `stack` it picks the engine's newest "
    "stack, or that of the version. Drafters, shapes and cuts that the engine lacks are left out; `none` keeps them, without "
    "flags"};
inline constexpr PartKey expert_kernels{
    "expert_kernels", "name or path", "kernels of routed experts", "the engine's own",
    ", picked in its place: `b12x` is `--moe-runner-backend b12x` of SGLang, `b12x-w4a16` the same with 16-bit activations "
    "(`hardware/expert_kernels/`)"};
inline constexpr PartKey attention_kernels{
    "attention_kernels", "name or path", "kernels of attention", "the engine's own",
    ", picked in its place: `triton` is `--attention-backend triton` of SGLang, slow at long contexts where it verifies "
    "(`hardware/attention_kernels/`)"};
inline constexpr WordKey mode{"mode",
                              cost_mode_words,
                              {},
                              "cost model",
                              "`calibrated` where kernels were measured and the stack was fitted with them, else `roofline`",
                              ": the data sheet times the efficiency that the stack states; laws of measured kernels "
                              "(`hardware/calibrations/`); one hardware operational intensity, as in SPIRe"};

inline constexpr ChoiceKey<sim::PrefillPolicy> prefill{
    "prefill",
    {},
    "who reads the prompts of the steady state",
    "as the stack does",
    ": the devices that decode, in the same steps or in between, or a pool of devices of its own, which is as large as it must "
    "be and counts in tokens/s per device and in money; caches then travel over the link"};
inline constexpr CountKey token_budget{"token_budget",
                                       1,
                                       100'000'000,
                                       {},
                                       "most tokens of a step, those of rounds and of prompts together",
                                       "none for rounds, the stack's for prompts",
                                       ": `max_num_batched_tokens` of vLLM, `max_num_tokens` of TensorRT-LLM"};

inline constexpr NumberKey memory_utilisation{"memory_utilisation",
                                              "",
                                              0.01,
                                              1.0,
                                              {},
                                              "share of the device's memory that the engine may take",
                                              "the engine's default",
                                              ": `gpu_memory_utilization` of vLLM, `mem_fraction_static` of SGLang, "
                                              "`free_gpu_memory_fraction` of TensorRT-LLM"};
inline constexpr NumberKey host_speed{
    "host_speed",
    "",
    0.05,
    20.0,
    {},
    "speed of one thread of the host, over a fast desktop's",
    "that of hosts that such devices usually come with",
    ": host times that a stack counts by it: passes that are launched layer by layer, Python that drives kernels one by one"};
inline constexpr NumberKey power_limit{
    "power_limit",
    "W",
    1.0,
    10'000.0,
    {},
    "limit of each device's power (`nvidia-smi -pl`)",
    "none",
    ": takes more from verification, which computes, than from plain steps, which read; known for some devices "
    "(`power_limits` of their description)"};
inline constexpr NumberKey price{
    "price", "$/h", 1e-6, 1e6, {}, "what an hour of one device costs", "as its description states; else unknown"};

inline std::vector<KeyRow> rows() {
    return rows_of(device, design, host, tensor_parallel, expert_parallel, attention_data_parallel, pipeline_parallel,
                   draft_tensor_parallel, decode_context_parallel, gpus, interconnect, stack, engine, expert_kernels,
                   attention_kernels, mode, prefill, token_budget, memory_utilisation, host_speed, power_limit, price);
}

}  // namespace treeline::requests::platform_keys

/// `gpus` of a platform in a workload.
namespace treeline::requests::gpus_keys {

using namespace json;

inline constexpr CountKey up_to{"up_to",
                                1,
                                512,
                                {},
                                "every number of devices up to this one, each in every cut",
                                {},
                                ". A number without a cut is left out"};

inline std::vector<KeyRow> rows() { return rows_of(up_to); }

}  // namespace treeline::requests::gpus_keys

namespace treeline::requests::drafter_keys {

using namespace json;

inline constexpr std::array kinds = [] {
    std::array<std::string_view, sim::drafter_words.size()> words{};
    std::transform(sim::drafter_words.begin(), sim::drafter_words.end(), words.begin(),
                   [](const sim::DrafterWord& drafter) { return drafter.word; });
    return words;
}();

inline constexpr TextKey published{"published",
                                   "name or path",
                                   {},
                                   "instead of the other keys: a published drafter, with what was measured of it",
                                   "",
                                   ": a file of [models/drafters](../models/drafters). Its name may stand for the object, and "
                                   "a kind alone (`eagle3`) for what was published of it. Other keys replace the file's"};
inline constexpr SwitchKey any_target{"any_target", false,
                                      "with `published`: take it for a target that it was not trained for, too"};
inline constexpr WordKey kind{"kind", kinds, {}, "kind of drafter, see below"};
inline constexpr TextKey name{"name", "text", {}, "its name in results", "the kind, or the model's name"};
inline constexpr PartKey acceptance{"acceptance", "object", "how many of its drafts are accepted",
                                    "of `published` as measured, of `lookup-first` that of its parts"};
inline constexpr PartKey model{"model", "name or path",
                               "of `model` and `pard`: shares the target's vocabulary, unless `translated`"};
inline constexpr SwitchKey translated{
    "translated", false,
    "of `model`: it has another vocabulary, and the engine translates its tokens (vLLM's `use_heterogeneous_vocab`, llama.cpp, "
    "universal assisted decoding). That adds nothing to its passes; what it loses is in the acceptance"};
inline constexpr PartKey precision{"precision", "word or object",
                                   "how it is stored and computed: `model`, heads with layers of their own, `quantised-self`",
                                   "as published; heads 16 bits", ". `quantised-self` needs it"};
inline constexpr CountKey draft_vocabulary{"draft_vocabulary",
                                           1,
                                           10'000'000,
                                           {},
                                           "of such heads and block drafters: rows of an LM head of their own",
                                           "the target's; `eagle3` 32,000"};
inline constexpr CountKey input_features{"input_features",
                                         1,
                                         64,
                                         {},
                                         "of such heads and block drafters: hidden vectors that enter",
                                         "2; `eagle3` 3; `dflash`, `dflash2`, `dspark` 5"};
inline constexpr CountKey feed_forward{"feed_forward",
                                       1,
                                       10'000'000,
                                       {},
                                       "of the same: hidden width of their dense feed-forward network",
                                       "the target's dense layers', or 3 model widths"};
inline constexpr CountKey markov_rank{
    "markov_rank", 1, 65'536, {}, "of `dspark`: rank of the head that goes through its drafts, one by one", "256"};
inline constexpr CountKey gru_width{
    "gru_width", 1, 65'536, {}, "of the same: width of the state that such a head carries along, as Domino's does", "none"};
inline constexpr CountKey block{"block",
                                2,
                                sim::most_draft_tokens,
                                {},
                                "of `dflash`, `dflash2` and `dspark`: rows of their one pass, which bound the draft",
                                "16; `dflash2` 8, `dspark` 7",
                                " (one of DFlash's is the last token)"};
inline constexpr CountKey max_draft_tokens{
    "max_draft_tokens",
    1,
    sim::most_draft_tokens,
    {},
    "most tokens that it may draft: what its checkpoint was trained for or its engine allows",
    "the block of block drafters, the number of heads, `max_supported_k` of an acceptance "
    "file; else none"};
inline constexpr CountKey width{"width",
                                1,
                                1'000'000,
                                {},
                                "of heads with layers of their own and `mlp-speculator`: their width",
                                "the target's",
                                ". A head of another width has an embedding and an LM head of its own"};
inline constexpr SwitchKey reads_target_cache{"reads_target_cache", false,
                                              "of heads with layers of their own: they attend to the target's cache and have "
                                              "none (Gemma 4's MTP)"};
inline constexpr CountKey heads{"heads", 1, 64, static_cast<std::int64_t>(sim::MedusaDrafter{}.heads),
                                "of `medusa`, `hydra` and `mlp-speculator`"};
inline constexpr CountKey layers_per_head{"layers_per_head", 1, 64,
                                          static_cast<std::int64_t>(sim::MedusaDrafter{}.layers_per_head), "of the same"};
inline constexpr SwitchKey tied{"tied", false, "of the same: all heads share their weights"};
inline constexpr AxisKey kept_layers{"kept_layers", 0, 99'999,
                                     "of `layer-skip`: the target's layers that draft, counted from 0"};
inline constexpr SwitchKey shares_cache{
    "shares_cache", true, "of `early-exit`, `layer-skip` and `quantised-self`: drafts read the target's own cache"};
inline constexpr NumberKey hit_rate{
    "hit_rate", "",
    1e-6,       1.0,
    1.0,        "of look-ups: share of the rounds that find a draft",
    "",         "; acceptance then counts over these alone. At 1 misses count as rejected drafts"};
inline constexpr NumberKey mean_draft{
    "mean_draft",
    "tokens",
    1.0,
    sim::most_draft_tokens,
    {},
    "of look-ups: mean length of a draft that nothing limits",
    "as long as allowed",
    ". Suffix decoding stops at `min_token_prob` and at a multiple of the match. A rate of acceptance is then one "
    "of the drafts that there are; measured positions and lengths stand"};
inline constexpr PartKey lookup{"lookup", "object", "of `lookup-first`: the look-up, with `hit_rate` and `acceptance`"};
inline constexpr PartKey otherwise{"otherwise", "object", "of `lookup-first`: the drafter where nothing is found"};
inline constexpr SwitchKey drafts_anyway{
    "drafts_anyway", false, "of `lookup-first`: that drafter runs for all sequences, and a match replaces its draft"};
inline constexpr PartKey middle{"middle", "object",
                                "of `cascade`: the drafter that verifies the inner one's drafts, a model or the target itself"};
inline constexpr PartKey inner{"inner", "object", "of `cascade`: who drafts for it, a model or a look-up"};
inline constexpr CountKey inner_draft_tokens{
    "inner_draft_tokens", 1, sim::most_draft_tokens, {}, "of `cascade`: tokens that the inner drafter drafts at a time"};
inline constexpr NumberKey inner_accept_length{
    "inner_accept_length",        "tokens", 1.0,
    sim::most_draft_tokens + 1.0, {},       "of `cascade`: mean tokens of an inner round, the middle one's included"};
inline constexpr NumberKey lookup_us_per_sequence{
    "lookup_us_per_sequence",       "µs", 0.0, 1e9, 1e6 * sim::NgramDrafter{}.lookup_per_sequence.value(),
    "of look-ups: host time of one"};
inline constexpr CountKey layers{"layers",
                                 1,
                                 100'000,
                                 {},
                                 "of these, and of `spire` and `early-exit`, which have no default",
                                 "`dflash`, `dflash2`, `dspark` 5; `p-eagle` 4; other heads 1"};
inline constexpr NumberKey window{
    "window", "tokens", 1.0, sim::longest_context, {}, "of `model`, `sparse-self` and `spire`: of the cache that is read, …"};
inline constexpr NumberKey share{"share", "", 1e-6, 1.0, {}, "… or the share of the context"};
inline constexpr NumberKey sink{"sink", "tokens", 0.0, sim::longest_context, 0.0, "first tokens that are read as well"};
inline constexpr SwitchKey feedback_memory{"feedback_memory", true, "of `spire`"};

inline std::vector<KeyRow> rows() {
    std::vector<KeyRow> rows = rows_of(published, any_target);
    for (const std::vector<KeyRow>& more :
         {traffic_kind_keys::rows(),
          rows_of(kind, name, acceptance, max_draft_tokens, model, translated, precision, draft_vocabulary, input_features,
                  feed_forward, width, reads_target_cache, block, markov_rank, gru_width, heads, layers_per_head, tied,
                  lookup_us_per_sequence, hit_rate, mean_draft, layers, kept_layers, shares_cache, window, share, sink,
                  feedback_memory, lookup, otherwise, drafts_anyway, middle, inner, inner_draft_tokens, inner_accept_length)}) {
        rows.insert(rows.end(), more.begin(), more.end());
    }
    return rows;
}

/// What each of `kinds` is.
inline std::vector<WordRow> rows_of_kinds() {
    std::vector<WordRow> rows;
    for (const sim::DrafterWord& drafter : sim::drafter_words) {
        rows.push_back({std::string(drafter.word), std::string(drafter.meaning)});
    }
    return rows;
}

}  // namespace treeline::requests::drafter_keys

namespace treeline::requests::acceptance_keys {

using namespace json;

inline constexpr NumberKey rate{"rate", "", 0.0,
                                1.0,    {}, "of the first draft: `0.8`; later ones fall as those of measured curves do"};
inline constexpr NumberKey geometric{"geometric", "", 0.0, 1.0, {}, "the same rate of every draft, if that is what you mean"};
inline constexpr NumbersKey per_position{"per_position", 0.0, 1.0,
                                         "P(the first i drafts are all accepted): `[0.8, 0.62, 0.5]`"};
inline constexpr NumberKey mean_length{"mean_length",
                                       "tokens",
                                       1.0,
                                       sim::most_draft_tokens + 1.0,
                                       {},
                                       "mean per round, bonus token included, for chains of `draft_tokens`"};
inline constexpr CountKey draft_tokens{"draft_tokens", 1, sim::most_draft_tokens, {}, "with `mean_length`"};
inline constexpr NumberKey fall{
    "fall",
    "",
    0.0,
    10.0,
    {},
    "with `rate` or `mean_length`: draft i is accepted, once those before it are, with i^−fall times "
    "the rate of the first; at 0 all alike",
    "0.1 as measured curves; 0 of look-ups"};
inline constexpr PartKey curve{"curve", "object", "the same by length of the chain: `{\"1\": 1.8, \"2\": 2.4, \"4\": 3.1}`"};
inline constexpr TextKey published{
    "published", "name or path", {}, "as others measured it: a file of [models/drafters](../models/drafters)"};
inline constexpr TextKey file{
    "file",
    "path",
    {},
    "as a file says: measured by others, or counted by your engine ([below](#files-of-measured-acceptance))"};
inline constexpr TextKey of{"of", "text", {}, "with `file`: the model, if the file has several", "the only one"};
inline constexpr SwitchKey extrapolate{"extrapolate", true,
                                       "whether accept lengths carry over to lengths that were not measured"};
inline constexpr NumbersKey per_rank{"per_rank", 0.0,
                                     1.0,        "for trees, P(the child of rank r is the accepted one): `[0.63, 0.11, 0.06]`",
                                     "none",     ". If given alone, its first rank is the rate of chains"};
inline constexpr PartKey measured{"measured", "list of objects", "accept lengths of individual shapes, used as they are",
                                  "none"};
inline constexpr ChoiceKey<sim::AcceptanceOrigin> origin{
    "origin",
    {},
    "whose requests it was measured on, which decides how wide its interval is",
    "`own-run` of counts of an engine; of a published drafter `same-kind` where the traffic states its categories, and "
    "`other-target` with `any_target`; else `other-requests`"};
inline constexpr NumberKey rounds{
    "rounds", "", 1.0, 1e12, {}, "counted in a run of your own: the more, the narrower the interval", "not counted"};
inline constexpr TextKey source{"source", "text", "", "where it was measured; results repeat it", "none"};

inline std::vector<KeyRow> rows() {
    std::vector<KeyRow> rows =
        rows_of(rate, per_position, mean_length, draft_tokens, curve, published, file, of, geometric, fall);
    for (const std::vector<KeyRow>& more :
         {traffic_kind_keys::rows(), rows_of(extrapolate, per_rank, measured, origin, rounds, source)}) {
        rows.insert(rows.end(), more.begin(), more.end());
    }
    return rows;
}

}  // namespace treeline::requests::acceptance_keys

/// Elements of `measured`.
namespace treeline::requests::measured_shape_keys {

using namespace json;

inline constexpr PartKey shape{"shape", "text or object", "a tree"};
inline constexpr NumberKey accept_length{
    "accept_length", "tokens", 1.0, sim::most_draft_tokens + 1.0, {}, "mean per round, bonus token included"};

inline std::vector<KeyRow> rows() { return rows_of(shape, accept_length); }

}  // namespace treeline::requests::measured_shape_keys

/// An axis as a range. Its bounds are those of the axis.
namespace treeline::requests::range_keys {

using namespace json;

inline constexpr PartKey from{"from", "whole number", "first"};
inline constexpr PartKey to{"to", "whole number", "last"};
inline constexpr PartKey step{"step", "whole number", "increment", "1"};
inline constexpr PartKey powers_of_two{"powers_of_two", "object", "`{\"from\": 1, \"to\": 256}`: 1, 2, 4, … instead"};

inline std::vector<KeyRow> rows() { return rows_of(from, to, step, powers_of_two); }
inline std::vector<KeyRow> rows_of_powers() { return rows_of(from, to); }

}  // namespace treeline::requests::range_keys
