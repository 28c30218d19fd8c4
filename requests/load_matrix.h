// Matrices of loads that people write for their benchmarks ("batch_sizes: [1, 8, 32]" beside a model), in YAML or JSON. They
// hold nothing measured and are no input of ours, but say what is asked.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "json/reader.h"

namespace treeline::requests {

/// "is a matrix of loads to measure; as a question it is `treeline recommend --target … --concurrency 1,8,32 …`", to follow a
/// file's name; empty where a tree is none. A key is known by what flag_here knows it as, in singular or plural.
std::string matrix_of_loads(const nlohmann::ordered_json& tree);

/// The same of a text, in YAML or JSON; empty where it is neither.
std::string matrix_in_text(const std::string& text);

/// Throws that sentence as an InputError where the file holds a matrix. Of a file that cannot be read nothing is said.
void refuse_matrix(const std::string& file);

/// The document of a file; of one that is no JSON but a matrix in YAML, the same exception.
json::Document load_question(const std::string& file);

}  // namespace treeline::requests
