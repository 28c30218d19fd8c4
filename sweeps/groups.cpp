#include "sweeps/groups.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace treeline::sweeps {
namespace {

constexpr std::array numeric_axes = {"batch", "context", "shape"};
constexpr std::array label_axes = {"target",
                                   "precision",
                                   "device",
                                   "stack",
                                   "mode",
                                   "drafter",
                                   "rollback",
                                   "tensor_parallel",
                                   "expert_parallel",
                                   "pipeline_parallel",
                                   "attention_data_parallel"};

bool is_numeric(const std::string& axis) {
    return std::find(numeric_axes.begin(), numeric_axes.end(), axis) != numeric_axes.end();
}

std::string label_of(const VariantLabels& labels, const std::string& axis) {
    if (const std::string* label = labels.find(axis)) {
        return *label;
    }
    const auto whole = [](double degree) { return std::to_string(static_cast<int>(degree)); };
    return axis == "tensor_parallel"     ? std::to_string(labels.tensor_parallel)
           : axis == "expert_parallel"   ? whole(labels.parallel.experts)
           : axis == "pipeline_parallel" ? whole(labels.parallel.pipeline)
                                         : whole(labels.parallel.data);
}

}  // namespace

std::vector<std::string> group_axis_names() {
    std::vector<std::string> names(label_axes.begin(), label_axes.end());
    names.insert(names.end(), numeric_axes.begin(), numeric_axes.end());
    return names;
}

Groups::Groups(const DesignSpace& space, std::vector<std::string> axes) : space_(&space), axes_(std::move(axes)) {
    const std::vector<std::string> names = group_axis_names();
    for (const std::string& axis : axes_) {
        if (std::find(names.begin(), names.end(), axis) == names.end()) {
            throw std::invalid_argument(
                fmt::format("points cannot be grouped by {}; the axes are {}", axis, fmt::join(names, ", ")));
        }
    }
    const auto step_of = [&](const char* axis, std::size_t values) -> std::size_t {
        if (std::find(axes_.begin(), axes_.end(), axis) == axes_.end()) {
            return 0;
        }
        const std::size_t step = within_;
        within_ *= values;
        return step;
    };
    batch_step_ = step_of("batch", space.batch.size());  // next to each other, for loops over the batches of a tile
    shape_step_ = step_of("shape", space.speculation.size());
    context_step_ = step_of("context", space.context.size());
    std::map<std::vector<std::string>, std::size_t> known;
    for (const Variant& variant : space.variants) {
        const auto [place, is_new] = known.emplace(labels_of(variant), of_variants_.size());
        if (is_new) {
            of_variants_.push_back(place->first);
        }
        variant_group_.push_back(place->second);
    }
    if (count() > most) {
        throw std::invalid_argument(fmt::format("grouping by {} makes {} groups; at most {} are kept", fmt::join(axes_, ", "),
                                                count(), std::uint64_t{most}));
    }
}

std::vector<std::string> Groups::labels_of(const Variant& variant) const {
    std::vector<std::string> labels;
    for (const std::string& axis : axes_) {
        if (!is_numeric(axis)) {
            labels.push_back(label_of(variant.labels, axis));
        }
    }
    return labels;
}

std::vector<std::string> Groups::values(const Place& place) const {
    std::vector<std::string> values;
    for (const std::string& axis : axes_) {
        values.push_back(axis == "batch"     ? fmt::format("{:g}", space_->batch[place.batch])
                         : axis == "context" ? fmt::format("{:g}", space_->context[place.context])
                         : axis == "shape"
                             ? text_of(space_->speculations[static_cast<std::size_t>(space_->speculation[place.shape])])
                             : label_of(space_->variants[place.variant].labels, axis));
    }
    return values;
}

}  // namespace treeline::sweeps
