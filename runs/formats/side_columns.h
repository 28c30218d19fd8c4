// Internal to the formats: tables with an engine, a back end, a device or a context in each column
// ("| k | CUDA t/s | Vulkan t/s |", "| c | ctx 1k | ctx 16k |").
#pragma once

#include <string>
#include <vector>

namespace treeline::runs::run_formats_of {

/// Folds columns that differ in nothing but the engine, back end, device or context that they name into rows, each of which
/// says it in a column of its own. A table without two such sides, each with the same columns, stays as it is.
class SideColumns {
public:
    explicit SideColumns(const std::vector<std::string>& headings);

    [[nodiscard]] const std::vector<std::string>& headings() const { return headings_; }
    /// Whether they say how the model is shared out.
    [[nodiscard]] bool tell_ranks() const;
    /// The rows that a row of the table is: one for each side that it has a cell of.
    [[nodiscard]] std::vector<std::vector<std::string>> rows(const std::vector<std::string>& cells) const;

private:
    struct Side {
        std::vector<std::string> name;     ///< its engine, back end, device and context; empty where it names none
        std::vector<std::size_t> columns;  ///< of the table
        std::vector<std::string> rests;    ///< what their headings say beside the name
    };

    void find_sides(const std::vector<std::string>& headings);
    [[nodiscard]] bool are_alike() const;

    std::vector<Side> sides_;
    std::vector<std::size_t> told_by_;  ///< parts of the names by which sides differ
    std::vector<std::size_t> shared_;   ///< columns that name no side
    std::vector<std::string> headings_;
};

}  // namespace treeline::runs::run_formats_of
