// Parts of a document that a program writes, between two marks.
#pragma once

#include <string>

namespace treeline::testing {

struct DocumentBlock {
    std::string document;  ///< in docs/: "cost-model.md"
    std::string name;      ///< of its marks: "laws"
    std::string program;   ///< which writes it when called with --document
    std::string content;   ///< Markdown, without the marks
};

/// The block with its marks, as it stands in the document.
std::string text_of(const DocumentBlock& block);

/// Whether the document holds exactly this; if not, prints what to do.
bool is_fresh(const DocumentBlock& block);

}  // namespace treeline::testing
