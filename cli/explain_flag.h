// --explain of `recommend` and `estimate`.
#pragma once

#include <string>
#include <vector>

#include "reports/explain.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace treeline::cli {

/// --explain [SECTION,...]; the app must outlive it.
struct ExplainFlag {
    std::string sections;
    CLI::Option* option = nullptr;

    [[nodiscard]] reports::Explain given() const;
};

void add_explain_flag(CLI::App& app, ExplainFlag& flag, const std::vector<std::string>& sections);

}  // namespace treeline::cli
