#include "hardware/other_engines.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace treeline::hardware {
namespace {

/// Letters and digits in lower case.
std::string plain_engine(std::string_view name) {
    std::string plain;
    for (const char c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
            plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    return plain;
}

}  // namespace

std::optional<std::string> engine_spelled(const std::vector<std::string>& engines, const std::string& name) {
    std::string plain = plain_engine(name);
    plain = plain == "trtllm" ? "tensorrtllm" : plain;
    const auto found =
        std::find_if(engines.begin(), engines.end(), [&](const std::string& engine) { return plain_engine(engine) == plain; });
    return found == engines.end() ? std::nullopt : std::optional(*found);
}

std::string_view stack_within(const std::string& name) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 20> programs = {{{"ollama", "llama.cpp"},
                                                                                         {"lmstudio", "llama.cpp"},
                                                                                         {"koboldcpp", "llama.cpp"},
                                                                                         {"kobold", "llama.cpp"},
                                                                                         {"llamafile", "llama.cpp"},
                                                                                         {"llamaserver", "llama.cpp"},
                                                                                         {"llamaswap", "llama.cpp"},
                                                                                         {"llamacpppython", "llama.cpp"},
                                                                                         {"ikllamacpp", "llama.cpp"},
                                                                                         {"ikllama", "llama.cpp"},
                                                                                         {"gpt4all", "llama.cpp"},
                                                                                         {"jan", "llama.cpp"},
                                                                                         {"mlxlm", "mlx"},
                                                                                         {"mlxvlm", "mlx"},
                                                                                         {"omlx", "mlx"},
                                                                                         {"rapidmlx", "mlx"},
                                                                                         {"transformers", "eager"},
                                                                                         {"huggingface", "eager"},
                                                                                         {"hf", "eager"},
                                                                                         {"aphrodite", "vllm"}}};
    const std::string plain = plain_engine(name);
    const auto* found =
        std::find_if(programs.begin(), programs.end(), [&](const auto& program) { return program.first == plain; });
    return found == programs.end() ? std::string_view() : found->second;
}

}  // namespace treeline::hardware
