#include "reports/recommend/recommendation_output.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "reports/objective_text.h"
#include "reports/recommend/load_notes.h"
#include "reports/recommend/most_rate_text.h"
#include "reports/recommend/ways_to_fit.h"
#include "reports/shape_text.h"
#include "reports/trust_text.h"
#include "sweeps/variants.h"
#include "text/number_text.h"
#include "text/precision_text.h"
#include "text/steady_text.h"
#include "text/wording.h"

namespace treeline::reports {
namespace {

/// "packed", and for a chain what that means.
std::string verification_text(const sweeps::Recommendation& found, const sweeps::Candidate& candidate) {
    const sim::Speculation& speculation = found.speculations[static_cast<std::size_t>(candidate.speculation)];
    return sim::is_chain(speculation) && speculation.verification == sim::Verification::unrolled
               ? "one pass over the chain"
               : std::string(name_of(speculation.verification));
}

/// " in the tree sglang 5,4,32", or nothing for a chain.
std::string in_a_tree(const sweeps::Recommendation& found) {
    const sim::Speculation& speculation = found.speculations[static_cast<std::size_t>(found.candidates.front().speculation)];
    return sim::is_chain(speculation) ? "" : " in the tree " + speculation.label;
}

/// The other side of the gain: a token's time beside an objective of devices, and the device's rate beside the time of a token.
std::string other_side(const sweeps::Candidate& best, const sweeps::Candidate& plain, sweeps::Objective objective) {
    if (objective == sweeps::Objective::latency) {
        const bool loses = best.tokens_per_second_device < 0.995 * plain.tokens_per_second_device;
        return loses ? fmt::format(", but a device yields {} tokens/s instead of {}",
                                   text::short_text(best.tokens_per_second_device),
                                   text::short_text(plain.tokens_per_second_device))
                     : std::string();
    }
    const bool slower = best.time_per_token > plain.time_per_token * 1.005;
    return fmt::format("{} {} per token instead of {}", slower ? ", but" : ";", text_of(best.time_per_token),
                       text_of(plain.time_per_token));
}

/// What the gain is paid with where the first token comes notably later than in plain decoding under the same load: by more
/// than a fifth, and by more than anyone overlooks.
std::string later_first_token(const sweeps::Candidate& best, const sweeps::Candidate& plain) {
    constexpr double much = 1.2;
    constexpr Seconds noticed{0.1};
    const bool known = plain.time_to_first_token > Seconds(0.0) && std::isfinite(best.time_to_first_token.value());
    if (!known || best.time_to_first_token <= std::max(much * plain.time_to_first_token, plain.time_to_first_token + noticed)) {
        return "";
    }
    return fmt::format(
        ", but the first token comes after {} instead of {}{}", text_of(best.time_to_first_token),
        text_of(plain.time_to_first_token),
        best.queued >= 0.5 ? fmt::format(", with {:.0f} request{} waiting", best.queued, best.queued < 1.5 ? "" : "s") : "");
}

/// What of a load that is too large is served, after `before`: "of 40 requests/s it serves 5.95 instead of 3.70".
std::string overload_text(const sweeps::Recommendation& found, const char* before = "; ") {
    return !found.saturation ? ""
                             : fmt::format("{}of {} requests/s it serves {}{}", before,
                                           text::short_text(found.saturation->asked), text::short_text(found.saturation->best),
                                           found.speculate ? " instead of " + text::short_text(found.saturation->plain) : "");
}

/// What of the load the answer is not about, as the end of its first sentence.
std::string left_out_text(const sweeps::Recommendation& found) {
    return found.unserved.empty()
               ? ""
               : fmt::format("; {} of the load that was asked for is left out, since nothing serves it within the limits",
                             text::percent_text(1.0 - served_share(found)));
}

std::string drafting_sentence(const sweeps::Answer& answer, const std::string& where) {
    const sweeps::Recommendation& found = *answer.result.recommendation;
    const sweeps::Candidate& best = found.candidates.front();
    const sweeps::Objective objective = answer.input.workload.objective;
    const std::string run =
        fmt::format("Run {} with {} drafting {} token{}{}", where, found.variants[best.variant].labels.drafter,
                    best.draft_tokens, best.draft_tokens > 1 ? "s" : "", in_a_tree(found));
    if (found.most_rate) {
        return most_rate_sentence(answer, run);
    }
    // A server that can never catch up has no time to the first token.
    const bool under_load = answer.input.workload.traffic.kind != sweeps::LoadKind::batch && !found.saturation;
    if (best.gain_of_capacity) {
        return fmt::format(
            "{}: plain decoding cannot serve these arrivals, and this can; at most it serves {} the requests that plain "
            "decoding does; {} per token",
            run, text::ratio_text(best.gain), text_of(best.time_per_token));
    }
    return fmt::format(
        "{}: {}, {} instead of {}{}", run, gain_text(best.gain, objective), figure_text(best, objective),
        objective_cell(found.plain, objective),
        other_side(best, found.plain, objective) + (under_load ? later_first_token(best, found.plain) : overload_text(found)));
}

/// Decimals, at least two, with which two gains read as two.
int digits_apart(double a, double b) {
    int digits = 2;
    while (digits < 6 && text::fixed_text(a, digits) == text::fixed_text(b, digits)) {
        ++digits;
    }
    return digits;
}

/// "1.62x", or as many digits as tell it from the gain that was asked for.
std::string rejected_gain_text(const sweeps::Answer& answer) {
    const double gain = answer.rejected->gain;
    return answer.rejected->limit ? text::ratio_text(gain)
                                  : text::fixed_text(gain, digits_apart(gain, answer.input.workload.limits.minimum_gain)) + "x";
}

/// Why drafts that gain are not recommended: a limit that the user can raise.
std::string why_rejected(const sweeps::Answer& answer) {
    const sweeps::RejectedDrafting& rejected = *answer.rejected;
    const sweeps::Limits& limits = answer.input.workload.limits;
    if (rejected.gain < 1.0) {
        return "";  // no limit need be raised for a loss
    }
    if (rejected.off_for && rejected.gain_everywhere > rejected.gain) {
        return fmt::format(" where it drafts at loads alone that keep {}; drafting at all of them it would reach {}",
                           limit_text(*rejected.off_for), text::ratio_text(rejected.gain_everywhere));
    }
    if (!rejected.limit && rejected.gain >= limits.minimum_gain && rejected.chances) {
        return fmt::format(", but would gain with {:.0f} % only", std::ceil(100.0 * rejected.chances->pays));
    }
    if (!rejected.limit) {
        return fmt::format(", less than the {}x asked for",
                           text::fixed_text(limits.minimum_gain, digits_apart(rejected.gain, limits.minimum_gain)));
    }
    switch (*rejected.limit) {
        case sweeps::Limit::waiting:
            return fmt::format(", but {} more of the requests would wait for a place (--waiting {} allows that)",
                               text::percent_text(rejected.waiting), text::short_text(std::min(1.0, rejected.waiting + 0.01)));
        case sweeps::Limit::first_token_growth:
            return fmt::format(", but TTFT would be {} as long (--ttft-growth {} allows that)",
                               text::ratio_text(rejected.first_token_growth),
                               text::short_text(std::ceil(rejected.first_token_growth)));
        case sweeps::Limit::time_to_first_token:
            return fmt::format(", but the first token would come after {} (--max-ttft-ms {:.0f} allows that)",
                               text_of(rejected.first_token), std::ceil(rejected.first_token.value() * 1e3));
        case sweeps::Limit::load:
            return ", but cannot serve the load";
        default:
            return ", but breaks " + limit_text(*rejected.limit);
    }
}

/// The answer to a workload without drafters.
std::string planner_sentence(const sweeps::Recommendation& found, const std::string& where, const std::string& alone) {
    const sweeps::Candidate& plain = found.candidates.front();
    const std::string waits =
        found.saturation ? overload_text(found, "") + ", and the others wait ever longer"
                         : fmt::format("the first token comes after {}{}", text_of(plain.time_to_first_token),
                                       plain.queued >= 0.5 ? fmt::format(", and {:.0f} requests wait", plain.queued) : "");
    if (has_one_token(found.variants[plain.variant].setup)) {
        return fmt::format("{} answers {} requests/s per device with one token each; {}", where,
                           text::short_text(plain.tokens_per_second_device), waits);
    }
    return fmt::format("{} without a drafter generates {} tokens/s per device{}, {} per token; {}", where,
                       text::short_text(plain.tokens_per_second_device), alone, text_of(plain.time_per_token), waits);
}

std::string plain_sentence(const sweeps::Answer& answer, const std::string& where) {
    const sweeps::Candidate& plain = answer.result.recommendation->candidates.front();
    const sweeps::Objective objective = answer.input.workload.objective;
    const std::string alone = decoding_alone_text(sweeps::recommended_variant(answer).setup);
    if (answer.result.recommendation->most_rate) {
        return most_rate_sentence(answer, fmt::format("Run {} without a drafter", where));
    }
    if (answer.input.drafters.empty()) {
        return planner_sentence(*answer.result.recommendation, where, alone);
    }
    const std::string what = fmt::format("Run {} without a drafter: {}{}{}", where, figure_text(plain, objective), alone,
                                         overload_text(*answer.result.recommendation));
    if (!answer.rejected) {
        const std::vector<sweeps::Exclusion>& excluded = answer.result.excluded;
        return what + (excluded.empty() ? "; none of the drafters that were asked for can run within the limits"
                                        : fmt::format("; no drafter runs: {}", excluded.front().reason));
    }
    if (answer.rejected->limit == sweeps::Limit::memory) {
        return what + fmt::format("; {} does not fit in memory", answer.rejected->label);
    }
    return what + fmt::format("; the best that drafts, {}, reaches {}{}", answer.rejected->label, rejected_gain_text(answer),
                              why_rejected(answer));
}

/// What comes closest to being the answer where nothing is; else what keeps plain decoding from it.
std::string nearest_text(const sweeps::Answer& answer) {
    if (const std::optional<sweeps::Exclusion>& nearest = answer.result.nearest) {
        return fmt::format("; the nearest, {}: {}", nearest->label, nearest->reason);
    }
    const std::vector<sweeps::Exclusion>& excluded = answer.result.excluded;
    const auto plain = std::find_if(excluded.begin(), excluded.end(), [](const sweeps::Exclusion& exclusion) {
        return exclusion.label.find("plain decoding") != std::string::npos;
    });
    return plain == excluded.end() ? "" : fmt::format("; plain decoding alone: {}", plain->reason);
}

/// "; specmamba-vhk158 has weights of 4.05 bits, states of 8.50 bits, and rtx-4090 weights in bf16" where the best of each
/// device is priced in other formats, as an accelerator is.
std::string formats_apart(const sweeps::Recommendation& found) {
    std::set<std::string> formats;
    std::vector<std::string> devices;
    for (const sweeps::DeviceChoice& choice : sweeps::best_of_each_device(found)) {
        const std::string text = formats_text(found.variants[choice.best->variant]);
        devices.push_back(fmt::format("{} has {}", choice.platform, text));
        formats.insert(text);
    }
    return formats.size() < 2 ? "" : "; formats differ: " + text::listed(devices, "and");
}

}  // namespace

namespace {

/// That the recommended head does not exist, and what the figures then are.
std::string untrained_text(const sweeps::Answer& answer) {
    const sweeps::Variant& variant = sweeps::recommended_variant(answer);
    const sweeps::DrafterChoice* drafter = sweeps::drafter_of(answer, variant);
    if (drafter == nullptr || !drafter->untrained || !answer.result.recommendation->speculate) {
        return "";
    }
    return fmt::format(
        " No such head is known for {}: one would have to be trained, and this is what it gains if it accepts as "
        "those of other models do.",
        variant.labels.target);
}

}  // namespace

std::string formats_text(const sweeps::Variant& variant) {
    return variant.setup.platform.accelerator ? variant.labels.precision
                                              : fmt::format("weights in {}", text::checkpoint_text(variant.setup.precision));
}

std::string sentence_of(const sweeps::Answer& answer) {
    if (!answer.result.recommendation) {
        const std::string ways = ways_to_fit(answer);
        return fmt::format("No configuration for {} fits in memory and meets the limits{}{}.", answer.input.target.label,
                           nearest_text(answer), ways.empty() ? "" : "; " + ways);
    }
    const sweeps::Variant& variant = sweeps::recommended_variant(answer);
    const std::string where = fmt::format("{} on {}", variant.labels.target, variant.labels.platform());
    return (answer.result.recommendation->speculate ? drafting_sentence(answer, where) + decoding_alone_text(variant.setup)
                                                    : plain_sentence(answer, where)) +
           left_out_text(*answer.result.recommendation) + formats_apart(*answer.result.recommendation) + "." +
           untrained_text(answer);
}

const sweeps::MeasuredTime* shown_plain_time(const sweeps::Answer& answer) {
    return !answer.plain_time || has_one_token(sweeps::recommended_variant(answer).setup) ? nullptr : &*answer.plain_time;
}

std::string plain_time_text(const sweeps::Answer& answer) {
    const sweeps::MeasuredTime* time = shown_plain_time(answer);
    return time == nullptr ? "" : plain_time_sentence(*time, answer.result.recommendation->candidates.front().time_per_token);
}

std::string flip_text(const sweeps::Recommendation& found) {
    const sweeps::Candidate& best = found.candidates.front();
    return fmt::format("With {} draft{} and an accept length below {} ({} expected), {} would be the better choice.",
                       best.draft_tokens, best.draft_tokens > 1 ? "s" : "", text::fixed_text(found.flip->accept_length, 2),
                       text::fixed_text(best.accept_length, 2), text_of(found.variants[found.flip->variant], found.variants));
}

std::string other_cut_text(const sweeps::Recommendation& found) {
    const sweeps::VariantLabels& plain = found.variants[found.plain.variant].labels;
    return plain.platform() == found.variants[found.candidates.front().variant].labels.platform()
               ? ""
               : sim::text_of(plain.tensor_parallel, plain.parallel);
}

std::string largest_batches_text(const sweeps::Recommendation& found) {
    const sweeps::Capacity& capacity = found.capacity;
    const std::string plain = fmt::format("The largest batch at context {} is {:.0f} without a drafter",
                                          text::short_text(capacity.context), std::floor(capacity.plain));
    return plain + (found.speculate ? fmt::format(", {:.0f} with it in memory, and {:.0f} with its drafts.",
                                                  std::floor(capacity.off), std::floor(capacity.drafting))
                                    : ".");
}

std::string capacity_text(const sweeps::Recommendation& found) {
    constexpr std::size_t named = 3;
    const sweeps::Capacity& capacity = found.capacity;
    const double plain = std::floor(capacity.plain), drafting = std::floor(capacity.drafting);
    if (!found.speculate || drafting >= plain) {
        return "";
    }
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < std::min(named, capacity.parts.size()); ++i) {
        parts.push_back(capacity.parts[i].part + " " + text_of(capacity.parts[i].bytes));
    }
    const bool drafts_less = !found.schedule.entries.empty() && found.schedule.entries.back().batch_to > drafting;
    return fmt::format("The drafter costs {:.0f} of {:.0f} sequences at context {}{} (a device's memory: {}, of {}).",
                       plain - drafting, plain, text::short_text(capacity.context),
                       drafts_less ? fmt::format(" while it drafts {}, and {:.0f} while it drafts nothing",
                                                 found.candidates.front().draft_tokens, plain - std::floor(capacity.off))
                                   : "",
                       text::listed(parts, "and"), text_of(capacity.allowed));
}

std::string in_service_text(const sweeps::Answer& answer) {
    const sweeps::Recommendation& found = *answer.result.recommendation;
    const sweeps::Candidate& best = found.candidates.front();
    if (best.gain_of_capacity || found.plain.in_service < 1.05 * best.in_service) {
        return "";
    }
    return fmt::format(
        "The table compares equal numbers of requests; this load keeps {} of them running, and {} in plain decoding.",
        text::short_text(best.in_service), text::short_text(found.plain.in_service));
}

std::string acceptance_text(const sweeps::Answer& answer) {
    const sweeps::Candidate& best = answer.result.recommendation->candidates.front();
    const sweeps::DrafterChoice* drafter = sweeps::drafter_of(answer, sweeps::recommended_variant(answer));
    if (drafter == nullptr) {
        return "";
    }
    const bool tree = !sim::is_chain(answer.result.recommendation->speculations[static_cast<std::size_t>(best.speculation)]);
    return fmt::format("Acceptance: {}{} ({}); a round{} yields {} tokens{}, and {}.", tree ? "of chains " : "",
                       drafter->acceptance_text, source_in_short(*drafter), tree ? " of this tree" : "",
                       text::fixed_text(best.accept_length, 2), basis_text(best.basis),
                       pays_text(best.break_even_accept_length, best.draft_tokens));
}

std::vector<std::pair<std::string, std::string>> configuration_of(const sweeps::Answer& answer) {
    const sweeps::Recommendation& found = *answer.result.recommendation;
    const sweeps::Candidate& best = found.candidates.front();
    const sweeps::Variant& variant = sweeps::recommended_variant(answer);
    const bool accelerated = variant.setup.platform.accelerator.has_value();  // computes in formats of its own
    std::vector<std::pair<std::string, std::string>> facts = {
        {"Target", accelerated ? variant.labels.target : answer.input.target.label},
        {"Precision",
         accelerated ? variant.labels.precision : text::text_of(variant.setup.precision, variant.setup.platform.device)},
        {"Platform", sweeps::label_of(variant.setup.platform)},
        {"Cost mode", variant.labels.mode}};
    if (found.speculate) {
        facts.emplace_back("Drafter", variant.labels.drafter);
        facts.emplace_back("Draft tokens", drafted_text(found.speculations, best.speculation, best.draft_tokens));
        facts.emplace_back("Verification", verification_text(found, best));
        facts.emplace_back("Rollback", variant.labels.rollback);
        if (const sweeps::DrafterChoice* drafter = sweeps::drafter_of(answer, variant)) {
            facts.emplace_back("Acceptance", drafter->acceptance_text);
            if (!drafter->acceptance_source.empty()) {
                facts.emplace_back("Acceptance from", drafter->acceptance_source);
            }
        }
    }
    facts.emplace_back("Decoding", std::string(name_of(variant.setup.decoding)));
    facts.emplace_back("Objective", goal_text(answer.input.workload.objective));
    if (sweeps::largest_batch_of(found.settled) > 1.0) {
        facts.emplace_back("Prompts", text::steady_text(variant.setup));
    }
    if (answer.input.workload.traffic.kind != sweeps::LoadKind::batch) {
        facts.emplace_back("Load", load_text(answer.input.workload.traffic));
    }
    facts.emplace_back("Shares of traffic", std::string("of ") + std::string(name_of(answer.input.workload.traffic.shares_of)));
    return facts;
}

}  // namespace treeline::reports
