// treeline estimate: explains one design point, or one run of an accelerator.
#include <algorithm>
#include <array>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/explain_flag.h"
#include "engines/priced_engine.h"
#include "reports/estimate/estimate_output.h"
#include "reports/fpga/fpga_output.h"
#include "requests/fpga/fpga_run_reader.h"
#include "requests/point_file.h"
#include "text/output_file.h"

namespace treeline::cli {
namespace {

struct EstimateFlags {
    CommonFlags common;
    requests::FlagTexts point;
    requests::FpgaFlags run;  ///< what only accelerators have
    std::string file, html;
    ExplainFlag explain;
    bool cycles = false;
};

/// From the folder of the result, in which its own paths begin, to the current one.
std::filesystem::path from_folder_of(const std::string& output) {
    const std::filesystem::path folder = std::filesystem::path(output).parent_path();
    return folder.empty() ? folder : std::filesystem::proximate(std::filesystem::current_path(), folder);
}

/// The flags of a run under the names of a point's.
requests::FpgaFlags run_flags(const EstimateFlags& flags) {
    requests::FpgaFlags run = flags.run;
    run.file = flags.file;
    for (const auto& [of_point, of_run] :
         {std::pair{"platform.design", "design"}, std::pair{"target.model", "target"}, std::pair{"drafter", "drafter"},
          std::pair{"shape", "shape"}, std::pair{"drafter.acceptance", "acceptance"},
          std::pair{"drafter.acceptance.mean_length", "accept_length"}}) {
        run.texts[of_run] = requests::given(flags.point, of_point);
    }
    return run;
}

void deliver_run(const EstimateFlags& flags, const sweeps::FpgaEstimate& result, const requests::FlagJson& input) {
    const Format format = flags.common.chosen_format();
    if (!flags.html.empty()) {
        text::write_file(flags.html, reports::fpga_html(result));
    }
    flags.common.deliver(format == Format::json  ? reports::fpga_json(result, input).dump(2) + "\n"
                         : format == Format::csv ? reports::fpga_csv(result)
                                                 : reports::fpga_table(result));
}

/// A point on an accelerator, cycle by cycle. JSON holds both views.
void deliver_cycles(const EstimateFlags& flags, const sweeps::PointEstimate& point, const requests::FlagJson& input) {
    sweeps::FpgaRun run =
        sweeps::run_at(setup_of(point.input, point.rollback), sweeps::speculation_of(point), point.speculative.accept_length);
    run.provenance = point.input.provenance;
    const sweeps::FpgaEstimate cycles = sweeps::estimate_fpga(std::move(run));
    if (flags.common.chosen_format() != Format::json) {
        return deliver_run(flags, cycles, input);
    }
    requests::FlagJson json = reports::estimate_json(point, input);
    json["cycles"] = reports::fpga_json(cycles, requests::FlagJson());
    flags.common.deliver(json.dump(2) + "\n");
}

/// A run names a design and nothing around it, in a file or by flags.
bool asks_for_a_run(const EstimateFlags& flags) {
    return requests::describes_a_run(flags.file) ||
           (flags.file.empty() && requests::given(flags.point, "platform.device").empty() &&
            !requests::given(flags.point, "platform.design").empty());
}

/// A run decodes one sequence: whatever else is said of a point would go unheard.
void refuse_flags_of_points(const requests::FlagTexts& point) {
    constexpr std::array of_runs = {"platform.design", "target.model",       "drafter",
                                    "shape",           "drafter.acceptance", "drafter.acceptance.mean_length"};
    std::vector<std::string> problems;
    for (const requests::KeyFlag& flag : requests::point_flags()) {
        if (!requests::given(point, flag.path).empty() &&
            std::find(of_runs.begin(), of_runs.end(), flag.path) == of_runs.end()) {
            if (flag.path == "draft_tokens") {
                problems.push_back("--draft-tokens: a run of an accelerator takes the length as --shape chain:" +
                                   requests::given(point, flag.path));
                continue;
            }
            problems.push_back(
                flag.name.substr(0, flag.name.find(',')) +
                ": is not of a run of an accelerator, which decodes one sequence; --device with a design's name, "
                "or a board and --design, prices a point that has it");
        }
    }
    if (!problems.empty()) {
        throw text::InputError(std::move(problems));
    }
}

bool names_parts_of_a_run(const EstimateFlags& flags) {
    return requests::any_given(flags.run.texts) || !flags.run.changes.empty() || flags.run.no_overlap;
}

void estimate(const EstimateFlags& flags) {
    const Format format = flags.common.chosen_format();
    if (flags.explain.given() && format != Format::table) {
        throw text::InputError({"--explain belongs to the table; --format json holds every section"});
    }
    if (asks_for_a_run(flags)) {
        if (flags.file.empty() && requests::given(flags.point, "platform.design").empty()) {
            throw text::InputError(
                {"give a FILE (a design point), or at least --target and --device; a run of an accelerator needs --design"});
        }
        refuse_flags_of_points(flags.point);
        const requests::FpgaFlags run = run_flags(flags);
        return deliver_run(flags, sweeps::estimate_fpga(requests::read_fpga_run(run, flags.common.find())),
                           requests::run_of(run));
    }
    if (names_parts_of_a_run(flags)) {
        throw text::InputError(
            {"--board, --plan, --tree-states, --set and --no-overlap are of a run: a FILE that names a design, or "
             "--design without --device"});
    }
    try {
        requests::PointSource source = requests::read_point(flags.file, flags.point, flags.common.find());
        const sweeps::PointEstimate result = engines::estimate_point(std::move(source.input));
        requests::rebase_paths(source.raw, from_folder_of(flags.common.output).string());
        if (flags.cycles || !flags.html.empty()) {
            if (format != Format::json &&
                (requests::any_given(flags.point, "prompt_tokens") || requests::any_given(flags.point, "output_tokens"))) {
                throw text::InputError(
                    {"--prompt and --output-tokens: --cycles and --html show the passes of a round, which read "
                     "no prompt; leave them out, or ask for --format json, which holds both views"});
            }
            if (!result.input.platform.accelerator) {
                throw text::InputError({"--cycles and --html show an accelerator, and " + result.input.platform.device.name +
                                        " is none; treeline report draws pages of other devices"});
            }
            return deliver_cycles(flags, result, source.raw);
        }
        flags.common.deliver(format == Format::json  ? reports::estimate_json(result, source.raw).dump(2) + "\n"
                             : format == Format::csv ? reports::estimate_csv(result)
                                                     : reports::estimate_table(result, flags.explain.given()));
    } catch (const text::InputError& error) {
        throw text::InputError(
            requests::in_terms_of_flags(error.problems(), requests::point_flags(),
                                        !requests::given(flags.point, "drafter.acceptance.mean_length").empty()));
    }
}

}  // namespace

Run add_estimate(CLI::App& app) {
    auto flags = std::make_shared<EstimateFlags>();
    app.add_option("FILE", flags->file,
                   "Design point, or run of an accelerator (JSON), or an earlier result; flags override its keys");
    add_key_flags(app, requests::point_flags(), flags->point);
    app.option_defaults()->group("With an accelerator");
    app.add_flag("--cycles", flags->cycles, "Show it cycle by cycle: passes, FIFO, resources, power");
    add_key_flags(app, requests::flags_at(requests::fpga_flags(), {"board", "plan", "tree_states"}), flags->run.texts);
    add_change_flags(app, flags->run);
    app.add_option("--html", flags->html, "Also write a page with charts")->type_name(written_file);
    app.option_defaults()->group("Options");
    add_explain_flag(app, flags->explain, reports::estimate_sections());
    add_common_flags(app, flags->common);
    app.footer(
        "Examples:\n"
        "  treeline estimate --model llama-3.1-8b --device h100-sxm --stack vllm --drafter eagle3 --draft-tokens 3 \\\n"
        "    --concurrency 32 --prompt 1000 --output-tokens 300\n"
        "  treeline estimate --model llama-3-8b --device h100-sxm --drafter eagle --acceptance 0.7 --draft-tokens 4 --batch 8\n"
        "  treeline estimate examples/estimate-mamba2-2.7b.json --batch 8 --format json\n"
        "  treeline estimate --model mamba2-2.7b --device specmamba-vhk158 --cycles\n"
        "  treeline estimate examples/fpga/specmamba-vck190.json --set lanes=64");
    return [flags] { estimate(*flags); };
}

}  // namespace treeline::cli
