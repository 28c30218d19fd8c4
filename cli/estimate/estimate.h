// What `treeline estimate` finds out about one design point, and how it is shown.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/inputs/point_reader.h"

namespace treeline {

/// One rollback policy and one way of verifying, tried at the point.
struct PolicyTrial {
    Rollback rollback = Rollback::truncate;
    int speculation = 0;  ///< index into PointInput::speculations
    std::string problem;  ///< why it cannot be run: a sentence; there is no estimate then
    RoundEstimate estimate;
};

struct PointEstimate {
    PointInput input;
    Rollback rollback = Rollback::truncate;  ///< the one used below
    DesignPoint point;                       ///< likewise, the way of verifying
    CompiledRound round;
    RoundEstimate speculative;  ///< equals `plain` without a drafter
    RoundEstimate plain;        ///< no draft tokens
    std::vector<PolicyTrial> trials;
    std::vector<ExplainedPass> passes;
    std::vector<MemoryPart> memory;
    Seconds first_token, plain_first_token;
    double critical_context = 0.0;         ///< below it, verification can become compute-bound at some batch; may be unlimited
    std::optional<double> critical_batch;  ///< from which it is compute-bound at the point's context; nothing on accelerators,
                                           ///< where sequences do not share a pass
    bool knows_energy = false, knows_price = false;
};

/// Prices a point that read_point() accepted. Where the input leaves rollback or verification open: the choice with the highest
/// throughput multiplier among those that fit, else the one that needs the least memory.
PointEstimate estimate_point(PointInput input);

/// The shape and how it is verified.
const Speculation& speculation_of(const PointEstimate& estimate);
/// Its row of the compiled round.
const RoundRow& row_of(const PointEstimate& estimate);

/// The answer: one sentence.
std::string sentence_of(const PointEstimate& estimate);

std::string estimate_table(const PointEstimate& estimate);
/// Format "treeline-estimate", version 1; `echo` is the point itself, so that the result can be run again.
nlohmann::ordered_json estimate_json(const PointEstimate& estimate, const nlohmann::ordered_json& echo);
/// One line an operation.
std::string estimate_csv(const PointEstimate& estimate);

/// "5 numbers: 3 datasheet, 2 assumed".
std::string provenance_summary(const std::vector<Provenance>& provenance);
nlohmann::ordered_json provenance_json(const std::vector<Provenance>& provenance);

}  // namespace treeline
