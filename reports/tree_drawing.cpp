#include "reports/tree_drawing.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

std::size_t index(int token) { return static_cast<std::size_t>(token); }

bool last_sibling(const sim::DraftTree& tree, int token) { return tree.rank(token) == tree.children(tree.parent(token)); }

/// Whether each node of the level above has exactly one child here.
bool continues_chains(const sim::DraftTree& tree, int level) {
    const auto [begin, end] = tree.level_range(level - 1);
    for (int token = begin; token < end; ++token) {
        if (tree.children(token) != 1) {
            return false;
        }
    }
    return true;
}

constexpr std::size_t connector_columns = 3;

/// Where the labels of each level are.
struct Columns {
    std::vector<std::size_t> width;  ///< of the labels of each level; 0 for a level left out

    Columns(const sim::DraftTree& tree, const std::vector<std::string>& labels, std::size_t most_columns)
        : width(index(tree.depth()) + 1, 0) {
        std::size_t total = 0;
        for (int token = 0; token < tree.verified_tokens(); ++token) {
            width[index(tree.level(token))] =
                std::max<std::size_t>({width[index(tree.level(token))], text::display_width(labels[index(token)]), 1});
        }
        for (const std::size_t columns : width) {
            total += columns + connector_columns;
        }
        for (int level = 1; total > most_columns && level < tree.depth(); ++level) {
            if (continues_chains(tree, level) && continues_chains(tree, level + 1)) {
                width[index(level)] = 0;
            }
        }
    }

    [[nodiscard]] bool drawn(int level) const { return width[index(level)] > 0; }
};

/// Joins a token to its left neighbour; `fresh` is the first token of the path that the line above lacks.
const char* connector(const sim::DraftTree& tree, int token, int fresh, bool left_out) {
    const bool last = last_sibling(tree, token);
    if (tree.level(token) < tree.level(fresh)) {
        return last ? "   " : " | ";
    }
    if (token == fresh) {
        return last ? " `-" : " |-";
    }
    return left_out ? "..." : last ? "---" : "-+-";
}

std::string line_of(const sim::DraftTree& tree, const std::vector<int>& path, int fresh, const std::vector<std::string>& labels,
                    const Columns& columns) {
    std::string line;
    bool left_out = false;
    for (const int token : path) {
        const int level = tree.level(token);
        if (!columns.drawn(level)) {
            left_out = true;
            continue;
        }
        if (level > 0) {
            line += connector(tree, token, fresh, left_out);
        }
        left_out = false;
        const bool shown = level >= tree.level(fresh);
        const std::string label = shown ? labels[index(token)] : "";
        const bool goes_on = shown && tree.children(token) > 0;
        line += label + std::string(columns.width[index(level)] - text::display_width(label), goes_on ? '-' : ' ');
    }
    return line.erase(line.find_last_not_of(' ') + 1);
}

}  // namespace

std::string tree_as_text(const sim::DraftTree& tree, std::vector<std::string> labels, std::size_t most_columns,
                         std::size_t most_lines) {
    for (int token = static_cast<int>(labels.size()); token < tree.verified_tokens(); ++token) {
        labels.push_back(std::to_string(token));
    }
    const Columns columns(tree, labels, most_columns);
    const std::vector<std::vector<int>> paths = tree.unrolled().paths;
    std::string text;
    for (std::size_t i = 0; i < std::min(paths.size(), most_lines); ++i) {
        std::size_t shared = 0;
        while (i > 0 && paths[i][shared] == paths[i - 1][shared]) {
            ++shared;
        }
        text += line_of(tree, paths[i], paths[i][shared], labels, columns) + "\n";
    }
    if (paths.size() > most_lines) {
        text += fmt::format("... and {} more leaves\n", paths.size() - most_lines);
    }
    return text;
}

}  // namespace treeline::reports
