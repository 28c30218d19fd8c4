// Accept lengths of verification methods over temperature, on synthetic models.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/sampling/decoder.h"
#include "sim/sampling/temperature.h"

namespace treeline::sweeps {

struct StudiedTree {
    std::string label;
    sim::DraftTree tree;
};

/// What somebody measured, for the synthetic models to agree with.
struct MeasuredStudy {
    StudiedTree tree;
    sim::sampling::Method method = sim::sampling::Method::token_wise;
    std::vector<sim::sampling::MeasuredLength> lengths;  ///< one or two
};

struct AcceptanceStudy {
    std::string title, source;
    std::vector<StudiedTree> trees;
    std::vector<double> temperatures = {0.0, 0.3, 0.7, 1.0};
    std::optional<double> drafter_temperature;  ///< nothing: as the target's
    sim::sampling::WorldParameters world;
    int worlds = 16;
    int rounds = 16'000;  ///< of decoding behind each figure, over all worlds
    std::optional<MeasuredStudy> measured;

    [[nodiscard]] sim::sampling::Temperatures at(double temperature) const {
        return {temperature, drafter_temperature.value_or(temperature)};
    }
};

/// One method on one tree at one temperature.
struct StudiedCell {
    double temperature = 0.0;
    std::optional<sim::sampling::ExpectedRound> exact;  ///< nothing where the closed form would take too long
    sim::sampling::MeasuredAcceptance decoded;

    [[nodiscard]] sim::RankAcceptance by_rank() const {
        return exact ? sim::RankAcceptance::from_counts(exact->accepted_by_rank, exact->none_accepted) : decoded.by_rank();
    }
};
struct StudiedMethod {
    sim::sampling::Method method = sim::sampling::Method::token_wise;
    std::vector<StudiedCell> cells;  ///< by temperature
};
struct StudiedTreeAnswer {
    StudiedTree tree;
    std::vector<StudiedMethod> methods;
};
struct AcceptanceStudyAnswer {
    AcceptanceStudy study;  ///< with the world's mismatch and caution as fitted
    std::vector<StudiedTreeAnswer> trees;
    std::vector<double> fitted_lengths;  ///< what the models accept where `measured` was measured
};

/// Throws InputError where no models agree with the measurement; `name` is the document's.
AcceptanceStudyAnswer answer(AcceptanceStudy study, const std::string& name);

}  // namespace treeline::sweeps
