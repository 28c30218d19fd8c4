#include "calibrate/kernel_fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include <Eigen/Dense>
#include <unsupported/Eigen/LevenbergMarquardt>
#include <unsupported/Eigen/NumericalDiff>

#include "calibrate/timings.h"

namespace treeline {
namespace {

/// sign(r)·√(2·ρ(r)) with Huber's ρ: its square is the loss, so that a least-squares solver minimises it.
double robust(double residual, double delta) {
    const double size = std::abs(residual);
    return size <= delta ? residual : std::copysign(std::sqrt(2.0 * delta * size - delta * delta), residual);
}

double log_residual(const KernelLaw& law, const Rates& data_sheet, const KernelSample& sample) {
    return std::log(predicted(law, data_sheet, sample) / sample.time);
}

KernelLaw law_from(const KernelLawForm& shape, const Eigen::VectorXd& logs) {
    KernelLaw law = shape.fixed;
    for (std::size_t i = 0; i < shape.free.size(); ++i) {
        kernel_parameters()[shape.free[i]].set(law, std::exp(logs[static_cast<Eigen::Index>(i)]));
    }
    return law;
}

/// Residuals of one form of the law, for Eigen's solver.
struct Residuals : Eigen::DenseFunctor<double> {
    Residuals(const KernelTable& of_table, const Rates& of_data_sheet, const KernelLawForm& of_form,
              const std::vector<std::size_t>& of_samples, double huber_delta)
        : DenseFunctor(static_cast<int>(of_form.free.size()), static_cast<int>(of_samples.size())),
          table(of_table),
          data_sheet(of_data_sheet),
          shape(of_form),
          samples(of_samples),
          delta(huber_delta) {}

    int operator()(const Eigen::VectorXd& logs, Eigen::VectorXd& out) const {
        const KernelLaw law = law_from(shape, logs);
        for (std::size_t i = 0; i < samples.size(); ++i) {
            out[static_cast<Eigen::Index>(i)] = robust(log_residual(law, data_sheet, table.samples[samples[i]]), delta);
        }
        return 0;
    }

    const KernelTable& table;
    const Rates& data_sheet;
    const KernelLawForm& shape;
    const std::vector<std::size_t>& samples;
    double delta;
};

bool on_a_bound(const KernelLaw& law, const KernelLawForm& shape) {
    return std::any_of(shape.free.begin(), shape.free.end(), [&](std::size_t i) {
        const KernelParameter& parameter = kernel_parameters()[i];
        const double value = parameter.get(law);
        return !std::isfinite(value) || value < parameter.least || value > parameter.most;
    });
}

}  // namespace

KernelErrors errors_of(const std::vector<double>& log_residuals) {
    constexpr double delta = 0.05;
    std::vector<double> signed_errors, sizes;
    KernelErrors errors;
    for (const double residual : log_residuals) {
        signed_errors.push_back(std::expm1(residual));
        sizes.push_back(std::abs(signed_errors.back()));
        const double scaled = robust(residual, delta) / delta;
        errors.score += 0.5 * scaled * scaled / static_cast<double>(log_residuals.size());
    }
    errors.median = quantile(sizes, 0.5);
    errors.p90 = quantile(sizes, 0.9);
    errors.bias = quantile(signed_errors, 0.5);
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
                std::string(name_of(table.kernel)) + " in " + std::string(name_of(table.format)) + " within the domain (" +
                table.domain + "), but a law needs at least " + std::to_string(fewest_sites) +
                ": errors are judged on shapes that were held out"};
    }
    return {};
}

std::optional<KernelLaw> fit_law(const KernelTable& table, const Rates& data_sheet, const KernelLawForm& shape,
                                 const std::vector<std::size_t>& samples, const KernelLaw& start,
                                 const KernelFitOptions& options) {
    if (samples.size() < shape.free.size() || samples.empty()) {
        return std::nullopt;
    }
    Eigen::VectorXd logs(static_cast<Eigen::Index>(shape.free.size()));
    for (std::size_t i = 0; i < shape.free.size(); ++i) {
        const KernelParameter& parameter = kernel_parameters()[shape.free[i]];
        logs[static_cast<Eigen::Index>(i)] = std::log(std::max(parameter.get(start), 2.0 * parameter.least));
    }
    const Residuals residuals(table, data_sheet, shape, samples, options.huber_delta);
    Eigen::NumericalDiff<Residuals> differentiated(residuals);
    Eigen::LevenbergMarquardt<Eigen::NumericalDiff<Residuals>> solver(differentiated);
    solver.setMaxfev(200);
    solver.setFtol(1e-8);
    solver.setXtol(1e-6);
    solver.minimize(logs);
    const KernelLaw law = law_from(shape, logs);
    return on_a_bound(law, shape) ? std::nullopt : std::optional(law);
}

namespace {

/// Samples by site, sites in a fixed order.
std::vector<std::vector<std::size_t>> by_site(const KernelTable& table) {
    std::map<std::string, std::vector<std::size_t>> sites;
    for (std::size_t i = 0; i < table.samples.size(); ++i) {
        sites[table.samples[i].site].push_back(i);
    }
    std::vector<std::vector<std::size_t>> result;
    for (auto& [name, samples] : sites) {
        result.push_back(std::move(samples));
    }
    return result;
}

}  // namespace

std::optional<std::vector<double>> held_out_residuals(const KernelTable& table, const Rates& data_sheet,
                                                      const KernelLawForm& shape, const KernelLaw& start, std::uint64_t seed,
                                                      const KernelFitOptions& options) {
    std::vector<std::vector<std::size_t>> sites = by_site(table);
    std::mt19937_64 random(seed);
    std::shuffle(sites.begin(), sites.end(), random);
    const std::size_t folds = std::min(sites.size(), static_cast<std::size_t>(options.folds));
    std::vector<double> residuals(table.samples.size());
    for (std::size_t fold = 0; fold < folds; ++fold) {
        std::vector<std::size_t> training, held_out;
        for (std::size_t i = 0; i < sites.size(); ++i) {
            std::vector<std::size_t>& side = i % folds == fold ? held_out : training;
            side.insert(side.end(), sites[i].begin(), sites[i].end());
        }
        const std::optional<KernelLaw> law = fit_law(table, data_sheet, shape, training, start, options);
        if (!law) {
            return std::nullopt;
        }
        for (const std::size_t i : held_out) {
            residuals[i] = log_residual(*law, data_sheet, table.samples[i]);
        }
    }
    return residuals;
}

namespace {

/// What may be added to a law that has a bandwidth: groups of parameters, with the start of each.
struct Extension {
    std::vector<std::string_view> free;
    KernelLaw start;                         ///< only the values of `free` and of the whole-number parameters below matter
    double row_tile = 0.0, step_rows = 0.0;  ///< 0 = leave as it is
};

std::size_t index_of(std::string_view name) {
    const auto& all = kernel_parameters();
    return static_cast<std::size_t>(
        std::find_if(all.begin(), all.end(), [&](const KernelParameter& p) { return p.name == name; }) - all.begin());
}

bool has_wide_and_common_heads(const KernelTable& table) {
    const auto wide = [](const KernelSample& sample) { return sample.operation.head_dim > widest_common_head; };
    return std::any_of(table.samples.begin(), table.samples.end(), wide) &&
           !std::all_of(table.samples.begin(), table.samples.end(), wide);
}

std::vector<Extension> extensions(const KernelTable& table) {
    const KernelClass kernel = table.kernel;
    KernelLaw start;
    start.startup = Seconds(5e-6);
    start.peak_share = 0.7;
    start.overlap = 0.2;
    start.per_input = Seconds(2e-10);
    start.per_head = Seconds(1e-8);
    start.per_context = Seconds(5e-9);
    start.step_share = 0.1;
    std::vector<Extension> all = {{{"startup"}, start}};
    if (kernel == KernelClass::gemm) {
        all.push_back({{"peak_share"}, start});
        all.push_back({{"peak_share", "overlap"}, start});
        all.push_back({{"overlap"}, start});
        all.push_back({{"per_input"}, start});
        for (const double tile : {16.0, 32.0, 64.0, 128.0}) {
            all.push_back({{}, start, tile});
        }
        for (const double rows : {1.0, 16.0, 64.0, 128.0, 256.0}) {
            all.push_back({{"step_share"}, start, 0.0, rows});
        }
    }
    if (kernel == KernelClass::attention || kernel == KernelClass::attention_ungrouped) {
        start.wide_head_share = 0.8;
        all.push_back({{"per_head"}, start});
        if (has_wide_and_common_heads(table)) {
            all.push_back({{"wide_head_share"}, start});
        }
        all.push_back({{"per_context"}, start});
    }
    return all;
}

struct Candidate {
    KernelLawForm shape;
    KernelLaw law;
    double score = 0.0;
};

std::vector<std::size_t> all_samples(const KernelTable& table) {
    std::vector<std::size_t> all(table.samples.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
}

std::optional<Candidate> judge(const KernelTable& table, const Rates& data_sheet, const KernelLawForm& shape,
                               const KernelLaw& start, const KernelFitOptions& options) {
    const std::optional<KernelLaw> law = fit_law(table, data_sheet, shape, all_samples(table), start, options);
    if (!law) {
        return std::nullopt;
    }
    const auto residuals = held_out_residuals(table, data_sheet, shape, *law, options.seed, options);
    return residuals ? std::optional(Candidate{shape, *law, errors_of(*residuals).score}) : std::nullopt;
}

/// The best of the forms that lack one parameter of this form (never the bandwidth): an extension may have driven another
/// parameter to its bound, because it explains the same times better.
std::optional<Candidate> judge_with_one_less(const KernelTable& table, const Rates& data_sheet, const KernelLawForm& shape,
                                             const KernelLaw& start, const KernelFitOptions& options) {
    std::optional<Candidate> best;
    for (const std::size_t parameter : shape.free) {
        if (parameter == index_of("bandwidth_share")) {
            continue;
        }
        KernelLawForm smaller = shape;
        std::erase(smaller.free, parameter);
        std::optional<Candidate> candidate = judge(table, data_sheet, smaller, start, options);
        if (candidate && (!best || candidate->score < best->score)) {
            best = std::move(candidate);
        }
    }
    return best;
}

/// The candidate with an extension; nothing where it has it already.
std::optional<Candidate> extended(const KernelTable& table, const Rates& data_sheet, const Candidate& from, const Extension& by,
                                  const KernelFitOptions& options) {
    KernelLawForm shape = from.shape;
    KernelLaw start = from.law;
    for (const std::string_view name : by.free) {
        const std::size_t parameter = index_of(name);
        if (std::find(shape.free.begin(), shape.free.end(), parameter) == shape.free.end()) {
            shape.free.push_back(parameter);
            kernel_parameters()[parameter].set(start, kernel_parameters()[parameter].get(by.start));
        }
    }
    if (by.row_tile > 0.0) {
        shape.fixed.row_tile = by.row_tile;
    }
    if (by.step_rows > 0.0) {
        shape.fixed.step_rows = by.step_rows;
    }
    std::sort(shape.free.begin(), shape.free.end());
    const bool same = shape.free == from.shape.free && shape.fixed.row_tile == from.shape.fixed.row_tile &&
                      shape.fixed.step_rows == from.shape.fixed.step_rows;
    if (same) {
        return std::nullopt;
    }
    std::optional<Candidate> candidate = judge(table, data_sheet, shape, start, options);
    return candidate ? candidate : judge_with_one_less(table, data_sheet, shape, start, options);
}

/// Adds the best extension as long as one lowers the held-out score enough.
std::optional<Candidate> grown(const KernelTable& table, const Rates& data_sheet, std::optional<Candidate> best,
                               const KernelFitOptions& options) {
    while (best) {
        std::optional<Candidate> next;
        for (const Extension& extension : extensions(table)) {
            std::optional<Candidate> candidate = extended(table, data_sheet, *best, extension, options);
            if (candidate && (!next || candidate->score < next->score)) {
                next = std::move(candidate);
            }
        }
        if (!next || next->score > best->score * (1.0 - options.least_gain) - options.least_score) {
            break;
        }
        best = std::move(next);
    }
    return best;
}

/// Growth from several tiles: which one fits shows only beside the parameters that go with it. A tile must earn its place, too.
std::optional<Candidate> select(const KernelTable& table, const Rates& data_sheet, const KernelFitOptions& options) {
    KernelLaw start;
    start.bandwidth_share = 0.8;
    std::optional<Candidate> best;
    for (const double tile : table.kernel == KernelClass::gemm ? std::vector{1.0, 32.0, 64.0, 128.0} : std::vector{1.0}) {
        KernelLawForm form{{index_of("bandwidth_share")}, {}};
        form.fixed.row_tile = tile;
        std::optional<Candidate> candidate = grown(table, data_sheet, judge(table, data_sheet, form, start, options), options);
        if (candidate && (!best || candidate->score < best->score * (1.0 - options.least_gain) - options.least_score)) {
            best = std::move(candidate);
        }
    }
    return best;
}

/// Logarithms of the free parameters, refitted to sites drawn with replacement, a row a resample.
std::vector<std::vector<double>> resampled(const KernelTable& table, const Rates& data_sheet, const KernelLawForm& form,
                                           const KernelLaw& start, const KernelFitOptions& options) {
    const std::vector<std::vector<std::size_t>> sites = by_site(table);
    std::mt19937_64 random(options.seed + 2);
    std::uniform_int_distribution<std::size_t> draw(0, sites.size() - 1);
    std::vector<std::vector<double>> rows;
    for (int i = 0; i < options.bootstraps; ++i) {
        std::vector<std::size_t> samples;
        for (std::size_t site = 0; site < sites.size(); ++site) {
            const std::vector<std::size_t>& drawn = sites[draw(random)];
            samples.insert(samples.end(), drawn.begin(), drawn.end());
        }
        if (const auto law = fit_law(table, data_sheet, form, samples, start, options)) {
            rows.emplace_back();
            for (const std::size_t parameter : form.free) {
                rows.back().push_back(std::log(kernel_parameters()[parameter].get(*law)));
            }
        }
    }
    return rows;
}

std::vector<double> column(const std::vector<std::vector<double>>& rows, std::size_t i) {
    std::vector<double> values;
    for (const std::vector<double>& row : rows) {
        values.push_back(row[i]);
    }
    return values;
}

std::vector<double> covariance(const std::vector<std::vector<double>>& rows, std::size_t size) {
    Eigen::MatrixXd values(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(size));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t j = 0; j < size; ++j) {
            values(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = rows[i][j];
        }
    }
    const Eigen::MatrixXd centred = values.rowwise() - values.colwise().mean();
    const Eigen::MatrixXd result = centred.transpose() * centred / std::max(1.0, static_cast<double>(rows.size()) - 1.0);
    return {result.data(), result.data() + result.size()};
}

/// Values and intervals of the free parameters of a fitted law, appended to the fit; returns the resampled logarithms.
std::vector<std::vector<double>> append_parameters(const KernelTable& table, const Rates& data_sheet, const KernelLawForm& form,
                                                   const KernelFitOptions& options, KernelFit& fit) {
    std::vector<std::vector<double>> rows = resampled(table, data_sheet, form, fit.law, options);
    for (std::size_t i = 0; i < form.free.size(); ++i) {
        const double value = kernel_parameters()[form.free[i]].get(fit.law);
        const std::vector<double> logs = column(rows, i);
        fit.parameters.push_back({form.free[i], value, logs.empty() ? value : std::exp(quantile(logs, 0.025)),
                                  logs.empty() ? value : std::exp(quantile(logs, 0.975))});
    }
    return rows;
}

/// The launch, from tiny kernels, everything else as fitted to large ones. Left alone where there are none.
void add_launch(const KernelTable& table, const Rates& data_sheet, const KernelFitOptions& options, KernelFit& fit) {
    const KernelTable tiny{table.kernel, table.format, table.tiny, {}, {}, {}, 0};
    if (!problems(tiny).empty() || table.ramp_bytes <= Bytes(0.0)) {
        return;
    }
    KernelLawForm form{{index_of("launch")}, fit.law};
    form.fixed.ramp_bytes = table.ramp_bytes;
    KernelLaw start = form.fixed;
    start.launch = Seconds(4e-6);
    if (const auto law = fit_law(tiny, data_sheet, form, all_samples(tiny), start, options)) {
        fit.law = *law;
        append_parameters(tiny, data_sheet, form, options, fit);
    }
}

}  // namespace

std::optional<KernelFit> calibrate(const KernelTable& table, const Rates& data_sheet, const KernelFitOptions& options) {
    const std::optional<Candidate> chosen = select(table, data_sheet, options);
    if (!chosen) {
        return std::nullopt;
    }
    const auto residuals = held_out_residuals(table, data_sheet, chosen->shape, chosen->law, options.seed + 1, options);
    if (!residuals) {
        return std::nullopt;
    }
    KernelFit fit;
    fit.law = chosen->law;
    fit.sites = by_site(table).size();
    fit.held_out_residuals = *residuals;
    fit.held_out = errors_of(*residuals);
    std::vector<double> own;
    for (const KernelSample& sample : table.samples) {
        own.push_back(log_residual(fit.law, data_sheet, sample));
    }
    fit.fitted = errors_of(own);
    const auto rows = append_parameters(table, data_sheet, chosen->shape, options, fit);
    fit.log_covariance = rows.empty() ? std::vector<double>() : covariance(rows, chosen->shape.free.size());
    add_launch(table, data_sheet, options, fit);
    return fit;
}

}  // namespace treeline
