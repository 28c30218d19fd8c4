#include "cli/tree_reader.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/descriptions.h"
#include "json/reader.h"
#include "json/wording.h"
#include "reports/number_text.h"

namespace treeline {
namespace {

/// Wide enough for every value that problems(shape) should speak about.
constexpr int lowest = -1'000'000, highest = 1'000'000;

using Numbers = std::vector<int>;

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::size_t start = 0;
    while (true) {
        const std::size_t end = text.find(separator, start);
        parts.push_back(text.substr(start, end - start));
        if (end == std::string::npos) {
            return parts;
        }
        start = end + 1;
    }
}

/// Nothing where a part is no whole number.
std::optional<Numbers> numbers_in(const std::string& text, char separator) {
    Numbers numbers;
    for (const std::string& part : split(text, separator)) {
        int value = 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
        if (error != std::errc() || end != part.data() + part.size() || value < lowest || value > highest) {
            return std::nullopt;
        }
        numbers.push_back(value);
    }
    return numbers;
}

/// The shape of a kind from its numbers, as many as the kind wants.
TreeShape shape_of(const TreeKind& kind, const Numbers& n) {
    const std::string& key = kind.key;
    return key == "widths"         ? TreeShape(WidthsShape{n})
           : key == "branching"    ? TreeShape(BranchingShape{n})
           : key == "parents"      ? TreeShape(ParentsShape{n})
           : key == "binary"       ? TreeShape(BinaryShape{n[0]})
           : key == "vllm"         ? TreeShape(VllmShape{n[0]})
           : key == "beams"        ? TreeShape(BeamShape{n[0], n[1]})
           : key == "sequences"    ? TreeShape(SequencesShape{n[0], n[1]})
           : key == "sglang"       ? TreeShape(SglangShape{n[0], n[1], n[2]})
           : key == "tensorrt_llm" ? TreeShape(TensorRtShape{n[0], n[1], n[2]})
           : key == "optimal"      ? TreeShape(OptimalShape{n[0], n[1], n[2]})
                                   : TreeShape(ChainShape{n[0]});
}

std::optional<TreeShape> table_from_text(const std::string& text) {
    ChildTableShape table;
    for (const std::string& level : split(text, '/')) {
        const std::optional<Numbers> counts = numbers_in(level, ',');
        if (!counts) {
            return std::nullopt;
        }
        table.children.push_back(*counts);
    }
    return table;
}

std::optional<TreeShape> shape_from_text(const TreeKind& kind, const std::string& text) {
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

std::vector<int> as_ints(const std::vector<std::int64_t>& values) { return {values.begin(), values.end()}; }

/// A list of lists of whole numbers.
ChildTableShape read_child_table(json::Reader& at) {
    ChildTableShape table;
    static_cast<void>(at.has("children"));
    const auto& raw = at.raw().at("children");
    const auto is_count = [](const auto& value) { return value.is_number_integer() && value >= 0 && value <= most_tree_nodes; };
    const bool good = raw.is_array() && std::all_of(raw.begin(), raw.end(), [&](const auto& level) {
                          return level.is_array() && std::all_of(level.begin(), level.end(), is_count);
                      });
    if (!good) {
        at.problem("children", "must hold a list of whole numbers for each level: [[3], [2, 1], [2, 1], [3]]");
        return table;
    }
    for (const auto& level : raw) {
        table.children.push_back(level.template get<Numbers>());
    }
    return table;
}

TreeShape read_shape_of(json::Reader& at, const TreeKind& kind) {
    if (kind.key == "children") {
        return read_child_table(at);
    }
    if (kind.list) {
        return shape_of(kind, as_ints(at.counts(kind.key, lowest, highest)));
    }
    if (kind.fields.empty()) {
        return shape_of(kind, {static_cast<int>(at.count(kind.key, lowest, highest))});
    }
    json::Reader object = at.object(kind.key);
    Numbers numbers;
    for (const std::string& field : kind.fields) {
        const bool optional = kind.key == "optimal" && field == "children";
        numbers.push_back(
            static_cast<int>(optional ? object.count_or(field, 0, lowest, highest) : object.count(field, lowest, highest)));
    }
    object.finish();
    return shape_of(kind, numbers);
}

/// The kinds whose key the object holds.
std::vector<const TreeKind*> kinds_in(const json::Reader& at) {
    const std::vector<std::string> keys = at.keys();
    std::vector<const TreeKind*> kinds;
    for (const TreeKind& kind : tree_kinds()) {
        if (std::find(keys.begin(), keys.end(), kind.key) != keys.end()) {
            kinds.push_back(&kind);
        }
    }
    return kinds;
}

TreeShape read_shape(json::Reader& at) {
    const std::vector<const TreeKind*> kinds = kinds_in(at);
    if (kinds.size() == 1) {
        return read_shape_of(at, *kinds.front());
    }
    std::vector<std::string> names;
    for (const TreeKind* kind : kinds) {
        static_cast<void>(at.has(kind->key));
        names.push_back(kind->key);
    }
    if (kinds.empty()) {
        for (const TreeKind& kind : tree_kinds()) {
            static_cast<void>(at.has(kind.key));
            names.push_back(kind.key);
        }
    }
    at.problem({}, kinds.empty() ? "needs a tree: one of " + json::listed(names, "and")
                                 : "gives " + json::listed(names, "and") + ", but exactly one of them is needed");
    return ChainShape{1};
}

void build(NamedTree& named, const std::string& where, const std::optional<RankAcceptance>& acceptance) {
    std::vector<std::string> found = problems(named.shape);
    if (std::holds_alternative<OptimalShape>(named.shape) && !acceptance) {
        found.emplace_back("the best tree depends on the acceptance of each rank; give --ranks or --acceptance");
    }
    for (std::string& problem : found) {
        problem = where + ": " + problem;
    }
    if (!found.empty()) {
        throw InputError(std::move(found));
    }
    constexpr int assumed_ranks = 32;
    named.assumed_order = !acceptance && depends_on_acceptance(named.shape);
    named.tree = build_tree(named.shape, acceptance ? *acceptance : RankAcceptance::halving(assumed_ranks));
}

NamedTree from_text(const std::string& where, const TreeKind& kind, const std::string& value,
                    const std::optional<RankAcceptance>& acceptance) {
    const std::optional<TreeShape> shape = shape_from_text(kind, value);
    if (!shape) {
        throw InputError({fmt::format("{}: must be whole numbers as in {}, not \"{}\"", where, kind.placeholder, value)});
    }
    NamedTree named;
    named.shape = *shape;
    named.label = text_of(named.shape);
    build(named, where, acceptance);
    return named;
}

const TreeKind& kind_named(const std::string& key) {
    std::vector<std::string> keys;
    for (const TreeKind& kind : tree_kinds()) {
        if (kind.key == key) {
            return kind;
        }
        keys.push_back(kind.key);
    }
    const std::string hint = json::did_you_mean(key, keys);
    throw InputError({fmt::format("there is no kind of tree \"{}\"{}", key,
                                  hint.empty() ? "; the kinds are " + json::listed(keys, "and") : hint)});
}

NamedTree read_description(json::Document document, std::string label, const std::optional<RankAcceptance>& acceptance) {
    json::Reader root = document.root();
    NamedTree named;
    if (root.raw().is_object() && root.raw().value("format", nlohmann::ordered_json()) == "treeline-tree") {
        // An earlier result: its tree as it came out; the rest of it is not asked for.
        named.shape = ParentsShape{as_ints(root.counts("parents", lowest, highest))};
        named.title = root.text_or("title", "");
    } else {
        named.title = root.text_or("title", "");
        named.source = root.text_or("source", "");
        named.shape = read_shape(root);
        root.finish();
    }
    document.throw_if_problems();
    named.label = label.empty() ? text_of(named.shape) : std::move(label);
    build(named, document.name(), acceptance);
    return named;
}

std::string list_text(const Numbers& numbers, std::string_view separator = ",") {
    return fmt::format("{}", fmt::join(numbers, separator));
}

std::vector<std::string> example_names(const std::filesystem::path& folder) {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
        if (entry.path().extension() == ".json") {
            names.push_back(entry.path().stem().string());
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

NamedTree read_example(const std::string& name, const CommonFlags& flags, const std::optional<RankAcceptance>& acceptance) {
    const std::filesystem::path folder = flags.find().models.parent_path() / "examples" / "trees";
    std::vector<std::string> names = example_names(folder);
    if (std::find(names.begin(), names.end(), name) != names.end()) {
        return read_description(json::Document::load(folder / (name + ".json")), name, acceptance);
    }
    const std::string hint = json::did_you_mean(name, names);
    throw InputError({fmt::format(
        "there is no tree \"{}\"{}", name,
        !hint.empty()   ? hint
        : names.empty() ? std::string("; give a path or a short form such as chain:5")
                        : "; known are " + json::listed(names, "and") + ", paths, and short forms such as chain:5")});
}

}  // namespace

const std::vector<TreeKind>& tree_kinds() {
    static const std::vector<TreeKind> kinds = {
        {"chain", {}, false, ',', "K", "Chain of K draft tokens"},
        {"widths", {}, true, ',', "N1,N2,...", "Nodes of each level, spread evenly over the level before"},
        {"branching", {}, true, ',', "C1,C2,...", "Children of every node, level by level"},
        {"children", {}, true, '/', "C/C,C/...", "Children of each node, level by level: 3/2,1,0/1,1,1"},
        {"parents", {}, true, ',', "P1,P2,...", "Parent of tokens 1, 2, ...; 0 is the root"},
        {"binary", {}, false, ',', "D", "Full binary tree of D levels, the root counted"},
        {"sequences", {"drafts", "draft_tokens"}, false, 'x', "DRAFTSxK", "Independent chains of K tokens"},
        {"beams", {"beams", "steps"}, false, 'x', "MxN", "Beam search with M beams and N steps, every token kept"},
        {"sglang",
         {"steps", "top_k", "draft_tokens"},
         false,
         ',',
         "STEPS,TOPK,TOKENS",
         "SGLang's settings; tokens count the root"},
        {"vllm", {}, false, ',', "K", "vLLM's num_speculative_tokens"},
        {"tensorrt_llm",
         {"max_draft_len", "max_top_k", "max_total_draft_tokens"},
         false,
         ',',
         "LENGTH,TOPK,TOKENS",
         "TensorRT-LLM's dynamic tree; tokens without the root"},
        {"optimal",
         {"nodes", "depth", "children"},
         false,
         ',',
         "NODES,DEPTH[,CHILDREN]",
         "The best tree of this size for the acceptance given"},
    };
    return kinds;
}

std::string flag_of(const TreeKind& kind) {
    std::string flag = "--" + kind.key;
    std::replace(flag.begin(), flag.end(), '_', '-');
    return flag;
}

NamedTree read_tree(const TreeKind& kind, const std::string& value, const std::optional<RankAcceptance>& acceptance) {
    return from_text(flag_of(kind), kind, value, acceptance);
}

NamedTree read_tree(const std::string& text, const CommonFlags& flags, const std::optional<RankAcceptance>& acceptance) {
    if (text.starts_with("{")) {
        return read_description(json::Document::parse(text, "tree"), "", acceptance);
    }
    const std::size_t colon = text.find(':');
    if (colon != std::string::npos && !looks_like_path(text.substr(0, colon))) {
        const std::string key = text.substr(0, colon);
        return from_text(text, kind_named(key), text.substr(colon + 1), acceptance);
    }
    if (looks_like_path(text)) {
        return read_description(json::Document::load(text), std::filesystem::path(text).stem().string(), acceptance);
    }
    return read_example(text, flags, acceptance);
}

std::string text_of(const TreeShape& shape) {
    struct Text {
        std::string operator()(const ChainShape& s) const { return fmt::format("chain {}", s.draft_tokens); }
        std::string operator()(const WidthsShape& s) const { return "widths " + list_text(s.widths); }
        std::string operator()(const BranchingShape& s) const { return "branching " + list_text(s.children); }
        std::string operator()(const ChildTableShape& s) const {
            std::string text = "children ";
            for (std::size_t level = 0; level < s.children.size(); ++level) {
                text += (level > 0 ? "/" : "") + list_text(s.children[level]);
            }
            return text;
        }
        std::string operator()(const ParentsShape& s) const { return "parents " + list_text(s.parents); }
        std::string operator()(const BinaryShape& s) const { return fmt::format("binary {}", s.levels); }
        std::string operator()(const SequencesShape& s) const {
            return fmt::format("sequences {}x{}", s.drafts, s.draft_tokens);
        }
        std::string operator()(const BeamShape& s) const { return fmt::format("beams {}x{}", s.beams, s.steps); }
        std::string operator()(const SglangShape& s) const {
            return fmt::format("sglang {},{},{}", s.steps, s.top_k, s.draft_tokens);
        }
        std::string operator()(const VllmShape& s) const { return fmt::format("vllm {}", s.num_speculative_tokens); }
        std::string operator()(const TensorRtShape& s) const {
            return fmt::format("tensorrt_llm {},{},{}", s.max_draft_len, s.max_top_k, s.max_total_draft_tokens);
        }
        std::string operator()(const OptimalShape& s) const {
            return fmt::format("optimal {},{}{}", s.nodes, s.depth, s.children > 0 ? fmt::format(",{}", s.children) : "");
        }
    };
    constexpr std::size_t longest = 40;
    return json::shortened(std::visit(Text{}, shape), longest);
}

}  // namespace treeline
