#include "cli/explain_flag.h"

#include <CLI/CLI.hpp>

#include "text/wording.h"

namespace treeline::cli {

reports::Explain ExplainFlag::given() const {
    return option != nullptr && option->count() > 0 ? reports::Explain(sections) : std::nullopt;
}

void add_explain_flag(CLI::App& app, ExplainFlag& flag, const std::vector<std::string>& sections) {
    flag.option = app.add_option("--explain", flag.sections,
                                 "Show what stands behind the answer: " + text::listed(sections, "or") +
                                     "; several between commas; alone or with all, everything")
                      ->type_name("SECTION,...")
                      ->expected(0, 1);
}

}  // namespace treeline::cli
