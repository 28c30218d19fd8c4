// Which layers of Gated DeltaNet share their keys among values in a way that kernels split.
#include <catch2/catch.hpp>

#include "sim/delta_layers.h"

namespace delta_layers_test {

using namespace treeline;
using namespace treeline::sim;

TEST_CASE("one, two or four value heads to a key head are split, other numbers are copied") {
    const auto of = [](Count keys, Count values) {
        GatedDelta delta;
        delta.key_heads = keys;
        delta.value_heads = values;
        LayerKind layer;
        layer.blocks = {{delta}};
        Model model;
        model.kinds = {layer};
        model.order = {0, 0, 0};
        const DeltaLayers layers = delta_layers(model);
        CHECK(layers.all == 3.0);
        return layers.copied;
    };
    CHECK(of(16, 16) == 0.0);
    CHECK(of(16, 32) == 0.0);
    CHECK(of(16, 64) == 0.0);
    CHECK(of(16, 48) == 3.0);
    CHECK(of(16, 128) == 3.0);
}

}  // namespace delta_layers_test
