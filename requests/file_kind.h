// What a JSON file is, told by its keys: a command that is given a file of another kind says which command takes it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace treeline::requests {

enum class FileKind {
    result,  ///< that a command printed
    run,     ///< what a deployment was measured to do
    calibration,
    experiments,
    sweep,
    workload,
    design_search,  ///< of an accelerator
    claims,
    accelerator_run,
    bandit,
    traffic,
    policies,
    break_even,
    acceptance_study,
    rank_acceptance,
    point,
    published_drafter,
    drafter,  ///< as --drafter takes it in JSON
    decoding,
    model,
    hugging_face,
    board,
    device,
    stack,
    tree,
    unknown
};

FileKind kind_of(const nlohmann::ordered_json& tree);

/// What takes such a file: a command ("treeline recommend") or a flag ("--device"); empty where nothing is known to.
std::string taken_by(const nlohmann::ordered_json& tree);

/// "holds a sweep, not a workload: `treeline sweep FILE` takes it"; empty where the tree is of one of the wanted kinds, or of
/// none that is known. The first one is named.
std::string other_kind(const nlohmann::ordered_json& tree, const std::string& file, const std::vector<FileKind>& wanted);

/// The same as an exception: InputError.
void refuse_other_kinds(const nlohmann::ordered_json& tree, const std::string& file, const std::vector<FileKind>& wanted);
/// Of a file; one that cannot be read is left to the reader that it is meant for.
std::string other_kind_of_file(const std::filesystem::path& file, const std::vector<FileKind>& wanted);

}  // namespace treeline::requests
