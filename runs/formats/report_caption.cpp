#include "runs/formats/report_caption.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "runs/formats/chinese_words.h"
#include "runs/formats/load_columns.h"
#include "runs/formats/prose_figures.h"
#include "text/trimmed.h"

namespace treeline::runs::run_formats_of {

void ReportCaption::take(std::string_view line) {
    constexpr std::size_t longest = 120;
    if (line.size() > longest || line.find(" --") != std::string_view::npos || line.find("INFO") != std::string_view::npos) {
        return;  // a command, or a log
    }
    std::string text = text::trimmed(in_english(line));
    const bool titles = text.starts_with('#') || text.starts_with("**") || text.ends_with(':') || text.ends_with(":**");
    if (text.empty() || text.starts_with("```") || (text.find(": ") != std::string::npos && !titles)) {
        return;  // such as a setting that a program prints
    }
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const std::string setup = setup_in(text);
    if (setup.starts_with("K=")) {
        stated_ = {drafts_of_setting(setup), true};
    } else if (setup == "baseline") {
        stated_ = {0, false};
    } else if (titles || setup == "drafts") {
        stated_ = {-1, setup == "drafts"};
    }
}

}  // namespace treeline::runs::run_formats_of
