#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/wording.h"
#include "requests/fpga/fpga_explore_reader.h"
#include "requests/keys/fpga_keys.h"
#include "requests/setup_reader.h"
#include "requests/speculation_reader.h"
#include "requests/tree_reader.h"
#include "text/number_text.h"

namespace treeline::requests {
namespace {

constexpr std::size_t most_designs = 100'000'000;

std::vector<double> read_numbers(json::Reader& at, const json::AxisKey& key, double own) {
    if (!at.has(key)) {
        return {own};
    }
    const std::vector<int> values = read(at, key);
    return {values.begin(), values.end()};
}

struct ExploredTree {
    sim::TreeShape shape;
    std::string label;
};

std::vector<ExploredTree> read_trees(json::Reader& at, Descriptions& descriptions) {
    std::vector<ExploredTree> trees;
    for (json::Reader& entry : at.objects_or_texts(fpga_explore_keys::trees, "shape")) {
        // A text stands for {"shape": text}; an object is a shape itself.
        const sim::TreeShape shape = entry.has("shape") ? read_shape_under(entry, "shape", descriptions) : read_shape(entry);
        entry.finish();
        if (problems(shape).empty()) {
            trees.push_back({shape, sweeps::text_of(shape)});
        }
    }
    return trees;
}

/// Accept lengths of the trees, from a list or from the acceptance of a draft token.
class DrafterLengths {
public:
    DrafterLengths(json::Reader& at, Descriptions& descriptions, std::size_t trees) : at_(at) {
        if (at.has(fpga_drafter_keys::accept_lengths)) {
            given_ = read(at, fpga_drafter_keys::accept_lengths);
            if (given_.size() != trees) {
                at.problem(fpga_drafter_keys::accept_lengths,
                           fmt::format("holds {} numbers for {} trees", given_.size(), trees));
                given_.assign(trees, 1.0);
            }
        } else {
            const AcceptanceChoice choice = read_acceptance(at.object(fpga_drafter_keys::acceptance), descriptions);
            acceptance_ = choice.acceptance;
        }
    }

    [[nodiscard]] sim::DraftTree tree(const sim::TreeShape& shape) const {
        return sim::build_tree(shape, sim::RankAcceptance::known_or_assumed(acceptance_.siblings));
    }

    double length(std::size_t index, const ExploredTree& tree, const sim::DraftTree& built) {
        if (!given_.empty()) {
            if (given_[index] > built.depth() + 1.0) {
                at_.problem(fpga_drafter_keys::accept_lengths,
                            fmt::format("gives {} to {}, which yields at most {}", text::short_text(given_[index]), tree.label,
                                        built.depth() + 1));
            }
            return given_[index];
        }
        const std::string problem = sim::acceptance_problem(acceptance_, tree.shape, built);
        if (!problem.empty()) {
            at_.problem(fpga_drafter_keys::acceptance, tree.label + ": " + problem);
            return 1.0;
        }
        return sim::accepted_tokens(acceptance_, tree.shape, built).length;
    }

private:
    json::Reader& at_;
    std::vector<double> given_;
    sim::DraftAcceptance acceptance_;
};

void read_drafters(json::Reader& at, Descriptions& descriptions, sweeps::FpgaSpace& space) {
    const std::vector<ExploredTree> trees = read_trees(at, descriptions);
    for (json::Reader& entry : at.objects(fpga_explore_keys::drafters)) {
        const sim::Model* model = descriptions.model(entry, fpga_drafter_keys::model);
        const std::string problem = model != nullptr ? sim::fpga::shape_problem(*model) : "";
        if (!problem.empty()) {
            entry.problem(fpga_drafter_keys::model, problem);
        }
        DrafterLengths lengths(entry, descriptions, trees.size());
        for (std::size_t i = 0; model != nullptr && problem.empty() && i < trees.size(); ++i) {
            sim::DraftTree tree = lengths.tree(trees[i].shape);
            const double length = lengths.length(i, trees[i], tree);
            space.speculations.push_back({model->name, sim::fpga::shape_of(*model), trees[i].label, std::move(tree), length});
        }
        entry.finish();
    }
}

std::vector<sim::fpga::Backtracking> read_plans(json::Reader& at) {
    if (!at.has(fpga_explore_keys::plans)) {
        return {sim::fpga::Backtracking::hybrid};
    }
    std::vector<sim::fpga::Backtracking> plans;
    for (const std::string& name : at.texts(fpga_explore_keys::plans)) {
        if (const auto plan = value_named<sim::fpga::Backtracking>(name)) {
            plans.push_back(*plan);
        } else {
            at.problem(fpga_explore_keys::plans,
                       fmt::format("must hold {}, not \"{}\"", text::listed(names_of<sim::fpga::Backtracking>(), "or"), name));
        }
    }
    return plans;
}

}  // namespace

sweeps::FpgaExploration read_fpga_exploration(json::Document& document, Descriptions& descriptions,
                                              const std::filesystem::path& hardware) {
    sweeps::FpgaExploration exploration;
    json::Reader root = document.root();
    exploration.base = read_fpga_run(root, descriptions, hardware);
    const sim::fpga::Design& design = exploration.base.design;
    sweeps::FpgaSpace& space = exploration.space;
    space.board = exploration.base.board;
    space.base = design;
    space.target = exploration.base.target.shape;
    space.tile_inputs = read_numbers(root, fpga_explore_keys::tile_inputs, design.linear.tile_inputs);
    space.tile_outputs = read_numbers(root, fpga_explore_keys::tile_outputs, design.linear.tile_outputs);
    space.lanes = read_numbers(root, fpga_explore_keys::lanes, design.ssm.lanes);
    space.tokens =
        root.has(fpga_explore_keys::tokens) ? read_numbers(root, fpga_explore_keys::tokens, 1.0) : std::vector<double>{0.0};
    space.speculations.push_back({"", {}, "no draft", sim::DraftTree(), 1.0});
    if (root.has(fpga_explore_keys::drafters) || root.has(fpga_explore_keys::trees)) {
        read_drafters(root, descriptions, space);
    }
    space.plans = read_plans(root);
    exploration.objective = read(root, fpga_explore_keys::objective);
    space.utilisation = read(root, fpga_explore_keys::utilisation);
    root.finish();
    document.throw_if_problems();
    document.add_problems(sim::fpga::problems_of(space.base));
    document.add_problems(space.problems());
    if (space.size() > most_designs) {
        document.add_problems({fmt::format("asks for {} designs; at most {} can be searched",
                                           text::grouped_text(static_cast<long long>(space.size())),
                                           text::grouped_text(static_cast<long long>(most_designs)))});
    }
    if (exploration.objective == sweeps::FpgaObjective::energy && !sim::fpga::knows_power(space.board, space.base)) {
        document.add_problems({"objective: energy needs a board with static_power and a design with power"});
    }
    document.throw_if_problems();
    return exploration;
}

}  // namespace treeline::requests
