#include "requests/file_kind.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/reader.h"
#include "requests/load_matrix.h"
#include "requests/setup_reader.h"

namespace treeline::requests {
namespace {

using Json = nlohmann::ordered_json;

struct JsonKind {
    FileKind kind;
    std::string_view name;  ///< with its article
    std::string_view use;   ///< where it goes; {} is the file
    bool (*tells)(const Json& tree);
};

template <class... Keys>
bool holds(const Json& tree, const Keys&... keys) {
    return (tree.contains(keys) && ...);
}

template <class... Keys>
bool holds_any(const Json& tree, const Keys&... keys) {
    return (tree.contains(keys) || ...);
}

std::string stated_format(const Json& tree) {
    const Json format = tree.value("format", Json());
    return format.is_string() ? format.get<std::string>() : "";
}

/// The first that tells itself is meant.
constexpr std::array<JsonKind, 25> json_kinds = {{
    {FileKind::run, "a measured run", "`treeline diagnose {}` explains it, and --acceptance {} takes its acceptance",
     [](const Json& tree) { return stated_format(tree) == "treeline-run"; }},
    {FileKind::calibration, "laws of a device's kernels", "a device's description names them as \"calibration\"",
     [](const Json& tree) { return stated_format(tree) == "treeline-calibration"; }},
    {FileKind::experiments, "published experiments", "`treeline validate --experiments {}` predicts them",
     [](const Json& tree) { return holds(tree, "paper", "tables"); }},
    {FileKind::result, "an answer of Treeline", "its \"input\" is the question",
     [](const Json& tree) { return stated_format(tree).starts_with("treeline-"); }},
    {FileKind::sweep, "a sweep", "`treeline sweep {}` prices it", [](const Json& tree) { return holds(tree, "axes"); }},
    {FileKind::workload, "a workload", "`treeline recommend {}` answers it",
     [](const Json& tree) { return holds(tree, "platforms") && holds_any(tree, "target", "traffic", "drafters"); }},
    {FileKind::claims, "claims about an accelerator", "`treeline study claims {}` checks them",
     [](const Json& tree) { return holds(tree, "run") && holds_any(tree, "structures", "designs", "drafters"); }},
    {FileKind::design_search, "a search of accelerator designs", "`treeline sweep {}` runs it",
     [](const Json& tree) {
         return holds(tree, "design") && holds_any(tree, "tile_inputs", "tile_outputs", "lanes", "trees");
     }},
    {FileKind::accelerator_run, "a run of an accelerator", "`treeline estimate {}` explains it",
     [](const Json& tree) { return holds(tree, "design", "target"); }},
    {FileKind::bandit, "a study of choosing tree shapes", "`treeline study bandit {}` runs it",
     [](const Json& tree) { return holds(tree, "tasks") && holds_any(tree, "arms", "design_point"); }},
    {FileKind::traffic, "a study of traffic", "`treeline study traffic {}` runs it",
     [](const Json& tree) { return holds(tree, "arrivals_per_second"); }},
    {FileKind::policies, "a study of policies", "`treeline study policies {}` runs it",
     [](const Json& tree) {
         return holds(tree, "design_point", "longest") || (holds(tree, "measured", "batch") && !holds(tree, "target"));
     }},
    {FileKind::break_even, "a comparison of a tree with a chain", "`treeline study break-even {}` runs it",
     [](const Json& tree) { return holds(tree, "tree", "chain"); }},
    {FileKind::acceptance_study, "a study of verification methods", "`treeline study acceptance {}` runs it",
     [](const Json& tree) { return holds(tree, "temperatures", "shapes"); }},
    {FileKind::rank_acceptance, "acceptance by rank", "`treeline tree optimise --acceptance {}` takes it",
     [](const Json& tree) { return holds_any(tree, "ranks", "accepted_by_rank"); }},
    {FileKind::point, "a design point", "`treeline estimate {}` explains it",
     [](const Json& tree) { return holds(tree, "target", "platform"); }},
    {FileKind::published_drafter, "a published drafter", "--drafter {} takes it",
     [](const Json& tree) { return holds(tree, "target", "drafter", "measured"); }},
    {FileKind::decoding, "a run of the real decoder", "`treeline decode {}` runs it",
     [](const Json& tree) { return holds(tree, "target", "drafter", "tokens"); }},
    {FileKind::model, "a model's description", "--target {} takes it",
     [](const Json& tree) { return holds(tree, "layers", "order"); }},
    {FileKind::hugging_face, "a Hugging Face config", "--target {} takes it",
     [](const Json& tree) { return holds_any(tree, "architectures", "model_type"); }},
    {FileKind::board, "an FPGA board's description", "--board {} takes it",
     [](const Json& tree) { return holds(tree, "dsps", "luts"); }},
    {FileKind::device, "a device's description", "--device {} takes it",
     [](const Json& tree) { return holds(tree, "memory_bandwidth", "memory"); }},
    {FileKind::stack, "a software stack's description", "--stack {} takes it",
     [](const Json& tree) { return holds_any(tree, "host_launch", "extends"); }},
    {FileKind::tree, "a draft tree", "--shape {} takes it",
     [](const Json& tree) { return holds_any(tree, "branching", "children"); }},
    {FileKind::drafter, "a drafter", "--drafter {} takes it",
     [](const Json& tree) {
         const Json kind = tree.value("kind", Json());
         return kind.is_string() && !kind_of_word(kind.get<std::string>()).empty();
     }},
}};

const JsonKind* json_kind_of(const Json& tree) {
    const auto* const found = std::find_if(json_kinds.begin(), json_kinds.end(),
                                           [&](const JsonKind& each) { return tree.is_object() && each.tells(tree); });
    return found == json_kinds.end() ? nullptr : found;
}

}  // namespace

FileKind kind_of(const Json& tree) {
    const JsonKind* found = json_kind_of(tree);
    return found == nullptr ? FileKind::unknown : found->kind;
}

std::string taken_by(const Json& tree) {
    const JsonKind* found = json_kind_of(tree);
    const std::string_view use = found == nullptr ? std::string_view() : found->use;
    const std::size_t file = use.find(" {}"), command = use.starts_with('`') ? 1 : 0;
    return file == std::string_view::npos ? "" : std::string(use.substr(command, file - command));
}

std::string other_kind(const Json& tree, const std::string& file, const std::vector<FileKind>& wanted) {
    const JsonKind* found = json_kind_of(tree);
    if (found == nullptr) {
        return matrix_of_loads(tree);
    }
    if (std::find(wanted.begin(), wanted.end(), found->kind) != wanted.end()) {
        return "";
    }
    const auto* const first =
        std::find_if(json_kinds.begin(), json_kinds.end(), [&](const JsonKind& each) { return each.kind == wanted.front(); });
    std::string use(found->use);
    for (std::size_t at = use.find("{}"); at != std::string::npos; at = use.find("{}", at + file.size())) {
        use.replace(at, 2, file);
    }
    return fmt::format("holds {}, not {}: {}", found->name, first == json_kinds.end() ? "what is asked for" : first->name, use);
}

void refuse_other_kinds(const Json& tree, const std::string& file, const std::vector<FileKind>& wanted) {
    if (const std::string sentence = other_kind(tree, file, wanted); !sentence.empty()) {
        throw text::InputError({file + ": " + sentence});
    }
}

std::string other_kind_of_file(const std::filesystem::path& file, const std::vector<FileKind>& wanted) {
    try {
        json::Document document = json::Document::load(file);
        return other_kind(document.root().raw(), file.string(), wanted);
    } catch (const text::InputError&) {
        return "";
    }
}

}  // namespace treeline::requests
