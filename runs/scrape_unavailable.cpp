// In place of scrape.cpp where Treeline is built without libcurl (TREELINE_SCRAPE=OFF).
#include "runs/scrape.h"
#include "text/input_error.h"

namespace treeline::runs {

bool can_scrape() { return false; }

MeasuredRun scrape_run(const std::string& /*url*/, double /*seconds*/, const RunHints& /*hints*/) {
    throw text::InputError(
        {"--from: this treeline was built without libcurl; save what the server says at /metrics to a file, and import that"});
}

}  // namespace treeline::runs
