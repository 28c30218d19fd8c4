#include <algorithm>

#include <fmt/format.h>

#include "json/reader.h"
#include "json/wording.h"
#include "requests/keys/tree_keys.h"
#include "requests/tree_reader.h"
#include "text/parse_number.h"
#include "text/split.h"

namespace treeline::requests {
namespace {

using Numbers = std::vector<int>;

/// Nothing if a part is not a whole number.
std::optional<Numbers> numbers_in(const std::string& text, char separator) {
    Numbers numbers;
    for (const std::string& part : text::split(text, separator)) {
        const std::optional<int> value = text::parse_number<int>(part);
        if (!value || *value < lowest_tree_number || *value > highest_tree_number) {
            return std::nullopt;
        }
        numbers.push_back(*value);
    }
    return numbers;
}

std::optional<sim::TreeShape> table_from_text(const std::string& text) {
    sim::ChildTableShape table;
    for (const std::string& level : text::split(text, '/')) {
        const std::optional<Numbers> counts = numbers_in(level, ',');
        if (!counts) {
            return std::nullopt;
        }
        table.children.push_back(*counts);
    }
    return table;
}

}  // namespace

const std::vector<TreeKind>& tree_kinds() {
    static const std::vector<TreeKind> kinds = {
        {"chain", {}, false, ',', "K", "Chain of K draft tokens"},
        {"widths", {}, true, ',', "N1,N2,...", "Nodes of each level, spread evenly over the level before"},
        {"branching", {}, true, ',', "C1,C2,...", "Children of every node, level by level"},
        {"children", {}, true, '/', "C/C,C/...", "Children of each node, level by level: 3/2,1,0/1,1,1"},
        {"parents", {}, true, ',', "P1,P2,...", "Parent of tokens 1, 2, ...; 0 is the root"},
        {"binary", {}, false, ',', "D", "Full binary tree of D levels, root included"},
        {"sequences", {tree_keys::drafts, tree_keys::chain_tokens}, false, 'x', "DRAFTSxK", "Independent chains of K tokens"},
        {"beams",
         {tree_keys::beams, tree_keys::beam_steps},
         false,
         'x',
         "MxN",
         "Beam search with M beams and N steps, keeping every token"},
        {"sglang",
         {tree_keys::sglang_steps, tree_keys::top_k, tree_keys::sglang_tokens},
         false,
         ',',
         "STEPS,TOPK,TOKENS",
         "SGLang's settings; tokens include the root"},
        {"vllm", {}, false, ',', "K", "vLLM's num_speculative_tokens"},
        {"tensorrt_llm",
         {tree_keys::max_draft_len, tree_keys::max_top_k, tree_keys::max_total_draft_tokens},
         false,
         ',',
         "LENGTH,TOPK,TOKENS",
         "TensorRT-LLM's dynamic tree; tokens exclude the root"},
        {"optimal",
         {tree_keys::nodes, tree_keys::depth, tree_keys::children},
         false,
         ',',
         "NODES,DEPTH[,CHILDREN]",
         "The best tree of this size for the given acceptance"},
    };
    return kinds;
}

namespace tree_keys {

std::vector<KeyRow> rows() {
    std::vector<KeyRow> rows;
    for (const TreeKind& kind : tree_kinds()) {
        const bool numbers = kind.list || kind.key == "children";
        const std::string type = !kind.fields.empty() ? "object" : numbers ? "list" : "whole number";
        rows.push_back({kind.key, type, "", kind.meaning, fmt::format("; in short `{}:{}`", kind.key, kind.placeholder)});
    }
    rows.push_back(row_of(shape));
    return rows;
}

std::vector<KeyRow> rows_of_kind(const std::string& kind) {
    std::vector<KeyRow> rows;
    for (const PartKey& field : kind_named(kind).fields) {
        rows.push_back(row_of(field));
    }
    return rows;
}

}  // namespace tree_keys

std::string flag_of(const TreeKind& kind) {
    std::string flag = "--" + kind.key;
    std::replace(flag.begin(), flag.end(), '_', '-');
    return flag;
}

const TreeKind& kind_named(const std::string& key) {
    std::vector<std::string> keys;
    for (const TreeKind& kind : tree_kinds()) {
        if (kind.key == key) {
            return kind;
        }
        keys.push_back(kind.key);
    }
    const std::string hint = text::did_you_mean(key, keys);
    throw text::InputError({fmt::format("there is no kind of tree \"{}\"{}", key,
                                        hint.empty() ? "; the kinds are " + text::listed(keys, "and") : hint)});
}

sim::TreeShape shape_of(const TreeKind& kind, const std::vector<int>& n) {
    const std::string& key = kind.key;
    return key == "widths"         ? sim::TreeShape(sim::WidthsShape{n})
           : key == "branching"    ? sim::TreeShape(sim::BranchingShape{n})
           : key == "parents"      ? sim::TreeShape(sim::ParentsShape{n})
           : key == "binary"       ? sim::TreeShape(sim::BinaryShape{n[0]})
           : key == "vllm"         ? sim::TreeShape(sim::VllmShape{n[0]})
           : key == "beams"        ? sim::TreeShape(sim::BeamShape{n[0], n[1]})
           : key == "sequences"    ? sim::TreeShape(sim::SequencesShape{n[0], n[1]})
           : key == "sglang"       ? sim::TreeShape(sim::SglangShape{n[0], n[1], n[2]})
           : key == "tensorrt_llm" ? sim::TreeShape(sim::TensorRtShape{n[0], n[1], n[2]})
           : key == "optimal"      ? sim::TreeShape(sim::OptimalShape{n[0], n[1], n[2]})
                                   : sim::TreeShape(sim::ChainShape{n[0]});
}

std::optional<sim::TreeShape> shape_from_text(const TreeKind& kind, const std::string& text) {
    if (kind.key == "children") {
        return table_from_text(text);
    }
    std::optional<Numbers> numbers = numbers_in(text, kind.separator);
    if (numbers && kind.key == "optimal" && numbers->size() == 2) {
        numbers->push_back(0);
    }
    const std::size_t wanted = std::max<std::size_t>(kind.fields.size(), 1);
    return numbers && (kind.list || numbers->size() == wanted) ? std::optional(shape_of(kind, *numbers)) : std::nullopt;
}

}  // namespace treeline::requests
