// Internal to the formats: what the columns and cells of tables mean that people type, by their words.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace treeline::runs::run_formats_of {

enum class Role {
    none,
    setup,
    batch,
    drafts,
    tree,
    context,
    prompt,
    output,
    test,  ///< llama.cpp's "pp1024/tg128": tokens of prompts and answers
    tpot,
    ttft,
    rate,
    rate_of_user,
    length,
    accept_rate
};

/// Of times, in the order in which they are looked for.
constexpr std::array<Role, 3> time_roles = {Role::rate, Role::rate_of_user, Role::tpot};
constexpr bool is_time(Role role) { return role == Role::rate || role == Role::rate_of_user || role == Role::tpot; }

struct Column {
    Role role = Role::none;
    bool plain = false;  ///< of the same deployment without speculation
    bool mean = false;
    int drafts = -1;   ///< that its heading names; below 0 where it names none
    int requests = 0;  ///< in flight that its heading names ("c=8"); 0 where it names none
};

/// Letters and digits in lower case, single blanks between them: "Mean TPOT (ms)" is "mean tpot ms".
std::string plain_words(std::string_view name);
/// Whether words hold a phrase as whole words.
bool says(const std::string& words, std::string_view phrase);
/// "22.7 → 40.6", "off -> MTP": what stands at either side of an arrow; nothing without one.
std::optional<std::pair<std::string, std::string>> sides_of_arrow(std::string_view text);
/// A cell, a heading or a setting that means decoding without drafts.
bool means_plain(const std::string& words);
/// What a column holds by the words of its heading.
Role role_of(const std::string& words);
/// Whether words name tokens per second.
bool says_rate_of_tokens(const std::string& words);
/// llama.cpp's word for the tokens of an answer: "tg", "tg128".
bool names_generation(const std::string& words);
/// Whether a heading of acceptance says that it holds rates.
bool says_rate(const std::string& words);
/// A setting or a heading that says that something is drafted ("MTP"), however many tokens.
bool names_drafter(const std::string& words);
/// The kind of drafter that words name; empty where they name none.
std::string drafter_in(const std::string& words);
/// Headings of what is no setting of the drafter, although its cells may hold a word that means one ("Llama base").
bool names_something_else(const std::string& words);
/// Headings of what a run has one of: its model, device, format, ranks.
bool tells_deployment(const std::string& words);
/// Headings of how a target and drafter are run that should not change what is accepted: back end, build, cache, device.
bool tells_variant(const std::string& words);
/// The back end that words name ("vulkan"); empty where they name none.
std::string back_end_in(const std::string& words);
/// Headings that tell of trees, beside which "depth" is none of the context.
bool is_of_trees(const std::string& words);

/// The draft tokens that a setting states ("MTP k=3", "--spec-draft-n-max 2", "MTP-4", "graph MTP1"; 0: "baseline"); below 0
/// where it says nothing.
int drafts_of_setting(const std::string& text);
/// The same of prose, where "tokens 128" or "n 5" say nothing of drafts, but "3 draft tokens" does; in "18 draft tokens, 9
/// accepted" they are counts of all drafts. Below 0 where it says nothing.
int drafts_of_caption(const std::string& text);
/// The whole number of drafts or requests that a word is; below 0 for another word.
int whole_number(std::string_view word);
/// Whether a setting ends drafts early by a threshold ("p-min 0.6"): then their length does not follow from it.
bool cuts_drafts(const std::string& text);

/// What follows the number of a cell, without its spread or a remark in brackets: "204.27 tok/s" has "tok/s".
std::string unit_of(const std::string& cell);
/// "8,192", "8K", "1.5k", "~14": a number, of `thousand` (of tokens 1024) where a "k" follows; nothing where the cell begins
/// with none, or holds two ("22.7 → 40.6").
std::optional<double> number_of(std::string cell, double thousand = 1024.0);
/// A rate or time, where "1.2k" is 1200, or the mean of runs ("116.9 / 120.7 / 120.7") or of a range ("42.5-45.7").
std::optional<double> mean_of_runs(const std::string& cell);

}  // namespace treeline::runs::run_formats_of
