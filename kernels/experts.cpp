#include "kernels/experts.h"

#include <algorithm>

#include "kernels/check.h"

namespace treeline::kernels {

void check(const ExpertChoice& choice) {
    const char* kernel = "expert choice";
    require(choice.rows > 0 && choice.experts > 0 && choice.active > 0, kernel, "a dimension is not positive");
    require(choice.experts <= most_experts, kernel, "there are more than 1024 experts");
    require(choice.active <= std::min(choice.experts, most_active_experts), kernel,
            "more experts are active than there are, or than 32");
    require_rows(choice.logits, choice.experts, kernel, "the logits");
    require(choice.logits.type == ElementType::fp32, kernel, "the logits are not fp32");
    require(choice.weight != nullptr && choice.slot != nullptr && choice.row_of_slot != nullptr && choice.first_slot != nullptr,
            kernel, "a place for the result is missing");
}

void check(const ExpertLinear& linear) {
    const char* kernel = "linear layer of experts";
    require(linear.slots > 0 && linear.experts > 0 && linear.inputs > 0 && linear.outputs > 0, kernel,
            "a dimension is not positive");
    require(linear.inputs % 4 == 0 && linear.weight.stride % 4 == 0 && linear.x.stride % 4 == 0, kernel,
            "the inputs are not a multiple of 4");
    require_rows(linear.x, linear.inputs, kernel, "x");
    require_rows(linear.weight, linear.inputs, kernel, "the weight");
    require_rows(linear.y, linear.outputs, kernel, "y");
    require_same_type({linear.x, linear.weight, linear.y}, kernel);
    require(linear.first_slot != nullptr, kernel, "the experts' first slots are missing");
}

void check(const ExpertSum& sum) {
    const char* kernel = "sum over experts";
    require(sum.rows > 0 && sum.width > 0 && sum.active > 0, kernel, "a dimension is not positive");
    require_rows(sum.x, sum.width, kernel, "x");
    require_rows(sum.output, sum.width, kernel, "the output");
    require(!sum.shared || sum.shared.stride >= sum.width, kernel, "rows of the shared part overlap");
    require(sum.shared || !sum.shared_gate, kernel, "there is a gate for no shared part");
    require_same_type({sum.x, sum.shared, sum.shared_gate, sum.output}, kernel);
    require(sum.slot != nullptr && sum.weight != nullptr, kernel, "the slots or their weights are missing");
}

}  // namespace treeline::kernels
