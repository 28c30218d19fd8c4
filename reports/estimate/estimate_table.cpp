#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engines/capabilities.h"
#include "engines/priced_engine.h"
#include "engines/scale_blocks.h"
#include "reports/context_note.h"
#include "reports/engine_habits.h"
#include "reports/estimate/estimate_output.h"
#include "reports/measured_loads_text.h"
#include "reports/objective_text.h"
#include "reports/passes_text.h"
#include "reports/prefill_pool.h"
#include "reports/provenance_output.h"
#include "reports/shape_text.h"
#include "reports/small_table.h"
#include "reports/trust_text.h"
#include "text/number_text.h"
#include "text/precision_text.h"
#include "text/steady_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

/// Whether the input leaves the way of verifying open.
bool open_verification(const sweeps::PointInput& input) { return input.speculations.size() > 2; }

std::string no_more_text(sweeps::HeldBy limit) {
    return limit == sweeps::HeldBy::memory ? "memory holds no more"
           : limit == sweeps::HeldBy::step ? "a step holds no more"
                                           : "the engine runs no more at once";
}

/// Where the batch comes from, if it was not stated, and who waits.
std::string load_text(const sweeps::PointEstimate& estimate) {
    const sweeps::Load& load = estimate.input.load;
    switch (load.kind) {
        case sweeps::LoadKind::batch:
            return "";
        case sweeps::LoadKind::concurrency: {
            std::string text = fmt::format(" of {} requests in flight", text::exact_text(load.value));
            text += estimate.load.reading > 0.0
                        ? fmt::format("; {} have their prompts read", text::fixed_text(estimate.load.reading, 1))
                        : "";
            return estimate.load.queued > 0.0 ? fmt::format("{}: {}, {} wait", text, no_more_text(estimate.load.held_by),
                                                            text::exact_text(std::round(estimate.load.queued)))
                                              : text;
        }
        case sweeps::LoadKind::arrival_rate: {
            const std::string plain = estimate.plain_load.problem.empty()
                                          ? fmt::format("plain decoding: {}", text::exact_text(estimate.plain_load.batch))
                                          : "plain decoding, at the largest batch: " + estimate.plain_load.problem;
            return fmt::format(": what {} requests/s keep in service{}", text::short_text(load.value),
                               estimate.input.speculates() ? fmt::format(" ({})", plain) : "");
        }
    }
    return "";
}

std::string configuration(const sweeps::PointEstimate& estimate) {
    const sweeps::PointInput& input = estimate.input;
    text::FactList facts;
    facts.add("Target", target_text(input));
    const std::optional<sim::Accelerator>& accelerator = input.platform.accelerator;
    facts.add("Precision", text::wrapped(accelerator ? sim::formats_of(accelerator->design)
                                                     : text::text_of(input.target.precision, input.platform.device),
                                         screen_width - 13, "             "));
    facts.add("Platform", sweeps::label_of(input.platform));
    facts.add("Cost mode", std::string(name_of(input.platform.mode)));
    if (input.drafter) {
        facts.add("Drafter", fmt::format("{}, {:.0f} draft tokens", input.drafter->label, row_of(estimate).draft_tokens));
        facts.add("Shape",
                  text_of(sweeps::speculation_of(estimate)) + (open_verification(input) ? ", the best way of verifying" : ""));
        const std::string source =
            input.drafter->acceptance_source.empty() ? "" : " (" + input.drafter->acceptance_source + ")";
        facts.add("Acceptance", text::wrapped(input.drafter->acceptance_text + source, screen_width - 13, "             "));
        facts.add("Rollback", std::string(name_of(estimate.rollback)) + (input.rollback ? "" : ", the best that fits"));
    }
    facts.add("Decoding", std::string(name_of(input.decoding)));
    facts.add("Batch", text::exact_text(input.batch) + load_text(estimate));
    if (input.batch > 1.0) {
        facts.add("Prompts", text::steady_text(setup_of(input, estimate.rollback)));
    }
    facts.add("Context",
              fmt::format("{} tokens (prompt of {})", text::exact_text(input.context), text::exact_text(input.prompt_tokens)));
    return facts.text();
}

std::string ratio_or_nothing(bool wanted, double ratio) { return wanted ? text::ratio_text(ratio) : ""; }

/// Plain decoding next to speculation.
std::string gains(const sweeps::PointEstimate& estimate) {
    const bool both = estimate.input.speculates();
    const sim::RoundEstimate& with = estimate.speculative;
    const sim::RoundEstimate& without = estimate.plain;
    std::vector<text::Column> columns = {{"", text::Align::left}, {"plain"}};
    if (both) {
        columns.insert(columns.end(), {{"speculative"}, {"ratio"}});
    }
    text::TextTable table(columns);
    const auto add = [&](const char* name, const std::string& plain, const std::string& speculative, double ratio) {
        table.add(both ? std::vector<std::string>{name, plain, speculative, ratio_or_nothing(ratio > 0.0, ratio)}
                       : std::vector<std::string>{name, plain});
    };
    add("Time per token (TPOT)", text_of(without.time_per_token), text_of(with.time_per_token),
        with.time_per_token / without.time_per_token);
    const bool plain_waits = estimate.plain_load.waits_for_ever, waits = estimate.load.waits_for_ever;
    add("Time to first token (TTFT)", plain_waits ? "grows" : text_of(estimate.plain_first_token),
        waits ? "grows" : text_of(estimate.first_token),
        !plain_waits && !waits && estimate.plain_first_token > Seconds(0.0) ? estimate.first_token / estimate.plain_first_token
                                                                            : 0.0);
    if (estimate.input.output_tokens > 0.0) {
        add("Time between steps (ITL)", text_of(without.round), text_of(with.round), with.round / without.round);
        add("Device time on prompts", text::percent_text(1.0 - without.decode_share),
            text::percent_text(1.0 - with.decode_share), 0.0);
    }
    if (has_prefill_pool(estimate.input.platform.stack, estimate.input.output_tokens)) {
        add("Prefill devices for each that decodes", text::short_text(prefill_pool(without.decode_share)),
            text::short_text(prefill_pool(with.decode_share)), 0.0);
    }
    add("Tokens/s/user", text::short_text(without.tokens_per_second_user), text::short_text(with.tokens_per_second_user),
        with.throughput_multiplier);
    add("Tokens/s/device", text::short_text(without.tokens_per_second_device), text::short_text(with.tokens_per_second_device),
        with.tokens_per_second_device / without.tokens_per_second_device);
    const std::string unknown(text::unknown_text);
    const auto energy = [&](const sim::RoundEstimate& e) {
        return estimate.knows_energy ? text_of(e.energy_per_token) : unknown;
    };
    add("Energy per accepted token", energy(without), energy(with),
        estimate.knows_energy ? with.energy_per_token / without.energy_per_token : 0.0);
    const auto price = [&](const sim::RoundEstimate& e) {
        return estimate.knows_price ? text::dollars_text(1e6 * e.price_per_token.value()) : unknown;
    };
    add("Money per million tokens", price(without), price(with),
        estimate.knows_price ? with.price_per_token / without.price_per_token : 0.0);
    return table.text();
}

std::string critical_text(const sweeps::PointEstimate& estimate) {
    const std::string where = fmt::format("context {}", text::exact_text(estimate.input.context));
    return estimate.critical_batch
               ? fmt::format("a pass turns compute-bound at batch {:.0f} (at {})", std::ceil(*estimate.critical_batch), where)
               : fmt::format("no batch makes a pass compute-bound at {}", where);
}

std::string critical_context_text(double context) {
    if (context <= 0.0) {
        return "none: even without a context, what grows with the batch keeps a pass memory-bound";
    }
    return std::isfinite(context) ? fmt::format("{} tokens; above, caches keep verification memory-bound at any batch",
                                                text::short_text(std::floor(context)))
                                  : "none: no context keeps a pass memory-bound at every batch";
}

std::string round_facts(const sweeps::PointEstimate& estimate) {
    const sim::RoundEstimate& round = estimate.speculative;
    text::FactList facts;
    facts.add("Speed-up", text::ratio_text(round.throughput_multiplier));
    facts.add("Accept length",
              fmt::format("{} tokens per round, bonus token included{}", text::fixed_text(round.accept_length, 2),
                          basis_text(row_of(estimate).accepted.basis)));
    if (const double kept = estimate.round.row(estimate.point.speculation).kept; kept < 0.995) {
        facts.add("Kept of a round",
                  fmt::format("{} by answers of {} tokens: what the last round yields beyond the end is lost",
                              text::percent_text(kept), text::short_text(estimate.input.output_tokens)));
    }
    facts.add("Break-even accept length", text::fixed_text(estimate.break_even_accept_length, 2));
    facts.add("Wasted drafts", text::percent_text(round.wasted_draft_share));
    if (!estimate.input.platform.accelerator) {
        facts.add("Critical batch", critical_text(estimate));
        facts.add("Critical context", critical_context_text(estimate.critical_context));
    }
    if (estimate.input.training) {
        const sim::TrainingCost& cost = *estimate.input.training;
        const std::optional<double> pays_from = sim::break_even_decoding(cost, round.throughput_multiplier);
        facts.add("Decoding saved",
                  fmt::format("{} of {}", text::fixed_text(sim::decoding_saved(cost, round.throughput_multiplier), 2),
                              text::short_text(cost.decoding_budget)));
        facts.add("Net of training", text::fixed_text(sim::net_saving(cost, round.throughput_multiplier), 2));
        facts.add("Training pays", pays_from ? fmt::format("from a decoding budget of {}", text::short_text(*pays_from))
                                             : std::string("never: drafting gains nothing"));
    }
    return facts.text();
}

std::string rollbacks(const sweeps::PointEstimate& estimate) {
    if (estimate.trials.size() < 2) {
        return "";
    }
    text::TextTable table({{"Rollback", text::Align::left},
                           {"verification", text::Align::left},
                           {"speed-up"},
                           {"memory"},
                           {"fits", text::Align::left}});
    std::string left_out;
    for (const sweeps::PolicyTrial& trial : estimate.trials) {
        const sim::Speculation& speculation = estimate.input.speculations[static_cast<std::size_t>(trial.speculation)];
        const std::string rollback(name_of(trial.rollback));
        const std::string verification(name_of(speculation.verification));
        if (!trial.problem.empty()) {
            left_out +=
                text::wrapped(fmt::format("Left out: {}, {}: {}.", rollback, verification, trial.problem), screen_width, "  ") +
                "\n";
            continue;
        }
        table.add({rollback, verification, text::ratio_text(trial.estimate.throughput_multiplier),
                   text_of(trial.estimate.memory), trial.estimate.fits ? "yes" : "no"});
    }
    return table.text() + left_out;
}

ServerRow row_of(const sweeps::PointEstimate& estimate, const char* name, const sim::RoundEstimate& round, Seconds first_token,
                 const sweeps::SettledLoad& load, double most_sequences) {
    ServerRow row{name, round.tokens_per_second_device, {}, first_token, {}, {}, {}, {}};
    if (!has_one_token(setup_of(estimate.input, estimate.rollback))) {
        row.time_per_token = round.time_per_token;
    }
    if (load.waits_for_ever) {
        row.first_token.reset();
    } else if (estimate.input.load.given()) {
        row.waiting = load.queued;
    }
    row.largest_batch = most_sequences;
    if (estimate.knows_price) {
        row.price_per_token = round.price_per_token;
    }
    return row;
}

std::string side_by_side(const sweeps::PointEstimate& estimate) {
    std::vector<ServerRow> rows = {row_of(estimate, "plain", estimate.plain, estimate.plain_first_token, estimate.plain_load,
                                          estimate.plain_most_sequences)};
    if (estimate.input.speculates()) {
        rows.push_back(row_of(estimate, "with the drafter", estimate.speculative, estimate.first_token, estimate.load,
                              estimate.most_sequences));
    }
    return "\n" + small_table(rows);
}

std::string acceptance(const sweeps::PointEstimate& estimate) {
    if (!estimate.input.speculates()) {
        return "";
    }
    const sweeps::DrafterChoice& drafter = *estimate.input.drafter;
    return text::wrapped(fmt::format("Acceptance: {} ({}); a round yields {} tokens{}, and {}.", drafter.acceptance_text,
                                     source_in_short(drafter), text::fixed_text(estimate.speculative.accept_length, 2),
                                     basis_text(row_of(estimate).accepted.basis),
                                     pays_text(estimate.break_even_accept_length, row_of(estimate).draft_tokens)),
                         screen_width) +
           "\n";
}

/// Whether the round, and the plain step that it is compared with, were measured, or the stack on another deployment. Empty
/// where neither was.
std::string measured_text(const sweeps::PointEstimate& estimate) {
    const sim::RoundSetup setup = setup_of(estimate.input, estimate.rollback);
    sim::DesignPoint point = estimate.point;
    std::string text = measured_load_text(setup, estimate.round, point);
    if (point.speculation > 0 && !text.empty()) {
        point.speculation = 0;
        text += "; " + measured_load_text(setup, estimate.round, point);
    }
    text = text.empty() ? other_deployment_text(setup) : "Measured: " + text + ".";
    return text.empty() ? "" : text::wrapped(text, screen_width) + "\n";
}

/// Whether training the drafter pays, where its cost is stated.
std::string training(const sweeps::PointEstimate& estimate) {
    const std::optional<sim::TrainingCost>& cost = estimate.input.training;
    if (!cost || !estimate.input.speculates()) {
        return "";
    }
    const double multiplier = estimate.speculative.throughput_multiplier, net = sim::net_saving(*cost, multiplier);
    const std::optional<double> pays_from = sim::break_even_decoding(*cost, multiplier);
    return text::wrapped(
               fmt::format("Training {}: it saves {} of {}; {}.", net > 0.0 ? "pays" : "does not pay",
                           text::fixed_text(sim::decoding_saved(*cost, multiplier), 2), text::short_text(cost->decoding_budget),
                           pays_from ? fmt::format("net of training {}, and it pays from a decoding budget of {}",
                                                   text::fixed_text(net, 2), text::short_text(*pays_from))
                                     : std::string("drafting gains nothing")),
               screen_width) +
           "\n";
}

std::string screen(const sweeps::PointEstimate& estimate) {
    constexpr std::size_t most_notes = 3;
    std::string text = text::wrapped(sentence_of(estimate), screen_width) + "\n";
    if (estimate.interval) {
        const sweeps::Trust trust{estimate.measured, {}, estimate.chances, {}, {}, {}};
        text += text::wrapped(gain_sentence(*estimate.interval, &trust, estimate.objective), screen_width) + "\n";
    } else if (estimate.plain_time && !estimate.input.speculates()) {
        text += text::wrapped(plain_time_sentence(*estimate.plain_time, estimate.plain.time_per_token), screen_width) + "\n";
    }
    text += measured_text(estimate);
    text += side_by_side(estimate) + acceptance(estimate) + training(estimate);
    const std::vector<std::string> notes = notes_of(estimate);
    for (std::size_t i = 0; i < std::min(most_notes, notes.size()); ++i) {
        text += text::wrapped("Note: " + notes[i], screen_width, "  ") + "\n";
    }
    return text + more_text(estimate_sections());
}

std::string round_section(const sweeps::PointEstimate& estimate) {
    const bool speculates = estimate.input.speculates();
    std::string text = gains(estimate) + "\n" +
                       phases_text(estimate.speculative, speculates, host_of_plain_step(estimate.round, estimate.point));
    if (speculates) {
        const std::string policies = rollbacks(estimate);
        text += "\n" + round_facts(estimate) + (policies.empty() ? "" : "\n" + policies);
    }
    return text;
}

std::string memory_section(const sweeps::PointEstimate& estimate) {
    return memory_text(estimate.memory, estimate.round.memory.capacity);
}

std::string operations_section(const sweeps::PointEstimate& estimate) { return operations_text(estimate.passes); }

std::string inputs_section(const sweeps::PointEstimate& estimate) {
    return configuration(estimate) + "\nInputs: " + provenance_summary(estimate.input.provenance) + ".\n" +
           provenance_table(estimate.input.provenance);
}

struct Section {
    const char* name;
    std::string (*text)(const sweeps::PointEstimate& estimate);
};

std::string engine_section(const sweeps::PointEstimate& estimate) {
    return engine_habits_text(sweeps::setup_of(estimate.input, estimate.rollback));
}

constexpr std::array all_sections = {Section{"round", round_section}, Section{"engine", engine_section},
                                     Section{"memory", memory_section}, Section{"operations", operations_section},
                                     Section{"inputs", inputs_section}};

}  // namespace

namespace {

/// What the engine of the stack does not run, as a sentence: a cut, or a drafter. Empty where it runs all.
std::string engine_problem(const engines::Engine& engine, const sweeps::PointEstimate& estimate) {
    const sim::RoundSetup setup = sweeps::setup_of(estimate.input, estimate.rollback);
    const std::string cut = engines::cut_problem(engine, setup);
    return cut.empty() && estimate.input.drafter ? engines::drafting_problem(engine, setup) : cut;
}

/// What `recommend` leaves out; empty for others.
std::string engine_note(const sweeps::PointEstimate& estimate) {
    const std::optional<engines::Engine> engine = engines::priced_engine(estimate.input.platform);
    const std::string problem = engine ? engine_problem(*engine, estimate) : "";
    return problem.empty() ? "" : problem + "; it is priced as if it did.";
}

/// What a flag of the engine would change, which `recommend` tries, too: estimates are of engines as they run without one.
std::string rollback_note(const sweeps::PointEstimate& estimate) {
    constexpr double worth_saying = 1.02;
    const sweeps::PointInput& input = estimate.input;
    const std::optional<engines::Engine> engine = engines::priced_engine(input.platform);
    if (!engine || input.rollback || !input.speculates()) {
        return "";
    }
    std::string note;
    double best = worth_saying * estimate.gain;
    for (const engines::RollbackChoice& choice : engines::rollbacks_at(*engine, input.target.model, input.platform.stack)) {
        const std::optional<double> gain = choice.flag.empty() ? std::nullopt : sweeps::gain_with(estimate, choice.rollback);
        if (gain && *gain > best) {
            best = *gain;
            note = fmt::format(
                "{} undoes rejected drafts by {} unless it is told otherwise; with {} (--rollback {}) this is {}.",
                engine->label(), name_of(estimate.rollback), choice.flag, name_of(choice.rollback), text::ratio_text(*gain));
        }
    }
    return note;
}

}  // namespace

std::vector<std::string> notes_of(const sweeps::PointEstimate& estimate) {
    std::vector<std::string> notes;
    if (std::string note = engine_note(estimate); !note.empty()) {
        notes.push_back(std::move(note));
    }
    if (std::string note = rollback_note(estimate); !note.empty()) {
        notes.push_back(std::move(note));
    }
    if (std::string note = context_note(estimate.input); !note.empty()) {
        notes.push_back(std::move(note));
    }
    if (std::string note = one_by_one_note(estimate.input.platform); !note.empty()) {
        notes.push_back(std::move(note));
    }
    if (std::string note = version_note(estimate.input.platform.stack); !note.empty()) {
        notes.push_back(std::move(note));
    }
    for (const auto& [who, load] : {std::pair{"", &estimate.load}, std::pair{"Without the drafter: ", &estimate.plain_load}}) {
        if (!load->problem.empty() && (load == &estimate.load || estimate.input.speculates())) {
            notes.push_back(fmt::format("{}{}; the figures are those of the largest batch.", who, load->problem));
        }
    }
    if (estimate.input.drafter) {
        const std::vector<std::string> remarks = remarks_on_acceptance(*estimate.input.drafter, estimate.input.context);
        notes.insert(notes.end(), remarks.begin(), remarks.end());
    }
    if (has_prefill_pool(estimate.input.platform.stack, estimate.input.output_tokens)) {
        const double share = (estimate.input.speculates() ? estimate.speculative : estimate.plain).decode_share;
        notes.push_back(prefill_pool_sentence(share, estimate.input.platform.devices()));
    }
    const std::vector<std::string>& of_model = estimate.input.target.model.notes;
    notes.insert(notes.end(), of_model.begin(), of_model.end());
    return notes;
}

std::vector<std::string> estimate_sections() {
    std::vector<std::string> names;
    for (const Section& section : all_sections) {
        names.emplace_back(section.name);
    }
    return names;
}

std::string estimate_table(const sweeps::PointEstimate& estimate, const Explain& explain) {
    return explained_answer(explain, estimate_sections(), screen(estimate),
                            text::wrapped(sentence_of(estimate), screen_width) + "\n", [&](const std::string& name) {
                                return std::find_if(all_sections.begin(), all_sections.end(),
                                                    [&](const Section& each) { return each.name == name; })
                                    ->text(estimate);
                            });
}

std::string estimate_csv(const sweeps::PointEstimate& estimate) {
    std::string text =
        text::csv_line({"phase", "runs_per_round", "operation", "kind", "count", "flop", "bytes", "time_ms", "bound", "share"});
    for (const sim::ExplainedPass& pass : estimate.passes) {
        for (const sim::OperationEstimate& operation : pass.operations) {
            text +=
                text::csv_line({pass.phase, text::exact_text(pass.runs), operation.name, std::string(name_of(operation.kind)),
                                text::exact_text(operation.count), text::exact_text(operation.flops.value()),
                                text::exact_text(operation.bytes.value()), text::exact_text(1e3 * operation.time.value()),
                                std::string(name_of(operation.bound)), text::exact_text(operation.share)});
        }
    }
    return text;
}

}  // namespace treeline::reports
