// Flags of an accelerator as keys of a run.
#include <filesystem>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/wording.h"
#include "requests/file_kind.h"
#include "requests/fpga/fpga_run_reader.h"
#include "requests/keys/fpga_keys.h"
#include "requests/load_matrix.h"

namespace treeline::requests {
namespace {

/// "lanes=64" as a member of "changes".
void set_change(FlagJson& changes, const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
        throw text::InputError({fmt::format("--set: must be KEY=NUMBER with a key of {}, not \"{}\"",
                                            text::listed(design_changes(), "and"), text)});
    }
    changes[text.substr(0, equals)] = value_of_flag(text.substr(equals + 1));
}

/// Paths in a file are relative to it, paths in flags to the current folder.
void rebase_paths(FlagJson& run, const std::filesystem::path& base) {
    for (const char* key : {"design", "board", "target", "drafter", "shape"}) {
        if (run.contains(key) && run[key].is_string() && looks_like_path(run[key].get_ref<const std::string&>())) {
            run[key] = (base / run[key].get<std::string>()).lexically_normal().string();
        }
    }
}

FlagJson run_in(const std::string& file) {
    json::Document document = load_question(file);
    const FlagJson& tree = document.root().raw();
    document.throw_if_problems();
    const bool is_result = tree.contains("input") && (tree.value("format", FlagJson()) == "treeline-fpga-estimate" ||
                                                      tree.value("format", FlagJson()) == "treeline-fpga-simulation");
    FlagJson run = is_result ? tree.at("input") : tree;
    refuse_other_kinds(run, file, {FileKind::accelerator_run});
    rebase_paths(run, std::filesystem::path(file).parent_path());
    return run;
}

}  // namespace

const std::vector<KeyFlag>& fpga_flags() {
    using json::help_of;
    static const std::vector<KeyFlag> flags = {
        {"--design", "NAME|PATH", "design", help_of(fpga_keys::design) + ": name in hardware/fpga/designs, or description"},
        {"--board", "NAME|PATH", "board", help_of(fpga_keys::board)},
        {"--target", "NAME|PATH", "target", help_of(fpga_keys::model) + " (default mamba2-2.7b)"},
        {"--drafter", "NAME|PATH", "drafter", help_of(fpga_keys::drafter)},
        {"--shape,--tree", "TREE", "shape", "Draft tree as in `treeline tree` (chain:8, children:..., a name or path)"},
        {"--accept-length", "TOKENS", "accept_length", "Mean tokens per round, bonus token included"},
        {"--acceptance", "RATE|JSON", "acceptance", "Alternative: rate of a draft token, or JSON ({\"per_rank\": [0.6, 0.2]})",
         acceptance_of_flag},
        {"--plan", "PLAN", "plan", help_of(fpga_keys::plan)},
        {"--tree-states", "WHERE", "tree_states", help_of(fpga_keys::tree_states)},
    };
    return flags;
}

bool describes_a_run(const std::string& file) {
    if (file.empty()) {
        return false;
    }
    json::Document document = load_question(file);
    const FlagJson& tree = document.root().raw();
    return tree.is_object() && (tree.contains("design") || tree.value("format", FlagJson()) == "treeline-fpga-estimate" ||
                                tree.value("format", FlagJson()) == "treeline-fpga-simulation");
}

FlagJson run_of(const FpgaFlags& flags) {
    if (!given(flags.texts, "accept_length").empty() && !given(flags.texts, "acceptance").empty()) {
        throw text::InputError({"--acceptance and --accept-length say the same thing; give one of them"});
    }
    FlagJson run = flags.file.empty() ? FlagJson::object() : run_in(flags.file);
    for (const char* length : {"accept_length", "acceptance"}) {
        if (!given(flags.texts, length).empty()) {
            run.erase("accept_length");
            run.erase("accept_source");
            run.erase("acceptance");
        }
    }
    set_given(run, fpga_flags(), flags.texts);
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

sweeps::FpgaRun read_fpga_run(const FpgaFlags& flags, const Catalogue& catalogue) {
    if (flags.file.empty() && given(flags.texts, "design").empty()) {
        throw text::InputError({"a run needs a design; give FILE or --design"});
    }
    json::Document document = json::Document::of(run_of(flags), flags.file.empty() ? "flags" : flags.file);
    json::Reader root = document.root();
    Descriptions descriptions(catalogue, {});
    sweeps::FpgaRun run = read_fpga_run(root, descriptions, catalogue.hardware);
    root.finish();
    document.throw_if_problems();
    document.add_problems(problems_of(run));
    document.throw_if_problems();
    const std::vector<text::Provenance>& models = descriptions.provenance();
    run.provenance.insert(run.provenance.end(), models.begin(), models.end());
    return run;
}

}  // namespace treeline::requests
