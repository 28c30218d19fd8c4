// A GGUF file is a target: its tensors say what the catalogue says of the same model, and hostile headers end in a sentence.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>

#include "gguf_bytes.h"
#include "models/catalogue.h"
#include "models/gguf/import.h"
#include "setups.h"
#include "sim/operations.h"
#include "text/input_error.h"

namespace gguf_test {

using namespace treeline;
using namespace treeline::models;
using treeline::testing::GgufBytes;
using treeline::testing::model;

namespace {

// Numbers of types in ggml.h.
constexpr std::uint32_t f32 = 0, q8_0 = 8, q4_k = 12, q6_k = 14;

sim::Model imported(const std::string& bytes) {
    std::istringstream stream(bytes);
    return gguf::import_header(gguf::read_header(stream, bytes.size(), "file.gguf"), "file");
}

std::string refusal(const std::string& bytes) {
    try {
        imported(bytes);
    } catch (const text::InputError& error) {
        REQUIRE(error.problems().size() == 1);
        return error.problems().front();
    }
    return "";
}

std::string block(int layer, const std::string& name) { return "blk." + std::to_string(layer) + "." + name; }

void add_ends(GgufBytes& file, std::uint64_t width, std::uint64_t vocabulary) {
    file.tensor("token_embd.weight", {width, vocabulary}, q4_k);
    file.tensor("output_norm.weight", {width}, f32);
    file.tensor("output.weight", {width, vocabulary}, q6_k);
}

void add_attention(GgufBytes& file, int layer, std::uint64_t width, std::uint64_t queries, std::uint64_t keys,
                   std::uint64_t head, std::uint64_t outputs = 0) {
    file.tensor(block(layer, "attn_norm.weight"), {width}, f32);
    file.tensor(block(layer, "attn_q.weight"), {width, queries}, q4_k);
    file.tensor(block(layer, "attn_k.weight"), {width, keys}, q4_k);
    file.tensor(block(layer, "attn_v.weight"), {width, keys}, q6_k);
    file.tensor(block(layer, "attn_output.weight"), {outputs > 0 ? outputs : queries, width}, q4_k);
    file.tensor(block(layer, "attn_q_norm.weight"), {head}, f32);
    file.tensor(block(layer, "attn_k_norm.weight"), {head}, f32);
    file.tensor(block(layer, "ffn_norm.weight"), {width}, f32);
}

/// Qwen3-8B as convert_hf_to_gguf.py writes it, down projections in Q6_K.
GgufBytes qwen3_8b() {
    GgufBytes file("qwen3");
    file.count("attention.head_count", 32);
    file.count("attention.head_count_kv", 8);
    file.tokens({"a", "b", "c"});
    add_ends(file, 4096, 151936);
    for (int layer = 0; layer < 36; ++layer) {
        add_attention(file, layer, 4096, 4096, 1024, 128);
        file.tensor(block(layer, "ffn_gate.weight"), {4096, 12288}, q4_k);
        file.tensor(block(layer, "ffn_up.weight"), {4096, 12288}, q4_k);
        file.tensor(block(layer, "ffn_down.weight"), {12288, 4096}, q6_k);
    }
    return file;
}

}  // namespace

TEST_CASE("a dense model's file says what its description says, in the types that it holds") {
    const sim::Model file = imported(qwen3_8b().bytes()), known = model("qwen3-8b");
    CHECK(sim::parameter_count(file) == sim::parameter_count(known));
    CHECK(file.vocabulary == known.vocabulary);
    CHECK(file.order.size() == 36);
    CHECK(file.notes.empty());
    const auto cached = [](const sim::Model& of) {
        return sim::caches_of(of, sim::uniform_precision(sim::NumberFormat::fp16), 1.0);
    };
    CHECK(cached(file).front().per_token == cached(known).front().per_token);
    // Two of the six parts of queries, keys and values: 4.5 bits of 5/6, 6.5625 of the values.
    const auto qkv =
        sim::weight_format(file.precision, file.kinds[0].name + ": qkv projection", file.precision.weights).storage;
    CHECK(qkv.per_element().value() * 8.0 == Approx((4.5 * 5.0 + 6.5625) / 6.0));
    CHECK(sim::weight_format(file.precision, "output: LM head", file.precision.embeddings).storage.per_element().value() *
              8.0 ==
          6.5625);
}

TEST_CASE("a mixture's file says how many experts there are and how wide they are") {
    GgufBytes file("qwen3moe");
    file.count("attention.head_count", 32);
    file.counts("attention.head_count_kv", std::vector<std::uint32_t>(48, 4));
    file.count("expert_used_count", 8);
    add_ends(file, 2048, 151936);
    for (int layer = 0; layer < 48; ++layer) {
        add_attention(file, layer, 2048, 4096, 512, 128);
        file.tensor(block(layer, "ffn_gate_inp.weight"), {2048, 128}, f32);
        file.tensor(block(layer, "ffn_gate_exps.weight"), {2048, 768, 128}, q4_k);
        file.tensor(block(layer, "ffn_up_exps.weight"), {2048, 768, 128}, q4_k);
        file.tensor(block(layer, "ffn_down_exps.weight"), {768, 2048, 128}, q6_k);
    }
    const sim::Model found = imported(file.bytes()), known = model("qwen3-30b-a3b");
    CHECK(sim::parameter_count(found) == sim::parameter_count(known));
    CHECK(sim::active_body_parameters(found) == sim::active_body_parameters(known));
    CHECK(found.precision.experts.per_element().value() * 8.0 == Approx((2.0 * 4.5 + 6.5625) / 3.0));
    CHECK(found.mtp_layers == 0);
    CHECK_FALSE(found.max_context);
}

TEST_CASE("layers of a delta rule beside attention with a gate, and a layer for multi-token prediction") {
    GgufBytes file("qwen35");
    file.count("attention.head_count", 24);
    file.count("attention.head_count_kv", 4);
    file.count("ssm.time_step_rank", 48);
    file.count("ssm.group_count", 16);
    file.count("ssm.state_size", 128);
    file.count("nextn_predict_layers", 1);
    add_ends(file, 5120, 248320);
    for (int layer = 0; layer < 65; ++layer) {
        if (layer % 4 == 3 || layer == 64) {
            add_attention(file, layer, 5120, 2 * 24 * 256, 4 * 256, 256, 24 * 256);  // a gate beside the queries
        } else {
            file.tensor(block(layer, "attn_norm.weight"), {5120}, f32);
            file.tensor(block(layer, "attn_qkv.weight"), {5120, 10240}, q4_k);
            file.tensor(block(layer, "attn_gate.weight"), {5120, 6144}, q4_k);
            file.tensor(block(layer, "ssm_alpha.weight"), {5120, 48}, q8_0);
            file.tensor(block(layer, "ssm_beta.weight"), {5120, 48}, q8_0);
            file.tensor(block(layer, "ssm_conv1d.weight"), {4, 10240}, f32);
            file.tensor(block(layer, "ssm_a"), {48}, f32);
            file.tensor(block(layer, "ssm_norm.weight"), {128}, f32);
            file.tensor(block(layer, "ssm_out.weight"), {6144, 5120}, q4_k);
            file.tensor(block(layer, "ffn_norm.weight"), {5120}, f32);
        }
        file.tensor(block(layer, "ffn_gate.weight"), {5120, 17408}, q4_k);
        file.tensor(block(layer, "ffn_up.weight"), {5120, 17408}, q4_k);
        file.tensor(block(layer, "ffn_down.weight"), {17408, 5120}, q6_k);
    }
    const sim::Model found = imported(file.bytes()), known = model("qwen3.5-27b");
    CHECK(found.order.size() == 64);
    CHECK(found.mtp_layers == 1);
    CHECK(found.vocabulary == known.vocabulary);
    CHECK(static_cast<double>(sim::body_parameters(found)) ==
          Approx(static_cast<double>(sim::body_parameters(known))).epsilon(0.001));
    CHECK(sim::recurrent_memory(found, known.precision, 1.0).state == sim::recurrent_memory(known, known.precision, 1.0).state);
}

TEST_CASE("a file on disk is a model by its name, and so are its parts") {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "treeline_gguf_test";
    std::filesystem::create_directories(folder);
    const std::filesystem::path path = folder / "Qwen3-8B-UD-Q4_K_XL.gguf";
    const std::string bytes = qwen3_8b().bytes();
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const auto described = load_model(treeline::testing::source_folder() / "models", path.string());
    CHECK(described.value.name == "qwen3-8b");
    CHECK(described.provenance.size() == 1);
    std::filesystem::remove_all(folder);
}

TEST_CASE("hostile and foreign files are refused in one sentence") {
    const std::string whole = qwen3_8b().bytes();
    CHECK(refusal(whole.substr(0, whole.size() / 2)).find("ends within its header") != std::string::npos);
    CHECK(refusal("{\"a\": 1}").find("is not a GGUF file") != std::string::npos);
    CHECK(refusal(qwen3_8b().bytes(1)).find("version 1") != std::string::npos);
    std::string many = whole;
    many.replace(8, 8, std::string(8, '\x7f'));  // tensors
    CHECK(refusal(many).find("tensors") != std::string::npos);
    GgufBytes odd("llama");
    odd.tensor("token_embd.weight", {64, 64}, 777);
    CHECK(refusal(odd.bytes()).find("type 777") != std::string::npos);
    GgufBytes empty("clip");
    CHECK(refusal(empty.bytes()).find("token_embd.weight") != std::string::npos);
    GgufBytes rwkv("rwkv7");
    add_ends(rwkv, 64, 64);
    rwkv.tensor("blk.0.time_mix_w1.weight", {64, 64}, q8_0);
    CHECK(refusal(rwkv.bytes()).find("RWKV") != std::string::npos);
    GgufBytes far("llama");
    add_ends(far, 64, 64);
    far.tensor("blk.4000000000.attn_q.weight", {64, 64}, q8_0);
    CHECK(refusal(far.bytes()).find("of no layer") != std::string::npos);
}

}  // namespace gguf_test
