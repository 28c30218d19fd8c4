// What `treeline calibrate` says about the machine that it measured.
#include <algorithm>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "numerics/quantile.h"
#include "reports/calibrate/calibration_output.h"

namespace treeline::reports {
namespace {

std::string launches_text(const calibrate::MachineFigures& figures) {
    std::string text;
    for (const calibrate::LaunchCost& launch : figures.launches) {
        text += fmt::format("{}{:.2f} us ({} of {:g})", text.empty() ? "" : ", ", 1e6 * launch.each.value(), launch.by,
                            launch.launches);
    }
    return text;
}

/// "1.32 us in the typical state, 0.55 us in another".
std::string states_text(const calibrate::ProtocolRun& run) {
    std::string text;
    for (const calibrate::Conditions& state : run.states) {
        if (!calibrate::is_of_state(state, run.typical, {})) {
            text += fmt::format("{}{:.2f} us", text.empty() ? "" : ", ", 1e6 * state.launch);
        }
    }
    return text.empty()
               ? ""
               : fmt::format("; its cores then meet in {:.2f} us, at other times in {}", 1e6 * run.typical.launch, text);
}

/// What the machine was like while it was measured.
std::string conditions_text(const calibrate::ProtocolRun& run) {
    std::vector<double> reads, clocks;
    for (const calibrate::PassRecord& pass : run.passes) {
        reads.push_back(1e3 * pass.conditions.read);
        clocks.push_back(1e-6 * pass.conditions.clock);
    }
    const std::optional<double> temperature = run.passes.back().conditions.temperature;
    std::string text = fmt::format(
        "{} samples, {:.0f} % of them in the machine's typical state{}. A block of memory was read in {:.2f} ms ({:.2f} to "
        "{:.2f})",
        run.samples, 100.0 * (1.0 - double(run.samples_elsewhere) / double(std::max<std::size_t>(run.samples, 1))),
        states_text(run), numerics::quantile(reads, 0.5), numerics::quantile(reads, 0.1), numerics::quantile(reads, 0.9));
    if (run.typical.clock > 0.0) {
        text +=
            fmt::format("; clock {:.0f} MHz, {:.0f} at the slowest", 1e-6 * run.typical.clock, numerics::quantile(clocks, 0.0));
    }
    const auto throttled = std::count_if(run.passes.begin(), run.passes.end(),
                                         [](const calibrate::PassRecord& pass) { return pass.conditions.throttles; });
    if (throttled > 0) {
        text += fmt::format("; power or heat held the clock down in {} of {} passes", throttled, run.passes.size());
    }
    return text + (temperature ? fmt::format(", {:.0f} °C at the end", *temperature) : "") + ".\n";
}

}  // namespace

std::string machine_text(const calibrate::Machine& machine, const calibrate::MachineFigures& figures) {
    std::string text = fmt::format("{} ({})\n", machine.title, machine.driver);
    text += fmt::format(
        "Memory: {:.1f} GB/s read, {:.1f} GB/s written, {:.1f} GB/s copied (both ways). Products: {:.3g} "
        "TFLOP/s in fp32{}.\n",
        figures.read.value() / 1e9, figures.write.value() / 1e9, figures.copy.value() / 1e9,
        figures.peak_of(sim::NumberFormat::fp32).value() / 1e12,
        machine.is_gpu ? fmt::format(", {:.3g} in bf16", figures.peak_of(sim::NumberFormat::bf16).value() / 1e12) : "");
    if (figures.link.bandwidth() > BytesPerSecond(0.0)) {
        text +=
            fmt::format("A second device: {:.1f} GB/s read from its memory; the shortest all-reduce of both takes {:.2f} us.\n",
                        figures.link.bandwidth().value() / 1e9, 1e6 * figures.link.shortest.value());
    }
    return text + fmt::format("An empty launch: {}.\n", launches_text(figures));
}

std::string left_out_text(const std::vector<std::string>& notes) {
    std::string text;
    for (const std::string& sentence : notes) {
        text += "Left out: " + sentence + ".\n";
    }
    return text;
}

std::string measurement_text(const calibrate::OwnDevice& own, const calibrate::MachineFigures& figures,
                             const calibrate::OwnMeasurement& measured, const std::vector<std::string>& notes) {
    std::string text = machine_text(own.machine, figures);
    text += fmt::format(
        "{} kernels and decoders measured now, {} before; {} of the new ones hardly ever saw the typical state and are left "
        "out of laws and errors; load {:.2f} per core at the start.\n",
        measured.run.measurements.size(), measured.before, measured.run.drifted(), measured.load);
    if (!measured.run.passes.empty()) {
        text += conditions_text(measured.run);
    }
    text += left_out_text(notes);
    constexpr std::size_t most_named = 5;
    for (std::size_t i = 0; i < measured.missing.size() && i < most_named; ++i) {
        text += fmt::format("Missing: {} ({}).\n", measured.missing[i].name, measured.missing[i].reason);
    }
    if (measured.missing.size() > most_named) {
        text += fmt::format("Missing: {} more; {}_missing.csv lists them.\n", measured.missing.size() - most_named,
                            own.machine.name);
    }
    return text;
}

}  // namespace treeline::reports
