#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "reports/tree_drawing.h"
#include "text/number_text.h"

namespace treeline::reports {
namespace {

// Pixels.
constexpr double level_distance = 72.0;
constexpr double leaf_distance = 26.0;
constexpr double margin = 20.0;
constexpr double largest_radius = 10.0;
constexpr double smallest_radius = 1.5;

constexpr int most_labelled_nodes = 128;

std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) {
        switch (c) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            default:
                // The other control characters are not allowed in XML at all.
                result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
        }
    }
    return result;
}

/// Vertical positions: leaves in depth-first order, every other token midway between its first and last child.
std::vector<double> vertical_positions(const sim::DraftTree& tree) {
    std::vector<double> y(static_cast<std::size_t>(tree.verified_tokens()), 0.0);
    double next = margin;
    for (const std::vector<int>& path : tree.unrolled().paths) {
        y[static_cast<std::size_t>(path.back())] = next;
        next += leaf_distance;
    }
    for (int token = tree.verified_tokens() - 1; token >= 0; --token) {
        if (tree.children(token) > 0) {
            const auto first = static_cast<std::size_t>(tree.first_child(token));
            y[static_cast<std::size_t>(token)] =
                0.5 * (y[first] + y[first + static_cast<std::size_t>(tree.children(token)) - 1]);
        }
    }
    return y;
}

double horizontal_position(const sim::DraftTree& tree, int token) { return margin + level_distance * tree.level(token); }

std::string edges(const sim::DraftTree& tree, const std::vector<double>& y) {
    std::string path;
    for (int token = 1; token < tree.verified_tokens(); ++token) {
        const int parent = tree.parent(token);
        const double from = horizontal_position(tree, parent), to = horizontal_position(tree, token);
        const double middle = 0.5 * (from + to);
        const double y_from = y[static_cast<std::size_t>(parent)], y_to = y[static_cast<std::size_t>(token)];
        path += fmt::format("M{:g} {:.5g}C{:g} {:.5g} {:g} {:.5g} {:g} {:.5g}", from, y_from, middle, y_from, middle, y_to, to,
                            y_to);
    }
    return path.empty() ? ""
                        : fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"currentColor\" stroke-opacity=\"0.4\"/>\n", path);
}

std::string node(const sim::DraftTree& tree, int token, double y, const std::vector<double>& path_acceptance) {
    const bool weighted = !path_acceptance.empty();
    const double f = weighted ? path_acceptance[static_cast<std::size_t>(token)] : 0.25;
    const double radius = std::max(smallest_radius, largest_radius * std::sqrt(f));
    const double x = horizontal_position(tree, token);
    std::string about = token == 0 ? "root" : fmt::format("token {}, rank {}", token, tree.rank(token));
    about += weighted ? fmt::format(", accepted with probability {}", text::short_text(f)) : "";
    std::string text =
        fmt::format("<circle cx=\"{:g}\" cy=\"{:.5g}\" r=\"{:.3g}\" fill=\"currentColor\"><title>{}</title></circle>\n", x, y,
                    radius, about);
    if (tree.nodes() <= most_labelled_nodes && token > 0) {
        // Edges leave a node horizontally: the space above it is free, and so is that next to a leaf.
        const bool leaf = tree.children(token) == 0;
        text += fmt::format("<text x=\"{:.5g}\" y=\"{:.5g}\"{}>{}</text>\n", leaf ? x + radius + 3.0 : x,
                            leaf ? y + 3.0 : y - radius - 3.0, leaf ? "" : " text-anchor=\"middle\"",
                            weighted ? text::percent_text(f) : std::to_string(token));
    }
    return text;
}

}  // namespace

std::string tree_as_svg(const sim::DraftTree& tree, const std::vector<double>& path_acceptance, const std::string& title) {
    const std::vector<double> y = vertical_positions(tree);
    const double width = 2.0 * margin + level_distance * tree.depth() + 40.0;  // 40: the text next to the last level
    const double height = 2.0 * margin + leaf_distance * (tree.leaves() - 1);
    // The rule concerns the file opened by itself; within a page :root is the page's own element.
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:g} {:g}\" width=\"{:g}\" height=\"{:g}\" role=\"img\" "
        "font-family=\"sans-serif\" font-size=\"9\" fill=\"currentColor\">\n"
        "<style>@media (prefers-color-scheme: dark) {{ svg:root {{ color: #ddd; background: #1b1b1b }} }}</style>\n"
        "<title>{}</title>\n",
        width, height, width, height, escaped(title));
    svg += edges(tree, y);
    for (int token = 0; token < tree.verified_tokens(); ++token) {
        svg += node(tree, token, y[static_cast<std::size_t>(token)], path_acceptance);
    }
    return svg + "</svg>\n";
}

}  // namespace treeline::reports
