#include "sim/stack.h"

#include <algorithm>
#include <cmath>

namespace treeline::sim {

double Stack::launches_of(std::string_view operation, bool in_calibrated_mode) const {
    for (const OperationLaunches& entry : launch_factors) {
        if (entry.operation == operation) {
            return entry.factor;
        }
    }
    return launches_per_operation(in_calibrated_mode);
}

Stack Stack::on_host(double speed) const {
    Stack stack = *this;
    if (scales_with_host && speed != 1.0) {
        for (Seconds Stack::*time :
             {&Stack::host_launch, &Stack::eager_launch, &Stack::host_per_pass, &Stack::host_per_draft_pass,
              &Stack::host_per_round, &Stack::host_per_recurrent_round, &Stack::synchronous_per_round,
              &Stack::host_per_rollback, &Stack::host_per_tree, &Stack::host_per_tree_token, &Stack::host_per_grown_token,
              &Stack::host_per_unrolled_token, &Stack::host_per_draft_token, &Stack::host_per_sampling}) {
            stack.*time = stack.*time / speed;
        }
        if (stack.host_per_head_pass) {
            stack.host_per_head_pass = *stack.host_per_head_pass / speed;
        }
    }
    return stack;
}

Stack Stack::drafting() const {
    Stack stack = *this;
    if (draft_graphs) {
        stack.host_launch = Seconds(0.0);  // a captured graph costs the host nothing per kernel
        stack.node_cost = graph_node_cost;
        stack.launch_factor = graph_launch_factor;
        stack.launch_factors.clear();
        stack.calibrated.reset();
    }
    return stack;
}

Stack Stack::copying() const {
    Stack stack = *this;
    if (state_copy == StateCopy::eager) {
        // Launched from the host one by one, whatever the stack does for whole passes.
        stack.host_launch = eager_launch;
        stack.launch_factor = calls_per_copy;
        stack.launch_factors.clear();
        stack.calibrated.reset();
    }
    return stack;
}

std::string Stack::verification_problem(Verification verification, const DraftTree& tree) const {
    const bool chain = tree.nodes() == tree.depth();
    if ((chain && verification == Verification::unrolled) ||
        std::find(verifications.begin(), verifications.end(), verification) != verifications.end()) {
        return {};
    }
    return verifications.empty() ? "the stack '" + name + "' verifies chains only"
                                 : "the stack '" + name + "' has no verification '" + std::string(name_of(verification)) + "'";
}

std::string Stack::shape_problem(const TreeShape& shape, const DraftTree& tree) const {
    if (tree.nodes() == tree.depth()) {
        return {};
    }
    switch (drafted_trees) {
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
    if (rollback == Rollback::truncate || std::find(rollbacks.begin(), rollbacks.end(), rollback) != rollbacks.end()) {
        return {};
    }
    std::string known;
    for (const Rollback other : rollbacks) {
        known += (known.empty() ? "" : ", ") + std::string(name_of(other));
    }
    return "the stack '" + name + "' does not implement the rollback '" + std::string(name_of(rollback)) + "'" +
           (known.empty() ? "" : " (it has " + known + ")");
}

double time_factor_of(Seconds measured, Seconds modelled, double shared) { return std::pow(measured / modelled, shared); }

double step_error_of(const std::vector<double>& log_errors) {
    constexpr double usual = 0.037 / 0.6745, steps_of_usual = 4.0, eighty_percent = 1.2816;
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

std::vector<std::string> problems_of(const Stack& stack) {
    std::vector<std::string> problems;
    const auto require = [&problems](bool holds, std::string sentence) {
        if (!holds) {
            problems.push_back(std::move(sentence));
        }
    };
    const auto require_overhead = [&](Seconds time, double longest, const std::string& what) {
        require(std::isfinite(time.value()) && time.value() >= 0.0 && time.value() <= longest,
                what + " must lie between 0 and " + std::to_string(longest) + " s");
    };
    require(!stack.name.empty(), "name must not be empty");
    require(!stack.title.empty(), "title must not be empty");
    require(!stack.rollbacks.empty(), "rollback must hold at least one policy");
    require_overhead(stack.host_launch, 0.01, "host_launch");
    require_overhead(stack.node_cost, 0.01, "node_cost");
    require_overhead(stack.host_per_pass, 10.0, "host_per_pass");
    require_overhead(stack.host_per_draft_pass, 10.0, "host_per_draft_pass");
    require_overhead(stack.per_layer, 0.01, "per_layer");
    require_overhead(stack.per_expert_layer, 0.01, "per_expert_layer");
    require_overhead(stack.host_per_sequence, 1.0, "host_per_sequence");
    require_overhead(stack.host_per_verified_token, 1.0, "host_per_verified_token");
    require_overhead(stack.host_per_round, 10.0, "host_per_round");
    require_overhead(stack.synchronous_per_round, 10.0, "synchronous_per_round");
    require_overhead(stack.synchronous_per_sequence, 1.0, "synchronous_per_sequence");
    require_overhead(stack.host_per_rollback, 10.0, "host_per_rollback");
    require_overhead(stack.host_per_tree, 10.0, "host_per_tree");
    require_overhead(stack.host_per_tree_token, 1.0, "host_per_tree_token");
    require_overhead(stack.host_per_grown_token, 1.0, "host_per_grown_token");
    require_overhead(stack.host_per_unrolled_token, 1.0, "host_per_unrolled_token");
    require_overhead(stack.host_per_draft_token, 1.0, "host_per_draft_token");
    require_overhead(stack.host_per_head_pass.value_or(Seconds(0.0)), 10.0, "host_per_head_pass");
    require(std::isfinite(stack.calls_per_draft_layer) && stack.calls_per_draft_layer >= 0.0 &&
                stack.calls_per_draft_layer <= 1000.0,
            "calls_per_draft_layer must lie between 0 and 1000");
    require_overhead(stack.host_per_piecewise_layer, 0.01, "host_per_piecewise_layer");
    require_overhead(stack.host_per_piece, 0.01, "host_per_piece");
    require_overhead(stack.host_per_recurrent_round, 1.0, "host_per_recurrent_round");
    require(std::isfinite(stack.pieces_per_draft_pass) && stack.pieces_per_draft_pass >= 0.0 &&
                stack.pieces_per_draft_pass <= 1000.0,
            "pieces_per_draft_pass must lie between 0 and 1000");
    require(std::isfinite(stack.committed_copies) && stack.committed_copies >= 0.0 && stack.committed_copies <= 10.0,
            "committed_copies must lie between 0 and 10");
    require(stack.state_pool_share >= 0.0 && stack.state_pool_share < 1.0, "state_pool_share must lie between 0 and 1");
    require(stack.state_slots >= 1.0 && stack.state_slots <= 100.0, "state_slots must lie between 1 and 100");
    require(stack.recurrent_passes_apart >= 0.0 && stack.recurrent_passes_apart <= 1.0,
            "recurrent_passes_apart must lie between 0 and 1");
    require_overhead(stack.host_per_verified_layer, 0.01, "host_per_verified_layer");
    require_overhead(stack.host_per_shared_layer, 0.01, "host_per_shared_layer");
    require_overhead(stack.per_sparse_token, 0.01, "per_sparse_token");
    require_overhead(stack.host_per_sampling, 10.0, "host_per_sampling");
    require_overhead(stack.kernel_startup, 0.01, "kernel_startup");
    require_overhead(stack.eager_launch, 0.01, "eager_launch");
    require_overhead(stack.scan_step, 0.01, "scan_step");
    const auto require_share = [&](double share, const std::string& what) {
        require(std::isfinite(share) && share > 0.0 && share <= 1.0, what + " must lie above 0 and not above 1");
    };
    require_share(stack.memory_efficiency, "memory_efficiency");
    require_share(stack.compute_efficiency, "compute_efficiency");
    require_share(stack.scan_efficiency, "scan_efficiency");
    require_share(stack.attention_efficiency, "attention_efficiency");
    require_share(stack.vector_efficiency, "vector_efficiency");
    if (stack.metal.memory_efficiency != 0.0) {
        require_share(stack.metal.memory_efficiency, "memory_efficiency of metal");
    }
    require_share(stack.metal.reads_per_row, "reads_per_row of metal");
    require(
        std::isfinite(stack.metal.rereading_rows) && stack.metal.rereading_rows >= 0.0 && stack.metal.rereading_rows <= 1024.0,
        "rereading_rows of metal must lie between 0 and 1024");
    require(std::isfinite(stack.vector_attention) && stack.vector_attention >= 0.0 && stack.vector_attention <= 1.0,
            "vector_attention must lie between 0 and 1");
    require(std::isfinite(stack.unhidden) && stack.unhidden >= 0.0 && stack.unhidden <= 1.0,
            "unhidden must lie between 0 and 1");
    require_share(stack.shared_prefix_read, "shared_prefix_read");
    require(stack.memory_per_graph >= Bytes(0.0) && stack.memory_per_graph <= Bytes(1e11),
            "memory_per_graph must lie between 0 and 100 GB");
    require_overhead(stack.graph_node_cost, 0.01, "graph_node_cost");
    const auto require_factor = [&](double factor, const std::string& what) {
        require(std::isfinite(factor) && factor > 0.0 && factor <= 1000.0, what + " must lie above 0 and not above 1000");
    };
    require_factor(stack.launch_factor, "launch_factor");
    require_factor(stack.graph_launch_factor, "graph_launch_factor");
    require_factor(stack.calls_per_copy, "calls_per_copy");
    for (const OperationLaunches& entry : stack.launch_factors) {
        require_factor(entry.factor, "launch_factors." + entry.operation);
    }
    require(std::isfinite(stack.replay_traffic) && stack.replay_traffic >= 0.0 && stack.replay_traffic <= 100.0,
            "replay_traffic must lie between 0 and 100");
    require_share(stack.prompt_wait, "prompt_wait");
    if (stack.memory_utilisation) {
        require_share(*stack.memory_utilisation, "memory_utilisation");
    }
    require(!stack.step_error || (*stack.step_error > 0.0 && *stack.step_error <= 1.0), "step_error must lie between 0 and 1");
    for (std::size_t i = 1; i < stack.memory_reserves.size(); ++i) {
        require(stack.memory_reserves[i - 1].below < stack.memory_reserves[i].below,
                "memory_reserves must come by rising \"below\"");
    }
    for (const LinearSpeeds& speeds :
         {stack.linear_speed, stack.calibrated ? stack.calibrated->linear_speed : LinearSpeeds{}}) {
        for (const LinearSpeed& speed : speeds) {
            require_factor(speed.memory, "linear_speed.memory");
            require_factor(speed.compute, "linear_speed.compute");
        }
    }
    require_factor(stack.expert_speed, "expert_speed");
    require_factor(stack.time_factor, "time_factor");
    require_factor(stack.round_factor, "round_factor");
    if (stack.calibrated) {
        require_factor(stack.calibrated->expert_speed, "calibrated.expert_speed");
        require_overhead(stack.calibrated->kernel_startup, 0.01, "calibrated.kernel_startup");
        require_factor(stack.calibrated->launch_factor, "calibrated.launch_factor");
    }
    require(stack.prefill_tokens >= 1.0, "prefill_tokens must be at least 1");
    require(stack.score_bytes >= Bytes(0.0) && stack.score_bytes <= Bytes(64.0), "score_bytes must lie between 0 and 64 B");
    require(stack.score_traffic >= Bytes(0.0) && stack.score_traffic <= Bytes(256.0),
            "score_traffic must lie between 0 and 256 B");
    return problems;
}

}  // namespace treeline::sim
