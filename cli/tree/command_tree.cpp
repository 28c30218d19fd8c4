// treeline tree: shows a draft tree, finds the best one (by accept length, or on a platform), compares several.
#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "json/reader.h"
#include "reports/tree/tree_output.h"
#include "reports/tree/tree_search_output.h"
#include "reports/tree_drawing.h"
#include "requests/file_kind.h"
#include "requests/point_reader.h"
#include "requests/tree_reader.h"
#include "sim/trees/optimal_tree.h"
#include "text/output_file.h"

namespace treeline::cli {
namespace {

struct TreeFlags {
    CommonFlags common;
    requests::RankFlags ranks;
    std::vector<std::string> trees;                           ///< positional
    std::map<std::string, std::vector<std::string>> by_kind;  ///< flags, by TreeKind::key
    bool mask = false;
    std::string svg;
    std::string nodes = "64", depth = "8", children;
    std::string point, html;  ///< of a search
    std::vector<std::string> batches = {"1", "2", "4", "8", "16", "32", "64", "128", "256"};
    std::vector<std::string> children_limits = {"0"};
};

/// All trees that were named: positional ones first, then flags in the order of --help.
std::vector<sweeps::NamedTree> named_trees(const TreeFlags& flags, const std::optional<sim::RankAcceptance>& acceptance) {
    std::vector<sweeps::NamedTree> trees;
    const std::filesystem::path trees_folder = flags.trees.empty() ? "" : flags.common.find().trees();
    for (const std::string& text : flags.trees) {
        trees.push_back(requests::read_tree(text, trees_folder, acceptance));
    }
    for (const requests::TreeKind& kind : requests::tree_kinds()) {
        if (const auto given = flags.by_kind.find(kind.key); given != flags.by_kind.end()) {
            for (const std::string& value : given->second) {
                trees.push_back(requests::read_tree(kind, value, acceptance));
            }
        }
    }
    return trees;
}

std::string in_format(Format format, const auto& answer, auto table, auto json, auto csv) {
    return format == Format::table ? table(answer) : format == Format::json ? json(answer) : csv(answer);
}

void write_svg(const std::string& file, const sim::DraftTree& tree, const std::optional<sim::RankAcceptance>& acceptance,
               const std::string& title) {
    if (!file.empty()) {
        text::write_file(file, reports::tree_as_svg(
                                   tree, acceptance ? sim::path_acceptance(tree, *acceptance) : std::vector<double>{}, title));
    }
}

void show(const TreeFlags& flags) {
    const Format format = flags.common.chosen_format();
    sweeps::TreeAnswer answer;
    answer.acceptance = requests::read_rank_acceptance(flags.ranks);
    std::vector<sweeps::NamedTree> trees = named_trees(flags, answer.acceptance);
    if (trees.size() != 1) {
        throw text::InputError(
            {trees.empty()
                 ? "tree show: needs a tree; see treeline tree show --help"
                 : fmt::format("tree show: draws one tree, not {}; treeline tree compare takes several", trees.size())});
    }
    answer.named = std::move(trees.front());
    answer.mask = flags.mask;
    write_svg(flags.svg, answer.named.tree, answer.acceptance, answer.named.label);
    flags.common.deliver(in_format(format, answer, reports::tree_table, reports::tree_json, reports::tree_csv));
}

int chain_nodes(int nodes, int depth) { return std::min(nodes, depth); }

void optimise(const TreeFlags& flags) {
    const Format format = flags.common.chosen_format();
    const std::optional<sim::RankAcceptance> acceptance = requests::read_rank_acceptance(flags.ranks);
    const int nodes = static_cast<int>(requests::whole_number("--nodes", flags.nodes, 1, sim::most_optimal_nodes));
    const int depth = static_cast<int>(requests::whole_number("--depth", flags.depth, 1, sim::most_optimal_depth));
    const int children =
        flags.children.empty()
            ? 0
            : static_cast<int>(requests::whole_number("--children", flags.children, 1, sim::most_optimal_children));
    if (!acceptance) {
        throw text::InputError({"tree optimise: needs the acceptance of each rank; give --ranks or --acceptance"});
    }
    const sim::OptimalTrees optimal(*acceptance, {nodes, depth, children});
    sweeps::BestTrees answer{*acceptance, {nodes, depth, children}, {}};
    for (int budget = 1;; budget = std::min(2 * budget, nodes)) {
        const int chain = chain_nodes(budget, depth);
        const sim::DraftTree line = sim::build_tree(sim::ChainShape{chain}, *acceptance);
        answer.best.push_back(
            {budget, optimal.tree(budget, depth), optimal.accept_length(budget, depth), accept_length(line, *acceptance)});
        if (budget == nodes) {
            break;
        }
    }
    write_svg(flags.svg, answer.best.back().tree, acceptance, sweeps::text_of(answer.limits));
    flags.common.deliver(
        in_format(format, answer, reports::best_trees_table, reports::best_trees_json, reports::best_trees_csv));
}

void compare(const TreeFlags& flags) {
    const Format format = flags.common.chosen_format();
    const std::optional<sim::RankAcceptance> acceptance = requests::read_rank_acceptance(flags.ranks);
    if (!acceptance) {
        throw text::InputError({"tree compare: needs the acceptance of each rank; give --ranks or --acceptance"});
    }
    std::vector<sweeps::ComparedTree> compared;
    for (sweeps::NamedTree& named : named_trees(flags, acceptance)) {
        const double length = accept_length(named.tree, *acceptance);
        std::vector<sim::EngineTree> engines = sim::best_engine_trees(named.tree, *acceptance);
        compared.push_back({std::move(named), length, std::move(engines)});
    }
    if (compared.empty()) {
        throw text::InputError({"tree compare: needs trees; see treeline tree compare --help"});
    }
    flags.common.deliver(
        in_format(format, compared, reports::comparison_table, reports::comparison_json, reports::comparison_csv));
}

std::vector<int> whole_numbers(const std::string& flag, const std::vector<std::string>& texts, int low, int high) {
    std::vector<int> numbers;
    for (const std::string& text : texts) {
        numbers.push_back(static_cast<int>(requests::whole_number(flag, text, low, high)));
    }
    return numbers;
}

void search(const TreeFlags& flags) {
    const Format format = flags.common.chosen_format();
    sweeps::TreeSearchInput input;
    input.search.most_nodes = static_cast<int>(requests::whole_number("--nodes", flags.nodes, 1, sim::most_optimal_nodes));
    input.search.most_depth = static_cast<int>(requests::whole_number("--depth", flags.depth, 1, sim::most_optimal_depth));
    input.search.children = whole_numbers("--children", flags.children_limits, 0, sim::most_optimal_children);
    for (const int batch : whole_numbers("--batches", flags.batches, 1, sim::largest_batch)) {
        input.search.batches.push_back(batch);
    }
    json::Document document = json::Document::load(flags.point);
    requests::refuse_other_kinds(document.root().raw(), flags.point, {requests::FileKind::point});
    requests::Descriptions descriptions(flags.common.find(), std::filesystem::path(flags.point).parent_path());
    input.point = requests::read_point(document, descriptions);
    input.search.context = input.point.context;
    const sweeps::TreeSearchAnswer answer = sweeps::search_trees_for(std::move(input));
    if (!flags.html.empty()) {
        text::write_file(flags.html, reports::search_html(answer));
    }
    flags.common.deliver(in_format(format, answer, reports::search_table, reports::search_json, reports::search_csv));
}

void add_rank_flags(CLI::App& app, TreeFlags& flags) {
    app.add_option("--ranks", flags.ranks.ranks, "P(the child of rank 1, 2, ... is the accepted one); their sum is at most 1")
        ->type_name("P1,P2,...");
    app.add_option("--acceptance", flags.ranks.file, "The same from a file: {\"ranks\": [...]}, or measured counts")
        ->type_name("FILE");
}

void add_tree_flags(CLI::App& app, TreeFlags& flags, const char* meaning) {
    app.add_option("TREE", flags.trees, meaning);
    for (const requests::TreeKind& kind : requests::tree_kinds()) {
        app.add_option(requests::flag_of(kind), flags.by_kind[kind.key], kind.meaning)
            ->type_name(kind.placeholder)
            ->allow_extra_args(false);
    }
    add_rank_flags(app, flags);
}

void add_svg_flag(CLI::App& app, TreeFlags& flags) {
    app.add_option("--svg", flags.svg, "Also draw it to this SVG file")->type_name(written_file);
}

Run add_show(CLI::App& app) {
    auto flags = std::make_shared<TreeFlags>();
    add_tree_flags(app, *flags, "A file, a name from examples/trees, a short form (chain:5), or JSON");
    app.add_flag("--mask", flags->mask, "Also print the ancestor mask");
    add_svg_flag(app, *flags);
    add_common_flags(app, flags->common);
    app.footer(
        "Examples:\n  treeline tree show --widths 4,8,8\n  treeline tree show stree-mil --ranks 0.63,0.11,0.06 --svg tree.svg");
    return [flags] { show(*flags); };
}

Run add_optimise(CLI::App& app) {
    auto flags = std::make_shared<TreeFlags>();
    app.add_option("--nodes", flags->nodes, "Most nodes, root excluded")->type_name("N")->capture_default_str();
    app.add_option("--depth", flags->depth, "Most levels below the root")->type_name("N")->capture_default_str();
    app.add_option("--children", flags->children, "Most children per node (default: as many as ranks)")->type_name("N");
    add_rank_flags(app, *flags);
    add_svg_flag(app, *flags);
    add_common_flags(app, flags->common);
    app.footer("Example:\n  treeline tree optimise --nodes 64 --depth 8 --acceptance examples/acceptance/sequoia-demo.json");
    return [flags] { optimise(*flags); };
}

Run add_compare(CLI::App& app) {
    auto flags = std::make_shared<TreeFlags>();
    add_tree_flags(app, *flags, "Files, names from examples/trees, short forms (chain:5), or JSON");
    add_common_flags(app, flags->common);
    app.footer("Example:\n  treeline tree compare chain:5 binary:5 sglang:5,4,32 optimal:32,5 --ranks 0.63,0.11,0.06,0.02");
    return [flags] { compare(*flags); };
}

Run add_search(CLI::App& app) {
    auto flags = std::make_shared<TreeFlags>();
    app.add_option("FILE", flags->point, "Design point (JSON) as for `treeline estimate`; its shape and batch do not matter")
        ->required();
    app.add_option("--batches", flags->batches, "Sequences decoded together")->type_name("B1,B2,...")->delimiter(',');
    app.add_option("--nodes", flags->nodes, "Most nodes, root excluded")->type_name("N")->capture_default_str();
    app.add_option("--depth", flags->depth, "Most levels below the root")->type_name("N")->capture_default_str();
    app.add_option("--children", flags->children_limits, "Limits on children per node to try; 0 = as many as ranks")
        ->type_name("N1,N2,...")
        ->delimiter(',');
    app.add_option("--html", flags->html, "Also write a page with charts")->type_name(written_file);
    add_common_flags(app, flags->common);
    app.footer("Example:\n  treeline tree search examples/tree-search-llama-3-8b-h100.json --batches 1,8,64");
    return [flags] { search(*flags); };
}

}  // namespace

Run add_tree(CLI::App& app) {
    app.footer("Example:\n  treeline tree show --chain 5\n\n`treeline tree VERB --help` explains a verb.");
    return add_verbs(
        app, {{"show", "draw a tree and count its tokens", add_show},
              {"optimise", "find the tree with the largest accept length", add_optimise},
              {"search", "find the fastest tree on a platform, for each batch", add_search},
              {"compare", "compare the accept length of several trees, and which of them engines can run", add_compare}});
}

}  // namespace treeline::cli
