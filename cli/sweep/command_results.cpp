// treeline results: what sweeps and recommendations have kept.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "store/results.h"

namespace treeline::cli {

Run add_results(CLI::App& app) {
    auto common = std::make_shared<CommonFlags>();
    auto request = std::make_shared<store::ResultsRequest>();
    std::string verbs;
    for (const store::ResultsVerb& verb : store::results_verbs()) {
        verbs += "\n  " + verb.name + ": " + verb.summary + (verb.arguments.empty() ? "" : "; takes " + verb.arguments);
    }
    app.add_option("COMMAND", request->verb, "list, show, query, diff, export or merge")->required();
    app.add_option("ARGUMENTS", request->arguments, "Of the command: numbers of runs, an SQL statement, or files");
    app.add_option("--store", request->store, "Database that `treeline sweep --store` keeps")->type_name("FILE")->required();
    add_common_flags(app, *common);
    app.footer(
        "What COMMAND may be:" + verbs +
        "\n\nExamples:\n  treeline results list --store results.sqlite\n  treeline results diff 1 --store results.sqlite\n"
        "  treeline results query 'SELECT device, batch, speedup FROM rows WHERE run = 1' --store results.sqlite");
    return [common, request] {
        request->format = common->format;
        common->deliver(store::results_text(*request, request->needs_catalogue() ? common->find() : requests::Catalogue{}));
    };
}

}  // namespace treeline::cli
