#include "runs/formats/stated_lengths.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "runs/builder.h"
#include "runs/formats/load_columns.h"
#include "runs/formats/load_numbers.h"

namespace treeline::runs::run_formats_of {
namespace {

using Words = std::vector<std::string>;

/// Whether the number at `at` counts tokens of all drafts: both of "10 draft tokens, 3 accepted".
bool counts_accepted_tokens(const Words& words, std::size_t at) {
    const auto is = [&](std::size_t i, const char* word) { return i < words.size() && words[i] == word; };
    return is(at + 1, "accepted") || (is(at + 1, "draft") && is(at + 2, "tokens") && is(at + 4, "accepted"));
}

/// Whether the number at `at` is a speed: "80" of "MTP 80 tok/s", which no draft is long. "K=3 tok/s" heads a column.
bool counts_speed(const Words& words, std::size_t at) {
    constexpr int longest_beside_unit = 32;
    const std::string next = at + 1 < words.size() ? words[at + 1] : "", after = at + 2 < words.size() ? words[at + 2] : "";
    const bool unit = next == "tps" || (after == "s" && (next == "t" || next.starts_with("tok")));
    return unit && whole_number(words[at]) > longest_beside_unit;
}

/// The words of a text, in which a number with decimals, or with a sign ("K=-1"), is none: it counts nothing.
Words words_that_count(const std::string& text) {
    const auto is_digit = [&](std::size_t at) {
        return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
    };
    std::string counting;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at;
        while (is_digit(end)) {
            ++end;
        }
        const bool fraction = end > at && end < text.size() && text[end] == '.' && is_digit(end + 1);
        const bool negative = end > at && at > 1 && text[at - 1] == '-' && (text[at - 2] == '=' || text[at - 2] == ':');
        const bool decimal = fraction || negative;
        end += end == at || decimal ? 1 : 0;
        while (decimal && is_digit(end)) {
            ++end;
        }
        counting += decimal ? std::string("decimal") : text.substr(at, end - at);
        at = end;
    }
    return words_of(plain_words(counting));
}

/// The number after the first of the names that has one; below 0 without.
int number_after_names(const Words& words, const std::vector<Words>& all_names) {
    for (const Words& names : all_names) {
        for (std::size_t at = 0; at + names.size() < words.size(); ++at) {
            const int count = whole_number(words[at + names.size()]);
            const bool of_sampling = names.front() == "k" && at > 0 && words[at - 1] == "top";
            const std::size_t place = at + names.size();
            const bool other = of_sampling || counts_accepted_tokens(words, place) || counts_speed(words, place);
            if (count >= 0 && !other &&
                std::equal(names.begin(), names.end(), words.begin() + static_cast<std::ptrdiff_t>(at))) {
                return count;
            }
        }
    }
    return -1;
}

/// The number that a name ends in ("mtp3", "nmax2"); below 0 without.
int number_in_names(const Words& words) {
    for (const std::string& word : words) {
        for (const std::string_view name : {"mtp", "nextn", "nmax"}) {
            if (const int count = word.starts_with(name) ? whole_number(std::string_view(word).substr(name.size())) : -1;
                count >= 0) {
                return count;
            }
        }
    }
    return -1;
}

/// Of "eagle3-k3": the number of a word beside that of the drafter; below 0 without.
int number_beside_drafter(const Words& words) {
    for (const std::string& word : words) {
        const bool names = word.size() > 1 && (word[0] == 'k' || word[0] == 'n');
        if (const int count = names ? whole_number(std::string_view(word).substr(1)) : -1; count >= 0) {
            return count;
        }
    }
    return -1;
}

/// A whole number in digits or in letters ("three"); below 0 for another word.
int number_in_words(const std::string& word) {
    static const Words numbers = {"zero", "one", "two", "three", "four", "five", "six", "seven", "eight"};
    const auto found = std::find(numbers.begin(), numbers.end(), word);
    return found == numbers.end() ? whole_number(word) : static_cast<int>(found - numbers.begin());
}

/// The drafts of a chain in SGLang's words, whose tokens count the root ("speculative_num_draft_tokens=4", "num_steps=3,
/// num_draft_tokens=4", "3-1-4"); 0 for those of a tree; below 0 where the text does not speak so (mlx_lm's --num-draft-tokens
/// counts no root).
int drafts_of_sglang(const std::string& text, const Words& words) {
    const int tokens = number_after_names(words, {{"num", "draft", "tokens"}}),
              top_k = number_after_names(words, {{"topk"}, {"top", "k"}}),
              steps = number_after_names(words, {{"num", "steps"}, {"steps"}});
    const bool counts_root = number_after_names(words, {{"speculative", "num", "draft", "tokens"}}) > 0 || steps > 0 ||
                             top_k > 0 || std::find(words.begin(), words.end(), "sglang") != words.end();
    if (tokens > 0 && counts_root) {
        return top_k > 1 ? 0 : steps > 0 ? steps : tokens - 1;
    }
    for (std::size_t at = 0; at + 4 < text.size(); ++at) {
        const auto digit = [&](std::size_t i) {
            return at + i < text.size() && std::isdigit(static_cast<unsigned char>(text[at + i])) != 0 ? text[at + i] - '0'
                                                                                                       : -1;
        };
        const auto stands = [&](std::size_t i) {  // a word's end
            return i >= text.size() ||
                   (std::isalnum(static_cast<unsigned char>(text[i])) == 0 && text[i] != '-' && text[i] != '.');
        };
        const bool triple = digit(0) > 0 && text[at + 1] == '-' && digit(2) > 0 && text[at + 3] == '-' && digit(4) > 1 &&
                            stands(at + 5) && (at == 0 || stands(at - 1));
        if (triple && (digit(2) > 1 || digit(4) == digit(0) + 1)) {
            return digit(2) > 1 ? 0 : digit(0);
        }
    }
    return -1;
}

/// Of "d=3", or "depth 3" alone, as people call the depth of a draft; that of a context is no such small number. Below 0
/// without.
int depth_of_drafts(const Words& words) {
    constexpr int deepest = 16;
    const bool alone = words.size() == 2 && words.front() == "depth";
    const int depth = alone ? whole_number(words.back()) : number_after_names(words, {{"d"}});
    return depth > 0 && depth <= deepest ? depth : -1;
}

}  // namespace

int drafts_of_setting(const std::string& text) {
    static const std::vector<Words> names = {{"n", "max"},
                                             {"speculative", "tokens"},
                                             {"draft", "tokens"},
                                             {"draft", "max"},
                                             {"draft", "size"},
                                             {"tokens"},
                                             {"drafts"},
                                             {"draft"},
                                             {"num", "steps"},
                                             {"steps"},
                                             {"n"},
                                             {"k"},
                                             {"gamma"},
                                             {"mtp"}};
    const std::string plain = plain_words(text);
    const Words words = words_that_count(text);
    if (const int chain = drafts_of_sglang(text, words); chain >= 0) {
        return chain > 0 ? chain : -1;
    }
    const int after = number_after_names(words, names), within = after >= 0 ? after : number_in_names(words),
              beside = within < 0 && names_drafter(plain) ? number_beside_drafter(words) : within;
    return beside >= 0 ? beside : means_plain(plain) ? 0 : depth_of_drafts(words);
}

int drafts_of_caption(const std::string& text) {
    static const std::vector<Words> names = {{"n", "max"},
                                             {"speculative", "tokens"},
                                             {"spec", "tokens"},
                                             {"draft", "tokens"},
                                             {"draft", "max"},
                                             {"draft", "size"},
                                             {"draft", "len"},
                                             {"draft", "depth"},
                                             {"mtp", "depth"},
                                             {"k"},
                                             {"gamma"},
                                             {"num", "steps"},
                                             {"mtp"},
                                             {"mtp", "n"},
                                             {"mtp", "with", "n"}};
    const Words words = words_that_count(text);
    if (const int chain = drafts_of_sglang(text, words); chain >= 0) {
        return chain > 0 ? chain : -1;
    }
    for (std::size_t at = 0; at + 1 < words.size(); ++at) {
        const bool counted = at + 4 < words.size() && whole_number(words[at + 3]) >= 0 && words[at + 4] == "accepted";
        const bool tokens = at + 2 < words.size() && words[at + 2].starts_with("token") && !counted &&
                            (words[at + 1] == "draft" || words[at + 1] == "speculative" || words[at + 1] == "spec");
        if (const int count = tokens || words[at + 1] == "drafts" ? number_in_words(words[at]) : -1; count >= 0) {
            return count;
        }
    }
    const int after = number_after_names(words, names);
    return after >= 0 ? after : number_in_names(words);
}

bool cuts_drafts(const std::string& text) {
    for (const char* name : {"p-min", "p_min"}) {
        const std::size_t at = text.find(name);
        const std::size_t number = at == std::string::npos ? at : text.find_first_not_of(" =:", at + 5);
        if (number != std::string::npos && number_after(std::string_view(text).substr(number), "").value_or(0.0) > 0.0) {
            return true;
        }
    }
    return false;
}

}  // namespace treeline::runs::run_formats_of
