// Groups of the points of a design space: by the labels of their variant and by their batch, context or shape.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sweeps/places.h"

namespace treeline::sweeps {

/// What points can be grouped by: labels of a variant, then the numeric axes.
std::vector<std::string> group_axis_names();

class Groups {
public:
    static constexpr std::uint64_t most = 4'000'000;  ///< groups of a sweep: each takes 16 bytes on every thread

    /// `axes`: of group_axis_names(), each once. Throws std::invalid_argument with a sentence for another one, or for more than
    /// `most` groups.
    Groups(const DesignSpace& space, std::vector<std::string> axes);

    [[nodiscard]] const std::vector<std::string>& axes() const { return axes_; }
    [[nodiscard]] std::size_t count() const { return of_variants_.size() * within_; }
    /// Group of a point: first(variant) + context · context_step() + batch · batch_step() + shape · shape_step(), with its
    /// places on the axes.
    [[nodiscard]] std::size_t first(std::size_t variant) const { return variant_group_[variant] * within_; }
    [[nodiscard]] std::size_t context_step() const { return context_step_; }
    [[nodiscard]] std::size_t batch_step() const { return batch_step_; }
    [[nodiscard]] std::size_t shape_step() const { return shape_step_; }
    /// The values of a point on the axes, as text.
    [[nodiscard]] std::vector<std::string> values(const Place& place) const;

private:
    [[nodiscard]] std::vector<std::string> labels_of(const Variant& variant) const;

    const DesignSpace* space_;
    std::vector<std::string> axes_;
    std::vector<std::vector<std::string>> of_variants_;  ///< the labels of each group of variants
    std::vector<std::size_t> variant_group_;
    std::size_t within_ = 1, context_step_ = 0, batch_step_ = 0, shape_step_ = 0;
};

}  // namespace treeline::sweeps
