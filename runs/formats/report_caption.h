// Internal to the formats: what lines between reports of benchmarks say of the drafts of those below them.
#pragma once

#include <string_view>

#include "runs/formats/benchmarks.h"

namespace treeline::runs::run_formats_of {

/// "without spec:", "draft model X, num_speculative_tokens 4", "## MTP off". A title that says nothing of drafts ends what was
/// said before it.
class ReportCaption {
public:
    /// A line that is of no report.
    void take(std::string_view line);
    [[nodiscard]] const StatedDrafts& stated() const { return stated_; }

private:
    StatedDrafts stated_;
};

}  // namespace treeline::runs::run_formats_of
