// treeline estimate: explains one design point.
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "reports/estimate/estimate_output.h"
#include "requests/point_file.h"

namespace treeline {
namespace {

struct EstimateFlags {
    CommonFlags common;
    FlagTexts point;
    std::string file;
};

/// From the folder of the result, in which its own paths begin, to the current one.
std::filesystem::path from_folder_of(const std::string& output) {
    const std::filesystem::path folder = std::filesystem::path(output).parent_path();
    return folder.empty() ? folder : std::filesystem::proximate(std::filesystem::current_path(), folder);
}

void estimate(const EstimateFlags& flags) {
    const Format format = flags.common.chosen_format();
    try {
        PointSource source = read_point(flags.file, flags.point, flags.common.find());
        const PointEstimate result = estimate_point(std::move(source.input));
        rebase_paths(source.raw, from_folder_of(flags.common.output).string());
        flags.common.deliver(format == Format::json  ? estimate_json(result, source.raw).dump(2) + "\n"
                             : format == Format::csv ? estimate_csv(result)
                                                     : estimate_table(result));
    } catch (const InputError& error) {
        throw InputError(in_terms_of_flags(error.problems(), point_flags()));
    }
}

}  // namespace

Run add_estimate(CLI::App& app) {
    auto flags = std::make_shared<EstimateFlags>();
    app.add_option("FILE", flags->file, "Design point (JSON), or an earlier result; flags override its keys");
    add_key_flags(app, point_flags(), flags->point);
    add_common_flags(app, flags->common);
    app.footer(
        "Examples:\n"
        "  treeline estimate --model llama-3-8b --device h100-sxm --drafter eagle --acceptance 0.7 --draft-tokens 4\n"
        "  treeline estimate examples/estimate-mamba2-2.7b.json --batch 8 --format json");
    return [flags] { estimate(*flags); };
}

}  // namespace treeline
