// treeline inputs: the keys of the input files.
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "json/wording.h"
#include "reports/inputs/inputs_output.h"
#include "requests/keys/key_tables.h"

namespace treeline::cli {
namespace {

struct InputsFlags {
    CommonFlags common;
    std::string object;
    bool markdown = false;
};

std::vector<json::KeyTable> tables_named(const std::string& object) {
    std::vector<std::string> names;
    for (const json::KeyTable& table : requests::key_tables()) {
        if (table.name == object) {
            return {table};
        }
        names.push_back(table.name);
    }
    const std::string hint = text::did_you_mean(object, names);
    throw text::InputError({fmt::format("inputs: there is no object \"{}\"{}", object,
                                        hint.empty() ? fmt::format("; the objects are {}", fmt::join(names, ", ")) : hint)});
}

void show_inputs(const InputsFlags& flags) {
    const Format format = flags.common.chosen_format();
    const std::vector<json::KeyTable> tables = flags.object.empty() ? requests::key_tables() : tables_named(flags.object);
    flags.common.deliver(flags.markdown           ? reports::inputs_markdown(tables)
                         : format == Format::json ? reports::inputs_json(tables)
                         : format == Format::csv  ? reports::inputs_csv(tables)
                                                  : reports::inputs_table(tables));
}

}  // namespace

Run add_inputs(CLI::App& app) {
    auto flags = std::make_shared<InputsFlags>();
    app.add_option("OBJECT", flags->object, "workload, point, sweep, platform, drafter, ... (default: all)");
    app.add_flag("--markdown", flags->markdown, "As tables in Markdown, from which docs/inputs.md is made");
    add_common_flags(app, flags->common);
    app.footer("Examples:\n  treeline inputs\n  treeline inputs platform");
    return [flags] { show_inputs(*flags); };
}

}  // namespace treeline::cli
