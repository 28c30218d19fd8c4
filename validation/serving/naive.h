// What one would predict without a model: two tables that a user could fill from published rows.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace treeline::validation {

/// A row that states its accept length, and the classes that a table knows of it.
struct StepCostRow {
    std::string family;  ///< rows of the same family (target model) do not predict each other
    std::string draft, batch;
    double accept_length = 1.0;
    double speed_up = 1.0;
};

/// Median cost of a speculative step over a plain one (accept length / speed-up) by class of draft length and batch.
class StepCostTable {
public:
    explicit StepCostTable(std::vector<StepCostRow> rows) : rows_(std::move(rows)) {}

    /// From rows of other families; where they have none of these classes, of the draft's class alone, and else of all. 1
    /// without any row.
    [[nodiscard]] double cost(const std::string& family, const std::string& draft, const std::string& batch) const;

private:
    std::vector<StepCostRow> rows_;
};

}  // namespace treeline::validation
