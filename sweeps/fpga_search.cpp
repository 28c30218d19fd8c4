#include "sweeps/fpga_search.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "sweeps/parallel.h"

namespace treeline::sweeps {
namespace {

constexpr std::size_t best_kept = 10;

/// Smaller is better.
double cost_of(const FpgaCandidate& candidate, FpgaObjective objective) {
    switch (objective) {
        case FpgaObjective::latency:
            return candidate.round.value();
        case FpgaObjective::energy:
            return -candidate.tokens_per_joule;
        case FpgaObjective::throughput:
            break;
    }
    return -candidate.tokens_per_second;
}

bool dominates(const FpgaCandidate& a, const FpgaCandidate& b) {
    return a.tokens_per_second >= b.tokens_per_second && a.tokens_per_joule >= b.tokens_per_joule &&
           a.utilisation <= b.utilisation;
}

/// Keeps the points that no other dominates, and of equals the first. The point that rejected the last one is tried first,
/// since neighbours in the space are much alike.
void keep_on_front(const FpgaCandidate& candidate, std::vector<FpgaCandidate>& front) {
    for (FpgaCandidate& other : front) {
        if (dominates(other, candidate)) {
            std::swap(other, front.front());
            return;
        }
    }
    std::erase_if(front, [&](const FpgaCandidate& other) { return dominates(candidate, other); });
    front.push_back(candidate);
}

void keep_best(const FpgaCandidate& candidate, FpgaObjective objective, std::vector<FpgaCandidate>& best) {
    const auto place = std::upper_bound(best.begin(), best.end(), candidate, [&](const auto& a, const auto& b) {
        return cost_of(a, objective) < cost_of(b, objective);
    });
    if (place == best.end() && best.size() == best_kept) {
        return;
    }
    best.insert(place, candidate);
    best.resize(std::min(best.size(), best_kept));
}

double share(double used, double there) { return there > 0.0 ? used / there : used > 0.0 ? 1e9 : 0.0; }

double largest_share(const sim::fpga::Resources& used, const sim::fpga::Resources& there) {
    return std::max({share(used.dsps, there.dsps), share(used.luts, there.luts), share(used.bram18s, there.bram18s),
                     share(used.urams, there.urams)});
}

/// All designs of one speculation under one plan.
class Part {
public:
    Part(const FpgaSpace& space, FpgaObjective objective, std::size_t speculation, std::size_t plan)
        : space_(space), objective_(objective), design_(space.base) {
        candidate_.speculation = speculation;
        candidate_.plan = plan;
        const FpgaSpeculation& how = space.speculations[speculation];
        options_.plan = space.plans[plan];
        work_ = sim::fpga::tree_work(how.tree, space.base.ssm.rules, options_.plan);
        candidate_.fifo_depth = std::max(1, work_.schedule.fifo_depth_needed);
        design_.ssm.fifo_depth = candidate_.fifo_depth;
        needs_ = {space.target, work_.verified_tokens, options_.plan, how.drafter_shape};
        limits_ = space.board.resources;
        limits_.dsps *= space.utilisation;
        limits_.luts *= space.utilisation;
    }

    FpgaSearchResult run() {
        const auto start = std::chrono::steady_clock::now();
        for (const double tokens : space_.tokens) {
            design_.linear.tokens = tokens > 0.0 ? tokens : work_.verified_tokens;
            for (const double inputs : space_.tile_inputs) {
                design_.linear.tile_inputs = inputs;
                for (const double outputs : space_.tile_outputs) {
                    design_.linear.tile_outputs = outputs;
                    for (const double lanes : space_.lanes) {
                        design_.ssm.lanes = lanes;
                        price();
                    }
                }
            }
        }
        result_.evaluation_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        return std::move(result_);
    }

private:
    void price() {
        ++result_.points;
        candidate_.used = sim::fpga::total_use(design_, needs_, space_.board.resources.urams > 0.0);
        if (!sim::fpga::fits(candidate_.used, limits_)) {
            ++result_.too_large;
            return;
        }
        const FpgaSpeculation& how = space_.speculations[candidate_.speculation];
        candidate_.tile_inputs = design_.linear.tile_inputs;
        candidate_.tile_outputs = design_.linear.tile_outputs;
        candidate_.lanes = design_.ssm.lanes;
        candidate_.tokens = design_.linear.tokens;
        const sim::fpga::RoundWork totals =
            sim::fpga::round_work(space_.board, design_, space_.target, how.drafter_shape, work_, how.accept_length, options_);
        candidate_.round = totals.time;
        candidate_.tokens_per_second = (work_.nodes > 0.0 ? how.accept_length : 1.0) / candidate_.round.value();
        const double watts = sim::fpga::power_of(space_.board, design_, totals).total().value();
        candidate_.tokens_per_joule = watts > 0.0 ? candidate_.tokens_per_second / watts : 0.0;
        candidate_.utilisation = largest_share(candidate_.used, space_.board.resources);
        keep_best(candidate_, objective_, result_.best);
        keep_on_front(candidate_, result_.pareto);
    }

    const FpgaSpace& space_;
    FpgaObjective objective_;
    sim::fpga::Design design_;
    sim::fpga::TreeWork work_;
    sim::fpga::RoundOptions options_;
    sim::fpga::BufferNeeds needs_;
    sim::fpga::Resources limits_;
    FpgaCandidate candidate_;
    FpgaSearchResult result_;
};

void require_above_zero(const std::vector<double>& values, const char* axis, std::vector<std::string>& problems) {
    if (values.empty()) {
        problems.push_back(std::string(axis) + " has no values");
    } else if (std::any_of(values.begin(), values.end(), [](double value) { return value < 1.0; })) {
        problems.push_back(std::string(axis) + " must be above zero");
    }
}

}  // namespace

std::size_t FpgaSpace::size() const {
    return tile_inputs.size() * tile_outputs.size() * lanes.size() * tokens.size() * speculations.size() * plans.size();
}

std::vector<std::string> FpgaSpace::problems() const {
    std::vector<std::string> problems;
    require_above_zero(tile_inputs, "tile_inputs", problems);
    require_above_zero(tile_outputs, "tile_outputs", problems);
    require_above_zero(lanes, "lanes", problems);
    if (tokens.empty() || speculations.empty() || plans.empty()) {
        problems.emplace_back("tokens, speculations and plans need at least one value");
    }
    return problems;
}

sim::fpga::Design design_of(const FpgaSpace& space, const FpgaCandidate& candidate) {
    sim::fpga::Design design = space.base;
    design.linear.tile_inputs = candidate.tile_inputs;
    design.linear.tile_outputs = candidate.tile_outputs;
    design.linear.tokens = candidate.tokens;
    design.ssm.lanes = candidate.lanes;
    design.ssm.fifo_depth = candidate.fifo_depth;
    return design;
}

FpgaSearchResult search_designs(const FpgaSpace& space, FpgaObjective objective, unsigned threads) {
    std::vector<FpgaSearchResult> parts(space.speculations.size() * space.plans.size());
    parallel_for(parts.size(), thread_count(threads), [&](std::size_t i) {
        parts[i] = Part(space, objective, i / space.plans.size(), i % space.plans.size()).run();
    });
    FpgaSearchResult whole;
    for (const FpgaSearchResult& part : parts) {
        whole.points += part.points;
        whole.too_large += part.too_large;
        whole.evaluation_seconds += part.evaluation_seconds;
        for (const FpgaCandidate& candidate : part.best) {
            keep_best(candidate, objective, whole.best);
        }
        for (const FpgaCandidate& candidate : part.pareto) {
            keep_on_front(candidate, whole.pareto);
        }
    }
    std::stable_sort(whole.pareto.begin(), whole.pareto.end(),
                     [](const auto& a, const auto& b) { return a.tokens_per_second > b.tokens_per_second; });
    return whole;
}

}  // namespace treeline::sweeps
