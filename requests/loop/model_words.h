// Names of models as llama.cpp's programs print them, and as people call files of results.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace treeline::requests {

/// Of llama-bench's words, an architecture with a size and a format ("qwen35moe 35B.A3B Q4_K - Medium"), how the catalogue may
/// call the model ("qwen3.5-35b-a3b", "qwen3.6-35b-a3b", …), and the word of the format ("q4_k_m"; empty where there is none).
/// No name for other words.
std::pair<std::vector<std::string>, std::string> names_of_bench_words(const std::string& words);

/// The name of a file without its ending, and what is before each of its separators, longest first: of
/// "Qwen3-8B-Q8_0__cuda.json" "Qwen3-8B-Q8_0__cuda", "Qwen3-8B-Q8_0_", …
std::vector<std::string> beginnings_of_file_name(const std::string& path);

}  // namespace treeline::requests
