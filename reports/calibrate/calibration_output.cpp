#include "reports/calibrate/calibration_output.h"

#include <cmath>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

constexpr int digits = 6;  ///< significant ones: more than any interval supports

std::string percent(double share) { return fmt::format("{:.1f} %", 100.0 * share); }

Json parameter_json(const sim::KernelParameter& parameter, double value, const calibrate::FittedKernelParameter* fitted) {
    Json json = {{"value", text::rounded(value * parameter.in_unit, digits)}, {"unit", parameter.unit}};
    if (fitted != nullptr) {
        json["low"] = text::rounded(fitted->low * parameter.in_unit, digits);
        json["high"] = text::rounded(fitted->high * parameter.in_unit, digits);
    }
    return json;
}

const calibrate::FittedKernelParameter* fitted_one(const calibrate::KernelFit& fit, std::size_t parameter) {
    for (const calibrate::FittedKernelParameter& fitted : fit.parameters) {
        if (fitted.parameter == parameter) {
            return &fitted;
        }
    }
    return nullptr;
}

/// Without resamples nothing is known of intervals.
bool was_resampled(const calibrate::KernelFit& fit) { return !fit.log_covariance.empty(); }

/// Parameters that the law has: fitted ones with an interval, chosen ones (whole numbers) without.
Json law_json(const sim::KernelLaw& law, const calibrate::KernelFit& fit) {
    Json json = Json::object();
    for (std::size_t i = 0; i < sim::kernel_parameters().size(); ++i) {
        const sim::KernelParameter& parameter = sim::kernel_parameters()[i];
        const double value = parameter.get(law);
        const calibrate::FittedKernelParameter* fitted = fitted_one(fit, i);
        if (fitted != nullptr || value != parameter.neutral) {
            json[std::string(parameter.name)] = parameter_json(parameter, value, was_resampled(fit) ? fitted : nullptr);
        }
    }
    return json;
}

Json errors_json(const calibrate::KernelErrors& errors) {
    return {{"median", text::rounded(errors.median, digits)},
            {"p90", text::rounded(errors.p90, digits)},
            {"bias", text::rounded(errors.bias, digits)}};
}

Json named_json(sim::KernelClass kernel, sim::NumberFormat format, const std::string& family) {
    Json json = {{"kernel", name_of(kernel)}, {"format", name_of(format)}};
    if (!family.empty()) {
        json["family"] = family;
    }
    return json;
}

Json kernel_json(const calibrate::CalibratedTable& kernel) {
    const calibrate::KernelFit& fit = kernel.fit;
    Json covariance = Json::array();
    for (const double value : fit.log_covariance) {
        covariance.push_back(text::rounded(value, digits));
    }
    Json json = named_json(kernel.table.kernel, kernel.table.format, kernel.table.family);
    json.update({{"law", law_json(fit.law, fit)},
                 {"domain", kernel.table.domain},
                 {"points", kernel.table.samples.size()},
                 {"left_out", kernel.table.left_out},
                 {"sites", fit.sites},
                 {"fitted", errors_json(fit.fitted)},
                 {"held_out", errors_json(fit.held_out)}});
    if (was_resampled(fit)) {
        json["log_covariance"] = covariance;
    }
    return json;
}

Json number_json(double value, const char* unit) { return {{"value", text::rounded(value, digits)}, {"unit", unit}}; }

Json verification_json(const calibrate::CalibratedVerification& verification) {
    const sim::RecurrentVerificationLaw& law = verification.fit.law;
    Json numbers = {{"startup", number_json(1e6 * law.startup.value(), "us")},
                    {"per_token", number_json(1e6 * law.per_token.value(), "us")},
                    {"bandwidth_share", number_json(law.bandwidth_share, "1")},
                    {"overlap", number_json(law.overlap, "1")}};
    if (law.per_head > Seconds(0.0)) {
        numbers["per_head"] = number_json(1e6 * law.per_head.value(), "us");
    }
    return {{"family", law.family},
            {"convolves", law.convolves},
            {"law", numbers},
            {"points", verification.table.samples.size()},
            {"left_out", verification.table.left_out},
            {"heads", verification.fit.heads},
            {"fitted", errors_json(verification.fit.fitted)},
            {"held_out", errors_json(verification.fit.held_out)},
            {"held_out_memory", errors_json(verification.fit.held_out_memory)}};
}

/// Laws of chains that are verified over recurrent states; empty if there are none.
std::string verification_text(const std::vector<calibrate::CalibratedVerification>& all) {
    if (all.empty()) {
        return {};
    }
    text::TextTable table({{"Recurrent verification", text::Align::left},
                           {"Startup"},
                           {"A token"},
                           {"Bandwidth"},
                           {"Overlap"},
                           {"A head"},
                           {"Points"},
                           {"Median"},
                           {"p90"},
                           {"Median, states in memory"},
                           {"p90"}});
    for (const calibrate::CalibratedVerification& one : all) {
        const sim::RecurrentVerificationLaw& law = one.fit.law;
        table.add({law.family + (law.convolves ? ", with its convolution" : ""),
                   fmt::format("{:.2f} us", 1e6 * law.startup.value()), fmt::format("{:.2f} us", 1e6 * law.per_token.value()),
                   fmt::format("{:.3f}", law.bandwidth_share), fmt::format("{:g}", law.overlap),
                   law.per_head > Seconds(0.0) ? fmt::format("{:.1f} us", 1e6 * law.per_head.value()) : "",
                   std::to_string(one.table.samples.size()), percent(one.fit.held_out.median), percent(one.fit.held_out.p90),
                   percent(one.fit.held_out_memory.median), percent(one.fit.held_out_memory.p90)});
    }
    return "\nChains verified over recurrent states, a state written after each token; numbers of heads held out:\n\n" +
           table.text();
}

Json chunk_scan_json(const calibrate::CalibratedChunkScan& scan) {
    const sim::ChunkScanLaw& law = scan.fit.law;
    return {{"family", law.family},
            {"by_channel", law.by_channel},
            {"version", scan.table.version},
            {"law",
             {{"startup", number_json(1e6 * law.startup.value(), "us")},
              {"per_token", number_json(1e9 * law.per_token.value(), "ns")},
              {"per_head", number_json(1e9 * law.per_head.value(), "ns")},
              {"traffic", number_json(law.traffic, "1")},
              {"overlap", number_json(law.overlap, "1")}}},
            {"points", scan.table.samples.size()},
            {"fitted", errors_json(scan.fit.fitted)},
            {"held_out", errors_json(scan.fit.held_out)},
            {"held_out_one", errors_json(scan.fit.held_out_one)}};
}

/// Laws of chunk kernels over prompts; empty if there are none.
std::string chunk_scan_text(const std::vector<calibrate::CalibratedChunkScan>& all) {
    if (all.empty()) {
        return {};
    }
    text::TextTable table({{"Prompts of delta rules", text::Align::left},
                           {"Startup"},
                           {"A token"},
                           {"A head's token"},
                           {"Traffic"},
                           {"Overlap"},
                           {"Points"},
                           {"Median"},
                           {"p90"},
                           {"Median, one sequence"},
                           {"p90"}});
    for (const calibrate::CalibratedChunkScan& one : all) {
        const sim::ChunkScanLaw& law = one.fit.law;
        table.add({law.family + (law.by_channel ? ", a decay for each channel" : ", a decay for each head"),
                   fmt::format("{:.1f} us", 1e6 * law.startup.value()), fmt::format("{:.1f} ns", 1e9 * law.per_token.value()),
                   fmt::format("{:.0f} ns", 1e9 * law.per_head.value()), fmt::format("{:.2f}", law.traffic),
                   fmt::format("{:g}", law.overlap), std::to_string(one.table.samples.size()), percent(one.fit.held_out.median),
                   percent(one.fit.held_out.p90), percent(one.fit.held_out_one.median), percent(one.fit.held_out_one.p90)});
    }
    return "\nPrompts through chunk kernels; numbers of sequences held out:\n\n" + table.text();
}

Json walk_json(const calibrate::CalibratedWalk& walk) {
    const sim::AttentionWalkLaw& law = walk.fit.law;
    Json json = {{"law",
                  {{"startup", number_json(1e6 * law.startup.value(), "us")},
                   {"per_token", number_json(1e9 * law.per_token.value(), "ns")},
                   {"bandwidth_share", number_json(law.bandwidth_share, "1")}}},
                 {"points", walk.table.samples.size()},
                 {"left_out", walk.table.left_out},
                 {"sites", walk.fit.sites},
                 {"fitted", errors_json(walk.fit.fitted)},
                 {"held_out", errors_json(walk.fit.held_out)}};
    if (!walk.table.windowed.empty()) {
        json["windowed"] = errors_json(walk.fit.windowed);
    }
    return json;
}

/// How the engines' attention walks along caches; empty if it does not, or was not measured.
std::string walk_text(const calibrate::CalibrationAnswer& answer) {
    if (!answer.attention_walk) {
        return {};
    }
    const calibrate::AttentionWalkFit& fit = answer.attention_walk->fit;
    std::string text = fmt::format(
        "\nAttention over 16-bit caches walks along them: {:.1f} ns for each cached token (heads 128 wide), {:.1f} us "
        "to start; heads held out: median {}, p90 {} of {} points",
        1e9 * fit.law.per_token.value(), 1e6 * fit.law.startup.value(), percent(fit.held_out.median), percent(fit.held_out.p90),
        answer.attention_walk->table.samples.size());
    if (const std::size_t windowed = answer.attention_walk->table.windowed.size(); windowed > 0) {
        text += fmt::format("; {} points with a window, not fitted: median {}, p90 {}", windowed, percent(fit.windowed.median),
                            percent(fit.windowed.p90));
    }
    return text + ".\n";
}

Json layers_json(const std::vector<calibrate::CheckRow>& layers) {
    Json rows = Json::array();
    for (const calibrate::CheckRow& row : layers) {
        rows.push_back({{"held_out", row.family},
                        {"pass", row.what},
                        {"measured_us", text::rounded(1e6 * row.measured.value(), digits)},
                        {"predicted_us", text::rounded(1e6 * row.predicted.value(), digits)}});
    }
    return rows;
}

/// [measured, predicted] of each phase of a round.
Json phases_json(const calibrate::DecoderCheck& check) {
    const auto both = [&](Seconds calibrate::RoundPhases::*phase) {
        return Json{text::rounded(1e6 * (check.measured_phases.*phase).value(), digits),
                    text::rounded(1e6 * (check.predicted_phases.*phase).value(), digits)};
    };
    return {{"draft", both(&calibrate::RoundPhases::draft)},
            {"verify", both(&calibrate::RoundPhases::verify)},
            {"rollback", both(&calibrate::RoundPhases::rollback)},
            {"host", both(&calibrate::RoundPhases::host)}};
}

Json decoders_json(const std::vector<calibrate::DecoderCheck>& decoders) {
    Json rows = Json::array();
    for (const calibrate::DecoderCheck& check : decoders) {
        rows.push_back({{"decoder", group_of(check.decoder)},
                        {"round", calibrate::policy_of(check.decoder)},
                        {"tokens", check.tokens()},
                        {"measured_us", text::rounded(1e6 * check.measured.value(), digits)},
                        {"predicted_us", text::rounded(1e6 * check.predicted.value(), digits)},
                        {"phases_us", phases_json(check)}});
    }
    return rows;
}

Json check_json(const calibrate::CalibrationAnswer& answer) {
    Json check = Json::object();
    if (!answer.check.empty()) {
        check["layers"] = layers_json(answer.check);
        check["layer_errors"] = errors_json(calibrate::errors_of_checks(answer.check));
    }
    if (!answer.decoders.empty()) {
        check["decoders"] = decoders_json(answer.decoders);
        check["decoder_errors"] = errors_json(calibrate::errors_of_checks(answer.decoders));
    }
    for (const calibrate::DecoderChoice& choice : calibrate::choices_of(answer.decoders)) {
        check["choices"].push_back({{"decoder", choice.group},
                                    {"best_measured", choice.best_measured},
                                    {"best_predicted", choice.best_predicted},
                                    {"regret", text::rounded(choice.regret, digits)}});
    }
    return check;
}

/// Of the shape that moves the most bytes a second.
BytesPerSecond best_traffic(const calibrate::KernelTable& table) {
    BytesPerSecond best;
    for (const calibrate::KernelSample& sample : table.samples) {
        best = std::max(best, bytes_at(sample) / sample.time);
    }
    return best;
}

}  // namespace

std::string text_of(const sim::KernelParameter& parameter, double base_value) {
    const std::string unit = parameter.unit == "1" ? "" : " " + std::string(parameter.unit);
    return fmt::format("{:.3g}{}", base_value * parameter.in_unit, unit);
}

std::string calibration_table(const calibrate::CalibrationAnswer& answer) {
    std::string text = fmt::format("{}: {} kernels, laws of the overlap form, whole shapes held out\n\n", answer.device.title,
                                   answer.kernels.size());
    text::TextTable table({{"Kernel", text::Align::left},
                           {"Parameter", text::Align::left},
                           {"Value"},
                           {"95 % interval"},
                           {"Meaning", text::Align::left}});
    text::TextTable errors({{"Kernel", text::Align::left},
                            {"Shapes"},
                            {"Points"},
                            {"Left out"},
                            {"Median"},
                            {"p90"},
                            {"Bias"},
                            {"Median, fitted"},
                            {"Traffic (GB/s)"}});
    std::vector<double> held_out;
    std::size_t points = 0, left_out = 0;
    for (const calibrate::CalibratedTable& kernel : answer.kernels) {
        const std::string name = calibrate::title_of(kernel.table);
        held_out.insert(held_out.end(), kernel.fit.held_out_residuals.begin(), kernel.fit.held_out_residuals.end());
        points += kernel.table.samples.size();
        left_out += kernel.table.left_out;
        for (std::size_t i = 0; i < sim::kernel_parameters().size(); ++i) {
            const sim::KernelParameter& parameter = sim::kernel_parameters()[i];
            const double value = parameter.get(kernel.fit.law);
            const calibrate::FittedKernelParameter* fitted = fitted_one(kernel.fit, i);
            if (fitted == nullptr && value == parameter.neutral) {
                continue;
            }
            const std::string interval = fitted == nullptr            ? "chosen"
                                         : !was_resampled(kernel.fit) ? "not resampled"
                                                                      : fmt::format("{} to {}", text_of(parameter, fitted->low),
                                                                                    text_of(parameter, fitted->high));
            table.add({name, std::string(parameter.name), text_of(parameter, value), interval, std::string(parameter.meaning)});
        }
        errors.add({name, std::to_string(kernel.fit.sites), std::to_string(kernel.table.samples.size()),
                    std::to_string(kernel.table.left_out), percent(kernel.fit.held_out.median),
                    percent(kernel.fit.held_out.p90), fmt::format("{:+.1f} %", 100.0 * kernel.fit.held_out.bias),
                    percent(kernel.fit.fitted.median), fmt::format("{:.0f}", 1e-9 * best_traffic(kernel.table).value())});
    }
    if (answer.kernels.size() > 1 && !held_out.empty()) {
        const calibrate::KernelErrors all = calibrate::errors_of(held_out);
        errors.add({"all", "", std::to_string(points), std::to_string(left_out), percent(all.median), percent(all.p90),
                    fmt::format("{:+.1f} %", 100.0 * all.bias), "", ""});
    }
    for (const sim::CalibratedKernel& kernel : answer.derived) {
        for (const sim::KernelParameter& parameter : sim::kernel_parameters()) {
            if (const double value = parameter.get(kernel.law); value != parameter.neutral) {
                table.add({fmt::format("{}{}, {}", name_of(kernel.kernel),
                                       kernel.family.empty() ? "" : " (" + kernel.family + ")", name_of(kernel.format)),
                           std::string(parameter.name), text_of(parameter, value), "as " + answer.derived_from,
                           std::string(parameter.meaning)});
            }
        }
    }
    text += table.text();
    if (!answer.kernels.empty()) {
        text += "\nErrors of predicted times, shapes held out, and the most bytes a second that any shape moves:\n\n" +
                errors.text();
    }
    return text + verification_text(answer.recurrent_verification) + chunk_scan_text(answer.chunk_scans) + walk_text(answer);
}

std::string calibration_json(const calibrate::CalibrationAnswer& answer) {
    Json kernels = Json::array();
    for (const calibrate::CalibratedTable& kernel : answer.kernels) {
        kernels.push_back(kernel_json(kernel));
    }
    for (const sim::CalibratedKernel& kernel : answer.derived) {
        Json json = named_json(kernel.kernel, kernel.format, kernel.family);
        json["law"] = law_json(kernel.law, {});
        json["derived_from"] = answer.derived_from;
        kernels.push_back(json);
    }
    Json json = {{"format", "treeline-calibration"},
                 {"version", 1},
                 {"device", answer.device.name},
                 {"source", answer.source},
                 {"kind", answer.kernels.empty() ? "derived" : answer.kind},
                 {"kernels", kernels}};
    for (const calibrate::CalibratedVerification& verification : answer.recurrent_verification) {
        json["recurrent_verification"].push_back(verification_json(verification));
    }
    for (const calibrate::CalibratedChunkScan& scan : answer.chunk_scans) {
        json["chunk_scans"].push_back(chunk_scan_json(scan));
    }
    if (answer.attention_walk) {
        json["attention_walk"] = walk_json(*answer.attention_walk);
    }
    if (!answer.check.empty() || !answer.decoders.empty()) {
        json["check"] = check_json(answer);
    }
    return json.dump(2) + "\n";
}

std::string calibration_csv(const calibrate::CalibrationAnswer& answer) {
    std::string text = "kernel,format,site,sequences,tokens,context,measured_us,predicted_us\n";
    for (const calibrate::CalibratedTable& kernel : answer.kernels) {
        for (std::size_t i = 0; i < kernel.table.samples.size(); ++i) {
            const calibrate::KernelSample& sample = kernel.table.samples[i];
            const double measured = sample.time.value() * 1e6;
            text += fmt::format("{},{},\"{}\",{:g},{:g},{:g},{:.4f},{:.4f}\n", name_of(kernel.table.kernel),
                                name_of(kernel.table.format), sample.site, sample.shape.sequences, sample.shape.tokens,
                                sample.shape.context, measured, measured * std::exp(kernel.fit.held_out_residuals[i]));
        }
    }
    return text;
}

}  // namespace treeline::reports
