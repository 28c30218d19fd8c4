#include "runs/formats/stated_setup.h"

#include <algorithm>
#include <array>

#include "runs/formats/load_columns.h"

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

}  // namespace

void StatedSetup::take(std::string_view line) {
    const std::string text(line.substr(0, longest_statement)), words = plain_words(text), drafter = drafter_in(words);
    const bool command = text.find("--spec") != std::string::npos || text.find("--draft") != std::string::npos;
    if (command || says_rate_of_tokens(words) || says(words, "accepted") || sides_of_arrow(text)) {
        return;  // commands are read by themselves, and results state a set-up of their own
    }
    const int drafts = drafts_of_parts(text);
    const bool plain = names_plain_decoding(words), other = !drafter.empty() && !drafter_.empty() && drafter != drafter_;
    if (drafts > 0 && !plain) {
        drafts_ = drafts;
        drafter_ = drafter;
    } else if (drafts == several || (is_short(words) && (plain || other))) {
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
