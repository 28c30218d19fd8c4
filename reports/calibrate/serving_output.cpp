// What `treeline calibrate --serving` found: text, JSON, CSV, and the description of the stack.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "calibrate/timings.h"
#include "numerics/quantile.h"
#include "reports/calibrate/serving_output.h"
#include "reports/json_rows.h"
#include "reports/measured_loads_text.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

double error_of(Seconds predicted, Seconds measured) { return predicted / measured - 1.0; }

std::string error_text(double error) { return fmt::format("{:+.1f} %", 100.0 * error); }

/// Absolute errors of the rows by one of the predictions; rows without one are left out.
std::vector<double> errors_of(const calibrate::StackFit& fit, Seconds calibrate::StepTimes::*prediction) {
    std::vector<double> errors;
    for (const calibrate::StepTimes& step : fit.steps) {
        if (step.*prediction > Seconds(0.0)) {
            errors.push_back(std::abs(error_of(step.*prediction, step.measured)));
        }
    }
    return errors;
}

/// Median and worst.
struct ErrorSummary {
    std::string name;
    std::vector<double> errors;

    [[nodiscard]] double median() const { return numerics::quantile(errors, 0.5); }
    [[nodiscard]] double worst() const { return numerics::quantile(errors, 1.0); }
};

std::vector<ErrorSummary> summaries_of(const calibrate::StackFit& fit) {
    std::vector<ErrorSummary> summaries = {{"before", errors_of(fit, &calibrate::StepTimes::before)},
                                           {"by_numbers", errors_of(fit, &calibrate::StepTimes::by_numbers)},
                                           {"fitted", errors_of(fit, &calibrate::StepTimes::fitted)},
                                           {"left_out", errors_of(fit, &calibrate::StepTimes::left_out)}};
    std::erase_if(summaries, [](const ErrorSummary& summary) { return summary.errors.empty(); });
    return summaries;
}

std::string value_text(calibrate::StackNumber number, double value) {
    return calibrate::is_factor(number) ? fmt::format("{:.3f}", value) : text_of(Seconds(value));
}

std::string numbers_table(const calibrate::ServingFit& serving) {
    if (serving.fit.numbers.empty()) {
        return fmt::format("No number is fitted: {} predicts left-out batches as well as any fit.\n", serving.stack);
    }
    text::TextTable table({{"Number", text::Align::left}, {"before"}, {"fitted"}, {"90 % interval"}});
    for (const calibrate::FittedStackNumber& number : serving.fit.numbers) {
        const auto text = [&](double value) { return value_text(number.number, value); };
        const bool bound = number.low == number.high;
        table.add({std::string(name_of(number.number)), text(number.before), text(number.value),
                   bound ? is_ratio(number.number) ? "one load: none" : "on its bound"
                         : fmt::format("{} to {}", text(number.low), text(number.high))});
    }
    return table.text();
}

std::string rows_table(const calibrate::ServingFit& serving) {
    text::TextTable table(
        {{"Batch"}, {"draft tokens"}, {"context"}, {"measured round"}, {"before"}, {"by numbers"}, {"batch left out"}});
    for (std::size_t i = 0; i < serving.steps.size(); ++i) {
        const calibrate::StepTimes& step = serving.fit.steps[i];
        const sim::DesignPoint& point = serving.steps[i].point;
        table.add({text::short_text(point.batch), std::to_string(serving.table.rows[i].draft_tokens),
                   text::short_text(point.context), text_of(step.measured), error_text(error_of(step.before, step.measured)),
                   error_text(error_of(step.by_numbers, step.measured)),
                   step.left_out > Seconds(0.0) ? error_text(error_of(step.left_out, step.measured)) : ""});
    }
    return table.text();
}

/// A time in microseconds or a share, rounded to four digits as in descriptions.
Json quantity(double value, const char* unit, const std::string& source) {
    Json json = {{"value", text::rounded(value, 4)}};
    if (unit != nullptr) {
        json["unit"] = unit;
    }
    json["source"] = source;
    json["kind"] = "fitted";
    return json;
}

std::string source_of(const calibrate::ServingFit& serving) {
    const auto before = errors_of(serving.fit, &calibrate::StepTimes::before);
    const auto fitted = errors_of(serving.fit, &calibrate::StepTimes::by_numbers);
    return fmt::format(
        "treeline calibrate --serving: {} measured steps of {} on {} ({}); median error {:.1f} % with the stack {}, "
        "{:.1f} % fitted",
        serving.steps.size(), serving.target, serving.platform, std::filesystem::path(serving.table.path).filename().string(),
        100.0 * numerics::quantile(before, 0.5), serving.stack, 100.0 * numerics::quantile(fitted, 0.5));
}

Json linear_speeds_json(const sim::LinearSpeeds& speeds, const std::string& source) {
    Json json = Json::object();
    for (const sim::NumberFormat format : sim::all_number_formats) {
        const sim::LinearSpeed& speed = speeds[static_cast<std::size_t>(format)];
        json[std::string(name_of(format))] = {{"memory", quantity(speed.memory, nullptr, source)},
                                              {"compute", quantity(speed.compute, nullptr, source)}};
    }
    return json;
}

/// Of steps that a fit left out, or where none could be, of what its numbers leave of those that it saw.
double step_error_of(const calibrate::StackFit& fit) {
    std::vector<double> errors;
    for (const calibrate::StepTimes& step : fit.steps) {
        errors.push_back(std::log(step.measured / (step.left_out > Seconds(0.0) ? step.left_out : step.by_numbers)));
    }
    return sim::step_error_of(errors);
}

}  // namespace

Json stack_description(const calibrate::ServingFit& serving, Json base) {
    const std::string source = source_of(serving);
    base["title"] = fmt::format("{}; fitted to {}", base.value("title", serving.stack),
                                std::filesystem::path(serving.table.path).filename().string());
    const sim::Stack& stack = serving.fit.stack;
    base["step_error"] = quantity(step_error_of(serving.fit), nullptr, source);
    for (const calibrate::FittedStackNumber& number : serving.fit.numbers) {
        const std::string name(name_of(number.number));
        if (number.number == calibrate::StackNumber::host_per_draft_pass && !base.contains("host_per_rollback")) {
            base["host_per_rollback"] = base["host_per_draft_pass"];  // which it is unless stated
        }
        if (is_ratio(number.number)) {
            base[name] = quantity(number.value, nullptr, source);
            continue;
        }
        if (base.contains("attention_efficiency") && is_factor(number.number)) {
            base["attention_efficiency"] = quantity(stack.kernels.attention_efficiency, nullptr, source);
        }
        if (number.number == calibrate::StackNumber::attention_time) {
            continue;
        }
        if (number.number != calibrate::StackNumber::kernel_time) {
            base[name] = quantity(1e6 * number.value, "us", source);
            continue;
        }
        base["memory_efficiency"] = quantity(stack.kernels.memory_efficiency, nullptr, source);
        base["compute_efficiency"] = quantity(stack.kernels.compute_efficiency, nullptr, source);
        if (base.contains("metal_memory_efficiency")) {
            base["metal_memory_efficiency"] = quantity(stack.kernels.metal_memory_efficiency, nullptr, source);
        }
        if (base.contains("scan_efficiency")) {
            base["scan_efficiency"] = quantity(stack.kernels.scan_efficiency, nullptr, source);
        }
        if (stack.kernels.calibrated) {
            base["calibrated"]["linear_speed"] = linear_speeds_json(stack.kernels.calibrated->linear_speed, source);
            base["calibrated"]["expert_speed"] = quantity(stack.kernels.calibrated->expert_speed, nullptr, source);
        }
    }
    base["measured_loads"] = measured_loads_json(stack.measured.measured_loads);
    base["measured_loads"]["source"] = source;
    return base;
}

std::string serving_fit_table(const calibrate::ServingFit& serving) {
    const bool one = serving.steps.size() == 1;
    std::string text = fmt::format("The stack {} fitted to {} measured {} of {} on {}\n\n", serving.stack, serving.steps.size(),
                                   one ? "step" : "steps", serving.target, serving.platform) +
                       numbers_table(serving) + "\n" + rows_table(serving) + "\n";
    const std::vector<calibrate::FittedStackNumber>& numbers = serving.fit.numbers;
    if (std::any_of(numbers.begin(), numbers.end(), [](const auto& number) { return is_ratio(number.number); })) {
        text += fmt::format(
            "Other loads of a deployment share {:.0f} % of what one errs by (in logarithms), and that much is fitted.\n\n",
            100.0 * sim::error_shared_by_deployment);
    }
    text::TextTable errors({{"Error", text::Align::left}, {"median"}, {"worst"}});
    for (const ErrorSummary& summary : summaries_of(serving.fit)) {
        const std::string title = summary.name == "left_out"     ? "each batch by a fit to the others"
                                  : summary.name == "by_numbers" ? "by the fitted numbers alone"
                                  : summary.name == "fitted"     ? "with what is kept of each load"
                                                                 : summary.name;
        errors.add({title, text::percent_text(summary.median()), text::percent_text(summary.worst())});
    }
    text += errors.text();
    for (const std::string& remark : serving.remarks) {
        text += "\n" + text::wrapped(remark, 110) + "\n";
    }
    return text;
}

namespace {

Json rows_json(const calibrate::ServingFit& serving) {
    Json rows = Json::array();
    for (std::size_t i = 0; i < serving.steps.size(); ++i) {
        const calibrate::StepTimes& step = serving.fit.steps[i];
        const auto milliseconds = [](Seconds time) { return time > Seconds(0.0) ? Json(1e3 * time.value()) : Json(); };
        rows.push_back({{"batch", serving.steps[i].point.batch},
                        {"draft_tokens", serving.table.rows[i].draft_tokens},
                        {"context", serving.steps[i].point.context},
                        {"round_ms", milliseconds(step.measured)},
                        {"before_ms", milliseconds(step.before)},
                        {"by_numbers_ms", milliseconds(step.by_numbers)},
                        {"fitted_ms", milliseconds(step.fitted)},
                        {"left_out_ms", milliseconds(step.left_out)}});
    }
    return rows;
}

}  // namespace

Json serving_fit_json(const calibrate::ServingFit& serving) {
    Json numbers = Json::array(), errors = Json::object();
    for (const calibrate::FittedStackNumber& number : serving.fit.numbers) {
        const bool factor = calibrate::is_factor(number.number);
        const double scale = factor ? 1.0 : 1e6;
        numbers.push_back({{"number", name_of(number.number)},
                           {"unit", factor ? "" : "us"},
                           {"before", scale * number.before},
                           {"fitted", scale * number.value},
                           {"low", scale * number.low},
                           {"high", scale * number.high}});
    }
    for (const ErrorSummary& summary : summaries_of(serving.fit)) {
        errors[summary.name] = {{"median", summary.median()}, {"worst", summary.worst()}};
    }
    return {{"format", "treeline-serving-fit"}, {"version", 1},       {"stack", serving.stack},     {"target", serving.target},
            {"platform", serving.platform},     {"numbers", numbers}, {"rows", rows_json(serving)}, {"errors", errors},
            {"remarks", serving.remarks}};
}

std::string serving_fit_csv(const calibrate::ServingFit& serving) { return csv_of(rows_json(serving)); }

}  // namespace treeline::reports
