// Which form of the law describes a kernel: parameters are added as long as they lower the error on held-out shapes.
#include <algorithm>
#include <limits>
#include <numeric>

#include "calibrate/kernel_fit_parts.h"

namespace treeline {
namespace {

using detail::index_of;
using Candidate = detail::KernelCandidate;
constexpr double no_limit = std::numeric_limits<double>::infinity();

/// What may be added to a law that has a bandwidth: groups of parameters, with the start of each.
struct Extension {
    std::vector<std::string_view> free;
    KernelLaw start;                         ///< only the values of `free` and of the whole-number parameters below matter
    double row_tile = 0.0, step_rows = 0.0;  ///< 0 = leave as it is
};

bool has_wide_and_common_heads(const KernelTable& table) {
    const auto wide = [](const KernelSample& sample) { return sample.operation.head_dim > widest_common_head; };
    return std::any_of(table.samples.begin(), table.samples.end(), wide) &&
           !std::all_of(table.samples.begin(), table.samples.end(), wide);
}

/// By the data sheet.
double computing_over_traffic(const KernelSample& sample, const Rates& data_sheet) {
    return flops_at(sample) * data_sheet.per_flop / (bytes_at(sample) * data_sheet.per_byte);
}

/// Whether some sample's FLOPs take as long as a quarter of its traffic: else a peak cannot be told from the measurements.
bool computing_shows(const KernelTable& table, const Rates& data_sheet) {
    return std::any_of(table.samples.begin(), table.samples.end(),
                       [&](const KernelSample& sample) { return computing_over_traffic(sample, data_sheet) > 0.25; });
}

/// Whether every sample's FLOPs take as long as its traffic: then little can be told of the bandwidth.
bool computing_rules(const KernelTable& table, const Rates& data_sheet) {
    return std::all_of(table.samples.begin(), table.samples.end(),
                       [&](const KernelSample& sample) { return computing_over_traffic(sample, data_sheet) > 1.0; });
}

std::vector<Extension> extensions(const KernelTable& table, const Rates& data_sheet) {
    const KernelClass kernel = table.kernel;
    KernelLaw start;
    start.startup = Seconds(5e-6);
    start.peak_share = 0.7;
    start.overlap = 0.2;
    start.per_input = Seconds(2e-10);
    start.per_head = Seconds(1e-8);
    start.per_context = Seconds(5e-9);
    start.step_share = 0.1;
    const bool of_kernels =
        std::none_of(table.samples.begin(), table.samples.end(), [](const KernelSample& sample) { return sample.whole_pass; });
    std::vector<Extension> all;
    if (of_kernels) {
        all.push_back({{"startup"}, start});
    }
    if (kernel == KernelClass::gemm || computing_shows(table, data_sheet)) {
        all.push_back({{"peak_share"}, start});
        all.push_back({{"peak_share", "overlap"}, start});
        all.push_back({{"overlap"}, start});
    }
    if (kernel == KernelClass::gemm && of_kernels) {
        all.push_back({{"per_input"}, start});
        for (const double tile : {8.0, 16.0, 32.0, 64.0, 128.0}) {
            all.push_back({{}, start, tile});
        }
        for (const double rows : {1.0, 4.0, 12.0, 16.0, 64.0, 128.0, 256.0}) {
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

/// A form whose score is not below `to_beat` is not looked at closely: it will not be taken.
std::optional<Candidate> judge(const KernelTable& table, const Rates& data_sheet, const KernelLawForm& shape,
                               const KernelLaw& start, double to_beat, const KernelFitOptions& options) {
    const std::optional<KernelLaw> law = fit_law(table, data_sheet, shape, detail::all_samples(table), start, options);
    if (!law) {
        return std::nullopt;
    }
    const auto residuals = held_out_residuals(table, data_sheet, shape, *law, options.seed, options);
    if (!residuals) {
        return std::nullopt;
    }
    const double score = errors_of(*residuals).score;
    // The errors that are reported come from other folds (calibrate()): a form that cannot be fitted in one of those is out,
    // too.
    if (score < to_beat && !held_out_residuals(table, data_sheet, shape, *law, options.seed + 1, options)) {
        return std::nullopt;
    }
    return Candidate{shape, *law, score};
}

/// The best of the forms that lack one parameter of this form: an extension may have driven another
/// parameter to its bound, because it explains the same times better.
std::optional<Candidate> judge_with_one_less(const KernelTable& table, const Rates& data_sheet, const KernelLawForm& shape,
                                             const KernelLaw& start, double to_beat, const KernelFitOptions& options) {
    std::optional<Candidate> best;
    for (const std::size_t parameter : shape.free) {
        KernelLawForm smaller = shape;
        std::erase(smaller.free, parameter);
        if (smaller.free.empty()) {
            continue;
        }
        std::optional<Candidate> candidate = judge(table, data_sheet, smaller, start, best ? best->score : to_beat, options);
        if (candidate && (!best || candidate->score < best->score)) {
            best = std::move(candidate);
        }
    }
    return best;
}

/// The candidate with an extension; nothing where it has it already.
std::optional<Candidate> extended(const KernelTable& table, const Rates& data_sheet, const Candidate& from, const Extension& by,
                                  double to_beat, const KernelFitOptions& options) {
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
    std::optional<Candidate> candidate = judge(table, data_sheet, shape, start, to_beat, options);
    return candidate ? candidate : judge_with_one_less(table, data_sheet, shape, start, to_beat, options);
}

/// Adds the best extension as long as one lowers the held-out score enough.
std::optional<Candidate> grown(const KernelTable& table, const Rates& data_sheet, std::optional<Candidate> best,
                               const KernelFitOptions& options) {
    while (best) {
        const double to_beat = best->score * (1.0 - options.least_gain) - options.least_score;
        std::optional<Candidate> next;
        for (const Extension& extension : extensions(table, data_sheet)) {
            std::optional<Candidate> candidate =
                extended(table, data_sheet, *best, extension, next ? std::min(next->score, to_beat) : to_beat, options);
            if (candidate && (!next || candidate->score < next->score)) {
                next = std::move(candidate);
            }
        }
        if (!next || next->score >= to_beat) {
            break;
        }
        best = std::move(next);
    }
    return best;
}

/// What growth begins with: a bandwidth; of kernels that are bound by computing throughout also a peak, alone (the bandwidth
/// then stays the data sheet's) or beside it.
std::vector<std::vector<std::size_t>> first_parameters(const KernelTable& table, const Rates& data_sheet) {
    const std::size_t bandwidth = index_of("bandwidth_share"), peak = index_of("peak_share");
    if (computing_rules(table, data_sheet)) {
        return {{bandwidth}, {bandwidth, peak}, {peak}};
    }
    return {{bandwidth}};
}

}  // namespace

std::size_t detail::index_of(std::string_view name) {
    const auto& all = kernel_parameters();
    return static_cast<std::size_t>(
        std::find_if(all.begin(), all.end(), [&](const KernelParameter& p) { return p.name == name; }) - all.begin());
}

std::vector<std::size_t> detail::all_samples(const KernelTable& table) {
    std::vector<std::size_t> all(table.samples.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
}

/// Growth from several beginnings and tiles: which one fits shows only beside the parameters that go with it. A tile must earn
/// its place, too.
std::optional<detail::KernelCandidate> detail::select_form(const KernelTable& table, const Rates& data_sheet,
                                                           const KernelFitOptions& options) {
    KernelLaw start;
    start.bandwidth_share = 0.8;
    start.peak_share = 0.5;
    std::optional<Candidate> best;
    const std::vector tiles = table.kernel == KernelClass::gemm ? std::vector{1.0, 32.0, 64.0, 128.0} : std::vector{1.0};
    for (const double tile : tiles) {
        for (const std::vector<std::size_t>& first : first_parameters(table, data_sheet)) {
            KernelLawForm form{first, {}};
            form.fixed.row_tile = tile;
            std::optional<Candidate> candidate =
                grown(table, data_sheet, judge(table, data_sheet, form, start, no_limit, options), options);
            if (candidate && (!best || candidate->score < best->score * (1.0 - options.least_gain) - options.least_score)) {
                best = std::move(candidate);
            }
        }
    }
    return best;
}

}  // namespace treeline
