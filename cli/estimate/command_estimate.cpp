// treeline estimate: explains one design point.
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "reports/estimate/estimate_output.h"
#include "requests/flag_values.h"
#include "requests/point_file.h"

namespace treeline {
namespace {

struct EstimateFlags {
    CommonFlags common;
    PointFlags point;
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
        throw InputError(in_terms_of_flags(error.problems()));
    }
}

}  // namespace

Run add_estimate(CLI::App& app) {
    auto flags = std::make_shared<EstimateFlags>();
    PointFlags& point = flags->point;
    app.add_option("FILE", flags->file, "Design point (JSON), or an earlier result; flags override its keys");
    app.add_option("--target,--model", point.model, "Target: catalogue name, description, or Hugging Face config.json")
        ->type_name("NAME|PATH");
    app.add_option("--precision", point.precision,
                   "Checkpoint format (bf16, fp8, int4, nvfp4, ...), or JSON by part (default: as published)")
        ->type_name("FORMAT|JSON");
    app.add_option("--device", point.device, "Device: a GPU, an FPGA design, or an FPGA board with a --design")
        ->type_name("NAME|PATH");
    app.add_option("--design", point.design, "Accelerator design on that board")->type_name("NAME|PATH");
    app.add_option("--tensor-parallel", point.tensor_parallel, "Devices that share each layer (default 1)")->type_name("N");
    app.add_option("--gpus", point.gpus, "Devices in all; alone, they share each layer")->type_name("N");
    app.add_option("--expert-parallel", point.expert_parallel,
                   "Ranks over which a mixture's experts are dealt out (default 1: cut over all)")
        ->type_name("N");
    app.add_option("--attention-data-parallel", point.attention_data_parallel,
                   "Groups of ranks that run attention for requests of their own (default 1)")
        ->type_name("N");
    app.add_option("--pipeline-parallel", point.pipeline_parallel, "Stages that hold some of the layers each (default 1)")
        ->type_name("N");
    app.add_option("--draft-tensor-parallel", point.draft_tensor_parallel,
                   "Ranks that share the drafter's layers (default: as the target's)")
        ->type_name("N");
    app.add_option("--interconnect", point.interconnect, "Link between them (default: the fastest that joins them all)")
        ->type_name("NAME");
    app.add_option("--stack", point.stack, "Software stack (default cuda-graph, on CPUs cpu)")->type_name("NAME|PATH");
    app.add_option("--mode", point.mode, "Cost model: roofline, calibrated (default where kernels were measured) or hoi")
        ->type_name("MODE");
    app.add_option("--drafter", point.drafter, "Drafter (default: plain decoding): " + drafter_choices())
        ->type_name("NAME|KIND|JSON");
    app.add_option("--acceptance", point.acceptance, "Acceptance rate of a draft token, or a list by position: 0.8,0.65,0.5")
        ->type_name("RATE");
    app.add_option("--accept-length", point.accept_length,
                   "Alternative: mean tokens per round, bonus token included; with K drafts 4:2.6")
        ->type_name("[K:]TOKENS");
    app.add_option("--draft-tokens", point.draft_tokens, "Draft tokens per round (default 5)")->type_name("K");
    app.add_option("--shape", point.shape, "Instead of a chain: a tree as in `treeline tree` (sglang:5,4,32, a name or path)")
        ->type_name("TREE");
    app.add_option("--verification", point.verification, "unrolled, unrolled-chunk, packed, or auto")->type_name("NAME");
    app.add_option("--batch", point.batch, "Sequences decoded together (default 1)")->type_name("N");
    app.add_option("--concurrency", point.concurrency,
                   "Instead of a batch: requests that clients keep in flight; needs --output-tokens")
        ->type_name("N");
    app.add_option("--arrival-rate", point.arrival_rate,
                   "Instead of a batch: requests per second that arrive at random; needs --output-tokens")
        ->type_name("PER_SECOND");
    app.add_option("--context", point.context,
                   "Tokens cached per sequence (default 2048; prompt and half the answer if both are given)")
        ->type_name("TOKENS");
    app.add_option("--prompt", point.prompt, "Prompt length for TTFT (default: the context)")->type_name("TOKENS");
    app.add_option("--output-tokens", point.output_tokens,
                   "Tokens per answer: also counts the prompts of other requests (default: decoding alone)")
        ->type_name("TOKENS");
    app.add_option("--prefix-hit", point.prefix_hit, "Share of a prompt that the prefix cache holds (default 0)")
        ->type_name("SHARE");
    app.add_option("--rollback", point.rollback, "auto (default), truncate, replay, ring, joint, snapshot or recompute")
        ->type_name("POLICY");
    app.add_option("--decoding", point.decoding, "greedy (default) or sampling")->type_name("WAY");
    app.add_option("--decoding-budget", point.decoding_budget,
                   "Cost of decoding without speculation, in any currency; also reports whether training the drafter pays")
        ->type_name("COST");
    app.add_option("--draft-training", point.draft_training, "Cost of training the drafter, in the same currency")
        ->type_name("COST");
    add_common_flags(app, flags->common);
    app.footer(
        "Examples:\n"
        "  treeline estimate --model llama-3-8b --device h100-sxm --drafter eagle --acceptance 0.7 --draft-tokens 4\n"
        "  treeline estimate examples/estimate-mamba2-2.7b.json --batch 8 --format json");
    return [flags] { estimate(*flags); };
}

}  // namespace treeline
