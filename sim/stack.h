// The software that runs a model on a device: what it adds to every pass and round, and what it can do.
#pragma once

#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/attention_kernels.h"
#include "sim/constants.h"
#include "sim/enum_names.h"
#include "sim/host_times.h"
#include "sim/measured_loads.h"
#include "sim/precision.h"
#include "sim/rollback/policy.h"
#include "sim/row_curve.h"
#include "sim/trees/tree_shape.h"
#include "sim/units.h"
#include "sim/verification.h"

namespace treeline::sim {

struct Device;
struct Model;

/// How rows that continue from the same recurrent state get their copies of it.
enum class StateCopy {
    eager,     ///< copies that the host launches one by one
    in_graph,  ///< copies within the captured graph, just in time
    /// No copies: scans read a state at one index and write it at another. Only a snapshot that several rows of the next
    /// verification start from is copied, once, so that the verification does not overwrite it.
    by_index,
};

/// How the prompts of new requests are read while others decode.
enum class PrefillPolicy {
    mixed,          ///< in chunks, in the steps of the decoding requests
    alternating,    ///< in steps of their own, for which decoding waits
    disaggregated,  ///< by other devices: these only decode
};
constexpr auto names_in(PrefillPolicy) {
    using enum PrefillPolicy;
    return enum_names<PrefillPolicy>({{mixed, "mixed"}, {alternating, "alternating"}, {disaggregated, "disaggregated"}});
}

/// Trees that an engine drafts, of those that it could verify.
enum class DraftedTrees {
    any,
    none,          ///< chains alone
    sglang,        ///< steps, top-k and tokens (SglangShape)
    tensorrt_llm,  ///< depth, top-k and tokens, grown anew in each round (TensorRtShape)
};

/// Drafters for which some engines give up asynchronous scheduling, though they do not draft on the host.
enum class ScheduledDrafter { draft_model, dflash };
constexpr auto names_in(ScheduledDrafter) {
    using enum ScheduledDrafter;
    return enum_names<ScheduledDrafter>({{draft_model, "draft-model"}, {dflash, "dflash"}});
}

/// Of what an engine takes a share (Stack::memory_utilisation), and for what.
enum class MemoryShare {
    device,   ///< of the device, for all that it keeps there (vLLM's gpu_memory_utilization)
    pools,    ///< of the device, for weights, states and caches (SGLang's mem_fraction_static)
    leftover  ///< of what weights and activations leave, for states and caches (TensorRT-LLM's free_gpu_memory_fraction)
};
constexpr auto names_in(MemoryShare) {
    using enum MemoryShare;
    return enum_names<MemoryShare>({{device, "device"}, {pools, "pools"}, {leftover, "leftover"}});
}

/// A degree of parallelism that a cut of a model raises above 1.
enum class CutDegree { tensor, data, experts, pipeline };
constexpr auto names_in(CutDegree) {
    return enum_names<CutDegree>({{CutDegree::tensor, "tensor_parallel"},
                                  {CutDegree::data, "attention_data_parallel"},
                                  {CutDegree::experts, "expert_parallel"},
                                  {CutDegree::pipeline, "pipeline_parallel"}});
}

/// What a drafter holds beside the target on the device, as engines tell them apart when they set memory aside.
enum class DrafterOnDevice {
    nothing,     ///< no drafter, or one that looks tokens up
    some,        ///< heads, layers or draft graphs that belong to the target
    whole_model  ///< a model of its own
};

/// Memory that an engine leaves to activations and graphs where nobody states a share, on devices of less than `below`.
struct MemoryReserve {
    Bytes below;
    Bytes base, per_rank;
    Bytes with_drafter, with_own_model;  ///< further ones, DrafterOnDevice::some and ::whole_model

    [[nodiscard]] Bytes beside(DrafterOnDevice drafter) const {
        return drafter == DrafterOnDevice::nothing ? Bytes(0.0)
               : drafter == DrafterOnDevice::some  ? with_drafter
                                                   : with_own_model;
    }
};

/// Weights, or keys and values, in a format for which an engine's kernels need a newer NVIDIA device than for others
/// (Stack::least_capability).
struct FormatNeed {
    NumberFormat format = NumberFormat::fp8;
    bool of_caches = false;   ///< of keys and values
    double group_size = 0.0;  ///< elements to a scale; 0 = any
    bool multiplied = false;  ///< only where products are computed in the format, too
    double least_capability = 0.0;
};

/// What an engine reads of prompts in one pass by default, on devices of less memory than `below` whose names contain `named`.
struct PromptChunk {
    Bytes below;
    std::string named;
    double tokens = 0.0;
};

/// Speed of an engine's linear layers over what they would be priced at otherwise: the stack's shares of the data sheet, or in
/// calibrated mode the law of the measured kernel.
struct LinearSpeed {
    double memory = 1.0, compute = 1.0;
};
/// By the number format of the products.
using LinearSpeeds = std::array<LinearSpeed, all_number_formats.size()>;

/// Numbers of a stack that take the place of those of the same names in calibrated mode.
struct CalibratedNumbers {
    Seconds kernel_startup;
    double launch_factor = 1.0;
    LinearSpeeds linear_speed{};
    double expert_speed = 1.0;
};

/// Kernels that a framework launches for each kernel counted for one kind of operation ("norm": Transformers composes a norm
/// and its residual addition of nine).
struct OperationLaunches {
    std::string operation;
    double factor = 1.0;
    bool on_metal = false;  ///< on devices with kernels in Metal alone
};

/// Kernels for routed experts that a user picks in place of the engine's own (`--moe-runner-backend`, `--moe-backend`), by how
/// they differ from those.
struct ExpertKernels {
    std::string name;  ///< empty: the engine's own
    std::string title;
    NumberFormat weights = NumberFormat::fp4;  ///< as stored; experts in other formats run as ever
    /// No difference up to so many rows of experts on a rank: a token has one for each expert that serves it there.
    double few_rows = std::numeric_limits<double>::infinity();
    /// Beyond, touched experts take as long as if they were read so many times more, at the data sheet's bandwidth.
    double more_readings = 0.0;
    std::map<std::string, std::string> flags;  ///< with which an engine ("sglang") is told to run them
};

/// Whose experts a number was measured of.
enum class ConditionExperts {
    any,
    not_plain,  ///< not routed experts in 16 bits without shared ones beside them
    fp4         ///< stored in fp4
};
constexpr auto names_in(ConditionExperts) {
    using enum ConditionExperts;
    return enum_names<ConditionExperts>({{any, "any"}, {not_plain, "quantised or shared"}, {fp4, "fp4"}});
}

/// Where a number of a stack holds. Elsewhere it is what it would be if the stack did not state it.
struct NumberCondition {
    std::string number;               ///< of stack_parameters()
    std::vector<std::string> models;  ///< kinds (kind_of_model) that it was measured of; empty: all
    std::vector<double> not_on;       ///< major compute capabilities of devices that run other kernels; 0: devices without one
    ConditionExperts experts = ConditionExperts::any;
};

/// How kernels are launched.
struct Launching {
    Seconds host_launch;         ///< host time of one kernel launch (0 where a graph is replayed)
    Seconds node_cost;           ///< device-side gap of one kernel
    double launch_factor = 1.0;  ///< kernels launched per operation of the model (eager frameworks split operations)
    /// What launch_factor is for operations of these names; it holds for all others.
    std::vector<OperationLaunches> launch_factors;
    /// The drafter's passes are replayed from captured graphs, although the target's may be launched kernel by kernel.
    bool draft_graphs = false;
    Seconds graph_node_cost;           ///< node_cost of such a graph
    double graph_launch_factor = 1.0;  ///< launch_factor of such a graph
    StateCopy state_copy = StateCopy::in_graph;
    Seconds eager_launch;         ///< host time of one kernel launch outside any graph, for eager state copies
    double calls_per_copy = 3.0;  ///< framework calls for one such copy (views of both rows, and the copy)
    /// Calls of the framework (eager_launch each) with which a round puts the accepted state of each recurrent layer of the
    /// drafter where drafting starts from it; 0 where that is part of a graph.
    double calls_per_draft_layer = 0.0;

    /// Launches for each kernel of an operation of this name, if the stack lists any.
    [[nodiscard]] std::optional<double> listed(std::string_view operation, bool on_metal) const;
};

/// Host time of passes, beside launching their kernels.
struct PassTimes {
    Seconds host_per_pass;        ///< scheduling, metadata and graph replay of one pass of the target (an engine step)
    Seconds host_per_draft_pass;  ///< the same for one pass of the drafter, which the engine does not schedule anew
    /// host_per_draft_pass of a drafter that is one layer on the target's (EAGLE), which no model's forward function wraps;
    /// nothing: host_per_draft_pass.
    std::optional<Seconds> host_per_head_pass;
    /// What each kernel of a pass adds to those, before the device begins: an engine that builds and checks its graph anew
    /// for every pass (llama.cpp).
    Seconds host_per_kernel;
    Seconds host_per_rollback;  ///< launch and bookkeeping of a rollback policy's own pass (replay)
    Seconds host_per_sampling;  ///< for each pass that samples: distributions, random numbers, residuals
    /// Host time of each layer that mixes tokens in a pass that runs in pieces (VerificationRule::in_pieces): launching its
    /// attention, and the graph of what follows, on a fast host (Device::host_speed). The device works meanwhile, so that the
    /// pass takes the longer of the two.
    Seconds host_per_piece;
    double pieces_per_draft_pass = 0.0;  ///< what a pass of a drafter of one layer takes of that, in layers
    /// Host time of each layer that mixes tokens in a pass of a draft model, on a fast host, where the engine launches such
    /// passes kernel by kernel, or in pieces, beside a target that is captured; the pass takes the longer of host and device.
    Seconds host_per_draft_layer;
    /// Host time of a pass of the target behind which the device does not wait (asynchronous scheduling), on a fast host: the
    /// pass takes the longer of that and its device time.
    Seconds host_per_overlapped_pass;
    /// What a round adds to that, and each pass of a drafter that is no model of its own: with both the host goes through a
    /// round's launches one after the other, which is the least that the round takes.
    Seconds host_per_overlapped_round, host_per_overlapped_draft_pass;
    /// What is added to host_per_overlapped_pass in a round whose target has layers of Gated DeltaNet, and for each group of
    /// them that has a block table of its own (sim/state_groups.h): which sequences draft, where their states lie.
    Seconds host_per_delta_round, host_per_state_group;
};

/// Device time of layers, beside their kernels.
struct LayerTimes {
    Seconds per_layer;  ///< in engines as measured
    /// What a layer of experts adds to that: choosing, sorting, quantising and summing rows in kernels of their own.
    Seconds per_expert_layer;
    /// What a layer of Gated DeltaNet with one decay a head adds to it: a second projection, for decays and strengths, and
    /// copies of what both yield into the order that the kernels behind them read.
    Seconds per_delta_layer;
    /// What such a layer adds further whose value heads are not 1, 2 or 4 to a key head, which is what kernels that split both
    /// projections at once take.
    Seconds per_copied_delta_layer;
    /// And any such layer in a verification: picking the rows that verify, and putting what they yield back.
    Seconds per_verified_delta_layer;
};

/// What kernels reach.
struct KernelNumbers {
    /// Least time of a kernel, without the gap before it: filling and draining the device. With the gap 2.5 to 3.8 us for the
    /// smallest products on three GPUs (ai-dynamo/aiconfigurator GEMM tables).
    Seconds kernel_startup;
    double memory_efficiency = 1.0;        ///< share of the device's peak bandwidth that its kernels reach
    double metal_memory_efficiency = 0.0;  ///< in place of memory_efficiency on devices that run Metal; 0 = as that
    double compute_efficiency = 1.0;       ///< share of its peak FLOP/s that its matrix kernels reach
    double scan_efficiency = 1.0;          ///< share of its fp32 peak that scans reach
    /// Share of compute_efficiency that attention reaches: below 1 where its products do not run on the kernels of linear
    /// layers (llama.cpp on CPUs multiplies queries with one cached key at a time).
    double attention_efficiency = 1.0;
    /// Share of the fp32 peak that attention of decoding and verification reaches on vector units, where each query walks the
    /// cache itself (MLX); that of prompts runs on matrix units. 0 = it runs on matrix units, too.
    double vector_attention = 0.0;
    double unhidden = 0.0;  ///< share of the shorter of memory and compute time that kernels fail to hide: the
                            ///< overlap law's r, 0 for the roofline
    /// Latency of one step of a scan that goes token by token with the state in registers: each step waits for the state of the
    /// one before, whatever the bandwidth. Snakes and Ladders, Table 1: 7.4, 16 and 27 us for 1, 5 and 10 tokens of one
    /// sequence.
    Seconds scan_step;
    std::vector<RowCurve> row_curves;             ///< of products without a measured law; the first that suits one prices it
    LinearSpeeds linear_speed{};                  ///< of engines as measured
    double expert_speed = 1.0;                    ///< the same of routed experts, in whatever format
    double fp4_read_speed = 1.0;                  ///< further, of what linear layers with products in fp4 read
    Seconds fused_experts;                        ///< of the startup of routed experts by a measured law, what others leave out
    std::optional<CalibratedNumbers> calibrated;  ///< without it, the numbers above hold in calibrated mode, too
    /// Kernels before a linear layer quantise its activations on the way. Measured 8-bit products include a kernel that does
    /// nothing else; those of such a stack start up like 16-bit ones.
    bool fused_quantisation = false;
    /// 8-bit products do not run on the measured kernel, whose rows beyond 256 fill a second tile of as many.
    bool fits_quantised_tiles = false;
    /// Whose all-reduces it runs, and whose products with scales of blocks: a family of measured kernels ("vllm").
    std::string collectives = "nccl";
    /// It runs our own kernels: laws of those that other engines replace by theirs hold (treeline_family).
    bool runs_treeline_kernels = true;
    std::vector<FormatNeed> format_needs;

    /// The numbers that differ in calibrated mode.
    [[nodiscard]] Seconds startup(bool in_calibrated_mode) const {
        return in_calibrated_mode && calibrated ? calibrated->kernel_startup : kernel_startup;
    }
    [[nodiscard]] const LinearSpeed& speed_of_linear(NumberFormat math, bool in_calibrated_mode) const {
        return (in_calibrated_mode && calibrated ? calibrated->linear_speed : linear_speed)[static_cast<std::size_t>(math)];
    }
    [[nodiscard]] double speed_of_experts(bool in_calibrated_mode) const {
        return in_calibrated_mode && calibrated ? calibrated->expert_speed : expert_speed;
    }
};

/// Kernels that the user picks in place of the engine's own, or that the engine picks by rule.
struct PickedKernels {
    ExpertKernels expert_kernels;        ///< where the user states some
    AttentionKernels attention_kernels;  ///< likewise
    /// What the engine does by itself to verify, in the order in which they are asked; the first that holds counts.
    std::vector<VerificationRule> verification_rules;
    std::string delta_rule_kernels;  ///< family (RecurrentVerificationLaw) that verifies gated delta rules; empty: the engine's
};

/// How attention reads and writes caches and scores.
struct CacheReading {
    /// Attention over a latent cache takes each new token apart and reads the cache for it, on devices whose kernel does so
    /// (Device::latent_heads_per_read). Engines without it read the cache once for all new tokens of a sequence.
    bool takes_latent_tokens_apart = false;
    /// Kernels of sparse attention over latents read them for prompts as in decoding, not expanded, and compute at least so
    /// many query heads; 0: prompts are expanded, and a rank computes its own heads.
    double sparse_prompt_heads = 0.0;
    /// What reading the keys and values of a prefix that all sequences share takes for each of them after the first, over a
    /// read from memory: 1 where attention reads them for each sequence, less where it reads them once for all (cascade
    /// attention). Of the target: drafters, and attention over latents, read them for each sequence in every stack known.
    double shared_prefix_read = 1.0;
    /// Bytes that move for each attention score of a prompt, where kernels write all scores (score_bytes): product, scaling,
    /// mask, softmax and casts, each a kernel.
    Bytes score_traffic;
    Bytes score_bytes;  ///< of one attention score, if kernels write all scores of a layer; 0 = they do not
    /// Attention composed of a framework's operations: the cache is copied to append to it, and keys and values of grouped
    /// attention are written out for each query head before they are read.
    bool concatenates_caches = false, expands_caches = false;
    /// Whether key-value heads are divided evenly among ranks, or each of them copied to as many (vLLM, SGLang, TensorRT-LLM).
    bool divides_kv_heads = false;
};

/// What the engine does with recurrent states.
struct StatePolicy {
    /// Of targets with a recurrent state; the first that suits one is what the engine does without a flag.
    std::vector<Rollback> rollbacks = {all_rollbacks.begin(), all_rollbacks.end()};
    std::map<Rollback, std::string> rollback_flags;  ///< with which it is told to do another
    /// Times that the accepted state of each recurrent layer is copied, outside of the graph, where verification keeps a state
    /// of every token (Rollback::snapshot); 0 where the next pass finds it by its index.
    double committed_copies = 0.0;
    /// How sequences share the verification of a target with recurrent states (RoundStep::apart): 0 in one pass, 1 each in a
    /// pass of its own, between: it depends on the build, and the geometric middle of both is priced.
    double recurrent_passes_apart = 0.0;
    /// Times that a replayed state is read or written beside replay and verification: research code replays it elsewhere,
    /// copies it to the live rows, and writes the states that verification leaves.
    double replay_traffic = 0.0;
    /// Replay runs over all verified tokens with the rejected ones masked, since captured graphs have one shape.
    bool replays_rejected = false;
    /// The state that a verification starts from is one of those that it keeps (Rollback::snapshot): its kernels read it before
    /// they write over it, so that k drafts need k + 1 states, in place of one more (SGLang's, beside the intermediate ones).
    bool snapshots_hold_live_state = false;
    /// Share of the memory for states and caches that goes to recurrent states, where an engine divides it beforehand (SGLang's
    /// mamba_full_memory_ratio r: r/(1 + r)); 0: each takes what it needs. And states that a running sequence then holds.
    double state_pool_share = 0.0;
    double state_slots = 1.0;
    std::string state_pool_flag;  ///< with which it divides otherwise
};

/// What the engine drafts, and how it verifies that.
struct DraftPolicy {
    DraftedTrees drafted_trees = DraftedTrees::any;
    std::vector<Verification> verifications = {all_verifications.begin(),
                                               all_verifications.end()};  ///< of drafts with branches
    /// Drafters with a cache of their own read all tokens of a verification in a pass of their own, before they draft
    /// (llama.cpp), in place of catching up in their first pass (CatchUp::apart).
    bool drafter_reads_round = false;
    /// Those for which the engine gives up asynchronous scheduling, beside those that draft on the host.
    std::vector<ScheduledDrafter> synchronous_drafters;
    std::string sampling_flag;  ///< with which tokens are sampled on the device (HostDriver::emitted_entry)
    /// Cuts that the engine does not run beside a drafter: each has all of these degrees above 1.
    std::vector<std::vector<CutDegree>> cuts_not_run;
};

/// How requests are served: prompts, and how many at a time.
struct ServingPolicy {
    PrefillPolicy prefill = PrefillPolicy::mixed;
    /// Share of the prompts of the other requests that a request waits for after its first token. Below 1 where requests come
    /// and are read together, so that part of the wait is in their time to the first token.
    double prompt_wait = 1.0;
    double prefill_tokens = 8192.0;          ///< most prompt tokens in one pass (chunked prefill); unlimited = whole prompts
    std::vector<PromptChunk> prompt_chunks;  ///< where nobody states a budget, the first that fits the device takes its place
    /// Most tokens of a step, those of rounds and of prompts together, where the user states it: the engine's token budget.
    double step_tokens = std::numeric_limits<double>::infinity();
    bool states_prefill = false, states_budget = false;  ///< the two above are the user's, which labels then say
    bool logits_of_prompt = false;                       ///< logits of every prompt token are formed, not only of the last one
    std::optional<double> most_requests;  ///< that the engine runs at once, whatever it is told; nothing: as many as fit

    /// Most prompt tokens in one pass on this device.
    [[nodiscard]] double prefill_tokens_on(const Device& device) const;
};

/// What the engine takes of a device's memory.
struct MemoryPolicy {
    Bytes memory_per_graph;  ///< of one captured graph: its nodes, and the buffers that it keeps
    /// Share of the device's memory that the engine may take, if nobody states another (Platform::memory_utilisation), and of
    /// what it is a share; nothing: the whole device, or what `memory_reserves` leave.
    std::optional<double> memory_utilisation;
    MemoryShare memory_share_of = MemoryShare::device;
    std::vector<MemoryReserve> memory_reserves;  ///< by rising `below`
};

/// What was measured of one deployment.
struct MeasuredDeployment {
    double time_factor = 1.0;   ///< of all times (time_factor_of)
    double round_factor = 1.0;  ///< further, of all that its rounds with drafts take: drafting, verification, rollback, host
    /// Half width of the 80 % interval of a step's time, relative, where steps of this very deployment were measured.
    std::optional<double> step_error;
    MeasuredLoads measured_loads;  ///< what the other numbers miss at single loads, and its factors there
};

/// What software adds to a device. A pass costs max(device time + launches·node_cost + layers·per_layer +
/// layers of experts·per_expert_layer + layers of Gated DeltaNet·per_delta_layer, launches·host_launch) + host_per_pass +
/// launches·host_per_kernel. Its numbers, each with key, range and meaning, are in sim/stack_parameters.cpp.
struct Stack {
    std::string name;
    std::string title;
    /// Whose server it describes, as `--engine` names it: "vllm", or with the version whose flags it takes where that is not
    /// the newest known, "vllm@0.24". Empty: of no engine whose flags are known.
    std::string engine;
    std::string stands_for;         ///< the version that was asked for ("vllm-0.11"), where this is the nearest one described
    double least_capability = 0.0;  ///< NVIDIA compute capability below which its builds have no kernels; 0 = any
    /// Host times are those of a fast desktop, in code that the host drives kernel by kernel: other hosts take them over their
    /// speed (Device::host_speed). Stacks that were fitted or measured on servers hold as they are.
    bool scales_with_host = false;
    Launching launching;
    PassTimes passes;
    HostTimes host;  ///< beside passes, in rounds and steps
    LayerTimes layers;
    KernelNumbers kernels;
    PickedKernels picked;
    CacheReading caches;
    StatePolicy states;
    DraftPolicy drafts;
    ServingPolicy serving;
    MemoryPolicy memory;
    MeasuredDeployment measured;
    std::vector<NumberCondition> conditions;  ///< of numbers that do not hold everywhere
    std::vector<std::string> own_numbers;     ///< that a file outside of the catalogue states, not those that it extends

    /// `engine` without its version.
    [[nodiscard]] std::string_view engine_word() const { return std::string_view(engine).substr(0, engine.find('@')); }
    /// Kernels launched for each kernel of the model, where none are listed for its operation.
    [[nodiscard]] double launches_per_operation(bool in_calibrated_mode) const {
        return in_calibrated_mode && kernels.calibrated ? kernels.calibrated->launch_factor : launching.launch_factor;
    }
    /// The same software on a host of this speed.
    [[nodiscard]] Stack on_host(double speed) const;
    /// Those of `conditions` that are not met, so that their numbers are not taken.
    [[nodiscard]] std::vector<NumberCondition> unmet(const Model& target, const Precision& precision,
                                                     const Device& device) const;
    /// The same software with this target on this device: on its host, without the numbers that do not hold here.
    [[nodiscard]] Stack where(const Model& target, const Precision& precision, const Device& device) const;
    /// Whether `where` would change nothing.
    [[nodiscard]] bool holds_as_it_is(const Model& target, const Precision& precision, const Device& device) const;
    /// The same software when it replays the drafter's passes (draft_graphs), and when it copies states.
    [[nodiscard]] Stack drafting() const;
    [[nodiscard]] Stack copying() const;

    /// Why it cannot verify this tree in this way, as a sentence; empty if it can. Every stack verifies chains.
    [[nodiscard]] std::string verification_problem(Verification verification, const DraftTree& tree) const;
    /// The same for drafting a shape, which grows into this tree.
    [[nodiscard]] std::string shape_problem(const TreeShape& shape, const DraftTree& tree) const;
    /// The same for a rollback policy. Truncation needs nothing.
    [[nodiscard]] std::string rollback_problem(Rollback rollback) const;
};

/// Every violated constraint as a sentence; empty when usable.
std::vector<std::string> problems_of(const Stack& stack);

/// MeasuredDeployment::time_factor of a deployment of which one step is known; both times above 0.
double time_factor_of(Seconds measured, Seconds modelled, double shared = error_shared_by_deployment);
/// MeasuredDeployment::step_error from what a fit to steps of a deployment misses, by logarithms of measured / predicted, of
/// steps that the fit did not see where there are such. Few steps say little: they are weighed with what other loads of a
/// deployment missed elsewhere (README, "with one measured run": a median of 3.7 %), as if that were four steps.
double step_error_of(const std::vector<double>& log_errors);

std::vector<std::string> problems_of(const ExpertKernels& kernels);

}  // namespace treeline::sim
