#include "reports/run/diagnosis_output.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/json_rows.h"
#include "text/number_text.h"
#include "text/table.h"
#include "text/wording.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t width = 110;

std::string signed_ms(Seconds time) { return fmt::format("{:+.2f}", text::to_ms * time.value()); }
std::string plain_ms(Seconds time) { return time > Seconds(0.0) ? fmt::format("{:.2f}", text::to_ms * time.value()) : ""; }
std::string ratio_or_blank(double value) { return value > 0.0 ? text::ratio_text(value) : ""; }

std::string where(const runs::RunCell& cell) {
    return fmt::format("batch {:g} with {}{}", cell.batch, cell.draft_text(),
                       cell.context > 0.0 ? fmt::format(" and {:.0f} tokens of context", cell.context) : "");
}

/// From plain decoding as predicted to the round as measured, each step in milliseconds.
std::string waterfall_text(const sweeps::DiagnosedLoad& load) {
    text::TextTable table({{"Part of the round", text::Align::left}, {"predicted, ms"}, {"share"}});
    for (const sweeps::RoundPart part : values_of<sweeps::RoundPart>()) {
        const Seconds time = load.parts[static_cast<std::size_t>(part)];
        if (time > Seconds(0.0)) {
            table.add({std::string(name_of(part)), plain_ms(time), text::percent_text(time / load.measured)});
        }
    }
    table.add_rule();
    table.add({"predicted", plain_ms(load.predicted), text::percent_text(load.predicted / load.measured)});
    if (load.plain_measured > Seconds(0.0)) {
        table.add({"plain decoding is off by as much", signed_ms(load.expected - load.predicted),
                   text::percent_text((load.expected - load.predicted) / load.measured)});
    }
    table.add({"not explained by the model", signed_ms(load.measured - load.expected),
               text::percent_text((load.measured - load.expected) / load.measured)});
    table.add({"measured", plain_ms(load.measured), ""});
    return table.text();
}

std::string loads_text(const sweeps::Diagnosis& diagnosis) {
    text::TextTable table({{"Batch"},
                           {"draft tokens"},
                           {"context"},
                           {"accept length"},
                           {"round, ms"},
                           {"expected"},
                           {"error"},
                           {"plain, ms"},
                           {"break-even"},
                           {"speed-up"},
                           {"at most"}});
    for (const sweeps::DiagnosedLoad& load : diagnosis.loads) {
        table.add({text::short_text(load.cell.batch),
                   std::to_string(load.cell.draft_tokens) + (load.cell.shape.empty() ? "" : " (" + load.cell.shape + ")"),
                   load.cell.context > 0.0 ? text::grouped_text(std::llround(load.cell.context)) : "",
                   load.accept_length > 0.0 ? text::fixed_text(load.accept_length, 2) : "", plain_ms(load.measured),
                   plain_ms(load.expected), fmt::format("{:+.0f} %", 100.0 * (load.expected / load.measured - 1.0)),
                   (load.plain_interpolated ? "~" : "") + plain_ms(load.plain_measured), text::fixed_text(load.break_even, 2),
                   ratio_or_blank(load.speedup), text::ratio_text(load.ceiling)});
    }
    const bool predicted = std::any_of(diagnosis.loads.begin(), diagnosis.loads.end(), [](const sweeps::DiagnosedLoad& load) {
        return load.plain_measured <= Seconds(0.0) && load.speedup > 0.0;
    });
    const bool interpolated = std::any_of(diagnosis.loads.begin(), diagnosis.loads.end(),
                                          [](const sweeps::DiagnosedLoad& load) { return load.plain_interpolated; });
    return table.text() + (interpolated ? "~ plain decoding was not measured at this load, but at others around it.\n" : "") +
           (predicted ? "Where no plain step was measured, speed-ups are over the predicted one.\n" : "");
}

std::string laws_text(const sweeps::Diagnosis& diagnosis) {
    text::TextTable table({{"Batch"},
                           {"context"},
                           {"lengths"},
                           {"at k = 0, ms"},
                           {"predicted"},
                           {"each draft, ms"},
                           {"predicted"},
                           {"plain, ms"}});
    for (const sweeps::DraftLaw& law : diagnosis.laws) {
        table.add({text::short_text(law.batch), law.context > 0.0 ? text::grouped_text(std::llround(law.context)) : "",
                   std::to_string(law.lengths), plain_ms(law.intercept), plain_ms(law.predicted_intercept),
                   fmt::format("{:.3f}", text::to_ms * law.slope.value()),
                   fmt::format("{:.3f}", text::to_ms * law.predicted_slope.value()), plain_ms(law.plain)});
    }
    return table.empty() ? "" : "\nA round's time over its draft tokens: step(k) = a + b k\n\n" + table.text();
}

/// " (12.3 % of the round)"; nothing where a cause has no time of its own.
std::string share_text(const sweeps::Cause& cause) {
    return cause.share > 0.0 ? fmt::format(" ({} of the round)", text::percent_text(std::min(1.0, cause.share))) : "";
}

std::string causes_text(const sweeps::Diagnosis& diagnosis) {
    std::string text;
    int number = 0;
    bool excluding = false;
    for (const sweeps::Cause& cause : diagnosis.causes) {
        text += fmt::format("\n{}. {}{}{}\n", ++number, excluding && cause.excludes_others() ? "or: " : "", name_of(cause.kind),
                            share_text(cause));
        excluding = excluding || cause.excludes_others();
        text += "   " + text::wrapped(cause.evidence, width, "   ") + "\n";
        if (const std::string remedy = cause.what_to_try(); !remedy.empty()) {
            text += "   " + text::wrapped("Try: " + remedy + ".", width, "   ") + "\n";
        }
    }
    return text;
}

/// "Likeliest: A or B." and, where that is a part of the prediction, "Beyond what is predicted: C."
std::string likeliest_text(const sweeps::Diagnosis& diagnosis) {
    const auto named = [](const std::vector<sweeps::CauseKind>& kinds, bool together) {
        std::vector<std::string> names;
        for (const sweeps::CauseKind kind : kinds) {
            names.emplace_back(name_of(kind));
        }
        return text::listed(names, together ? "and" : "or");
    };
    const auto is_together = [&](const std::vector<sweeps::CauseKind>& kinds) {
        return std::any_of(diagnosis.causes.begin(), diagnosis.causes.end(),
                           [&](const sweeps::Cause& cause) { return cause.together && cause.kind == kinds.front(); });
    };
    const std::vector<sweeps::CauseKind> likeliest = sweeps::likeliest(diagnosis), beyond = sweeps::likeliest_beyond(diagnosis);
    return fmt::format("Likeliest: {}.", named(likeliest, is_together(likeliest))) +
           (beyond.empty() ? "" : fmt::format(" Beyond what is predicted: {}.", named(beyond, is_together(beyond))));
}

Json load_json(const sweeps::DiagnosedLoad& load) {
    const auto known = [](double value) { return value > 0.0 ? Json(value) : Json(); };
    Json json = {{"batch", load.cell.batch},
                 {"draft_tokens", load.cell.draft_tokens},
                 {"shape", load.cell.shape.empty() ? Json() : Json(load.cell.shape)},
                 {"context", known(load.cell.context)},
                 {"accept_length", known(load.accept_length)},
                 {"round_ms", text::to_ms * load.measured.value()},
                 {"predicted_ms", text::to_ms * load.predicted.value()},
                 {"expected_ms", text::to_ms * load.expected.value()},
                 {"plain_ms", known(text::to_ms * load.plain_measured.value())},
                 {"predicted_plain_ms", text::to_ms * load.plain_predicted.value()},
                 {"break_even_accept_length", load.break_even},
                 {"speedup", known(load.speedup)},
                 {"ceiling", load.ceiling},
                 {"plain_interpolated", load.plain_interpolated},
                 {"served_speedup", known(load.served_speedup)}};
    return json;
}

/// What is to be doubted before any round is, where plain decoding at the same load is far from its prediction; else empty.
std::string plain_text(const sweeps::DiagnosedLoad& load) {
    constexpr double far = 0.3;
    if (load.plain_measured <= Seconds(0.0) || load.plain_predicted <= Seconds(0.0)) {
        return "";
    }
    const double off = load.plain_predicted / load.plain_measured - 1.0;
    return std::abs(off) <= far
               ? ""
               : fmt::format(
                     "Plain decoding itself is off by {:+.0f} %: {} were predicted, and {} measured. The device, the "
                     "number format or the number of devices may be another one than was stated. ",
                     100.0 * off, text_of(load.plain_predicted), text_of(load.plain_measured));
}

/// What the same drafts yield with other back ends, builds, caches or devices.
std::string elsewhere_text(const sweeps::DiagnosisInput& input) {
    text::TextTable table({{"Ran with", text::Align::left}, {"batch"}, {"draft tokens"}, {"context"}, {"accept length"}});
    for (const std::vector<runs::RunCell>* cells : {&input.accepted, &input.elsewhere}) {
        for (const runs::RunCell& cell : *cells) {
            table.add({cell.variant, cell.batch > 0.0 ? text::short_text(cell.batch) : "", std::to_string(cell.draft_tokens),
                       cell.context > 0.0 ? text::grouped_text(std::llround(cell.context)) : "",
                       text::fixed_text(cell.accept_length(), 2)});
        }
    }
    return input.elsewhere.empty() ? "" : "\nAcceptance of the deployments that are compared\n\n" + table.text();
}

}  // namespace

std::string diagnosis_sentence(const sweeps::Diagnosis& diagnosis) {
    const sweeps::DiagnosisInput& input = diagnosis.input;
    const std::string what =
        fmt::format("{} on {}{}", input.target, input.platform, input.drafter.empty() ? "" : " with " + input.drafter);
    if (diagnosis.accepted_only()) {
        return fmt::format(
            "{}: {} Costs cannot be told, since no load with a known batch was timed; `treeline import --batch N` states the "
            "batch where a log does not, and where there are times per token alone, give accept lengths, too.",
            what, likeliest_text(diagnosis));
    }
    if (diagnosis.loads.empty()) {
        const bool idle = diagnosis.causes.empty() || diagnosis.causes.front().kind == sweeps::CauseKind::idle_drafter;
        return fmt::format("{}: {}", what,
                           !idle                      ? likeliest_text(diagnosis)
                           : diagnosis.causes.empty() ? "a loaded drafter that drafts nothing costs nothing measurable."
                                                      : "a drafter that drafts nothing is not free.");
    }
    const sweeps::DiagnosedLoad& focus = diagnosis.loads[diagnosis.focus];
    std::string text = fmt::format("{}: at {} a round takes {}; ", what, where(focus.cell), text_of(focus.measured));
    const double off = focus.measured / focus.expected - 1.0;
    text += std::abs(off) < 0.05 ? "the model expects the same. " : fmt::format("{} were expected. ", text_of(focus.expected));
    if (focus.speedup > 0.0) {
        const bool measured = focus.plain_measured > Seconds(0.0);
        text += fmt::format("It runs at {} of plain decoding{}, and at most at {}. ", text::ratio_text(focus.speedup),
                            measured ? ""
                                     : fmt::format(" as predicted ({} a step{})", text_of(focus.plain_predicted),
                                                   input.settings.graphs == runs::GraphMode::none ? " without graphs" : ""),
                            text::ratio_text(focus.ceiling));
        if (focus.served_speedup > 0.0) {
            text += fmt::format("Served, with the prompts of other requests, it is {} (TPOT against TPOT). ",
                                text::ratio_text(focus.served_speedup));
        }
    }
    const std::string doubt = plain_text(focus);
    text += doubt;
    text += !diagnosis.causes.empty() ? likeliest_text(diagnosis)
            : doubt.empty()           ? "Nothing stands out."
                                      : "Nothing else stands out.";
    return text;
}

std::string diagnosis_table(const sweeps::Diagnosis& diagnosis) {
    std::string text = text::wrapped(diagnosis_sentence(diagnosis), width) + "\n";
    for (const std::string& remark : diagnosis.input.remarks) {
        text += text::wrapped(remark, width) + "\n";
    }
    text += causes_text(diagnosis);
    if (diagnosis.loads.empty()) {
        return text;
    }
    const sweeps::DiagnosedLoad& focus = diagnosis.loads[diagnosis.focus];
    text += fmt::format("\nThe round at {}\n\n", where(focus.cell)) + waterfall_text(focus);
    text +=
        "\nEvery load (expected: predicted, times what plain decoding is measured over predicted; at most: every draft "
        "accepted)\n\n" +
        loads_text(diagnosis) + elsewhere_text(diagnosis.input);
    return text + laws_text(diagnosis);
}

Json diagnosis_json(const sweeps::Diagnosis& diagnosis) {
    Json loads = Json::array(), laws = Json::array(), causes = Json::array();
    for (const sweeps::DiagnosedLoad& load : diagnosis.loads) {
        Json json = load_json(load);
        for (const sweeps::RoundPart part : values_of<sweeps::RoundPart>()) {
            json["parts_ms"][std::string(name_of(part))] = text::to_ms * load.parts[static_cast<std::size_t>(part)].value();
        }
        loads.push_back(std::move(json));
    }
    for (const sweeps::DraftLaw& law : diagnosis.laws) {
        laws.push_back({{"batch", law.batch},
                        {"context", law.context > 0.0 ? Json(law.context) : Json()},
                        {"lengths", law.lengths},
                        {"intercept_ms", text::to_ms * law.intercept.value()},
                        {"slope_ms", text::to_ms * law.slope.value()},
                        {"predicted_intercept_ms", text::to_ms * law.predicted_intercept.value()},
                        {"predicted_slope_ms", text::to_ms * law.predicted_slope.value()}});
    }
    for (const sweeps::Cause& cause : diagnosis.causes) {
        causes.push_back({{"cause", name_of(cause.kind)},
                          {"share", cause.share},
                          {"beyond_prediction", cause.beyond_prediction},
                          {"evidence", cause.evidence},
                          {"remedy", cause.what_to_try()},
                          {"instead_of_others", cause.excludes_others()}});
    }
    return {{"format", "treeline-diagnosis"},
            {"version", 1},
            {"target", diagnosis.input.target},
            {"platform", diagnosis.input.platform},
            {"drafter", diagnosis.input.drafter},
            {"sentence", diagnosis_sentence(diagnosis)},
            {"remarks", diagnosis.input.remarks},
            {"causes", causes},
            {"focus", diagnosis.focus},
            {"loads", loads},
            {"laws", laws}};
}

std::string diagnosis_csv(const sweeps::Diagnosis& diagnosis) {
    Json rows = Json::array();
    for (const sweeps::DiagnosedLoad& load : diagnosis.loads) {
        rows.push_back(load_json(load));
    }
    return csv_of(
        {"batch", "draft_tokens", "context", "accept_length", "round_ms", "predicted_ms", "expected_ms", "plain_ms",
         "predicted_plain_ms", "break_even_accept_length", "speedup", "ceiling", "plain_interpolated", "served_speedup"},
        rows);
}

}  // namespace treeline::reports
