// treeline examples: the inputs that came with the program, to look at and to copy.
#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "json/wording.h"
#include "text/catalogue_folder.h"
#include "text/input_error.h"
#include "text/input_file.h"
#include "text/table.h"

namespace treeline::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ExamplesFlags {
    CommonFlags common;
    std::string name;
};

/// "sweeps/million-points" of ".../examples/sweeps/million-points.json".
std::string name_of_example(const std::filesystem::path& file, const std::filesystem::path& folder) {
    const std::string name = file.lexically_relative(folder).generic_string();
    return name.ends_with(".json") ? name.substr(0, name.size() - 5) : name;
}

std::string title_of(const std::filesystem::path& file) {
    const Json json = Json::parse(text::read_file(file), nullptr, false);
    return json.is_object() && json.contains("title") && json["title"].is_string() ? json["title"].get<std::string>() : "";
}

std::string list_of(const std::vector<std::filesystem::path>& files, const std::filesystem::path& folder, Format format) {
    text::TextTable table({{"example", text::Align::left}, {"what it asks", text::Align::left}});
    std::string csv = text::csv_line({"example", "title"});
    Json json = {{"format", "treeline-examples"}, {"version", 1}, {"examples", Json::array()}};
    for (const std::filesystem::path& file : files) {
        const std::string name = name_of_example(file, folder), title = title_of(file);
        table.add({name, title});
        csv += text::csv_line({name, title});
        json["examples"].push_back({{"name", name}, {"title", title}});
    }
    return format == Format::json  ? json.dump(2) + "\n"
           : format == Format::csv ? csv
                                   : table.text() + "\n`treeline examples NAME` prints one; --output FILE copies it.\n";
}

void show_examples(const ExamplesFlags& flags) {
    const Format format = flags.common.chosen_format();
    const std::filesystem::path folder = flags.common.find().models.parent_path() / "examples";
    if (!text::is_folder(folder)) {
        throw text::InputError({"examples: there are none beside the catalogue in " + folder.parent_path().string()});
    }
    std::vector<std::filesystem::path> files = text::files_below(folder);
    std::erase_if(files,
                  [](const std::filesystem::path& file) { return file.extension() != ".json" && file.extension() != ".csv"; });
    if (flags.name.empty()) {
        return flags.common.deliver(list_of(files, folder, format));
    }
    std::vector<std::string> names;
    for (const std::filesystem::path& file : files) {
        names.push_back(name_of_example(file, folder));
        if (flags.name == names.back() || flags.name == names.back() + ".json") {
            return flags.common.deliver(text::read_file(file));
        }
    }
    const std::string hint = text::did_you_mean(flags.name, names);
    throw text::InputError({fmt::format("examples: there is no example \"{}\"{}", flags.name,
                                        hint.empty() ? "; treeline examples lists them" : hint)});
}

}  // namespace

Run add_examples(CLI::App& app) {
    auto flags = std::make_shared<ExamplesFlags>();
    app.add_option("NAME", flags->name, "Example to print or copy (default: a list of all)");
    add_common_flags(app, flags->common);
    app.footer(
        "Examples:\n"
        "  treeline examples\n"
        "  treeline examples llama-3.1-8b-h100 --output mine.json\n"
        "  treeline recommend mine.json");
    return [flags] { show_examples(*flags); };
}

}  // namespace treeline::cli
