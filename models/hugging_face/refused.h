// Architectures that are known and cannot be priced, with the reason.
#pragma once

#include <optional>
#include <string>

namespace treeline::models::hugging_face {

/// Why a class cannot be imported; nothing for one that is not known. `architecture` is a class name
/// ("T5ForConditionalGeneration") or a model type ("t5"). A config that sees images is no drafter, whatever its name.
std::optional<std::string> reason_to_refuse(const std::string& architecture, bool sees_images = false);

}  // namespace treeline::models::hugging_face
