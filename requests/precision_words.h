// Words for how a checkpoint, or one kind of tensor, is stored: formats of engines, quantisations of GGUF files, widths of MLX
// and of ExLlamaV3.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/precision.h"

namespace treeline::requests {

/// What a whole checkpoint holds: "fp8", "nvfp4", "Q5_K_M", "UD-Q4_K_XL", "mlx-6bit-g32", "6-bit", "exl3-4.05bpw"; capital
/// letters do not matter. `published` says which 16-bit format holds everything that is not quantised. Nothing for a word that
/// is none of these.
std::optional<sim::Precision> precision_of_word(const std::string& word, const sim::Precision& published);

/// Why an engine ("vllm", "llama.cpp") loads no checkpoint that the word names, as the end of a sentence about it; empty where
/// it may. A word that several call a format by (int4) names no checkpoint in particular.
std::string loading_problem(const std::string& word, std::string_view engine);

/// Whether a word names a quantisation of GGUF files.
bool names_gguf(const std::string& word);

/// One kind of tensor: a format, a type of llama.cpp ("q5_k") or a width ("6bit").
std::optional<sim::Storage> storage_of_word(const std::string& word);

/// What follows a word that is not known: the nearest ones, and which kinds there are.
std::string other_precisions(const std::string& word);

}  // namespace treeline::requests
