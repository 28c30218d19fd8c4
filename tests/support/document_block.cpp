#include "document_block.h"

#include <fstream>
#include <iostream>
#include <sstream>

#include "source_folder.h"

namespace treeline::testing {

std::string text_of(const DocumentBlock& block) {
    return "<!-- " + block.name + ": begin; written by " + block.program + " --document -->\n\n" + block.content + "\n<!-- " +
           block.name + ": end -->\n";
}

bool is_fresh(const DocumentBlock& block) {
    std::ifstream file(source_folder() / "docs" / block.document);
    std::ostringstream page;
    page << file.rdbuf();
    const bool fresh = page.str().find(text_of(block)) != std::string::npos;
    if (!fresh) {
        std::cout << "docs/" << block.document << " is stale: put the output of `" << block.program
                  << " --document` between its marks\n";
    }
    return fresh;
}

}  // namespace treeline::testing
