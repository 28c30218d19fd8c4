// Why a deployment is as fast as it is: its measured rounds against the predicted ones, part by part, and which known causes
// explain the difference.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "runs/run.h"
#include "sim/round.h"

namespace treeline::sweeps {

/// A load that was measured, and the point of the cost model for it.
struct DiagnosedPoint {
    runs::RunCell cell;
    sim::RoundSetup setup;
    sim::DesignPoint point;
};

struct DiagnosisInput {
    std::string target, platform, drafter;  ///< in the words of the input
    std::vector<DiagnosedPoint> rounds;     ///< loads that draft
    std::vector<DiagnosedPoint> plain;      ///< plain decoding without a drafter loaded, if it was measured
    std::vector<DiagnosedPoint> idle;       ///< steps of no draft tokens while a drafter is loaded
    bool looks_up = false;                  ///< drafts are looked up in texts, not made by a trained drafter
    runs::RunSettings settings;             ///< what the run's files say of the deployment
    /// Loads whose acceptance was measured, timed or not.
    std::vector<runs::RunCell> accepted;
    /// Loads that draft with another back end, build, cache or device (RunCell::variant), to compare their acceptance with.
    std::vector<runs::RunCell> elsewhere;
    std::vector<std::string> remarks;  ///< what of the deployment the run's files say, as sentences
};

/// What a round's time goes to.
enum class RoundPart { draft, verify, experts, collectives, states, host, prompts };
constexpr auto names_in(RoundPart) {
    using enum RoundPart;
    return enum_names<RoundPart>({{draft, "draft"},
                                  {verify, "verify"},
                                  {experts, "experts"},
                                  {collectives, "collectives"},
                                  {states, "states"},
                                  {host, "host"},
                                  {prompts, "prompts"}});
}
inline constexpr std::size_t round_part_count = values_of<RoundPart>().size();
/// Seconds by RoundPart; experts and collectives are those of drafting and verification together and not in those parts.
using RoundParts = std::array<Seconds, round_part_count>;

/// A load, measured and predicted.
struct DiagnosedLoad {
    runs::RunCell cell;
    Seconds measured;  ///< the round
    RoundParts parts;  ///< predicted; they sum to `predicted`
    Seconds predicted;
    Seconds plain_measured;  ///< of this very load, or interpolated between others; 0 = not known
    bool plain_interpolated = false;
    Seconds plain_predicted;      ///< in the deployment's mode: without graphs where its log says so and none was measured
    Seconds plain_expected;       ///< where rounds took what is expected of them: with graphs
    Seconds expected;             ///< predicted, in proportion to what plain decoding is measured over predicted
    double accept_length = 0.0;   ///< measured; 0 = not known
    double break_even = 0.0;      ///< accept length below which this round loses to plain decoding
    double speedup = 0.0;         ///< measured; 0 = not known
    double ceiling = 0.0;         ///< speed-up if every draft were accepted
    double served_speedup = 0.0;  ///< TPOT of plain decoding at this very load over that of this one; 0 = not known
};

/// step(k) = intercept + slope·k over the draft lengths measured at one batch.
struct DraftLaw {
    double batch = 0.0, context = 0.0;  ///< context 0 = not known
    Seconds intercept, slope, predicted_intercept, predicted_slope;
    Seconds plain;  ///< measured step of plain decoding there; 0 = not known
    int lengths = 0;
};

enum class CauseKind {
    defect,
    long_contexts,
    drafter_not_captured,
    rounds_not_captured,
    padding,
    from_a_size_on,
    idle_drafter,
    slots_apart,
    state_copies,
    prompts,
    experts,
    drafter_on_all_ranks,
    cache_lost,
    verify_attention,
    prompts_cost_more,
    rows_cost_more,
    draft_passes,
    host_per_sequence,
    host_per_round,
    unexplained,
    below_break_even,
    ceiling,
};
constexpr auto names_in(CauseKind) {
    using enum CauseKind;
    return enum_names<CauseKind>({{defect, "drafter that looks defective"},
                                  {long_contexts, "drafter that fails at long contexts"},
                                  {drafter_not_captured, "drafter not captured in a graph"},
                                  {rounds_not_captured, "rounds not captured in a graph"},
                                  {padding, "padding to captured sizes"},
                                  {from_a_size_on, "rounds that slow down from a size on"},
                                  {idle_drafter, "cost of zero drafts"},
                                  {slots_apart, "slots decoded one after the other"},
                                  {state_copies, "state copies"},
                                  {prompts, "prompts of other requests"},
                                  {experts, "experts touched"},
                                  {drafter_on_all_ranks, "drafter on all ranks"},
                                  {cache_lost, "cache capacity lost"},
                                  {verify_attention, "attention of the verification over long contexts"},
                                  {prompts_cost_more, "prompts cost rounds more than they should"},
                                  {rows_cost_more, "verified tokens cost more than their kernels should"},
                                  {draft_passes, "passes of the drafter cost more than they should"},
                                  {host_per_sequence, "host time of each sequence"},
                                  {host_per_round, "fixed time of a round"},
                                  {unexplained, "time that no known cause explains"},
                                  {below_break_even, "acceptance below break-even"},
                                  {ceiling, "even a perfect drafter would lose"}});
}

struct Cause {
    CauseKind kind = CauseKind::ceiling;
    double share = 0.0;  ///< of the measured round at the focus that it accounts for
    double rank = 0.0;   ///< by which causes are sorted: the share to be explained, times how well this explains all loads
    /// Whether the measured times contradict the prediction in the way of this cause (true), or it is part of the prediction
    /// itself (false).
    bool beyond_prediction = false;
    std::string evidence;  ///< sentences with figures
    std::string remedy;    ///< what to try; may be empty where `fewer_drafts` is not
    /// What the draft length, or drafting here and not there, could do about it. Empty beside a drafter that looks defective,
    /// whose acceptance says nothing of lengths.
    std::string fewer_drafts = {};
    /// Recognised by how the excess grows; two of these exclude each other unless they are `together`.
    bool is_pattern = false;
    bool together = false;  ///< of two patterns that explain the excess only together

    /// Whether it stands in the place of another one: "or".
    [[nodiscard]] bool excludes_others() const { return is_pattern && !together; }
    /// remedy and fewer_drafts
    [[nodiscard]] std::string what_to_try() const;
};

struct Diagnosis {
    DiagnosisInput input;
    std::vector<DiagnosedLoad> loads;  ///< in the order of the input's rounds
    std::size_t focus = 0;             ///< the load that is explained: that with the lowest speed-up
    std::vector<DraftLaw> laws;
    std::vector<Cause> causes;  ///< likeliest first

    /// Whether no time was measured, so that it rests on what was accepted alone.
    [[nodiscard]] bool accepted_only() const { return loads.empty() && (input.idle.empty() || input.plain.empty()); }
};

/// The causes between which the measured times hardly tell: "or" stands between them. One where the first stands alone; two
/// with "and" between them where they are `together`.
std::vector<CauseKind> likeliest(const Diagnosis& diagnosis);

/// Where the likeliest cause is a part of the prediction: the causes of what the round takes beyond it, read as those above.
std::vector<CauseKind> likeliest_beyond(const Diagnosis& diagnosis);

/// Every reason why nothing can be diagnosed, as sentences. A drafter that looks defective by its acceptance needs no times.
std::vector<std::string> problems_of(const DiagnosisInput& input);

/// Each of the input's points must run.
Diagnosis diagnose(DiagnosisInput input);

}  // namespace treeline::sweeps
