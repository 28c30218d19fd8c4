// treeline study break-even: the accept length that a draft tree must reach to beat a chain, by tree size.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "json/reader.h"
#include "reports/fit/break_even_output.h"
#include "requests/file_kind.h"
#include "requests/fit/break_even_reader.h"
#include "text/output_file.h"

namespace treeline::cli {
namespace {

struct BreakEvenFlags {
    CommonFlags common;
    std::string file, html;
};

void run_break_even(const BreakEvenFlags& flags) {
    const Format format = flags.common.chosen_format();
    const std::filesystem::path folder = std::filesystem::path(flags.file).parent_path();
    json::Document document = json::Document::load(flags.file);
    requests::refuse_other_kinds(document.root().raw(), flags.file, {requests::FileKind::break_even});
    requests::Descriptions descriptions(flags.common.find(), folder);
    sweeps::BreakEvenAnswer answer{requests::read_break_even(document, descriptions, folder), {}};
    const sweeps::PricedRounds rounds = sweeps::priced_rounds(answer.input, document.name());
    document.add_problems(problems(rounds.chain, rounds.trees));
    document.throw_if_problems();
    answer.result = calibrate::break_even(rounds.chain, rounds.trees);
    if (!flags.html.empty()) {
        text::write_file(flags.html, reports::break_even_page(answer));
    }
    flags.common.deliver(format == Format::table  ? reports::break_even_table(answer)
                         : format == Format::json ? reports::break_even_json(answer)
                                                  : reports::break_even_csv(answer));
}

}  // namespace

Run add_break_even(CLI::App& app) {
    auto flags = std::make_shared<BreakEvenFlags>();
    app.add_option("FILE", flags->file, "What to compare (JSON); times measured, fitted, stated as a law, or simulated")
        ->required();
    app.add_option("--html", flags->html, "Also write a page with plots to this file")->type_name(written_file);
    add_common_flags(app, flags->common);
    app.footer("Example:\n  treeline study break-even examples/fits/break-even-mamba2-2.7b.json --html break-even.html");
    return [flags] { run_break_even(*flags); };
}

}  // namespace treeline::cli
