#include "requests/recommend/workload_file.h"

#include <algorithm>
#include <filesystem>

#include "hardware/accelerators.h"
#include "requests/file_kind.h"
#include "requests/load_matrix.h"

namespace treeline::requests {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t longest_line = 110;

/// The workload in a document: all of it, or the input that a result repeats.
Json workload_in(json::Document document) {
    const Json& tree = document.root().raw();
    document.throw_if_problems();
    const bool is_result = tree.contains("input") && tree.value("format", Json()) == "treeline-recommendation";
    return is_result ? Json(tree["input"]) : tree;
}

std::string one_line(const Json& node) {
    if (!node.is_structured()) {
        return node.dump();
    }
    std::string text;
    for (const auto& [key, value] : node.items()) {
        text += (text.empty() ? "" : ", ") + (node.is_object() ? Json(key).dump() + ": " : "") + one_line(value);
    }
    return node.is_object() ? "{" + text + "}" : "[" + text + "]";
}

/// `node` after `column` characters of its line, indented by `indent` if it takes several lines.
std::string laid_out(const Json& node, std::size_t column, std::size_t indent) {
    const std::string line = one_line(node);
    if (!node.is_structured() || (indent > 0 && column + line.size() <= longest_line)) {
        return line;
    }
    const std::string margin(indent + 2, ' ');
    std::string text;
    for (const auto& [key, value] : node.items()) {
        const std::string name = node.is_object() ? Json(key).dump() + ": " : "";
        text += (text.empty() ? "" : ",\n") + margin + name + laid_out(value, margin.size() + name.size(), indent + 2);
    }
    return (node.is_object() ? "{\n" : "[\n") + text + "\n" + std::string(indent, ' ') + (node.is_object() ? "}" : "]");
}

bool is_accelerator(const Json& platform, const Catalogue& catalogue) {
    const Json device = platform.is_object() ? platform.value("device", Json()) : platform;
    try {
        return device.is_string() &&
               hardware::hardware_kind_of(catalogue.hardware, device.get<std::string>()) != hardware::HardwareKind::device;
    } catch (const text::InputError&) {
        return false;  // its reader says what is wrong with it
    }
}

/// Of several platforms, flags of software are for the GPUs and CPUs: an accelerator has its controller on the chip.
void spare_accelerators(Json& workload, const WorkloadFlags& flags, const Catalogue& catalogue) {
    const Json platforms = workload.value("platforms", Json());
    const auto of_accelerator = [&](const Json& platform) { return is_accelerator(platform, catalogue); };
    if (!platforms.is_array() || std::all_of(platforms.begin(), platforms.end(), of_accelerator)) {
        return;
    }
    Json all = Json::array();
    for (Json platform : platforms) {
        for (const char* key : {"stack", "engine", "expert_kernels", "attention_kernels", "mode", "prefill", "token_budget"}) {
            const bool of_flag = !given(flags.texts, std::string("platforms.") + key).empty();
            if (of_flag && platform.is_object() && of_accelerator(platform)) {
                platform.erase(key);
            }
        }
        if (std::find(all.begin(), all.end(), platform) == all.end()) {
            all.push_back(std::move(platform));
        }
    }
    workload["platforms"] = std::move(all);
}

WorkloadSource read_file(const std::string& file, const WorkloadFlags& flags, const Catalogue& catalogue) {
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    Json raw = workload_in(load_question(file));
    refuse_other_kinds(raw, file, {FileKind::workload});
    Json changed = raw;
    rebase_paths(changed, folder.string());  // those of flags are relative to the current folder
    const Json unchanged = changed;
    changed = with_flags(std::move(changed), flags);
    if (changed != unchanged) {
        spare_accelerators(changed, flags, catalogue);
    }
    const bool as_it_stands = changed == unchanged;
    json::Document document = json::Document::of((as_it_stands ? raw : changed), file);
    const std::filesystem::path relative_to = as_it_stands ? folder : std::filesystem::path();
    Descriptions descriptions(catalogue, relative_to);
    return {read_workload(document, descriptions), std::move(as_it_stands ? raw : changed), relative_to};
}

WorkloadSource read_flags(const WorkloadFlags& flags, const Catalogue& catalogue) {
    try {
        Json workload = with_flags(Json::object(), flags);
        if (!workload.contains("target") && !workload.contains("platforms")) {
            throw text::InputError({"give a FILE (a workload), or at least --target and --device; --help lists all flags"});
        }
        spare_accelerators(workload, flags, catalogue);
        json::Document document = json::Document::of(workload, "flags");
        Descriptions descriptions(catalogue, {});
        return {read_workload(document, descriptions), std::move(workload), {}};
    } catch (const text::InputError& error) {
        const bool lengths = std::any_of(flags.drafters.begin(), flags.drafters.end(),
                                         [](const DrafterFlags& each) { return !each.accept_length.empty(); });
        throw text::InputError(in_terms_of_flags(error.problems(), workload_flags(), lengths));
    }
}

}  // namespace

WorkloadSource read_workload(const std::string& file, const WorkloadFlags& flags, const Catalogue& catalogue) {
    return file.empty() ? read_flags(flags, catalogue) : read_file(file, flags, catalogue);
}

WorkloadSource read_workload_text(std::string_view text, const std::string& name, const std::filesystem::path& folder,
                                  const Catalogue& catalogue) {
    Json raw = workload_in(json::Document::parse(text, name));
    refuse_other_kinds(raw, name, {FileKind::workload});
    json::Document document = json::Document::of(raw, name);
    Descriptions descriptions(catalogue, folder);
    return {read_workload(document, descriptions), std::move(raw), folder};
}

std::string workload_text(const Json& workload) { return laid_out(workload, 0, 0) + "\n"; }

}  // namespace treeline::requests
