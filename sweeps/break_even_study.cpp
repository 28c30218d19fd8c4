// Prices the rounds that a break-even compares.
#include <algorithm>

#include <fmt/format.h>

#include "sim/trees/optimal_tree.h"
#include "sweeps/break_even_study.h"
#include "text/input_error.h"
#include "text/number_text.h"

namespace treeline::sweeps {
namespace {

/// Trees of the timed shapes; those of a grid of best trees share one dynamic programme.
class Trees {
public:
    Trees(const std::vector<sim::Speculation>& shapes, const sim::RankAcceptance& acceptance) : acceptance_(acceptance) {
        sim::TreeBudget all;
        for (const sim::Speculation& speculation : shapes) {
            if (const auto* best = std::get_if<sim::OptimalShape>(&speculation.shape)) {
                all = {std::max(all.nodes, best->nodes), std::max(all.depth, best->depth), best->children};
                mixed_ = mixed_ || (children_ && *children_ != best->children);
                children_ = best->children;
            }
        }
        if (children_ && !mixed_) {
            optimal_.emplace(acceptance, all);
        }
    }
    [[nodiscard]] sim::DraftTree of(const sim::TreeShape& shape) const {
        const auto* best = std::get_if<sim::OptimalShape>(&shape);
        return best != nullptr && optimal_ ? optimal_->tree(best->nodes, best->depth) : sim::build_tree(shape, acceptance_);
    }

private:
    sim::RankAcceptance acceptance_;
    std::optional<int> children_;
    bool mixed_ = false;
    std::optional<sim::OptimalTrees> optimal_;
};

const sim::RankAcceptance& ranks_of(const BreakEvenInput& input) {
    return input.acceptance ? sim::RankAcceptance::known_or_assumed(input.acceptance->siblings)
                            : sim::RankAcceptance::assumed();
}

[[noreturn]] void refuse(const std::string& name, const std::string& sentence) {
    throw text::InputError({fmt::format("{}: {}", name, sentence)});
}

struct RoundTime {
    Seconds time, half_width;
    bool extrapolated = false;
};

Seconds in_range(const calibrate::TimeSource& source, double tokens, const std::string& what, const std::string& name) {
    if (!source.covers(tokens)) {
        refuse(name, fmt::format("{} is needed at {:.0f} tokens, but the table covers {}; use a law to go further", what,
                                 tokens, source.range_text()));
    }
    return source.at(tokens);
}

RoundTime time_of(const TimedRounds& rounds, int nodes, int depth, const std::string& name) {
    const double verified = nodes + 1.0;
    RoundTime round{in_range(rounds.verify, verified, "the time of verification", name) + rounds.drafting.of(nodes, depth),
                    rounds.verify.half_width(verified), rounds.verify.extrapolates(verified)};
    if (rounds.draft) {
        const Seconds error = rounds.draft->half_width(nodes);
        round.time += in_range(*rounds.draft, nodes, "the time of drafting", name);
        round.half_width = Seconds(std::hypot(round.half_width.value(), error.value()));
        round.extrapolated = round.extrapolated || rounds.draft->extrapolates(nodes);
    }
    return round;
}

std::optional<double> length_of(const BreakEvenInput& input, const sim::Speculation& speculation, const sim::DraftTree& tree,
                                const std::string& name) {
    if (!input.acceptance) {
        return std::nullopt;
    }
    if (const std::string problem = sim::acceptance_problem(*input.acceptance, speculation.shape, tree); !problem.empty()) {
        refuse(name, speculation.label + ": " + problem);
    }
    return sim::accepted_tokens(*input.acceptance, speculation.shape, tree).length;
}

std::vector<calibrate::TreeRound> timed_rounds(const BreakEvenInput& input, const TimedRounds& rounds,
                                               const std::vector<sim::Speculation>& shapes, const std::string& name) {
    std::vector<calibrate::TreeRound> result;
    const Trees trees(shapes, ranks_of(input));
    for (const sim::Speculation& speculation : shapes) {
        const sim::DraftTree tree = trees.of(speculation.shape);
        const RoundTime round = time_of(rounds, tree.nodes(), tree.depth(), name);
        result.push_back({tree.nodes(), tree.depth(), round.time, round.half_width, length_of(input, speculation, tree, name),
                          speculation.label, round.extrapolated});
    }
    return result;
}

sim::RoundSetup setup_of(const SimulatedRounds& rounds, sim::Rollback rollback, const std::vector<sim::Speculation>& shapes) {
    sim::RoundSetup setup;
    setup.target = rounds.target.model;
    setup.precision = rounds.target.precision;
    setup.platform = rounds.platform;
    setup.drafter = rounds.drafter.drafter;
    setup.acceptance = rounds.drafter.acceptance;
    setup.rollback = rollback;
    setup.decoding = rounds.decoding;
    setup.speculations = sim::chains_up_to(0);
    setup.speculations.insert(setup.speculations.end(), shapes.begin(), shapes.end());
    return setup;
}

/// Every shape under every rollback policy that may be used; those that do not fit or cannot run are left out.
std::vector<calibrate::TreeRound> simulated_rounds(const SimulatedRounds& rounds, const std::vector<sim::Speculation>& shapes,
                                                   const std::string& name) {
    std::vector<calibrate::TreeRound> result;
    std::string why = "does not fit in the device's memory";
    for (const sim::Rollback rollback : rounds.rollback ? std::vector<sim::Rollback>{*rounds.rollback}
                                                        : sim::rollbacks_for(rounds.target.model, rounds.platform.stack)) {
        const sim::RoundSetup setup = setup_of(rounds, rollback, shapes);
        if (const std::vector<std::string> found = problems_of(setup); !found.empty()) {
            why = found.front();
            continue;
        }
        const sim::CompiledRound round = sim::compile_round(setup);
        for (int i = 1; i < static_cast<int>(round.rows.size()); ++i) {
            const sim::RoundRow& row = round.row(i);
            if (!round.runs(i)) {
                why = row.problem;
                continue;
            }
            const sim::RoundEstimate estimate = sim::evaluate(round, {i, rounds.batch, rounds.context});
            if (estimate.fits) {
                result.push_back(
                    {static_cast<int>(row.draft_tokens), static_cast<int>(row.depth), estimate.round, Seconds(0.0),
                     estimate.accept_length,
                     fmt::format("{}, {}", text_of(setup.speculations[static_cast<std::size_t>(i)]), name_of(rollback)),
                     false});
            }
        }
    }
    if (result.empty()) {
        refuse(name, fmt::format("none of the shapes can be run: {}", why));
    }
    return result;
}

calibrate::ChainRound best_chain(const BreakEvenInput& input, const std::string& name) {
    std::vector<calibrate::TreeRound> rounds = input.chain.simulated
                                                   ? simulated_rounds(*input.chain.simulated, input.chains, name)
                                                   : timed_rounds(input, *input.chain.timed, input.chains, name);
    const auto best =
        std::max_element(rounds.begin(), rounds.end(), [](const calibrate::TreeRound& a, const calibrate::TreeRound& b) {
            return a.accept_length.value_or(1.0) / a.time.value() < b.accept_length.value_or(1.0) / b.time.value();
        });
    return {best->nodes, best->time, best->half_width,
            input.chain_accept_length ? input.chain_accept_length : best->accept_length};
}

}  // namespace

PricedRounds priced_rounds(const BreakEvenInput& input, const std::string& name) {
    PricedRounds priced;
    priced.chain = best_chain(input, name);
    if (input.tree.simulated) {
        priced.trees = simulated_rounds(*input.tree.simulated, input.shapes, name);
    } else if (!input.shapes.empty()) {
        priced.trees = timed_rounds(input, *input.tree.timed, input.shapes, name);
    } else {
        for (const int nodes : input.nodes) {
            const RoundTime round = time_of(*input.tree.timed, nodes, 0, name);
            priced.trees.push_back({nodes, 0, round.time, round.half_width, {}, "", round.extrapolated});
        }
    }
    return priced;
}

std::string text_of(const RoundSource& source) {
    if (source.simulated) {
        const SimulatedRounds& rounds = *source.simulated;
        return fmt::format("{} on {} with {}, batch {}, context {}, simulated", rounds.target.label, label_of(rounds.platform),
                           rounds.drafter.label, text::short_text(rounds.batch), text::short_text(rounds.context));
    }
    return source.timed->verify.text + (source.timed->draft ? "; drafting " + source.timed->draft->text : "");
}

}  // namespace treeline::sweeps
