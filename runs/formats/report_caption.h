// Internal to the formats: what lines between reports of benchmarks say of the drafts of those below them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runs/formats/benchmarks.h"
#include "runs/formats/table_caption.h"

namespace treeline::runs::run_formats_of {

/// A command of a shell that runs a script or a program, whose name says nothing of drafts.
bool is_command_line(std::string_view line);

/// "without spec:", "draft model X, num_speculative_tokens 4", "## MTP off". A title that says nothing of drafts ends what was
/// said before it, unless it names results and none have been read.
class ReportCaption {
public:
    /// A line that is of no report.
    void take(std::string_view line);
    [[nodiscard]] const StatedDrafts& stated() const { return stated_; }
    /// A report has been read below it: the next title, whatever it names, is of another.
    void end_report() { reported_ = true; }

private:
    void state(const StatedDrafts& stated);

    StatedDrafts stated_;
    bool reported_ = false;
};

/// The drafters that lines between reports name: each needs a file of its own, and the first one's reports are kept.
class ReportDrafters {
public:
    /// A line that is of no report.
    void take(std::string_view line);
    [[nodiscard]] const StatedDrafts& stated() const { return caption_.stated(); }
    void end_report() { caption_.end_report(); }
    /// The kind that stands above the next report; empty where none does.
    [[nodiscard]] const std::string& name() const { return named_; }
    /// Whether a report is of the drafter of those before it, or of plain decoding; with a remark where it is of another.
    bool is_first(RunBuilder& run);

private:
    ReportCaption caption_;
    std::string named_, first_;
};

/// Titles above reports of a benchmark, each of which may name its model, format or device.
class ReportTitles {
public:
    /// A line that is of no report.
    void take(std::string_view line);
    /// Whether a report (`what`) below them is of another deployment than the first one: then it is left out, which is said. A
    /// title that alone names a format of few bits tells it, too.
    bool leave_out(const char* what, RunBuilder& run);
    /// Requests in flight that the title of the next report names ("# eagle3, c=16"); 0 where it names none.
    [[nodiscard]] double requests() const;

private:
    TableCaption titles_;
    std::optional<DeploymentWords> first_;
};

}  // namespace treeline::runs::run_formats_of
