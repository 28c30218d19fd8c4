#include "sim/stack.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "sim/device.h"
#include "sim/model.h"
#include "sim/precision.h"
#include "sim/stack_parameters.h"
#include "sim/traits.h"

namespace treeline::sim {

std::optional<double> Launching::listed(std::string_view operation, bool on_metal) const {
    for (const OperationLaunches& entry : launch_factors) {
        if (entry.operation == operation && (on_metal || !entry.on_metal)) {
            return entry.factor;
        }
    }
    return std::nullopt;
}

Stack Stack::on_host(double speed) const {
    Stack stack = *this;
    if (scales_with_host && speed != 1.0) {
        for (const StackParameter& parameter : stack_parameters()) {
            if (const double time = parameter.get(stack); parameter.on_host && !std::isnan(time)) {
                parameter.set(stack, time / speed);
            }
        }
    }
    return stack;
}

namespace {

/// Routed experts in 16 bits or more, and no shared ones: what needs the fewest kernels.
bool has_plain_experts(const Model& model, const Precision& precision) {
    constexpr double unquantised = 16.0;  // bits
    const auto shares = [](const LayerKind& kind) {
        return std::any_of(kind.blocks.begin(), kind.blocks.end(), [](const Block& block) {
            const auto* mixture = std::get_if<MixtureOfExperts>(&block.kind);
            return mixture != nullptr && mixture->shared_hidden > 0;
        });
    };
    return precision.experts.element_bits() >= unquantised && std::none_of(model.kinds.begin(), model.kinds.end(), shares);
}

bool holds(ConditionExperts experts, const Model& target, const Precision& precision) {
    switch (experts) {
        case ConditionExperts::any:
            return true;
        case ConditionExperts::not_plain:
            return !has_plain_experts(target, precision);
        case ConditionExperts::fp4:
            return precision.experts.format == NumberFormat::fp4;
    }
    return true;
}

}  // namespace

std::vector<NumberCondition> Stack::unmet(const Model& target, const Precision& precision, const Device& device) const {
    std::vector<NumberCondition> found;
    const double generation = std::floor(device.compute_capability);
    for (const NumberCondition& condition : conditions) {
        const std::vector<std::string>& models = condition.models;
        const bool of_model = models.empty() || std::find(models.begin(), models.end(), kind_of_model(target)) != models.end();
        const std::vector<double>& not_on = condition.not_on;
        const bool of_experts = holds(condition.experts, target, precision);
        if (!of_model || !of_experts || std::find(not_on.begin(), not_on.end(), generation) != not_on.end()) {
            found.push_back(condition);
        }
    }
    return found;
}

double ServingPolicy::prefill_tokens_on(const Device& device) const {
    for (const PromptChunk& chunk : prompt_chunks) {
        if (!states_budget && device.memory < chunk.below && device.name.find(chunk.named) != std::string::npos) {
            return chunk.tokens;
        }
    }
    return prefill_tokens;
}

Stack Stack::where(const Model& target, const Precision& precision, const Device& device) const {
    Stack stack = on_host(device.host_speed);
    stack.serving.prefill_tokens = serving.prefill_tokens_on(device);
    static const Stack unstated;
    for (const NumberCondition& condition : unmet(target, precision, device)) {
        const StackParameter& number = stack_parameter(condition.number);
        number.set(stack, number.as.empty() ? number.get(unstated) : stack_parameter(number.as).get(stack));
    }
    return stack;
}

bool Stack::holds_as_it_is(const Model& target, const Precision& precision, const Device& device) const {
    const bool scaled = scales_with_host && device.host_speed != 1.0;
    return !scaled && serving.prefill_tokens == serving.prefill_tokens_on(device) &&
           (conditions.empty() || unmet(target, precision, device).empty());
}

Stack Stack::drafting() const {
    Stack stack = *this;
    if (launching.draft_graphs) {
        stack.launching.host_launch = Seconds(0.0);  // a captured graph costs the host nothing per kernel
        stack.launching.node_cost = launching.graph_node_cost;
        stack.launching.launch_factor = launching.graph_launch_factor;
        stack.launching.launch_factors.clear();
        stack.kernels.calibrated.reset();
    }
    return stack;
}

Stack Stack::copying() const {
    Stack stack = *this;
    if (launching.state_copy == StateCopy::eager) {
        // Launched from the host one by one, whatever the stack does for whole passes.
        stack.launching.host_launch = launching.eager_launch;
        stack.launching.launch_factor = launching.calls_per_copy;
        stack.launching.launch_factors.clear();
        stack.kernels.calibrated.reset();
    }
    return stack;
}

std::string Stack::verification_problem(Verification verification, const DraftTree& tree) const {
    const bool chain = tree.nodes() == tree.depth();
    if ((chain && verification == Verification::unrolled) ||
        std::find(drafts.verifications.begin(), drafts.verifications.end(), verification) != drafts.verifications.end()) {
        return {};
    }
    return drafts.verifications.empty()
               ? "the stack '" + name + "' verifies chains only"
               : "the stack '" + name + "' has no verification '" + std::string(name_of(verification)) + "'";
}

std::string Stack::shape_problem(const TreeShape& shape, const DraftTree& tree) const {
    if (tree.nodes() == tree.depth()) {
        return {};
    }
    switch (drafts.drafted_trees) {
        case DraftedTrees::any:
            return {};
        case DraftedTrees::none:
            return "the engine of the stack '" + name + "' drafts chains only with this drafter and target";
        case DraftedTrees::sglang:
            return std::holds_alternative<SglangShape>(shape)
                       ? ""
                       : "the engine of the stack '" + name + "' drafts trees of steps, top-k and tokens only (sglang:5,4,32)";
        case DraftedTrees::tensorrt_llm:
            break;
    }
    return std::holds_alternative<TensorRtShape>(shape)
               ? ""
               : "the engine of the stack '" + name + "' drafts trees of depth, top-k and tokens only (tensorrt_llm:3,4,12)";
}

std::string Stack::rollback_problem(Rollback rollback) const {
    if (rollback == Rollback::truncate ||
        std::find(states.rollbacks.begin(), states.rollbacks.end(), rollback) != states.rollbacks.end()) {
        return {};
    }
    std::string known;
    for (const Rollback other : states.rollbacks) {
        known += (known.empty() ? "" : ", ") + std::string(name_of(other));
    }
    return "the stack '" + name + "' does not implement the rollback '" + std::string(name_of(rollback)) + "'" +
           (known.empty() ? "" : " (it has " + known + ")");
}

double time_factor_of(Seconds measured, Seconds modelled, double shared) { return std::pow(measured / modelled, shared); }

double step_error_of(const std::vector<double>& log_errors) {
    constexpr double median_of_normal = 0.6745, steps_of_usual = 4.0, eighty_percent = 1.2816;
    constexpr double usual = usual_step_error / median_of_normal;
    double sum = steps_of_usual * usual * usual;
    for (const double error : log_errors) {
        sum += error * error;
    }
    return eighty_percent * std::sqrt(sum / (steps_of_usual + static_cast<double>(log_errors.size())));
}

std::vector<std::string> problems_of(const ExpertKernels& kernels) {
    std::vector<std::string> problems;
    if (kernels.title.empty()) {
        problems.emplace_back("title must not be empty");
    }
    if (!(kernels.few_rows >= 1.0)) {
        problems.emplace_back("few_rows must be at least 1");
    }
    if (!(kernels.more_readings >= 0.0 && kernels.more_readings <= 1000.0)) {
        problems.emplace_back("more_readings must lie between 0 and 1000");
    }
    return problems;
}

namespace {

std::string range_sentence(const StackParameter& parameter) {
    constexpr std::array units = {" s", " B", ""};
    const auto text = [](double value) {
        std::ostringstream out;
        out << value;
        return out.str();
    };
    return std::string(parameter.name) + " must lie between " + text(parameter.low) + " and " + text(parameter.high) +
           units[static_cast<std::size_t>(parameter.unit)];
}

}  // namespace

std::vector<std::string> problems_of(const Stack& stack) {
    std::vector<std::string> problems;
    const auto require = [&problems](bool holds, std::string sentence) {
        if (!holds) {
            problems.push_back(std::move(sentence));
        }
    };
    const auto require_factor = [&](double factor, const std::string& what) {
        require(std::isfinite(factor) && factor > 0.0 && factor <= 1000.0, what + " must lie above 0 and not above 1000");
    };
    require(!stack.name.empty(), "name must not be empty");
    require(!stack.title.empty(), "title must not be empty");
    require(!stack.states.rollbacks.empty(), "rollback must hold at least one policy");
    static const Stack plain;
    for (const StackParameter& parameter : stack_parameters()) {
        const double value = parameter.get(stack), unstated = parameter.get(plain);
        const bool is_unstated = value == unstated || (std::isnan(value) && std::isnan(unstated));
        if (!is_unstated && !(value >= parameter.low && value <= parameter.high)) {
            problems.push_back(range_sentence(parameter));
        }
    }
    for (const RowCurve& curve : stack.kernels.row_curves) {
        require(curve.few_rows >= 1.0 && curve.few_rows <= 1024.0, "few_rows of row_curves must lie between 1 and 1024");
        require(curve.few_rows_speed == 0.0 || curve.reads_per_row == 0.0,
                "row_curves state few_rows_speed or reads_per_row, not both");
        for (const double tile : {curve.tile, curve.matrix_tile}) {
            require(tile == 0.0 || (tile >= 1.0 && tile <= 1024.0), "tiles of row_curves must lie between 1 and 1024");
        }
        require(curve.least_unpacking >= 0.0 && curve.least_unpacking <= 1000.0,
                "least_unpacking of row_curves must lie between 0 and 1000");
        for (const double speed : {curve.few_rows_speed, curve.reads_per_row, curve.speed}) {
            require(speed >= 0.0 && speed <= 1000.0, "speeds and reads_per_row of row_curves must lie between 0 and 1000");
        }
    }
    for (const NumberCondition& condition : stack.conditions) {
        require(has_stack_parameter(condition.number) && stack_parameter(condition.number).may_be_missing(),
                "the stack's number '" + condition.number + "' cannot hold under a condition");
    }
    for (const OperationLaunches& entry : stack.launching.launch_factors) {
        require_factor(entry.factor, "launch_factors." + entry.operation);
    }
    for (std::size_t i = 1; i < stack.memory.memory_reserves.size(); ++i) {
        require(stack.memory.memory_reserves[i - 1].below < stack.memory.memory_reserves[i].below,
                "memory_reserves must come by rising \"below\"");
    }
    for (const LinearSpeeds& speeds :
         {stack.kernels.linear_speed, stack.kernels.calibrated ? stack.kernels.calibrated->linear_speed : LinearSpeeds{}}) {
        for (const LinearSpeed& speed : speeds) {
            require_factor(speed.memory, "linear_speed.memory");
            require_factor(speed.compute, "linear_speed.compute");
        }
    }
    if (stack.kernels.calibrated) {
        require_factor(stack.kernels.calibrated->expert_speed, "calibrated.expert_speed");
        const Seconds startup = stack.kernels.calibrated->kernel_startup;
        require(startup >= Seconds(0.0) && startup <= Seconds(0.01), "calibrated.kernel_startup must lie between 0 and 0.01 s");
        require_factor(stack.kernels.calibrated->launch_factor, "calibrated.launch_factor");
    }
    require(stack.serving.prefill_tokens >= 1.0, "prefill_tokens must be at least 1");
    for (const PromptChunk& chunk : stack.serving.prompt_chunks) {
        require(chunk.tokens >= 1.0, "tokens of prefill_tokens on_devices must be at least 1");
    }
    for (std::string& problem : problems_of(stack.measured.measured_loads)) {
        problems.push_back(std::move(problem));
    }
    return problems;
}

}  // namespace treeline::sim
