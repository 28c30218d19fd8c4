// GigaChat 3.5: gated delta-rule layers, latent attention between them, experts, a norm before and after each block.
#include "models/hugging_face/family.h"

namespace treeline::models::hugging_face {

void import_gigachat35(Reader& config, sim::Model& model) {
    const std::size_t layers = layer_count(config);
    const auto types = words_per_layer(config, "layer_types", layers);
    const std::vector<bool> listed = layer_set(config, "full_attention_layers", layers);
    const sim::GatedDelta delta = gated_delta(config);
    sim::LatentAttention attention = latent_attention(config);
    attention.output_gate = config.flag_or("gated_attention", false);
    const std::vector<bool> dense = dense_layers(config, layers);
    sim::MixtureOfExperts moe = mixture_of_experts(config);
    moe.router_bias = config.text_or("topk_method", "") == "noaux_tc";
    const sim::Mlp mlp = gated_mlp(config);
    const sim::Count norms = config.text_or("layernorm_type", "pre") == "pre_post" ? 2 : 1;
    for (std::size_t i = 0; i < layers; ++i) {
        const bool linear = types ? (*types)[i] == "linear_attention" : !listed[i];
        const std::string name = std::string(linear ? "delta" : "attention") + (dense[i] ? ", dense" : ", experts");
        add_layer(model, name,
                  {linear ? block(delta, norms, norms) : block(attention, norms, norms),
                   dense[i] ? block(mlp, norms, norms) : block(moe, norms, norms)});
    }
}

}  // namespace treeline::models::hugging_face
