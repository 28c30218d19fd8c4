// Which form of the law describes a kernel: parameters are added as long as they lower the error on held-out shapes.
#include <algorithm>
#include <limits>
#include <numeric>

#include "calibrate/kernel_fit_parts.h"

namespace treeline::calibrate {
namespace {

using detail::ExtendedForm;
using detail::PreparedTable;
using Candidate = detail::KernelCandidate;
constexpr double no_limit = std::numeric_limits<double>::infinity();

class Selection {
public:
    Selection(const KernelTable& table, const PreparedTable& prepared, const KernelFitOptions& options)
        : table_(table), prepared_(prepared), options_(options), all_(detail::all_samples(prepared)) {}

    /// Adds the best extension as long as one lowers the held-out score enough, then removes knots that do not earn their
    /// place. If one went, starts again, for a knot may find a better place.
    std::optional<Candidate> grown(const ExtendedForm& beginning) const {
        std::optional<Candidate> best = judged(beginning, no_limit);
        if (!best) {
            return best;
        }
        for (bool again = true; again;) {
            while (std::optional<Candidate> next = best_extension(*best)) {
                best = std::move(next);
            }
            Candidate fewer = with_fewer_knots(*best);
            again = fewer.held_out < best->held_out && fewer.form.free != best->form.free;
            best = std::move(fewer);
        }
        return best;
    }

    /// The bound below which the held-out score of a form with more parameters must lie.
    [[nodiscard]] double to_beat(const Candidate& by) const {
        return by.held_out * (1.0 - options_.least_gain) - options_.least_score;
    }

private:
    /// The form fitted to all samples; nothing if its score there is not below the limit, since it will not be on held-out
    /// shapes either.
    std::optional<Candidate> fitted(const ExtendedForm& what, double limit) const {
        const std::optional<sim::KernelLaw> law = detail::fit_law(prepared_, what.form, all_, what.start, options_);
        if (!law) {
            return std::nullopt;
        }
        Candidate candidate{what.form, *law, errors_of(detail::residuals_of(prepared_, *law)).score, no_limit};
        return candidate.fitted < limit ? std::optional(std::move(candidate)) : std::nullopt;
    }

    /// The errors that are reported come from other folds (calibrate()): a form that cannot be fitted in one of those is ruled
    /// out, too.
    std::optional<Candidate> cross_validated(Candidate candidate, double limit) const {
        const auto residuals = detail::held_out_residuals(prepared_, candidate.form, candidate.law, options_.seed, options_);
        if (!residuals) {
            return std::nullopt;
        }
        candidate.held_out = errors_of(*residuals).score;
        if (!(candidate.held_out < limit) ||
            !detail::held_out_residuals(prepared_, candidate.form, candidate.law, options_.seed + 1, options_)) {
            return std::nullopt;
        }
        return candidate;
    }

    std::optional<Candidate> judged(const ExtendedForm& what, double limit) const {
        std::optional<Candidate> candidate = fitted(what, limit);
        return candidate ? cross_validated(std::move(*candidate), limit) : std::nullopt;
    }

    /// Forms with one more extension that may beat the limit, as fitted to all samples. If one cannot be fitted, the same
    /// without one of its parameters: an extension may have driven another parameter to its bound, because it explains the same
    /// times better.
    std::vector<Candidate> fitted_extensions(const Candidate& of, double limit) const {
        std::vector<Candidate> found;
        for (const detail::KernelLawExtension& extension : detail::extensions(table_, prepared_)) {
            const std::optional<ExtendedForm> what = detail::extended(of.form, of.law, extension);
            if (!what) {
                continue;
            }
            if (std::optional<Candidate> candidate = fitted(*what, no_limit)) {
                found.push_back(std::move(*candidate));
                continue;
            }
            for (const std::size_t parameter : what->form.free) {
                ExtendedForm smaller = *what;
                std::erase(smaller.form.free, parameter);
                const bool slope = sim::kernel_parameters()[parameter].name.substr(0, 5) == "slope";
                if (smaller.form.free.empty() || slope) {
                    continue;
                }
                if (std::optional<Candidate> candidate = fitted(smaller, limit)) {
                    found.push_back(std::move(*candidate));
                }
            }
        }
        std::erase_if(found, [&](const Candidate& candidate) { return candidate.fitted >= limit; });
        std::sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) { return a.fitted < b.fitted; });
        return found;
    }

    std::optional<Candidate> best_extension(const Candidate& of) const {
        double limit = to_beat(of);
        std::optional<Candidate> best;
        for (Candidate& candidate : fitted_extensions(of, limit)) {
            if (candidate.fitted >= limit) {
                break;
            }
            if (std::optional<Candidate> judged = cross_validated(std::move(candidate), limit)) {
                limit = judged->held_out;
                best = std::move(judged);
            }
        }
        return best;
    }

    Candidate with_fewer_knots(Candidate best) const {
        for (std::size_t knot = 0; knot < sim::most_row_knots && best.form.fixed.knots[knot].rows > 0.0;) {
            const double limit = best.held_out / (1.0 - options_.least_gain) + options_.least_score;
            std::optional<Candidate> fewer = judged(detail::without_knot(best.form, best.law, knot), limit);
            if (fewer) {
                best = std::move(*fewer);
            } else {
                ++knot;
            }
        }
        return best;
    }

    const KernelTable& table_;
    const PreparedTable& prepared_;
    const KernelFitOptions& options_;
    std::vector<std::size_t> all_;
};

}  // namespace

std::size_t detail::index_of(std::string_view name) {
    const auto& all = sim::kernel_parameters();
    return static_cast<std::size_t>(
        std::find_if(all.begin(), all.end(), [&](const sim::KernelParameter& p) { return p.name == name; }) - all.begin());
}

std::vector<std::size_t> detail::all_samples(const PreparedTable& table) {
    std::vector<std::size_t> all(table.samples.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
}

/// Selection grows from several starting forms; each later one must earn its place, too.
std::optional<detail::KernelCandidate> detail::select_form(const KernelTable& table, const PreparedTable& prepared,
                                                           const KernelFitOptions& options) {
    const Selection selection(table, prepared, options);
    std::optional<Candidate> best;
    for (const ExtendedForm& beginning : beginnings(table, prepared)) {
        std::optional<Candidate> candidate = selection.grown(beginning);
        if (candidate && (!best || candidate->held_out < selection.to_beat(*best))) {
            best = std::move(candidate);
        }
    }
    return best;
}

}  // namespace treeline::calibrate
