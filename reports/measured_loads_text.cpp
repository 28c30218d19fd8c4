#include "reports/measured_loads_text.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "text/number_text.h"

namespace treeline::reports {
namespace {

enum class Nearness { measured, interpolated, beyond };

/// The measured loads around a point.
struct Surroundings {
    Nearness nearness = Nearness::beyond;
    sim::MeasuredLoad below, above;  ///< the nearest one in both, unless it lies between two
    double ratio = 1.0;
};

std::optional<Surroundings> around(const sim::RoundSetup& setup, const sim::CompiledRound& round,
                                   const sim::DesignPoint& point) {
    const std::vector<sim::MeasuredLoad> loads = sim::measured_loads_of(setup).loads;
    if (loads.empty()) {
        return std::nullopt;
    }
    const double drafts = round.row(point.speculation).draft_tokens;
    const sim::MeasuredLoad asked{point.batch, point.context, drafts, Seconds(0.0), 1.0};
    const auto nearer = [&](const sim::MeasuredLoad& a, const sim::MeasuredLoad& b) {
        return sim::distance_of(a, asked) < sim::distance_of(b, asked);
    };
    Surroundings found;
    found.ratio = round.ratios.at(point.batch, point.context, drafts).round;
    found.below = found.above = *std::min_element(loads.begin(), loads.end(), nearer);
    if (sim::distance_of(found.below, asked) < sim::same_load) {
        found.nearness = Nearness::measured;
        return found;
    }
    std::optional<sim::MeasuredLoad> below, above;
    for (const sim::MeasuredLoad& load : loads) {
        sim::MeasuredLoad at_its_batch = asked;
        at_its_batch.batch = load.batch;
        if (load.draft_tokens != drafts || sim::distance_of(at_its_batch, load) >= sim::same_load) {
            continue;  // at another context, or with another draft length
        }
        if (load.batch <= point.batch && (!below || load.batch > below->batch)) {
            below = load;
        }
        if (load.batch >= point.batch && (!above || load.batch < above->batch)) {
            above = load;
        }
    }
    if (below && above) {
        found = {Nearness::interpolated, *below, *above, found.ratio};
    }
    return found;
}

/// "plain decoding", "3 drafts".
std::string what_ran(double drafts) {
    return drafts > 0.0 ? fmt::format("rounds with {:g} draft{}", drafts, drafts == 1.0 ? "" : "s") : "steps of plain decoding";
}

/// What memory is reckoned to hold without what was measured, where that is less than the batch.
std::string held_text(const sim::CompiledRound& round, const sim::DesignPoint& point) {
    if (round.memory.measured <= 1.0) {
        return "";
    }
    sim::CompiledRound reckoned = round;
    reckoned.memory.capacity = round.memory.capacity / round.memory.measured;
    reckoned.memory.plain_capacity = round.memory.plain_capacity / round.memory.measured;
    const sim::RoundRow& row = round.row(point.speculation);
    return sim::memory_holds(reckoned, row, point.batch, point.context)
               ? ""
               : fmt::format(
                     "; memory is reckoned to hold {:.0f} of the {:g}, but the run had as many in flight, decoding or "
                     "waiting, and its times are those of that load",
                     sim::largest_that_fits(reckoned, row, point.context), point.batch);
}

}  // namespace

std::string other_deployment_text(const sim::RoundSetup& setup) {
    const sim::MeasuredLoads& measured = setup.platform.stack.measured.measured_loads;
    if (measured.loads.empty() || !sim::measured_loads_of(setup).loads.empty()) {
        return "";
    }
    return fmt::format(
        "The numbers of {} were measured with {} in {} on {}{}: how far they are off here, that run does not tell.",
        setup.platform.stack.name, measured.target, measured.weights,
        measured.devices > 1.0 ? fmt::format("{:g} x ", measured.devices) : "", measured.device);
}

std::string measured_load_text(const sim::RoundSetup& setup, const sim::CompiledRound& round, const sim::DesignPoint& point) {
    const std::optional<Surroundings> found = around(setup, round, point);
    if (!found) {
        return "";
    }
    const std::string what = what_ran(round.row(point.speculation).draft_tokens);
    const std::string ratio =
        fmt::format("{} times what the fitted numbers predict", text::fixed_text(found->ratio, 2)) + held_text(round, point);
    switch (found->nearness) {
        case Nearness::measured:
            return fmt::format("{} were measured at this load: {}", what, ratio);
        case Nearness::interpolated:
            return fmt::format("{} were measured at batch {:g} and {:g}, interpolated here: {}", what, found->below.batch,
                               found->above.batch, ratio);
        case Nearness::beyond:
            break;
    }
    const std::vector<sim::MeasuredLoad> loads = sim::measured_loads_of(setup).loads;
    const bool alike = std::any_of(loads.begin(), loads.end(), [&](const sim::MeasuredLoad& load) {
        return (load.draft_tokens > 0.0) == (round.row(point.speculation).draft_tokens > 0.0);
    });
    return fmt::format("{}: {}the nearest load measured is batch {:g}, context {:g}, {}; carried over: {}", what,
                       alike ? "" : "none was measured; ", found->below.batch, found->below.context,
                       found->below.draft_tokens > 0.0 ? fmt::format("{:g} drafts", found->below.draft_tokens) : "no drafts",
                       ratio);
}

nlohmann::ordered_json measured_load_json(const sim::RoundSetup& setup, const sim::CompiledRound& round,
                                          const sim::DesignPoint& point) {
    const std::optional<Surroundings> found = around(setup, round, point);
    if (!found) {
        return {};
    }
    constexpr const char* names[] = {"measured", "interpolated", "beyond"};
    return {{"how", names[static_cast<std::size_t>(found->nearness)]}, {"ratio", found->ratio}};
}

nlohmann::ordered_json measured_loads_json(const sim::MeasuredLoads& measured) {
    nlohmann::ordered_json loads = nlohmann::ordered_json::array();
    for (const sim::MeasuredLoad& load : measured.loads) {
        loads.push_back({{"batch", load.batch},
                         {"context", load.context},
                         {"draft_tokens", load.draft_tokens},
                         {"measured_ms", text::rounded(1e3 * load.measured.value(), 5)},
                         {"ratio", text::rounded(load.ratio, 5)}});
    }
    nlohmann::ordered_json json = {{"target", measured.target},
                                   {"weights", measured.weights},
                                   {"device", measured.device},
                                   {"devices", measured.devices},
                                   {"mode", measured.mode}};
    if (!measured.drafter.empty()) {
        json["drafter"] = measured.drafter;
    }
    json["reach"] = measured.reach;
    if (measured.memory > 1.0) {
        json["memory"] = measured.memory;
    }
    json["loads"] = std::move(loads);
    return json;
}

}  // namespace treeline::reports
