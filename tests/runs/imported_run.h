// What is imported of a fixture or a text.
#pragma once

#include <string>

#include <catch2/catch.hpp>

#include "runs/run.h"
#include "source_folder.h"

namespace treeline::testing {

inline runs::MeasuredRun from(const std::string& name, const runs::RunHints& hints = {}) {
    return runs::import_runs({(source_folder() / "tests/runs/fixtures" / name).string()}, hints);
}

inline runs::MeasuredRun of_text(const std::string& text, const runs::RunHints& hints = {}) {
    return runs::import_run_text(text, "file", hints);
}

inline runs::RunHints drafting(int tokens) {
    runs::RunHints hints;
    hints.draft_tokens = tokens;
    return hints;
}

inline const runs::RunCell& with_drafts(const runs::MeasuredRun& run, int drafts) {
    for (const runs::RunCell& cell : run.cells) {
        if (cell.draft_tokens == drafts) {
            return cell;
        }
    }
    FAIL("no cell with " << drafts << " draft tokens");
    return run.cells.front();
}

}  // namespace treeline::testing
