#include "random_setup.h"

#include <cmath>
#include <stdexcept>

namespace treeline::testing {
namespace {

using namespace sim;

Attention attention(Draws& draw) {
    Attention block;
    block.kv_heads = draw.power(0, 4);
    block.query_heads = block.kv_heads * draw.power(0, 3);
    block.head_dim = draw.power(5, 8);
    block.qkv_bias = draw.flag();
    if (draw.flag()) {
        block.reach.window = draw.between(16.0, 8192.0);
    }
    return block;
}

LatentAttention latent(Draws& draw) {
    LatentAttention block;
    block.heads = draw.power(2, 7);
    block.q_lora_rank = draw.flag() ? draw.power(7, 11) : 0;
    block.kv_lora_rank = draw.power(7, 9);
    block.nope_dim = draw.power(5, 7);
    block.rope_dim = draw.power(5, 6);
    block.value_dim = draw.power(5, 7);
    return block;
}

Mamba2 mamba(Draws& draw) {
    Mamba2 block;
    block.groups = draw.power(0, 3);
    block.heads = block.groups * draw.power(0, 4);
    block.head_dim = draw.power(5, 7);
    block.state = draw.power(4, 8);
    block.conv_width = 4;
    block.chunk = 256;
    return block;
}

MixtureOfExperts mixture(Draws& draw) {
    MixtureOfExperts block;
    block.experts = draw.power(2, 8);
    block.active = std::min(block.experts, draw.power(0, 3));
    block.hidden = draw.power(7, 12);
    block.shared_hidden = draw.flag() ? draw.power(7, 12) : 0;
    block.shared_gate = block.shared_hidden > 0 && draw.flag();
    block.gated = draw.flag();
    return block;
}

Block mixer(Draws& draw) {
    switch (draw.below(4)) {
        case 0:
            return {mamba(draw)};
        case 1:
            return {latent(draw)};
        default:
            return {attention(draw)};
    }
}

Block feed_forward(Draws& draw) {
    if (draw.flag()) {
        return {mixture(draw)};
    }
    Mlp block;
    block.hidden = draw.power(8, 15);
    block.gated = draw.flag();
    return {block};
}

Model random_model(Draws& draw) {
    Model model;
    model.name = "random";
    model.vocabulary = "random";
    model.vocabulary_size = draw.power(8, 18);
    model.width = draw.power(7, 13);
    model.tied_embeddings = draw.flag();
    const std::size_t kinds = 1 + static_cast<std::size_t>(draw.below(3));
    for (std::size_t kind = 0; kind < kinds; ++kind) {
        model.kinds.push_back({"kind " + std::to_string(kind), {mixer(draw), feed_forward(draw)}, 0});
        model.order.insert(model.order.end(), 1 + static_cast<std::size_t>(draw.below(40)), kind);
    }
    model.precision = checkpoint_precision(NumberFormat::bf16, NumberFormat::bf16);
    return model;
}

Device random_device(Draws& draw) {
    Device device;
    device.name = device.title = "random";
    device.bandwidth = BytesPerSecond(draw.between(5e10, 2e13));
    for (FlopsPerSecond& peak : device.peak) {
        peak = FlopsPerSecond(device.bandwidth.value() * draw.between(4.0, 3000.0));
    }
    device.memory = device.bandwidth * Seconds(0.05);  // whether a model fits is no subject here
    device.cache = Bytes(draw.between(1e6, 1e9));
    Interconnect link;
    link.name = "link";
    link.bandwidth = BytesPerSecond(draw.between(1e10, 2e12));
    link.latency = Seconds(draw.between(1e-7, 1e-5));
    device.interconnects = {link};
    return device;
}

}  // namespace

double Draws::between(double low, double high) { return low * std::pow(high / low, below(256) / 255.0); }

RandomPoint random_point(std::string_view bytes) {
    Draws draw(bytes);
    RandomPoint result;
    RoundSetup& setup = result.setup;
    setup.target = random_model(draw);
    setup.precision = setup.target.precision;
    setup.platform.device = random_device(draw);
    setup.platform.stack.name = setup.platform.stack.title = "random";
    setup.platform.stack.passes.host_per_pass = Seconds(draw.between(1e-7, 1e-3));
    const int drafts = draw.below(9);
    setup.speculations = chains_up_to(drafts);
    if (drafts > 0) {
        Model small = random_model(draw);
        small.vocabulary_size = setup.target.vocabulary_size;
        setup.drafter = IndependentDrafter{small, small.precision};
        setup.acceptance = Acceptance::geometric(draw.below(101) / 100.0);
    }
    setup.rollback = rollbacks_for(setup.target).front();
    setup.prompt_tokens = draw.below(256);
    result.point = {drafts, draw.between(1.0, 512.0), draw.between(1.0, 100'000.0)};
    const std::vector<std::string> problems = problems_of(setup);
    if (!problems.empty()) {
        throw std::logic_error("a random setup has a problem: " + problems.front());
    }
    return result;
}

}  // namespace treeline::testing
