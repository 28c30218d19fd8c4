#include "sweeps/adaptive/shape_prices.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sweeps/goal.h"
#include "text/input_error.h"
#include "text/number_text.h"

namespace treeline::sweeps {
namespace {

/// The shapes as users count them: ways of verifying share a label.
std::vector<std::string> labels_of(const std::vector<sim::Speculation>& speculations) {
    std::vector<std::string> labels;
    for (const sim::Speculation& speculation : speculations) {
        if (std::find(labels.begin(), labels.end(), speculation.label) == labels.end()) {
            labels.push_back(speculation.label);
        }
    }
    return labels;
}

sim::RoundSetup setup_of(const ShapesPoint& point, const sim::DraftAcceptance& acceptance, sim::Rollback rollback) {
    return {point.target.model, point.target.precision, point.platform,    point.drafter.drafter, acceptance,
            rollback,           point.decoding,         point.speculations};
}

/// The point compiled with each rollback policy that works at all; why none does goes into `problems`.
std::vector<sim::CompiledRound> compiled_rounds(const ShapesPoint& point, const sim::DraftAcceptance& acceptance,
                                                std::vector<std::string>& problems) {
    const std::vector<sim::Rollback> policies = point.rollback ? std::vector<sim::Rollback>{*point.rollback}
                                                               : sim::rollbacks_for(point.target.model, point.platform.stack);
    std::vector<sim::CompiledRound> rounds;
    for (const sim::Rollback rollback : policies) {
        const sim::RoundSetup setup = setup_of(point, acceptance, rollback);
        std::vector<std::string> found = problems_of(setup);
        if (found.empty()) {
            rounds.push_back(sim::compile_round(setup));
        } else if (problems.empty()) {
            problems = std::move(found);
        }
    }
    if (!rounds.empty()) {
        problems.clear();
    }
    return rounds;
}

/// Pricing of one shape: `problem` says why there is none.
class ShapePricer {
public:
    ShapePricer(const ShapesPoint& point, const std::vector<sim::CompiledRound>& rounds) : point_(point), rounds_(rounds) {}

    PricedShape price(const std::string& label, const std::vector<int>& batches, std::string& problem) const {
        PricedShape shape;
        shape.label = label;
        for (const int batch : batches) {
            const std::optional<sim::RoundEstimate> best = fastest(label, batch, shape, problem);
            if (!best) {
                return shape;
            }
            shape.round.push_back(best->round);
            shape.draft.push_back(best->draft);
            shape.plain.push_back(best->autoregressive);
        }
        return shape;
    }

private:
    std::optional<sim::RoundEstimate> fastest(const std::string& label, int batch, PricedShape& shape,
                                              std::string& problem) const {
        std::optional<sim::RoundEstimate> best;
        for (const sim::CompiledRound& round : rounds_) {
            for (int i = 0; i < static_cast<int>(point_.speculations.size()); ++i) {
                if (point_.speculations[static_cast<std::size_t>(i)].label != label) {
                    continue;
                }
                if (!round.runs(i)) {
                    problem = fmt::format("{}: {}", label, round.row(i).problem);
                    continue;
                }
                const sim::RoundEstimate estimate = sim::evaluate(round, {i, static_cast<double>(batch), point_.context});
                if (!estimate.fits) {
                    problem =
                        fmt::format("{} does not fit at batch {} and context {}: each device needs {} of its {}", label, batch,
                                    text::exact_text(point_.context), text_of(estimate.memory), text_of(round.memory.capacity));
                } else if (!best || better_at_a_point(estimate, *best)) {
                    best = estimate;
                    shape.levels = round.row(i).depth;
                    shape.accepted_exactly = round.row(i).accepted.exactly;
                }
            }
        }
        return best;
    }

    const ShapesPoint& point_;
    const std::vector<sim::CompiledRound>& rounds_;
};

}  // namespace

std::string text_of(const ShapesPoint& point) {
    return fmt::format("{} on {}, drafter {}, context {}", point.target.label, label_of(point.platform), point.drafter.label,
                       text::exact_text(point.context));
}

std::vector<PricedShape> price_shapes(const ShapesPoint& point, const sim::DraftAcceptance& acceptance,
                                      const std::vector<int>& batches) {
    std::vector<std::string> problems;
    const std::vector<sim::CompiledRound> rounds = compiled_rounds(point, acceptance, problems);
    std::vector<PricedShape> shapes;
    if (!rounds.empty()) {
        const ShapePricer pricer(point, rounds);
        for (const std::string& label : labels_of(point.speculations)) {
            std::string problem;
            shapes.push_back(pricer.price(label, batches, problem));
            if (shapes.back().round.size() < batches.size()) {
                problems.push_back(problem);
            }
        }
    }
    if (!problems.empty()) {
        throw text::InputError(std::move(problems));
    }
    return shapes;
}

}  // namespace treeline::sweeps
