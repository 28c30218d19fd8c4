// Trees by number, so that design points carry a number and not a tree.
#pragma once

#include <deque>
#include <functional>
#include <unordered_map>

#include "sim/trees/draft_tree.h"

namespace treeline {

/// Each different tree once. Ids are 0, 1, 2, … in the order of first appearance; references stay valid while the table lives.
class ShapeTable {
public:
    ShapeTable() = default;
    ShapeTable(const ShapeTable&) = delete;
    ShapeTable& operator=(const ShapeTable&) = delete;

    /// The id of this shape, a new one where it has none yet. Equal trees share an id.
    int intern(const DraftTree& tree) {
        if (const auto known = ids_.find(std::cref(tree)); known != ids_.end()) {
            return known->second;
        }
        const int id = size();
        ids_.emplace(std::cref(trees_.emplace_back(tree)), id);
        return id;
    }

    [[nodiscard]] const DraftTree& operator[](int id) const { return trees_[static_cast<std::size_t>(id)]; }
    [[nodiscard]] int size() const { return static_cast<int>(trees_.size()); }

private:
    using Key = std::reference_wrapper<const DraftTree>;
    struct Hash {
        std::size_t operator()(const Key& key) const { return key.get().hash(); }
    };
    struct Equal {
        bool operator()(const Key& a, const Key& b) const { return a.get() == b.get(); }
    };

    std::deque<DraftTree> trees_;
    std::unordered_map<Key, int, Hash, Equal> ids_;
};

}  // namespace treeline
