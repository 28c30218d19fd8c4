// Tables of round times by the simulator: what the bandit and the traffic study otherwise read from a file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sweeps/choices.h"

namespace treeline::sweeps {

/// A design point with several shapes.
struct ShapesPoint {
    TargetChoice target;
    sim::Platform platform;
    DrafterChoice drafter;
    std::vector<sim::Speculation> speculations;  ///< plain decoding first, whether requested or not
    bool plain_asked_for = false;
    std::optional<sim::Rollback> rollback;  ///< nothing: the fastest that fits, for each shape and batch
    sim::Decoding decoding = sim::Decoding::greedy;
    double context = 0.0;
};

/// "pythia-6.9b on rtx-4090, cuda-graph, drafter mamba-130m, context 1024"
std::string text_of(const ShapesPoint& point);

/// One shape, by its fastest way of verifying and rolling back that fits.
struct PricedShape {
    std::string label;
    double levels = 0.0;  ///< draft passes; 0 is plain decoding
    std::vector<double> accepted_exactly;
    std::vector<Seconds> round;  ///< by batch, in the order of the requested batches
    std::vector<Seconds> draft;  ///< drafting within it
    std::vector<Seconds> plain;  ///< a step of plain decoding
};

/// Every shape at every batch with this acceptance, plain decoding first. Throws InputError with a sentence for each shape that
/// cannot run or does not fit.
std::vector<PricedShape> price_shapes(const ShapesPoint& point, const sim::DraftAcceptance& acceptance,
                                      const std::vector<int>& batches);

}  // namespace treeline::sweeps
