#include "reports/recommend/load_notes.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "reports/objective_text.h"
#include "reports/recommend/most_rate_text.h"
#include "text/number_text.h"
#include "text/wording.h"

namespace treeline::reports {
namespace {

/// "128 requests in flight" or "batch 28", with the context.
std::string point_text(const sweeps::TrafficPoint& point, sweeps::LoadKind kind) {
    const std::string load = text::short_text(point.load);
    return fmt::format("{} of context {}",
                       kind == sweeps::LoadKind::batch         ? "batch " + load
                       : kind == sweeps::LoadKind::concurrency ? load + " requests in flight"
                                                               : load + " requests/s",
                       text::short_text(point.context));
}

/// "memory holds 12 sequences at context 2048", or fewer that the engine runs.
std::string holding_text(const sweeps::Recommendation& found, double sequences) {
    const sim::Stack& stack = found.variants[found.candidates.front().variant].setup.platform.stack;
    const bool by_engine = stack.serving.most_requests && sequences >= *stack.serving.most_requests;
    return fmt::format("{} {:.0f} sequence{}{} at context {}", by_engine ? "the engine runs" : "memory holds",
                       std::floor(sequences), std::floor(sequences) == 1.0 ? "" : "s", by_engine ? " at once" : "",
                       text::short_text(found.capacity.context));
}

/// Why drafts are off at some loads.
std::string off_text(const sweeps::Recommendation& found) {
    const sweeps::Candidate& best = found.candidates.front();
    switch (best.off_for.value_or(sweeps::Limit::memory)) {
        case sweeps::Limit::memory:
        case sweeps::Limit::load:
        case sweeps::Limit::waiting:
            return fmt::format("with {} drafts {}", best.draft_tokens, holding_text(found, found.capacity.drafting));
        case sweeps::Limit::first_token_growth:
            return fmt::format("drafts would make TTFT more than {} as long (--ttft-growth)",
                               text::ratio_text(found.limits.first_token_growth));
        default:
            return "drafts would break " + limit_text(*best.off_for);
    }
}

/// Batches of which fewer sequences run at once than were asked for: "At once run 12 of batch 28, and the others wait: ...".
std::string capped_note(const sweeps::Recommendation& found) {
    std::vector<std::string> capped;
    for (std::size_t i = 0; i < found.traffic.points.size(); ++i) {
        const double asked = found.traffic.points[i].load, run = found.settled.points[i].load;
        if (found.traffic.kind == sweeps::LoadKind::batch && run < asked) {
            capped.push_back(fmt::format("{:.0f} of batch {}", run, text::short_text(asked)));
        }
    }
    if (capped.empty()) {
        return "";
    }
    const std::string held =
        found.speculate ? fmt::format("with {} drafts {}; {:.0f} without the drafter", found.candidates.front().draft_tokens,
                                      holding_text(found, found.capacity.drafting), std::floor(found.capacity.plain))
                        : holding_text(found, found.capacity.plain);
    return fmt::format("At once run {}, and the others wait: {}.", text::listed(capped, "and"), held);
}

/// First tokens that come later than the limit on them alone allows, since answers end sooner (Limits::first_token_of_saved).
std::string later_first_token_note(const sweeps::Recommendation& found) {
    const sweeps::Candidate& best = found.candidates.front();
    const bool comparable = found.speculate && !waits_for_ever(found, best) && !found.plain.overrun;
    if (!comparable || best.time_to_first_token <= found.plain.time_to_first_token * found.limits.first_token_growth) {
        return "";
    }
    return fmt::format("First tokens may come so late because answers end sooner all the same (--ttft-growth {} forbids it).",
                       text::short_text(found.limits.first_token_growth));
}

std::string saturation_note(const sweeps::Saturation& saturation) {
    std::string note = fmt::format(
        "{} requests/s are more than this can serve: plain decoding serves {}, the recommended configuration {}; the answer "
        "is about servers that are always full, and requests wait ever longer{}.",
        text::short_text(saturation.asked), text::short_text(saturation.plain), text::short_text(saturation.best),
        saturation.was_for_latency ? ", so it is for throughput instead of latency" : "");
    if (saturation.first_token_limit) {
        note += fmt::format(" No configuration keeps TTFT below {} then.", text_of(*saturation.first_token_limit));
    }
    return note;
}

}  // namespace

std::vector<std::string> load_notes(const sweeps::Recommendation& found, sweeps::LoadKind kind) {
    std::vector<std::string> notes;
    if (found.saturation) {
        notes.push_back(saturation_note(*found.saturation));
    }
    if (found.most_rate) {
        notes.push_back(most_rate_note(found));
    }
    for (const sweeps::UnservedLoad& load : found.unserved) {
        notes.push_back(fmt::format("Left out, since nothing serves it within the limits: {}: {}.",
                                    point_text(load.point, kind), load.reason));
    }
    std::vector<std::string> off;
    for (std::size_t i = 0; i < found.traffic.points.size(); ++i) {
        if (found.speculate && found.candidates.front().plan.at(i) == sim::drafting_off) {
            off.push_back(point_text(found.traffic.points[i], found.traffic.kind));
        }
    }
    if (!off.empty()) {
        notes.push_back(fmt::format("Nothing is drafted at {}: {}.", text::listed(off, "and"), off_text(found)));
    }
    if (std::string note = later_first_token_note(found); !note.empty()) {
        notes.push_back(std::move(note));
    }
    if (std::string note = capped_note(found); !note.empty()) {
        notes.push_back(std::move(note));
    }
    return notes;
}

double served_share(const sweeps::Recommendation& found) {
    double left_out = 0.0;
    for (const sweeps::UnservedLoad& load : found.unserved) {
        left_out += load.point.share;
    }
    return found.saturation ? std::min(1.0, found.saturation->best / found.saturation->asked) : 1.0 - left_out;
}

}  // namespace treeline::reports
