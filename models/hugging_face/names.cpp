#include "models/hugging_face/names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <string_view>
#include <utility>

namespace treeline::models::hugging_face {

namespace {

bool take_off(std::string& name, std::string_view ending) {
    if (name.size() > ending.size() && name.ends_with(ending)) {
        name.erase(name.size() - ending.size());
        return true;
    }
    return false;
}

}  // namespace

std::string plain_family(const std::string& architecture) {
    std::string name;
    for (const char letter : architecture) {
        if (letter != '_' && letter != '-' && letter != '.') {
            name += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        }
    }
    for (const std::string_view ending :
         {"forconditionalgeneration", "thinkerforcausallm", "forcausallm", "lmheadmodel", "chatmodel"}) {
        if (take_off(name, ending)) {
            break;
        }
    }
    take_off(name, "model");
    for (const std::string_view ending : {"thinker", "sparse", "text"}) {
        take_off(name, ending);
    }
    // Model types in another order than the class.
    if (name == "hunyuanv1dense" || name == "hunyuanv1moe") {
        return name == "hunyuanv1dense" ? "hunyuandensev1" : "hunyuanmoev1";
    }
    return name;
}

std::string family_of_same_layers(const std::string& plain_name) {
    // From the classes' code: parameters of a layer equal those of the family for the same config.
    constexpr std::array<std::pair<std::string_view, std::string_view>, 30> same = {{
        {"axk1", "DeepseekV3"},
        {"axk2", "DeepseekV3"},
        {"bitnet", "Llama"},
        {"dots3", "Dots3Note"},
        {"dots3noteomni", "Dots3Note"},
        {"dotsocr", "Qwen2"},
        {"exaone45", "Exaone4"},
        {"gemma4unified", "Gemma4"},
        {"glmocr", "Glm4v"},
        {"hunyuanvl", "HunYuanDenseV1"},
        {"hyv4", "DeepseekV3"},
        {"instella", "Olmo2"},
        {"interns1pro", "Qwen3Moe"},
        {"iquestcoder", "Llama"},
        {"k2aurora", "K2Horizon"},
        {"keye", "Qwen3"},
        {"kormo", "Llama"},
        {"mimov2omni", "MiMoV2"},
        {"minimaxm3vl", "MiniMaxM3"},
        {"mistral4", "DeepseekV3"},
        {"nanbeige", "Llama"},
        {"nemotronhpuzzle", "NemotronH"},
        {"paddleocrvl", "Ernie4_5"},
        {"panguultramoe", "DeepseekV3"},
        {"param2moe", "BailingMoeV2"},
        {"rnj1", "Gemma3"},
        {"sarvammla", "DeepseekV3"},
        {"sarvammoe", "BailingMoeV2"},
        {"step3p7", "Step3p7Flash"},
        {"telechat3", "Llama"},
    }};
    const auto found = std::find_if(same.begin(), same.end(), [&](const auto& pair) { return pair.first == plain_name; });
    return found == same.end() ? std::string() : std::string(found->second);
}

std::string digits_of(const std::string& name) {
    std::string digits;
    std::copy_if(name.begin(), name.end(), std::back_inserter(digits),
                 [](unsigned char letter) { return std::isdigit(letter) != 0; });
    return digits;
}

bool one_edit_apart(const std::string& a, const std::string& b) {
    const std::string& shorter = a.size() < b.size() ? a : b;
    const std::string& longer = a.size() < b.size() ? b : a;
    if (longer.size() - shorter.size() > 1) {
        return false;
    }
    const auto [left, right] = std::mismatch(shorter.begin(), shorter.end(), longer.begin());
    if (shorter.size() < longer.size()) {
        return std::equal(left, shorter.end(), right + 1);
    }
    if (left == shorter.end()) {
        return true;
    }
    const bool swapped = left + 1 != shorter.end() && *left == *(right + 1) && *(left + 1) == *right &&
                         std::equal(left + 2, shorter.end(), right + 2);
    return swapped || std::equal(left + 1, shorter.end(), right + 1);
}

}  // namespace treeline::models::hugging_face
