#include "runs/log_sections.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>

#include "runs/formats/load_columns.h"
#include "text/plain_text.h"
#include "text/trimmed.h"

namespace treeline::runs {
namespace {

/// What measures in the logs of engines.
bool is_measurement(std::string_view line) {
    static constexpr std::array<std::string_view, 9> labels = {
        "#running-req:",       "SpecDecoding metrics:", "Speculative metrics:",  "Avg generation throughput:", "eval time =",
        "draft acceptance = ", "#calls(b,g,a)",         "draft acceptance rate", "Processed prompts: 100%"};
    return std::any_of(labels.begin(), labels.end(),
                       [&](std::string_view label) { return line.find(label) != std::string_view::npos; });
}

/// A line that people put above a log.
bool is_title(std::string_view text) {
    constexpr std::size_t longest = 80;
    const bool marked = text.starts_with("# ") || text.starts_with("##") || text.starts_with("**");
    return text.size() < longest && text.find("INFO") == std::string_view::npos && text.find('=') == std::string_view::npos &&
           (marked || text.ends_with(':') || text.ends_with("\uFF1A"));
}

bool speaks_of_drafts(const std::string& words) {
    using run_formats_of::says;
    return !run_formats_of::drafter_in(words).empty() || says(words, "spec") || says(words, "speculation") ||
           says(words, "speculative") || says(words, "draft") || says(words, "baseline") || says(words, "vanilla");
}

bool is_switch(const std::string& word) {
    static constexpr std::array<std::string_view, 21> words = {
        "disable", "disabled", "disabling", "enable", "enabled", "enabling", "open", "close", "closed",  "on",       "off",
        "with",    "without",  "no",        "not",    "before",  "after",    "old",  "new",   "patched", "unpatched"};
    return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

bool LogSections::Title::contradicts(const Title& other) const {
    const bool switched =
        (switches || other.switches) && setting == other.setting && text != other.text && !text.empty() && !other.text.empty();
    return switched || (above_block && other.above_block && of.contradicts(other.of));
}

/// Text above the next log.
void LogSections::take_text(const std::string& text) {
    const bool titles = is_title(text);
    if (in_log_ && (titles || blocks_)) {
        title_ = {};
        in_log_ = false;
    }
    std::string lower = text;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    title_.of.add(run_formats_of::deployment_in(lower));
    if (titles || !title_.titled) {
        title_.text = text::head(text, 60);
    }
    const std::string words = run_formats_of::plain_words(text);
    if (!titles || speaks_of_drafts(words)) {
        return;
    }
    title_.titled = true;
    title_.setting.clear();
    title_.switches = false;
    std::istringstream in(words);
    for (std::string word; in >> word;) {
        title_.switches = title_.switches || is_switch(word);
        title_.setting += is_switch(word) ? "" : word + " ";
    }
}

bool LogSections::leaves_out(std::string_view line, RunBuilder& run) {
    const std::string text = text::trimmed(text::head(line, 2000));
    if (text.starts_with("```")) {
        in_block_ = !in_block_;
        blocks_ = true;
        return false;
    }
    if (!is_measurement(line)) {
        if (!in_block_ && !text.empty()) {
            take_text(text);
        }
        return false;
    }
    in_log_ = true;
    title_.above_block = in_block_;
    first_ = first_ ? first_ : title_;
    if (!first_->contradicts(title_)) {
        return false;
    }
    run.remark(run.file() + ": the log under \"" + title_.text + "\" was left out beside that under \"" + first_->text +
               "\": a run is of one deployment");
    return true;
}

}  // namespace treeline::runs
