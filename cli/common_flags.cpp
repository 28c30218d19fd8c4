#include "cli/common_flags.h"

#include <fmt/format.h>
#include <charconv>

#include <CLI/CLI.hpp>

#include "json/reader.h"
#include "json/wording.h"
#include "reports/output_file.h"

namespace treeline {

Format CommonFlags::chosen_format() const {
    if (format == "table") {
        return Format::table;
    }
    if (format == "json") {
        return Format::json;
    }
    if (format == "csv") {
        return Format::csv;
    }
    throw InputError({fmt::format("--format: must be table, json or csv, not \"{}\"{}", format,
                                  json::did_you_mean(format, {"table", "json", "csv"}))});
}

void CommonFlags::deliver(const std::string& text) const { write_file(output, text); }

long long whole_number(const std::string& flag, const std::string& text, long long low, long long high) {
    long long value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
        throw InputError({fmt::format("{}: must be a whole number between {} and {}, not \"{}\"", flag, low, high, text)});
    }
    return value;
}

void add_catalogue_flag(CLI::App& app, CommonFlags& flags) {
    app.add_option("--catalogue", flags.catalogue,
                   "Folder that holds models/ and hardware/ (default: $TREELINE_DATA, else what came with the program)")
        ->type_name("DIR");
}

void add_common_flags(CLI::App& app, CommonFlags& flags) {
    app.add_option("--format", flags.format, "table, json or csv")->type_name("FORMAT")->capture_default_str();
    app.add_option("--output", flags.output, "File to write; - is standard output")->type_name("FILE")->capture_default_str();
    add_catalogue_flag(app, flags);
}

}  // namespace treeline
