// treeline decode: speculative decoding run for real, with random weights, and timed phase by phase.
#include <memory>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "reports/decode/decode_output.h"
#include "requests/decode/decode_reader.h"
#include "requests/file_kind.h"
#include "text/input_error.h"

namespace treeline::cli {
namespace {

struct DecodeCommandFlags {
    CommonFlags common;
    std::string file;
    requests::DecodeFlags replaced;
};

decoder::DecodeResult repeated(const decoder::DecodeSetup& setup, int repeat) {
    std::vector<decoder::DecodeResult> runs;
    for (int run = 0; run < repeat; ++run) {
        runs.push_back(decode(setup));
    }
    return decoder::together(runs);
}

void run_decode(const DecodeCommandFlags& flags) {
    const Format format = flags.common.chosen_format();
    json::Document document = json::Document::load(flags.file);
    requests::refuse_other_kinds(document.root().raw(), flags.file, {requests::FileKind::decoding});
    requests::Descriptions descriptions(flags.common.find(), std::filesystem::path(flags.file).parent_path());
    decoder::DecodeAnswer answer;
    answer.input = requests::read_decode(document, descriptions, flags.replaced);
    const decoder::DecodeSetup& setup = answer.input.setup;
    if (const std::string problem = memory_problem(setup); !problem.empty()) {
        throw text::InputError({flags.file + ": " + problem});
    }
    answer.decoded = repeated(setup, answer.input.repeat);
    if (answer.input.compare_plain && setup.tree.nodes() > 0) {
        answer.plain = repeated(plain(setup), answer.input.repeat);
    }
    flags.common.deliver(format == Format::table  ? reports::decode_table(answer)
                         : format == Format::json ? reports::decode_json(answer).dump(2) + "\n"
                                                  : reports::decode_csv(answer));
}

}  // namespace

Run add_decode(CLI::App& app) {
    auto flags = std::make_shared<DecodeCommandFlags>();
    app.add_option("FILE", flags->file, "Target, drafter, draft and policies (JSON)")->required();
    app.add_option("--device", flags->replaced.device, "cpu, cuda or cuda:N; overrides the file")->type_name("DEVICE");
    app.add_option("--seed", flags->replaced.seed, "Seed of weights and prompts; overrides the file")->type_name("N");
    app.add_option("--repeat", flags->replaced.repeat, "Number of runs; overrides the file")->type_name("N");
    add_common_flags(app, flags->common);
    app.footer(
        "Decodes with random weights on real kernels: drafts, verifies, accepts and rolls back, and prints how long\n"
        "each phase took. With greedy acceptance the tokens are those of plain decoding, which also runs.\n\n"
        "Example:\n"
        "  treeline decode examples/decode/mamba2-tree-replay.json");
    return [flags] { run_decode(*flags); };
}

}  // namespace treeline::cli
