
#include <fmt/format.h>

#include "cli/shell/command_words.h"

namespace treeline::cli {
namespace {

/// For roff: backslashes and hyphens as such, no line that begins like a request.
std::string roff(const std::string& text) {
    std::string result;
    bool at_start = true;
    for (const char letter : text) {
        if (at_start && (letter == '.' || letter == '\'')) {
            result += "\\&";
        }
        result += letter == '\\' ? "\\e" : letter == '-' ? "\\-" : std::string(1, letter);
        at_start = letter == '\n';
    }
    return result;
}

void append_flags(const std::vector<FlagWords>& flags, std::string& page) {
    for (const FlagWords& flag : flags) {
        page += fmt::format(".TP\n.B {}{}\n{}\n", roff(flag.name),
                            flag.value.empty() || flag.name.front() != '-' ? "" : " \\fI" + roff(flag.value) + "\\fR",
                            roff(flag.help));
    }
}

/// Paragraphs as they are, so that examples keep their lines.
void append_footer(const std::string& footer, std::string& page) {
    if (!footer.empty()) {
        page += ".PP\n.nf\n" + roff(footer) + "\n.fi\n";
    }
}

}  // namespace

std::string manual_page(const CommandWords& program) {
    std::string page = fmt::format(".TH TREELINE 1 \"\" \"treeline {}\" \"User Commands\"\n", TREELINE_VERSION);
    page += ".SH NAME\ntreeline \\- simulator and design\\-space explorer for speculative decoding\n";
    page += ".SH SYNOPSIS\n.B treeline\n.I COMMAND\n[\\fIARGUMENT\\fR...]\n.br\n.B treeline\n.I COMMAND\n.B \\-\\-help\n";
    page += ".SH DESCRIPTION\n" + roff(program.summary) + "\n";
    append_footer(program.footer, page);
    page += ".SH OPTIONS\n";
    append_flags(program.flags, page);
    page += ".SH COMMANDS\n";
    for (const CommandWords* words : with_verbs(program)) {
        if (words->path.empty()) {
            continue;
        }
        std::string name = "treeline";
        for (const std::string& word : words->path) {
            name += " " + word;
        }
        page += fmt::format(".SS {}\n{}.\n", roff(name), roff(words->summary));
        append_flags(words->arguments, page);
        append_flags(words->flags, page);
        append_footer(words->footer, page);
    }
    page +=
        ".SH EXIT STATUS\n.TP\n.B 0\nan answer\n.TP\n.B 1\nfindings of\n.BR lint ,\nor a failure that better input would not "
        "have prevented\n.TP\n.B 2\nbad input, one sentence a problem on standard error\n";
    page +=
        ".SH ENVIRONMENT\n.TP\n.B TREELINE_DATA\nfolder that holds models/ and hardware/, in place of what came with the "
        "program\n";
    return page;
}

}  // namespace treeline::cli
