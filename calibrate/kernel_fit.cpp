#include "calibrate/kernel_fit.h"

#include <cmath>
#include <set>

#include "calibrate/kernel_fit_parts.h"
#include "calibrate/timings.h"
#include "numerics/quantile.h"

namespace treeline::calibrate {

KernelErrors errors_of(const std::vector<double>& log_residuals) {
    constexpr double delta = 0.05;
    std::vector<double> signed_errors, sizes;
    KernelErrors errors;
    for (const double residual : log_residuals) {
        signed_errors.push_back(std::expm1(residual));
        sizes.push_back(std::abs(signed_errors.back()));
        const double scaled = detail::robust(residual, delta) / delta;
        errors.score += 0.5 * scaled * scaled / static_cast<double>(log_residuals.size());
    }
    errors.median = numerics::quantile(sizes, 0.5);
    errors.p90 = numerics::quantile(sizes, 0.9);
    errors.bias = numerics::quantile(signed_errors, 0.5);
    return errors;
}

std::vector<std::string> problems(const KernelTable& table) {
    std::set<std::string> sites;
    for (const KernelSample& sample : table.samples) {
        sites.insert(sample.site);
        if (!(sample.time > Seconds(0.0)) || !std::isfinite(sample.time.value())) {
            return {"every time must be above zero (" + sample.site + ")"};
        }
    }
    if (sites.size() < fewest_sites) {
        return {"holds " + std::to_string(sites.size()) + (sites.size() == 1 ? " shape" : " shapes") + " of " +
                title_of(table) + " within the domain (" + table.domain + "), but a law needs at least " +
                std::to_string(fewest_sites) + ": errors are judged on held-out shapes"};
    }
    return {};
}

namespace {

/// Fits the launch to tiny kernels, with everything else as fitted to large ones. Left alone if there are none.
void add_launch(const KernelTable& table, const sim::Rates& data_sheet, const KernelFitOptions& options, KernelFit& fit) {
    KernelTable tiny;
    tiny.kernel = table.kernel;
    tiny.format = table.format;
    tiny.samples = table.tiny;
    tiny.on_cpu = table.on_cpu;
    if (!problems(tiny).empty() || table.ramp_bytes <= Bytes(0.0)) {
        return;
    }
    const detail::PreparedTable prepared = detail::prepared(tiny, data_sheet);
    KernelLawForm form{{detail::index_of("launch")}, fit.law};
    form.fixed.ramp_bytes = table.ramp_bytes;
    sim::KernelLaw start = form.fixed;
    start.launch = Seconds(4e-6);
    if (const auto law = detail::fit_law(prepared, form, detail::all_samples(prepared), start, options)) {
        fit.law = *law;
        detail::append_parameters(tiny, data_sheet, form, options, fit);
    }
}

}  // namespace

std::optional<KernelFit> calibrate(const KernelTable& table, const sim::Rates& data_sheet, const KernelFitOptions& options) {
    const detail::PreparedTable prepared = detail::prepared(table, data_sheet);
    const std::optional<detail::KernelCandidate> chosen = detail::select_form(table, prepared, options);
    if (!chosen) {
        return std::nullopt;
    }
    const auto residuals = detail::held_out_residuals(prepared, chosen->form, chosen->law, options.seed + 1, options);
    if (!residuals) {
        return std::nullopt;
    }
    KernelFit fit;
    fit.law = chosen->law;
    fit.sites = prepared.sites.size();
    fit.held_out_residuals = *residuals;
    fit.held_out = errors_of(*residuals);
    fit.fitted = errors_of(detail::residuals_of(prepared, fit.law));
    const auto rows = detail::append_parameters(table, data_sheet, chosen->form, options, fit);
    fit.log_covariance = rows.empty() ? std::vector<double>() : detail::covariance(rows, chosen->form.free.size());
    add_launch(table, data_sheet, options, fit);
    return fit;
}

}  // namespace treeline::calibrate
