#include "runs/formats/load_columns.h"
#include "runs/formats/load_numbers.h"
#include "runs/formats/time_units.h"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

namespace treeline::runs::run_formats_of {
namespace {

using Words = std::vector<std::string>;

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

}  // namespace

std::string plain_words(std::string_view name) {
    std::string words;
    for (const auto& [letter, word] : {std::pair{"\u03C4", " tau "},
                                       {"\u03B3", " gamma "},
                                       {"\u00B5", "u"},  // of "\u00B5s", in both of its forms
                                       {"\u03BC", "u"}}) {
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

std::vector<std::string> words_of(const std::string& words) {
    std::vector<std::string> all;
    for (std::size_t at = 0; at < words.size();) {
        const std::size_t end = std::min(words.find(' ', at), words.size());
        if (end > at) {
            all.push_back(words.substr(at, end - at));
        }
        at = end + 1;
    }
    return all;
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

namespace {

/// Units, and words that every measurement may stand beside.
bool is_of_measurement(const std::string& word) {
    static const Words all = {"tok",    "toks",       "tokens",     "token",    "t",       "tk",    "s",      "ts",
                              "tps",    "sec",        "per",        "second",   "ms",      "us",    "tpot",   "itl",
                              "ttft",   "k",          "n",          "time",     "rate",    "speed", "decode", "output",
                              "gen",    "generation", "tg",         "mean",     "median",  "avg",   "mode",   "setting",
                              "config", "setup",      "throughput", "decoding", "average", "at",    "run"};
    return is_any(word, all) || word.find_first_of("0123456789") != std::string::npos;
}

}  // namespace

bool denies_drafting(const std::string& words) {
    static const Words names = {"spec",     "speculation", "speculative", "mtp",    "draft",  "drafts",   "drafter",
                                "drafting", "eagle",       "eagle1",      "eagle2", "eagle3", "dflash",   "dspark",
                                "medusa",   "ngram",       "lookup",      "suffix", "nextn",  "lookahead"};
    static const Words before = {"without", "ohne", "sans", "sin", "no", "non", "not", "disabling", "minus"},
                       behind = {"off", "disabled", "inactive", "none"}, articles = {"a", "an", "the", "any", "n"},
                       fillers = {"decoding", "decode", "model", "models", "head", "heads",    "module", "tokens",
                                  "type",     "method", "mode",  "is",     "set",  "switched", "turned", "to"};
    const Words all = words_of(words);
    const auto is_name = [&](std::size_t i) {
        return is_any(all[i], names) || (all[i] == "gram" && i > 0 && all[i - 1] == "n");
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!is_name(i)) {
            continue;
        }
        std::size_t first = i, last = i + 1;
        while (first > 0 && is_any(all[first - 1], articles)) {
            --first;
        }
        while (last < all.size() && is_any(all[last], fillers)) {
            ++last;
        }
        const bool w_o = first > 1 && all[first - 2] == "w" && all[first - 1] == "o";
        const bool not_using = first > 1 && all[first - 2] == "not" && all[first - 1] == "using";
        const bool ends = last + 1 >= all.size() || is_of_measurement(all[last + 1]);  // "MTP without graphs" drafts
        if ((first > 0 && is_any(all[first - 1], before)) || w_o || not_using ||
            (last < all.size() && (is_any(all[last], behind) || (all[last] == "without" && ends)))) {
            return true;
        }
    }
    return false;
}

namespace {

/// "off", "tok/s (none)": a word that denies, beside nothing but words of a measurement. Beside another word it denies that one
/// ("think off", "no thinking").
bool denies_alone(const std::string& words) {
    static const Words denying = {"none", "off", "without", "na", "disabled", "inactive", "no", "ohne"};
    std::string joined = " " + words + " ";
    for (const auto& [phrase, word] : {std::pair{" n a ", " na "}, {" w o ", " without "}}) {
        if (const std::size_t at = joined.find(phrase); at != std::string::npos) {
            joined.replace(at, std::string_view(phrase).size(), word);
        }
    }
    const Words all = words_of(joined);
    const auto denies = [&](const std::string& word) { return is_any(word, denying); };
    return std::any_of(all.begin(), all.end(), denies) && std::all_of(all.begin(), all.end(), [&](const std::string& word) {
               return denies(word) || is_of_measurement(word);
           });
}

}  // namespace

bool means_plain(const std::string& words) {
    static const Words plain = {
        "baseline",          "plain",           "pure", "ar", "vanilla", "base", "autoregressive", "normal decoding",
        "standard decoding", "regular decoding"};
    return says_any(words, plain) || denies_drafting(words) || denies_alone(words);
}

bool leaves_bonus_out(const std::string& words) {
    static const Words names = {"accepted round",
                                "accepted per round",
                                "accepted drafts round",
                                "accepted drafts per round",
                                "drafts accepted per round",
                                "accepted tokens round",
                                "accepted tokens per round"};
    return is_any(words, names);
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
                                  "concurrencies",
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
                                 "spec steps",
                                 "cap",
                                 "draft cap"};
    static const Words contexts = {"context",        "kontext", "ctx",   "depth",
                                   "context length", "ctx len", "n ctx", "context tokens"};
    static const Words prompts = {"isl", "input len", "input length", "prompt tokens", "input tokens", "prompt len", "prompt"};
    static const Words outputs = {"osl",        "output len", "output length", "output tokens", "generated tokens", "tokens",
                                  "max tokens", "gen tokens", "new tokens",    "n predict",     "gen len"};
    static const Words setups = {"config",  "configuration", "setup",   "mode", "method",
                                 "drafter", "spec",          "variant", "run",  "speculation"};
    static const Words others = {"p50", "p90", "p95", "p99", "min", "max", "std", "prompt", "pp", "prefill", "input", "total",
                                 "peak",
                                 // and what was not measured
                                 "projected", "estimated", "theoretical", "expected", "predicted"};
    if (is_any(words, batches)) {
        return Role::batch;
    }
    // The root, which is verified with the drafts, is one of them. (mlx-vlm and DFlash call that a block.)
    if (is_any(words, {"speculative num draft tokens", "num draft tokens", "draft block size", "dflash block size"})) {
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
    if ((of_accepting && says_any(words, {"len", "length"})) || leaves_bonus_out(words) ||
        is_any(words, {"al", "mean al", "avg al", "tau", "mean len", "tokens step", "tok step", "tokens iter", "tok iter",
                       "tokens per step", "tok cycle", "tokens cycle", "tau per stream"}) ||
        (of_drafts && (words.ends_with(" al") || words.ends_with(" tau")))) {
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
    if (says_time_per_token(words) || says_any(words, {"tpot", "time per output token", "time per token", "per token latency",
                                                       "latency per token", "token latency"})) {
        return Role::tpot;
    }
    if (says(words, "ttft") || says(words, "time to first token")) {
        return Role::ttft;
    }
    if (says_any(words, {"s gpu", "s device", "per gpu", "per device", "tput gpu", "throughput gpu", "tps gpu"})) {
        return Role::none;  // of how many is not known
    }
    if (says_rate_of_tokens(words) || (names_generation(words) && !unit_in_words(words).named())) {
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

bool names_look_up(const std::string& words) {
    const Words all = words_of(words);
    return says(words, "n gram") || says_any(words, {"lookup", "look up", "suffix"}) ||
           std::any_of(all.begin(), all.end(), [](const std::string& word) { return word.starts_with("ngram"); });
}

bool names_drafter(const std::string& words) {
    const Words all = words_of(words);
    const bool numbered = std::any_of(all.begin(), all.end(), [](const std::string& word) {
        return word.starts_with("eagle") && word.find_first_not_of("0123456789", 5) == std::string::npos;  // "eagle1"
    });
    return !means_plain(words) && (numbered || names_look_up(words) ||
                                   says_any(words, {"mtp", "eagle", "eagle3", "dflash", "dflash2", "dspark", "nextn", "medusa",
                                                    "draft", "drafts", "spec", "speculative", "speculation"}));
}

namespace {

/// "3" of "eagle 3 head", which people write with a hyphen; empty where the number counts something ("eagle, 3 draft tokens",
/// "eagle 3-1-4").
std::string version_behind(const std::string& words, const std::string& name) {
    static const Words counted = {"draft", "drafts", "token", "tokens", "step", "steps", "spec", "speculative", "x"};
    const Words all = words_of(words);
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
        const std::string next = i + 2 < all.size() ? all[i + 2] : "";
        if (all[i] == name && is_any(all[i + 1], {"1", "2", "3"}) && !is_any(next, counted) && whole_number(next) < 0) {
            return all[i + 1];
        }
    }
    return "";
}

}  // namespace

std::string drafter_in(const std::string& words) {
    if (words == "draft") {
        return "draft model";
    }
    for (const char* name :
         {"mtp", "nextn", "eagle3", "eagle2", "eagle1", "eagle", "dflash2", "dflash", "dspark", "medusa", "draft model"}) {
        if (says(words, name)) {
            return name + (name == std::string_view("eagle") ? version_behind(words, name) : "");
        }
    }
    return names_look_up(words) ? "ngram" : "";
}

bool names_something_else(const std::string& words) {
    return says_any(words, {"model", "target", "prompt", "dataset", "data", "task", "category", "workload", "gpu", "device",
                            "hardware", "backend", "quant", "precision"});
}

bool names_repetition(const std::string& words) {
    return is_any(words, {"run", "trial", "seed", "iteration", "iter", "rep", "repeat", "id", "no", "attempt"});
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
                                "draft attention backend",
                                "n cpu moe",
                                "ncmoe",
                                "ngl",
                                "n gpu layers",
                                "gpu layers"};
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

std::string placement_in(const std::string& words) {
    static const std::vector<std::pair<std::string, std::string>> counted = {
        {"n cpu moe", "n-cpu-moe"}, {"ncmoe", "n-cpu-moe"}, {"n gpu layers", "ngl"}, {"gpu layers", "ngl"}, {"ngl", "ngl"}};
    for (const auto& [phrase, name] : counted) {
        if (const std::size_t at = (" " + words).find(" " + phrase + " "); at != std::string::npos) {
            const std::string rest = words.substr(at + phrase.size() + 1), value = rest.substr(0, rest.find(' '));
            return number_of(value) || value == "all" ? name + " " + value : "";
        }
    }
    return says(words, "cpu moe") || says(words, "cmoe") ? "cpu-moe" : "";
}

StatedRanks ranks_in(const std::string& words) {
    StatedRanks found;
    const Words all = words_of(words);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const bool tensor = all[i].starts_with("tp");
        if (!tensor && !all[i].starts_with("dp")) {
            continue;
        }
        const std::string digits = all[i].size() > 2 ? all[i].substr(2) : i + 1 < all.size() ? all[i + 1] : "";  // "TP = 4"
        if (const int count = whole_number(digits); count > 0) {
            (tensor ? found.tensor : found.data) = count;
            found.text += (found.text.empty() ? "" : " ") + all[i].substr(0, 2) + digits;
        }
    }
    return found;
}

std::string engine_in(const std::string& words) {
    static constexpr std::array<std::pair<const char*, const char*>, 10> engines = {{{"vllm", "vLLM"},
                                                                                     {"sglang", "SGLang"},
                                                                                     {"mlx", "MLX"},
                                                                                     {"ik llama cpp", "ik_llama.cpp"},
                                                                                     {"llama cpp", "llama.cpp"},
                                                                                     {"gguf", "llama.cpp"},
                                                                                     {"ollama", "Ollama"},
                                                                                     {"tensorrt llm", "TensorRT-LLM"},
                                                                                     {"trt llm", "TensorRT-LLM"},
                                                                                     {"exllamav3", "ExLlamaV3"}}};
    const auto named =
        std::find_if(engines.begin(), engines.end(), [&](const auto& engine) { return says(words, engine.first); });
    return named == engines.end() ? std::string() : named->second;
}

bool is_of_trees(const std::string& words) {
    return is_any(words, {"branching", "branch", "topk", "top k", "eagle topk", "eagle top k", "tree width", "width"});
}

}  // namespace treeline::runs::run_formats_of
