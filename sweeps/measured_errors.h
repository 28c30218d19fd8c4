// What predictions missed where engines were measured, and what that says of a prediction here: the chance that it pays.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "numerics/residual_interval.h"
#include "numerics/verdict.h"
#include "sim/round.h"

namespace treeline::sweeps {

/// What predictions missed where engines were measured, for each cost mode that they were made in.
struct MeasuredErrors {
    struct OfMode {
        sim::CostMode mode = sim::CostMode::roofline;
        std::vector<numerics::CaseResidual> speed_ups;  ///< with the accept length given
        std::vector<numerics::CaseResidual> times;      ///< per token, without speculation
    };
    std::vector<OfMode> modes;
    std::string source;

    /// Null if nothing was predicted in that mode.
    [[nodiscard]] const OfMode* of(sim::CostMode mode) const;
};

/// What a setup has in common with measured cases, at a batch.
numerics::CaseTraits traits_of(const sim::RoundSetup& setup, double batch);

/// Cases on the engine of the setup's stack.
std::size_t cases_of_engine(const std::vector<numerics::CaseResidual>& residuals, const sim::RoundSetup& setup);

/// Whether speculation pays, by what predictions of other speed-ups missed.
struct GainChances {
    double pays = 0.5;  ///< the chance that the gain is at least what is asked of it
    numerics::Verdict verdict = numerics::Verdict::open;
};

/// A predicted gain at a batch, with its share of the traffic.
struct GainAt {
    double batch = 1.0, gain = 1.0, share = 1.0;
};

/// The factors on a gain by what errors of measured engines do not hold, acceptance and modes of the engine that are unknown:
/// at most 1, and at least 1, each passed with one chance in ten.
struct UnmeasuredFactors {
    double low = 1.0, high = 1.0;
};

/// What predictions of a gain miss on a deployment that was measured (MeasuredDeployment::step_error): one with loads both with
/// and without drafts, or whose file lists none. A gain of which one side was measured is as uncertain as its other side, and
/// another model or device than that of the loads as uncertain as if nothing was measured.
std::optional<double> own_gain_error(const sim::RoundSetup& setup);
/// And of a time per token without speculation: of a deployment one of whose loads without drafts was measured, or whose file
/// lists none.
std::optional<double> own_time_error(const sim::RoundSetup& setup);

/// Whether anything is known of what predictions of this setup miss: its own deployment was measured
/// (MeasuredDeployment::step_error), or its engine was in its cost mode.
bool knows_errors(const sim::RoundSetup& setup, const MeasuredErrors& errors);

/// Shares of the gains of one setup, which are measured / predicted. Something must be known of them (knows_errors()).
class GainShares {
public:
    /// Both must outlive it.
    GainShares(const sim::RoundSetup& setup, const MeasuredErrors& errors)
        : setup_(setup), errors_(errors), own_(own_gain_error(setup)) {}
    /// The share of gains below `ratio` times the predicted one.
    double below(double batch, double ratio);
    /// The mean chance, over the traffic, that gains are at least `least`.
    GainChances chances(const std::vector<GainAt>& gains, double least, const UnmeasuredFactors& unmeasured);

private:
    const sim::RoundSetup& setup_;
    const MeasuredErrors& errors_;
    std::optional<double> own_;
    std::map<int, numerics::ResidualShares> by_level_;  ///< numerics::level_of_batch
};

/// GainShares::chances() of one question. Nothing where knows_errors() is false.
std::optional<GainChances> chances_of(const sim::RoundSetup& setup, const std::vector<GainAt>& gains, double least,
                                      const MeasuredErrors& errors, const UnmeasuredFactors& unmeasured = {});

}  // namespace treeline::sweeps
