#include "cli/common_flags.h"

#include <fmt/format.h>
#include <charconv>

#include <CLI/CLI.hpp>

#include "json/reader.h"
#include "json/wording.h"
#include "requests/fpga/fpga_run_reader.h"
#include "text/output_file.h"
#include "text/plain_text.h"
#include "text/table.h"

namespace treeline::cli {

Format CommonFlags::chosen_format() const {
    if (const auto chosen = value_named<Format>(format)) {
        return *chosen;
    }
    throw text::InputError({fmt::format("--format: must be table, json or csv, not \"{}\"{}", format,
                                        text::did_you_mean(format, names_of<Format>()))});
}

void CommonFlags::deliver(const std::string& text) const {
    const bool guarded = spreadsheet && format == name_of(Format::csv);
    write_answer(output, guarded ? text::for_spreadsheet(text) : text, format == name_of(Format::table));
}

void write_answer(const std::string& output, const std::string& text, bool for_people) {
    text::write_file(output, for_people ? text::without_controls(text) : text);
}

void add_catalogue_flag(CLI::App& app, CommonFlags& flags) {
    app.add_option("--catalogue", flags.catalogue,
                   "Folder that holds models/ and hardware/ (default: $TREELINE_DATA, else what came with the program)")
        ->type_name("DIR");
}

void add_key_flags(CLI::App& app, const std::vector<requests::KeyFlag>& flags, requests::FlagTexts& texts) {
    for (const requests::KeyFlag& flag : flags) {
        app.add_option(flag.name, texts[flag.path], flag.help)->type_name(flag.value);
    }
}

void add_change_flags(CLI::App& app, requests::FpgaFlags& flags) {
    app.add_option("--set", flags.changes,
                   "Override a number of the design; repeatable: lanes=64, state_bits=16, tile_outputs=32, ...")
        ->type_name("KEY=NUMBER");
    app.add_flag("--no-overlap", flags.no_overlap, "Let Linear and SSM unit work in turn");
}

void add_common_flags(CLI::App& app, CommonFlags& flags) {
    app.add_option("--format", flags.format, "table, json or csv")->type_name("FORMAT")->capture_default_str();
    app.add_option("--output", flags.output, "File to write; - is standard output")
        ->type_name(written_file)
        ->capture_default_str();
    app.add_flag("--spreadsheet", flags.spreadsheet,
                 "In CSV, put an apostrophe before texts that a spreadsheet would run as a formula");
    add_catalogue_flag(app, flags);
}

}  // namespace treeline::cli
