// treeline sweep: prices a whole design space.
#include <algorithm>
#include <memory>
#include <optional>

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
#include "reports/sweep/sweep_page.h"
#include "reports/sweep/sweep_summary.h"
#include "requests/file_kind.h"
#include "requests/fpga/fpga_explore_reader.h"
#include "requests/load_matrix.h"
#include "requests/sweep/sweep_flags.h"
#include "store/ranks.h"
#include "store/stored_sweep.h"
#include "text/output_file.h"
#include "text/status_line.h"

namespace treeline::cli {
namespace {

struct SweepFlags {
    CommonFlags common;
    requests::FlagTexts texts;
    std::string file;
    bool ignore_memory = false;
};

/// A space of accelerator designs: the best ones under a board's resources.
void explore_designs(const SweepFlags& flags) {
    const requests::FlagTexts& texts = flags.texts;
    if (flags.ignore_memory || std::any_of(texts.begin(), texts.end(), [](const auto& given) {
            return given.first != "threads" && !given.second.empty();
        })) {
        throw text::InputError(
            {"this file searches designs of an accelerator, for which only --threads and --format are; --csv, --top and the "
             "others are for axes of a design space"});
    }
    const Format format = flags.common.chosen_format();
    const unsigned threads = requests::sweep_options(texts, false).threads;
    const requests::Catalogue catalogue = flags.common.find();
    json::Document document = requests::load_question(flags.file);
    requests::Descriptions descriptions(catalogue, std::filesystem::path(flags.file).parent_path());
    const nlohmann::ordered_json input = document.root().raw();
    requests::refuse_other_kinds(input, flags.file, {requests::FileKind::design_search});
    sweeps::FpgaExploration exploration = requests::read_fpga_exploration(document, descriptions, catalogue.hardware);
    sweeps::explore(exploration, threads);
    flags.common.deliver(format == Format::json  ? reports::exploration_json(exploration, input).dump(2) + "\n"
                         : format == Format::csv ? reports::exploration_csv(exploration)
                                                 : reports::exploration_table(exploration));
}

/// What a store adds to the answer goes to the log, so that the answer itself stays the same.
sweeps::SweepSummary stored_summary(const std::string& file, const store::SweepRequest& request,
                                    const store::RunSweep& run) try {
    store::Store store(file, store::Access::write);
    const store::StoredAnswer answer = store::answer_from(store, request, run);
    text::say("treeline: " + store::log_line(answer, file));
    InterruptGuard::check();
    return answer.summary;
} catch (const Interrupted& interrupted) {
    throw Interrupted{interrupted.signal, "the same command goes on from what the store holds"};
}

/// The processes that an MPI launcher started; none without one. They live until the program ends.
store::Ranks* ranks_of(const reports::SweepFiles& files) {
    static std::unique_ptr<store::Ranks> ranks;
    if (store::launched_ranks() > 1) {
        if (!store::ranks_problem().empty() || files.any()) {
            throw text::InputError(
                {files.any() ? "--csv and --json hold every point in order, which processes cannot share; ask for lists"
                             : store::ranks_problem()});
        }
        ranks = std::make_unique<store::Ranks>();
    }
    return ranks.get();
}

void sweep(const SweepFlags& flags) {
    if (requests::describes_a_run(flags.file)) {
        return explore_designs(flags);
    }
    static_cast<void>(flags.common.chosen_format());
    const requests::SweepOutputs outputs = requests::sweep_outputs(flags.texts, flags.common.format, flags.common.output);
    store::SweepRequest request = store::sweep_request(flags.file, flags.texts, flags.ignore_memory, flags.common.find());
    const sweeps::SweepInput& input = request.input;
    sweeps::SweepOptions& options = request.options;
    const std::string& store = requests::given(flags.texts, "store");
    std::optional<InterruptGuard> guard(std::in_place);  // before a file is begun
    reports::SweepFiles files(outputs.csv, outputs.json, input, flags.common.spreadsheet);
    if (files.any()) {
        options.format = [&files](const sweeps::SweepChunk& chunk) { return files.format(chunk); };
        options.write = [&files](const std::string& packed) { files.write(packed); };
    }
    store::Ranks* const ranks = ranks_of(files);
    const store::RunSweep run = [&](const sweeps::DesignSpace& space, const sweeps::SweepOptions& with) {
        return ranks != nullptr && !with.search_gap ? ranks->run(space, with) : sweeps::run_sweep(space, with);
    };
    if (ranks != nullptr && !ranks->leads()) {
        guard.reset();
        options.search_gap ? void() : static_cast<void>(run(input.space, options));
        return;
    }
    sweeps::SweepSummary summary;
    {
        Progress progress;
        options.progress = [&progress](std::uint64_t done, std::uint64_t total) {
            InterruptGuard::check();
            progress.show(done, total);
        };
        summary = store.empty() ? run(input.space, options) : stored_summary(store, request, run);
    }
    InterruptGuard::check();
    guard.reset();
    const sweeps::SweepAnswer answer{input, options, summary, outputs.lists_best, outputs.lists_pareto};
    files.finish(answer);
    if (const std::string& page = requests::given(flags.texts, "report"); !page.empty()) {
        text::write_file(page, reports::sweep_page(answer));
    }
    if (!outputs.summary.empty()) {
        CommonFlags common = flags.common;
        common.output = outputs.summary;
        const Format format = common.chosen_format();
        common.deliver(format == Format::json  ? reports::sweep_summary_json(answer)
                       : format == Format::csv ? reports::sweep_csv(answer)
                                               : reports::sweep_table(answer));
    }
}

}  // namespace

Run add_sweep(CLI::App& app) {
    auto flags = std::make_shared<SweepFlags>();
    app.add_option("FILE", flags->file, "Axes of the design space, or designs of an accelerator to search (JSON)")->required();
    add_key_flags(app, requests::sweep_flags(), flags->texts);
    app.add_flag("--ignore-memory", flags->ignore_memory, "Also list points that do not fit in memory");
    add_common_flags(app, flags->common);
    app.footer(requests::sweep_footer());
    return [flags] { sweep(*flags); };
}

}  // namespace treeline::cli
