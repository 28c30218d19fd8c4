#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "reports/calibrate/calibration_output.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_marks = 800;  ///< of one figure: more would only overlap

std::string kernel_name(const calibrate::CalibratedTable& kernel) { return calibrate::title_of(kernel.table); }

Json sample_row(const calibrate::KernelSample& sample, double log_residual) {
    const double measured_us = sample.time.value() * 1e6;
    const double bytes = calibrate::bytes_at(sample).value();
    const double flops = calibrate::flops_at(sample).value();
    return {{"shape", sample.site},
            {"sequences", sample.shape.sequences},
            {"measured", measured_us},
            {"predicted", measured_us * std::exp(log_residual)},
            {"error", 100.0 * std::expm1(log_residual)},
            {"megabytes", bytes / 1e6},
            {"intensity", flops / bytes},
            {"attained", flops / sample.time.value() / 1e12}};
}

/// Every n-th sample of a kernel, so that all shapes stay.
Json rows_of(const calibrate::CalibratedTable& kernel) {
    const std::vector<calibrate::KernelSample>& samples = kernel.table.samples;
    const std::size_t stride = (samples.size() + most_marks - 1) / most_marks;
    Json rows = Json::array();
    for (std::size_t i = 0; i < samples.size(); i += stride) {
        rows.push_back(sample_row(samples[i], kernel.fit.held_out_residuals[i]));
    }
    return rows;
}

Figure figure_of(const std::string& id, const std::string& title, const std::string& reading, const Json& rows) {
    Figure figure;
    figure.id = id;
    figure.title = title;
    figure.reading = reading;
    figure.mark = FigureMark::point;
    figure.columns = {{"shape", "Shape", "", -1},         {"sequences", "Sequences or rows", "", -1},
                      {"measured", "Measured", "us", -1}, {"predicted", "Predicted", "us", -1},
                      {"error", "Error", "%", -1},        {"megabytes", "Traffic", "MB", -1}};
    figure.rows = rows;
    return figure;
}

FigureSection kernel_section(const calibrate::CalibratedTable& kernel, std::size_t number) {
    const Json rows = rows_of(kernel);
    Figure parity = figure_of(
        fmt::format("parity-{}", number), "Predicted against measured time",
        "Each mark is a measurement, predicted by a law that did not see its shape. On the line the two agree.", rows);
    parity.x = {"measured", "Measured (us)", true};
    parity.y = {"predicted", "Predicted (us)", true};
    parity.diagonal = true;
    Figure residuals =
        figure_of(fmt::format("residuals-{}", number), "Error against traffic",
                  "Above zero the prediction is too slow. A slope or a bend would show something that the law lacks.", rows);
    residuals.x = {"megabytes", "Traffic (MB)", true};
    residuals.y = {"error", "Predicted / measured - 1 (%)", false};
    residuals.rules = {{0.0, "exact"}};
    const calibrate::KernelErrors& errors = kernel.fit.held_out;
    return {fmt::format("kernel-{}", number),
            kernel_name(kernel),
            fmt::format("{} measurements of {} shapes ({}). Errors on held-out shapes: median {:.1f} %, 90th percentile {:.1f} "
                        "%, bias {:+.1f} %.",
                        kernel.table.samples.size(), kernel.fit.sites, kernel.table.domain, 100.0 * errors.median,
                        100.0 * errors.p90, 100.0 * errors.bias),
            {parity, residuals}};
}

/// What all kernels attained, over their intensity.
FigureSection roofline_section(const calibrate::CalibrationAnswer& answer) {
    Json rows = Json::array();
    for (const calibrate::CalibratedTable& kernel : answer.kernels) {
        for (Json& row : rows_of(kernel)) {
            row["kernel"] = kernel_name(kernel);
            rows.push_back(std::move(row));
        }
    }
    Figure figure = figure_of("roofline", "Measured roofline",
                              "Each mark is a measured kernel: FLOP/s attained over FLOPs per byte of traffic. The rising edge "
                              "is the memory's bandwidth, the ceiling the peak.",
                              rows);
    figure.x = {"intensity", "Intensity (FLOP/byte)", true};
    figure.y = {"attained", "Attained (TFLOP/s)", true};
    figure.series = "kernel";
    for (const sim::NumberFormat format : {sim::NumberFormat::bf16, sim::NumberFormat::fp8}) {
        figure.rules.push_back(
            {answer.device.peak_for(format).value() / 1e12, fmt::format("data-sheet peak, {}", name_of(format))});
    }
    return {"measured-roofline",
            "Measured roofline",
            fmt::format("Data sheet: {:.0f} GB/s.", answer.device.bandwidth.value() / 1e9),
            {figure}};
}

}  // namespace

std::string calibration_page(const calibrate::CalibrationAnswer& answer) {
    FigurePage page;
    page.title = fmt::format("Calibration of {}", answer.device.title);
    page.subtitle = answer.source;
    page.heading = answer.device.title;
    const auto worst = std::max_element(answer.kernels.begin(), answer.kernels.end(), [](const auto& a, const auto& b) {
        return a.fit.held_out.median < b.fit.held_out.median;
    });
    page.sentence =
        worst == answer.kernels.end()
            ? std::string("No law fits the measurements.")
            : fmt::format("{} laws, fitted with whole shapes held out; the largest median error is {:.1f} %, of {}.",
                          answer.kernels.size(), 100.0 * worst->fit.held_out.median, kernel_name(*worst));
    if (!answer.check.empty() || !answer.decoders.empty()) {
        page.sections.push_back(check_section(answer));
    }
    page.sections.push_back(roofline_section(answer));
    if (std::optional<FigureSection> launches = launch_section(answer)) {
        page.sections.push_back(std::move(*launches));
    }
    for (std::size_t i = 0; i < answer.kernels.size(); ++i) {
        page.sections.push_back(kernel_section(answer.kernels[i], i));
    }
    return render_figures(page);
}

}  // namespace treeline::reports
