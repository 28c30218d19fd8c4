#include "requests/load_matrix.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "json/yaml.h"
#include "requests/familiar_flags.h"
#include "requests/keys/setup_keys.h"
#include "text/input_error.h"
#include "text/input_file.h"
#include "text/number_text.h"
#include "text/parse_number.h"
#include "text/wording.h"

namespace treeline::requests {
namespace {

using Json = nlohmann::ordered_json;

/// Larger files are no matrix that anyone wrote.
constexpr std::size_t longest_matrix = 256u << 10;

/// The flags that a matrix may give, in the order in which they are written.
const std::vector<std::string> flags_of_questions = {"--target",  "--device",        "--tensor-parallel", "--engine",
                                                     "--drafter", "--concurrency",   "--batch",           "--arrival-rate",
                                                     "--prompt",  "--output-tokens", "--context",         "--draft-tokens"};

bool is_load(const std::string& flag) {
    static constexpr std::array<std::string_view, 7> loads = {"--concurrency",   "--batch",   "--arrival-rate", "--prompt",
                                                              "--output-tokens", "--context", "--draft-tokens"};
    return std::find(loads.begin(), loads.end(), flag) != loads.end();
}

/// What a matrix says, by flag: each value once, in its own order.
struct Matrix {
    std::map<std::string, std::vector<std::string>> values;
    std::vector<std::string> lists;  ///< keys that list several loads

    void add(const std::string& flag, const std::string& value) {
        std::vector<std::string>& all = values[flag];
        if (std::find(all.begin(), all.end(), value) == all.end()) {
            all.push_back(value);
        }
    }
    [[nodiscard]] bool has(const std::string& flag) const { return values.contains(flag); }
};

/// "Batch_Sizes" as "--batch-size", "num_speculative_tokens_list" as "--num-speculative-tokens".
std::string flag_of_key(std::string key) {
    std::transform(key.begin(), key.end(), key.begin(), [](unsigned char c) {
        const bool blank = c == '_' || c == ' ';
        return static_cast<char>(blank ? '-' : std::tolower(c));
    });
    key = "--" + key.substr(std::min(key.find_first_not_of('-'), key.size()));
    for (const std::string_view end : {"-list", "-values", "-sweep"}) {
        key = key.ends_with(end) ? key.substr(0, key.size() - end.size()) : key;
    }
    for (const std::string& name : {key, key.ends_with("ies") ? key.substr(0, key.size() - 3) + "y" : key,
                                    key.ends_with('s') ? key.substr(0, key.size() - 1) : key}) {
        if (std::find(flags_of_questions.begin(), flags_of_questions.end(), name) != flags_of_questions.end()) {
            return name;
        }
        if (const std::string here = flag_here(name, flags_of_questions); !here.empty()) {
            return here;
        }
    }
    return key == "--model" || key == "--models" ? "--target" : "";
}

/// A client's "backend: openai-chat" names no engine.
bool may_be_value(const std::string& flag, const std::string& word) {
    const auto& engines = platform_keys::engine_words;
    return flag != "--engine" || std::find(engines.begin(), engines.end(), word) != engines.end();
}

/// A value that can be written behind a flag; empty for another.
std::string word_of(const Json& value) {
    constexpr std::size_t longest = 100;
    const std::string text = value.is_string()   ? value.get<std::string>()
                             : value.is_number() ? text::short_text(value.get<double>())
                                                 : "";
    const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || std::string_view("._/:@+-").find(static_cast<char>(c)) != std::string_view::npos;
    });
    return plain && text.size() <= longest ? text : "";
}

/// Sizes of captured graphs and of compiled shapes are no loads.
bool configures_engine(const std::string& key) {
    static constexpr std::array<std::string_view, 5> parts = {"graph", "compil", "capture", "autotune", "per_batch"};
    return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return key.find(part) != std::string::npos; });
}

/// InferenceX's "conc-start: 4, conc-end: 64", by powers of two.
void take_range(const Json& object, Matrix& matrix) {
    constexpr double most = 1e6;
    const Json first = object.value("conc-start", Json()), last = object.value("conc-end", Json());
    if (!first.is_number() || !last.is_number() || first.get<double>() < 1.0 || last.get<double>() > most) {
        return;
    }
    for (double load = first.get<double>(); load <= last.get<double>(); load *= 2.0) {
        matrix.add("--concurrency", text::short_text(load));
    }
    if (first.get<double>() < last.get<double>()) {
        matrix.lists.emplace_back("conc-start");
    }
}

/// "speculative_config": what its keys name is the drafter.
bool is_of_drafter(const std::string& key) {
    return key.find("spec") != std::string::npos || key.find("draft") != std::string::npos;
}

/// `of_drafter`: within such a key.
void take(const Json& node, bool of_drafter, Matrix& matrix) {
    if (node.is_object()) {
        take_range(node, matrix);
    }
    for (const auto& [key, value] : node.items()) {
        if (configures_engine(key)) {
            continue;
        }
        std::string flag = node.is_object() ? flag_of_key(key) : "";
        flag = of_drafter && flag == "--target" ? "--drafter" : flag;
        const bool words = value.is_array() && !value.empty() &&
                           std::all_of(value.begin(), value.end(), [](const Json& one) { return !word_of(one).empty(); });
        if (flag.empty() || (value.is_structured() && !words)) {
            if (value.is_structured()) {
                take(value, of_drafter || is_of_drafter(key), matrix);
            }
            continue;
        }
        for (const Json& one : value.is_array() ? value : Json::array({value})) {
            if (const std::string word = word_of(one);
                !word.empty() && (one.is_number() || !is_load(flag)) && may_be_value(flag, word)) {
                matrix.add(flag, word);
            }
        }
        const bool several =
            value.is_array() && std::count_if(value.begin(), value.end(), [](const Json& one) { return one.is_number(); }) > 1;
        if (several && is_load(flag)) {
            matrix.lists.push_back(key);
        }
    }
}

struct Question {
    std::string command;
    std::string again;  ///< "--prompt 8192": what the command is to be repeated with; empty for nothing
};

Question question_of(const Matrix& matrix) {
    Question question{"treeline recommend", ""};
    for (const std::string& flag : flags_of_questions) {
        const bool device = flag == "--device";
        if (!matrix.has(flag)) {
            question.command += device ? " --device NAME" : "";
            continue;
        }
        const std::vector<std::string>& values = matrix.values.at(flag);
        // A list of lengths, rates, models or drafters would be a mixture, or is none: one at a time.
        const bool one = flag == "--prompt" || flag == "--output-tokens" || flag == "--context" || flag == "--target" ||
                         flag == "--drafter" || flag == "--arrival-rate";
        question.command += " " + flag + " " + (one ? values.front() : fmt::format("{}", fmt::join(values, ",")));
        const bool load = flag == "--concurrency" || flag == "--arrival-rate";
        question.command += load && !matrix.has("--output-tokens") ? " --output-tokens TOKENS" : "";
        if (one && values.size() > 1) {
            question.again += fmt::format("{}{} {}", question.again.empty() ? "" : " and ", flag,
                                          text::listed({values.begin() + 1, values.end()}, "or"));
        }
    }
    return question;
}

/// A number that is measured, by its key.
bool measures(const Json& node) {
    static constexpr std::array<std::string_view, 8> names = {"throughput", "tpot",  "ttft",       "latency",
                                                              "tok_s",      "tok/s", "acceptance", "accept_len"};
    for (const auto& [key, value] : node.items()) {
        const bool measured = value.is_number() && node.is_object() &&
                              std::any_of(names.begin(), names.end(),
                                          [&key = key](std::string_view name) { return key.find(name) != std::string::npos; });
        if (measured || (value.is_structured() && measures(value))) {
            return true;
        }
    }
    return false;
}

/// An input of ours, or a part of one that flags complete: it is the reader's to judge.
bool is_of_ours(const Json& tree) {
    static const std::vector<std::string> tell = {"target", "platforms", "platform", "traffic", "axes"};
    static const std::vector<std::string> keys = {
        "drafters", "drafter",     "draft_tokens", "shapes",        "shape",       "prompt_tokens", "output_tokens", "batch",
        "context",  "concurrency", "arrival_rate", "limits",        "objective",   "rollback",      "verification",  "decoding",
        "title",    "source",      "prefix_hit",   "shared_prefix", "expert_pool", "conditions",    "training"};
    const auto holds = [](const std::vector<std::string>& names, const std::string& key) {
        return std::find(names.begin(), names.end(), key) != names.end();
    };
    if (!tree.is_object()) {
        return false;
    }
    bool all = true;
    for (const auto& [key, value] : tree.items()) {
        if (holds(tell, key)) {
            return true;
        }
        all = all && holds(keys, key);
    }
    return all;
}

}  // namespace

std::string matrix_of_loads(const Json& tree) {
    Matrix matrix;
    if (!tree.is_structured() || is_of_ours(tree) || measures(tree)) {
        return "";
    }
    take(tree, false, matrix);
    const bool names_more = matrix.has("--target") || matrix.lists.size() > 1 || matrix.values.size() > 2;
    if (matrix.lists.empty() || !names_more) {
        return "";
    }
    // Batches beside lengths of answers are requests in flight.
    if (matrix.has("--batch") && matrix.has("--output-tokens") && !matrix.has("--concurrency")) {
        matrix.values["--concurrency"] = matrix.values.at("--batch");
        matrix.values.erase("--batch");
    }
    const Question question = question_of(matrix);
    return fmt::format("is a matrix of loads to measure; as a question it is `{}`{}", question.command,
                       question.again.empty() ? "" : ", and again with " + question.again);
}

std::string matrix_in_text(const std::string& text) {
    const json::ParsedYaml parsed = json::parse_yaml(text);
    return parsed.failure.empty() ? matrix_of_loads(parsed.tree) : "";
}

void refuse_matrix(const std::string& file) {
    std::string sentence;
    try {
        sentence = matrix_in_text(text::read_file(file, longest_matrix));
    } catch (const text::InputError&) {
        return;
    }
    if (!sentence.empty()) {
        throw text::InputError({file + ": " + sentence});
    }
}

json::Document load_question(const std::string& file) {
    try {
        return json::Document::load(file);
    } catch (const text::InputError&) {
        refuse_matrix(file);
        throw;
    }
}

}  // namespace treeline::requests
