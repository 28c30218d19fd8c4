// What a round of speculation is asked with, compiled to and estimated as. Compiling and evaluating: sim/round.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/drafters/drafter.h"
#include "sim/enum_names.h"
#include "sim/lengths.h"
#include "sim/measured_loads.h"
#include "sim/memory_model.h"
#include "sim/rollback/rollback.h"
#include "sim/round_parts.h"

namespace treeline::sim {

/// How tokens are chosen: greedily, or by rejection sampling from distributions.
enum class Decoding { greedy, sampling };
constexpr auto names_in(Decoding) {
    using enum Decoding;
    return enum_names<Decoding>({{greedy, "greedy"}, {sampling, "sampling"}});
}

/// What a round drafts, and how it verifies the draft. A chain of no draft tokens is plain decoding.
struct Speculation {
    TreeShape shape;
    Verification verification = Verification::unrolled;
    std::string label;  ///< of the shape, as the user wrote it: "chain 4", "sglang 5,4,32"
};

/// "chain 4", "sglang 5,4,32, packed": with the way of verifying, if there is a choice.
std::string text_of(const Speculation& speculation);
/// One draft token after the other.
bool is_chain(const Speculation& speculation);
/// A chain of no draft tokens.
bool is_plain_decoding(const Speculation& speculation);

/// Chains of 0 … longest draft tokens: number k drafts k tokens.
std::vector<Speculation> chains_up_to(int longest);

/// Everything that is fixed while shape, batch and context vary.
struct RoundSetup {
    Model target;
    Precision precision;
    Platform platform;
    Drafter drafter = NoDrafter{};
    DraftAcceptance acceptance;
    Rollback rollback = Rollback::truncate;
    Decoding decoding = Decoding::greedy;
    std::vector<Speculation> speculations = chains_up_to(16);  ///< the first is plain decoding
    double prompt_tokens = 0.0;  ///< read before the first round, which needs memory; 0 = as many as the context
    Lengths prompt_lengths;      ///< of which prompt_tokens is the mean; empty: every prompt has it
    /// Mean length of an answer in the steady state, where every finished answer makes room for a prompt of `prompt_tokens`
    /// that is read between rounds (docs/cost-model.md, section 3.5). 0 = decoding alone.
    double output_tokens = 0.0;
    /// Share of each prompt that the prefix cache holds, so that only the rest is read: at least 0, below 1.
    double prefix_hit = 0.0;
    /// Tokens that all prompts begin with: read before all others, and cached once. At most a prompt.
    double shared_prefix = 0.0;
    /// Share of the experts of each of the target's mixtures that the traffic's tokens choose from: 1, or less where all
    /// requests are about one thing.
    double expert_pool = 1.0;
};

/// Every reason why the setup cannot be priced at all, as sentences. A speculation that cannot be run does not count: its row
/// says why (RoundRow::problem).
std::vector<std::string> problems_of(const RoundSetup& setup);

/// What reading the prompts of a steady state takes, for each generated token: the pass over a prompt / tokens of an answer.
struct PromptWork {
    Seconds target, drafter;
    Joules target_energy, drafter_energy;  ///< beside the idle power
};

/// The plain numbers of a CompiledRound, which loops over points copy.
struct RoundConstants {
    Seconds step_per_sequence;   ///< of the host, beside the passes of a plain step
    Seconds per_emitted_token;   ///< of the host, for each token that a sequence's round yields; a plain step's has its one
    PromptWork prompts;          ///< zero for decoding alone
    double prompt_wait = 1.0;    ///< share of the other requests' prompts that a request waits for after its first token
    double prefill_pool = 0.0;   ///< 1: devices of a pool of their own read the prompts
    double output_tokens = 0.0;  ///< of an answer in the steady state; 0: decoding alone
    Seconds target_transfer, draft_transfer;  ///< of a prompt's caches, from that pool
    double step_tokens = unlimited;           ///< the token budget of a step
    double most_requests = unlimited;         ///< that the engine runs at once
    double prefix_hit = 0.0;                  ///< share of a prompt that need not be read
    double shared_prefix = 0.0;               ///< tokens of a prompt that need not be read, because all begin with them
    double ranks = 1.0;                       ///< devices
    double tensor = 1.0;                      ///< of them, those that share each layer
    double groups = 1.0;                      ///< of attention data parallelism
    double stages = 1.0;                      ///< of the pipeline
    double largest_stage = 1.0;               ///< part of the layers that the largest stage holds
    Watts constant_power;                     ///< while it serves, beside what bytes and products take
    Watts board_power;
    JoulesPerByte energy_per_byte;
    JoulesPerFlop energy_per_flop;
    DollarsPerSecond price;  ///< of all ranks
};

/// In place of a speculation's number: nothing is drafted, but the drafter stays in memory (a schedule's "off"). Plain
/// decoding, number 0, is that of a server without it.
inline constexpr int drafting_off = -1;

struct CompiledRound : RoundConstants {
    std::array<CompiledPass, pass_count> passes;
    CompiledPass prefill, draft_prefill;
    std::vector<RoundRow> rows;  ///< one for each speculation, in the order of the setup
    RoundRow off;                ///< of drafting_off
    std::vector<RoundStep> steps;
    MemoryModel memory;
    LoadRatios ratios;  ///< of the stack's measured loads, where they are of this deployment

    [[nodiscard]] const CompiledPass& pass(PassId id) const { return passes[static_cast<std::size_t>(id)]; }
    [[nodiscard]] CompiledPass& pass(PassId id) { return passes[static_cast<std::size_t>(id)]; }
    [[nodiscard]] const RoundRow& row(int speculation) const {
        return speculation == drafting_off ? off : rows[static_cast<std::size_t>(speculation)];
    }
    /// Whether a speculation can be evaluated.
    [[nodiscard]] bool runs(int speculation) const {
        return static_cast<std::size_t>(speculation) < rows.size() && row(speculation).problem.empty();
    }
};

/// CompiledRound::off, once the row of plain decoding is there.
inline void add_off_row(CompiledRound& round) {
    if (!round.rows.empty()) {
        round.off = round.rows.front();
        round.off.holds_drafter = round.off.draft_states = 1.0;
    }
}

/// The most sequences that one group of attention data parallel ranks serves, of a batch over all groups.
inline double sequences_of_group(const RoundConstants& round, double batch) {
    return round.groups > 1.0 ? rounded_up(batch / round.groups) : batch;
}

/// Of these, in one pass: a pipeline keeps as many batches in flight as it has stages.
inline double sequences_of_pass(const RoundConstants& round, double batch) {
    const double of_group = sequences_of_group(round, batch);
    return round.stages > 1.0 ? rounded_up(of_group / round.stages) : of_group;
}

/// A batch, and what of it one group and one pass serve.
struct Sequences {
    double all = 1.0, of_group = 1.0, of_pass = 1.0;
};
inline Sequences sequences_of(const RoundConstants& round, double batch) {
    return {batch, sequences_of_group(round, batch), sequences_of_pass(round, batch)};
}

/// A design point within a compiled round.
struct DesignPoint {
    int speculation = 0;  ///< index into the setup's speculations; must run
    double batch = 1.0;
    double context = 0.0;
};

/// What a round costs and yields. Times are for one round of the whole batch.
struct RoundEstimate {
    Seconds autoregressive;  ///< a step of plain decoding
    Seconds draft, verify, rollback, host;
    Seconds prompts;      ///< of other requests, read during a round on average
    Seconds round;        ///< the sum of the five: ITL
    Seconds first_token;  ///< TTFT in the steady state, from the moment that the request is taken up; 0 for decoding alone
    double accept_length = 1.0;
    double iteration_multiplier =
        1.0;  ///< accept length below which speculation loses: Δt = round / autoregressive if no prompts are read
    double throughput_multiplier = 1.0;  ///< TPOT of plain decoding / TPOT
    double decode_share = 1.0;           ///< of the device's time: what is not spent on prompts
    Seconds time_per_token;              ///< TPOT = round / τ
    double tokens_per_second_user = 0.0;
    double tokens_per_second_device = 0.0;
    Bytes memory;  ///< peak of one device
    bool fits = true;
    Joules energy_per_token;          ///< of all ranks, per accepted token; 0 if the device's energy is unknown
    Dollars price_per_token;          ///< of all ranks, per accepted token; 0 if the price is unknown
    double wasted_draft_share = 0.0;  ///< drafted tokens that were rejected / drafted

    /// Of every number, to the last bit.
    bool operator==(const RoundEstimate&) const = default;
};

/// The passes of one point, operation by operation.
struct ExplainedPass {
    std::string phase;  ///< "plain decoding", "draft, first pass", "draft, next pass", "verify", "rollback: replay", …
    PassShape shape;
    double runs = 1.0;   ///< times it runs in a round
    Seconds time;        ///< of one run, launches and host included
    Seconds host_limit;  ///< host time to launch it; the pass is host-bound if this exceeds the device's time
    std::vector<OperationEstimate> operations;
};

/// Memory of one point by part, largest first; the parts sum to RoundEstimate::memory.
struct MemoryPart {
    std::string part;
    Bytes bytes;
};

}  // namespace treeline::sim
