#include "sim/fpga/resources.h"

#include <array>
#include <cmath>

#include "sim/fpga/pass.h"
#include "sim/vector_clones.h"

namespace treeline::sim::fpga {
namespace {

constexpr double uram_width = 72.0, uram_depth = 4096.0, bram_width = 36.0, bram_depth = 512.0;
constexpr double deepest_in_luts = 32.0;
constexpr double accumulator_bits = 24.0;
/// Entries of a FIFO between memory and a unit: some 150 to 250 ns of memory latency at 250 to 400 MHz.
constexpr double memory_fifo_depth = 64.0;

Resources operator+(const Resources& a, const Resources& b) {
    return {a.dsps + b.dsps, a.luts + b.luts, a.bram18s + b.bram18s, a.urams + b.urams};
}

struct Shape {
    double width_bits = 0.0, depth = 0.0;
};

enum BufferIndex { weight_tiles, activations, block, fifo, states_in, states_out, layer_state, activation_cache, buffer_count };

constexpr std::array<const char*, buffer_count> buffer_names = {
    "weight tiles from memory", "activations of a layer", "Linear to SSM blocks (two)", "tree FIFO",
    "states from memory",       "states to memory",       "states of layers",           "activation cache"};

/// Elements on chip: of the layers that are staged, or of all layers, including the drafter's if it replays.
double cached_activations(const Design& design, const BufferNeeds& needs) {
    constexpr double staged_layers = 2.0;
    if (!design.fabric.activation_cache_on_chip) {
        return staged_layers * needs.tokens * needs.target.replay_activations();
    }
    const double of_drafter =
        needs.plan == Backtracking::recompute ? needs.drafter.layers * needs.drafter.replay_activations() : 0.0;
    return needs.tokens * (needs.target.layers * needs.target.replay_activations() + of_drafter);
}

std::array<Shape, buffer_count> buffer_shapes(const Design& design, const BufferNeeds& needs) {
    const MambaShape& model = needs.target;
    const LinearUnit& linear = design.linear;
    const SsmUnit& ssm = design.ssm;
    std::array<Shape, buffer_count> shapes;
    shapes[weight_tiles] = {linear.tile_weights() * design.weights.bits_per_element(), memory_fifo_depth};
    shapes[activations] = {linear.tile_inputs * linear.tokens * linear.activation_bits,
                           std::ceil(model.inner / linear.tile_inputs)};
    shapes[block] = {linear.tile_outputs * linear.tokens * accumulator_bits, 2.0};
    shapes[fifo] = {needs.tokens > 1.0 ? ssm.lanes * ssm.on_chip_state_bits : 0.0, static_cast<double>(ssm.fifo_depth)};
    shapes[states_in] = {ssm.lanes * design.state.bits_per_element(), memory_fifo_depth};
    shapes[states_out] = shapes[states_in];
    shapes[layer_state] = {ssm.lanes * ssm.on_chip_state_bits, ssm.state_buffers * std::ceil(model.state_elements / ssm.lanes)};
    if (replays(needs.plan) && needs.tokens > 1.0) {
        shapes[activation_cache] = {ssm.lanes * design.fabric.activation_cache_bits,
                                    std::ceil(cached_activations(design, needs) / ssm.lanes)};
    }
    return shapes;
}

Resources memories_of_shape(const Shape& shape, bool has_urams) {
    Resources used;
    if (shape.width_bits <= 0.0 || shape.depth <= deepest_in_luts) {
        return used;
    }
    if (has_urams && shape.depth >= uram_depth / 2.0) {
        used.urams = std::ceil(shape.width_bits / uram_width) * std::ceil(shape.depth / uram_depth);
    } else {
        used.bram18s = std::ceil(shape.width_bits / bram_width) * std::ceil(shape.depth / bram_depth);
    }
    return used;
}

Resources linear_use(const Design& design) {
    const double multipliers = design.linear.multipliers();
    const double per_dsp = design.linear.products_per_dsp;
    return {per_dsp > 0.0 ? std::ceil(multipliers / per_dsp) : 0.0, multipliers * design.fabric.luts_per_multiplier, 0.0, 0.0};
}

Resources ssm_use(const Design& design) {
    return {design.ssm.lanes * design.ssm.dsps_per_lane, design.ssm.lanes * design.fabric.luts_per_lane, 0.0, 0.0};
}

std::string grouped(double count) {
    std::string digits = std::to_string(static_cast<long long>(std::ceil(count)));
    for (std::size_t at = digits.size(); at > 3; at -= 3) {
        digits.insert(at - 3, ",");
    }
    return digits;
}

void note_excess(double used, double available, const char* what, const Board& board, std::vector<std::string>& sentences) {
    if (used > available) {
        sentences.push_back("needs " + grouped(used) + " " + what + ", " + grouped(used - available) + " more than the " +
                            grouped(available) + " of " + board.name);
    }
}

}  // namespace

Resources memories_of(const Buffer& buffer, bool has_urams) {
    return memories_of_shape({buffer.width_bits, buffer.depth}, has_urams);
}

ResourceUse resource_use(const Design& design, const BufferNeeds& needs, bool has_urams) {
    ResourceUse use;
    use.units = {{"linear unit", linear_use(design)},
                 {"SSM unit", ssm_use(design)},
                 {"convolution", {design.convolution.dsps, 0.0, 0.0, 0.0}},
                 {"norms and special functions", {design.norm.dsps, 0.0, 0.0, 0.0}},
                 {"fixed: memory controller and other units", design.fabric.fixed}};
    const auto shapes = buffer_shapes(design, needs);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        if (shapes[i].width_bits > 0.0) {
            use.buffers.push_back({buffer_names[i], shapes[i].width_bits, shapes[i].depth});
            use.units.push_back({std::string("buffer: ") + buffer_names[i], memories_of_shape(shapes[i], has_urams)});
        }
    }
    for (const UnitUse& unit : use.units) {
        use.total = use.total + unit.used;
    }
    return use;
}

TREELINE_VECTOR_CLONES
Resources total_use(const Design& design, const BufferNeeds& needs, bool has_urams) {
    Resources total = linear_use(design) + ssm_use(design) + design.fabric.fixed;
    total.dsps += design.convolution.dsps + design.norm.dsps;
    for (const Shape& shape : buffer_shapes(design, needs)) {
        total = total + memories_of_shape(shape, has_urams);
    }
    return total;
}

double dsps_of(const Design& design) {
    return linear_use(design).dsps + ssm_use(design).dsps + design.fabric.fixed.dsps + design.convolution.dsps +
           design.norm.dsps;
}

std::vector<std::string> excess_of(const Resources& used, const Board& board) {
    std::vector<std::string> sentences;
    note_excess(used.dsps, board.resources.dsps, "DSPs", board, sentences);
    note_excess(used.luts, board.resources.luts, "LUTs", board, sentences);
    note_excess(used.bram18s, board.resources.bram18s, "BRAM18", board, sentences);
    note_excess(used.urams, board.resources.urams, "URAMs", board, sentences);
    return sentences;
}

Bytes memory_needed(const Design& design, const MambaShape& target, const MambaShape& drafter, const TreeWork& tree,
                    Backtracking plan) {
    const auto weights = [&](const MambaShape& model) {
        return (model.body_weights() + model.head_weights()) * design.weights.bits_per_element() / 8.0;
    };
    const bool target_stores = plan == Backtracking::naive || plan == Backtracking::store_states;
    const double target_states = 1.0 + (target_stores ? tree.nodes : 0.0);
    const double draft_states = 1.0 + (plan == Backtracking::recompute ? 0.0 : tree.nodes);
    const double state_bits = plan == Backtracking::naive ? uncompressed_state_bits : design.state.bits_per_element();
    const double states = target_states * target.all_state_elements() + draft_states * drafter.all_state_elements();
    return Bytes(weights(target) + weights(drafter) + states * state_bits / 8.0);
}

bool fits(const Resources& used, const Resources& available) {
    return used.dsps <= available.dsps && used.luts <= available.luts && used.bram18s <= available.bram18s &&
           used.urams <= available.urams;
}

}  // namespace treeline::sim::fpga
