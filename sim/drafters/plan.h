// A drafter, reduced to what a round needs to know.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/pass.h"

namespace treeline::sim {

/// What drafts below a drafter that verifies before the target does.
struct InnerDraft {
    std::optional<Model> model;  ///< none for look-ups
    Precision precision;
    double tokens = 0.0;  ///< of an inner draft; 0 = there is none
    double length = 1.0;  ///< mean tokens of an inner round
};

/// A head that goes through the drafts of one pass, so that they depend on each other: it runs once for each of them.
struct MarkovHead {
    std::optional<Model> model;  ///< its tables, and what runs between them; none: drafts are independent
    Precision precision;         ///< of its tables
    double first_free = 0.0;     ///< drafts at the beginning of a block that go without
};

/// What the first draft pass of a round has to catch up on, beside its own token.
enum class CatchUp {
    none,          ///< the drafter shares the target's cache
    last_draft,    ///< the last draft token, if all were accepted: 1 + a_k tokens
    all_accepted,  ///< every token of the last round: τ tokens (it needs the target's hidden states)
    apart          ///< in a pass of its own over all tokens of the verification (DraftPolicy::drafter_reads_round)
};

struct DrafterPlan {
    std::string kind;            ///< as results name it: "one-layer"
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
    bool reads_on_host = false;   ///< drafts from sampled tokens on the host: the next step cannot be scheduled before
    bool holds_cache = true;      ///< its keys and values take memory; not if they are the target's
    double hit_rate = 1.0;        ///< share of the sequences that have a draft to verify
    double mean_draft = 0.0;      ///< mean length of a draft without a limit; 0 = as long as allowed
    double drafting_share = 1.0;  ///< share of the sequences that the model drafts for, after a pass over all of them
    InnerDraft inner;
    MarkovHead markov;

    /// Tokens that a sequence has to verify on average, where at most `limit` may be drafted.
    [[nodiscard]] double drafted_tokens(double limit) const;
};

}  // namespace treeline::sim
