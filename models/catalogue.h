// The catalogue of model descriptions, and the one way to get a model from what a user types.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "json/described.h"
#include "sim/model.h"

namespace treeline::models {

/// Names of the descriptions in the folder `catalogue`, in alphabetical order. Throws InputError when the folder cannot be
/// read.
std::vector<std::string> model_names(const std::filesystem::path& catalogue);

/// Those and the names of aliases (models/aliases): all names that load_model() takes, in alphabetical order.
std::vector<std::string> all_model_names(const std::filesystem::path& catalogue);

/// A model by catalogue name ("llama-3-8b"), by an alias of it (models/aliases), by its name on Hugging Face
/// ("Qwen/Qwen3.8-27B", looked up by its last part, or as the repository that a description states), or by path to a
/// description of our own, to a Hugging Face config.json (told by its keys), or to a folder that holds a config.json. Anything
/// else with a slash, with the ending .json, or that exists as a file is a path. Throws InputError with every problem of the
/// file, or with the nearest names and the command that lists all.
json::Described<sim::Model> load_model(const std::filesystem::path& catalogue, const std::string& name_or_path);

/// The catalogue's spelling of a model's name without its owner and format, and the word of the format: "Qwen/Qwen3-8B-FP8" is
/// {"qwen3-8b", "fp8"}, and so "Qwen3-8B-Q4_K_M-00001-of-00002.gguf" is {"qwen3-8b", "q4_k_m"}; an empty word where it names
/// none.
std::pair<std::string, std::string> model_and_format(const std::string& name);

/// The same of a name that the catalogue has only without its format: what load_model() takes, and the word of the format,
/// which is empty where the name is known or a path, or where it is not known either way.
std::pair<std::string, std::string> known_model_and_format(const std::filesystem::path& catalogue, const std::string& name);

/// load_model() for answers about a model, whatever format its name adds: "Qwen/Qwen3-8B-FP8" is qwen3-8b.
json::Described<sim::Model> load_model_of_any_format(const std::filesystem::path& catalogue, const std::string& name_or_path);

/// "Qwen/Qwen3-8B" of the address of its page on Hugging Face ("https://huggingface.co/Qwen/Qwen3-8B/tree/main"); any other
/// text as it is.
std::string without_address(const std::string& text);

/// The model of the catalogue that a repository names, in whatever format; nothing where it has none. No path is read.
std::optional<sim::Model> published_model(const std::filesystem::path& catalogue, const std::string& repository);

}  // namespace treeline::models
