#include "cli/program.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <new>
#include <optional>
#include <stdexcept>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/named_files.h"
#include "cli/version_text.h"
#include "cli/waiting_line.h"
#include "decoder/decode.h"
#include "json/reader.h"
#include "json/wording.h"
#include "requests/familiar_flags.h"
#include "serve/server.h"
#include "text/file_roles.h"
#include "text/output_file.h"
#include "text/status_line.h"

namespace treeline::cli {

const std::vector<Command>& commands() {
    static const std::vector<Command> all = {
        {"recommend", "find the best configuration for a workload", add_recommend, "Answers"},
        {"report", "write the answer of recommend as one HTML page with interactive plots", add_report, "Answers"},
        {"explore", "write a page that answers while its form changes, from a file and offline", add_explore, "Answers"},
        {"estimate", "explain one design point: time, memory, energy, what bounds it", add_estimate, "Answers"},
        {"sweep", "price a whole design space, into CSV or JSON", add_sweep, "Answers"},
        {"results", "list, compare and export what sweeps and recommendations have kept", add_results, "Answers"},
        {"lint", "check a speculative configuration before giving it to an engine", add_lint, "Answers"},
        {"serve",
         serve::has_http() ? "answer over HTTP, or as a tool of agents (Model Context Protocol)"
                           : "answer as a tool of agents (Model Context Protocol)",
         add_serve, "Answers"},
        {"import", "read what a deployment was measured to do, from any engine", add_import, "Measurements"},
        {"diagnose", "say why a deployment is as fast as it is", add_diagnose, "Measurements"},
        {"plan", "propose the runs that would make a recommendation surer", add_plan, "Measurements"},
        {"models", "list the models of the catalogue, or describe one", add_models, "What is known"},
        {"hardware", "list devices and software stacks, or describe one", add_hardware, "What is known"},
        {"inputs", "list the keys of the input files, with ranges and defaults", add_inputs, "What is known"},
        {"examples", "list, print or copy the inputs that came with the program", add_examples, "What is known"},
        {"validate", "predict published results, and say how wrong that is", add_validate, can_validate() ? "Evidence" : ""},
        {"calibrate", "fit laws of a device's kernels to measured times, with held-out errors", add_calibrate, "Evidence"},
        {"decode", "run a real speculative decoder with random weights, and time it", add_decode,
         decoder::available() ? "Evidence" : ""},
        {"tree", "show, optimise and compare draft trees", add_tree, "Studies"},
        {"study", "break-even, traffic, bandit, acceptance, fit, and accelerators cycle by cycle", add_study, "Studies"},
        {"completions", "print what completes command lines in bash, zsh or fish", add_completions, "This program"},
        {"manual", "print the manual page", add_manual, "This program"},
    };
    return all;
}

Run add_verbs(CLI::App& app, const std::vector<Command>& verbs) {
    std::vector<std::pair<const CLI::App*, Run>> runs;
    std::vector<std::string> names;
    for (const Command& verb : verbs) {
        CLI::App* sub = app.add_subcommand(verb.name, verb.summary)->group("Commands");
        runs.emplace_back(sub, verb.add(*sub));
        names.push_back(verb.name);
    }
    return [&app, runs, names] {
        for (const auto& [sub, run] : runs) {
            if (sub->parsed()) {
                return run();
            }
        }
        throw text::InputError(
            {fmt::format("{0}: needs {1}; see treeline {0} --help", app.get_name(), text::listed(names, "or"))});
    };
}

namespace {

constexpr int exit_success = 0;
constexpr int exit_failure = 1;
constexpr int exit_bad_input = 2;

constexpr const char* about =
    "Treeline prices speculative decoding of language models: which drafter and how many draft tokens to run\n"
    "on which hardware, what that gains, and why.";

constexpr const char* further_help =
    "Example:\n"
    "  treeline estimate --model llama-3-70b --device h100-sxm --tensor-parallel 8 \\\n"
    "                    --stack vllm --drafter llama-3-8b --acceptance 0.8 --draft-tokens 5 \\\n"
    "                    --concurrency 16 --prompt 2000 --output-tokens 500\n\n"
    "`treeline COMMAND --help` explains a command.";

constexpr std::ptrdiff_t most_errors = 50;
constexpr std::size_t longest_error = 2000;

/// One line for each sentence, up to what people read.
void print_error(const std::string& sentences) {
    std::string_view rest = sentences;
    for (std::ptrdiff_t printed = 0; printed < most_errors; ++printed) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        text::say("treeline: " + text::shortened(std::string(rest.substr(0, end)), longest_error));
        if (end == rest.size()) {
            return;
        }
        rest.remove_prefix(end + 1);
    }
    text::say(fmt::format("treeline: there are {} more such problems", 1 + std::count(rest.begin(), rest.end(), '\n')));
}

std::string_view what_is_left(const Interrupted& interrupted) {
    return text::bytes_on_standard_output() > 0 ? "what standard output has received is not complete"
                                                : interrupted.what_is_left;
}

std::vector<std::string> long_flags(const CLI::App& app) {
    std::vector<std::string> flags;
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) {
            flags.push_back("--" + name);
        }
    }
    return flags;
}

/// What the user calls a command: "models", or "tree show" for a subcommand.
std::string full_name(const CLI::App& app) {
    const CLI::App* parent = app.get_parent();
    return (parent != nullptr && parent->get_parent() != nullptr ? full_name(*parent) + " " : "") + app.get_name();
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
        names.push_back(sub->get_name());
    }
    return names;
}

/// "; here it is --tensor-parallel" for a flag of an engine, else the nearest one; empty where nothing is near.
std::string hint_for(const std::string& flag, const std::vector<std::string>& flags) {
    const std::string here = requests::flag_here(flag, flags);
    return here.empty() ? text::did_you_mean(flag, flags) : "; here it is " + here;
}

/// Arguments that no flag took: a mistyped flag gets a hint, and what follows it is not reported again.
void refuse_extras(const CLI::App& app) {
    for (const CLI::App* sub : app.get_subcommands()) {
        refuse_extras(*sub);
    }
    std::vector<std::string> problems, unknown;
    for (const std::string& extra : app.remaining()) {
        if (extra.starts_with("-") && extra != "-") {
            const std::string flag = extra.substr(0, extra.find('='));
            const std::string hint = hint_for(flag, long_flags(app));
            if (hint.empty()) {
                unknown.push_back(fmt::format("\"{}\"", flag));
            } else {
                problems.push_back(fmt::format("{}: unknown flag \"{}\"{}", full_name(app), flag, hint));
            }
        } else if (problems.empty() && unknown.empty()) {
            problems.push_back(fmt::format("{}: unexpected argument \"{}\"{}", full_name(app), extra,
                                           text::did_you_mean(extra, subcommand_names(app))));
        }
    }
    if (!unknown.empty()) {
        problems.push_back(fmt::format("{0}: unknown flag{1} {2}; see treeline {0} --help", full_name(app),
                                       unknown.size() > 1 ? "s" : "", text::listed(unknown, "and")));
    }
    if (!problems.empty()) {
        throw text::InputError(std::move(problems));
    }
}

void refuse_unknown_command(const std::string& word) {
    std::vector<std::string> names;
    for (const Command& command : commands()) {
        names.push_back(command.name);
    }
    if (!word.starts_with("-") && std::find(names.begin(), names.end(), word) == names.end()) {
        const std::string hint = text::did_you_mean(word, names);
        throw text::InputError({fmt::format("there is no command \"{}\"{}", word,
                                            hint.empty() ? "; the commands are " + text::listed(names, "and") : hint)});
    }
}

/// Commands that had another name.
struct Renamed {
    std::vector<std::string> before, now;
};

const std::vector<Renamed>& renamed() {
    static const std::vector<Renamed> all = {{{"bandit"}, {"study", "bandit"}},
                                             {{"traffic"}, {"study", "traffic"}},
                                             {{"acceptance"}, {"study", "acceptance"}},
                                             {{"break-even"}, {"study", "break-even"}},
                                             {{"fit"}, {"study", "fit"}},
                                             {{"fpga", "estimate"}, {"estimate"}},
                                             {{"fpga", "explore"}, {"sweep"}},
                                             {{"fpga", "claims"}, {"study", "claims"}},
                                             {{"fpga", "simulate"}, {"study", "simulate"}},
                                             {{"fpga", "list"}, {"hardware"}},
                                             {{"fpga"}, {"study"}}};
    return all;
}

/// The words of the command line, with a hint where they name a command as it was called before.
std::vector<std::string> with_present_names(std::vector<std::string> words) {
    for (const auto& [before, now] : renamed()) {
        const auto first = words.begin() + 1;
        if (words.size() > before.size() && std::equal(before.begin(), before.end(), first)) {
            text::say(fmt::format("treeline: `treeline {}` is now `treeline {}`; the old name still works",
                                  fmt::join(before, " "), fmt::join(now, " ")));
            words.erase(first, first + static_cast<std::ptrdiff_t>(before.size()));
            words.insert(words.begin() + 1, now.begin(), now.end());
            break;
        }
    }
    return words;
}

void parse(CLI::App& app, const std::vector<std::string>& words) {
    std::vector<const char*> argv;
    for (const std::string& word : words) {
        argv.push_back(word.c_str());
    }
    app.parse(static_cast<int>(argv.size()), argv.data());
}

bool is_given(const std::vector<std::string>& words, const std::string& flag) {
    return std::any_of(words.begin(), words.end(),
                       [&](const std::string& word) { return word == flag || word.starts_with(flag + "="); });
}

/// A problem of a flag that has two names, under the name that was given.
std::string under_given_name(const CLI::App& app, const std::vector<std::string>& words, std::string problem) {
    for (const CLI::App* sub : app.get_subcommands()) {
        problem = under_given_name(*sub, words, std::move(problem));
    }
    const std::string flag = problem.substr(0, problem.find(':'));
    for (const CLI::Option* option : flag.starts_with("--") ? app.get_options() : std::vector<const CLI::Option*>()) {
        const std::vector<std::string>& names = option->get_lnames();
        if (std::find(names.begin(), names.end(), flag.substr(2)) == names.end() || is_given(words, flag)) {
            continue;
        }
        for (const std::string& name : names) {
            if (is_given(words, "--" + name)) {
                return "--" + name + problem.substr(flag.size());
            }
        }
    }
    return problem;
}

void run_as_asked(const Run& run, const CLI::App& app, const std::vector<std::string>& words) {
    try {
        run();
    } catch (const text::InputError& error) {
        std::vector<std::string> problems = error.problems();
        for (std::string& problem : problems) {
            problem = under_given_name(app, words, std::move(problem));
        }
        throw text::InputError(std::move(problems));
    }
}

/// "treeline help lint" as "treeline lint --help", and "treeline version" as the flag, as people write them.
std::vector<std::string> with_flags_for_words(std::vector<std::string> words) {
    if (words.size() > 1 && words[1] == "version") {
        words[1] = "--version";
    } else if (words.size() > 1 && words[1] == "help") {
        words.erase(words.begin() + 1);
        words.emplace_back("--help");
    }
    return words;
}

void parse_and_run(const std::vector<std::string>& given) {
    const std::vector<std::string> words = with_flags_for_words(given);
    CLI::App app;
    Run run;
    declare_commands(app, [&run](const Run& chosen) { run = chosen; });
    if (words.size() < 2) {
        throw text::InputError({"a command is needed; see treeline --help"});
    }
    refuse_unknown_command(words[1]);
    try {
        parse(app, words);
    } catch (const CLI::CallForHelp&) {
        const auto chosen = app.get_subcommands();
        return text::write_file("-", chosen.empty() ? app.help() : chosen.front()->help("treeline"));
    } catch (const CLI::CallForVersion& version) {
        return text::write_file("-", std::string(version.what()) + "\n");
    } catch (const CLI::ArgumentMismatch& error) {
        const std::string sentence = error.what();
        const bool repeated = sentence.find("At Most 1 required") != std::string::npos;
        throw text::InputError({repeated ? sentence.substr(0, sentence.find(':')) + ": is given more than once" : sentence});
    } catch (const CLI::ParseError& error) {
        throw text::InputError({error.what()});
    }
    if (run) {
        std::optional<WaitingLine> waiting;
        if (words[1] != "serve") {  // which waits for as long as it runs
            waiting.emplace();
        }
        refuse_clashing_files(app);
        run_as_asked(run, app, words);
    }
}

/// An exception that no sentence was written for.
int report_fault(const std::exception& error) {
    print_error(
        fmt::format("this is a fault of Treeline rather than of its input ({}); please report the command", error.what()));
    return exit_failure;
}

}  // namespace

void declare_commands(CLI::App& app, const std::function<void(const Run&)>& chosen) {
    app.name("treeline");
    app.description(about);
    app.set_version_flag("--version", version_text(), "Print the version, what this build holds, and exit");
    app.set_help_flag("-h,--help", "Print this help and exit");
    app.footer(further_help);
    app.require_subcommand(0, 1);  // later words are never commands: a section may have the name of one
    for (const Command& command : commands()) {
        CLI::App* sub = app.add_subcommand(command.name, command.summary);
        sub->group(command.group);
        sub->allow_extras();  // refuse_extras() says more about them than CLI11
        sub->formatter(app.get_formatter());
        sub->final_callback([chosen, sub, start = command.add(*sub)] {
            refuse_extras(*sub);
            chosen(start);
        });
    }
}

int run_program(int argc, const char* const* argv) noexcept {
    static_cast<void>(std::signal(SIGPIPE, SIG_IGN));  // a reader that leaves early is told apart by EPIPE: OutputClosed
    static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));  // a file above the limit on its size is a failed write
    handle_interrupts();
    try {
        const text::InputRecord inputs;
        parse_and_run(with_present_names({argv, argv + argc}));
        return exit_success;
    } catch (const Finished& finished) {
        return finished.exit_code;
    } catch (const text::InputError& error) {
        print_error(error.what());
        return exit_bad_input;
    } catch (const text::OutputClosed&) {
        return exit_success;
    } catch (const Interrupted& interrupted) {
        print_error(fmt::format("interrupted; {}", what_is_left(interrupted)));
        static_cast<void>(std::signal(interrupted.signal, SIG_DFL));
        return std::raise(interrupted.signal);
    } catch (const std::bad_alloc&) {
        static_cast<void>(std::fputs("treeline: there is not enough memory for this\n", stderr));  // which allocates nothing
        return exit_failure;
    } catch (const std::length_error&) {
        print_error("there is not enough memory for this");
        return exit_failure;
    } catch (const nlohmann::json::exception& error) {
        constexpr int not_utf8 = 316;  // https://json.nlohmann.me/home/exceptions/#jsonexceptiontype_error316
        if (error.id != not_utf8) {
            return report_fault(error);
        }
        print_error("a name or text of the input is not UTF-8, so that the answer cannot be written as JSON");
        return exit_bad_input;
    } catch (const std::out_of_range& error) {
        return report_fault(error);
    } catch (const std::bad_variant_access& error) {
        return report_fault(error);
    } catch (const std::bad_optional_access& error) {
        return report_fault(error);
    } catch (const std::exception& error) {
        print_error(error.what());
        return exit_failure;
    } catch (...) {
        print_error("an unknown error occurred");
        return exit_failure;
    }
}

}  // namespace treeline::cli
