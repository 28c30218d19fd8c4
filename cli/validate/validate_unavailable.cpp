// In place of command_validate.cpp where Treeline is built without validation/ (TREELINE_VALIDATION=OFF).
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "text/input_error.h"

namespace treeline::cli {

bool can_validate() { return false; }

Run add_validate(CLI::App& app) {
    // Before its flags are looked at, of which it has none here.
    app.parse_complete_callback([] {
        throw text::InputError(
            {"this treeline was built without what predicts published results (in a checkout, ./run --all builds it)"});
    });
    return [] {};
}

}  // namespace treeline::cli
