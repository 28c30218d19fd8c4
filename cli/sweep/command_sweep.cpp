// treeline sweep: prices a whole design space.
#include <algorithm>
#include <cstdio>
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
#include "requests/sweep/sweep_flags.h"
#include "store/ranks.h"
#include "store/stored_sweep.h"

namespace treeline {
namespace {

struct SweepFlags {
    CommonFlags common;
    FlagTexts texts;
    std::string file, csv, json;
    bool ignore_memory = false;

    /// --top or --by was given.
    [[nodiscard]] bool asks_for_best() const { return any_given(texts, "top") || any_given(texts, "by"); }
    /// Whether --format is that of the lists; otherwise it is that of every point.
    [[nodiscard]] bool asks_for_lists() const {
        return asks_for_best() || any_given(texts, "pareto") || any_given(texts, "group_by");
    }
};

/// --format says what goes to --output: every point, or the lists if any are requested; --csv and --json name further files for
/// every point.
void resolve_outputs(SweepFlags& flags) {
    const Format format = flags.common.chosen_format();
    std::string& named = format == Format::csv ? flags.csv : flags.json;
    if (format != Format::table && !flags.asks_for_lists() && given(flags.texts, "store").empty()) {
        if (!named.empty()) {
            throw InputError(
                {fmt::format("--format {0} and --{0} both say where the {0} goes; give one of them", flags.common.format)});
        }
        named = flags.common.output;
    }
    if (!flags.csv.empty() && flags.csv == flags.json && flags.csv != "-") {
        throw InputError({fmt::format("--csv and --json both name {}", flags.csv)});
    }
    const std::string& table = format == Format::table || flags.asks_for_lists() ? flags.common.output : "";
    const int to_stdout = (flags.csv == "-") + (flags.json == "-");
    if (to_stdout > 1) {
        throw InputError({"--csv and --json cannot both write to standard output"});
    }
    if (to_stdout == 1 && table == "-") {
        flags.common.output.clear();  // the summary must not mix with the data
    }
}

/// The summary, in the requested format.
void deliver(const SweepFlags& flags, const SweepAnswer& answer) {
    switch (flags.common.chosen_format()) {
        case Format::table:
            flags.common.deliver(sweep_table(answer));
            return;
        case Format::json:
            flags.common.deliver(sweep_summary_json(answer));
            return;
        case Format::csv:
            flags.common.deliver(sweep_csv(answer));
            return;
    }
}

/// A space of accelerator designs: the best ones under a board's resources.
void explore_designs(const SweepFlags& flags) {
    const FlagTexts& texts = flags.texts;
    if (flags.ignore_memory || std::any_of(texts.begin(), texts.end(), [](const auto& given) {
            return given.first != "threads" && !given.second.empty();
        })) {
        throw InputError(
            {"only --threads and --format are for designs of an accelerator, which this file searches; --csv, "
             "--top and the others are for axes of a design space"});
    }
    const Format format = flags.common.chosen_format();
    const unsigned threads = sweep_options(texts, false).threads;
    const Catalogue catalogue = flags.common.find();
    json::Document document = json::Document::load(flags.file);
    Descriptions descriptions(catalogue, std::filesystem::path(flags.file).parent_path());
    const nlohmann::ordered_json input = document.root().raw();
    FpgaExploration exploration = read_fpga_exploration(document, descriptions, catalogue.hardware);
    explore(exploration, threads);
    flags.common.deliver(format == Format::json  ? exploration_json(exploration, input).dump(2) + "\n"
                         : format == Format::csv ? exploration_csv(exploration)
                                                 : exploration_table(exploration));
}

/// What a store adds to the answer goes to the log, so that the answer itself stays the same.
SweepSummary stored_summary(const std::string& file, const SweepRequest& request, const RunSweep& run) try {
    Store store(file, Access::write);
    const StoredAnswer answer = answer_from(store, request, run);
    const std::string how = answer.was_known        ? "answered from"
                            : answer.went_on_at > 0 ? "went on where an earlier run had stopped, kept in"
                                                    : "kept in";
    static_cast<void>(
        std::fprintf(stderr, "treeline: %s %s as run %d\n", how.c_str(), file.c_str(), static_cast<int>(answer.run)));
    return answer.summary;
} catch (const Interrupted& interrupted) {
    throw Interrupted{interrupted.signal, "the same command goes on from what the store holds"};
}

/// The processes that an MPI launcher started; none without one. They live until the program ends.
Ranks* ranks_of(const SweepFiles& files) {
    static std::unique_ptr<Ranks> ranks;
    if (launched_ranks() > 1) {
        if (!ranks_problem().empty() || files.any()) {
            throw InputError({files.any()
                                  ? "--csv and --json hold every point in order, which processes cannot share; ask for lists"
                                  : ranks_problem()});
        }
        ranks = std::make_unique<Ranks>();
    }
    return ranks.get();
}

void sweep(SweepFlags flags) {
    if (describes_a_run(flags.file)) {
        return explore_designs(flags);
    }
    resolve_outputs(flags);
    SweepRequest request = sweep_request(flags.file, flags.texts, flags.ignore_memory, flags.common.find());
    const SweepInput& input = request.input;
    SweepOptions& options = request.options;
    const bool asks_for_front = any_given(flags.texts, "pareto");
    if (flags.common.chosen_format() == Format::csv &&
        (flags.asks_for_best() && options.groups.empty()) + asks_for_front + options.groups.size() > 1) {
        throw InputError({"--format csv holds one list; give --top, --pareto or one --group-by, or use --format json for all"});
    }
    const std::string& store = given(flags.texts, "store");
    SweepFiles files(flags.csv, flags.json, input);
    if (files.any()) {
        if (!store.empty()) {
            throw InputError({"--store keeps lists, not every point; give --csv, --json or --format without it"});
        }
        options.format = [&files](const SweepChunk& chunk) { return files.format(chunk); };
        options.write = [&files](const std::string& packed) { files.write(packed); };
    }
    Ranks* const ranks = ranks_of(files);
    const RunSweep run = [&](const DesignSpace& space, const SweepOptions& with) {
        return ranks != nullptr ? ranks->run(space, with) : run_sweep(space, with);
    };
    if (ranks != nullptr && !ranks->leads()) {
        static_cast<void>(run(input.space, options));
        return;
    }
    SweepSummary summary;
    {
        const InterruptGuard guard;
        Progress progress;
        options.progress = [&progress](std::uint64_t done, std::uint64_t total) {
            InterruptGuard::check();
            progress.show(done, total);
        };
        summary = store.empty() ? run(input.space, options) : stored_summary(store, request, run);
    }
    const bool lists_best = options.groups.empty() ? flags.asks_for_best() || !asks_for_front : any_given(flags.texts, "top");
    const SweepAnswer answer{input, options, summary, lists_best, asks_for_front};
    files.finish(answer);
    const bool shows_summary = flags.common.chosen_format() == Format::table || flags.asks_for_lists() || !store.empty();
    if (shows_summary && !flags.common.output.empty()) {
        deliver(flags, answer);
    }
}

}  // namespace

Run add_sweep(CLI::App& app) {
    auto flags = std::make_shared<SweepFlags>();
    app.add_option("FILE", flags->file, "Axes of the design space, or designs of an accelerator to search (JSON)")->required();
    add_key_flags(app, sweep_flags(), flags->texts);
    app.add_flag("--ignore-memory", flags->ignore_memory, "Also list points that do not fit in memory");
    add_common_flags(app, flags->common);
    app.footer(sweep_footer());
    return [flags] {
        flags->csv = given(flags->texts, "csv");
        flags->json = given(flags->texts, "json");
        sweep(*flags);
    };
}

}  // namespace treeline
