// Drafters: who proposes tokens, and what that costs. One file for each kind beside this interface; a new kind is a struct in
// the variant below and a `plan` function.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/pass.h"

namespace treeline::sim {

/// A smaller model of its own, run once per draft token, or once for all of them (PARD: trained to fill in masks).
struct IndependentDrafter {
    Model model;
    Precision precision;
    bool parallel = false;
};

/// The target drafts for itself, reading only part of its cache (MagicDec).
struct SparseSelfDrafter {
    ContextReach reach;
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
    dspark   ///< DSpark: predictions stand one before, so it holds b; a low-rank head makes them depend on each other
};

/// A few dense layers that fill in a whole block of draft tokens in one pass, over keys and values made from the target's
/// hidden states, under the target's embedding and LM head (DFlash, DSpark). Published ones have 5 layers, blocks of 8 or 16
/// rows and features of 5 or 6 of the target's layers (docs of vLLM's speculators, 2026). DSpark's low-rank head is not priced:
/// it reads some thousand rows of its tables.
struct ParallelDrafter {
    ParallelKind kind = ParallelKind::dflash;
    Count layers = 5;
    Count block = 16;          ///< rows of a pass, a hard limit to the draft
    Count input_features = 5;  ///< hidden states of the model width that are fused for each accepted token
    Count feed_forward = 0;    ///< hidden width of the dense feed-forward network; 0 = see dense_width_beside()

    /// DSpark heads are trained with blocks of 7 (DeepSeek's, Kimi's and Qwen3's; SGLang's default).
    static ParallelDrafter published_dspark() { return {ParallelKind::dspark, 5, 7}; }
};

/// Width of a dense feed-forward network beside the target: that of its dense layers, or three model widths where it has none.
Count dense_width_beside(const Model& target);

/// Formats of a head trained beside a target: its embedding's and activations' formats throughout, whatever the target's linear
/// layers are quantised to (published EAGLE heads and block drafters are 16-bit checkpoints).
Precision head_precision(const Precision& target);

/// Independent heads on the target's last hidden state, one for each draft position (Medusa).
struct MedusaDrafter {
    Count heads = 4;
    Count layers_per_head = 1;
};

/// Looks up continuations in the tokens seen so far: no model, host time only.
struct NgramDrafter {
    /// vLLM 0.10 on H100: 1.3 to 1.6 % of a round at batch 64 and 128 (SpecDecode-Bench, series sdbench-timebreakdown).
    Seconds lookup_per_sequence{2e-6};
};

/// Plain decoding: nothing is drafted.
struct NoDrafter {};

using Drafter = std::variant<IndependentDrafter, SparseSelfDrafter, SpireDrafter, OneLayerDrafter, ParallelDrafter,
                             MedusaDrafter, NgramDrafter, NoDrafter>;

/// What the first draft pass of a round has to catch up on, beside its own token.
enum class CatchUp {
    none,         ///< the drafter shares the target's cache
    last_draft,   ///< the last draft token, if all were accepted: 1 + a_k tokens
    all_accepted  ///< every token of the last round: τ tokens (it needs the target's hidden states)
};

/// A drafter, reduced to what a round needs to know.
struct DrafterPlan {
    std::string kind;            ///< "model", "sparse-self", "spire", "one-layer", "parallel", "medusa", "ngram", "none"
    std::optional<Model> model;  ///< the model of one draft pass; none for look-ups
    Precision precision;
    std::vector<Operation> extra;   ///< operations of a draft pass beside the model's
    bool shares_embedding = false;  ///< the embedding is the target's: it costs time, but no memory
    bool shares_head = false;       ///< so is the LM head
    bool shares_body = false;       ///< so are the layers
    double weight_copies = 1.0;     ///< copies of the model's weights in memory (Medusa: one per head)
    bool has_cache = true;          ///< keeps keys, values and states of its own
    bool needs_prefill = true;      ///< must read the prompt before the first round
    CatchUp catch_up = CatchUp::last_draft;
    int max_draft_tokens = 1 << 20;      ///< Medusa: the number of heads; block drafters: the block
    bool parallel = false;               ///< one pass drafts all tokens of a chain
    double anchor_rows = 0.0;            ///< rows of such a pass beside one for each draft
    std::optional<Model> context_model;  ///< what reads accepted tokens and prompts in place of `model`; it has no logits
    Seconds host_per_round_and_sequence;
};

DrafterPlan plan(const IndependentDrafter& drafter, const Model& target, const Precision& target_precision);
DrafterPlan plan(const SparseSelfDrafter& drafter, const Model& target, const Precision& target_precision);
DrafterPlan plan(const SpireDrafter& drafter, const Model& target, const Precision& target_precision);
DrafterPlan plan(const OneLayerDrafter& drafter, const Model& target, const Precision& target_precision);
DrafterPlan plan(const ParallelDrafter& drafter, const Model& target, const Precision& target_precision);
DrafterPlan plan(const MedusaDrafter& drafter, const Model& target, const Precision& target_precision);
DrafterPlan plan(const NgramDrafter& drafter, const Model& target, const Precision& target_precision);
DrafterPlan plan(const NoDrafter& drafter, const Model& target, const Precision& target_precision);

inline DrafterPlan plan(const Drafter& drafter, const Model& target, const Precision& target_precision) {
    return std::visit([&](const auto& d) { return plan(d, target, target_precision); }, drafter);
}

/// Every reason why this drafter cannot serve this target, as sentences (another vocabulary, no attention to make sparse, …).
std::vector<std::string> problems_of(const Drafter& drafter, const Model& target);

/// The target's model, with every attention layer reading only `reach` of its context.
Model with_reach(Model model, const ContextReach& reach);

/// Parameter bytes that the drafter adds to each of `ranks` devices.
Bytes added_weights(const DrafterPlan& plan, double ranks, const Parallelism& parallel = {});

}  // namespace treeline::sim
