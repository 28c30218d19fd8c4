// A complete speculative decoder of our own kernels and random weights: what the cost model prices, run for real. Its times are
// what predictions are compared with; its tokens show that speculation changes nothing.
//
//     DecodeSetup setup;
//     setup.target = ...; setup.drafter = SharedLayers{.layers = 2}; setup.tree = ...;
//     const DecodeResult result = decode(setup);
//
// A round, in this order: rollback of the round before, draft, verify, accept; the host prepares it and reads what it left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/element.h"
#include "sim/model.h"
#include "sim/rollback/policy.h"
#include "sim/trees/draft_tree.h"
#include "sim/verification.h"

namespace treeline::decoder {

/// The drafter is the target's first layers under its own embedding and head (self-speculation); with all layers and a window,
/// the target with a sparse cache (MagicDec). It keeps a cache of its own.
struct SharedLayers {
    int layers = 1;
    int window = 0;  ///< of its attention; 0: the model's own reach
    int sink = 0;
};

/// A model of its own, random and so hardly ever right: for times, with given acceptance.
struct OwnModel {
    sim::Model model;
};

/// Continuations of earlier occurrences of the last tokens, the longest match first and then the most recent one.
struct NgramLookup {
    int longest_match = 3;
};

/// Nothing drafted: plain decoding.
using Drafter = std::variant<std::monostate, SharedLayers, OwnModel, NgramLookup>;

/// Drafts accepted by chance instead of by the target, so that times do not depend on the text. All phases run as always.
struct GivenAcceptance {
    std::vector<double> per_position;  ///< P(the first i first-ranked drafts are accepted); used if `per_rank` is empty
    std::vector<double> per_rank;      ///< P(the child of rank r is accepted | its parent was)
};

enum class DeviceKind { cpu, cuda };

/// What is recorded into CUDA graphs (the CPU has none and ignores it).
enum class GraphUse {
    none,    ///< every kernel is launched on its own
    phases,  ///< a graph for each phase: phases are timed apart
    round,   ///< rollback, draft, verification and acceptance are one graph: one launch per round, phases are not told apart
};

struct DecodeSetup {
    sim::Model target;  ///< problems_of() says which blocks have no kernels; precision is not read
    Drafter drafter;
    sim::DraftTree tree;  ///< of each round; the root alone: plain decoding
    sim::Verification verification = sim::Verification::packed;
    sim::Rollback rollback = sim::Rollback::truncate;
    std::optional<GivenAcceptance> given_acceptance;  ///< nothing: greedy acceptance
    int batch = 1;
    int prompt_tokens = 16;  ///< read by target and drafter before the first round; random
    int context_tokens = 0;  ///< before the prompt; its caches and states are filled with random numbers
    int new_tokens = 64;     ///< of each sequence
    kernels::ElementType elements = kernels::ElementType::fp32;        ///< of weights, activations and KV caches
    kernels::ElementType state_elements = kernels::ElementType::fp32;  ///< of recurrent states
    DeviceKind device = DeviceKind::cpu;
    int device_index = 0;
    GraphUse graphs = GraphUse::phases;
    std::uint64_t seed = 1;       ///< of weights, prompts, contexts and given acceptance
    int untimed_rounds = 2;       ///< at the start: first touches; CUDA graphs add the three until they stand
    bool measure_margin = false;  ///< see DecodeResult::smallest_margin; costs time between the phases
};

/// Seconds of each timed round, by phase; vectors of equal length.
struct PhaseSeconds {
    std::vector<double> draft;     ///< the drafter's passes and choices, its cache put right first
    std::vector<double> verify;    ///< the target's pass over the draft
    std::vector<double> accept;    ///< argmax and walk
    std::vector<double> rollback;  ///< of the round before
    std::vector<double> host;      ///< indices computed and moved, launches, reading the result
    std::vector<double> round;     ///< all of it, by the host's clock
};

struct DecodeResult {
    std::vector<std::vector<int>> tokens;  ///< [sequence][new_tokens]: what was generated after the prompt
    PhaseSeconds seconds;                  ///< phases but `host` are empty with GraphUse::round
    std::vector<double> tokens_per_round;  ///< of each timed round, produced in all sequences together
    std::vector<int> rounds_by_accepted;   ///< [0 … depth]: rounds of a sequence in which so many drafts were accepted
    int rounds = 0;                        ///< untimed ones included
    std::size_t peak_bytes = 0;            ///< of weights, caches, states and activations on the device
    std::size_t weight_bytes = 0;          ///< of these, weights (shared ones once)
    double prompt_seconds = 0.0;           ///< reading the prompt, target and drafter
    std::vector<double> tokens_per_second_of_runs;  ///< of each of several runs whose rounds are timed together
    /// The least that the chosen token's logit was above the next one's, in standard deviations of the row: what rounding must
    /// stay below for two ways of decoding to agree. Infinite where not measured.
    double smallest_margin = sim::unlimited;
    std::string device;  ///< "cpu", or the CUDA device's name
    std::vector<std::string>
        notes;  ///< where the run differs from the described model (activations that it does not name, ...)

    /// tau: mean tokens of a sequence and round, all rounds, the bonus token included.
    [[nodiscard]] double accept_length() const;
    /// Tokens of all sequences a second: the mean of a timed round over the median of its seconds, so that what else ran on the
    /// machine counts as little as it can.
    [[nodiscard]] double tokens_per_second() const;
    /// The seconds between which half of the timed rounds lie.
    [[nodiscard]] std::pair<double, double> middle_half() const;
};

/// Whether this build has kernels to decode with.
bool available();

/// Every reason why this cannot run, as sentences: blocks, policies or verifications without kernels, impossible sizes.
std::vector<std::string> problems_of(const DecodeSetup& setup);

/// Bytes of its weights and of the caches of full attention: what it allocates at least.
double least_bytes(const DecodeSetup& setup);
/// Why the device's free memory does not hold that, as a sentence; empty where it may, or where the system does not say.
std::string memory_problem(const DecodeSetup& setup);

/// The same setup without speculation: the yardstick.
DecodeSetup plain(DecodeSetup setup);

/// Runs it. The tokens depend on the setup alone. Throws std::invalid_argument with the first of problems_of(), and
/// kernels::KernelError if the device fails or there is none. `between_rounds`, if given, is called before the first
/// round and after each, outside of what is timed.
DecodeResult decode(const DecodeSetup& setup, const std::function<void()>& between_rounds = {});

}  // namespace treeline::decoder
