// Measured rows as design points: what a row's words mean here, or why they mean nothing.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "sim/round.h"
#include "validation/serving/names.h"
#include "validation/serving/rows.h"

namespace treeline::validation {

/// The descriptions that rows may name, by catalogue name.
struct ServingParts {
    NameTable names;
    std::map<std::string, sim::Model> models;
    std::map<std::string, std::string> stems;  ///< model_stem() of a name -> key of `models`
    std::map<std::string, sim::Device> devices;
    std::map<std::string, sim::Stack> stacks;  ///< "vllm", and versions of it: "vllm-0.10"
    std::map<std::string, sim::ExpertKernels> expert_kernels;
    std::map<std::string, sim::AttentionKernels> attention_kernels;
    /// Modules for multi-token prediction that are published apart from their target's checkpoint (Gemma 4's assistants), by
    /// model.
    std::map<std::string, sim::Drafter> modules_apart;
};

/// What the number of a row is.
enum class MeasuredQuantity {
    time_per_token,  ///< seconds, without speculation
    speed_up,        ///< of a user's tokens per second: TPOT, inter-token latency
    throughput_gain  ///< of all tokens per second: each request's own prompt counts
};

/// How a run is shared out over devices.
struct DeviceCut {
    double tensor = 1.0;
    sim::Parallelism parallel;

    [[nodiscard]] double devices() const { return sim::devices_of(tensor, parallel); }
};

/// A row that can be priced. Everything is by name, so that a fit may change ServingParts and ask again.
struct MeasuredPoint {
    std::size_t row = 0;  ///< index into the rows
    std::string model, device, stack;
    sim::Precision precision;
    sim::Drafter drafter = sim::NoDrafter{};
    std::string drafter_kind;  ///< "eagle3", "mtp", "model", …; empty without speculation
    DeviceCut cut;
    double batch = 1.0;                     ///< over all groups of attention data parallelism
    double most_requests = sim::unlimited;  ///< that the engine ran at once with speculation
    std::optional<double> vector_rows;      ///< rows that the build takes on vector units (RowCurve::few_rows), where the build
                                            ///< differs from the engine's
    double context = 0.0;                   ///< mean over the answer
    double prompt_tokens = 0.0;
    double prefix_hit = 0.0;                      ///< share of the prompt that the prefix cache holds
    double output_tokens = 0.0;                   ///< 0: decoding alone
    double shared_prefix = 0.0;                   ///< tokens that all prompts begin with
    double expert_pool = 1.0;                     ///< RoundSetup::expert_pool
    std::optional<double> host_speed;             ///< in place of the device's
    std::optional<Watts> power_limit;             ///< of each device
    bool attends_to_all = false;                  ///< without the target's indexers
    std::string expert_kernels;                   ///< picked in place of the engine's own
    std::string attention_kernels;                ///< likewise
    std::string interconnect;                     ///< in place of the fastest that joins all ranks
    std::optional<sim::Speculation> speculation;  ///< nothing: plain decoding
    /// A policy verifies fewer of the drafted tokens where that pays: priced as the best fixed number of them. The accept
    /// length that such a row prints is that of the cut drafts, so it is not used.
    bool adaptive = false;
    MeasuredQuantity quantity = MeasuredQuantity::time_per_token;
    double measured = 0.0;
    std::optional<double> accept_length;
    bool prints_length = false;        ///< its source prints that length, rather than rates or a range that it follows from
    bool length_at_bound = false;      ///< nothing accepted, or all of it: what no engine reports of many rounds
    bool reports_defect = false;       ///< SpeculationRow::reports_defect
    bool differs_in_more = false;      ///< SpeculationRow::differs_in_more
    bool own_stack = true;             ///< `stack` describes its engine, and not another
    double plain_step = 0.0;           ///< seconds that plain decoding took beside it; 0 where the row does not say
    std::string contradiction;         ///< mark_contradictions(); empty: none
    bool documented = false;           ///< its source publishes every condition
    std::string citation;              ///< where it was published
    bool seen = false;                 ///< some number was fitted to rows of its citation (NameTable::evidence)
    std::vector<std::string> assumed;  ///< what was filled in: "draft length", "devices", "lengths"

    /// What was measured is no evidence for or against a prediction, whatever that is: faults, accept lengths at a bound, runs
    /// that contradict others or differ in more than speculation.
    [[nodiscard]] bool stands_apart() const {
        return reports_defect || length_at_bound || differs_in_more || !contradiction.empty();
    }
};

/// A row that is left out, and why. Reasons are few, so that they can be counted; `detail` is this row's.
struct LeftOutPoint {
    std::size_t row = 0;
    std::string reason;
    std::string detail;
    /// Rows that a rule leaves out although they could be priced: their errors are shown apart.
    std::optional<MeasuredPoint> point;
};

struct MeasuredPoints {
    std::vector<MeasuredPoint> points;
    std::vector<LeftOutPoint> left_out;
};

MeasuredPoints points_of(std::span<const ServingRun> rows, const ServingParts& parts);
MeasuredPoints points_of(std::span<const SpeculationRow> rows, const ServingParts& parts);

/// The setup that prices a point: plain decoding first and, if it speculates, its draft second, with as many drafts accepted as
/// makes up `accept_length` (the bonus token counted; for a chain, with the same rate at each position). Where the target has a
/// recurrent state, with the rollback policy of the stack that is fastest there.
sim::RoundSetup setup_of(const MeasuredPoint& point, const ServingParts& parts, sim::CostMode mode, double accept_length = 1.0);

/// Has as many drafts of the point accepted as make up this accept length. For a tree, which grows from the best candidates,
/// the length is that of the tree which a drafter with this rate would grow; a look-up drafts in a share of the rounds only
/// (sim::count_misses).
void set_accept_length(sim::RoundSetup& setup, const MeasuredPoint& point, double accept_length);

/// Levels of a point's draft: a round yields at most that and the bonus token. 0 without speculation.
double draft_depth(const MeasuredPoint& point);
/// Its draft tokens; the root of a tree is none.
double draft_tokens_of(const MeasuredPoint& point);

/// The row with what it leaves open filled in from NameTable::conditions; what was filled in is added to `assumed`.
SpeculationRow completed(SpeculationRow row, const NameTable& names, std::vector<std::string>& assumed);

// The parts of the mapping, which both kinds of rows share. Each returns what it found, or why not.

struct Unmapped {
    std::string reason, detail;
};
/// Of rows whose tokens take more products than the devices can do in their time.
inline constexpr const char* impossible_time =
    "faster than the device multiplies: check the unit of tpot_ms, the batch and the model";
template <class T>
using Mapped = std::variant<T, Unmapped>;

Mapped<std::string> model_named(const ServingParts& parts, const std::string& text);
Mapped<std::string> device_named(const ServingParts& parts, const std::string& text);
/// The stack of that engine: of its versions in the catalogue the newest that is not newer than `version` (the oldest, if all
/// are); without a version, the plain one.
Mapped<std::string> stack_named(const ServingParts& parts, const std::string& engine, const std::string& version);
/// What a checkpoint of `model` holds where it is called `text`; as published where no word of it is a format. The cache is in
/// fp8 where the text says so ("fp8 KV").
sim::Precision precision_named(const ServingParts& parts, const std::string& model, const std::string& text,
                               std::string_view engine = {});
/// What both kinds of rows say of where they ran.
struct StatedPlace {
    std::string model, device, engine, engine_version;
    std::string format;  ///< every text that may hold a word of a format
    StatedParallelism ranks;
};
/// Sets model, device, stack, precision and cut of `point`, or says what has no meaning here. Ranks that are not stated are the
/// least power of two whose memory holds the weights.
std::optional<Unmapped> set_place(const StatedPlace& stated, const ServingParts& parts, MeasuredPoint& point);
/// Says of speculative points what cannot be, by what was measured alone: a speed-up above its accept length (a round takes no
/// less than a step), plain steps of one deployment and batch that are twofold off their median, a request that is served
/// more slowly than at a larger batch of its series by a quarter, more prompts than the devices can compute.
void mark_contradictions(std::vector<MeasuredPoint>& points, std::span<const SpeculationRow> rows, const ServingParts& parts);
/// Adds the point, or the reason why it cannot be priced.
void add_point(MeasuredPoint point, const ServingParts& parts, MeasuredPoints& result);

}  // namespace treeline::validation
