#include "models/gguf/layer.h"

#include <algorithm>

#include "models/gguf/layer_builder.h"

namespace treeline::models::gguf {

const Tensor* LayerBuilder::find(std::string_view name) const {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? nullptr : found->second;
}

sim::Count LayerBuilder::outputs(std::string_view name) const {
    const Tensor* tensor = find(name);
    return tensor == nullptr ? 0 : tensor->extent(1);
}

sim::Count LayerBuilder::inputs(std::string_view name) const {
    const Tensor* tensor = find(name);
    return tensor == nullptr ? 0 : tensor->extent(0);
}

void LayerBuilder::take(const std::string& operation, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
        if (const Tensor* tensor = find(name)) {
            result.operations[operation].push_back(tensor);
            taken_.insert(std::string(name));
        }
    }
}

void LayerBuilder::add(const sim::BlockKind& kind, const char* name, sim::Count norms) {
    result.blocks.push_back({kind, norms > 0 ? 1 : 0, norms});
    if (*name != '\0') {
        result.name += (result.name.empty() ? "" : ", ") + std::string(name);
    }
}

sim::Count LayerBuilder::norms(std::initializer_list<std::string_view> starts) const {
    sim::Count vectors = 0;
    for (const auto& [name, tensor] : tensors_) {
        const bool meant = std::any_of(starts.begin(), starts.end(),
                                       [&name = name](std::string_view start) { return name.starts_with(start); });
        const bool is_vector = tensor->shape.size() == 1 && tensor->extent(0) == facts_.width;
        vectors += meant && is_vector && name.find("norm") != std::string::npos ? 1 : 0;
    }
    return vectors;
}

void LayerBuilder::feed_forward() {
    const sim::Count vectors = norms({"ffn_norm", "ffn_pre_norm", "post_ffw_norm", "ffn_post_norm", "layer_output_norm"});
    if (const Tensor* router = find("ffn_gate_inp.weight")) {
        sim::MixtureOfExperts moe;
        const char* up = has("ffn_up_exps.weight") ? "ffn_up_exps.weight" : "ffn_gate_up_exps.weight";
        moe.experts = router->extent(1);
        moe.active = facts_.count("expert_used_count", number_);
        moe.gated = has("ffn_gate_exps.weight") || has("ffn_gate_up_exps.weight");
        moe.hidden = outputs(up) / (has("ffn_gate_up_exps.weight") ? 2 : 1);
        moe.latent = inputs(up) == facts_.width ? 0 : inputs(up);
        moe.shared_hidden = outputs("ffn_up_shexp.weight");
        moe.shared_gate = has("ffn_gate_inp_shexp.weight");
        moe.router_bias = has("exp_probs_b.bias") || has("ffn_gate_inp.bias");
        moe.expert_bias = has("ffn_up_exps.bias");
        take("router", {"ffn_gate_inp.weight", "ffn_gate_inp_shexp.weight"});
        take("routed experts",
             {"ffn_gate_exps.weight", "ffn_up_exps.weight", "ffn_gate_up_exps.weight", "ffn_down_exps.weight"});
        take(moe.gated ? "shared expert gate and up projection" : "shared expert up projection",
             {"ffn_gate_shexp.weight", "ffn_up_shexp.weight"});
        take("shared expert down projection", {"ffn_down_shexp.weight"});
        take("latent down-projection", {"ffn_latent_down.weight"});
        take("latent up-projection", {"ffn_latent_up.weight"});
        add(moe, "experts", vectors);
    }
    if (const Tensor* down = find("ffn_down.weight")) {
        sim::Mlp mlp;
        mlp.hidden = down->extent(0);
        mlp.gated = has("ffn_gate.weight") || outputs("ffn_up.weight") == 2 * mlp.hidden;
        mlp.bias = has("ffn_down.bias");
        take(mlp.gated ? "gate and up projection" : "up projection", {"ffn_gate.weight", "ffn_up.weight"});
        take("down projection", {"ffn_down.weight"});
        add(mlp, "dense", has("ffn_gate_inp.weight") ? 0 : vectors);
    }
}

void LayerBuilder::others() {
    for (const auto& [name, tensor] : tensors_) {
        const bool matrix = tensor->shape.size() > 1 && name.ends_with(".weight") && !taken_.contains(name) &&
                            tensor->extent(0) > 1 && tensor->extent(1) > 1;
        if (matrix) {
            const sim::Count rows = static_cast<sim::Count>(tensor->elements() / static_cast<double>(tensor->extent(0)));
            add(sim::Projection{tensor->extent(0), rows, false}, "", 0);
            take("projection", {name});
            result.others.push_back(name);
        }
    }
}

namespace {

constexpr double largest_count = 1e9;

}  // namespace

std::optional<double> ModelFacts::number(std::string_view key) const {
    return metadata.number(architecture + "." + std::string(key));
}

std::optional<double> ModelFacts::number(std::string_view key, std::size_t layer) const {
    return metadata.number_of_layer(architecture + "." + std::string(key), layer);
}

sim::Count ModelFacts::count(std::string_view key, std::size_t layer) const {
    const double value = number(key, layer).value_or(0.0);
    return value >= 0.0 && value <= largest_count ? static_cast<sim::Count>(value) : 0;
}

ImportedLayer import_layer(const LayerTensors& tensors, const ModelFacts& facts, std::size_t layer) {
    LayerBuilder imported(tensors, facts, layer);
    imported.mixers();
    const bool mixes = !imported.result.blocks.empty();
    imported.feed_forward();
    imported.others();
    ImportedLayer result = std::move(imported.result);
    if (!mixes && result.operations.empty()) {
        result.problem = "holds no block that is known";
    }
    for (const auto& [name, tensor] : tensors) {
        if (name.starts_with("time_mix") || name.starts_with("channel_mix")) {
            result.problem = "is of RWKV, for which there is no block";
        }
        result.structure += name;
        for (const std::uint64_t extent : tensor->shape) {
            result.structure += ":" + std::to_string(extent);
        }
        result.structure += ";";
    }
    for (const sim::Block& block : result.blocks) {
        if (const auto* attention = std::get_if<sim::Attention>(&block.kind)) {
            result.structure += std::to_string(attention->query_heads) + "/" + std::to_string(attention->kv_heads) + "/" +
                                (attention->reach.window == sim::unlimited ? "all" : "window");
        }
    }
    return result;
}

}  // namespace treeline::models::gguf
