// treeline sweep: prices a whole design space.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "reports/fpga/fpga_exploration_output.h"
#include "reports/sweep/sweep_files.h"
#include "reports/sweep/sweep_output.h"
#include "reports/sweep/sweep_summary.h"
#include "requests/fpga/fpga_explore_reader.h"
#include "requests/sweep/sweep_columns_reader.h"
#include "requests/sweep/sweep_reader.h"
#include "text/table.h"

namespace treeline::cli {
namespace {

struct SweepFlags {
    CommonFlags common;
    std::string file, csv, json;
    std::string threads = "0", top = "10", by = "speedup", pareto;
    bool ignore_memory = false;
    bool asks_for_best = false;  ///< --top or --by was given

    /// Whether --format is that of the lists; otherwise it is that of every point.
    [[nodiscard]] bool asks_for_lists() const { return asks_for_best || !pareto.empty(); }
};

std::array<const sweeps::SweepColumn*, 2> pareto_columns(const std::string& text) {
    const std::size_t comma = text.find(',');
    if (comma == std::string::npos || text.find(',', comma + 1) != std::string::npos) {
        throw text::InputError({"--pareto: needs two columns, as in --pareto tokens_per_s_user,tokens_per_s_device"});
    }
    return requests::tradeoff_columns("--pareto", text.substr(0, comma), text.substr(comma + 1));
}

sweeps::SweepOptions options_of(const SweepFlags& flags) {
    sweeps::SweepOptions options;
    options.threads = static_cast<unsigned>(requests::whole_number("--threads", flags.threads, 0, 1024));
    options.best_count = static_cast<std::size_t>(requests::whole_number("--top", flags.top, 0, 100'000));
    options.best_by = requests::sweep_column_of("--by", flags.by);
    if (!flags.pareto.empty()) {
        options.pareto_of = pareto_columns(flags.pareto);
    }
    options.ignore_memory = flags.ignore_memory;
    return options;
}

/// --format says what goes to --output: every point, or the lists if any are requested; --csv and --json name further files for
/// every point.
void resolve_outputs(SweepFlags& flags) {
    const Format format = flags.common.chosen_format();
    std::string& named = format == Format::csv ? flags.csv : flags.json;
    if (format != Format::table && !flags.asks_for_lists()) {
        if (!named.empty()) {
            throw text::InputError(
                {fmt::format("--format {0} and --{0} both say where the {0} goes; give one of them", flags.common.format)});
        }
        named = flags.common.output;
    }
    if (!flags.csv.empty() && flags.csv == flags.json && flags.csv != "-") {
        throw text::InputError({fmt::format("--csv and --json both name {}", flags.csv)});
    }
    const std::string& table = format == Format::table || flags.asks_for_lists() ? flags.common.output : "";
    const int to_stdout = (flags.csv == "-") + (flags.json == "-");
    if (to_stdout > 1) {
        throw text::InputError({"--csv and --json cannot both write to standard output"});
    }
    if (to_stdout == 1 && table == "-") {
        flags.common.output.clear();  // the summary must not mix with the data
    }
}

/// The summary, in the requested format.
void deliver(const SweepFlags& flags, const sweeps::SweepAnswer& answer) {
    switch (flags.common.chosen_format()) {
        case Format::table:
            flags.common.deliver(reports::sweep_table(answer));
            return;
        case Format::json:
            flags.common.deliver(reports::sweep_summary_json(answer));
            return;
        case Format::csv:
            flags.common.deliver(
                reports::sweep_csv(answer.input, answer.lists_pareto ? answer.summary.pareto : answer.summary.best));
            return;
    }
}

/// A space of accelerator designs: the best ones under a board's resources.
void explore_designs(const SweepFlags& flags) {
    if (!flags.csv.empty() || !flags.json.empty() || flags.asks_for_lists() || flags.ignore_memory) {
        throw text::InputError(
            {"--csv, --json, --top, --by, --pareto and --ignore-memory are for axes of a design space; this file "
             "searches designs of an accelerator"});
    }
    const Format format = flags.common.chosen_format();
    const auto threads = static_cast<unsigned>(requests::whole_number("--threads", flags.threads, 0, 1024));
    const requests::Catalogue catalogue = flags.common.find();
    json::Document document = json::Document::load(flags.file);
    requests::Descriptions descriptions(catalogue, std::filesystem::path(flags.file).parent_path());
    const nlohmann::ordered_json input = document.root().raw();
    sweeps::FpgaExploration exploration = requests::read_fpga_exploration(document, descriptions, catalogue.hardware);
    sweeps::explore(exploration, threads);
    flags.common.deliver(format == Format::json  ? reports::exploration_json(exploration, input).dump(2) + "\n"
                         : format == Format::csv ? reports::exploration_csv(exploration)
                                                 : reports::exploration_table(exploration));
}

void sweep(SweepFlags flags) {
    if (requests::describes_a_run(flags.file)) {
        return explore_designs(flags);
    }
    resolve_outputs(flags);
    sweeps::SweepOptions options = options_of(flags);
    if (flags.common.chosen_format() == Format::csv && flags.asks_for_best && !flags.pareto.empty()) {
        throw text::InputError({"--format csv holds one list; give --top or --pareto, or use --format json for both"});
    }
    json::Document document = json::Document::load(flags.file);
    requests::Descriptions descriptions(flags.common.find(), std::filesystem::path(flags.file).parent_path());
    const sweeps::SweepInput input = requests::read_sweep(document, descriptions);
    requests::check_columns(options, input);

    reports::SweepFiles files(flags.csv, flags.json, input);
    if (files.any()) {
        options.format = [&files](const sweeps::SweepChunk& chunk) { return files.format(chunk); };
        options.write = [&files](const std::string& packed) { files.write(packed); };
    }
    sweeps::SweepSummary summary;
    {
        const InterruptGuard guard;
        Progress progress;
        options.progress = [&progress](std::uint64_t done, std::uint64_t total) {
            InterruptGuard::check();
            progress.show(done, total);
        };
        summary = sweeps::run_sweep(input.space, options);
    }
    const sweeps::SweepAnswer answer{input, options, summary, flags.asks_for_best || flags.pareto.empty(),
                                     !flags.pareto.empty()};
    files.finish(answer);
    const bool shows_summary = flags.common.chosen_format() == Format::table || flags.asks_for_lists();
    if (shows_summary && !flags.common.output.empty()) {
        deliver(flags, answer);
    }
}

/// The names of the columns for which this direction is better, in lines.
std::string columns_text(sweeps::Better better) {
    std::string names;
    for (const sweeps::SweepColumn& column : sweeps::sweep_columns) {
        if (column.better == better) {
            names += (names.empty() ? "" : ", ") + std::string(column.name);
        }
    }
    return "  " + text::wrapped(names, 110, "  ");
}

}  // namespace

Run add_sweep(CLI::App& app) {
    auto flags = std::make_shared<SweepFlags>();
    app.add_option("FILE", flags->file, "Axes of the design space, or designs of an accelerator to search (JSON)")->required();
    app.add_option("--csv", flags->csv, "Write every point to this CSV file; - is standard output")->type_name("FILE");
    app.add_option("--json", flags->json, "Write every point to this JSON file; - is standard output")->type_name("FILE");
    app.add_option("--threads", flags->threads, "Threads to use; 0 = one per core")->type_name("N")->capture_default_str();
    CLI::Option* top = app.add_option("--top", flags->top, "Points to list, best first")->type_name("N");
    top->capture_default_str();
    CLI::Option* by = app.add_option("--by", flags->by, "Column to rank by")->type_name("COLUMN");
    by->capture_default_str();
    app.add_option("--pareto", flags->pareto, "List the points that no other point beats in both columns")
        ->type_name("COLUMN,COLUMN");
    app.add_flag("--ignore-memory", flags->ignore_memory, "Also list points that do not fit in memory");
    add_common_flags(app, flags->common);
    app.footer(
        "The axes: target, precision, platform (or device, tensor_parallel, stack, mode), drafter, rollback, draft_tokens,\n"
        "shapes, verification, batch, context; numbers as [1, 2, 4], {\"from\": 1, \"to\": 8} or {\"powers_of_two\": "
        "{\"from\": 1, \"to\": 256}}.\n"
        "A condition keeps only points for which its expression of draft_tokens, depth, batch, context and tensor_parallel\n"
        "holds.\n\n"
        "Columns for --by and --pareto where higher is better:\n" +
        columns_text(sweeps::Better::higher) + "\nand where lower is better:\n" + columns_text(sweeps::Better::lower) +
        "\nPoints that do not fit in memory are listed only with --ignore-memory. --format json and csv hold every point, or\n"
        "with --top, --by or --pareto the lists; --csv and --json always hold every point.\n"
        "Memory grows with the lists, not with the design space.\n\n"
        "Examples:\n"
        "  treeline sweep examples/spire-study.json --csv spire.csv\n"
        "  treeline sweep examples/spire-study.json --top 20 --by tokens_per_s_device\n"
        "  treeline sweep examples/spire-study.json --pareto tokens_per_s_user,tokens_per_s_device --format json\n"
        "  treeline sweep examples/fpga/explore-vck190.json");
    return [flags, top, by] {
        flags->asks_for_best = top->count() > 0 || by->count() > 0;
        sweep(*flags);
    };
}

}  // namespace treeline::cli
