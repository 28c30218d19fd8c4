#include "runs/formats/stated_setup.h"

#include <algorithm>
#include <array>

#include "runs/formats/load_columns.h"
#include "runs/formats/load_numbers.h"
#include "runs/formats/stated_lengths.h"
#include "text/plain_text.h"

namespace treeline::runs::run_formats_of {
namespace {

/// A line of more is a log or a page.
constexpr std::size_t longest_statement = 400;
/// Several draft lengths in one line.
constexpr int several = 0;

bool says_one_phrase(const std::string& words, std::initializer_list<const char*> phrases) {
    return std::any_of(phrases.begin(), phrases.end(), [&](const char* phrase) { return says(words, phrase); });
}

/// What stands before the first of some separators, which is taken off the text.
std::string next_part(std::string& rest) {
    constexpr std::array<std::string_view, 8> separators = {",", ";", "/", " and ", " or ", " to ", " vs", " then "};
    std::size_t end = rest.size(), behind = rest.size();
    for (const std::string_view separator : separators) {
        if (const std::size_t at = rest.find(separator); at < end) {
            end = at;
            behind = at + separator.size();
        }
    }
    std::string part = rest.substr(0, end);
    rest.erase(0, behind);
    return part;
}

/// The draft tokens of a line; `several` where its parts name different ones, below 0 where it names none.
int drafts_of_parts(const std::string& line) {
    if (says_one_phrase(plain_words(line), {"steps", "topk", "top k"})) {
        return drafts_of_caption(line);  // SGLang's three settings, which are one
    }
    int stated = -1;
    for (std::string rest = line; !rest.empty();) {
        const int drafts = drafts_of_caption(next_part(rest));
        if (drafts > 0 && stated > 0 && drafts != stated) {
            return several;
        }
        stated = drafts > 0 ? drafts : stated;
    }
    return stated;
}

/// "Baseline", "without MTP"; "prefix caching off" is none.
bool names_plain_decoding(const std::string& words) {
    return says_one_phrase(words, {"baseline", "vanilla", "plain", "autoregressive"}) ||
           (means_plain(words) &&
            (!drafter_in(words).empty() ||
             says_one_phrase(words, {"spec", "speculative", "speculation", "draft", "drafts", "drafter", "drafting"})));
}

bool is_short(const std::string& words) {
    constexpr std::ptrdiff_t most_words = 8;
    return std::count(words.begin(), words.end(), ' ') < most_words;
}

/// What a line says of a set-up.
struct Statements {
    bool any = false;  ///< not of a command, which is read by itself, nor of results, which state a set-up of their own
    int drafts = -1;   ///< as drafts_of_parts()
    std::string drafter;
    bool plain = false, short_line = false;
};

Statements statements_in(std::string_view line) {
    const std::string text(text::head(line, longest_statement)), words = plain_words(text);
    const bool command = text.find("--spec") != std::string::npos || text.find("--draft") != std::string::npos;
    if (command || says_rate_of_tokens(words) || says(words, "accepted") || sides_of_arrow(text)) {
        return {};
    }
    return {true, drafts_of_parts(text), drafter_in(words), names_plain_decoding(words), is_short(words)};
}

/// The last answer is kept: several readers of a log ask it of every line.
const Statements& kept_statements_of(std::string_view line) {
    static thread_local std::string last;
    static thread_local Statements said = statements_in("");
    if (last != line) {
        said = statements_in(line);
        last = line;
    }
    return said;
}

}  // namespace

void StatedSetup::take(std::string_view line) {
    const Statements& said = kept_statements_of(line);
    if (!said.any) {
        return;
    }
    const bool other = !said.drafter.empty() && !drafter_.empty() && said.drafter != drafter_;
    if (said.drafts > 0 && !said.plain) {
        drafts_ = said.drafts;
        drafter_ = said.drafter;
    } else if (said.drafts == several || (said.short_line && (said.plain || other))) {
        end();
    }
}

bool names_several_lengths(const std::string& text) { return drafts_of_parts(text) == several; }

bool names_results(std::string_view title) {
    const std::string words = plain_words(title);
    return is_short(words) && !names_drafter(words) && !means_plain(words) &&
           says_one_phrase(words, {"result", "results", "measured", "measurement", "measurements", "benchmark", "benchmarks",
                                   "bench", "numbers", "performance", "summary", "output", "metrics"});
}

}  // namespace treeline::runs::run_formats_of
