// The section of a calibration's page that shows what was held out entirely.
#include <algorithm>

#include <fmt/format.h>

#include "reports/calibrate/calibration_output.h"
#include "reports/figure.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

Json row_of(const std::string& kind, const std::string& what, Seconds measured, Seconds predicted) {
    return {{"kind", kind},
            {"what", what},
            {"measured", 1e3 * measured.value()},
            {"predicted", 1e3 * predicted.value()},
            {"error", 100.0 * (predicted / measured - 1.0)}};
}

Json parity_rows(const calibrate::CalibrationAnswer& answer) {
    Json rows = Json::array();
    for (const calibrate::CheckRow& layer : answer.check) {
        rows.push_back(row_of("whole layer", layer.family + ", " + layer.what, layer.measured, layer.predicted));
    }
    for (const calibrate::DecoderCheck& check : answer.decoders) {
        rows.push_back(row_of(fmt::format("decoder, {}", name_of(check.decoder.family)),
                              group_of(check.decoder) + ": " + calibrate::policy_of(check.decoder), check.measured,
                              check.predicted));
    }
    return rows;
}

Figure parity_figure(const calibrate::CalibrationAnswer& answer) {
    Figure figure;
    figure.id = "check-parity";
    figure.title = "Predicted against measured time";
    figure.reading =
        "Each mark is a whole layer, or a whole round of a speculative decoder, predicted by laws that saw neither. On the "
        "dashed line the two agree; the dotted lines are 10 % off.";
    figure.mark = FigureMark::point;
    figure.x = {"measured", "Measured (ms)", true};
    figure.y = {"predicted", "Predicted (ms)", true};
    figure.series = "kind";
    figure.diagonal = true;
    figure.band = 0.1;
    figure.columns = {{"kind", "Held out", "", -1},
                      {"what", "Pass or round", "", -1},
                      {"measured", "Measured", "ms", -1},
                      {"predicted", "Predicted", "ms", -1},
                      {"error", "Error", "%", 1}};
    figure.rows = parity_rows(answer);
    return figure;
}

/// As short as possible while telling a group's choices apart: "chain 4, replay", "tree 2x2, unrolled", "n-gram, chain 4".
std::string label_of(const calibrate::HeldOutDecoder& decoder) {
    if (decoder.drafter == calibrate::HeldOutDrafter::none) {
        return "plain decoding";
    }
    const bool branches = calibrate::draft_of(decoder).find('x') != std::string::npos;
    std::string label = decoder.drafter == calibrate::HeldOutDrafter::ngram ? "n-gram, " : "";
    label += calibrate::draft_of(decoder);
    label += branches ? ", " + std::string(name_of(decoder.verification)) : "";
    return label + (decoder.rollback == sim::Rollback::truncate ? "" : ", " + std::string(name_of(decoder.rollback)));
}

/// Two marks for each choice of a group, to show which one is fastest, measured and predicted.
Figure choices_figure(const calibrate::CalibrationAnswer& answer) {
    Figure figure;
    figure.id = "check-choices";
    figure.title = "Time per generated token";
    figure.reading =
        "Each line is a choice for the same work: the leftmost measured mark is the best one, the leftmost predicted mark the "
        "one that would be recommended.";
    figure.mark = FigureMark::point;
    figure.x = {"time", "Time per token of a sequence (ms)"};
    figure.y = {"label", ""};
    figure.series = "how";
    figure.choices = {{"group", "Decoder"}};
    figure.columns = {{"group", "Decoder", "", -1},        {"policy", "Choice", "", -1}, {"how", "Time", "", -1},
                      {"time", "A token", "ms", -1},       {"draft", "Draft", "ms", -1}, {"verify", "Verify", "ms", -1},
                      {"rollback", "Roll back", "ms", -1}, {"round", "Round", "ms", -1}};
    for (const calibrate::DecoderCheck& check : answer.decoders) {
        const auto add = [&](const char* how, Seconds round, const calibrate::RoundPhases& phases) {
            figure.rows.push_back({{"group", group_of(check.decoder)},
                                   {"label", label_of(check.decoder)},
                                   {"policy", calibrate::policy_of(check.decoder)},
                                   {"how", how},
                                   {"time", 1e3 * round.value() / check.tokens()},
                                   {"draft", 1e3 * phases.draft.value()},
                                   {"verify", 1e3 * phases.verify.value()},
                                   {"rollback", 1e3 * phases.rollback.value()},
                                   {"round", 1e3 * round.value()}});
        };
        add("measured", check.measured, check.measured_phases);
        add("predicted", check.predicted, check.predicted_phases);
    }
    return figure;
}

std::string errors_text(const char* what, std::size_t count, const calibrate::KernelErrors& errors) {
    return fmt::format("{} {}: median error {:.1f} %, 90th percentile {:.1f} %, bias {:+.1f} %. ", count, what,
                       100.0 * errors.median, 100.0 * errors.p90, 100.0 * errors.bias);
}

}  // namespace

FigureSection check_section(const calibrate::CalibrationAnswer& answer) {
    FigureSection section{"check", "Check: what no law was fitted to", "", {parity_figure(answer)}};
    if (!answer.check.empty()) {
        section.text += errors_text("whole layers", answer.check.size(), calibrate::errors_of_checks(answer.check));
    }
    if (!answer.decoders.empty()) {
        section.text += errors_text("decoders", answer.decoders.size(), calibrate::errors_of_checks(answer.decoders));
        section.figures.push_back(choices_figure(answer));
    }
    double worst = 0.0;
    const std::vector<calibrate::DecoderChoice> choices = calibrate::choices_of(answer.decoders);
    for (const calibrate::DecoderChoice& choice : choices) {
        worst = std::max(worst, choice.regret);
    }
    if (!choices.empty()) {
        section.text +=
            fmt::format("Choosing by prediction costs at most {:.1f} % in any of {} groups.", 100.0 * worst, choices.size());
    }
    return section;
}

}  // namespace treeline::reports
