// Internal to the formats: what headings of tables mean that people type, by their words.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

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
    double bonus = 0.0;  ///< what its accept lengths leave out: 1 for "accepted/round"
    int drafts = -1;     ///< that its heading names; below 0 where it names none
    int requests = 0;    ///< in flight that its heading names ("c=8"); 0 where it names none
    double unit = 0.0;   ///< of its times, in seconds, by its heading; 0 where it names none
};

/// Letters and digits in lower case, single blanks between them: "Mean TPOT (ms)" is "mean tpot ms".
std::string plain_words(std::string_view name);
/// The words of such a text.
std::vector<std::string> words_of(const std::string& words);
/// Whether words hold a phrase as whole words.
bool says(const std::string& words, std::string_view phrase);
/// Whether words name drafting and deny it: "without mtp", "non mtp", "w o spec", "eagle3 off".
bool denies_drafting(const std::string& words);
/// A cell, a heading or a setting that means decoding without drafts.
bool means_plain(const std::string& words);
/// Headings of the drafts that a round accepts ("accepted/round"), to which its last token is not counted.
bool leaves_bonus_out(const std::string& words);
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
/// Of those, one that copies from texts ("ngram", "ngramSimple", "prompt lookup").
bool names_look_up(const std::string& words);
/// The kind of drafter that words name; empty where they name none.
std::string drafter_in(const std::string& words);
/// Headings of what is no setting of the drafter, although its cells may hold a word that means one ("Llama base").
bool names_something_else(const std::string& words);
/// Headings of what numbers repeated measurements ("run", "trial").
bool names_repetition(const std::string& words);
/// Headings of what a run has one of: its model, device, format, ranks.
bool tells_deployment(const std::string& words);
/// Headings of how a target and drafter are run that should not change what is accepted: back end, build, cache, device.
bool tells_variant(const std::string& words);
/// The back end that words name ("vulkan"); empty where they name none.
std::string back_end_in(const std::string& words);
/// What words of llama.cpp's flags put on which device ("n-cpu-moe 44"); empty where they say nothing of it.
std::string placement_in(const std::string& words);
/// How words share a model out ("TP4×DP2").
struct StatedRanks {
    int tensor = 0, data = 0;  ///< 0: not said
    std::string text;          ///< "tp4 dp2"; empty where they say nothing of it
};
StatedRanks ranks_in(const std::string& words);
/// The engine that words name ("SGLang"); empty where they name none.
std::string engine_in(const std::string& words);
/// Headings that tell of trees, beside which "depth" is none of the context.
bool is_of_trees(const std::string& words);

}  // namespace treeline::runs::run_formats_of
