// A model described by its GGUF file: layers from the shapes of its tensors, formats from their types.
#pragma once

#include <filesystem>
#include <string>

#include "models/gguf/header.h"
#include "sim/model.h"

namespace treeline::models::gguf {

/// The model behind a header. Throws InputError where a layer is of a kind for which there is no block; notes say what is
/// left out.
sim::Model import_header(const Header& header, const std::string& name);

/// The same of a file and its parts, called as the file is, its quantisation left out: "qwen3-8b" of "Qwen3-8B-Q4_K_M.gguf".
sim::Model import_file(const std::filesystem::path& path);

}  // namespace treeline::models::gguf
