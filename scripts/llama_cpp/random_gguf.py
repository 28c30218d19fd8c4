#!/usr/bin/env python3
"""A GGUF file with the shapes of a model of the catalogue and random weights, for timing llama.cpp without a download.

    scripts/llama_cpp/random_gguf.py models/qwen3-8b.json q4_k_m /dev/shm/qwen3-8b.gguf

Time of a step does not depend on what the weights are (of experts on how evenly a router spreads tokens: random ones spread them almost
evenly). Reads models of attention, gated delta layers, MLPs and mixtures of experts (architectures qwen3, qwen3moe and qwen35 of
llama.cpp, the MTP layer included) and writes q4_k_m, q8_0 and f16 with the types that llama-quantize gives each tensor.
"""
import json
import random
import struct
import sys

# Bytes and weights of a block of each type, its number in GGUF, and where a block's scales lie (fp16, offset in bytes).
TYPES = {"f32": (4, 1, 0, []), "f16": (2, 1, 1, []), "q8_0": (34, 32, 8, [0]), "q4_k": (144, 256, 12, [0, 2]), "q6_k": (210, 256, 14, [208])}
FILE_TYPES = {"f16": 1, "q8_0": 7, "q4_k_m": 15}
UINT32, FLOAT32, BOOL, STRING, ARRAY = 4, 6, 7, 8, 9
ALIGNMENT = 32


def more_bits(index, count):
    """Whether llama-quantize gives value and down projections of this layer six bits in q4_k_m."""
    return index < count // 8 or index >= 7 * count // 8 or (index - count // 8) % 3 == 2


class Shapes:
    """Tensors (name, dimensions from the fastest one, type) and metadata of a model in llama.cpp's names."""

    def __init__(self, model, quantisation):
        self.model, self.quantisation, self.tensors = model, quantisation, []
        layers = [model["layers"][name]["blocks"] for group in model["order"] for name in group["layers"] * group["repeat"]]
        known = {"attention", "gated_delta", "mlp", "mixture_of_experts"}
        if unknown := {kind for blocks in layers for block in blocks for kind in block} - known:
            sys.exit(f"{model['name']}: layers of {', '.join(sorted(unknown))} are not written here, only {', '.join(sorted(known))}")
        self.mtp = model.get("mtp_layers", 0)
        self.mixture = any("mixture_of_experts" in blocks[1] for blocks in layers)
        self.delta = next((blocks[0]["gated_delta"] for blocks in layers if "gated_delta" in blocks[0]), None)
        self.attention = next(blocks[0]["attention"] for blocks in layers if "attention" in blocks[0])
        self.feed_forward = layers[0][1]
        self.architecture = "qwen35" if self.delta else "qwen3moe" if self.mixture else "qwen3"
        if self.delta and self.mixture:
            sys.exit("hybrid mixtures are not written here")
        self.layers = layers + [next(blocks for blocks in layers if "attention" in blocks[0])] * self.mtp
        self.values, self.downs = 0, 0
        self.add_all(model["width"], model["vocabulary_size"])

    def kind(self, role):
        """Type of a matrix; `role` is "value", "down", "output" or anything else."""
        if self.quantisation != "q4_k_m":
            return self.quantisation
        if role == "output":
            return "q6_k"
        if role == "value":
            self.values += 1
            return "q6_k" if more_bits(self.values - 1, self.values_in_all) else "q4_k"
        if role == "down":
            self.downs += 1
            return "q6_k" if more_bits(self.downs - 1, len(self.layers)) else "q4_k"
        return "q4_k"

    def matrix(self, name, dimensions, role=""):
        self.tensors.append((name, dimensions, self.kind(role)))

    def vector(self, name, *dimensions):
        self.tensors.append((name, list(dimensions), "f32"))

    def add_all(self, width, vocabulary):
        self.values_in_all = len(self.layers)
        tied = self.model["tied_embeddings"]
        self.matrix("token_embd.weight", [width, vocabulary], "output" if tied else "")
        self.vector("output_norm.weight", width)
        if not tied:
            self.matrix("output.weight", [width, vocabulary], "output")
        for index, (mixer, feed_forward) in enumerate(self.layers):
            prefix = f"blk.{index}."
            self.vector(prefix + "attn_norm.weight", width)
            if "attention" in mixer:
                self.add_attention(prefix, width, mixer["attention"])
            else:
                self.add_delta(prefix, width, mixer["gated_delta"])
            self.vector(prefix + ("post_attention_norm.weight" if self.delta else "ffn_norm.weight"), width)
            self.add_feed_forward(prefix, width, feed_forward)
            if index >= len(self.layers) - self.mtp:
                self.matrix(prefix + "nextn.eh_proj.weight", [2 * width, width])
                for name in ("enorm", "hnorm", "shared_head_norm"):
                    self.vector(prefix + f"nextn.{name}.weight", width)

    def add_attention(self, prefix, width, attention):
        dim, queries = attention["head_dim"], attention["query_heads"]
        self.matrix(prefix + "attn_q.weight", [width, dim * queries * (2 if attention.get("output_gate") else 1)])
        self.matrix(prefix + "attn_k.weight", [width, dim * attention["kv_heads"]])
        self.matrix(prefix + "attn_v.weight", [width, dim * attention["kv_heads"]], "value")
        self.matrix(prefix + "attn_output.weight", [dim * queries, width])
        self.vector(prefix + "attn_q_norm.weight", dim)
        self.vector(prefix + "attn_k_norm.weight", dim)

    def add_delta(self, prefix, width, delta):
        value = delta["value_heads"] * delta["value_dim"]
        mixed = 2 * delta["key_heads"] * delta["key_dim"] + value
        self.matrix(prefix + "attn_qkv.weight", [width, mixed], "value")
        self.matrix(prefix + "attn_gate.weight", [width, value])
        self.vector(prefix + "ssm_conv1d.weight", delta["conv_width"], mixed)
        self.vector(prefix + "ssm_dt.bias", delta["value_heads"])
        self.vector(prefix + "ssm_a", delta["value_heads"])
        self.matrix(prefix + "ssm_beta.weight", [width, delta["value_heads"]])
        self.matrix(prefix + "ssm_alpha.weight", [width, delta["value_heads"]])
        self.vector(prefix + "ssm_norm.weight", delta["value_dim"])
        self.matrix(prefix + "ssm_out.weight", [value, width])

    def add_feed_forward(self, prefix, width, feed_forward):
        if "mlp" in feed_forward:
            hidden, experts, suffix = feed_forward["mlp"]["hidden"], [], ""
        else:
            mixture = feed_forward["mixture_of_experts"]
            hidden, experts, suffix = mixture["hidden"], [mixture["experts"]], "_exps"
            self.vector(prefix + "ffn_gate_inp.weight", width, *experts)
        self.matrix(prefix + f"ffn_gate{suffix}.weight", [width, hidden, *experts])
        self.matrix(prefix + f"ffn_down{suffix}.weight", [hidden, width, *experts], "down")
        self.matrix(prefix + f"ffn_up{suffix}.weight", [width, hidden, *experts])

    def metadata(self):
        """(key, type, value); array values are (type of the elements, elements)."""
        attention, architecture = self.attention, self.architecture
        entries = [("general.architecture", STRING, architecture), ("general.name", STRING, self.model["name"]),
                   ("general.file_type", UINT32, FILE_TYPES[self.quantisation])]
        numbers = {"context_length": 131072, "embedding_length": self.model["width"], "block_count": len(self.layers),
                   "attention.head_count": attention["query_heads"], "attention.head_count_kv": attention["kv_heads"],
                   "attention.key_length": attention["head_dim"], "attention.value_length": attention["head_dim"]}
        if self.mixture:
            mixture = self.feed_forward["mixture_of_experts"]
            numbers |= {"feed_forward_length": mixture["hidden"], "expert_count": mixture["experts"], "expert_used_count": mixture["active"],
                        "expert_feed_forward_length": mixture["hidden"]}
        else:
            numbers["feed_forward_length"] = self.feed_forward["mlp"]["hidden"]
        if self.mtp:
            numbers["nextn_predict_layers"] = self.mtp
        if self.delta:
            delta, dim = self.delta, attention["head_dim"]
            numbers |= {"ssm.conv_kernel": delta["conv_width"], "ssm.state_size": delta["key_dim"], "ssm.group_count": delta["key_heads"],
                        "ssm.time_step_rank": delta["value_heads"], "ssm.inner_size": delta["value_heads"] * delta["value_dim"],
                        "full_attention_interval": 4, "rope.dimension_count": dim // 4}
            entries.append((f"{architecture}.rope.dimension_sections", ARRAY, (UINT32, [11, 11, 10, 0])))
        entries += [(f"{architecture}.{key}", UINT32, value) for key, value in numbers.items()]
        entries += [(f"{architecture}.attention.layer_norm_rms_epsilon", FLOAT32, 1e-6), (f"{architecture}.rope.freq_base", FLOAT32, 1e6)]
        return entries + vocabulary_of(self.model["vocabulary_size"])


def vocabulary_of(size):
    """A byte-level vocabulary: 256 bytes as GPT-2 writes them, then words that no text holds, and an end of text."""
    shown = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    bytes_ = [chr(byte) for byte in shown] + [chr(256 + index) for index in range(256 - len(shown))]
    tokens = bytes_ + [f"<w{index}>" for index in range(size - 257)] + ["<|endoftext|>"]
    kinds = [1] * (size - 1) + [3]
    return [("tokenizer.ggml.model", STRING, "gpt2"), ("tokenizer.ggml.pre", STRING, "qwen2"), ("tokenizer.ggml.tokens", ARRAY, (STRING, tokens)),
            ("tokenizer.ggml.token_type", ARRAY, (5, kinds)), ("tokenizer.ggml.merges", ARRAY, (STRING, ["a b"])),
            ("tokenizer.ggml.eos_token_id", UINT32, size - 1), ("tokenizer.ggml.add_bos_token", BOOL, False)]


def packed(kind, value):
    if kind == STRING:
        text = value.encode()
        return struct.pack("<Q", len(text)) + text
    if kind == ARRAY:
        element, values = value
        body = b"".join(packed(element, each) for each in values) if element == STRING else struct.pack(f"<{len(values)}I", *values)
        return struct.pack("<IQ", element, len(values)) + body
    return struct.pack({UINT32: "<I", FLOAT32: "<f", BOOL: "<?"}[kind], value)


def bytes_of(dimensions, kind):
    count = 1
    for dimension in dimensions:
        count *= dimension
    size, weights, _, _ = TYPES[kind]
    return count // weights * size


def weights_pattern(kind, rng):
    """About 16 MB of random blocks of small weights; scales are fp16 of one size."""
    size, weights, _, scales = TYPES[kind]
    if kind == "f16":
        return b"".join(struct.pack("<e", rng.gauss(0, 0.02)) for _ in range(1 << 16)) * 128
    blocks = bytearray(rng.randbytes(size * 4096))
    for begin in range(0, len(blocks), size):
        for offset in scales:
            blocks[begin + offset:begin + offset + 2] = struct.pack("<e", 0.0003 if kind != "q6_k" else 0.00003)
    return bytes(blocks) * (1 + (16 << 20) // len(blocks))


def vector_bytes(name, count, rng):
    value = (lambda: -1.0 - rng.random()) if name.endswith("ssm_a") else (lambda: 1.0) if "norm" in name else (lambda: rng.gauss(0, 0.02))
    return struct.pack(f"<{count}f", *(value() for _ in range(count)))


def write(shapes, path):
    rng = random.Random(1)
    patterns = {kind: weights_pattern(kind, rng) for kind in {kind for _, _, kind in shapes.tensors if kind != "f32"}}
    entries = shapes.metadata()
    with open(path, "wb") as out:
        out.write(b"GGUF" + struct.pack("<IQQ", 3, len(shapes.tensors), len(entries)))
        for key, kind, value in entries:
            out.write(packed(STRING, key) + struct.pack("<I", kind) + packed(kind, value))
        offset = 0
        for name, dimensions, kind in shapes.tensors:
            out.write(packed(STRING, name) + struct.pack(f"<I{len(dimensions)}QIQ", len(dimensions), *dimensions, TYPES[kind][2], offset))
            offset += -(-bytes_of(dimensions, kind) // ALIGNMENT) * ALIGNMENT
        out.write(b"\0" * (-out.tell() % ALIGNMENT))
        for name, dimensions, kind in shapes.tensors:
            left = bytes_of(dimensions, kind)
            if kind == "f32":
                out.write(vector_bytes(name, left // 4, rng))
            else:
                pattern = patterns[kind]
                for _ in range(left // len(pattern)):
                    out.write(pattern)
                out.write(pattern[:left % len(pattern)])
            out.write(b"\0" * (-left % ALIGNMENT))


def main():
    if len(sys.argv) != 4 or sys.argv[2] not in FILE_TYPES:
        sys.exit(__doc__)
    try:
        with open(sys.argv[1]) as file:
            model = json.load(file)
        write(Shapes(model, sys.argv[2]), sys.argv[3])
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"{sys.argv[1]}: {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
