// JSON text in the hands of a reader of cli/.
#pragma once

#include <string>

#include "json/reader.h"
#include "requests/descriptions.h"
#include "setups.h"

namespace treeline::testing {

/// A text being read, with the catalogue of the source tree.
struct Input {
    explicit Input(const std::string& text)
        : document(json::Document::parse(text, "in")),
          root(document.root()),
          descriptions({source_folder() / "models", source_folder() / "hardware"}, {}) {}

    json::Document document;
    json::Reader root;
    requests::Descriptions descriptions;

    /// The only problem, or all of them.
    [[nodiscard]] std::string problems() const {
        std::string text;
        for (const std::string& problem : document.problems()) {
            text += (text.empty() ? "" : "\n") + problem;
        }
        return text;
    }
};

}  // namespace treeline::testing
