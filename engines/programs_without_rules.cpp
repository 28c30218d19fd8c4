#include "engines/programs_without_rules.h"

#include <algorithm>
#include <array>
#include <utility>

namespace treeline::engines {
namespace {

using Named = std::pair<std::string_view, std::string_view>;

constexpr std::array<Named, 12> started_by = {{{"lmdeploy", "LMDeploy"},
                                               {"mlx_lm", "mlx_lm"},
                                               {"mlx_vlm", "mlx-vlm"},
                                               {"rapid-mlx", "Rapid-MLX"},
                                               {"omlx", "oMLX"},
                                               {"mtplx", "MTPLX"},
                                               {"ktransformers", "KTransformers"},
                                               {"tokenspeed", "TokenSpeed"},
                                               {"fastdeploy", "FastDeploy"},
                                               {"koboldcpp", "KoboldCpp"},
                                               {"text-generation-launcher", "TGI"},
                                               {"atom.entrypoints", "ATOM"}}};

constexpr std::array<Named, 8> told_by = {{{"draft_model_dir:", "TabbyAPI"},
                                           {"tabbyapi", "TabbyAPI"},
                                           {"draft_model_name:", "TabbyAPI"},
                                           {"draft_num_predict", "Ollama"},
                                           {"llm.prediction.speculativeDecoding", "LM Studio"},
                                           {"huggingface/text-generation-inference", "TGI"},
                                           {"docker model configure", "Docker Model Runner"},
                                           {"docker model run", "Docker Model Runner"}}};

}  // namespace

std::optional<std::string_view> program_without_rules(std::string_view text, const std::vector<std::string>& words) {
    for (const auto& [start, name] : started_by) {
        const bool starts = std::any_of(words.begin(), words.end(), [&, start = start](const std::string& word) {
            const std::string program = word.substr(word.rfind('/') + 1);  // npos + 1 is 0
            return program == start || program.starts_with(std::string(start) + ".");
        });
        if (starts) {
            return name;
        }
    }
    for (const auto& [key, name] : told_by) {
        if (text.find(key) != std::string_view::npos) {
            return name;
        }
    }
    return std::nullopt;
}

}  // namespace treeline::engines
