#include "runs/formats/report_caption.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include <fmt/format.h>

#include "runs/formats/chinese_words.h"
#include "runs/formats/load_columns.h"
#include "runs/formats/prose_figures.h"
#include "runs/formats/stated_lengths.h"
#include "runs/formats/stated_setup.h"
#include "text/trimmed.h"

namespace treeline::runs::run_formats_of {

namespace {

constexpr std::array<const char*, 4> setting_names = {"speculative tokens", "spec tokens", "n max", "max draft len"};

/// "num_speculative_tokens: 2", "- EAGLE3, k: 3"; below 0 for "Draft tokens: 45", which in print counts all of them.
int drafts_of_setting_line(const std::string& text) {
    const std::size_t colon = text.find(": ");
    const std::string label = plain_words(text.substr(0, colon));
    const bool listed = text.starts_with("- ") || text.starts_with("* ");
    const bool names =
        std::any_of(setting_names.begin(), setting_names.end(), [&](const char* name) { return label.ends_with(name); });
    return colon != std::string::npos && (listed || names) ? drafts_of_caption(text) : -1;
}

/// " --max-num-seqs 8" of a command; the dashes of "# --- eagle3 ---" begin no flag.
bool holds_flag(std::string_view line) {
    for (std::size_t at = line.find(" --"); at != std::string_view::npos; at = line.find(" --", at + 1)) {
        if (at + 3 < line.size() && std::isalpha(static_cast<unsigned char>(line[at + 3])) != 0) {
            return true;
        }
    }
    return false;
}

/// What a line says above a report.
struct Caption {
    bool titles = false;
    bool of_results = false;     ///< a title that names them
    int drafts_of_setting = -1;  ///< as drafts_of_setting_line()
    std::string setup;           ///< as setup_in()
};

Caption caption_of(std::string_view line) {
    constexpr std::size_t longest = 120;
    if (line.size() > longest || is_command_line(line) || holds_flag(line) || line.find("INFO") != std::string_view::npos) {
        return {};  // a command, or a log
    }
    std::string text = text::trimmed(in_english(line));
    const bool titles = text.starts_with('#') || text.starts_with("**") || text.ends_with(':') || text.ends_with(":**");
    const int drafts = titles ? -1 : drafts_of_setting_line(text);
    if (drafts > 0 || text.empty() || text.starts_with("```") || (text.find(": ") != std::string::npos && !titles)) {
        return {false, false, drafts, ""};  // such as a setting that a program prints
    }
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return {titles, titles && names_results(text), -1, setup_in(text)};
}

/// The last answer is kept: each of the readers of a log asks it of every line.
const Caption& kept_caption_of(std::string_view line) {
    static thread_local std::string last;
    static thread_local Caption caption;
    if (last != line) {
        caption = caption_of(line);
        last = line;
    }
    return caption;
}

}  // namespace

bool is_command_line(std::string_view line) {
    const std::string text = text::trimmed(line), first = text.substr(0, text.find(' '));
    return first == "$" || first == "python" || first == "python3" || first == "bash" || first.starts_with("./") ||
           first.ends_with(".py") || first.ends_with(".sh");
}

void ReportCaption::state(const StatedDrafts& stated) {
    stated_ = stated;
    reported_ = false;
}

void ReportCaption::take(std::string_view line) {
    const Caption& caption = kept_caption_of(line);
    const std::string& setup = caption.setup;
    if (caption.drafts_of_setting > 0) {
        state({caption.drafts_of_setting, true});
    } else if (setup.starts_with("K=")) {
        state({drafts_of_setting(setup), true});
    } else if (setup == "baseline") {
        state({0, false});
    } else if (setup == "drafts" || (caption.titles && (reported_ || !caption.of_results))) {
        state({-1, setup == "drafts"});
    }
}

void ReportDrafters::take(std::string_view line) {
    constexpr std::size_t longest = 200;
    const StatedDrafts before = caption_.stated();
    caption_.take(line);
    const std::string drafter = drafter_in(plain_words(line.substr(0, longest)));
    const bool new_caption = before.tokens != caption_.stated().tokens || before.drafting != caption_.stated().drafting;
    named_ = !drafter.empty() ? drafter : new_caption ? std::string() : named_;
}

bool ReportDrafters::is_first(RunBuilder& run) {
    if (named_.empty() || caption_.stated().tokens == 0) {
        return true;
    }
    first_ = first_.empty() ? named_ : first_;
    if (first_ != named_) {
        run.remark(fmt::format(
            "{}: results of {} were left out, for those before them are of {}; each drafter needs a file of its own",
            run.file(), named_, first_));
    }
    return first_ == named_;
}

void ReportTitles::take(std::string_view line) {
    constexpr std::size_t longest = 120;
    const std::string text = text::trimmed(line);
    const bool titles = text.starts_with('#') || text.starts_with("**") || text.ends_with(':');
    const bool command = is_command_line(text) || holds_flag(text);
    if (text.empty() || (titles && !command && text.size() < longest)) {
        titles_.take(text);
    }
}

double ReportTitles::requests() const {
    const double said = titles_.batch();
    return said >= 1.0 ? said : requests_in_label(titles_.title());
}

bool ReportTitles::leave_out(const char* what, RunBuilder& run) {
    const DeploymentWords own = titles_.deployment();
    titles_.end_paragraph();
    first_ = first_ ? first_ : own;
    const bool few_bits = !own.format.empty() && !own.format.ends_with("16");
    if (!first_->contradicts(own) && !(first_->format.empty() && few_bits)) {
        return false;
    }
    run.remark(fmt::format("{}: the {} under {} was left out beside {}: a run is of one deployment", run.file(), what,
                           own.text(), first_->any() ? "that of " + first_->text() : "one whose title names none"));
    return true;
}

}  // namespace treeline::runs::run_formats_of
