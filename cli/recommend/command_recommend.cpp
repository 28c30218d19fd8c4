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
    const reports::Explain explain = options.explain.given();
    if (explain && format != Format::table) {
        throw text::InputError({"--explain belongs to the table; --format json holds every section"});
    }
    if (!options.store.empty()) {
        if (explain) {
            throw text::InputError(
                {"--explain needs the answer itself, of which a store keeps the first screen; give it without --store"});
        }
        return common.deliver(store::recommendation_text(options.store, read_workload(options, common.find()),
                                                         options.export_as, common.format, common.find()));
    }
    if (const std::vector<std::string> engines = engines_asked(options); engines.size() > 1 && options.export_as.empty()) {
        const std::vector<reports::EngineAnswer> answers = answer_on_engines(options, engines, common.find());
        return common.deliver(format == Format::json  ? reports::engines_json(answers).dump(2) + "\n"
                              : format == Format::csv ? reports::engines_csv(answers)
                                                      : reports::engines_table(answers));
    }
    const AnsweredFile result = answer_file(options, common.find());
    if (!options.export_as.empty()) {
        return common.deliver(reports::exported_text(result.answer, options.export_as));
    }
    common.deliver(format == Format::json  ? reports::recommendation_json(result.answer, result.raw).dump(2) + "\n"
                   : format == Format::csv ? reports::recommendation_csv(result.answer)
                                           : reports::recommendation_table(result.answer, explain));
}

}  // namespace

Run add_recommend(CLI::App& app) {
    auto common = std::make_shared<CommonFlags>();
    auto options = std::make_shared<WorkloadOptions>();
    add_workload_options(app, options);
    app.add_option(
           "--export", options->export_as,
           "Instead of the answer, a file for an engine or planner: " + text::listed(names_of<engines::ExportKind>(), "or") +
               "; no release of vLLM reads vllm-batch-context, only one with pull request 48944")
        ->type_name("FORM");
    app.add_option("--store", options->store,
                   "Database that keeps the question and its answer: a repeated one is not worked out")
        ->type_name("FILE");
    add_explain_flag(app, options->explain, reports::recommendation_sections());
    add_common_flags(app, *common);
    app.footer(
        "Examples:\n"
        "  treeline recommend --target qwen3-32b --device h100-sxm --stack vllm \\\n"
        "    --concurrency 32 --prompt 2000 --output-tokens 500\n"
        "  treeline recommend --target qwen3-32b --device a100-sxm-80 --tensor-parallel 2 --stack vllm \\\n"
        "    --drafter eagle3 --acceptance 0.8,0.65,0.5 --concurrency 8:0.3,16:0.4,40:0.3 --prompt 5800 --output-tokens 400\n"
        "  treeline recommend --target qwen3-32b --device h100-sxm,h200 --price h100-sxm:2.5,h200:3.4 --objective cost \\\n"
        "    --drafter none --concurrency 32 --prompt 2000 --output-tokens 500      # a planner without speculation\n"
        "  treeline recommend examples/llama-3.1-8b-h100.json --explain candidates,trust\n"
        "  treeline recommend examples/llama-3.1-8b-h100.json --engine all\n"
        "docs/inputs.md explains every key of the file; --print-input turns flags into a file.");
    return [common, options] { recommend_for(*common, *options); };
}

}  // namespace treeline::cli
