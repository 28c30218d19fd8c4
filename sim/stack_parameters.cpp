#include "sim/stack_parameters.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace treeline::sim {
namespace {

template <class Value>
constexpr StackUnit unit_of = std::is_same_v<Value, Seconds> ? StackUnit::seconds
                              : std::is_same_v<Value, Bytes> ? StackUnit::bytes
                                                             : StackUnit::ratio;

double base(double value) { return value; }
template <class Quantity>
double base(Quantity value) {
    return value.value();
}

template <class Value>
struct Optional {
    using type = Value;
    static double get(const Value& value) { return base(value); }
};
template <class Value>
struct Optional<std::optional<Value>> {
    using type = Value;
    /// Not a number: nothing is stated. Who states that gets minus infinity, which lies in no range.
    static double get(const std::optional<Value>& value) {
        constexpr double unstated = std::numeric_limits<double>::quiet_NaN();
        return !value ? unstated : std::isnan(base(*value)) ? -std::numeric_limits<double>::infinity() : base(*value);
    }
};

/// A member of Stack, or of a part of it: a quantity or a ratio, or one that may be missing.
template <auto... member>
StackParameter number(std::string_view name, double low, double high, std::string_view meaning, std::string_view otherwise) {
    using Member = Optional<std::remove_cvref_t<decltype((Stack{}.*....*member))>>;
    return {.name = name,
            .unit = unit_of<typename Member::type>,
            .low = low,
            .high = high,
            .meaning = meaning,
            .otherwise = otherwise,
            .get = [](const Stack& stack) { return Member::get((stack.*....*member)); },
            .set = [](Stack& stack, double value) { (stack.*....*member) = typename Member::type(value); }};
}

/// The time of the host in a round or step for each of what is counted by `driver`.
template <HostDriver driver>
StackParameter time_for_each(std::string_view name, double low, double high, std::string_view meaning,
                             std::string_view otherwise) {
    return {.name = name,
            .unit = StackUnit::seconds,
            .low = low,
            .high = high,
            .meaning = meaning,
            .otherwise = otherwise,
            .get = [](const Stack& stack) { return stack.host[driver].value(); },
            .set = [](Stack& stack, double value) { stack.host[driver] = Seconds(value); }};
}

StackParameter of_host(StackParameter number) {
    number.on_host = true;
    return number;
}

/// A host does nothing under 10 ns, and no platform here idles for a second.
StackParameter fitted(double low, double high, StackParameter number) {
    number.fit_low = low;
    number.fit_high = high;
    return number;
}

StackParameter of_products_in(NumberFormat format, StackParameter number) {
    number.format = format;
    return number;
}

StackParameter as(std::string_view other, StackParameter number) {
    number.as = other;
    return number;
}

}  // namespace

bool StackParameter::may_be_missing() const {
    static const Stack unstated;
    return !is_required() && (!as.empty() || !std::isnan(get(unstated)));
}

const std::vector<StackParameter>& stack_parameters() {
    static const std::vector<StackParameter> all = {
        of_host(fitted(1e-8, 1e-3,
                       number<&Stack::launching, &Launching::host_launch>(
                           "host_launch", 0.0, 0.01, "host time of one kernel launch; 0 if a graph is replayed", ""))),
        fitted(1e-8, 1e-3,
               number<&Stack::launching, &Launching::node_cost>("node_cost", 0.0, 0.01,
                                                                "gap on the device between one kernel and the next", "")),
        of_host(fitted(1e-8, 1.0,
                       number<&Stack::passes, &PassTimes::host_per_pass>(
                           "host_per_pass", 0.0, 10.0, "scheduling, metadata and graph replay of one pass of the target", ""))),
        of_host(fitted(1e-8, 1.0,
                       number<&Stack::passes, &PassTimes::host_per_draft_pass>("host_per_draft_pass", 0.0, 10.0,
                                                                               "the same for one pass of the drafter", ""))),
        of_host(fitted(1e-8, 1.0,
                       time_for_each<HostDriver::round>("host_per_round", 0.0, 10.0, "what a speculation round adds", ""))),
        of_host(fitted(1e-8, 1e-4,
                       number<&Stack::passes, &PassTimes::host_per_kernel>(
                           "host_per_kernel", 0.0, 0.01,
                           "what each kernel adds to those before the device begins: the graph of "
                           "a pass is built anew",
                           "0"))),
        number<&Stack::launching, &Launching::launch_factor>("launch_factor", 0.01, 1000.0,
                                                             "kernels launched per operation of the model (no unit)", ""),
        of_host(fitted(
            1e-8, 1e-3,
            number<&Stack::launching, &Launching::eager_launch>(
                "eager_launch", 0.0, 0.01, "host time of one launch outside any graph, for copies of states one by one", ""))),
        of_host(fitted(1e-8, 1.0,
                       as("host_per_draft_pass",
                          number<&Stack::passes, &PassTimes::host_per_rollback>(
                              "host_per_rollback", 0.0, 10.0, "launch and bookkeeping of a rollback policy's own pass (replay)",
                              "`host_per_draft_pass`")))),
        of_host(number<&Stack::passes, &PassTimes::host_per_head_pass>(
            "host_per_head_pass", 0.0, 10.0,
            "`host_per_draft_pass` of a drafter of one layer on the target's (EAGLE), which no model's forward function wraps",
            "`host_per_draft_pass`")),
        number<&Stack::launching, &Launching::calls_per_draft_layer>(
            "calls_per_draft_layer", 0.01, 1000.0,
            "calls of the framework (`eager_launch` each) that a round takes to put the "
            "accepted state of each recurrent layer of the drafter in place",
            "0"),
        of_host(time_for_each<HostDriver::synchronous_round>(
            "synchronous_per_round", 0.0, 10.0,
            "what a round adds to `host_per_round` whose drafter reads sampled tokens on the host (look-ups, "
            "suffix decoding, "
            "Medusa, MLP speculators): the engine gives up asynchronous scheduling for it",
            "0")),
        time_for_each<HostDriver::synchronous_sequence>("synchronous_per_sequence", 0.0, 1.0, "the same for each sequence",
                                                        "0"),
        of_host(fitted(1e-8, 1.0,
                       time_for_each<HostDriver::tree>("host_per_tree", 0.0, 10.0,
                                                       "what a branched draft adds to `host_per_round`", "0"))),
        of_host(fitted(
            1e-8, 0.1,
            time_for_each<HostDriver::tree_token>("host_per_tree_token", 0.0, 1.0,
                                                  "what each token of a branched draft, root included, adds to that", "0"))),
        of_host(time_for_each<HostDriver::unrolled_token>(
            "host_per_unrolled_token", 0.0, 1.0,
            "what each token of a branched draft adds that is verified in rows, one for each leaf", "0")),
        of_host(time_for_each<HostDriver::grown_token>(
            "host_per_grown_token", 0.0, 1.0,
            "the same where the tree is another one in each round: beams, frontiers, sampled sequences that are merged", "0")),
        fitted(1e-8, 0.1,
               time_for_each<HostDriver::sequence>("host_per_sequence", 0.0, 1.0,
                                                   "what each sequence adds to an engine's step outside kernels", "0")),
        fitted(1e-8, 0.1,
               time_for_each<HostDriver::token>("host_per_verified_token", 0.0, 1.0,
                                                "the same for each token of a step (draft and bonus in verification)", "0")),
        of_host(fitted(1e-8, 0.1,
                       time_for_each<HostDriver::draft_token>("host_per_draft_token", 0.0, 1.0,
                                                              "host work on each token of a draft, root included", "0"))),
        of_host(fitted(
            1e-8, 1.0,
            number<&Stack::passes, &PassTimes::host_per_sampling>(
                "host_per_sampling", 0.0, 10.0, "host work of each pass that samples rather than takes the best token", "0"))),
        time_for_each<HostDriver::latent_piece>(
            "host_per_piecewise_layer", 0.0, 0.01,
            "host time of a round for each layer of latent attention whose tokens are taken apart "
            "(`takes_latent_tokens_apart`): their verification is captured in pieces (vLLM before May 2026)",
            "0"),
        number<&Stack::passes, &PassTimes::host_per_piece>(
            "host_per_piece", 0.0, 0.01,
            "host time of each layer that mixes tokens in a pass in pieces, on a fast host (over "
            "the device's `host_speed`): the pass takes the longer of that and its device time",
            "0"),
        number<&Stack::passes, &PassTimes::pieces_per_draft_pass>(
            "pieces_per_draft_pass", 0.0, 1000.0, "what a pass of a one-layer drafter takes of it then, in layers", "0"),
        number<&Stack::passes, &PassTimes::host_per_draft_layer>(
            "host_per_draft_layer", 0.0, 0.01,
            "host time of each layer that mixes tokens in a pass of a draft model that the engine launches outside of graphs, "
            "or in pieces, on a fast host (over the device's `host_speed`): the pass takes the longer of that and its device "
            "time",
            "0"),
        number<&Stack::passes, &PassTimes::host_per_overlapped_pass>(
            "host_per_overlapped_pass", 0.0, 0.1,
            "host time of a pass of the target while the device computes the one before "
            "(asynchronous scheduling), on a fast host: "
            "the pass takes the longer of that and its device time",
            "0"),
        number<&Stack::passes, &PassTimes::host_per_overlapped_round>(
            "host_per_overlapped_round", 0.0, 0.1,
            "what a round adds to `host_per_overlapped_pass`: accepting tokens and preparing what the drafter reads, on a fast "
            "host. A round takes at least all that its host does, whatever the device does meanwhile",
            "0"),
        number<&Stack::passes, &PassTimes::host_per_overlapped_draft_pass>(
            "host_per_overlapped_draft_pass", 0.0, 0.1, "the same of each pass of a drafter that is no model of its own", "0"),
        number<&Stack::passes, &PassTimes::host_per_delta_round>(
            "host_per_delta_round", 0.0, 0.1,
            "what is added to `host_per_overlapped_pass` in a verification whose target has layers of Gated DeltaNet", "0"),
        number<&Stack::passes, &PassTimes::host_per_state_group>(
            "host_per_state_group", 0.0, 0.01,
            "the same for each group of such layers with a block table of its own: vLLM's groups are as large as the kind of "
            "cache with the fewest layers, so that a drafter with one layer of its own kind makes one of each layer",
            "0"),
        of_host(time_for_each<HostDriver::reshaped_layer>(
            "host_per_reshaped_layer", 0.0, 0.01,
            "what each layer of a drafter that reads verified tokens in a pass of its own "
            "(`drafter_reads_round`) adds to passes with another shape than the one before: that pass, the "
            "first draft and the second, whose graphs are built and captured anew",
            "0")),
        of_host(fitted(1e-8, 0.1,
                       time_for_each<HostDriver::emitted_token>(
                           "host_per_emitted_token", 0.0, 1.0,
                           "what each token that a sequence's step yields adds, one after the other: its text, "
                           "streaming out",
                           "0"))),
        of_host(time_for_each<HostDriver::emitted_entry>("host_per_sampled_entry", 0.0, 1e-5,
                                                         "sampling such a token on the host, for each entry of the "
                                                         "vocabulary",
                                                         "0: sampled on the device")),
        of_host(time_for_each<HostDriver::drafted_entry>("host_per_drafted_entry", 0.0, 1e-5,
                                                         "the same of each token that a draft model drafts", "0")),
        number<&Stack::states, &StatePolicy::state_pool_share>(
            "state_pool_share", 0.0, 0.99,
            "share of the memory for states and caches that the engine gives to recurrent states "
            "beforehand; what it divides wrongly, nobody can use",
            "0: each takes what it needs"),
        number<&Stack::states, &StatePolicy::state_slots>(
            "state_slots", 1.0, 100.0, "states that a running sequence then holds beside those of its draft", "1"),
        number<&Stack::states, &StatePolicy::recurrent_passes_apart>(
            "recurrent_passes_apart", 0.0, 1.0,
            "how sequences share the verification of a target with recurrent states: 0 in one pass, 1 each in a pass of its "
            "own, between: it depends on the build, and the geometric middle of both (`s^apart` passes) is priced",
            "0"),
        number<&Stack::states, &StatePolicy::committed_copies>(
            "committed_copies", 0.0, 10.0,
            "times that accepted recurrent states are copied (a read and a write) after a "
            "verification that keeps one for each token (`snapshot`)",
            "0: the next pass finds them by index"),
        of_host(time_for_each<HostDriver::recurrent_round>(
            "host_per_recurrent_round", 0.0, 1.0, "what a round with a recurrent target adds to `host_per_round`", "0")),
        time_for_each<HostDriver::mixing_layer>("host_per_verified_layer", 0.0, 0.01,
                                                "what each layer that mixes tokens adds to a round beside kernels: "
                                                "several tokens of a sequence rather than one",
                                                "0"),
        time_for_each<HostDriver::shared_layer>(
            "host_per_shared_layer", 0.0, 0.01,
            "the same further for each layer whose cached tokens ranks share (decode context parallelism)", "0"),
        time_for_each<HostDriver::sparse_token>(
            "per_sparse_token", 0.0, 0.01,
            "what each token of a draft, root included, adds in each layer whose latent attention picks what it reads "
            "(DeepSeek-V3.2, GLM-5), where kernels take such a verification as a prompt",
            "0"),
        number<&Stack::kernels, &KernelNumbers::vector_attention>(
            "vector_attention", 1e-3, 1.0,
            "attention of decoding and verification runs on vector units, at this share of the "
            "fp32 peak; prompts take matrix units",
            "none"),
        fitted(0.05, 1.0,
               number<&Stack::kernels, &KernelNumbers::memory_efficiency>(
                   "memory_efficiency", 0.01, 1.0, "share of the device's peak bandwidth that kernels reach", "1")),
        number<&Stack::kernels, &KernelNumbers::metal_memory_efficiency>(
            "metal_memory_efficiency", 0.01, 1.0, "the same on devices with `metal`", "`memory_efficiency`"),
        fitted(0.01, 1.0,
               number<&Stack::kernels, &KernelNumbers::compute_efficiency>(
                   "compute_efficiency", 0.01, 1.0, "share of its peak FLOP/s that matrix kernels reach", "1")),
        fitted(1e-3, 1.0,
               number<&Stack::kernels, &KernelNumbers::scan_efficiency>(
                   "scan_efficiency", 1e-3, 1.0, "share of the fp32 peak that scans of recurrent states reach", "1")),
        number<&Stack::kernels, &KernelNumbers::attention_efficiency>(
            "attention_efficiency", 1e-3, 1.0, "share of `compute_efficiency` that attention reaches", "1"),
        number<&Stack::caches, &CacheReading::shared_prefix_read>(
            "shared_prefix_read", 0.01, 1.0,
            "what reading the keys and values of a prefix that all sequences share takes for each after the first, over a read "
            "from memory: 1 where attention reads them for each, less where it reads them once for all (cascade attention). "
            "Drafters, and attention over latents, always read them for each",
            "1"),
        fitted(1e-8, 1e-3,
               number<&Stack::kernels, &KernelNumbers::scan_step>(
                   "scan_step", 0.0, 0.01, "latency of one token in a scan that goes token by token", "0")),
        fitted(1e-8, 1e-4,
               number<&Stack::kernels, &KernelNumbers::kernel_startup>("kernel_startup", 0.0, 0.01, "least time of a kernel",
                                                                       "0")),
        number<&Stack::kernels, &KernelNumbers::unhidden>(
            "unhidden", 0.0, 1.0, "share of the shorter of memory and compute time that kernels fail to hide", "0"),
        fitted(1e4, 1e10,
               number<&Stack::memory, &MemoryPolicy::memory_per_graph>("memory_per_graph", 0.0, 1e11,
                                                                       "memory of one captured graph", "0")),
        as("node_cost",
           number<&Stack::launching, &Launching::graph_node_cost>(
               "graph_node_cost", 0.0, 0.01, "`node_cost` of the drafter's captured passes (`draft_graphs`)", "`node_cost`")),
        as("launch_factor", number<&Stack::launching, &Launching::graph_launch_factor>(
                                "graph_launch_factor", 0.01, 1000.0, "their `launch_factor`", "`launch_factor`")),
        number<&Stack::states, &StatePolicy::replay_traffic>(
            "replay_traffic", 0.01, 100.0,
            "times that replay and verification move a recurrent state beside what they need: to and from a second place", "0"),
        number<&Stack::caches, &CacheReading::sparse_prompt_heads>(
            "sparse_prompt_heads", 0.0, 1024.0,
            "query heads that kernels of sparse attention over latents compute for prompts at least, however few a rank has; "
            "they "
            "meet the latents as in decoding",
            "0: prompts are expanded, and a rank computes its own heads"),
        number<&Stack::caches, &CacheReading::score_traffic>(
            "score_traffic", 0.0, 256.0, "bytes that move for each attention score of a prompt, where kernels write all scores",
            "0"),
        number<&Stack::launching, &Launching::calls_per_copy>(
            "calls_per_copy", 0.01, 1000.0, "calls of the framework for one eager copy of a state: two views and the copy",
            "3"),
        number<&Stack::memory, &MemoryPolicy::memory_utilisation>(
            "memory_utilisation", 0.01, 1.0,
            "share of a device's memory that the engine may take by default; a platform's key of the same name wins",
            "1, or what `memory_reserves` leave"),
        number<&Stack::least_capability>(
            "least_capability", 0.0, 20.0,
            "NVIDIA compute capability below which the engine's builds have no kernels; asking for "
            "the engine on such a device is refused",
            "0: any"),
        number<&Stack::serving, &ServingPolicy::most_requests>(
            "most_requests", 1.0, 1e6, "requests that the engine runs at once at most, whatever it is told; others wait",
            "as many as memory and a step hold"),
        number<&Stack::caches, &CacheReading::score_bytes>(
            "score_bytes", 0.0, 64.0, "bytes of one attention score if kernels write all scores of a layer (eager attention)",
            "0: they do not"),
        number<&Stack::serving, &ServingPolicy::prompt_wait>(
            "prompt_wait", 0.01, 1.0, "share of the other requests' prompts that a request waits for after its first token",
            "1"),
        number<&Stack::layers, &LayerTimes::per_layer>("per_layer", 0.0, 0.01,
                                                       "what each layer adds on the device beside its kernels", "0"),
        number<&Stack::layers, &LayerTimes::per_expert_layer>(
            "per_expert_layer", 0.0, 0.01,
            "what each layer of experts adds to that: choosing, sorting, quantising and summing rows", "0"),
        number<&Stack::kernels, &KernelNumbers::fused_experts>(
            "fused_experts", 0.0, 1e-4,
            "what routed experts start up faster than the measured kernels, where one kernel chooses, sorts and sums", "0"),
        number<&Stack::layers, &LayerTimes::per_delta_layer>(
            "per_delta_layer", 0.0, 0.01,
            "what each layer of Gated DeltaNet with one decay a head adds to it: a second projection, and copies of what both "
            "yield into the order that the kernels behind them read",
            "0"),
        number<&Stack::layers, &LayerTimes::per_copied_delta_layer>(
            "per_copied_delta_layer", 0.0, 0.01,
            "what such a layer adds further whose value heads are not 1, 2 or 4 to a key head: no kernel splits what the "
            "projections yield, copies do",
            "0"),
        number<&Stack::layers, &LayerTimes::per_verified_delta_layer>(
            "per_verified_delta_layer", 0.0, 0.01,
            "and any such layer in a verification: picking the rows that verify, and putting what they yield back", "0"),
        number<&Stack::kernels, &KernelNumbers::expert_speed>(
            "expert_speed", 0.1, 10.0, "how fast routed experts read and compute, over how they are priced otherwise", "1"),
        of_products_in(NumberFormat::fp4,
                       number<&Stack::kernels, &KernelNumbers::fp4_read_speed>(
                           "fp4_read_speed", 0.1, 10.0,
                           "how fast linear layers of products in fp4 read, over how they are priced otherwise: "
                           "kernels of later versions than the measured one",
                           "1")),
        number<&Stack::measured, &MeasuredDeployment::step_error>(
            "step_error", 1e-3, 100.0,
            "half width of the 80 % interval of a step's time, where steps of this deployment were measured (`calibrate "
            "--runs`, `--serving`): answers then say how sure they are of it, not of engines elsewhere",
            "not measured"),
        number<&Stack::measured, &MeasuredDeployment::time_factor>(
            "time_factor", 0.01, 1000.0, "of all times of one deployment (`calibrate --serving` on one measured step)", "1"),
        number<&Stack::measured, &MeasuredDeployment::round_factor>(
            "round_factor", 0.01, 1000.0,
            "further, of all that rounds with drafts take (`calibrate` on plain steps and rounds at one load)", "1"),
    };
    return all;
}

bool has_stack_parameter(std::string_view name) {
    return std::any_of(stack_parameters().begin(), stack_parameters().end(),
                       [&](const StackParameter& each) { return each.name == name; });
}

const StackParameter& stack_parameter(std::string_view name) {
    return *std::find_if(stack_parameters().begin(), stack_parameters().end(),
                         [&](const StackParameter& each) { return each.name == name; });
}

}  // namespace treeline::sim
