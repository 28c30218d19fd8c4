// Draft trees and their acceptance, as files and flags state them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "json/key.h"
#include "json/reader.h"
#include "sim/trees/tree_shape.h"
#include "sweeps/tree_study.h"

namespace treeline::requests {

/// One way of stating a tree, under the same name in a file ("tensorrt_llm"), a flag (--tensorrt-llm) and a short text
/// ("tensorrt_llm:5,4,20").
struct TreeKind {
    std::string key;
    std::vector<json::PartKey> fields;  ///< of its object in a file, in the order of flags; empty: a number or list
    bool list = false;
    char separator = ',';
    std::string placeholder;  ///< of the flag's value
    std::string meaning;
};
const std::vector<TreeKind>& tree_kinds();
/// Throws InputError if there is none with this key.
const TreeKind& kind_named(const std::string& key);
std::string flag_of(const TreeKind& kind);

/// Wide enough for every value that problems(shape) should report.
inline constexpr int lowest_tree_number = -1'000'000, highest_tree_number = 1'000'000;

/// The shape of a kind (children tables aside) from as many numbers as the kind takes.
sim::TreeShape shape_of(const TreeKind& kind, const std::vector<int>& n);
/// The same from "4,8,8", "4x5" or "3/2,1"; nothing if the text is none of these.
std::optional<sim::TreeShape> shape_from_text(const TreeKind& kind, const std::string& text);

struct RankFlags {
    std::string ranks;  ///< "0.6,0.2"
    std::string file;
};
/// {"ranks": [0.6, 0.2]} or {"accepted_by_rank": [60, 20], "none": 20}, with optional "title" and "source"; or the flag's
/// numbers. Nothing if neither flag is given. Throws InputError.
std::optional<sim::RankAcceptance> read_rank_acceptance(const RankFlags& flags);

/// `text` is a path to a description, the name of one in `trees_folder` (the catalogue's examples/trees), a description itself
/// ({"chain": 5}), or a short form ("chain:5"). An earlier result of `treeline tree show` or `optimise` is also a description.
/// Throws InputError; the shape has no problems().
sweeps::NamedShape read_named_shape(const std::string& text, const std::filesystem::path& trees_folder);
/// The same, from an object already opened, its key one of tree_kinds(); problems of the shape are noted there.
sim::TreeShape read_shape(json::Reader& at);

sweeps::NamedTree read_tree(const std::string& text, const std::filesystem::path& trees_folder,
                            const std::optional<sim::RankAcceptance>& acceptance);
/// The tree that a flag of this kind states.
sweeps::NamedTree read_tree(const TreeKind& kind, const std::string& value,
                            const std::optional<sim::RankAcceptance>& acceptance);

}  // namespace treeline::requests
