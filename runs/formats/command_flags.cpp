#include "runs/formats/command_flags.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <sstream>
#include <utility>
#include <vector>

#include "runs/builder.h"
#include "text/parse_number.h"

namespace treeline::runs::run_formats_of {
namespace {

using Programs = std::vector<std::pair<std::string_view, const char*>>;

/// What stands before a program's arguments, and its engine.
const Programs& programs() {
    static const Programs all = {{"llama-server ", "llama.cpp"},
                                 {"llama serve ", "llama.cpp"},
                                 {"llama-cli ", "llama.cpp"},
                                 {"launch_server ", "sglang"},
                                 {"sglang.launch_server", "sglang"},
                                 {"sglang serve ", "sglang"},
                                 {"vllm serve ", "vllm"},
                                 {"vllm.entrypoints", "vllm"},
                                 {"trtllm-serve ", "tensorrt-llm"},
                                 {"mlx_lm.", "mlx"}};
    return all;
}

std::string without_quotes(std::string word) {
    const auto quote = [](char c) { return c == '"' || c == '\'' || c == '`'; };
    while (!word.empty() && quote(word.back())) {
        word.pop_back();
    }
    return word.substr(
        std::min(static_cast<std::size_t>(std::find_if_not(word.begin(), word.end(), quote) - word.begin()), word.size()));
}

/// The words of a command, flags apart from the value behind "=".
std::vector<std::string> words_of_command(std::string_view line) {
    std::istringstream in{std::string(line)};
    std::vector<std::string> words;
    for (std::string word; in >> word;) {
        const std::size_t equals = word.starts_with('-') ? word.find('=') : std::string::npos;
        words.push_back(without_quotes(word.substr(0, equals)));
        if (equals != std::string::npos) {
            words.push_back(without_quotes(word.substr(equals + 1)));
        }
    }
    return words;
}

/// A value that is none of a shell's variables, a place to fill in, or the next flag.
bool is_name(const std::string& word) {
    return !word.empty() && std::string_view("-$<{[\\").find(word.front()) == std::string_view::npos;
}

std::string value_of(const std::vector<std::string>& words, std::initializer_list<std::string_view> flags) {
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        if (std::find(flags.begin(), flags.end(), words[i]) != flags.end() && is_name(words[i + 1])) {
            return words[i + 1];
        }
    }
    return {};
}

/// "vllm serve Qwen/Qwen3-8B": a model without a flag, which is a path, so that no word of prose is one.
std::string model_behind_program(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        if ((words[i] == "serve" || words[i] == "trtllm-serve") && words[i + 1].find('/') != std::string::npos &&
            is_name(words[i + 1])) {
            return words[i + 1];
        }
    }
    return {};
}

/// A text in JSON, as vLLM's --speculative-config takes it.
std::string text_in_json(std::string_view line, const std::string& key) {
    const std::size_t at = line.find("\"" + key + "\"");
    const std::size_t colon = at == std::string_view::npos ? at : line.find(':', at);
    const std::size_t begin = colon == std::string_view::npos ? colon : line.find('"', colon);
    const std::size_t end = begin == std::string_view::npos ? begin : line.find('"', begin + 1);
    return end == std::string_view::npos ? std::string() : std::string(line.substr(begin + 1, end - begin - 1));
}

double count_of(const std::string& word) { return text::parse_number<double>(word).value_or(1.0); }

std::string method_of(const std::vector<std::string>& words, std::string_view line) {
    std::string method = value_of(words, {"--speculative-algorithm", "--speculative-algo"});
    if (std::string type = value_of(words, {"--spec-type"}); method.empty() && type.find(',') == std::string::npos) {
        type = type.substr(0, type.find(':'));
        method = type.starts_with("draft-") ? type.substr(6) : type;
    }
    return !method.empty() || line.find("--speculative-config") == std::string_view::npos ? method
                                                                                          : text_in_json(line, "method");
}

}  // namespace

std::string engine_of_command(std::string_view line) {
    for (const auto& [program, engine] : programs()) {
        if (line.find(program) != std::string_view::npos) {
            return engine;
        }
    }
    return {};
}

RunIdentity identity_of_flags(std::string_view line, const std::string& engine) {
    const std::vector<std::string> words = words_of_command(line);
    RunIdentity found;
    found.engine = engine;
    found.model = value_of(words, {"--model", "--model-path"});
    if (found.model.empty()) {
        found.model = engine == "llama.cpp" ? value_of(words, {"-m"}) : model_behind_program(words);
    }
    found.drafter = value_of(words, {"-md", "--model-draft", "--spec-draft-model", "--draft-model", "--speculative-model",
                                     "--speculative-draft-model-path", "--speculative-draft-model", "--speculative-draft"});
    if (found.drafter.empty() && line.find("--speculative-config") != std::string_view::npos) {
        found.drafter = text_in_json(line, "model");
    }
    found.method = method_of(words, line);
    const std::string tensor = value_of(words, {"--tensor-parallel-size", "-tp", "--tp", "--tp-size", "--tp_size"}),
                      pipeline = value_of(words, {"--pipeline-parallel-size", "-pp", "--pp", "--pp-size", "--pp_size"});
    found.ranks = tensor.empty() && pipeline.empty() ? 0.0 : count_of(tensor) * count_of(pipeline);
    return found;
}

}  // namespace treeline::runs::run_formats_of
