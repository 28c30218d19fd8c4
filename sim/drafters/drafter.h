// Drafters: who proposes tokens, and what that costs. One file for each kind beside this interface; a new kind is a struct in
// the variant below, its words in the list, and the functions `plan` and `problems_of`.
#pragma once

#include <array>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/acceptance.h"
#include "sim/drafters/plan.h"

namespace treeline::sim {

inline namespace drafter_kinds {  // which the facade takes whole (include/treeline/recommend.h)

/// A smaller model of its own, run once per draft token, or once for all of them (PARD: trained to fill in masks).
struct IndependentDrafter {
    Model model;
    Precision precision;
    bool parallel = false;
    ContextReach reach = {};  ///< of its cache, if that is cut (TriForce's smallest model; SGLang's draft window)
    bool translated = false;  ///< it has another vocabulary than its target, and the engine translates its tokens
};

/// The target drafts for itself, more cheaply than it verifies: it reads part of its cache (MagicDec), runs some of its layers
/// (LayerSkip and other early exits; SWIFT), or computes in fewer bits (QuantSpec); any of them at once.
///
/// A LayerSkip verification continues from the exit layer for tokens that were drafted. That saves FLOPs of the first layers
/// but no weights, which the last draft token and the root need anyway, so verification is priced whole.
struct SelfDrafter {
    ContextReach reach = {};          ///< of its cache
    std::vector<std::size_t> layers;  ///< those that run, counted from 0 and rising; empty = all
    std::optional<Precision> copy;    ///< formats of a second copy of the weights; nothing = the target's own weights
    bool shares_cache = false;        ///< drafts read the target's cache itself, of which no part is held twice
};

/// The first layers of the target with a sparse cache and feedback memory (SPIRe).
struct SpireDrafter {
    Count layers = 1;
    ContextReach reach;
    bool feedback_memory = true;
};

/// Which published one-layer drafter it is. Engines load each differently; the cost follows from the numbers below.
enum class OneLayerKind {
    generic,  ///< not stated
    eagle,    ///< EAGLE-1 and EAGLE-2: a checkpoint of its own, under the target's LM head
    eagle3,   ///< EAGLE-3: features of three layers, usually an LM head of its own over the most common tokens
    mtp       ///< multi-token prediction: a module of the target's checkpoint
};

/// One layer of the target's kind, fed with the target's hidden states, under the target's LM head (EAGLE, MTP).
struct OneLayerDrafter {
    Count draft_vocabulary = 0;  ///< rows of the drafter's own LM head (EAGLE-3); 0 = shares the target's
    Count input_features = 2;    ///< vectors of the model width that the fusion layer reads (2: token and hidden state)
    OneLayerKind kind = OneLayerKind::generic;
    bool parallel = false;   ///< one pass for all draft tokens (P-EAGLE)
    Count layers = 1;        ///< P-EAGLE heads have several
    Count feed_forward = 0;  ///< hidden width of a dense feed-forward network; 0 = see dense_width_beside()
    Count width = 0;         ///< of the layer, if it is not the model's; it then has an embedding and an LM head of its own
    /// Attends to keys and values of the target's cache and has none of its own: nothing to prefill or to catch up on (Gemma
    /// 4's MTP assistants; SGLang's FROZEN_KV_MTP).
    bool reads_target_cache = false;
    std::optional<Precision> precision = {};  ///< nothing = see head_precision() for EAGLE heads, the target's for others

    /// As in published EAGLE-3 heads: `draft_vocab_size` 32,000 (config.json of yuhuili/EAGLE3-LLaMA3.1-Instruct-8B and of the
    /// Qwen3 heads), and hidden states of a low, a middle and a high layer (arXiv 2503.01840, section 3). Its fusion of three
    /// runs once a round and its wider q, k and v (token and feature side by side, about 1.5 features more) in every draft
    /// pass; three features in every pass lie in between.
    static OneLayerDrafter published_eagle3() { return {32'000, 3, OneLayerKind::eagle3}; }

    /// P-EAGLE: an EAGLE-3 head of four layers over the whole vocabulary (docs of vLLM's speculators, 2026).
    static OneLayerDrafter published_p_eagle() { return {0, 3, OneLayerKind::eagle3, true, 4}; }
};

/// Which published parallel drafter it is.
enum class ParallelKind {
    dflash,  ///< DFlash: predictions stand at the masks, so a block of b rows holds b − 1 drafts
    dspark   ///< DSpark: predictions stand one before, so it holds b
};

/// A few dense layers that fill in a whole block of draft tokens in one pass, over keys and values made from the target's
/// hidden states, under the target's embedding and LM head (DFlash, DSpark). Published ones have 5 layers, blocks of 8 or 16
/// rows and features of 5 or 6 of the target's layers (docs of vLLM's speculators, 2026). Beside a target that attends over
/// compressed entries (DeepSeek-V4) DSpark's layers are of the target's kind, experts and formats included, but see a window
/// alone.
///
/// A Markov head makes the drafts depend on each other (DSpark, Domino): after the layers it runs once for each of them, and
/// adds to its logits what the token before says, a row of rank `markov_rank` times a table of the whole vocabulary, which is
/// read anew each time (`VanillaMarkov` of DeepSeek's DeepSpec). Domino's carries a GRU along and reads the layers' output,
/// too, and its first draft goes without (`prefix_gru`, `embed_proj` of SGLang's domino_utils.py).
struct ParallelDrafter {
    ParallelKind kind = ParallelKind::dflash;
    Count layers = 5;
    Count block = 16;                         ///< rows of a pass, a hard limit to the draft
    Count input_features = 5;                 ///< hidden states of the model width that are fused for each accepted token
    Count feed_forward = 0;                   ///< hidden width of the dense feed-forward network; 0 = see dense_width_beside()
    std::optional<Precision> precision = {};  ///< nothing = head_precision()
    Count draft_vocabulary = 0;               ///< rows of an LM head of its own (vLLM's speculators); 0 = the target's serves
    Count markov_rank = 0;                    ///< 0 = drafts do not depend on each other
    Count gru_width = 0;                      ///< of the state that a Markov head carries along; 0 = the last token alone

    /// DSpark heads are trained with blocks of 7 (DeepSeek's, Kimi's and Qwen3's; SGLang's default) and rank 256.
    static ParallelDrafter published_dspark() { return {ParallelKind::dspark, 5, 7, 5, 0, {}, 0, 256}; }
    /// The head inside DeepSeek-V4's checkpoints: three layers, features of three layers (dspark_target_layer_ids of its
    /// configs; `configure_deepseek_v4_dspark_args` of xLLM).
    static ParallelDrafter dspark_of_deepseek_v4() { return {ParallelKind::dspark, 3, 7, 3, 0, {}, 0, 256}; }
};

/// Which published heads they are.
enum class HeadsKind {
    medusa,  ///< each reads the target's last hidden state alone
    hydra,   ///< each also reads the embeddings of the tokens drafted before it, so that drafts depend on each other
    mlp      ///< MLP speculators: a narrow state is passed on, with an embedding and an LM head for each position
};

/// Heads on the target's last hidden state, one for each draft position and each with an LM head of its own. They have no cache
/// and read no prompts.
struct MedusaDrafter {
    Count heads = 4;
    Count layers_per_head = 1;
    HeadsKind kind = HeadsKind::medusa;
    Count width = 0;    ///< of the state of an MLP speculator; 0 = the target's
    bool tied = false;  ///< one set of weights serves all positions
};

/// Which look-up it is. The cost is the same; engines load them differently.
enum class LookupKind {
    ngram,     ///< prompt look-up: the last tokens are searched in the request's own text
    suffix,    ///< suffix decoding: in a suffix tree of the request and of earlier answers
    recycling  ///< token recycling: in a table of each token's last most likely successors (a few MB: the vocabulary times 8)
};

/// Looks up continuations in tokens seen before: no model, host time only.
///
/// Not every round finds one, and one that is found may be short (suffix decoding drafts as long as its statistics reach a
/// probability and a multiple of the match). The target then verifies fewer tokens: 1 + hit_rate·(1 + ρ + … + ρ^(k−1)), where a
/// draft goes on with probability ρ = 1 − 1/mean_draft. Acceptance counts over the drafts that were made, as engines log it.
struct NgramDrafter {
    /// vLLM 0.10 on H100: 1.3 to 1.6 % of a round at batch 64 and 128 (SpecDecode-Bench, series sdbench-timebreakdown).
    Seconds lookup_per_sequence{2e-6};
    LookupKind kind = LookupKind::ngram;
    double hit_rate = 1.0;    ///< share of the rounds that draft; 1 where misses count as rejected drafts
    double mean_draft = 0.0;  ///< mean length of a draft without a limit, at least 1; 0 = always as long as allowed
};

/// A drafter that a look-up is tried before, or that drafts for another one: any with a model.
using ModelDrafter =
    std::variant<IndependentDrafter, SelfDrafter, SpireDrafter, OneLayerDrafter, ParallelDrafter, MedusaDrafter>;

/// A look-up first, and a model where it finds nothing (TensorRT-LLM's use_sa_spec; llama.cpp's list of types). The model
/// drafts for the other sequences of the batch only; what keeps its cache in step runs for all of them.
struct LookupFirstDrafter {
    NgramDrafter lookup;  ///< its hit_rate is the share of rounds in which the look-up drafts
    ModelDrafter otherwise;
    bool drafts_anyway = false;  ///< the model drafts for all sequences, and a match replaces its draft
};

/// A drafter whose drafts are drafted, too: an inner drafter proposes `inner_tokens` at a time, the middle one verifies them
/// and keeps `inner_length`, and the target verifies what the middle one kept (TriForce: a small model, the target with a cut
/// cache, the target; CS Drafting's vertical cascade: a look-up, a small model, the target).
struct CascadeDrafter {
    std::variant<IndependentDrafter, SelfDrafter> middle;
    std::variant<IndependentDrafter, NgramDrafter> inner;
    int inner_tokens = 2;
    double inner_length = 2.0;  ///< mean tokens of an inner round, that of the middle model included; 1 to inner_tokens + 1
};

/// Plain decoding: nothing is drafted.
struct NoDrafter {};

using Drafter = std::variant<IndependentDrafter, SelfDrafter, SpireDrafter, OneLayerDrafter, ParallelDrafter, MedusaDrafter,
                             NgramDrafter, LookupFirstDrafter, CascadeDrafter, NoDrafter>;

}  // namespace drafter_kinds

/// A drafter as inputs and files name it. A kind has a word for each published form that differs in its defaults.
struct DrafterWord {
    std::string_view word;
    std::string_view title;    ///< on pages; empty: the word itself
    std::string_view meaning;  ///< what it is, in Markdown, by the keys of inputs
};
inline constexpr auto drafter_words = std::to_array<DrafterWord>({
    {"model", "", "a separate, smaller model"},
    {"sparse-self", "", "the target with part of its cache (MagicDec)"},
    {"early-exit", "early exit", "the target's first `layers`"},
    {"layer-skip", "LayerSkip", "the target's `kept_layers` (LayerSkip, SWIFT)"},
    {"quantised-self", "", "the target in another `precision` (QuantSpec)"},
    {"spire", "SPIRe", "SPIRe: the target's first `layers` with part of their cache"},
    {"one-layer", "",
     "any other drafter of one layer; in engine flags it counts as EAGLE-3 if it has its own vocabulary or three input "
     "features, else as EAGLE"},
    {"eagle", "EAGLE", "an EAGLE-1 or EAGLE-2 head"},
    {"hass", "HASS", "an EAGLE head trained as HASS; its passes are those of `eagle`"},
    {"eagle3", "EAGLE-3", "an EAGLE-3 head; its defaults are those of the published ones"},
    {"p-eagle", "P-EAGLE", "an EAGLE-3 head of several layers that drafts all tokens in one pass"},
    {"mtp", "MTP",
     "multi-token prediction: a module of the target's checkpoint, which must have one "
     "([models](../models/README.md#the-format))"},
    {"dflash", "DFlash",
     "a few layers that fill in a block of tokens in one pass, over keys and values made from the target's hidden states"},
    {"dflash2", "DFlash2", "`dflash` with a convolution and a selector of candidates, which are not priced"},
    {"dspark", "DSpark", "`dflash` with a draft at every row of the block and a Markov head that runs once for each of them"},
    {"pard", "PARD", "a separate model that fills in masks, all tokens in one pass"},
    {"medusa", "Medusa", "heads on the target's hidden state, independent of each other"},
    {"hydra", "Hydra", "heads that read the tokens drafted before, too"},
    {"mlp-speculator", "MLP speculator", "heads that hand a narrow state on"},
    {"ngram", "n-gram look-up", "look-up in the request's tokens"},
    {"suffix", "suffix decoding", "look-up in a suffix tree of earlier answers"},
    {"token-recycling", "token recycling", "look-up in a table of each token's successors"},
    {"lookup-first", "", "a `lookup`, and where it finds nothing the drafter `otherwise`; each with its `acceptance`"},
    {"cascade", "", "`middle` drafts for the target, `inner` for `middle` (TriForce)"},
});

/// Width of a dense feed-forward network beside the target: that of its dense layers, or three model widths where it has none.
Count dense_width_beside(const Model& target);

/// Formats of a head trained beside a target, as it was published: in 16 bits or more, whatever the target is quantised to. Its
/// format is that of the target's embeddings, or of its activations where the embeddings are quantised, too (llama.cpp, MLX);
/// an LM head that it shares stays the target's.
Precision head_precision(const Precision& target, bool shares_head);
/// A precision that somebody states for a drafter, of what is its own: an embedding and an LM head that it shares stay the
/// target's.
Precision beside_target(const Precision& stated, const Precision& target, bool shares_head);

/// For acceptance that counts rounds in which a look-up found nothing as rejected drafts, as publications print it, although
/// engines verify no draft in those. Found drafts are accepted with `lookup_first` and `lookup_further` (sim/constants.h): a
/// share of the rounds follows, `hit_rate`, that leaves the accept length of up to `draft_tokens` as it was. `chain` then
/// counts over these rounds alone.
void count_misses(NgramDrafter& lookup, Acceptance& chain, int draft_tokens);

DrafterPlan plan(const IndependentDrafter& drafter, const Model& target, const Precision& target_precision);
DrafterPlan plan(const SelfDrafter& drafter, const Model& target, const Precision& target_precision);
DrafterPlan plan(const SpireDrafter& drafter, const Model& target, const Precision& target_precision);
DrafterPlan plan(const OneLayerDrafter& drafter, const Model& target, const Precision& target_precision);
DrafterPlan plan(const ParallelDrafter& drafter, const Model& target, const Precision& target_precision);
DrafterPlan plan(const MedusaDrafter& drafter, const Model& target, const Precision& target_precision);
DrafterPlan plan(const NgramDrafter& drafter, const Model& target, const Precision& target_precision);
DrafterPlan plan(const LookupFirstDrafter& drafter, const Model& target, const Precision& target_precision);
DrafterPlan plan(const CascadeDrafter& drafter, const Model& target, const Precision& target_precision);
DrafterPlan plan(const NoDrafter& drafter, const Model& target, const Precision& target_precision);

/// Of any kind: one without a plan of its own does not compile.
DrafterPlan plan(const std::same_as<Drafter> auto& drafter, const Model& target, const Precision& target_precision) {
    return std::visit([&](const auto& d) { return plan(d, target, target_precision); }, drafter);
}

/// Every reason why this drafter cannot serve this target, as sentences (another vocabulary, no attention to make sparse, …).
std::vector<std::string> problems_of(const IndependentDrafter& drafter, const Model& target);
std::vector<std::string> problems_of(const SelfDrafter& drafter, const Model& target);
std::vector<std::string> problems_of(const SpireDrafter& drafter, const Model& target);
std::vector<std::string> problems_of(const OneLayerDrafter& drafter, const Model& target);
std::vector<std::string> problems_of(const ParallelDrafter& drafter, const Model& target);
std::vector<std::string> problems_of(const MedusaDrafter& drafter, const Model& target);
std::vector<std::string> problems_of(const NgramDrafter& drafter, const Model& target);
std::vector<std::string> problems_of(const LookupFirstDrafter& drafter, const Model& target);
std::vector<std::string> problems_of(const CascadeDrafter& drafter, const Model& target);
std::vector<std::string> problems_of(const NoDrafter& drafter, const Model& target);

std::vector<std::string> problems_of(const std::same_as<Drafter> auto& drafter, const Model& target) {
    return std::visit([&](const auto& d) { return problems_of(d, target); }, drafter);
}

/// The same of a cut of the target's cache.
std::vector<std::string> problems_of(const ContextReach& reach, const Model& target);

/// The target's model, with every attention layer reading only `reach` of its context.
Model with_reach(Model model, const ContextReach& reach);

/// Parameter bytes that the drafter adds to each of `ranks` devices.
Bytes added_weights(const DrafterPlan& plan, double ranks, const Parallelism& parallel = {});

}  // namespace treeline::sim
