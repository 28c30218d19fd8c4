#include "cli/recommend/workload_options.h"

#include <algorithm>
#include <map>

#include <CLI/CLI.hpp>

#include "cli/common_flags.h"
#include "engines/priced_engine.h"
#include "text/split.h"

namespace treeline::cli {
namespace {

using Shared = std::shared_ptr<WorkloadOptions>;

/// --acceptance and --accept-length belong to the preceding --drafter.
requests::DrafterFlags& last_drafter(requests::WorkloadFlags& flags) {
    if (flags.drafters.empty()) {
        flags.drafters.emplace_back();
    }
    return flags.drafters.back();
}

/// What a flag does that may be given several times; null for the others.
void (*repeated(std::string_view path))(requests::WorkloadFlags&, const std::string&) {
    using Take = void (*)(requests::WorkloadFlags&, const std::string&);
    static const std::map<std::string_view, Take> all = {
        {"platforms.device", [](requests::WorkloadFlags& flags, const std::string& text) { flags.devices.push_back(text); }},
        {"platforms.engine",
         [](requests::WorkloadFlags& flags, const std::string& text) {
             std::string& engines = flags.texts["platforms.engine"];
             engines += (engines.empty() ? "" : ",") + text;
         }},
        {"shapes", [](requests::WorkloadFlags& flags, const std::string& text) { flags.shapes.push_back(text); }},
        {"drafters",
         [](requests::WorkloadFlags& flags, const std::string& text) {
             flags.drafters.push_back({text, "", ""});
         }},
        {"drafters.acceptance",
         [](requests::WorkloadFlags& flags, const std::string& text) { last_drafter(flags).acceptance = text; }},
        {"drafters.precision",
         [](requests::WorkloadFlags& flags, const std::string& text) { last_drafter(flags).precision = text; }},
        {"drafters.acceptance.mean_length",
         [](requests::WorkloadFlags& flags, const std::string& text) { last_drafter(flags).accept_length = text; }}};
    const auto found = all.find(path);
    return found == all.end() ? nullptr : found->second;
}

/// The flags of the workload. Those that repeat are taken as the command line is read, from left to right.
void add_flags(CLI::App& app, const Shared& options) {
    for (const requests::KeyFlag& flag : requests::workload_flags()) {
        if (const auto take = repeated(flag.path)) {
            app.add_option_function<std::string>(
                   flag.name, [options, take](const std::string& text) { take(options->flags, text); }, flag.help)
                ->type_name(flag.value)
                ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
                ->trigger_on_parse();
        } else {
            add_key_flags(app, {flag}, options->flags.texts);
        }
    }
}

}  // namespace

void add_workload_options(CLI::App& app, const Shared& options) {
    app.add_option("FILE", options->file,
                   "Workload (JSON), or an earlier result; flags override its keys, or replace the file");
    add_flags(app, options);
    app.add_flag("--print-input", options->print_input, "Print the equivalent workload as JSON and exit");
    app.add_option("--threads", options->threads, "Threads to use; 0 = one per core; results do not depend on it")
        ->type_name("N")
        ->capture_default_str();
}

namespace {

constexpr const char* engine_path = "platforms.engine";

/// As a workload names it: "vllm" or "vllm@0.19", whatever it was called.
std::string engine_text(const std::string& asked) {
    if (asked == "none") {
        return asked;
    }
    const std::size_t version = asked.find('@');
    const std::string word = engines::find_engine(asked.substr(0, version)).word;  // priced_engine() judges the version
    return version == std::string::npos ? word : word + asked.substr(version);
}

WorkloadOptions on_engine(WorkloadOptions options, const std::string& engine) {
    options.flags.texts[engine_path] = engine;
    return options;
}

unsigned thread_count(const WorkloadOptions& options) {
    return static_cast<unsigned>(requests::whole_number("--threads", options.threads, 0, 1024));
}

}  // namespace

std::vector<std::string> engines_asked(const WorkloadOptions& options) {
    const std::string& asked = requests::given(options.flags.texts, engine_path);
    std::vector<std::string> engines;
    if (asked == "all") {
        for (const engines::Engine& engine : engines::newest_engines()) {
            engines.push_back(engine.word);
        }
        return engines;
    }
    for (const std::string& name : asked.empty() ? std::vector<std::string>() : text::split(asked, ',')) {
        engines.push_back(engine_text(name));
    }
    return engines;
}

requests::WorkloadSource read_workload(const WorkloadOptions& options, const requests::Catalogue& catalogue) {
    const std::vector<std::string> engines = engines_asked(options);
    if (engines.size() > 1) {
        throw text::InputError({"--engine: names several engines, and this is about one server; name one"});
    }
    return read_workload(options.file, (engines.empty() ? options : on_engine(options, engines.front())).flags, catalogue);
}

AnsweredFile answer_file(const WorkloadOptions& options, const requests::Catalogue& catalogue) {
    const unsigned threads = thread_count(options);
    requests::WorkloadSource source = read_workload(options, catalogue);
    return {engines::answer(std::move(source.input), threads), std::move(source.raw)};
}

std::vector<reports::EngineAnswer> answer_on_engines(const WorkloadOptions& options, const std::vector<std::string>& engines,
                                                     const requests::Catalogue& catalogue) {
    std::vector<reports::EngineAnswer> answers;
    std::vector<std::string> problems;
    bool any = false;
    for (const std::string& engine : engines) {
        reports::EngineAnswer on{engines::find_engine(engine).label(), std::nullopt, nullptr, ""};
        try {
            requests::WorkloadSource source = read_workload(on_engine(options, engine), catalogue);
            on.answer = engines::answer(std::move(source.input), thread_count(options), engines::MissingShapes::leave_out);
            on.input = std::move(source.raw);
            any = true;
        } catch (const text::InputError& error) {
            on.problem = error.problems().front();
            problems.insert(problems.end(), error.problems().begin(), error.problems().end());
        }
        answers.push_back(std::move(on));
    }
    if (!any) {
        std::vector<std::string> distinct;
        for (const std::string& problem : problems) {
            if (std::find(distinct.begin(), distinct.end(), problem) == distinct.end()) {
                distinct.push_back(problem);
            }
        }
        throw text::InputError(std::move(distinct));
    }
    return answers;
}

}  // namespace treeline::cli
