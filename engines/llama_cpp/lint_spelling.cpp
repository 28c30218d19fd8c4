// Its parser compares whole words (common_params_parse_ex of common/arg.cpp): a short name with two dashes, a long one with
// one, and "--name=value" are unknown to it.
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "engines/llama_cpp/lint_spelling.h"

namespace treeline::engines::llama_cpp {
namespace {

using Kind = FindingKind;

/// Short names that are no words of other programs, each with the long one.
constexpr std::array<std::pair<std::string_view, std::string_view>, 20> short_names = {{{"ngl", "--n-gpu-layers"},
                                                                                        {"fa", "--flash-attn"},
                                                                                        {"ctk", "--cache-type-k"},
                                                                                        {"ctv", "--cache-type-v"},
                                                                                        {"np", "--parallel"},
                                                                                        {"ub", "--ubatch-size"},
                                                                                        {"ot", "--override-tensor"},
                                                                                        {"cmoe", "--cpu-moe"},
                                                                                        {"ncmoe", "--n-cpu-moe"},
                                                                                        {"kvu", "--kv-unified"},
                                                                                        {"nkvo", "--no-kv-offload"},
                                                                                        {"cram", "--cache-ram"},
                                                                                        {"ctxcp", "--ctx-checkpoints"},
                                                                                        {"md", "--spec-draft-model"},
                                                                                        {"ngld", "--spec-draft-ngl"},
                                                                                        {"devd", "--spec-draft-device"},
                                                                                        {"ctkd", "--spec-draft-type-k"},
                                                                                        {"ctvd", "--spec-draft-type-v"},
                                                                                        {"hfd", "--spec-draft-hf"},
                                                                                        {"ncmoed", "--spec-draft-n-cpu-moe"}}};

/// Long names that stand in the same commands and are no flags of Docker, which takes "--name=value".
const std::vector<std::string> long_names = {"--gpu-layers",  "--n-gpu-layers",    "--flash-attn",   "--ctx-size",
                                             "--parallel",    "--cache-type-k",    "--cache-type-v", "--batch-size",
                                             "--ubatch-size", "--override-tensor", "--cpu-moe",      "--n-cpu-moe",
                                             "--kv-unified",  "--split-mode",      "--tensor-split", "--hf-repo"};

bool is_long_name(const std::string& word, const Engine& engine) {
    return word.starts_with("--") &&
           (engine.takes(word) || std::find(long_names.begin(), long_names.end(), word) != long_names.end());
}

/// Flags whose value may not be left out, although it once could, or looks as if it could.
struct Choice {
    std::vector<std::string_view> names;
    std::vector<std::string_view> words;
    const char* since;
};

const std::vector<Choice>& choices() {
    static const std::vector<std::string_view> on_off = {"on", "off", "enabled", "disabled", "true", "false", "1", "0"};
    static const std::vector<std::string_view> on_off_auto = [] {
        std::vector<std::string_view> words = on_off;
        words.insert(words.end(), {"auto", "-1"});
        return words;
    }();
    // Pull request 15434 of August 2025: --flash-attn was a switch before.
    static const std::vector<Choice> all = {{{"--flash-attn", "-fa"}, on_off_auto, " since build b6325 (August 2025)"},
                                            {{"--log-colors"}, on_off_auto, ""},
                                            {{"--fit", "-fit"}, on_off, ""}};
    return all;
}

void check_choices(const Flags& flags, Findings& findings) {
    for (const Choice& choice : choices()) {
        const Flag* flag = flags.find(choice.names);
        if (flag == nullptr || (flag->value && flag->value->find(',') != std::string::npos)) {
            continue;  // "0,1" is a list of llama-bench
        }
        const char* words = choice.words.back() == "-1" ? "on, off or auto" : "on or off";
        if (!flag->value) {
            findings.add(Kind::missing, flag->name,
                         fmt::format("needs a value{}: llama.cpp takes the next word for it and does not start; write {} on",
                                     choice.since, flag->name));
        } else if (std::find(choice.words.begin(), choice.words.end(), *flag->value) == choice.words.end()) {
            findings.add(Kind::value, flag->name, fmt::format("is {}, but must be {}", *flag->value, words));
        }
    }
}

void check_word(const std::string& word, const Engine& engine, Findings& findings) {
    std::string name = word.substr(0, word.find('='));
    std::replace(name.begin(), name.end(), '_', '-');
    if (name.size() != word.size() && is_long_name(name, engine)) {
        findings.add(Kind::unknown, name,
                     "has its value behind \"=\": llama.cpp takes it as the next word and does not start with this");
    }
    if (name.size() > 3 && name[1] != '-' && is_long_name("-" + name, engine)) {
        findings.add(Kind::unknown, name, fmt::format("has one dash: llama.cpp does not start with it; write -{}", name));
    }
    const auto found = std::find_if(short_names.begin(), short_names.end(),
                                    [&](const auto& both) { return name == "--" + std::string(both.first); });
    if (found != short_names.end()) {
        findings.add(
            Kind::unknown, name,
            fmt::format("has two dashes: llama.cpp does not start with it; write -{} or {}", found->first, found->second));
    }
}

}  // namespace

void check_spelling(const LintInput& input, const Engine& engine, Findings& findings) {
    if (input.of_keys) {
        return;  // presets take every name without dashes
    }
    for (const std::string& word : input.command.words) {
        if (word.size() > 2 && word.front() == '-') {
            check_word(word, engine, findings);
        }
    }
    check_choices(Flags(input.command.words), findings);
}

}  // namespace treeline::engines::llama_cpp
