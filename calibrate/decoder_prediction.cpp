#include "calibrate/decoder_prediction.h"

#include <algorithm>
#include <stdexcept>

namespace treeline::calibrate {
namespace {

sim::Precision precision_of(const decoder::DecodeSetup& setup) {
    const auto format = [](kernels::ElementType type) {
        return type == kernels::ElementType::fp32 ? sim::NumberFormat::fp32 : sim::NumberFormat::bf16;
    };
    sim::Precision precision = sim::uniform_precision(format(setup.elements));
    precision.state = {format(setup.state_elements)};
    return precision;
}

/// A separate model with the target's first layers: it has its own cache and catches up on its last draft.
sim::Model first_layers(const sim::Model& target, const decoder::SharedLayers& shared) {
    sim::Model model = target;
    model.order.resize(static_cast<std::size_t>(shared.layers));
    if (shared.window > 0) {
        sim::ContextReach reach;
        reach.window = shared.window;
        reach.sink = shared.sink;
        return sim::with_reach(std::move(model), reach);
    }
    return model;
}

sim::Drafter drafter_of(const decoder::DecodeSetup& setup, const sim::Precision& precision) {
    if (const auto* shared = std::get_if<decoder::SharedLayers>(&setup.drafter)) {
        return sim::IndependentDrafter{first_layers(setup.target, *shared), precision};
    }
    if (const auto* own = std::get_if<decoder::OwnModel>(&setup.drafter)) {
        return sim::IndependentDrafter{own->model, precision};
    }
    return sim::NgramDrafter{};
}

sim::DraftAcceptance acceptance_of(const decoder::GivenAcceptance& given) {
    sim::DraftAcceptance acceptance;
    if (given.per_rank.empty()) {
        acceptance.chain = sim::Acceptance::per_position(given.per_position);
        acceptance.siblings = sim::RankAcceptance({1.0});  // first choices or none
    } else {
        acceptance.chain = sim::Acceptance::geometric(given.per_rank.front());
        acceptance.siblings = sim::RankAcceptance(given.per_rank);
    }
    return acceptance;
}

sim::ParentsShape shape_of(const sim::DraftTree& tree) {
    sim::ParentsShape shape;
    for (int token = 1; token < tree.verified_tokens(); ++token) {
        shape.parents.push_back(tree.parent(token));
    }
    return shape;
}

}  // namespace

sim::RoundSetup round_setup_of(const decoder::DecodeSetup& setup, const sim::Device& device) {
    std::vector<std::string> problems = decoder::problems_of(setup);
    const bool drafts = setup.tree.nodes() > 0;
    if (problems.empty() && drafts && !setup.given_acceptance) {
        problems.emplace_back("greedy acceptance is not known before the run, so it cannot be predicted");
    }
    if (!problems.empty()) {
        throw std::invalid_argument(problems.front());
    }
    sim::RoundSetup round;
    round.target = setup.target;
    round.precision = precision_of(setup);
    round.platform.device = device;
    round.platform.mode = sim::CostMode::calibrated;
    round.platform.stack.name = "kernels";
    round.platform.stack.title = "Kernels alone";
    round.platform.stack.launching.state_copy = sim::StateCopy::by_index;
    round.drafter = drafter_of(setup, round.precision);
    round.rollback = setup.rollback;
    round.speculations = sim::chains_up_to(0);
    if (drafts) {
        round.acceptance = acceptance_of(*setup.given_acceptance);
        round.speculations.push_back({shape_of(setup.tree), setup.verification, "draft"});
    }
    return round;
}

RoundPhases predicted_phases(const decoder::DecodeSetup& setup, const sim::Device& device, double context) {
    const sim::CompiledRound round = sim::compile_round(round_setup_of(setup, device));
    const int speculation = static_cast<int>(round.rows.size()) - 1;
    if (!round.runs(speculation)) {
        throw std::invalid_argument(round.row(speculation).problem);
    }
    const sim::RoundEstimate estimate = sim::evaluate(round, {speculation, static_cast<double>(setup.batch), context});
    return {estimate.draft, estimate.verify, estimate.rollback, estimate.host};
}

std::vector<RoundPhases> measured_rounds(const decoder::DecodeResult& result) {
    const decoder::PhaseSeconds& seconds = result.seconds;
    std::vector<RoundPhases> rounds;
    for (std::size_t i = 0; i < seconds.round.size(); ++i) {
        if (seconds.verify.empty()) {
            rounds.push_back({{}, {}, {}, Seconds(seconds.round[i])});
        } else {
            rounds.push_back({Seconds(seconds.draft[i]), Seconds(seconds.verify[i] + seconds.accept[i]),
                              Seconds(seconds.rollback[i]), Seconds(seconds.host[i])});
        }
    }
    return rounds;
}

}  // namespace treeline::calibrate
