// Flags that every command has.
#pragma once

#include <string>

#include "requests/catalogue.h"
#include "requests/flag_values.h"
#include "sim/enum_names.h"

namespace CLI {
class App;
}

namespace treeline::requests {
struct FpgaFlags;
}  // namespace treeline::requests

namespace treeline::cli {

enum class Format { table, json, csv };
constexpr auto names_in(Format) {
    using enum Format;
    return enum_names<Format>({{table, "table"}, {json, "json"}, {csv, "csv"}});
}

struct CommonFlags {
    std::string catalogue;  ///< --catalogue, empty if not given
    std::string format = "table";
    std::string output = "-";
    bool spreadsheet = false;  ///< --spreadsheet

    /// Throws InputError, as do the other two.
    [[nodiscard]] Format chosen_format() const;
    [[nodiscard]] requests::Catalogue find() const { return requests::find_catalogue(catalogue); }
    /// Writes a result to where --output says.
    void deliver(const std::string& text) const;
};

/// Writes a file or, for "-", standard output. What people read gets no control characters: names and titles may hold some.
void write_answer(const std::string& output, const std::string& text, bool for_people);

/// The value of flags that name a file which the command writes, in help texts; by it such flags are known.
inline constexpr const char* written_file = "OUTPUT";

void add_catalogue_flag(CLI::App& app, CommonFlags& flags);
/// Declares the flags of a table; `texts`, which must outlive the app, receives what is given.
void add_key_flags(CLI::App& app, const std::vector<requests::KeyFlag>& flags, requests::FlagTexts& texts);
/// --set and --no-overlap of an accelerator.
void add_change_flags(CLI::App& app, requests::FpgaFlags& flags);
/// --catalogue, --format and --output.
void add_common_flags(CLI::App& app, CommonFlags& flags);

}  // namespace treeline::cli
