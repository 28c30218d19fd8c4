// treeline examples: the inputs that came with the program, to look at and to copy.
#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/example_files.h"
#include "json/wording.h"
#include "requests/file_kind.h"
#include "text/input_error.h"
#include "text/input_file.h"
#include "text/output_file.h"
#include "text/table.h"

namespace treeline::cli {
namespace {

using Json = nlohmann::ordered_json;
using Path = std::filesystem::path;

struct ExamplesFlags {
    CommonFlags common;
    std::string name;
};

struct Example {
    std::string name, title;
    std::string taken_by;  ///< "treeline recommend", or the flag of one: "--device"
    std::string command;   ///< that takes it, in the folder of the examples, or that flag with the file; empty if nothing does
};

/// What explains a measured deployment: its run, the same without a drafter where that lies beside it, and its design point.
/// Empty for other examples.
std::string diagnosis_of(const std::string& name, const std::vector<std::string>& names) {
    std::string run = name;
    for (const std::string_view part : {"-point", "-plain"}) {
        run.resize(run.size() - (run.ends_with(part) ? part.size() : 0));
    }
    const auto is_there = [&](const std::string& other) { return std::find(names.begin(), names.end(), other) != names.end(); };
    if (!is_there(run) || !is_there(run + "-point")) {
        return "";
    }
    const std::string plain = is_there(run + "-plain") ? fmt::format(" {}-plain.json", run) : "";
    return fmt::format("treeline diagnose {0}.json{1} --input {0}-point.json", run, plain);
}

Example described(const Path& file, const Path& folder, const std::vector<std::string>& names) {
    const Json json = Json::parse(text::read_file(file), nullptr, false);
    const bool has_title = json.is_object() && json.contains("title") && json["title"].is_string();
    Example example{name_of_example(file, folder), has_title ? json["title"].get<std::string>() : "", requests::taken_by(json),
                    diagnosis_of(name_of_example(file, folder), names)};
    if (!example.command.empty()) {
        example.taken_by = "treeline diagnose";
    } else if (!example.taken_by.empty()) {
        example.command = fmt::format("{} {}", example.taken_by, file.lexically_relative(folder).generic_string());
    }
    return example;
}

std::string list_of(const std::vector<Path>& files, const Path& folder, Format format) {
    text::TextTable table(
        {{"example", text::Align::left}, {"what it asks", text::Align::left}, {"command", text::Align::left}});
    std::string csv = text::csv_line({"example", "title", "for", "command"});
    std::vector<std::string> names;
    for (const Path& file : files) {
        names.push_back(name_of_example(file, folder));
    }
    Json json = {{"format", "treeline-examples"}, {"version", 1}, {"examples", Json::array()}};
    for (const Path& file : files) {
        const Example example = described(file, folder, names);
        table.add({example.name, example.title, example.command});
        csv += text::csv_line({example.name, example.title, example.taken_by, example.command});
        json["examples"].push_back(
            {{"name", example.name}, {"title", example.title}, {"for", example.taken_by}, {"command", example.command}});
    }
    return format == Format::json  ? json.dump(2) + "\n"
           : format == Format::csv ? csv
                                   : table.text() +
                                         "\n`treeline examples NAME` prints one; --output FILE copies it, with the "
                                         "files that it names beside it. Commands are as in the folder of the examples.\n";
}

/// Whether a file is there that holds something else.
bool is_in_the_way(const Path& file, const Path& copied) {
    return std::filesystem::exists(file) &&
           !(std::filesystem::is_regular_file(file) && text::read_file(file) == text::read_file(copied));
}

/// Copies an example to `output`, and what it names to the same places beside it. Nothing that is there is replaced; what holds
/// the same already is left as it is.
void copy_example(const Path& example, const Path& output, const std::vector<Path>& files) {
    std::vector<std::pair<Path, Path>> copies = {{example, output}};
    for (const Path& named : files_named_in(example, files)) {
        copies.emplace_back((example.parent_path() / named).lexically_normal(),
                            (output.parent_path() / named).lexically_normal());
    }
    std::vector<std::string> problems;
    for (const auto& [from, to] : copies) {
        if (is_in_the_way(to, from)) {
            problems.push_back(fmt::format("examples: {} is there already, and is not replaced", to.string()));
        }
    }
    if (!problems.empty()) {
        throw text::InputError(std::move(problems));
    }
    for (const auto& [from, to] : copies) {
        if (std::filesystem::exists(to)) {
            continue;  // with the same content
        }
        std::error_code ignored;  // writing says what is wrong
        std::filesystem::create_directories(to.parent_path(), ignored);
        text::write_file(to, text::read_file(from));
    }
}

void show_examples(const ExamplesFlags& flags) {
    const Format format = flags.common.chosen_format();
    const requests::Catalogue catalogue = flags.common.find();
    const Path folder = examples_folder(catalogue);
    const std::vector<Path> files = example_files(catalogue);
    if (flags.name.empty()) {
        return flags.common.deliver(list_of(files, folder, format));
    }
    const std::vector<std::string> names = example_names(catalogue);
    const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
        return flags.name == name || flags.name == name + ".json";
    });
    if (found == names.end()) {
        const std::string hint = text::did_you_mean(flags.name, names);
        throw text::InputError({fmt::format("examples: there is no example \"{}\"{}", flags.name,
                                            hint.empty() ? "; treeline examples lists them" : hint)});
    }
    const Path& example = files[static_cast<std::size_t>(found - names.begin())];
    if (flags.common.output == "-") {
        return flags.common.deliver(text::read_file(example));
    }
    copy_example(example, flags.common.output, files);
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
