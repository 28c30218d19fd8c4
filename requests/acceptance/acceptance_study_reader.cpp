#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/wording.h"
#include "requests/acceptance/acceptance_study_reader.h"
#include "requests/keys/acceptance_study_keys.h"
#include "requests/tree_reader.h"
#include "text/number_text.h"

namespace treeline::requests {
namespace {

constexpr int most_nodes = 512;

/// Frontier trees keep the candidates that halving acceptances would keep, as `treeline tree` assumes without --ranks.
sweeps::StudiedTree built(json::Reader& at, std::string_view key, const sweeps::NamedShape& named) {
    if (std::holds_alternative<sim::OptimalShape>(named.shape)) {
        at.problem(key, "the best tree depends on the acceptance of each rank; give the tree itself");
        return {named.label, sim::DraftTree()};
    }
    sweeps::StudiedTree tree{named.label, sim::build_tree(named.shape, sim::RankAcceptance::assumed())};
    if (tree.tree.nodes() > most_nodes || tree.tree.nodes() == 0) {
        at.problem(key, fmt::format("has {} nodes; synthetic models are decoded with 1 to {}", tree.tree.nodes(), most_nodes));
        tree.tree = sim::DraftTree();
    }
    return tree;
}

sweeps::StudiedTree named_tree(json::Reader& at, std::string_view key, const std::string& text,
                               const Descriptions& descriptions) {
    try {
        return built(at, key, read_named_shape(descriptions.resolved_shape(text), descriptions.trees_folder()));
    } catch (const text::InputError& error) {
        for (const std::string& problem : error.problems()) {
            at.problem(key, problem);
        }
        return {text, sim::DraftTree()};
    }
}

sweeps::StudiedTree read_element(json::Reader& at, const Descriptions& descriptions) {
    if (at.has("shape")) {
        const std::string text = at.text("shape");
        at.finish();
        return text.empty() ? sweeps::StudiedTree{} : named_tree(at, "shape", text, descriptions);
    }
    const std::size_t before = at.keys().size();
    sweeps::NamedShape named;
    named.shape = read_shape(at);
    at.finish();
    if (before == 0 || !problems(named.shape).empty()) {
        return {};
    }
    named.label = sweeps::text_of(named.shape);
    return built(at, {}, named);
}

std::vector<sweeps::StudiedTree> read_trees(json::Reader& root, const Descriptions& descriptions) {
    std::vector<sweeps::StudiedTree> trees;
    if (!root.has(acceptance_study_keys::shapes)) {
        for (const char* shape : {"chain:4", "stree-mil"}) {
            trees.push_back(named_tree(root, acceptance_study_keys::shapes, shape, descriptions));
        }
        return trees;
    }
    for (json::Reader& element : root.objects_or_texts(acceptance_study_keys::shapes, "shape")) {
        trees.push_back(read_element(element, descriptions));
    }
    return trees;
}

void read_world(json::Reader& root, sweeps::AcceptanceStudy& study) {
    std::optional<json::Reader> at = root.optional_object(acceptance_study_keys::world);
    if (!at) {
        return;
    }
    sim::sampling::WorldParameters& world = study.world;
    world.vocabulary = read<int>(*at, world_keys::vocabulary);
    world.sharpness = read(*at, world_keys::sharpness);
    const bool fits_mismatch = root.has(acceptance_study_keys::measured) && at->has(world_keys::mismatch);
    world.mismatch = read(*at, world_keys::mismatch);
    world.caution = read(*at, world_keys::caution);
    study.worlds = read<int>(*at, world_keys::worlds);
    world.seed = read<std::uint64_t>(*at, world_keys::seed);
    if (fits_mismatch) {
        at->problem(world_keys::mismatch, "is given together with measured, which determines it; give one of them");
    }
    at->finish();
}

double read_length(json::Reader& at, const sim::DraftTree& tree) {
    const bool length = at.has(measured_point_keys::accept_length), positions = at.has(measured_point_keys::per_position);
    if (length == positions) {
        at.problem({}, length ? "gives accept_length and per_position, but exactly one is needed"
                              : "needs one of accept_length and per_position");
        return 1.0;
    }
    if (length) {
        const int depth = tree.nodes() > 0 ? tree.depth() : most_nodes;  // a faulty tree has been reported
        return at.number(measured_point_keys::accept_length, 1.0, depth + 1.0);
    }
    const std::vector<double> rates = read(at, measured_point_keys::per_position);
    const auto depth = static_cast<std::size_t>(tree.depth());
    if (!rates.empty() && rates.size() != depth && depth > 0) {
        at.problem(measured_point_keys::per_position,
                   fmt::format("holds {} positions, but the measured tree has {} levels", rates.size(), depth));
    }
    for (const std::string& problem : sim::Acceptance::per_position(rates).problems()) {
        at.problem(measured_point_keys::per_position, problem);
    }
    return 1.0 + std::accumulate(rates.begin(), rates.end(), 0.0);
}

sim::sampling::Method read_method(json::Reader& at, const sim::DraftTree& tree) {
    if (!at.has(measured_study_keys::method)) {
        return sim::sampling::methods_for(tree).front();
    }
    const sim::sampling::Method method = read(at, measured_study_keys::method);
    const bool is_known = at.raw().at("method") == nlohmann::ordered_json(name_of(method));
    if (const std::string problem = sim::sampling::problem(method, tree); is_known && !problem.empty()) {
        at.problem(measured_study_keys::method, problem);
    }
    return method;
}

void read_measured(json::Reader& root, sweeps::AcceptanceStudy& study, const Descriptions& descriptions) {
    std::optional<json::Reader> at = root.optional_object(acceptance_study_keys::measured);
    if (!at) {
        return;
    }
    sweeps::MeasuredStudy measured;
    if (at->has(measured_study_keys::shape) && at->raw().at("shape").is_object()) {
        json::Reader shape = at->object(measured_study_keys::shape);
        measured.tree = read_element(shape, descriptions);
    } else if (at->has(measured_study_keys::shape)) {
        const std::string text = at->text(measured_study_keys::shape);
        measured.tree = text.empty() ? sweeps::StudiedTree{} : named_tree(*at, measured_study_keys::shape, text, descriptions);
    } else if (!study.trees.empty()) {
        measured.tree = study.trees.front();
    }
    measured.method = read_method(*at, measured.tree.tree);
    for (json::Reader& point : at->objects(measured_study_keys::points)) {
        const double temperature = read(point, measured_point_keys::temperature);
        const double length = read_length(point, measured.tree.tree);
        measured.lengths.push_back({study.at(temperature), length});
        point.finish();
    }
    if (measured.lengths.size() > 2) {
        at->problem(
            measured_study_keys::points,
            fmt::format("holds {} points; one determines the mismatch, two the caution as well", measured.lengths.size()));
    } else if (measured.lengths.size() == 2) {
        if (measured.lengths[0].at.target == measured.lengths[1].at.target) {
            at->problem(measured_study_keys::points, "gives two accept lengths for one temperature");
        }
        if (std::optional<json::Reader> world = root.optional_object(acceptance_study_keys::world);
            world && world->has(world_keys::caution)) {
            world->problem(world_keys::caution, "is given together with two measured accept lengths, which determine it");
        }
    }
    at->finish();
    study.measured = std::move(measured);
}

void check_vocabulary(json::Reader& root, const sweeps::AcceptanceStudy& study) {
    for (const sweeps::StudiedTree& tree : study.trees) {
        if (tree.tree.most_children() > study.world.vocabulary) {
            root.problem(acceptance_study_keys::shapes,
                         fmt::format("{} has nodes with {} children, but the vocabulary has {} tokens", tree.label,
                                     tree.tree.most_children(), study.world.vocabulary));
        }
    }
}

}  // namespace

sweeps::AcceptanceStudy read_acceptance_study(json::Document& document, Descriptions& descriptions) {
    json::Reader root = document.root();
    sweeps::AcceptanceStudy study;
    study.title = read(root, acceptance_study_keys::title);
    study.source = read(root, acceptance_study_keys::source);
    study.trees = read_trees(root, descriptions);
    if (root.has(acceptance_study_keys::temperatures)) {
        study.temperatures = read(root, acceptance_study_keys::temperatures);
    }
    if (study.temperatures.size() > 16) {
        root.problem(acceptance_study_keys::temperatures,
                     fmt::format("holds {} temperatures; at most 16 are allowed", study.temperatures.size()));
    }
    if (root.has(acceptance_study_keys::drafter_temperature)) {
        study.drafter_temperature = read(root, acceptance_study_keys::drafter_temperature);
    }
    read_world(root, study);
    study.rounds = read<int>(root, acceptance_study_keys::rounds);
    read_measured(root, study, descriptions);
    check_vocabulary(root, study);
    root.finish();
    document.throw_if_problems();
    return study;
}

}  // namespace treeline::requests
