#include "sweeps/measured_errors.h"

#include <algorithm>
#include <cmath>

#include "sim/traits.h"

namespace treeline::sweeps {
namespace {

/// The middles of five equally likely parts of a standard normal, and the value that one draw in ten exceeds.
constexpr double normal_fifths[] = {-1.28155, -0.52440, 0.0, 0.52440, 1.28155};
constexpr double tenth_of_normal = 1.28155;

/// The engine whose errors count: the one that the stack is named after, or else, of a stack of one's own, the one it runs.
std::string engine_of(const sim::RoundSetup& setup) {
    const sim::Stack& stack = setup.platform.stack;
    return stack.measured.step_error && !stack.engine.empty() ? std::string(stack.engine_word())
                                                              : sim::engine_of_stack(stack.name);
}

bool drafts(const sim::MeasuredLoad& load) { return load.draft_tokens > 0.0; }

/// Whether the setup's stack lists the loads of another deployment: its errors are no other's.
bool is_of_another_deployment(const sim::RoundSetup& setup, const std::vector<sim::MeasuredLoad>& loads_of_setup) {
    return loads_of_setup.empty() && !setup.platform.stack.measured.measured_loads.loads.empty();
}

}  // namespace

std::optional<double> own_gain_error(const sim::RoundSetup& setup) {
    const std::vector<sim::MeasuredLoad> loads = sim::measured_loads_of(setup).loads;
    const bool one_side = std::all_of(loads.begin(), loads.end(), drafts) || std::none_of(loads.begin(), loads.end(), drafts);
    const bool own = !is_of_another_deployment(setup, loads) && (loads.empty() || !one_side);
    return own ? setup.platform.stack.measured.step_error : std::nullopt;
}

std::optional<double> own_time_error(const sim::RoundSetup& setup) {
    const std::vector<sim::MeasuredLoad> loads = sim::measured_loads_of(setup).loads;
    const bool plain_too = loads.empty() || !std::all_of(loads.begin(), loads.end(), drafts);
    const bool own = !is_of_another_deployment(setup, loads) && plain_too;
    return own ? setup.platform.stack.measured.step_error : std::nullopt;
}

const MeasuredErrors::OfMode* MeasuredErrors::of(sim::CostMode mode) const {
    const auto found = std::find_if(modes.begin(), modes.end(), [&](const OfMode& each) { return each.mode == mode; });
    return found == modes.end() || found->speed_ups.empty() ? nullptr : &*found;
}

numerics::CaseTraits traits_of(const sim::RoundSetup& setup, double batch) {
    return {{engine_of(setup), setup.platform.device.name, sim::kind_of_model(setup.target)},
            numerics::level_of_batch(batch),
            setup.platform.stack.name != sim::general_stack};
}

std::size_t cases_of_engine(const std::vector<numerics::CaseResidual>& residuals, const sim::RoundSetup& setup) {
    const std::string engine = engine_of(setup);
    return static_cast<std::size_t>(
        std::count_if(residuals.begin(), residuals.end(),
                      [&](const numerics::CaseResidual& residual) { return residual.traits.alike.front() == engine; }));
}

bool knows_errors(const sim::RoundSetup& setup, const MeasuredErrors& errors) {
    if (setup.platform.accelerator) {
        return false;
    }
    const MeasuredErrors::OfMode* of_mode = errors.of(setup.platform.mode);
    return own_gain_error(setup) || (of_mode != nullptr && cases_of_engine(of_mode->speed_ups, setup) > 0);
}

double GainShares::below(double batch, double ratio) {
    if (own_) {
        const double sigma = *own_ / tenth_of_normal;
        return 0.5 * std::erfc(-std::log(ratio) / (sigma * std::sqrt(2.0)));
    }
    const numerics::CaseTraits traits = traits_of(setup_, batch);
    auto known = by_level_.find(traits.level);
    if (known == by_level_.end()) {
        known = by_level_.emplace(traits.level, numerics::ResidualShares(errors_.of(setup_.platform.mode)->speed_ups, traits))
                    .first;
    }
    return known->second.below(ratio);
}

GainChances GainShares::chances(const std::vector<GainAt>& gains, double least, const UnmeasuredFactors& unmeasured) {
    double loses = 0.0;
    for (const GainAt& at : gains) {
        for (const double z : normal_fifths) {
            const double factor = std::pow(z < 0.0 ? unmeasured.low : unmeasured.high, std::abs(z) / tenth_of_normal);
            loses += 0.2 * at.share * below(at.batch, least / (at.gain * factor));
        }
    }
    return {1.0 - loses, numerics::verdict_of(loses)};
}

std::optional<GainChances> chances_of(const sim::RoundSetup& setup, const std::vector<GainAt>& gains, double least,
                                      const MeasuredErrors& errors, const UnmeasuredFactors& unmeasured) {
    return knows_errors(setup, errors) ? std::optional(GainShares(setup, errors).chances(gains, least, unmeasured))
                                       : std::nullopt;
}

}  // namespace treeline::sweeps
