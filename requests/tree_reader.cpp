#include "requests/tree_reader.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/reader.h"
#include "json/wording.h"
#include "requests/descriptions.h"
#include "text/catalogue_folder.h"

namespace treeline::requests {
namespace {

using Numbers = std::vector<int>;

std::vector<int> as_ints(const std::vector<std::int64_t>& values) { return {values.begin(), values.end()}; }

/// A list of lists of whole numbers.
sim::ChildTableShape read_child_table(json::Reader& at) {
    sim::ChildTableShape table;
    static_cast<void>(at.has("children"));
    const auto& raw = at.raw().at("children");
    const auto is_count = [](const auto& value) {
        return value.is_number_integer() && value >= 0 && value <= sim::most_tree_nodes;
    };
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

sim::TreeShape read_shape_of(json::Reader& at, const TreeKind& kind) {
    if (kind.key == "children") {
        return read_child_table(at);
    }
    if (kind.list) {
        return shape_of(kind, as_ints(at.counts(kind.key, lowest_tree_number, highest_tree_number)));
    }
    if (kind.fields.empty()) {
        return shape_of(kind, {static_cast<int>(at.count(kind.key, lowest_tree_number, highest_tree_number))});
    }
    json::Reader object = at.object(kind.key);
    Numbers numbers;
    for (const json::PartKey& field : kind.fields) {
        const bool optional = !field.otherwise.empty();
        numbers.push_back(static_cast<int>(optional ? object.count_or(field, 0, lowest_tree_number, highest_tree_number)
                                                    : object.count(field, lowest_tree_number, highest_tree_number)));
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

sim::TreeShape read_shape_object(json::Reader& at) {
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
    at.problem({}, kinds.empty() ? "needs a tree: one of " + text::listed(names, "and")
                                 : "gives " + text::listed(names, "and") + ", but exactly one is needed");
    return sim::ChainShape{1};
}

std::string where_of(const std::string& where, const std::string& problem) { return where + ": " + problem; }

void require_none(std::vector<std::string> found, const std::string& where) {
    for (std::string& problem : found) {
        problem = where_of(where, problem);
    }
    if (!found.empty()) {
        throw text::InputError(std::move(found));
    }
}

sweeps::NamedShape from_text(const std::string& where, const TreeKind& kind, const std::string& value) {
    const std::optional<sim::TreeShape> shape = shape_from_text(kind, value);
    if (!shape) {
        throw text::InputError(
            {fmt::format("{}: must be whole numbers, as in {}, not \"{}\"", where, kind.placeholder, value)});
    }
    require_none(problems(*shape), where);
    return {sweeps::text_of(*shape), "", "", *shape};
}

sweeps::NamedShape read_description(json::Document document, std::string label) {
    json::Reader root = document.root();
    sweeps::NamedShape named;
    if (root.raw().is_object() && root.raw().value("format", nlohmann::ordered_json()) == "treeline-tree") {
        // An earlier result: its tree as it was printed; the rest is ignored.
        named.shape = sim::ParentsShape{as_ints(root.counts("parents", lowest_tree_number, highest_tree_number))};
        named.title = root.text_or("title", "");
    } else {
        named.title = root.text_or("title", "");
        named.source = root.text_or("source", "");
        named.shape = read_shape_object(root);
        root.finish();
    }
    document.throw_if_problems();
    named.label = label.empty() ? sweeps::text_of(named.shape) : std::move(label);
    require_none(problems(named.shape), document.name());
    return named;
}

/// `where` names the shape in messages.
sweeps::NamedTree built(sweeps::NamedShape shape, const std::string& where,
                        const std::optional<sim::RankAcceptance>& acceptance) {
    if (std::holds_alternative<sim::OptimalShape>(shape.shape) && !acceptance) {
        throw text::InputError(
            {where_of(where, "the best tree depends on the acceptance of each rank; give --ranks or --acceptance")});
    }
    sweeps::NamedTree named;
    static_cast<sweeps::NamedShape&>(named) = std::move(shape);
    named.assumed_order = !acceptance && sim::depends_on_acceptance(named.shape);
    named.tree = sim::build_tree(named.shape, acceptance ? *acceptance : sim::RankAcceptance::assumed());
    return named;
}

std::vector<std::string> example_names(const std::filesystem::path& folder) {
    std::error_code none;
    return text::description_names(folder, none);
}

sweeps::NamedShape read_example(const std::string& name, const std::filesystem::path& folder) {
    std::vector<std::string> names = example_names(folder);
    if (std::find(names.begin(), names.end(), name) != names.end()) {
        return read_description(json::Document::load(folder / (name + ".json")), name);
    }
    const std::string hint = text::did_you_mean(name, names);
    throw text::InputError({fmt::format(
        "there is no tree \"{}\"{}", name,
        !hint.empty()   ? hint
        : names.empty() ? std::string("; give a path or a short form such as chain:5")
                        : "; known are " + text::listed(names, "and") + ", paths, and short forms such as chain:5")});
}

}  // namespace

sim::TreeShape read_shape(json::Reader& at) {
    sim::TreeShape shape = read_shape_object(at);
    for (const std::string& problem : problems(shape)) {
        at.problem({}, problem);
    }
    return shape;
}

sweeps::NamedShape read_named_shape(const std::string& text, const std::filesystem::path& trees_folder) {
    if (text.starts_with("{")) {
        return read_description(json::Document::parse(text, "tree"), "");
    }
    const std::size_t colon = text.find(':');
    if (colon != std::string::npos && !looks_like_path(text.substr(0, colon))) {
        const std::string key = text.substr(0, colon);
        return from_text(text, kind_named(key), text.substr(colon + 1));
    }
    if (looks_like_path(text)) {
        return read_description(json::Document::load(text), std::filesystem::path(text).stem().string());
    }
    return read_example(text, trees_folder);
}

sweeps::NamedTree read_tree(const TreeKind& kind, const std::string& value,
                            const std::optional<sim::RankAcceptance>& acceptance) {
    return built(from_text(flag_of(kind), kind, value), flag_of(kind), acceptance);
}

sweeps::NamedTree read_tree(const std::string& text, const std::filesystem::path& trees_folder,
                            const std::optional<sim::RankAcceptance>& acceptance) {
    return built(read_named_shape(text, trees_folder), text.starts_with("{") ? "tree" : text, acceptance);
}

}  // namespace treeline::requests
