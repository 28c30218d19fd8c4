#include "cli/recommend/workload_options.h"

#include <functional>

#include <CLI/CLI.hpp>

#include "cli/common_flags.h"
#include "cli/engine_flag.h"
#include "requests/flag_values.h"

namespace treeline {
namespace {

using Shared = std::shared_ptr<WorkloadOptions>;

/// A flag that may be given several times; `take` sees each value as the command line is read, from left to right.
void add_repeated(CLI::App& app, const std::string& name, const std::string& type, const std::string& help,
                  std::function<void(const std::string&)> take) {
    app.add_option_function<std::string>(name, std::move(take), help)
        ->type_name(type)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
        ->trigger_on_parse();
}

void add_platform_flags(CLI::App& app, const Shared& options) {
    WorkloadFlags& flags = options->flags;
    app.add_option("--target,--model", flags.model, "Target: catalogue name, description, or Hugging Face config.json")
        ->type_name("NAME|PATH");
    app.add_option("--precision", flags.precision,
                   "Format of all tensors except recurrent states, or JSON by part (default: as published)")
        ->type_name("FORMAT|JSON");
    add_repeated(app, "--device", "NAME|PATH,...|JSON", "Devices to choose from: GPUs, FPGA designs, or platforms as JSON",
                 [options](const std::string& text) { options->flags.devices.push_back(text); });
    app.add_option("--design", flags.design, "Accelerator design on an FPGA board")->type_name("NAME|PATH");
    app.add_option("--tensor-parallel", flags.tensor_parallel, "Devices that share each layer (default 1); 1,2,4 tries each")
        ->type_name("N,...");
    app.add_option("--gpus", flags.gpus, "Devices in all: every cut of so many that the stack's engine offers is tried")
        ->type_name("N,...");
    app.add_option("--expert-parallel", flags.expert_parallel,
                   "Ranks over which a mixture's experts are dealt out (default 1: cut over all)")
        ->type_name("N,...");
    app.add_option("--attention-data-parallel", flags.attention_data_parallel,
                   "Groups of ranks that run attention for requests of their own (default 1)")
        ->type_name("N,...");
    app.add_option("--pipeline-parallel", flags.pipeline_parallel, "Stages that hold some of the layers each (default 1)")
        ->type_name("N,...");
    app.add_option("--draft-tensor-parallel", flags.draft_tensor_parallel,
                   "Ranks that share the drafter's layers (default: as the target's)")
        ->type_name("N");
    app.add_option("--interconnect", flags.interconnect, "Link between them (default: the device's fastest)")
        ->type_name("NAME");
    app.add_option("--stack", flags.stack, "Software stacks (default cuda-graph, on CPUs cpu); see treeline hardware")
        ->type_name("NAME|PATH,...");
    app.add_option("--mode", flags.mode, "Cost model: roofline, calibrated (default where kernels were measured) or hoi")
        ->type_name("MODE");
}

/// --acceptance and --accept-length belong to the preceding --drafter.
DrafterFlags& last_drafter(WorkloadOptions& options) {
    std::vector<DrafterFlags>& drafters = options.flags.drafters;
    if (drafters.empty()) {
        drafters.emplace_back();
    }
    return drafters.back();
}

void add_drafter_flags(CLI::App& app, const Shared& options) {
    WorkloadFlags& flags = options->flags;
    add_repeated(app, "--drafter", "NAME|KIND|JSON", "Candidate; repeat the flag for more: " + drafter_choices(),
                 [options](const std::string& text) {
                     options->flags.drafters.push_back({text, "", ""});
                 });
    add_repeated(app, "--acceptance", "RATE,...|JSON",
                 "Acceptance of the preceding --drafter: one rate for all draft tokens, or P(first 1, 2, ... drafts accepted): "
                 "0.8,0.65,0.5",
                 [options](const std::string& text) { last_drafter(*options).acceptance = text; });
    add_repeated(app, "--accept-length", "K:TOKENS,...",
                 "Alternative: mean tokens per round with K drafts, bonus token included: 4:2.6",
                 [options](const std::string& text) { last_drafter(*options).accept_length = text; });
    app.add_option("--draft-tokens", flags.draft_tokens,
                   "Draft tokens to try: 5, 1,2,4 or a range (default: 1 to the number of measured positions, else 8)")
        ->type_name("K,...");
    add_repeated(app, "--shape", "TREE",
                 "Trees to try in addition to chains; repeatable: sglang:5,4,32, a name from examples/trees, or a path",
                 [options](const std::string& text) { options->flags.shapes.push_back(text); });
    app.add_option("--verification", flags.verification, "unrolled, unrolled-chunk, packed, or auto (default)")
        ->type_name("NAME,...");
    app.add_option("--rollback", flags.rollback, "auto (default), truncate, replay, ring, joint, snapshot or recompute")
        ->type_name("POLICY,...");
    app.add_option("--decoding", flags.decoding, "greedy (default) or sampling")->type_name("WAY");
}

void add_traffic_flags(CLI::App& app, const Shared& options) {
    WorkloadFlags& flags = options->flags;
    app.add_option("--batch", flags.batch,
                   "Sequences decoded together: 8, 8,16,40, or with shares 8:0.3,16:0.5,40:0.2 (default 1)")
        ->type_name("N[:SHARE],...");
    app.add_option("--context", flags.context, "Tokens cached per sequence, in the same form (default 2048)")
        ->type_name("TOKENS[:SHARE],...");
    app.add_option("--shares-of", flags.shares_of, "Shares are of time (default) or of tokens")->type_name("WHAT");
    app.add_option("--prompt", flags.prompt, "Prompt length for TTFT (default: the typical context)")->type_name("TOKENS");
    app.add_option("--output-tokens", flags.output_tokens,
                   "Tokens per answer: also counts the prompts of other requests (default: decoding alone)")
        ->type_name("TOKENS");
    app.add_option("--prefix-hit", flags.prefix_hit, "Share of a prompt that the prefix cache holds (default 0)")
        ->type_name("SHARE");
    app.add_option("--objective", flags.objective, "throughput (default), latency, cost or energy")->type_name("WHAT");
    app.add_option("--max-tpot-ms", flags.max_tpot_ms, "Limit: time per output token")->type_name("MS");
    app.add_option("--max-ttft-ms", flags.max_ttft_ms, "Limit: time to the first token")->type_name("MS");
    app.add_option("--max-memory-gb", flags.max_memory_gb, "Limit: memory per device")->type_name("GB");
    app.add_option("--minimum-gain", flags.minimum_gain, "Prefer plain decoding below this gain (default 1)")
        ->type_name("RATIO");
}

}  // namespace

void add_workload_options(CLI::App& app, const Shared& options) {
    add_engine_flag(app, options->engines);
    app.add_option("FILE", options->file,
                   "Workload (JSON), or an earlier result; flags override its keys, or replace the file");
    add_platform_flags(app, options);
    add_drafter_flags(app, options);
    add_traffic_flags(app, options);
    app.add_option("--title", options->flags.title, "Title of the report")->type_name("TEXT");
    app.add_flag("--print-input", options->print_input, "Print the equivalent workload as JSON and exit");
    app.add_option("--threads", options->threads, "Threads to use; 0 = one per core; results do not depend on it")
        ->type_name("N")
        ->capture_default_str();
}

WorkloadSource read_workload(const WorkloadOptions& options, const Catalogue& catalogue) {
    return read_workload(options.file, options.flags, catalogue);
}

AnsweredFile answer_file(const WorkloadOptions& options, const Catalogue& catalogue) {
    const auto thread_count = static_cast<unsigned>(whole_number("--threads", options.threads, 0, 1024));
    std::vector<Engine> engines = chosen_engines(options.engines);
    WorkloadSource source = read_workload(options, catalogue);
    return {answer(std::move(source.input), thread_count), std::move(source.raw), std::move(engines)};
}

}  // namespace treeline
