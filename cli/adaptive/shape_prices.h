// Tables of round times by the simulator: what `treeline bandit` and `treeline traffic` otherwise read from a file.
#pragma once

#include <string>
#include <vector>

#include "cli/inputs/setup_reader.h"
#include "cli/inputs/speculation_reader.h"

namespace treeline {

/// A design point with several shapes.
struct ShapesPoint {
    TargetChoice target;
    Platform platform;
    DrafterChoice drafter;
    std::vector<Speculation> speculations;  ///< plain decoding first, whether asked for or not
    bool plain_asked_for = false;
    std::optional<Rollback> rollback;  ///< nothing: the fastest that fits, for each shape and batch
    Decoding decoding = Decoding::greedy;
    double context = 0.0;
};

/// Reads {"target", "platform", "drafter", "draft_tokens"? and "shapes"?, "verification"?, "context"?, "rollback"?,
/// "decoding"?}, each as `treeline estimate` and `sweep` take it.
ShapesPoint read_shapes_point(json::Reader at, Descriptions& descriptions);
/// "pythia-6.9b on rtx-4090, cuda-graph, drafter mamba-130m, context 1024"
std::string text_of(const ShapesPoint& point);

/// One shape, by its fastest way of verifying and rolling back that fits.
struct PricedShape {
    std::string label;
    double levels = 0.0;  ///< draft passes; 0 is plain decoding
    std::vector<double> accepted_exactly;
    std::vector<Seconds> round;  ///< by batch, in the order of the batches asked for
    std::vector<Seconds> draft;  ///< drafting within it
    std::vector<Seconds> plain;  ///< a step of plain decoding
};

/// Every shape at every batch with this acceptance, plain decoding first. Throws InputError with a sentence for each shape that
/// cannot run or does not fit.
std::vector<PricedShape> price_shapes(const ShapesPoint& point, const DraftAcceptance& acceptance,
                                      const std::vector<int>& batches);

/// P(exactly 0, 1, … drafts accepted) under `key`. Rounded values may miss 1 by 0.001 and are brought to it; what misses it by
/// more is a problem.
std::vector<double> read_accepted_exactly(json::Reader& at, std::string_view key);

}  // namespace treeline
