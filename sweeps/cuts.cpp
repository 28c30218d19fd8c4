#include "sweeps/cuts.h"

#include <algorithm>
#include <cmath>

#include "sim/round.h"
#include "sweeps/deadline.h"

namespace treeline::sweeps {
namespace {

bool is_mixture(const sim::Model& model) {
    for (const sim::LayerKind& kind : model.kinds) {
        for (const sim::Block& block : kind.blocks) {
            if (std::holds_alternative<sim::MixtureOfExperts>(block.kind)) {
                return true;
            }
        }
    }
    return false;
}

double degree_of(sim::CutDegree degree, double tensor, const sim::Parallelism& parallel) {
    switch (degree) {
        case sim::CutDegree::tensor:
            return tensor;
        case sim::CutDegree::data:
            return parallel.data;
        case sim::CutDegree::experts:
            return parallel.experts;
        case sim::CutDegree::pipeline:
            break;
    }
    return parallel.pipeline;
}

/// Whether the engine of this stack runs the cut beside a drafter.
bool offers(const sim::Stack& stack, double tensor, const sim::Parallelism& parallel) {
    return std::none_of(stack.drafts.cuts_not_run.begin(), stack.drafts.cuts_not_run.end(), [&](const auto& together) {
        return std::all_of(together.begin(), together.end(),
                           [&](sim::CutDegree degree) { return degree_of(degree, tensor, parallel) > 1.0; });
    });
}

std::vector<std::string> problems_on(const sim::Platform& platform, const sim::Model& target) {
    sim::RoundSetup setup;
    setup.target = target;
    setup.precision = target.precision;
    setup.platform = platform;
    setup.rollback = sim::rollbacks_for(target, platform.stack).front();
    return problems_of(setup);
}

std::vector<double> divisors(double number) {
    std::vector<double> all;
    for (double divisor = 1.0; divisor <= number; ++divisor) {
        if (std::fmod(number, divisor) == 0.0) {
            all.push_back(divisor);
        }
    }
    return all;
}

}  // namespace

std::vector<sim::Platform> cuts_of(const sim::Platform& platform, double gpus, const sim::Model& target) {
    const bool mixture = is_mixture(target);
    std::vector<sim::Platform> cuts;
    for (const double pipeline : divisors(gpus)) {
        const double stage = gpus / pipeline;
        for (const double data : mixture ? divisors(stage) : std::vector<double>{1.0}) {
            for (const double experts : mixture&& stage > 1.0 ? std::vector<double>{1.0, stage} : std::vector<double>{1.0}) {
                check_deadline();
                sim::Platform cut = platform;
                cut.ranks = stage / data;
                cut.parallel.data = data;
                cut.parallel.experts = experts;
                cut.parallel.pipeline = pipeline;
                if (offers(cut.stack, cut.ranks, cut.parallel) && problems_on(cut, target).empty()) {
                    cuts.push_back(std::move(cut));
                }
            }
        }
    }
    return cuts;
}

std::string why_no_cut(const sim::Platform& platform, double gpus, const sim::Model& target) {
    sim::Platform alone = platform;
    alone.ranks = gpus;
    const std::vector<std::string> problems = problems_on(alone, target);
    return problems.empty() ? "its engine offers no cut that shares " + target.name + " so" : problems.front();
}

}  // namespace treeline::sweeps
