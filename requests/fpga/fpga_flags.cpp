// Flags of `treeline fpga` as keys of a run.
#include <filesystem>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/wording.h"
#include "requests/fpga/fpga_run_reader.h"

namespace treeline {
namespace {

using Json = nlohmann::ordered_json;

Json number_or_text(const std::string& text) {
    Json value = Json::parse(text, nullptr, false);
    return value.is_number() || value.is_object() ? value : Json(text);
}

void set(Json& run, const char* key, const std::string& flag) {
    if (!flag.empty()) {
        run[key] = number_or_text(flag);
    }
}

/// "lanes=64" as a member of "changes".
void set_change(Json& changes, const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
        throw InputError(
            {fmt::format("--set: must be KEY=NUMBER with a key of {}, not \"{}\"", listed(design_changes(), "and"), text)});
    }
    changes[text.substr(0, equals)] = number_or_text(text.substr(equals + 1));
}

/// Paths in a file are relative to it, paths in flags to the current folder.
void rebase_paths(Json& run, const std::filesystem::path& base) {
    for (const char* key : {"design", "board", "target", "drafter", "shape"}) {
        if (run.contains(key) && run[key].is_string() && looks_like_path(run[key].get_ref<const std::string&>())) {
            run[key] = (base / run[key].get<std::string>()).lexically_normal().string();
        }
    }
}

Json run_in(const std::string& file) {
    json::Document document = json::Document::load(file);
    const Json& tree = document.root().raw();
    document.throw_if_problems();
    const bool is_result = tree.contains("input") && (tree.value("format", Json()) == "treeline-fpga-estimate" ||
                                                      tree.value("format", Json()) == "treeline-fpga-simulation");
    Json run = is_result ? tree.at("input") : tree;
    rebase_paths(run, std::filesystem::path(file).parent_path());
    return run;
}

}  // namespace

Json run_of(const FpgaFlags& flags) {
    Json run = flags.file.empty() ? Json::object() : run_in(flags.file);
    set(run, "design", flags.design);
    set(run, "board", flags.board);
    set(run, "target", flags.target);
    set(run, "drafter", flags.drafter);
    set(run, "shape", flags.tree);
    if (!flags.accept_length.empty()) {
        run["accept_length"] = number_or_text(flags.accept_length);
        run.erase("accept_source");
        run.erase("acceptance");
    }
    if (!flags.acceptance.empty()) {
        const Json value = number_or_text(flags.acceptance);
        run["acceptance"] = value.is_object() ? value : Json{{"geometric", value}};
        run.erase("accept_length");
        run.erase("accept_source");
    }
    set(run, "plan", flags.plan);
    set(run, "tree_states", flags.tree_states);
    if (flags.no_overlap) {
        run["overlap"] = false;
    }
    for (const std::string& change : flags.changes) {
        set_change(run["changes"], change);
    }
    if (!run.contains("target")) {
        run["target"] = "mamba2-2.7b";
    }
    return run;
}

FpgaRun read_fpga_run(const FpgaFlags& flags, const Catalogue& catalogue) {
    if (flags.file.empty() && flags.design.empty()) {
        throw InputError({"fpga: needs a design; give FILE or --design"});
    }
    json::Document document = json::Document::of(run_of(flags), flags.file.empty() ? "flags" : flags.file);
    json::Reader root = document.root();
    Descriptions descriptions(catalogue, {});
    FpgaRun run = read_fpga_run(root, descriptions, catalogue.hardware);
    root.finish();
    document.throw_if_problems();
    document.add_problems(problems_of(run));
    document.throw_if_problems();
    const std::vector<Provenance>& models = descriptions.provenance();
    run.provenance.insert(run.provenance.end(), models.begin(), models.end());
    return run;
}

}  // namespace treeline
