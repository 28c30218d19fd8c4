// What a live server says of itself.
#pragma once

#include <string>

#include "runs/run.h"

namespace treeline::runs {

/// Whether this build can; if not, scrape_run() says so.
bool can_scrape();

/// Reads /metrics and /server_info of the server at `url` ("http://host:8000"), waits `seconds`, and reads /metrics again, so
/// that counters cover just that time; with 0 seconds they cover the time since the server started. Throws InputError where the
/// server does not answer, or tells nothing that can be read.
MeasuredRun scrape_run(const std::string& url, double seconds, const RunHints& hints = {});

}  // namespace treeline::runs
