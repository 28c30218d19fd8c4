#include "requests/speculation_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/wording.h"
#include "requests/keys/point_keys.h"
#include "requests/setup_reader.h"
#include "requests/tree_reader.h"
#include "sim/trees/optimal_tree.h"

namespace treeline::requests {
namespace {

constexpr std::size_t most_shapes = 10'000;

struct Shape {
    sim::TreeShape shape;
    std::string label;
};

/// {"optimal": {"nodes": axis, "depth": axis, "children"?: 4}}: every combination; one value each is a grid of one.
std::vector<Shape> read_optimal_grid(json::Reader& at) {
    json::Reader grid = at.object("optimal");
    const std::vector<int> nodes = read_axis(grid, "nodes", 1, sim::most_optimal_nodes);
    const std::vector<int> depth = read_axis(grid, "depth", 1, sim::most_optimal_depth);
    const auto children = static_cast<int>(grid.count_or("children", 0, 0, sim::most_optimal_children));
    grid.finish();
    std::vector<Shape> shapes;
    for (const int levels : depth) {
        for (const int size : nodes) {
            if (size >= levels && shapes.size() <= most_shapes) {
                const sim::OptimalShape shape{size, levels, children};
                shapes.push_back({shape, sweeps::text_of(sim::TreeShape(shape))});
            }
        }
    }
    return shapes;
}

/// A shape given as text: `{"shape": "sglang:5,4,32"}`, as Reader::objects_or_texts returns it.
std::vector<Shape> read_text(json::Reader& at, std::string_view key, const std::string& text,
                             const Descriptions& descriptions) {
    try {
        const sweeps::NamedShape named = read_named_shape(descriptions.resolved_shape(text), descriptions.trees_folder());
        return {{named.shape, named.label}};
    } catch (const text::InputError& error) {
        for (const std::string& problem : error.problems()) {
            at.problem(key, problem);
        }
        return {};
    }
}

std::vector<Shape> read_element(json::Reader& at, const Descriptions& descriptions) {
    std::vector<Shape> shapes;
    if (at.has("shape")) {
        const std::string text = at.text("shape");
        shapes = text.empty() ? shapes : read_text(at, "shape", text, descriptions);
    } else if (at.has("optimal")) {
        shapes = read_optimal_grid(at);
    } else {
        const sim::TreeShape shape = read_shape(at);
        shapes.push_back({shape, sweeps::text_of(shape)});
    }
    at.finish();
    return shapes;
}

std::vector<Shape> read_shapes(json::Reader& at, const Descriptions& descriptions) {
    std::vector<Shape> shapes;
    for (json::Reader& element : at.objects_or_texts(shared_keys::shapes, "shape")) {
        for (Shape& shape : read_element(element, descriptions)) {
            shapes.push_back(std::move(shape));
        }
    }
    if (shapes.size() > most_shapes) {
        at.problem("shapes", fmt::format("spans {} shapes; at most {} are allowed", shapes.size(), most_shapes));
        shapes.clear();
    }
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        const auto same = [&](const Shape& other) { return other.label == shapes[i].label; };
        if (std::any_of(shapes.begin(), shapes.begin() + static_cast<std::ptrdiff_t>(i), same)) {
            at.problem("shapes", "holds \"" + shapes[i].label + "\" twice");
        }
    }
    return shapes;
}

std::vector<sim::Verification> read_verifications(json::Reader& at) {
    std::vector<sim::Verification> verifications;
    if (!at.has(shared_keys::verification) || at.raw().at("verification") == "auto") {
        return verifications;
    }
    const std::vector<std::string> names = names_of<sim::Verification>();
    const auto& raw = at.raw().at("verification");
    for (const std::string& name :
         raw.is_string() ? std::vector<std::string>{raw.get<std::string>()} : at.texts("verification")) {
        if (const std::optional<sim::Verification> verification = value_named<sim::Verification>(name)) {
            verifications.push_back(*verification);
        } else {
            at.problem("verification", fmt::format("must be auto, {}, not \"{}\"{}", text::listed(names, "or"),
                                                   json::shown_key(name), text::did_you_mean(name, names)));
        }
    }
    return verifications;
}

/// The chunk scan pays off only for prompts: it is tried only on request.
std::vector<sim::Verification> ways_of(const sim::TreeShape& shape, const std::vector<sim::Verification>& asked_for) {
    if (!asked_for.empty()) {
        return asked_for;
    }
    return sim::is_chain({shape, sim::Verification::unrolled, ""})
               ? std::vector<sim::Verification>{sim::Verification::unrolled}
               : std::vector<sim::Verification>{sim::Verification::packed, sim::Verification::unrolled};
}

std::vector<sim::Speculation> all_ways(const std::vector<Shape>& shapes, const std::vector<sim::Verification>& asked_for) {
    std::vector<sim::Speculation> speculations = sim::chains_up_to(0);
    for (const Shape& shape : shapes) {
        const auto* chain = std::get_if<sim::ChainShape>(&shape.shape);
        if (chain != nullptr && chain->draft_tokens == 0) {
            continue;
        }
        for (const sim::Verification verification : ways_of(shape.shape, asked_for)) {
            speculations.push_back({shape.shape, verification, shape.label});
        }
    }
    return speculations;
}

Shape chain_of(int draft_tokens) { return {sim::ChainShape{draft_tokens}, fmt::format("chain {}", draft_tokens)}; }

}  // namespace

SpeculationAxis read_speculations(json::Reader& at, Descriptions& descriptions, std::optional<int> otherwise,
                                  const std::vector<std::string>& trees_otherwise) {
    std::vector<Shape> shapes;
    SpeculationAxis axis;
    const bool stated = at.has(shared_keys::draft_tokens) || at.has(shared_keys::shapes);
    for (int k = 1; !at.has(shared_keys::draft_tokens) && otherwise && k <= *otherwise; ++k) {
        shapes.push_back(chain_of(k));
    }
    for (const std::string& tree : stated ? std::vector<std::string>() : trees_otherwise) {
        const std::vector<Shape> named = read_text(at, shared_keys::shapes, tree, descriptions);
        shapes.insert(shapes.end(), named.begin(), named.end());
    }
    if (at.has(shared_keys::draft_tokens) || (!stated && !otherwise)) {
        for (const int k : read(at, shared_keys::draft_tokens)) {
            if (k == 0) {
                axis.asked_for.push_back(0);
            }
            shapes.push_back(chain_of(k));
        }
    }
    if (at.has(shared_keys::shapes)) {
        const std::vector<Shape> trees = read_shapes(at, descriptions);
        shapes.insert(shapes.end(), trees.begin(), trees.end());
    }
    axis.speculations = all_ways(shapes, read_verifications(at));
    for (int i = 1; i < static_cast<int>(axis.speculations.size()); ++i) {
        axis.asked_for.push_back(i);
    }
    return axis;
}

std::vector<sim::Speculation> read_speculation(json::Reader& at, Descriptions& descriptions,
                                               std::int64_t fallback_draft_tokens) {
    const std::vector<sim::Verification> verifications = read_verifications(at);
    if (!at.has(point_keys::shape)) {
        const int k = read_or<int>(at, point_keys::draft_tokens, fallback_draft_tokens);
        return all_ways({chain_of(k)}, verifications);
    }
    if (at.has(point_keys::draft_tokens)) {
        at.problem(point_keys::shape, "is given together with draft_tokens, but exactly one is needed");
    }
    const sim::TreeShape shape = read_shape_under(at, point_keys::shape, descriptions);
    return all_ways({{shape, sweeps::text_of(shape)}}, verifications);
}

sim::TreeShape read_shape_under(json::Reader& at, std::string_view key, Descriptions& descriptions) {
    if (at.has(key) && at.raw().at(std::string(key)).is_string()) {
        const std::vector<Shape> shapes = read_text(at, key, at.text(key), descriptions);
        return shapes.empty() ? sim::TreeShape(sim::ChainShape{1}) : shapes.front().shape;
    }
    json::Reader object = at.object(key);
    const sim::TreeShape shape = read_shape(object);
    object.finish();
    return shape;
}

}  // namespace treeline::requests
