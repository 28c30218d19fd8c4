// Logs of several deployments that people paste below each other, each under a title.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runs/builder.h"
#include "runs/formats/prose_labels.h"

namespace treeline::runs {

/// Tells lines of logs under titles of different set-ups apart ("cuda graph on:" and "cuda graph off:", or two devices). A run
/// is of the first.
class LogSections {
public:
    /// Whether the line is of a log that stands under another set-up than the first one; said in a remark.
    bool leaves_out(std::string_view line, RunBuilder& run);

private:
    struct Title {
        std::string text, setting;              ///< as it stands there; its words without those that switch something
        bool titled = false, switches = false;  ///< it has such words
        run_formats_of::DeploymentWords of;     ///< by the lines between two blocks of code
        bool above_block = false;               ///< of code, so that these lines are no log
        [[nodiscard]] bool contradicts(const Title& other) const;
    };

    void take_text(const std::string& text);

    bool in_block_ = false, in_log_ = false;
    bool blocks_ = false;  ///< there are blocks of code, so that what stands between them is no log
    Title title_;
    std::optional<Title> first_;  ///< above the first log
};

}  // namespace treeline::runs
