#include "sweeps/design_space.h"

#include <cmath>
#include <stdexcept>

namespace treeline::sweeps {

std::string VariantLabels::platform() const {
    const auto devices = static_cast<int>(sim::devices_of(tensor_parallel, parallel));
    const std::string cuts = parallel == sim::Parallelism{} ? "" : sim::text_of(tensor_parallel, parallel);
    return (devices > 1 ? std::to_string(devices) + "x " : "") + device + (cuts.empty() ? "" : " (" + cuts + ")");
}

std::string VariantLabels::text() const {
    const std::string rolled_back = rollback.empty() || rollback == "truncate" ? "" : ", " + rollback;
    return drafter + " on " + platform() + rolled_back;
}

const std::string* VariantLabels::find(const std::string& axis) const {
    const std::pair<const char*, const std::string*> axes[] = {
        {"target", &target}, {"precision", &precision}, {"device", &device},    {"stack", &stack},
        {"mode", &mode},     {"drafter", &drafter},     {"rollback", &rollback}};
    for (const auto& [name, value] : axes) {
        if (axis == name) {
            return value;
        }
    }
    return nullptr;
}

std::size_t DesignSpace::size() const { return variants.size() * speculation.size() * batch.size() * context.size(); }

std::vector<std::string> DesignSpace::problems() const {
    std::vector<std::string> problems;
    const auto require_some = [&problems](bool empty, const char* axis) {
        if (empty) {
            problems.push_back(std::string("the axis '") + axis + "' has no values");
        }
    };
    require_some(variants.empty(), "drafter");
    require_some(speculation.empty(), "draft_tokens");
    require_some(batch.empty(), "batch");
    require_some(context.empty(), "context");
    for (const sim::Speculation& choice : speculations) {
        for (const std::string& problem :
             sim::is_plain_decoding(choice) ? std::vector<std::string>() : sim::problems(choice.shape)) {
            problems.push_back(choice.label + ": " + problem);
        }
    }
    for (const double b : batch) {
        if (!(b >= 1.0 && b <= 1e6)) {
            problems.emplace_back("every batch must lie between 1 and 1,000,000 sequences");
        }
    }
    for (const double s : context) {
        if (!(s >= 0.0 && s <= 1e8)) {
            problems.emplace_back("every context must lie between 0 and 100,000,000 tokens");
        }
    }
    for (const ConditionText& condition : conditions) {
        for (const auto& [axis, value] : condition.when) {
            if (VariantLabels{}.find(axis) == nullptr) {
                problems.push_back("a condition's 'when' names the axis '" + axis +
                                   "'; it may name target, precision, device, stack, mode, drafter or rollback");
            }
        }
        try {
            Condition{condition.require};
        } catch (const std::invalid_argument& error) {
            problems.emplace_back(error.what());
        }
    }
    return problems;
}

}  // namespace treeline::sweeps
