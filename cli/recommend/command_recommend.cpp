// treeline recommend: the best configuration for a workload.
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/recommend/workload_options.h"
#include "reports/recommend/export_output.h"
#include "reports/recommend/recommendation_output.h"
#include "store/stored_recommendation.h"
#include "text/wording.h"

namespace treeline::cli {
namespace {

void recommend_for(const CommonFlags& common, const WorkloadOptions& options) {
    const Format format = common.chosen_format();
    if (options.print_input) {
        return common.deliver(requests::workload_text(read_workload(options, common.find()).raw));
    }
    if (!options.store.empty()) {
        return common.deliver(store::recommendation_text(options.store, read_workload(options, common.find()), options.engines,
                                                         options.export_as, common.format, common.find()));
    }
    const AnsweredFile result = answer_file(options, common.find());
    if (!options.export_as.empty()) {
        return common.deliver(reports::exported_text(result.answer, options.export_as));
    }
    common.deliver(format == Format::json
                       ? reports::recommendation_json(result.answer, result.raw, result.engines).dump(2) + "\n"
                   : format == Format::csv ? reports::recommendation_csv(result.answer)
                                           : reports::recommendation_table(result.answer, result.engines));
}

}  // namespace

Run add_recommend(CLI::App& app) {
    auto common = std::make_shared<CommonFlags>();
    auto options = std::make_shared<WorkloadOptions>();
    add_workload_options(app, options);
    app.add_option(
           "--export", options->export_as,
           "Instead of the answer, a file for an engine or planner: " + text::listed(names_of<engines::ExportKind>(), "or"))
        ->type_name("FORM");
    app.add_option("--store", options->store,
                   "Database that keeps the question and its answer: a repeated one is not worked out")
        ->type_name("FILE");
    add_common_flags(app, *common);
    app.footer(
        "Examples:\n"
        "  treeline recommend --target qwen3-32b --device h100-sxm --stack vllm \\\n"
        "    --concurrency 32 --prompt 2000 --output-tokens 500\n"
        "  treeline recommend --target qwen3-32b --device a100-sxm-80 --tensor-parallel 2 --stack vllm \\\n"
        "    --drafter eagle3 --acceptance 0.7,0.5,0.35 --drafter ngram --acceptance 0.3 \\\n"
        "    --concurrency 8:0.3,16:0.4,40:0.3 --prompt 5800 --output-tokens 400\n"
        "  treeline recommend --target qwen3-32b --device h100-sxm,h200 --price h100-sxm:2.5,h200:3.4 --objective cost \\\n"
        "    --drafter none --concurrency 32 --prompt 2000 --output-tokens 500      # a planner without speculation\n"
        "  treeline recommend examples/llama-3.1-8b-h100.json\n"
        "  treeline recommend examples/llama-3.1-8b-h100.json --drafter EAGLE-3 --stack sglang --batch 8:0.3,16:0.7\n"
        "docs/inputs.md explains every key of the file; --print-input turns flags into a file.");
    return [common, options] { recommend_for(*common, *options); };
}

}  // namespace treeline::cli
