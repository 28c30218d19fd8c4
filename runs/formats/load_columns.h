// Internal to the formats: what the columns and cells of tables mean that people type, by their words.
#pragma once

#include <optional>
#include <string>
#include <string_view>

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
    tpot,
    ttft,
    rate,
    rate_of_user,
    length,
    accept_rate
};

struct Column {
    Role role = Role::none;
    bool plain = false;  ///< of the same deployment without speculation
    bool mean = false;
    int drafts = -1;  ///< that its heading names; below 0 where it names none
};

/// Letters and digits in lower case, single blanks between them: "Mean TPOT (ms)" is "mean tpot ms".
std::string plain_words(std::string_view name);
/// Whether words hold a phrase as whole words.
bool says(const std::string& words, std::string_view phrase);
/// A cell, a heading or a setting that means decoding without drafts.
bool means_plain(const std::string& words);
/// What a column holds by the words of its heading.
Role role_of(const std::string& words);
/// Whether a heading of acceptance says that it holds rates.
bool says_rate(const std::string& words);
/// Headings of what is no setting of the drafter, although its cells may hold a word that means one ("Llama base").
bool names_something_else(const std::string& words);
/// Headings that tell of trees, beside which "depth" is none of the context.
bool is_of_trees(const std::string& words);

/// The draft tokens that a setting states ("MTP k=3", "--spec-draft-n-max 2", "MTP-4", "graph MTP1"; 0: "baseline"); below 0
/// where it says nothing.
int drafts_of_setting(const std::string& text);
/// Whether a setting ends drafts early by a threshold ("p-min 0.6"): then their length does not follow from it.
bool cuts_drafts(const std::string& text);

/// What follows the number of a cell, without its spread or a remark in brackets: "204.27 tok/s" has "tok/s".
std::string unit_of(const std::string& cell);
/// "8,192", "8K", "1.5k": a number with thousands; nothing where the cell begins with none.
std::optional<double> number_of(std::string cell);
/// The same, or the mean of runs ("116.9 / 120.7 / 120.7").
std::optional<double> mean_of_runs(const std::string& cell);

}  // namespace treeline::runs::run_formats_of
