#include "models/hugging_face/operation_modules.h"

namespace treeline::models::hugging_face {

namespace {

const Modules& block_modules(const sim::Attention&) {
    static const Modules modules = {{"qkv projection",
                                     {"self_attn.q_proj", "self_attn.qkv_proj", "mixer.q_proj", "attention.query_key_value",
                                      "self_attn.W_pack", "attention.wqkv", "attn.c_attn"}},
                                    {"index queries", {"self_attn.indexer.wq_b", "self_attn.index_q_proj"}},
                                    {"index projections", {"self_attn.indexer.wk", "self_attn.index_k_proj"}},
                                    {"output projection",
                                     {"self_attn.o_proj", "mixer.o_proj", "attention.dense", "self_attn.dense",
                                      "self_attn.out_proj", "attention.wo", "attn.c_proj"}}};
    return modules;
}

const Modules& block_modules(const sim::LatentAttention&) {
    static const Modules modules = {{"latent down-projections", {"self_attn.kv_a_proj_with_mqa", "self_attn.q_a_proj"}},
                                    {"query up-projection", {"self_attn.q_b_proj", "self_attn.q_proj"}},
                                    {"output gate", {"self_attn.g_proj"}},
                                    {"key-value up-projection", {"self_attn.kv_b_proj"}},
                                    {"index queries", {"self_attn.indexer.wq_b"}},
                                    {"index projections", {"self_attn.indexer.wk"}},
                                    {"output projection", {"self_attn.o_proj"}}};
    return modules;
}

const Modules& block_modules(const sim::CompressedAttention&) {
    static const Modules modules = {{"latent down-projections", {"attn.wq_a", "self_attn.q_a_proj"}},
                                    {"query up-projection", {"attn.wq_b", "self_attn.q_b_proj"}},
                                    {"compression", {}},
                                    {"index compression", {}},
                                    {"index queries", {"attn.indexer.wq_b", "self_attn.compressor.indexer.q_b_proj"}},
                                    {"index weights", {}},
                                    {"output down-projection", {"attn.wo_a", "self_attn.o_a_proj"}},
                                    {"output projection", {"attn.wo_b", "self_attn.o_b_proj"}}};
    return modules;
}

const Modules& block_modules(const sim::Mamba1&) {
    static const Modules modules = {{"in projection", {"mixer.in_proj", "mamba.in_proj"}},
                                    {"dt, B and C projection", {"mixer.x_proj", "mamba.x_proj"}},
                                    {"dt up-projection", {"mixer.dt_proj", "mamba.dt_proj"}},
                                    {"out projection", {"mixer.out_proj", "mamba.out_proj"}}};
    return modules;
}

const Modules& block_modules(const sim::Mamba2&) {
    static const Modules modules = {{"in projection", {"mixer.in_proj", "mamba.in_proj"}},
                                    {"out projection", {"mixer.out_proj", "mamba.out_proj"}}};
    return modules;
}

const Modules& block_modules(const sim::GatedDelta&) {
    static const Modules modules = {
        {"in projection", {"linear_attn.in_proj_qkv", "linear_attn.in_proj_qkvz", "self_attn.q_proj"}},
        {"gate down-projection", {"self_attn.g_a_proj"}},
        {"gate up-projection", {"self_attn.g_b_proj"}},
        {"decay down-projection", {"self_attn.f_a_proj"}},
        {"decay up-projection", {"self_attn.f_b_proj"}},
        {"out projection", {"linear_attn.out_proj", "self_attn.o_proj"}}};
    return modules;
}

const Modules& block_modules(const sim::Mlp&) {
    static const Modules modules = {
        {"gate and up projection",
         {"mlp.gate_proj", "mlp.gate_up_proj", "feed_forward.gate_proj", "feed_forward.w1", "mlp.w1"}},
        {"up projection", {"mlp.up_proj", "mixer.up_proj", "mlp.dense_h_to_4h", "mlp.fc1", "mlp.c_fc"}},
        {"down projection",
         {"mlp.down_proj", "mixer.down_proj", "feed_forward.down_proj", "feed_forward.w2", "mlp.w2", "mlp.dense_4h_to_h",
          "mlp.fc2", "mlp.c_proj"}}};
    return modules;
}

const Modules& block_modules(const sim::MixtureOfExperts&) {
    const auto shared = [](const std::string& gate, const std::string& plain) {
        return std::vector<std::string>{"mlp.shared_experts." + gate,
                                        "mlp.shared_expert." + gate,
                                        "mixer.shared_experts." + plain,
                                        "feed_forward.shared_expert." + gate,
                                        "block_sparse_moe.shared_experts." + gate,
                                        "share_expert." + gate,
                                        gate == "down_proj" ? "ffn.shared_experts.w2" : "ffn.shared_experts.w1"};
    };
    static const Modules modules = {{"router",
                                     {"mlp.gate", "mlp.router", "block_sparse_moe.gate", "mixer.gate", "router",
                                      "feed_forward.router", "moe.gate", "ffn.gate"}},
                                    {"latent down-projection", {"mixer.fc1_latent_proj"}},
                                    {"routed experts",
                                     {"mlp.experts.0.gate_proj", "block_sparse_moe.experts.0.w1", "mixer.experts.0.up_proj",
                                      "feed_forward.experts.0.gate_proj", "moe.gate_proj", "ffn.experts.0.w1"}},
                                    {"latent up-projection", {"mixer.fc2_latent_proj"}},
                                    {"shared expert gate and up projection", shared("gate_proj", "up_proj")},
                                    {"shared expert up projection", shared("up_proj", "up_proj")},
                                    {"shared expert down projection", shared("down_proj", "down_proj")}};
    return modules;
}

const Modules& block_modules(const sim::Projection&) {
    static const Modules modules = {{"projection", {}}};
    return modules;
}

const Modules& block_modules(const sim::LookupTable&) {
    static const Modules modules = {{"table look-up", {}}};
    return modules;
}

}  // namespace

const Modules& modules_of(const sim::BlockKind& block) {
    return std::visit([](const auto& kind) -> const Modules& { return block_modules(kind); }, block);
}

}  // namespace treeline::models::hugging_face
