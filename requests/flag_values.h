// What the texts of flags mean as JSON, the same for every command that takes flags in place of an input file. Other values are
// passed on unchanged, so that the file's reader judges them in one place.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace treeline::requests {

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
/// Lengths of prompts or answers: "740", with shares "200:0.7,2000:0.3", or an object.
FlagJson lengths_of_flag(const std::string& text);
/// "packed,unrolled" as a list; "auto" stays text.
FlagJson words_of_flag(const std::string& text);

/// What a --drafter may be, for help texts, and where the kinds are listed.
std::string drafter_choices();
/// "chat:0.6,code:0.4" as an object. Throws InputError.
FlagJson shares_by_name(const std::string& text);
/// A kind of drafter, a JSON object, or else the name or path of a model.
FlagJson drafter_of_flag(const std::string& text);
/// {"kind": "eagle3"} and nothing else.
bool is_kind_alone(const FlagJson& drafter);
/// "0.8" is the rate of every draft token, "0.8,0.62" is by position, and an object is kept.
FlagJson acceptance_of_flag(const std::string& text);
/// Mean tokens per round: "2.9" of the one `shape` that is asked for, else for chains of `draft_tokens`, or by their length:
/// "2:1.9,4:2.4". Neither is a problem.
FlagJson accept_length_of_flag(const std::string& text, const FlagJson& draft_tokens, const std::string& shape = "");

/// A flag that sets a key of an input, described once: CLI11's option, its help, the key, and the name of it in messages.
struct KeyFlag {
    std::string name;   ///< "--tensor-parallel", or with an alias: "--target,--model"
    std::string value;  ///< what its value looks like, for the help: "N"
    std::string path;   ///< of the key, list indices left out: "platforms.tensor_parallel"
    std::string help;   ///< mostly json::help_of(key)
    /// The key's value; null where a command sets the key itself.
    FlagJson (*convert)(const std::string&) = value_of_flag;
    std::string also = {};  ///< a second key that the value ends up in
};

/// What was given on a command line, by KeyFlag::path; an empty text was not.
using FlagTexts = std::map<std::string, std::string, std::less<>>;
/// Empty if it was not given.
const std::string& given(const FlagTexts& texts, std::string_view path);
bool any_given(const FlagTexts& texts, std::string_view path_prefix = {});

/// Sets the key at a path. A text on the way stands for an object: a target for its model, a precision for its checkpoint, a
/// platform for its device.
void set_at(FlagJson& input, std::string_view path, FlagJson value);
/// Sets the keys of all flags that were given and have a `convert`.
void set_given(FlagJson& input, const std::vector<KeyFlag>& flags, const FlagTexts& texts);
/// Those with these paths, in the order of the paths.
std::vector<KeyFlag> flags_at(const std::vector<KeyFlag>& flags, const std::vector<std::string_view>& paths);

/// Sentences of a document named "flags" with the flag in place of the key: "flags: platforms[0].device: ..." → "--device:
/// ...". A curve of accept lengths is --accept-length, unless `lengths` says that this flag was not given.
std::vector<std::string> in_terms_of_flags(std::vector<std::string> problems, const std::vector<KeyFlag>& flags,
                                           bool lengths = true);

/// Puts `base` before the relative paths of an input: those of models, devices, designs, stacks and shapes, wherever they
/// occur.
void rebase_paths(FlagJson& input, const std::string& base);

}  // namespace treeline::requests
