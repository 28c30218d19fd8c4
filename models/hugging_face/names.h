// Names of architectures, with what differs between classes of one family taken off.
#pragma once

#include <string>

namespace treeline::models::hugging_face {

/// "qwen3moe" of "Qwen3MoeForCausalLM", of "Qwen3MoeForConditionalGeneration" and of the model type "qwen3_moe";
/// "gemma3" of "gemma3_text" and "Gemma3TextModel".
std::string plain_family(const std::string& architecture);

/// Whether one letter changed, added, left out, or two swapped make one of the other.
bool one_edit_apart(const std::string& a, const std::string& b);

/// The family whose layers a class has, given its plain name ("dotsocr": Qwen2); empty where none is known.
std::string family_of_same_layers(const std::string& plain_name);

/// The digits of a name, in their order: its version and sizes.
std::string digits_of(const std::string& name);

}  // namespace treeline::models::hugging_face
