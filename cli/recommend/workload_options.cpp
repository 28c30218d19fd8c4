#include "cli/recommend/workload_options.h"

#include <map>

#include <CLI/CLI.hpp>

#include "cli/common_flags.h"
#include "cli/engine_flag.h"

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
    add_engine_flag(app, options->engines);
    app.add_option("FILE", options->file,
                   "Workload (JSON), or an earlier result; flags override its keys, or replace the file");
    add_flags(app, options);
    app.add_flag("--print-input", options->print_input, "Print the equivalent workload as JSON and exit");
    app.add_option("--threads", options->threads, "Threads to use; 0 = one per core; results do not depend on it")
        ->type_name("N")
        ->capture_default_str();
}

requests::WorkloadSource read_workload(const WorkloadOptions& options, const requests::Catalogue& catalogue) {
    return read_workload(options.file, options.flags, catalogue);
}

AnsweredFile answer_file(const WorkloadOptions& options, const requests::Catalogue& catalogue) {
    const auto thread_count = static_cast<unsigned>(requests::whole_number("--threads", options.threads, 0, 1024));
    std::vector<engines::Engine> engines = chosen_engines(options.engines);
    requests::WorkloadSource source = read_workload(options, catalogue);
    return {sweeps::answer(std::move(source.input), thread_count), std::move(source.raw), std::move(engines)};
}

}  // namespace treeline::cli
