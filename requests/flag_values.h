// What the texts of flags mean as JSON, the same for every command that takes flags in place of an input file. Other values are
// passed on unchanged, so that the file's reader judges them in one place.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace treeline {

using FlagJson = nlohmann::ordered_json;

/// The value of a flag that takes a whole number within [low, high]; throws InputError.
long long whole_number(const std::string& flag, const std::string& text, long long low, long long high);

/// A number or an object if the text is one (an object opens with a brace), else the text itself. Throws InputError for a brace
/// that does not begin JSON; so do the functions below.
FlagJson value_of_flag(const std::string& text);
/// Whole numbers of an axis: "8", "1,2,4", "1-8" or an object. Anything else unchanged.
FlagJson axis_of_flag(const std::string& text);
/// An axis, or values with their shares: "8:0.3,16:0.5,40:0.2". Shares for only some values are a problem of `flag`.
FlagJson shares_of_flag(const std::string& flag, const std::string& text);
/// "packed,unrolled" as a list; "auto" stays text.
FlagJson words_of_flag(const std::string& text);

/// What a --drafter may be, for help texts: "a model, or one of sparse-self, ..., or JSON".
std::string drafter_choices();
/// A kind of drafter, a JSON object, or else the name or path of a model.
FlagJson drafter_of_flag(const std::string& text);
/// "0.8" is the rate of every draft token, "0.8,0.62" is by position, and an object is kept.
FlagJson acceptance_of_flag(const std::string& text);
/// Mean tokens per round: "2.9" for chains of `draft_tokens`, or by their length: "2:1.9,4:2.4". Neither is a problem.
FlagJson accept_length_of_flag(const std::string& text, const FlagJson& draft_tokens);

/// Sets `key` to the flag's value if the flag is given.
void set_flag(FlagJson& object, const char* key, const std::string& flag);
/// The object under `key`; a text there is the value of its `meaning`.
FlagJson& object_under(FlagJson& parent, const char* key, const char* meaning);

/// A flag, and the key that it sets: list indices left out ("platforms.device").
struct FlagKey {
    std::string_view flag, key;
};
/// Sentences of a document named "flags" with the flag in place of the key: "flags: platforms[0].device: ..." → "--device:
/// ...". Of several keys that fit, the first in `keys` names the flag, so the longest come first.
std::vector<std::string> in_terms_of_flags(std::vector<std::string> problems, std::span<const FlagKey> keys);

/// Puts `base` before the relative paths of an input: those of models, devices, designs, stacks and shapes, wherever they
/// occur.
void rebase_paths(FlagJson& input, const std::string& base);

}  // namespace treeline
