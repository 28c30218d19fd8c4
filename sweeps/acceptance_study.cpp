#include "sweeps/acceptance_study.h"

#include <algorithm>

#include "numerics/random.h"
#include "sim/sampling/method.h"
#include "text/input_error.h"

namespace treeline::sweeps {
namespace {

using sim::sampling::SyntheticWorld;

std::vector<SyntheticWorld> fitted(const AcceptanceStudy& study, const std::string& name) {
    std::vector<SyntheticWorld> worlds = sim::sampling::worlds(study.world, study.worlds);
    if (!study.measured) {
        return worlds;
    }
    const sim::sampling::MethodOnTree measured{study.measured->method, study.measured->tree.tree};
    const std::vector<sim::sampling::MeasuredLength>& lengths = study.measured->lengths;
    const auto cooler = [](const auto& a, const auto& b) { return a.at.target < b.at.target; };
    const auto [cool, warm] = std::minmax_element(lengths.begin(), lengths.end(), cooler);  // in whatever order they are stated
    sim::sampling::FittedWorlds fit = lengths.size() == 1
                                          ? sim::sampling::fit_mismatch(worlds, measured, lengths.front())
                                          : sim::sampling::fit_mismatch_and_caution(worlds, measured, *cool, *warm);
    if (!fit.problem.empty()) {
        throw text::InputError({name + ": measured: " + fit.problem});
    }
    return std::move(fit.worlds);
}

/// The mean over worlds, missing where one of them is.
void add(std::optional<sim::sampling::ExpectedRound>& mean, const std::optional<sim::sampling::ExpectedRound>& one,
         double share) {
    if (!mean || !one) {
        mean.reset();
        return;
    }
    mean->at_least.resize(one->at_least.size(), 0.0);
    mean->accepted_by_rank.resize(one->accepted_by_rank.size(), 0.0);
    for (std::size_t i = 0; i < one->at_least.size(); ++i) {
        mean->at_least[i] += share * one->at_least[i];
    }
    for (std::size_t i = 0; i < one->accepted_by_rank.size(); ++i) {
        mean->accepted_by_rank[i] += share * one->accepted_by_rank[i];
    }
    mean->none_accepted += share * one->none_accepted;
}

StudiedCell cell(const AcceptanceStudy& study, const std::vector<sim::sampling::Models>& models, sim::sampling::Method method,
                 const sim::DraftTree& tree, double temperature) {
    const auto count = static_cast<double>(models.size());
    const int requests = std::max(2, static_cast<int>(study.rounds / count));
    StudiedCell cell{temperature, sim::sampling::ExpectedRound{}, {}};
    std::vector<sim::sampling::MeasuredAcceptance> decoded;
    numerics::Random random(study.world.seed);
    for (const sim::sampling::Models& world : models) {
        const std::optional<sim::sampling::RoundLaw> law = sim::sampling::law_of(method, world, tree);
        add(cell.exact, law ? std::optional(sim::sampling::expected_acceptance(*law, {study.world.vocabulary})) : std::nullopt,
            1.0 / count);
        decoded.push_back(
            sim::sampling::decode(sim::sampling::round_of(method, world, tree), {study.world.vocabulary}, requests, random));
    }
    cell.decoded = sim::sampling::combined(decoded);
    return cell;
}

}  // namespace

AcceptanceStudyAnswer answer(AcceptanceStudy study, const std::string& name) {
    const std::vector<SyntheticWorld> worlds = fitted(study, name);
    study.world = worlds.front().parameters();
    AcceptanceStudyAnswer answer{std::move(study), {}, {}};
    for (const StudiedTree& tree : answer.study.trees) {
        answer.trees.push_back({tree, {}});
        for (const sim::sampling::Method method : sim::sampling::methods_for(tree.tree)) {
            answer.trees.back().methods.push_back({method, {}});
        }
    }
    for (const double temperature : answer.study.temperatures) {
        const sim::sampling::Temperatures at = answer.study.at(temperature);
        std::vector<sim::sampling::Models> models;
        for (const SyntheticWorld& world : worlds) {
            models.push_back(world.at(at.target, at.drafter));
        }
        for (StudiedTreeAnswer& tree : answer.trees) {
            for (StudiedMethod& method : tree.methods) {
                method.cells.push_back(cell(answer.study, models, method.method, tree.tree.tree, temperature));
            }
        }
    }
    if (const auto& measured = answer.study.measured) {
        for (const sim::sampling::MeasuredLength& length : measured->lengths) {
            answer.fitted_lengths.push_back(
                *sim::sampling::exact_length(worlds, {measured->method, measured->tree.tree}, length.at));
        }
    }
    return answer;
}

}  // namespace treeline::sweeps
