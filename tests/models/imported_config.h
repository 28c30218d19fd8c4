// Configs of Hugging Face as small documents, for the tests of their import.
#pragma once

#include <stdexcept>
#include <string>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "models/catalogue.h"
#include "models/hugging_face/import.h"
#include "sim/operations.h"
#include "source_folder.h"
#include "text/input_error.h"

namespace treeline::testing {

using Json = nlohmann::ordered_json;

inline sim::Model imported(Json config) {
    json::Document document = json::Document::of(std::move(config), "config.json");
    json::Reader root = document.root();
    sim::Model model = models::import_hugging_face(root, "m");
    document.throw_if_problems();
    CHECK(problems_of(model) == std::vector<std::string>{});
    return model;
}

/// Why a config of this class is refused; empty where it is not.
inline std::string refusal(const std::string& architecture) {
    try {
        imported({{"architectures", {architecture}}, {"hidden_size", 64}, {"num_hidden_layers", 2}, {"vocab_size", 100}});
    } catch (const text::InputError& error) {
        return error.what();
    }
    return "";
}

inline double billions_of(const sim::Model& model) { return static_cast<double>(parameter_count(model)) / 1e9; }
inline double billions(const Json& config) { return billions_of(imported(config)); }

/// Parameters of the tables beside the token embedding, in billions.
inline double billions_in_tables(const sim::Model& model) {
    double sum = 0.0;
    for (const std::size_t index : model.order) {
        for (const sim::Block& block : model.kinds[index].blocks) {
            if (const auto* table = std::get_if<sim::LookupTable>(&block.kind)) {
                sum += static_cast<double>(table->rows) * static_cast<double>(table->width);
            }
        }
    }
    return sum / 1e9;
}

/// The block of this kind in a layer.
template <class Kind>
const Kind& only(const sim::Model& model, std::size_t layer) {
    for (const sim::Block& block : model.kinds[model.order[layer]].blocks) {
        if (const auto* kind = std::get_if<Kind>(&block.kind)) {
            return *kind;
        }
    }
    throw std::runtime_error("no such block in layer " + std::to_string(layer));
}

/// The model of the catalogue.
inline sim::Model described(const std::string& name) { return models::load_model(source_folder() / "models", name).value; }

}  // namespace treeline::testing
