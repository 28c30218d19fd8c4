#include "engines/lint.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "engines/definition.h"
#include "engines/deployment_file.h"
#include "engines/lint_input.h"
#include "engines/unknown_values.h"
#include "json/reader.h"

namespace treeline::engines {
namespace {

Engine newest(EngineName name) {
    for (const Engine& engine : newest_engines()) {
        if (engine.name == name) {
            return engine;
        }
    }
    return newest_engines().front();
}

/// The oldest version whose rules are known.
std::string first_version(EngineName name) {
    const std::vector<Engine>& all = all_engines();
    return std::find_if(all.begin(), all.end(), [&](const Engine& engine) { return engine.name == name; })->version;
}

Engine engine_of(const LintInput& input, const std::optional<Engine>& asked) {
    if (!asked && !input.engine) {
        throw text::InputError({"the text names no engine; give it with --engine"});
    }
    const Engine engine = asked ? *asked : input.version.empty() ? newest(*input.engine) : find_engine(input.version);
    if (input.engine && *input.engine != engine.name) {
        throw text::InputError({fmt::format("the text is for {}, not for {}", newest(*input.engine).title, engine.title)});
    }
    if (input.idle.empty() && linting_of(engine.name).owns_tree == nullptr && input.form != LintForm::command) {
        throw text::InputError({fmt::format("{} takes flags; give its command line", engine.title)});
    }
    return engine;
}

/// Flags of speculation that a command line gives twice, of which Python's argparse keeps the last.
void check_repeated(const Flags& flags, Findings& findings) {
    std::set<std::string> seen, named;
    for (const Flag& flag : flags.all()) {
        const std::string name = flag.name == "-sc" ? "--speculative-config" : flag.name;
        if (starts_speculation(name) && !seen.insert(name).second && named.insert(name).second) {
            findings.add(FindingKind::contradiction, name, "appears twice; only the last one counts");
        }
    }
}

/// What vLLM and SGLang read from their YAML file, as the flags that its entries stand for, before the flags of the command,
/// which count more.
void take_config_file(LintInput& input, const ReadFile& read_file) {
    std::vector<std::string>& words = input.command.words;
    const Flags flags(words);
    const Flag* file = flags.find({"--config"});
    if (input.form != LintForm::command || file == nullptr || !file->value) {
        return;
    }
    const std::optional<std::string> text = read_file(*file->value);
    if (!text) {
        const bool drafts = std::any_of(flags.all().begin(), flags.all().end(), [](const Flag& flag) {
            return flag.name.starts_with("--spec") || flag.name.starts_with("-sc");
        });
        if (drafts) {
            return;
        }
        throw text::InputError({fmt::format("--config: cannot read {}; give the YAML file itself", *file->value)});
    }
    const nlohmann::ordered_json tree = parse_yaml(*text, input.repeated);
    if (!tree.is_object()) {
        throw text::InputError({fmt::format("--config: {} must hold a mapping", *file->value)});
    }
    const std::vector<std::string> added = flags_of_options(tree);
    const auto first = std::find_if(words.begin(), words.end(), [](const std::string& word) { return word.starts_with("--"); });
    words.insert(first, added.begin(), added.end());
}

LintResult lint_server(LintInput input, const Engine& engine, bool asked, const ReadFile& read_file,
                       const FindModel& find_model) {
    input.find_model = find_model;
    const ReadFile read_or_written = [&](const std::string& path) {
        const auto written = input.written.find(path.substr(path.starts_with("./") ? 2 : 0));
        return written == input.written.end() ? read_file(path) : written->second;
    };
    if (!input.older.empty() && !asked) {
        const std::string first = first_version(engine.name);
        return {
            engine,
            input.form_text,
            {},
            {},
            {fmt::format("{} {} is older than the versions whose rules are known here, from {} on: its flags are not checked.",
                         engine.title, input.older, first)}};
    }
    if (!input.idle.empty()) {
        return {engine, input.form_text, {}, {}, {input.idle}};
    }
    const Linting& linting = linting_of(engine.name);
    Findings findings;
    if (linting.reads_config_file) {
        check_repeated(Flags(input.command.words), findings);
        take_config_file(input, read_or_written);
    }
    const Flags flags(input.command.words);
    for (const Flag& flag : flags.all()) {
        if (flag.value && is_unknown_value(*flag.value)) {
            findings.leave_open(flag.name, *flag.value);
        }
    }
    linting.check(input, engine, read_or_written, findings);
    LintResult result{engine, input.form_text, findings.take(), {}, findings.take_notes()};
    if (older_than_known(engine.word + "@" + engine.asked)) {
        result.notes.push_back(fmt::format("Rules of {} before {} are not known: these are those of {}.", engine.title,
                                           engine.version, engine.version));
    }
    if (const Flag* part = flags.find({"--disaggregation-mode"}); input.prefills || (part && part->value == "prefill")) {
        std::erase_if(result.findings, [](const LintFinding& finding) { return finding.kind == FindingKind::downgrade; });
    }
    return result;
}

/// Puts in front of each sentence which server it is about.
void name_server(LintResult& result, const std::string& server) {
    for (LintFinding& finding : result.findings) {
        finding.text = server + ": " + finding.text;
    }
    for (std::string& note : result.notes) {
        note = server + ": " + note;
    }
}

/// Adds what is found in another server of the same text. The engine that is asked for is that of servers that run it.
void add_server(const LintInput& server, const std::optional<Engine>& asked, const ReadFile& read_file,
                const FindModel& find_model, LintResult& result) {
    try {
        const bool is_asked = asked && (!server.engine || *server.engine == asked->name);
        LintResult other =
            lint_server(server, engine_of(server, is_asked ? asked : std::nullopt), is_asked, read_file, find_model);
        name_server(other, server.server);
        const auto same = [&](const Engine& known) { return known.label() == other.engine.label(); };
        if (!same(result.engine) && std::none_of(result.other_engines.begin(), result.other_engines.end(), same)) {
            result.other_engines.push_back(other.engine);
        }
        result.findings.insert(result.findings.end(), other.findings.begin(), other.findings.end());
        result.notes.insert(result.notes.end(), other.notes.begin(), other.notes.end());
    } catch (const text::InputError& error) {
        result.notes.push_back(fmt::format("{} is not checked: {}", server.server, error.what()));
    }
}

}  // namespace

LintResult lint(const std::string& text, const std::optional<Engine>& asked, const ReadFile& read_file,
                const FindModel& find_model) {
    std::map<std::string, std::optional<sim::Model>> known;  // a look-up may read a catalogue
    const FindModel find_once = [&](const std::string& name) {
        const auto found = known.find(name);
        return found != known.end() ? found->second : known.emplace(name, find_model(name)).first->second;
    };
    const LintInput input = read_lint_input(text);
    LintResult result = lint_server(input, engine_of(input, asked), asked.has_value(), read_file, find_once);
    if (!input.others.empty()) {
        name_server(result, input.server);
        result.form = fmt::format("{} servers", 1 + input.others.size());
    }
    for (const LintInput& other : input.others) {
        add_server(other, asked, read_file, find_once, result);
    }
    return result;
}

}  // namespace treeline::engines
