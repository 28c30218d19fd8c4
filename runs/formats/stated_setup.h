// Internal to the formats: a set-up that is stated once, for all numbers below it ("MTP with 3 draft tokens").
#pragma once

#include <string>
#include <string_view>

namespace treeline::runs::run_formats_of {

/// Remembers the last line that states one draft length and compares it with nothing. Titles and paragraphs that say nothing of
/// drafts leave it; one that names plain decoding, another drafter or several lengths ends it.
class StatedSetup {
public:
    void take(std::string_view line);
    /// The numbers below it have begun: what stands farther below is of something else.
    void end() { *this = {}; }
    /// Draft tokens; below 0 where nothing states them.
    [[nodiscard]] int drafts() const { return drafts_; }

private:
    int drafts_ = -1;
    std::string drafter_;  ///< its kind, where the line names it
};

/// Whether a text names different draft lengths ("K=3 and K=5").
bool names_several_lengths(const std::string& text);
/// A short title of what was measured, which says nothing of the set-up ("## Results", "Measured across contexts:").
bool names_results(std::string_view title);

}  // namespace treeline::runs::run_formats_of
