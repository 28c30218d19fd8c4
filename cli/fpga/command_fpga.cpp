// treeline fpga: prices accelerator designs for Mamba-2 on FPGA boards.
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/fpga/fpga_verbs.h"
#include "hardware/fpga.h"
#include "reports/fpga/fpga_catalogue.h"
#include "reports/fpga/fpga_claims_output.h"
#include "reports/fpga/fpga_exploration_output.h"
#include "reports/fpga/fpga_output.h"
#include "requests/fpga/fpga_claims_reader.h"
#include "requests/fpga/fpga_explore_reader.h"
#include "text/output_file.h"

namespace treeline {
namespace {

struct Flags {
    CommonFlags common;
    FpgaFlags run;
    std::string html;
};

void add_run_flags(CLI::App& app, FpgaFlags& run) {
    app.add_option("FILE", run.file, "Run (JSON), or an earlier result; flags override its keys");
    app.add_option("--design", run.design, "Accelerator: name in hardware/fpga/designs, or description")
        ->type_name("NAME|PATH");
    app.add_option("--board", run.board, "Board (default: the one the design was made for)")->type_name("NAME|PATH");
    app.add_option("--target", run.target, "Mamba-2 model (default mamba2-2.7b)")->type_name("NAME|PATH");
    app.add_option("--drafter", run.drafter, "Mamba-2 model that drafts (default: plain decoding)")->type_name("NAME|PATH");
    app.add_option("--tree", run.tree, "Draft tree as in `treeline tree` (chain:8, children:..., a name or path)")
        ->type_name("TREE");
    app.add_option("--accept-length", run.accept_length, "Mean tokens per round, bonus token included")->type_name("TOKENS");
    app.add_option("--acceptance", run.acceptance, "Alternative: rate of a draft token, or JSON ({\"per_rank\": [0.6, 0.2]})")
        ->type_name("RATE|JSON");
    app.add_option("--plan", run.plan, "Backtracking: hybrid (default), store-states, recompute or naive")->type_name("PLAN");
    app.add_option("--tree-states", run.tree_states, "fifo (default) or off-chip")->type_name("WHERE");
    app.add_option("--set", run.changes,
                   "Override a number of the design; repeatable: lanes=64, state_bits=16, tile_outputs=32, ...")
        ->type_name("KEY=NUMBER");
    app.add_flag("--no-overlap", run.no_overlap, "Let Linear and SSM unit work in turn");
}

void estimate(const Flags& flags) {
    const Format format = flags.common.chosen_format();
    const FpgaEstimate result = estimate_fpga(read_fpga_run(flags.run, flags.common.find()));
    if (!flags.html.empty()) {
        write_file(flags.html, fpga_html(result));
    }
    flags.common.deliver(format == Format::json  ? fpga_json(result, run_of(flags.run)).dump(2) + "\n"
                         : format == Format::csv ? fpga_csv(result)
                                                 : fpga_table(result));
}

FpgaVerb add_estimate_verb(CLI::App& fpga) {
    auto flags = std::make_shared<Flags>();
    CLI::App* app = fpga.add_subcommand("estimate", "explain one design: cycles per layer and round, resources, energy");
    add_run_flags(*app, flags->run);
    app->add_option("--html", flags->html, "Also write a page with charts")->type_name("FILE");
    add_common_flags(*app, flags->common);
    app->footer(
        "Examples:\n"
        "  treeline fpga estimate examples/fpga/specmamba-vck190.json\n"
        "  treeline fpga estimate --design specmamba-vhk158 --drafter mamba2-370m --tree chain:8 --acceptance 0.8");
    return {app, [flags] { estimate(*flags); }};
}

struct FileFlags {
    CommonFlags common;
    std::string file;
    std::string threads = "0";
};

/// A document whose paths are relative to its folder.
struct OpenFile {
    json::Document document;
    Catalogue catalogue;
    Descriptions descriptions;

    explicit OpenFile(const FileFlags& flags)
        : document(json::Document::load(flags.file)),
          catalogue(flags.common.find()),
          descriptions(catalogue, std::filesystem::path(flags.file).parent_path()) {}
};

void explore_file(const FileFlags& flags) {
    const Format format = flags.common.chosen_format();
    constexpr long long most_threads = 1024;
    const auto threads = static_cast<unsigned>(whole_number("--threads", flags.threads, 0, most_threads));
    OpenFile file(flags);
    const nlohmann::ordered_json echo = file.document.root().raw();
    FpgaExploration exploration = read_fpga_exploration(file.document, file.descriptions, file.catalogue.hardware);
    explore(exploration, threads);
    flags.common.deliver(format == Format::json  ? exploration_json(exploration, echo).dump(2) + "\n"
                         : format == Format::csv ? exploration_csv(exploration)
                                                 : exploration_table(exploration));
}

void claims_of_file(const FileFlags& flags) {
    const Format format = flags.common.chosen_format();
    OpenFile file(flags);
    const FpgaClaimsInput input = read_fpga_claims(file.document, file.descriptions, file.catalogue.hardware);
    const std::vector<FpgaClaim> claims = fpga_claims(input);
    flags.common.deliver(format == Format::json  ? claims_json(input, claims).dump(2) + "\n"
                         : format == Format::csv ? claims_csv(claims)
                                                 : claims_table(input, claims));
}

/// Boards and designs of the catalogue, one per line.
std::string catalogue_text(const std::filesystem::path& hardware) {
    std::vector<fpga::Board> boards;
    for (const std::string& name : board_names(hardware)) {
        boards.push_back(load_board(hardware, name).value);
    }
    std::vector<fpga::Design> designs;
    for (const std::string& name : design_names(hardware)) {
        designs.push_back(load_design(hardware, name).value);
    }
    return boards_table(boards) + "\n" + designs_table(designs);
}

FpgaVerb add_list_verb(CLI::App& fpga) {
    auto flags = std::make_shared<CommonFlags>();
    CLI::App* app = fpga.add_subcommand("list", "list boards and published designs of the catalogue");
    app->add_option("--output", flags->output, "File to write; - is standard output")->type_name("FILE")->capture_default_str();
    add_catalogue_flag(*app, *flags);
    app->footer("Example:\n  treeline fpga list");
    return {app, [flags] { flags->deliver(catalogue_text(flags->find().hardware)); }};
}

FpgaVerb add_explore_verb(CLI::App& fpga) {
    auto flags = std::make_shared<FileFlags>();
    CLI::App* app = fpga.add_subcommand("explore", "search tiles, lanes, trees, drafters and plans under a board's resources");
    app->add_option("FILE", flags->file, "What to search (JSON)")->required();
    app->add_option("--threads", flags->threads, "Threads to use; 0 = one per core")->type_name("N")->capture_default_str();
    add_common_flags(*app, flags->common);
    app->footer("Example:\n  treeline fpga explore examples/fpga/explore-vck190.json");
    return {app, [flags] { explore_file(*flags); }};
}

FpgaVerb add_claims_verb(CLI::App& fpga) {
    auto flags = std::make_shared<FileFlags>();
    CLI::App* app = fpga.add_subcommand("claims", "check a paper's claims: draft sizes, ablation, formats, memories, trees");
    app->add_option("FILE", flags->file, "Run and experiments (JSON)")->required();
    add_common_flags(*app, flags->common);
    app->footer("Example:\n  treeline fpga claims examples/fpga/specmamba-claims.json");
    return {app, [flags] { claims_of_file(*flags); }};
}

}  // namespace

void add_fpga_run_flags(CLI::App& app, FpgaFlags& flags) { add_run_flags(app, flags); }

Run add_fpga(CLI::App& app) {
    const FpgaVerb estimate_verb = add_estimate_verb(app);
    const FpgaVerb simulate = add_fpga_simulate(app);
    const std::vector<FpgaVerb> verbs = {
        estimate_verb, {simulate.app, simulate.run}, add_explore_verb(app), add_claims_verb(app), add_list_verb(app)};
    app.footer(
        "Example:\n  treeline fpga estimate examples/fpga/specmamba-vck190.json\n\n`treeline fpga VERB --help` explains a "
        "verb.");
    return [verbs] {
        for (const FpgaVerb& verb : verbs) {
            if (verb.app->parsed()) {
                return verb.run();
            }
        }
        throw InputError({"fpga: needs estimate, simulate, explore, claims or list; see treeline fpga --help"});
    };
}

}  // namespace treeline
