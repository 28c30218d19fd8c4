// Which family a config is of.
#pragma once

#include <string>
#include <string_view>

#include "json/reader.h"
#include "models/hugging_face/facts.h"
#include "sim/model.h"

namespace treeline::models::hugging_face {

/// A family that has a function of its own. The other ones stand in facts_table.cpp.
struct Family {
    std::string_view name;
    void (*import)(Reader& config, sim::Model& model);
    bool tied = false;  ///< embeddings, where tie_word_embeddings is absent
};

/// What was found for a config: a function of its own, or facts, or a class that no table knows but whose keys are enough.
struct Found {
    const Family* own = nullptr;
    const TransformerFacts* facts = nullptr;
    std::string by_keys = {};

    [[nodiscard]] bool any() const { return own != nullptr || facts != nullptr || !by_keys.empty(); }
    [[nodiscard]] std::string name() const {
        return !by_keys.empty() ? by_keys : std::string(own != nullptr ? own->name : facts->family);
    }
    [[nodiscard]] bool tied_by_default() const { return own != nullptr ? own->tied : facts != nullptr && facts->tied; }
};

/// The family by the names in a config, by its keys where they are of a form without names, or by its keys alone; a problem of
/// `root` where there is none. `text` is the language model's part, or `root` itself.
Found find_family(Reader& root, Reader& text);

}  // namespace treeline::models::hugging_face
