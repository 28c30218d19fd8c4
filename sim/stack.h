// The software that runs a model on a device: what it adds to every pass and round, and what it can do.
#pragma once

#include <string>
#include <vector>

#include "sim/rollback/policy.h"
#include "sim/units.h"
#include "sim/verification.h"

namespace treeline {

/// How rows that go on from one recurrent state come by it.
enum class StateCopy {
    eager,     ///< copies, launched by the host, one by one
    in_graph,  ///< copies within the captured graph, just in time
    /// No copies: scans read a state at one index and write it at another. Only a snapshot that several rows of the next
    /// verification start from is copied, once, out of the way of what that verification writes.
    by_index,
};

/// What software adds to a device. A pass costs max(device time + launches·node_cost, launches·host_launch) + host_per_pass.
struct Stack {
    std::string name;
    std::string title;
    Seconds host_launch;          ///< host time of one kernel launch (0 where a graph is replayed)
    Seconds node_cost;            ///< device-side gap of one kernel
    Seconds host_per_pass;        ///< scheduling, metadata and graph replay of one pass of the target (an engine step)
    Seconds host_per_draft_pass;  ///< the same of one pass of the drafter, which the engine does not schedule anew
    Seconds host_per_sequence;    ///< what each sequence of the batch adds to a step: scheduling, sampling, streaming out
    /// What each token of a step adds that no kernel holds: one a sequence in plain decoding, draft and bonus in verification.
    Seconds host_per_verified_token;
    Seconds host_per_round;        ///< what a speculation round adds: tree building, verification bookkeeping, state updates
    Seconds host_per_rollback;     ///< launch and bookkeeping of a rollback policy's own pass (replay)
    Seconds host_per_tree;         ///< what a branched draft adds to host_per_round: masks, paths, acceptance over siblings
    Seconds host_per_draft_token;  ///< host work on each token of a draft, root included, one sequence after the other
    Seconds host_per_sampling;     ///< of each pass that samples: distributions, random numbers, residuals
    /// Passes of the drafter are replayed from captured graphs although the target's may be launched one kernel at a time.
    bool draft_graphs = false;
    Seconds graph_node_cost;           ///< node_cost of such a graph
    double graph_launch_factor = 1.0;  ///< launch_factor of such a graph
    /// What a kernel takes however little it does, beside the gap before it: filling and draining the device. 2.5 to 3.8 us
    /// with the gap for the smallest products of three GPUs (ai-dynamo/aiconfigurator GEMM tables).
    Seconds kernel_startup;
    double memory_efficiency = 1.0;   ///< share of the device's peak bandwidth that its kernels reach
    double compute_efficiency = 1.0;  ///< share of its peak FLOP/s that its matrix kernels reach
    double scan_efficiency = 1.0;     ///< share of its fp32 peak that scans token by token reach
    double unhidden = 0.0;            ///< share of the shorter of memory and compute time that kernels fail to hide: the
                                      ///< overlap law's r, 0 for the roofline
    /// Latency of one step of a scan that goes token by token with the state in registers: the next step waits for this one's
    /// state, whatever the bandwidth. Snakes and Ladders, Table 1: 7.4, 16 and 27 us for 1, 5 and 10 tokens of one sequence.
    Seconds scan_step;
    Bytes memory_per_graph;      ///< of one captured graph: its nodes and the pool of buffers that it keeps
    double launch_factor = 1.0;  ///< kernels launched per operation of the model (eager frameworks split operations)
    StateCopy state_copy = StateCopy::in_graph;
    Seconds eager_launch;         ///< host time of one kernel launch outside any graph: state copies that are eager
    double calls_per_copy = 3.0;  ///< calls of the framework that such a copy takes (views of both rows, and the copy)
    // What reading a prompt keeps in memory at once.
    double prefill_tokens = 8192.0;  ///< tokens of prompts in one pass at most (chunked prefill); unlimited = whole prompts
    Bytes score_bytes;               ///< of one attention score where kernels write all scores of a layer; 0 = they do not
    bool logits_of_prompt = false;   ///< logits of every token of a prompt are formed, not of the last one alone
    std::vector<Verification> verifications = {all_verifications.begin(),
                                               all_verifications.end()};             ///< of drafts with branches
    std::vector<Rollback> rollbacks = {all_rollbacks.begin(), all_rollbacks.end()};  ///< of targets with a recurrent state

    /// The same software where it replays the drafter's passes (draft_graphs), and where it copies states.
    [[nodiscard]] Stack drafting() const;
    [[nodiscard]] Stack copying() const;

    /// Why it cannot verify such a tree in this way, as a sentence; empty when it can. Every stack verifies chains.
    [[nodiscard]] std::string verification_problem(Verification verification, const DraftTree& tree) const;
    /// Why it cannot roll back so; likewise. Truncation needs nothing.
    [[nodiscard]] std::string rollback_problem(Rollback rollback) const;
};

/// Every violated constraint as a sentence; empty when usable.
std::vector<std::string> problems_of(const Stack& stack);

}  // namespace treeline
