#include "numerics/quantile.h"
#include "reports/calibrate/calibration_output.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "calibrate/timings.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

std::string milliseconds(Seconds measured, Seconds predicted) {
    return measured <= Seconds(0.0) && predicted <= Seconds(0.0)
               ? ""
               : fmt::format("{:.2f} / {:.2f}", 1e3 * measured.value(), 1e3 * predicted.value());
}

}  // namespace

std::string check_text(const std::vector<calibrate::CheckRow>& rows) {
    text::TextTable table(
        {{"Held out", text::Align::left}, {"Pass", text::Align::left}, {"Measured (us)"}, {"Predicted (us)"}, {"Error"}});
    for (const calibrate::CheckRow& row : rows) {
        table.add({row.family, row.what, fmt::format("{:.1f}", 1e6 * row.measured.value()),
                   fmt::format("{:.1f}", 1e6 * row.predicted.value()),
                   fmt::format("{:+.1f} %", 100.0 * (row.predicted / row.measured - 1.0))});
    }
    const calibrate::KernelErrors errors = calibrate::errors_of_checks(rows);
    return fmt::format(
        "Whole layers, predicted from the calibration alone:\n\n{}\nErrors: median {:.1f} %, 90th percentile {:.1f} "
        "%, bias {:+.1f} %.\n",
        table.text(), 100.0 * errors.median, 100.0 * errors.p90, 100.0 * errors.bias);
}

std::string decoder_check_text(const std::vector<calibrate::DecoderCheck>& decoders) {
    text::TextTable table({{"Decoder", text::Align::left},
                           {"Round", text::Align::left},
                           {"Measured (ms)"},
                           {"Predicted (ms)"},
                           {"Error"},
                           {"Draft"},
                           {"Verify"},
                           {"Roll back"}});
    for (const calibrate::DecoderCheck& check : decoders) {
        const calibrate::RoundPhases &measured = check.measured_phases, &predicted = check.predicted_phases;
        table.add({group_of(check.decoder), calibrate::policy_of(check.decoder),
                   fmt::format("{:.2f}", 1e3 * check.measured.value()), fmt::format("{:.2f}", 1e3 * check.predicted.value()),
                   fmt::format("{:+.1f} %", 100.0 * (check.predicted / check.measured - 1.0)),
                   milliseconds(measured.draft, predicted.draft), milliseconds(measured.verify, predicted.verify),
                   milliseconds(measured.rollback, predicted.rollback)});
    }
    const calibrate::KernelErrors errors = calibrate::errors_of_checks(decoders);
    std::string text = fmt::format(
        "Decoders, predicted from the calibration alone (phases: measured / predicted ms):\n\n{}\n{} configurations. Errors: "
        "median {:.1f} %, 90th percentile {:.1f} %, bias {:+.1f} %.\n",
        table.text(), decoders.size(), 100.0 * errors.median, 100.0 * errors.p90, 100.0 * errors.bias);
    const std::vector<calibrate::DecoderChoice> choices = calibrate::choices_of(decoders);
    if (choices.empty()) {
        return text;
    }
    text::TextTable chosen({{"Choice for", text::Align::left},
                            {"Of"},
                            {"Best, measured", text::Align::left},
                            {"Best, predicted", text::Align::left},
                            {"Regret"}});
    std::vector<double> regrets;
    for (const calibrate::DecoderChoice& choice : choices) {
        chosen.add({choice.group, std::to_string(choice.choices), choice.best_measured, choice.best_predicted,
                    fmt::format("{:.1f} %", 100.0 * choice.regret)});
        regrets.push_back(choice.regret);
    }
    return text +
           fmt::format("\nThe fastest choice by time per generated token:\n\n{}\nRegret: median {:.1f} %, largest {:.1f} %.\n",
                       chosen.text(), 100.0 * numerics::quantile(regrets, 0.5),
                       100.0 * *std::max_element(regrets.begin(), regrets.end()));
}

}  // namespace treeline::reports
