// The first screen of `treeline recommend`: what to run and what that gains, how sure that is, and what to paste.
#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "engines/engine_flags.h"
#include "engines/priced_engine.h"
#include "reports/context_note.h"
#include "reports/engine_habits.h"
#include "reports/objective_text.h"
#include "reports/prefill_pool.h"
#include "reports/recommend/left_out_devices.h"
#include "reports/recommend/load_notes.h"
#include "reports/recommend/recommendation_output.h"
#include "reports/recommend/untrained.h"
#include "reports/shape_text.h"
#include "reports/small_table.h"
#include "reports/trust_text.h"
#include "sweeps/variants.h"
#include "text/number_text.h"
#include "text/table.h"
#include "text/wording.h"

namespace treeline::reports {
namespace {

constexpr std::size_t most_lines = 25, most_notes = 3, most_ranges = 6;

std::string paragraph(const std::string& text) { return text.empty() ? "" : text::wrapped(text, screen_width) + "\n"; }

std::string how_sure(const sweeps::Answer& answer) {
    if (answer.interval) {
        return paragraph(
            gain_sentence(*answer.interval, answer.trust ? &*answer.trust : nullptr, answer.input.workload.objective));
    }
    // Where a limit is in the way, the chance that drafts gain is not what the answer rests on.
    const bool judged = answer.rejected && answer.rejected->chances && !answer.rejected->limit;
    return (judged ? paragraph(chances_sentence(*answer.rejected->chances)) : "") + paragraph(plain_time_text(answer));
}

std::string flags_of(const sweeps::Recommendation& found, const std::optional<engines::EngineFlags>& flags) {
    if (!flags) {
        return "\n" + paragraph(engines::why_no_flags(found));
    }
    return "\n" + (flags->text.empty() ? paragraph(fmt::format("{} cannot run it: {}.", flags->engine, flags->remark))
                                       : flags->engine + ":\n" + indented(engines::pasted(*flags), "  "));
}

std::string range_of(const sweeps::ScheduleEntry& entry) {
    return entry.batch_from == entry.batch_to ? std::to_string(entry.batch_from)
                                              : fmt::format("{} to {}", entry.batch_from, entry.batch_to);
}

std::string gain_range(const sweeps::ScheduleEntry& entry) {
    const std::string low = text::ratio_text(entry.least), high = text::ratio_text(entry.greatest);
    return low == high ? low : low + " to " + high;
}

/// Why the flags draft by another length than the headline. Where they draft by one, their remark says so.
std::string lengths_text(const sweeps::Answer& answer) {
    const sweeps::Recommendation& found = *answer.result.recommendation;
    if (sweeps::recommended_variant(answer).switching != sweeps::Switching::lengths || !sweeps::schedule_pays(found)) {
        return "";
    }
    return fmt::format("The flags follow these lengths, which gain {} over this load; {} is the best single length.",
                       text::ratio_text(found.schedule.gain), found.candidates.front().draft_tokens);
}

std::string schedule(const sweeps::Answer& answer) {
    const sweeps::Recommendation& found = *answer.result.recommendation;
    const std::vector<sweeps::ScheduleEntry>& entries = found.schedule.entries;
    const bool loaded = answer.input.workload.traffic.kind != sweeps::LoadKind::batch;
    const char* unit = loaded ? "Running requests" : "Batch";
    if (!found.speculate || entries.empty()) {
        return "";
    }
    text::TextTable table({{unit, text::Align::left}, {"draft tokens"}, {"speed-up (TPOT)"}});
    for (std::size_t i = 0; i < std::min(most_ranges, entries.size()); ++i) {
        table.add(
            {range_of(entries[i]),
             drafted_text(found.speculations, entries[i].speculation, entries[i].draft_tokens) + basis_text(entries[i].basis),
             gain_range(entries[i])});
    }
    std::string text = "\n" + table.text();
    if (entries.size() > most_ranges) {
        text += fmt::format("and {} more ranges; --format json lists all.\n", entries.size() - most_ranges);
    }
    const int most = std::max_element(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
                         return a.draft_tokens < b.draft_tokens;
                     })->draft_tokens;
    return text + paragraph(in_service_text(answer)) +
           (most != found.candidates.front().draft_tokens ? paragraph(lengths_text(answer)) : "");
}

ServerRow row_of(const sweeps::Answer& answer, const sweeps::Candidate& candidate, std::string name) {
    const sim::Device& device = sweeps::recommended_variant(answer).setup.platform.device;
    const sweeps::Recommendation& found = *answer.result.recommendation;
    ServerRow row{std::move(name), candidate.tokens_per_second_device, {}, {}, {}, {}, {}, {}};
    if (!has_one_token(sweeps::recommended_variant(answer).setup)) {
        row.time_per_token = candidate.time_per_token;
    }
    if (found.most_rate && candidate.requests_per_second > 0.0) {
        row.requests_per_second = candidate.requests_per_second;
    }
    const bool for_ever = sweeps::waits_for_ever(found, candidate);
    if (!for_ever) {
        row.first_token = candidate.time_to_first_token;
    }
    if (answer.input.workload.traffic.kind != sweeps::LoadKind::batch && !for_ever) {
        row.waiting = candidate.queued;
    }
    row.largest_batch = &candidate == &found.plain || !found.speculate ? found.capacity.compared : found.capacity.drafting;
    if (answer.input.workload.objective == sweeps::Objective::energy) {
        row.energy_per_token = candidate.energy_per_token;
    }
    if (device.price > DollarsPerSecond(0.0)) {
        row.price_per_token = candidate.price_per_token;
    }
    return row;
}

std::string figures(const sweeps::Answer& answer) {
    const sweeps::Recommendation& found = *answer.result.recommendation;
    const std::string cut = other_cut_text(found);
    std::vector<ServerRow> rows;
    if (!found.most_rate || found.most_rate->plain > 0.0) {
        rows.push_back(row_of(answer, found.plain, cut.empty() ? "plain" : "plain, " + cut));
    }
    if (found.speculate) {
        rows.push_back(row_of(answer, found.candidates.front(), "recommended"));
    }
    return "\n" + small_table(rows) + paragraph(capacity_text(found));
}

/// The best drafter whose repository is known, where that of the recommended one is not; who names a drafter has it.
std::string repository_note(const sweeps::Answer& answer) {
    const sweeps::Recommendation& found = *answer.result.recommendation;
    const sweeps::Variant& best = found.variants[found.candidates.front().variant];
    const sweeps::DrafterChoice* drafter = sweeps::drafter_of(answer, best);
    if (drafter == nullptr || drafter->named || !engines::lacks_repository(best)) {
        return "";
    }
    const auto known = std::find_if(found.runners_up.begin(), found.runners_up.end(), [&](const sweeps::Candidate& candidate) {
        const sweeps::Variant& variant = found.variants[candidate.variant];
        return candidate.draft_tokens > 0 && engines::priced_engine(variant.setup.platform) &&
               !engines::lacks_repository(variant);
    });
    return known == found.runners_up.end()
               ? ""
               : fmt::format(
                     "No repository of {} is known here; the best drafter that can be loaded by name is {}, with {} "
                     "draft{}: {}.",
                     best.labels.drafter, text_of(found.variants[known->variant], found.variants), known->draft_tokens,
                     known->draft_tokens > 1 ? "s" : "", text::ratio_text(known->gain));
}

std::vector<std::string> notes_on_loads(const sweeps::Answer& answer) {
    const auto& found = answer.result.recommendation;
    return found ? load_notes(*found, answer.input.workload.traffic.kind) : std::vector<std::string>{};
}

/// The first note on loads, and what the command needs to do what was priced: shown however little room there is.
std::vector<std::string> needed_notes(const sweeps::Answer& answer, const std::optional<engines::EngineFlags>& flags) {
    std::vector<std::string> notes = notes_on_loads(answer);
    notes.resize(std::min<std::size_t>(1, notes.size()));
    for (std::size_t i = 0; i < answer.input.doubts; ++i) {
        notes.push_back(answer.input.notes[i] + ".");
    }
    if (flags && !flags->text.empty() && !flags->remark.empty()) {
        notes.push_back(fmt::format("{}: {}.", flags->engine, flags->remark));
    }
    if (std::string note = context_note(answer.input); !note.empty()) {
        notes.push_back(std::move(note));
    }
    return notes;
}

/// What else to know before running it, the most important first.
std::vector<std::string> notes_of(const sweeps::Answer& answer) {
    std::vector<std::string> notes = notes_on_loads(answer);
    notes.erase(notes.begin(), notes.begin() + std::min<std::ptrdiff_t>(1, std::ssize(notes)));
    const std::vector<std::string> left_out = left_out_devices(answer);
    notes.insert(notes.end(), left_out.begin(), left_out.end());
    if (answer.result.recommendation) {
        if (std::string note = repository_note(answer); !note.empty()) {
            notes.push_back(std::move(note));
        }
        if (std::string note = untrained_note(*answer.result.recommendation); !note.empty()) {
            notes.push_back(std::move(note));
        }
    }
    const std::vector<sweeps::Exclusion>& excluded = answer.result.excluded;
    if (!excluded.empty()) {
        notes.push_back(fmt::format(
            "Excluded: {}: {}{}.", excluded.front().label, excluded.front().reason,
            excluded.size() > 1 ? fmt::format(" (and {} more: --explain candidates)", excluded.size() - 1) : std::string()));
    }
    if (!answer.result.recommendation) {
        return notes;
    }
    const sim::RoundSetup& setup = sweeps::recommended_variant(answer).setup;
    const sweeps::Candidate& best = answer.result.recommendation->candidates.front();
    if (std::string note = one_by_one_note(setup.platform); !note.empty()) {
        notes.push_back(std::move(note));
    }
    if (std::string note = version_note(setup.platform.stack); !note.empty()) {
        notes.push_back(std::move(note));
    }
    if (best.basis == sim::AcceptanceBasis::extrapolated) {
        notes.push_back(fmt::format("Acceptance was measured only up to position {}; beyond, it is extrapolated.",
                                    setup.acceptance.chain.measured_positions()));
    } else if (best.basis == sim::AcceptanceBasis::upper_bound) {
        notes.emplace_back("The accept length is an upper bound: the chains are assumed independent.");
    }
    if (const sweeps::DrafterChoice* drafter = sweeps::drafter_of(answer, sweeps::recommended_variant(answer))) {
        const std::vector<std::string> remarks =
            remarks_on_acceptance(*drafter, sweeps::longest_context_of(answer.input.workload.traffic));
        notes.insert(notes.end(), remarks.begin(), remarks.end());
    }
    if (has_prefill_pool(setup.platform.stack, setup.output_tokens)) {
        notes.push_back(prefill_pool_sentence(best.decode_share_device, setup.platform.devices()));
    }
    for (std::size_t i = answer.input.doubts; i < answer.input.notes.size(); ++i) {
        notes.push_back(answer.input.notes[i] + ".");
    }
    const std::vector<std::string>& of_model = answer.input.target.model.notes;
    notes.insert(notes.end(), of_model.begin(), of_model.end());
    return notes;
}

std::size_t lines_of(const std::string& text) { return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')); }

std::string shown_note(const std::string& note) {
    const bool labelled = note.starts_with("Excluded:");
    return text::wrapped((labelled ? "" : "Note: ") + note, screen_width, "  ") + "\n";
}

/// Those that are needed, and as many of the others as there is room for; one at least.
std::string shown_notes(const std::vector<std::string>& needed, const std::vector<std::string>& others, std::size_t room) {
    std::string text;
    for (const std::string& note : needed) {
        text += shown_note(note);
    }
    const std::size_t most = most_notes - std::min(most_notes, needed.size());
    for (std::size_t i = 0; i < std::min(most, others.size()); ++i) {
        const std::string note = shown_note(others[i]);
        text += text.empty() || lines_of(text + note) <= room ? note : "";
    }
    return text;
}

}  // namespace

std::string first_screen(const sweeps::Answer& answer) {
    std::string text = paragraph(sentence_of(answer));
    std::optional<engines::EngineFlags> flags;
    if (answer.result.recommendation) {
        flags = engines::engine_flags(*answer.result.recommendation);
        text += how_sure(answer) + flags_of(*answer.result.recommendation, flags) + schedule(answer) + figures(answer) +
                paragraph(acceptance_text(answer));
    }
    const std::string more = more_text(recommendation_sections());
    const std::size_t used = lines_of(text + more);
    return text + shown_notes(needed_notes(answer, flags), notes_of(answer), most_lines - std::min(most_lines, used)) + more;
}

}  // namespace treeline::reports
