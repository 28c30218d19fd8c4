#include "runs/formats/load_columns.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <vector>

#include "runs/builder.h"
#include "sim/input_limits.h"
#include "text/parse_number.h"
#include "text/trimmed.h"

namespace treeline::runs::run_formats_of {
namespace {

using Words = std::vector<std::string>;
using text::trimmed;

/// Of phrases in braces, or in a list that is kept.
using Phrases = std::initializer_list<std::string_view>;

bool says_any(const std::string& words, Phrases phrases) {
    return std::any_of(phrases.begin(), phrases.end(), [&](std::string_view phrase) { return says(words, phrase); });
}

bool says_any(const std::string& words, const Words& phrases) {
    return std::any_of(phrases.begin(), phrases.end(), [&](const std::string& phrase) { return says(words, phrase); });
}

bool is_any(const std::string& words, Phrases names) { return std::find(names.begin(), names.end(), words) != names.end(); }

bool is_any(const std::string& words, const Words& names) {
    return std::find(names.begin(), names.end(), words) != names.end();
}

Words words_of(const std::string& words) {
    Words all;
    for (std::size_t at = 0; at < words.size();) {
        const std::size_t end = std::min(words.find(' ', at), words.size());
        if (end > at) {
            all.push_back(words.substr(at, end - at));
        }
        at = end + 1;
    }
    return all;
}

/// Whether the number at `at` counts tokens of all drafts: both of "10 draft tokens, 3 accepted".
bool counts_accepted_tokens(const Words& words, std::size_t at) {
    const auto is = [&](std::size_t i, const char* word) { return i < words.size() && words[i] == word; };
    return is(at + 1, "accepted") || (is(at + 1, "draft") && is(at + 2, "tokens") && is(at + 4, "accepted"));
}

/// The number after the first of the names that has one; below 0 without.
int number_after_names(const Words& words, const std::vector<Words>& all_names) {
    for (const Words& names : all_names) {
        for (std::size_t at = 0; at + names.size() < words.size(); ++at) {
            const int count = whole_number(words[at + names.size()]);
            const bool of_sampling = names.front() == "k" && at > 0 && words[at - 1] == "top";
            const bool accepted = counts_accepted_tokens(words, at + names.size());
            if (count >= 0 && !of_sampling && !accepted &&
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

/// "1,034.5" as "1034.5", and "22,5", as most of Europe writes it, as "22.5".
std::string with_points(const std::string& cell) {
    constexpr std::size_t group = 3;
    std::string text;
    for (std::size_t at = 0; at < cell.size(); ++at) {
        const std::size_t end = std::min(cell.find_first_not_of("0123456789", at + 1), cell.size());
        const bool decimal = cell[at] == ',' && end > at + 1 && end - at - 1 < group && at > 0 &&
                             std::isdigit(static_cast<unsigned char>(cell[at - 1])) != 0 &&
                             (end == cell.size() || cell[end] != ',');
        text += cell[at] != ',' ? std::string(1, cell[at]) : decimal ? "." : "";
    }
    return text;
}

/// "~14 tok/s" without its sign.
std::string without_about(std::string cell) {
    for (const std::string_view about : {"~", "\u2248", "ca. ", "ca "}) {
        cell = cell.starts_with(about) ? trimmed(std::string_view(cell).substr(about.size())) : cell;
    }
    return cell;
}

}  // namespace

int whole_number(std::string_view word) {
    const std::optional<int> number = text::parse_number<int>(std::string(word));
    const bool digits = !word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) != 0;
    return digits && number && *number <= sim::most_draft_tokens ? *number : -1;
}

std::optional<std::pair<std::string, std::string>> sides_of_arrow(std::string_view text) {
    for (const std::string_view arrow : {"\u2192", "\u2794", "\u279C", "\u21D2", "-->", "->", "=>"}) {
        if (const std::size_t at = text.find(arrow); at != std::string_view::npos) {
            return std::pair{trimmed(text.substr(0, at)), trimmed(text.substr(at + arrow.size()))};
        }
    }
    return std::nullopt;
}

std::string plain_words(std::string_view name) {
    std::string words;
    for (const auto& [letter, word] : {std::pair{"\u03C4", " tau "}, std::pair{"\u03B3", " gamma "}}) {
        if (const std::size_t at = name.find(letter); at != std::string_view::npos) {
            return plain_words(std::string(name.substr(0, at)) + word + std::string(name.substr(at + 2)));
        }
    }
    for (const char letter : name) {
        const auto c = static_cast<unsigned char>(letter);
        if (std::isalnum(c) != 0) {
            words += static_cast<char>(std::tolower(c));
        } else if (!words.empty() && words.back() != ' ') {
            words += ' ';
        }
    }
    return words.substr(0, words.find_last_not_of(' ') + 1);
}

bool says(const std::string& words, std::string_view phrase) {
    for (std::size_t at = words.find(phrase); at != std::string::npos; at = words.find(phrase, at + 1)) {
        const std::size_t end = at + phrase.size();
        if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) {
            return true;
        }
    }
    return false;
}

bool means_plain(const std::string& words) {
    static const Words plain = {"baseline",
                                "plain",
                                "pure",
                                "ar",
                                "no spec",
                                "none",
                                "off",
                                "vanilla",
                                "without",
                                "no mtp",
                                "no draft",
                                "n a",
                                "disabled",
                                "no drafter",
                                "no speculation",
                                "base",
                                "spec off",
                                "mtp off",
                                "no",
                                "autoregressive",
                                "ohne",
                                "w o spec",
                                "w o mtp",
                                "w o",
                                "normal decoding",
                                "standard decoding",
                                "regular decoding"};
    return says_any(words, plain);
}

Role role_of(const std::string& words) {
    // In Spanish and German, of whose letters only those of ASCII are kept.
    if (is_any(words, {"longitud media aceptada", "longitud aceptada", "akzeptanzl nge"})) {
        return Role::length;
    }
    if (is_any(words, {"tasa aceptaci n", "tasa de aceptaci n", "akzeptanzrate"})) {
        return Role::accept_rate;
    }
    static const Words batches = {"concurrency",
                                  "conc",
                                  "concur",
                                  "max concurrency",
                                  "max concurrent",
                                  "concurrent",
                                  "clients",
                                  "batch",
                                  "batch size",
                                  "bs",
                                  "np",
                                  "parallel",
                                  "n parallel",
                                  "users",
                                  "b",
                                  "requests in flight",
                                  "slots",
                                  "streams",
                                  "concurrent requests",
                                  "concurrent users",
                                  "concurrent streams",
                                  "c",
                                  "parallel requests",
                                  "num concurrent"};
    static const Words drafts = {"k",
                                 "n max",
                                 "n",
                                 "draft n max",
                                 "spec draft n max",
                                 "draft max",
                                 "drafts",
                                 "draft tokens",
                                 "spec tokens",
                                 "draft n",
                                 "num speculative tokens",
                                 "gamma",
                                 "draft len",
                                 "draft length",
                                 "mtp n",
                                 "mtp",
                                 "speculative tokens",
                                 "steps",
                                 "num steps",
                                 "nextn",
                                 "n draft",
                                 "spec n max",
                                 "num spec tokens",
                                 "depth n",
                                 "speculative num steps",
                                 "draft depth",
                                 "mtp depth",
                                 "spec steps"};
    static const Words contexts = {"context",        "kontext", "ctx",   "depth",
                                   "context length", "ctx len", "n ctx", "context tokens"};
    static const Words prompts = {"isl", "input len", "input length", "prompt tokens", "input tokens", "prompt len", "prompt"};
    static const Words outputs = {"osl",        "output len", "output length", "output tokens", "generated tokens", "tokens",
                                  "max tokens", "gen tokens", "new tokens",    "n predict",     "gen len"};
    static const Words setups = {"config",  "configuration", "setup",   "mode", "method",
                                 "drafter", "spec",          "variant", "run",  "speculation"};
    static const Words others = {"p50",    "p90", "p95",     "p99",   "min",   "max", "std",
                                 "prompt", "pp",  "prefill", "input", "total", "peak"};
    if (is_any(words, batches)) {
        return Role::batch;
    }
    if (is_any(words, {"speculative num draft tokens", "num draft tokens"})) {
        return Role::tree;
    }
    const bool of_drafts = says_any(words, {"draft", "spec", "dflash", "dspark", "mtp", "eagle", "eagle3", "nextn"});
    if (is_any(words, drafts) || (of_drafts && words.ends_with(" tokens") && !says(words, "accepted"))) {
        return Role::drafts;
    }
    if (is_any(words, contexts)) {
        return Role::context;
    }
    if (is_any(words, prompts) || is_any(words, outputs)) {
        return is_any(words, prompts) ? Role::prompt : Role::output;
    }
    if (words == "test") {
        return Role::test;
    }
    if (is_any(words, setups)) {
        return Role::setup;
    }
    const bool of_accepting = says_any(words, {"accept", "acceptance", "acc", "accpt", "accepted"});
    if ((of_accepting && says_any(words, {"len", "length"})) ||
        is_any(words, {"al", "mean al", "avg al", "tau", "mean len", "tokens step", "tok step", "tokens iter", "tok iter",
                       "tokens per step", "tok cycle", "tokens cycle", "tau per stream"})) {
        return Role::length;
    }
    const bool names_rate = says(words, "rate") || words.ends_with(" acceptance") || words.ends_with(" accept");
    if (of_accepting && (names_rate || is_any(words, {"accept", "acceptance", "draft acceptance", "draft accept", "draft acc",
                                                      "accepted", "measured acceptance"}))) {
        return Role::accept_rate;
    }
    if (says_any(words, others)) {
        return Role::none;
    }
    if (says_any(words, {"speed up", "speedup", "gain"})) {
        return Role::none;
    }
    if (says_any(words, {"tpot", "ms tok", "ms token", "time per output token", "time per token", "per token latency",
                         "latency per token", "token latency", "ms per token"})) {
        return Role::tpot;
    }
    if (says(words, "ttft") || says(words, "time to first token")) {
        return Role::ttft;
    }
    if (says_any(words, {"s gpu", "s device", "per gpu", "per device", "tput gpu", "throughput gpu", "tps gpu"})) {
        return Role::none;  // of how many is not known
    }
    if (says_rate_of_tokens(words) || (names_generation(words) && !says(words, "ms"))) {
        return says_any(words, {"user", "req", "request", "slot", "stream"}) ? Role::rate_of_user : Role::rate;
    }
    return Role::none;
}

bool says_rate_of_tokens(const std::string& words) {
    static const Words rates = {"tok s",    "toks s",  "t s",        "ts",      "tk s",     "tps",
                                "tokens s", "token s", "tokens sec", "tok sec", "toks sec", "tokens per second"};
    return says_any(words, rates);
}

bool names_generation(const std::string& words) {
    const Words all = words_of(words);
    return std::any_of(all.begin(), all.end(), [](const std::string& word) {
        return word.starts_with("tg") && word.find_first_not_of("0123456789", 2) == std::string::npos;
    });
}

bool says_rate(const std::string& words) { return says_any(words, {"rate", "percent", "ratio"}); }

bool names_drafter(const std::string& words) {
    return !means_plain(words) &&
           says_any(words, {"mtp", "eagle", "eagle3", "dflash", "dflash2", "dspark", "nextn", "ngram", "n gram", "medusa",
                            "draft", "drafts", "spec", "speculative", "speculation", "lookup"});
}

std::string drafter_in(const std::string& words) {
    if (words == "draft") {
        return "draft model";
    }
    for (const char* name :
         {"mtp", "nextn", "eagle3", "eagle", "dflash2", "dflash", "dspark", "ngram", "medusa", "draft model"}) {
        if (says(words, name)) {
            return name;
        }
    }
    return says(words, "n gram") ? "ngram" : says(words, "eagle 3") ? "eagle3" : "";
}

bool names_something_else(const std::string& words) {
    return says_any(words, {"model", "target", "prompt", "dataset", "data", "task", "category", "workload", "gpu", "device",
                            "hardware", "backend", "quant", "precision"});
}

bool tells_deployment(const std::string& words) {
    return is_any(words, {"model",    "main model", "target model", "draft model",  "target",       "gpu",       "device",
                          "hardware", "card",       "quant",        "quantization", "quantisation", "precision", "format",
                          "weights",  "backend",    "tp",           "tp size",      "gpus",         "n gpu",     "num gpus"});
}

bool tells_variant(const std::string& words) {
    static const Words names = {"backend",
                                "back end",
                                "gpu backend",
                                "compute backend",
                                "build",
                                "commit",
                                "version",
                                "release",
                                "gpu",
                                "device",
                                "hardware",
                                "card",
                                "gpus",
                                "n gpu",
                                "num gpus",
                                "tp",
                                "tp size",
                                "cache",
                                "kv cache",
                                "kv",
                                "cache type",
                                "kv type",
                                "kv cache type",
                                "kv cache dtype",
                                "cache dtype",
                                "kv dtype",
                                "kv quant",
                                "kv cache format",
                                "attention",
                                "attn",
                                "attention backend",
                                "attn backend",
                                "draft attention backend"};
    return is_any(words, names);
}

std::string back_end_in(const std::string& words) {
    static const Words names = {"vulkan", "rocm", "hip", "metal", "sycl", "opencl", "musa", "cann", "cuda"};
    const auto named = [&](const std::string& name) {
        return says(words, name) && !says(words, name + " graph") && !says(words, name + " graphs");
    };
    const auto found = std::find_if(names.begin(), names.end(), named);
    return found == names.end() ? std::string() : *found;
}

bool is_of_trees(const std::string& words) {
    return is_any(words, {"branching", "branch", "topk", "top k", "eagle topk", "eagle top k", "tree width", "width"});
}

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
    const Words words = words_of(plain);
    if (const int chain = drafts_of_sglang(text, words); chain >= 0) {
        return chain > 0 ? chain : -1;
    }
    const int after = number_after_names(words, names), within = after >= 0 ? after : number_in_names(words),
              beside = within < 0 && names_drafter(plain) ? number_beside_drafter(words) : within;
    return beside >= 0 ? beside : means_plain(plain) ? 0 : -1;
}

int drafts_of_caption(const std::string& text) {
    static const std::vector<Words> names = {{"n", "max"},
                                             {"speculative", "tokens"},
                                             {"spec", "tokens"},
                                             {"draft", "tokens"},
                                             {"draft", "max"},
                                             {"draft", "size"},
                                             {"draft", "len"},
                                             {"k"},
                                             {"gamma"},
                                             {"num", "steps"},
                                             {"mtp"},
                                             {"mtp", "n"},
                                             {"mtp", "with", "n"}};
    const Words words = words_of(plain_words(text));
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

std::string unit_of(const std::string& text) {
    const std::string cell = without_about(text);
    const std::size_t digits = cell.find_first_of("0123456789");
    if (digits != 0) {
        return {};
    }
    std::string unit = cell.substr(std::min(cell.find_first_not_of("0123456789.,"), cell.size()));
    if (const std::size_t spread = unit.find("\u00B1"); spread != std::string::npos) {  // "11.3 ± 0.4 t/s"
        const std::string behind = trimmed(std::string_view(unit).substr(spread + 2));
        unit = unit.substr(0, spread) + behind.substr(std::min(behind.find_first_not_of("0123456789.,"), behind.size()));
    }
    return unit.substr(0, unit.find('('));
}

std::optional<double> number_of(std::string cell, double thousand) {
    if (sides_of_arrow(cell)) {
        return std::nullopt;
    }
    cell = without_about(with_points(cell));
    const std::optional<double> number = number_after(cell, "");
    const std::size_t after = cell.find_first_not_of("0123456789. ");
    const bool thousands = number && after != std::string::npos && after > 0 && (cell[after] == 'k' || cell[after] == 'K');
    return thousands ? std::optional(*number * thousand) : number;
}

std::optional<double> mean_of_runs(const std::string& cell) {
    constexpr double largest_spread = 0.2;
    if (const std::size_t bracket = cell.find('(');
        bracket != std::string::npos && number_of(cell.substr(0, bracket), 1000.0)) {
        return mean_of_runs(cell.substr(0, bracket));  // "41.2 (39.8-42.5)"
    }
    std::string parts;
    for (std::size_t at = 0; at < cell.size(); ++at) {
        const bool dash = cell.compare(at, 3, "\u2013") == 0, hyphen = cell[at] == '-';
        const std::size_t next = std::min(cell.find_first_not_of(' ', at + (dash ? 3 : 1)), cell.size());
        const bool range = (dash || hyphen) && at > 0 && cell[at - 1] != 'e' && next < cell.size() &&
                           std::isdigit(static_cast<unsigned char>(cell[next])) != 0;
        parts += range ? '/' : cell[at];
        at += range && dash ? 2 : 0;
    }
    double sum = 0.0;
    int runs = 0;
    std::istringstream in(parts);
    for (std::string part; std::getline(in, part, '/');) {
        const std::optional<double> number = number_of(trimmed(part), 1000.0);
        if (!number) {
            break;  // "59.4 tok/s"
        }
        const bool last_of_two = runs == 1 && std::count(parts.begin(), parts.end(), '/') == 1;
        if (last_of_two && *number < largest_spread * sum) {
            break;  // "31.00/0.07": a mean and its spread
        }
        sum += *number;
        ++runs;
    }
    return runs > 0 ? std::optional(sum / runs) : std::nullopt;
}

}  // namespace treeline::runs::run_formats_of
