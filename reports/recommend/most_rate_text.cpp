#include "reports/recommend/most_rate_text.h"

#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/objective_text.h"
#include "text/number_text.h"
#include "text/wording.h"

namespace treeline::reports {
namespace {

std::string rate_text(double rate) { return text::short_text_below(rate) + " requests/s"; }

/// What one per cent more requests does.
std::string beyond_text(sweeps::Limit limit) {
    return limit == sweeps::Limit::load ? "requests wait ever longer, since the server is always full"
                                        : limit_text(limit) + " breaks";
}

}  // namespace

std::string within_text(const sweeps::Limits& limits) {
    std::vector<std::string> parts;
    if (limits.time_per_token) {
        parts.push_back(text_of(*limits.time_per_token) + " per token");
    }
    if (limits.time_to_first_token) {
        parts.push_back(text_of(*limits.time_to_first_token) + " to the first token");
    }
    return parts.empty() ? "" : " within " + text::listed(parts, "and");
}

std::string most_rate_sentence(const sweeps::Answer& answer, const std::string& run) {
    const sweeps::Recommendation& found = *answer.result.recommendation;
    const sweeps::MostRate& most = *found.most_rate;
    const std::string served = fmt::format("{}: it serves at most {}{}", run, rate_text(most.best), within_text(found.limits));
    if (!found.speculate) {
        return served + (answer.rejected ? fmt::format("; the best that drafts, {}, serves {} as many", answer.rejected->label,
                                                       text::ratio_text(answer.rejected->gain))
                                         : "");
    }
    return most.plain > 0.0 ? fmt::format("{}, {} the {} of plain decoding", served,
                                          text::ratio_text(found.candidates.front().gain), rate_text(most.plain))
                            : served + ", and plain decoding none";
}

std::string most_rate_note(const sweeps::Recommendation& found) {
    const sweeps::MostRate& most = *found.most_rate;
    std::string note = fmt::format("Beyond {} {}", rate_text(most.best), beyond_text(most.held_by));
    if (found.speculate && most.plain > 0.0) {
        note += fmt::format("; in plain decoding, beyond {}, {}", rate_text(most.plain), beyond_text(most.plain_held_by));
    }
    return note + ". Each row is at its own rate.";
}

nlohmann::ordered_json most_rate_json(const sweeps::Recommendation& found) {
    if (!found.most_rate) {
        return nullptr;
    }
    const sweeps::MostRate& most = *found.most_rate;
    return {{"requests_per_s_recommended", most.best},
            {"requests_per_s_plain", most.plain},
            {"held_by", name_of(most.held_by)},
            {"plain_held_by", name_of(most.plain_held_by)}};
}

}  // namespace treeline::reports
