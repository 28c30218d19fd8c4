// The page of a diagnosis: the round that is explained as a waterfall, measured against expected rounds, acceptance by
// position.
#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/figure.h"
#include "reports/run/diagnosis_output.h"
#include "text/number_text.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

constexpr double half_of_90_percent = 1.645;

Figure waterfall(const sweeps::DiagnosedLoad& load) {
    Figure figure;
    figure.id = "waterfall";
    figure.title =
        fmt::format("The round at batch {:g} with {}, from predicted to measured", load.cell.batch, load.cell.draft_text());
    figure.reading = "Each bar begins where the one above it ends; the last but one is what the model does not explain.";
    figure.mark = FigureMark::range;
    figure.x = {"from", "Time (ms)", false, true};
    figure.y = {"part", "Part of the round"};
    figure.series = "kind";
    figure.end = "to";
    figure.columns = {{"part", "Part"}, {"ms", "Time", "ms"}, {"kind", "From"}};
    double sum = 0.0;
    const auto add = [&](const std::string& part, Seconds time, const char* kind) {
        const double change = text::to_ms * time.value();
        figure.rows.push_back({{"part", part},
                               {"ms", change},
                               {"kind", kind},
                               {"from", std::min(sum, sum + change)},
                               {"to", std::max(sum, sum + change)}});
        sum += change;
    };
    for (const sweeps::RoundPart part : values_of<sweeps::RoundPart>()) {
        if (const Seconds time = load.parts[static_cast<std::size_t>(part)]; time > Seconds(0.0)) {
            add(std::string(name_of(part)), time, "predicted");
        }
    }
    if (load.plain_measured > Seconds(0.0)) {
        add("as plain decoding is off", load.expected - load.predicted, "this deployment");
    }
    add("not explained", load.measured - load.expected, "not explained");
    sum = 0.0;
    add("measured", load.measured, "measured");
    return figure;
}

Figure parity(const sweeps::Diagnosis& diagnosis) {
    Figure figure;
    figure.id = "parity";
    figure.title = "Measured against expected rounds";
    figure.reading =
        "On the diagonal the model is right; above it rounds take longer than expected. The outer lines are 10 % away.";
    figure.mark = FigureMark::point;
    figure.x = {"expected_ms", "Expected (ms)"};
    figure.y = {"measured_ms", "Measured (ms)"};
    figure.series = "draft_tokens";
    figure.diagonal = true;
    figure.band = 0.1;
    figure.columns = {{"batch", "Batch"},
                      {"draft_tokens", "Draft tokens"},
                      {"expected_ms", "Expected", "ms"},
                      {"measured_ms", "Measured", "ms"}};
    for (const sweeps::DiagnosedLoad& load : diagnosis.loads) {
        figure.rows.push_back({{"batch", load.cell.batch},
                               {"draft_tokens", load.cell.draft_text()},
                               {"expected_ms", text::to_ms * load.expected.value()},
                               {"measured_ms", text::to_ms * load.measured.value()}});
    }
    return figure;
}

Figure speedups(const sweeps::Diagnosis& diagnosis) {
    Figure figure;
    figure.id = "speed-up";
    figure.title = "Speed-up, and what a perfect drafter would reach";
    figure.reading = "Below 1 plain decoding is faster.";
    figure.mark = FigureMark::point;
    figure.x = {"batch", "Batch", true};
    figure.y = {"speedup", "Speed-up"};
    figure.series = "what";
    figure.rules = {{1.0, "plain decoding"}};
    figure.columns = {{"batch", "Batch"}, {"what", "What"}, {"speedup", "Speed-up", "", 2}};
    for (const sweeps::DiagnosedLoad& load : diagnosis.loads) {
        const auto row = [&](const std::string& what, double value) {
            figure.rows.push_back({{"batch", load.cell.batch},
                                   {"what", fmt::format("{}, {}", what, load.cell.draft_text())},
                                   {"speedup", value}});
        };
        if (load.speedup > 0.0) {
            row("measured", load.speedup);
        }
        row("every draft accepted", load.ceiling);
    }
    return figure;
}

Figure positions(const sweeps::Diagnosis& diagnosis) {
    Figure figure;
    figure.id = "positions";
    figure.title = "Acceptance by position, with 90 % sampling intervals";
    figure.reading = "The share of rounds whose first drafts, up to this one, are all accepted.";
    figure.mark = FigureMark::line;
    figure.x = {"position", "Position"};
    figure.y = {"accepted", "Accepted", false, true};
    figure.series = "load";
    figure.low = "low";
    figure.high = "high";
    figure.columns = {{"load", "Load"},
                      {"position", "Position"},
                      {"accepted", "Accepted", "", 3},
                      {"low", "from", "", 3},
                      {"high", "to", "", 3}};
    for (const sweeps::DiagnosedLoad& load : diagnosis.loads) {
        const std::vector<double> rates = load.cell.acceptance.rates(), errors = load.cell.acceptance.position_errors();
        for (std::size_t i = 0; i < rates.size(); ++i) {
            figure.rows.push_back({{"load", fmt::format("batch {:g}", load.cell.batch)},
                                   {"position", i + 1},
                                   {"accepted", rates[i]},
                                   {"low", std::max(0.0, rates[i] - half_of_90_percent * errors[i])},
                                   {"high", std::min(1.0, rates[i] + half_of_90_percent * errors[i])}});
        }
    }
    return figure;
}

std::string cause_text(const sweeps::Cause& cause) {
    const std::string share =
        cause.share > 0.0 ? fmt::format(" ({} of the round)", text::percent_text(std::min(1.0, cause.share))) : "";
    const std::string remedy = cause.what_to_try();
    return fmt::format("{}{}. {}{}", name_of(cause.kind), share, cause.evidence,
                       remedy.empty() ? "" : fmt::format(" Try: {}.", remedy));
}

}  // namespace

std::string diagnosis_html(const sweeps::Diagnosis& diagnosis) {
    FigureSection causes{"causes", "The causes, likeliest first", diagnosis.causes.empty() ? "Nothing stands out." : "", {}};
    for (const sweeps::Cause& cause : diagnosis.causes) {
        causes.list.push_back(cause_text(cause));
    }
    std::vector<FigureSection> sections = {std::move(causes)};
    FigureSection round{"round", "Where the round goes", "", {}};
    FigureSection loads{
        "loads", "Every load", "Expected is the prediction times what plain decoding is measured over predicted.", {}};
    if (!diagnosis.loads.empty()) {
        round.figures.push_back(waterfall(diagnosis.loads[diagnosis.focus]));
        loads.figures = {parity(diagnosis), speedups(diagnosis)};
        if (Figure figure = positions(diagnosis); !figure.rows.empty()) {
            loads.figures.push_back(std::move(figure));
        }
    }
    if (!round.figures.empty()) {
        sections.push_back(std::move(round));
    }
    if (!loads.figures.empty()) {
        sections.push_back(std::move(loads));
    }
    const sweeps::DiagnosisInput& input = diagnosis.input;
    return render_figures({"Diagnosis of a run", input.target + " on " + input.platform, "Why it is as fast as it is",
                           diagnosis_sentence(diagnosis), std::move(sections)});
}

}  // namespace treeline::reports
