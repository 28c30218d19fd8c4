#include "requests/flag_values.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "json/parse.h"
#include "models/catalogue.h"
#include "requests/descriptions.h"
#include "requests/keys/setup_keys.h"
#include "requests/published_acceptance.h"
#include "requests/setup_reader.h"
#include "text/catalogue_folder.h"
#include "text/input_file.h"
#include "text/number_text.h"
#include "text/parse_number.h"
#include "text/split.h"
#include "text/trimmed.h"
#include "text/wording.h"

namespace treeline::requests {
namespace {

bool opens_object(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first != std::string::npos && text[first] == '{';
}

/// Throws InputError where an object holds a key twice.
void refuse_repeated(const json::Parsed& parsed, const std::string& name) {
    std::vector<std::string> problems;
    for (const std::string& key : parsed.duplicate_keys) {
        problems.push_back(fmt::format("{}: {}: this key appears twice", name, key));
    }
    if (!problems.empty()) {
        throw text::InputError(problems);
    }
}

/// "1-8", "1..8" or "1:8" as a range; nothing if the text is no range.
std::optional<FlagJson> range_of(const std::string& text) {
    for (const std::string_view between : {"-", "..", ":"}) {
        const std::size_t at = text.find(between);
        if (at == std::string::npos) {
            continue;
        }
        const auto from = text::parse_number<long long>(text.substr(0, at));
        const auto to = text::parse_number<long long>(text.substr(at + between.size()));
        if (from && to) {
            return FlagJson{{"from", *from}, {"to", *to}};
        }
    }
    return std::nullopt;
}

std::string without_indices(std::string_view path) {
    std::string text;
    bool inside = false;
    for (const char c : path) {
        inside = c == '[' || (inside && c != ']');
        if (!inside && c != ']') {
            text += c;
        }
    }
    return text;
}

bool begins(std::string_view path, std::string_view prefix) {
    return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '.');
}

/// The flag whose key is nearest above `path`, or the first one below; and how much of the path the flag stands for.
std::pair<const KeyFlag*, std::size_t> flag_at(const std::vector<KeyFlag>& flags, std::string_view path) {
    std::pair<const KeyFlag*, std::size_t> found = {nullptr, 0};
    for (const KeyFlag& flag : flags) {
        for (const std::string& key : {flag.path, flag.also}) {
            if (!key.empty() && begins(path, key) && key.size() > found.second) {
                found = {&flag, key.size()};
            }
        }
    }
    for (std::size_t i = 0; i < flags.size() && found.first == nullptr; ++i) {
        if (begins(flags[i].path, path)) {
            found = {&flags[i], path.size()};
        }
    }
    return found;
}

std::string first_name(const KeyFlag& flag) { return flag.name.substr(0, flag.name.find(',')); }

std::string in_terms_of_flags(const std::string& problem, const std::vector<KeyFlag>& flags, bool lengths) {
    constexpr std::string_view prefix = "flags: ";
    if (!problem.starts_with(prefix)) {
        return problem;
    }
    const std::string rest = problem.substr(prefix.size());
    const std::size_t colon = rest.find(": ");
    if (colon == std::string::npos) {
        return rest;
    }
    const std::string path = without_indices(rest.substr(0, colon));
    const auto [flag, known] = flag_at(flags, path);
    if (flag == nullptr) {
        return rest;
    }
    const std::string below = path.size() == known ? "" : path.substr(known + 1);
    // --accept-length is another way of stating acceptance: its draft tokens are the keys of a curve.
    constexpr std::string_view curve = "curve", length = "mean_length";
    const bool of_curve = begins(below, curve);
    if (lengths && first_name(*flag) == "--acceptance" && (of_curve || begins(below, length))) {
        const std::string drafts = of_curve && below.size() > curve.size() ? below.substr(curve.size() + 1) : "";
        return "--accept-length" + (drafts.empty() ? "" : " at " + drafts + " draft tokens") + rest.substr(colon);
    }
    return first_name(*flag) + (below.empty() ? "" : ": " + below) + rest.substr(colon);
}

bool names_a_description(std::string_view key) {
    constexpr std::array<std::string_view, 12> keys = {"published", "file",   "target", "platform", "platforms", "model",
                                                       "device",    "design", "host",   "stack",    "shape",     "shapes"};
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

/// `key` is the key of `node`; elements of a list have the key of the list.
void rebase_under(FlagJson& node, const std::string& key, const std::filesystem::path& base) {
    if (node.is_structured()) {
        for (auto& [name, value] : node.items()) {
            rebase_under(value, node.is_array() ? key : name, base);
        }
        return;
    }
    const bool is_path = node.is_string() && names_a_description(key) && looks_like_path(node.get_ref<const std::string&>()) &&
                         node.get_ref<const std::string&>().find(':') == std::string::npos;  // "children:3/2,1" is a shape
    if (is_path) {
        node = (base / node.get<std::string>()).lexically_normal().string();
    }
}

/// "eagle" or "eagle3": kinds of drafters that a word misspells, which would be taken for the name of a model; empty if none.
std::string kinds_meant(const std::string& word) {
    constexpr std::size_t most_edits = 2, most_named = 2;
    if (word.find('/') != std::string::npos || is_kind(word)) {
        return "";
    }
    std::vector<std::string> meant;
    for (const std::string& near :
         text::nearest_few(word, {drafter_keys::kinds.begin(), drafter_keys::kinds.end()}, most_named)) {
        if (near.size() <= word.size() + most_edits && word.size() <= near.size() + most_edits) {
            meant.push_back("\"" + near + "\"");
        }
    }
    return text::listed(meant, "or");
}

}  // namespace

FlagJson value_of_flag(const std::string& text) {
    if (opens_object(text)) {
        json::Parsed parsed = json::parse_strictly(text);
        if (!parsed.failure.empty()) {
            throw text::InputError({fmt::format("flags: \"{}\" opens an object in braces, but is not JSON", text)});
        }
        refuse_repeated(parsed, "flags");
        return std::move(parsed.tree);
    }
    const auto value = json::parse_foreign<FlagJson>(text.starts_with('.') ? "0" + text : text);  // people write .5
    return value && value->is_number() ? *value : FlagJson(text);
}

FlagJson axis_of_flag(const std::string& text) {
    if (opens_object(text)) {
        return value_of_flag(text);
    }
    if (const std::optional<FlagJson> range = range_of(text)) {
        return *range;
    }
    if (text.find(',') == std::string::npos) {
        return value_of_flag(text);
    }
    FlagJson list = FlagJson::array();
    for (const std::string& part : text::split(text, ',')) {
        list.push_back(value_of_flag(part));
    }
    return list;
}

FlagJson shares_of_flag(const std::string& flag, const std::string& text) {
    if (opens_object(text) || text.find(':') == std::string::npos) {
        return axis_of_flag(text);
    }
    FlagJson list = FlagJson::array();
    for (const std::string& part : text::split(text, ',')) {
        const std::vector<std::string> pair = text::split(part, ':');
        if (pair.size() != 2) {
            throw text::InputError({fmt::format("{}: give all values a share (8:0.3,16:0.7) or none, not \"{}\"", flag, text)});
        }
        list.push_back({{"value", value_of_flag(pair[0])}, {"share", value_of_flag(pair[1])}});
    }
    return list;
}

namespace {

/// "5800" of "5,800", where the comma is likelier one between thousands than one between two lengths: behind a single digit, or
/// before a group of three that begins with 0 ("128,000"). Empty for all else, as "64,512" may be a list.
std::string without_thousands(const std::string& text) {
    constexpr std::size_t group = 3;
    const std::vector<std::string> parts = text::split(text, ',');
    const auto digits = [](const std::string& part) {
        return !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
    };
    const bool groups = parts.size() > 1 && digits(parts.front()) && parts.front().size() <= group &&
                        std::all_of(parts.begin() + 1, parts.end(),
                                    [&](const std::string& part) { return digits(part) && part.size() == group; });
    const bool likely = groups && (parts.front().size() == 1 || std::any_of(parts.begin() + 1, parts.end(),
                                                                            [](const auto& part) { return part[0] == '0'; }));
    return likely ? fmt::format("{}", fmt::join(parts, "")) : "";
}

}  // namespace

FlagJson lengths_of_flag(const std::string& text) {
    if (const std::string number = without_thousands(text); !number.empty()) {
        throw text::InputError(
            {fmt::format("\"{}\" would be a list of lengths; write {} without a comma, or give each "
                         "length a share (512:0.5,2048:0.5)",
                         text, number)});
    }
    FlagJson lengths = shares_of_flag("lengths", text);
    if (lengths.is_array()) {
        for (FlagJson& length : lengths) {
            length = length.is_object() ? FlagJson{{"tokens", length["value"]}, {"share", length["share"]}}
                                        : FlagJson{{"tokens", length}};
        }
    }
    return lengths;
}

FlagJson words_of_flag(const std::string& text) { return text == "auto" ? FlagJson(text) : FlagJson(text::split(text, ',')); }

FlagJson shares_by_name(const std::string& text) {
    if (opens_object(text)) {
        return value_of_flag(text);
    }
    FlagJson shares = FlagJson::object();
    for (const std::string& part : text::split(text, ',')) {
        const std::vector<std::string> pair = text::split(part, ':');
        if (pair.size() > 2 || pair.front().empty()) {
            throw text::InputError(
                {fmt::format("--categories: must be names with shares such as chat:0.6,code:0.4, not \"{}\"", text)});
        }
        if (shares.contains(pair.front())) {
            throw text::InputError({fmt::format("--categories: \"{}\" appears twice", pair.front())});
        }
        shares[pair.front()] = pair.size() == 2 ? value_of_flag(pair.back()) : FlagJson(1.0);
    }
    return shares;
}

/// Text that ends as files of measured acceptance, logs and metrics do.
bool looks_like_acceptance_file(const std::string& text) {
    constexpr std::array<std::string_view, 8> ends = {".json", ".jsonl", ".csv", ".yaml", ".yml", ".log", ".txt", ".prom"};
    return !opens_object(text) && std::any_of(ends.begin(), ends.end(), [&](std::string_view end) {
        return text.size() > end.size() && text.ends_with(end);
    });
}

std::string drafter_choices() {
    return "the name of a published drafter (files of models/drafters), a kind such as eagle3 (treeline inputs drafter has all "
           "of them), a model, or JSON";
}

namespace {

/// What a file holds that describes a drafter as the flag takes it in JSON; nothing of another file.
std::optional<FlagJson> drafter_in_file(const std::string& text) {
    constexpr std::uintmax_t largest = 1u << 20;
    std::error_code error;
    if (!text.ends_with(".json") || !text::is_file(text) || std::filesystem::file_size(text, error) > largest) {
        return std::nullopt;
    }
    const std::optional<FlagJson> tree = json::parse_foreign<FlagJson>(text::read_file(text));
    const bool drafter = tree && tree->is_object() && tree->contains("kind") && (*tree)["kind"].is_string() &&
                         !kind_of_word((*tree)["kind"].get<std::string>()).empty();
    if (!drafter) {
        return std::nullopt;
    }
    refuse_repeated(json::parse_strictly(text::read_file(text)), text);
    return tree;
}

}  // namespace

FlagJson drafter_of_flag(const std::string& flag) {
    const std::string text = models::without_address(flag);
    if (const std::optional<FlagJson> described = drafter_in_file(text)) {
        return *described;
    }
    if (const std::string kind = kind_of_word(text); !kind.empty() && kind != "model") {
        return FlagJson{{"kind", kind}};
    }
    FlagJson value = value_of_flag(text);
    if (const std::string kinds = value.is_object() ? "" : kinds_meant(text); !kinds.empty()) {
        throw text::InputError({fmt::format("--drafter: there is no drafter \"{}\"; did you mean {}?", text, kinds)});
    }
    return value.is_object()       ? value
           : looks_published(text) ? FlagJson{{"published", text}}
                                   : FlagJson{{"kind", "model"}, {"model", text}};
}

bool is_kind_alone(const FlagJson& drafter) { return drafter.is_object() && drafter.size() == 1 && drafter.contains("kind"); }

namespace {

/// Rates as people write them elsewhere: with blanks between them, or in percent. Throws InputError with how they are written
/// here.
void refuse_other_rates(const std::string& text) {
    std::vector<std::string> rates;
    bool percent = false, blanks = false;
    for (const std::string& part : text::split(text, ',')) {
        for (std::string& word : text::split(part, ' ')) {
            if (word.empty()) {
                continue;
            }
            const bool of_hundred = word.ends_with('%');
            word.erase(word.size() - (of_hundred ? 1 : 0));
            const std::optional<double> value = text::parse_number(word);
            if (!value) {
                return;  // a name
            }
            percent = percent || of_hundred;
            rates.push_back(text::exact_text(of_hundred ? *value / 100.0 : *value));
        }
        blanks = blanks || text::trimmed(part).find(' ') != std::string::npos;
    }
    if (percent || blanks) {
        throw text::InputError({fmt::format("--acceptance: rates are shares with commas between them: {}, not \"{}\"",
                                            fmt::join(rates, ","), text)});
    }
}

}  // namespace

FlagJson acceptance_of_flag(const std::string& text) {
    if (!opens_object(text)) {
        refuse_other_rates(text);
    }
    constexpr std::string_view geometric = "geometric:";
    if (text.starts_with(geometric)) {
        return FlagJson{{"geometric", value_of_flag(text.substr(geometric.size()))}};
    }
    if (opens_object(text) || text.find(',') == std::string::npos) {
        FlagJson value = value_of_flag(text);
        return value.is_object()                  ? value
               : looks_like_acceptance_file(text) ? FlagJson{{"file", value}}
               : value.is_string()                ? FlagJson{{"published", value}}  // the name of a drafter that was measured
                                                  : FlagJson{{"rate", value}};
    }
    return FlagJson{{"per_position", axis_of_flag(text)}};
}

FlagJson accept_length_of_flag(const std::string& text, const FlagJson& draft_tokens, const std::string& shape) {
    if (text.find(':') == std::string::npos) {
        if (!shape.empty()) {
            return FlagJson{{"measured", {{{"shape", value_of_flag(shape)}, {"accept_length", value_of_flag(text)}}}}};
        }
        if (!draft_tokens.is_number()) {
            throw text::InputError(
                {fmt::format("--accept-length: say for how many draft tokens {0} is the mean: 4:{0}", text)});
        }
        return FlagJson{{"mean_length", value_of_flag(text)}, {"draft_tokens", draft_tokens}};
    }
    FlagJson curve = FlagJson::object();
    for (const std::string& part : text::split(text, ',')) {
        const std::vector<std::string> pair = text::split(part, ':');
        if (pair.size() != 2) {
            throw text::InputError(
                {fmt::format("--accept-length: must be a number, or draft tokens and lengths such as 2:1.9,4:2.4, "
                             "not \"{}\"",
                             text)});
        }
        if (curve.contains(pair[0])) {
            throw text::InputError({fmt::format("--accept-length: {} draft tokens appear twice", pair[0])});
        }
        curve[pair[0]] = value_of_flag(pair[1]);
    }
    return FlagJson{{"curve", curve}};
}

const std::string& given(const FlagTexts& texts, std::string_view path) {
    static const std::string nothing;
    const auto found = texts.find(path);
    return found == texts.end() ? nothing : found->second;
}

bool any_given(const FlagTexts& texts, std::string_view path_prefix) {
    return std::any_of(texts.begin(), texts.end(), [&](const auto& entry) {
        return !entry.second.empty() && (path_prefix.empty() || begins(entry.first, path_prefix));
    });
}

void set_at(FlagJson& input, std::string_view path, FlagJson value) {
    const std::size_t dot = path.find('.');
    FlagJson& node = input[std::string(path.substr(0, dot))];
    if (dot == std::string_view::npos) {
        node = std::move(value);
        return;
    }
    if (node.is_string()) {
        node = FlagJson{{path.starts_with("target.")      ? "model"
                         : path.starts_with("precision.") ? "checkpoint"
                                                          : "device",
                         node}};
    } else if (!node.is_object()) {
        node = FlagJson::object();
    }
    set_at(node, path.substr(dot + 1), std::move(value));
}

void set_given(FlagJson& input, const std::vector<KeyFlag>& flags, const FlagTexts& texts) {
    for (const KeyFlag& flag : flags) {
        const std::string& text = given(texts, flag.path);
        if (!text.empty() && flag.convert != nullptr) {
            set_at(input, flag.path, flag.convert(text));
        }
    }
}

std::vector<KeyFlag> flags_at(const std::vector<KeyFlag>& flags, const std::vector<std::string_view>& paths) {
    std::vector<KeyFlag> chosen;
    for (const std::string_view path : paths) {
        std::copy_if(flags.begin(), flags.end(), std::back_inserter(chosen),
                     [path](const KeyFlag& flag) { return flag.path == path; });
    }
    return chosen;
}

std::vector<std::string> in_terms_of_flags(std::vector<std::string> problems, const std::vector<KeyFlag>& flags, bool lengths) {
    for (std::string& problem : problems) {
        problem = in_terms_of_flags(std::as_const(problem), flags, lengths);
    }
    return problems;
}

void rebase_paths(FlagJson& input, const std::string& base) { rebase_under(input, "", base); }

long long whole_number(const std::string& flag, const std::string& text, long long low, long long high) {
    const auto value = text::parse_number<long long>(text);
    if (!value || *value < low || *value > high) {
        throw text::InputError(
            {fmt::format("{}: must be a whole number between {} and {}, not \"{}\"", flag, low, high, text)});
    }
    return *value;
}

}  // namespace treeline::requests
