#include "calibrate/attention_walk_fit.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "calibrate/log_fit.h"

namespace treeline::calibrate {
namespace {

using WalkSamples = std::vector<AttentionWalkSample>;
using WalkSite = std::pair<double, double>;

WalkSite site_of(const AttentionWalkSample& sample) { return {sample.shape.query_heads, sample.shape.head_width}; }

sim::AttentionWalkLaw walk_from(const std::vector<double>& values) {
    return {Seconds(values[0]), Seconds(values[1]), std::min(values[2], sim::most_share)};
}

std::vector<double> residuals_of(const sim::AttentionWalkLaw& law, const WalkSamples& samples, const sim::Device& device) {
    std::vector<double> residuals;
    residuals.reserve(samples.size());
    for (const AttentionWalkSample& sample : samples) {
        residuals.push_back(std::log(time_of(law, sample.shape, device.bandwidth, device.multiprocessors) / sample.time));
    }
    return residuals;
}

std::optional<sim::AttentionWalkLaw> fitted_walk(const WalkSamples& samples, const sim::Device& device,
                                                 const KernelFitOptions& options) {
    const double step = sim::walk_at(0.7, device.peak_for(sim::NumberFormat::bf16), device.multiprocessors).value();
    const auto fit = fit_logs({5e-6, step, 0.8}, samples.size(), options.huber_delta,
                              [&](const auto& values) { return residuals_of(walk_from(values), samples, device); });
    return fit ? std::optional(walk_from(fit->values)) : std::nullopt;
}

/// Empty if a fit fails.
std::vector<double> held_out_walks(const std::set<WalkSite>& sites, const WalkSamples& samples, const sim::Device& device,
                                   const KernelFitOptions& options) {
    std::vector<double> residuals;
    for (const WalkSite& site : sites) {
        WalkSamples others, of_site;
        for (const AttentionWalkSample& sample : samples) {
            (site_of(sample) == site ? of_site : others).push_back(sample);
        }
        const auto law = fitted_walk(others, device, options);
        if (!law) {
            return {};
        }
        const std::vector<double> missed = residuals_of(*law, of_site, device);
        residuals.insert(residuals.end(), missed.begin(), missed.end());
    }
    return residuals;
}

}  // namespace

std::optional<AttentionWalkFit> fit_attention_walk(const AttentionWalkTable& table, const sim::Device& device,
                                                   const KernelFitOptions& options) {
    constexpr double most_error = 0.1;
    std::set<WalkSite> sites;
    for (const AttentionWalkSample& sample : table.samples) {
        sites.insert(site_of(sample));
    }
    if (sites.size() < fewest_sites || device.multiprocessors <= 0.0) {
        return std::nullopt;
    }
    const std::optional<sim::AttentionWalkLaw> law = fitted_walk(table.samples, device, options);
    const std::vector<double> held_out = law ? held_out_walks(sites, table.samples, device, options) : std::vector<double>();
    if (held_out.empty() || errors_of(held_out).median > most_error ||
        sim::walk_efficiency(law->per_token, device.peak_for(sim::NumberFormat::bf16), device.multiprocessors) > 1.0) {
        return std::nullopt;
    }
    AttentionWalkFit fit;
    fit.law = *law;
    fit.sites = sites.size();
    fit.fitted = errors_of(residuals_of(*law, table.samples, device));
    fit.held_out = errors_of(held_out);
    if (!table.windowed.empty()) {
        fit.windowed = errors_of(residuals_of(*law, table.windowed, device));
    }
    return fit;
}

}  // namespace treeline::calibrate
