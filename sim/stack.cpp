#include "sim/stack.h"

#include <algorithm>
#include <cmath>

namespace treeline {

std::string Stack::verification_problem(Verification verification, const DraftTree& tree) const {
    const bool chain = tree.nodes() == tree.depth();
    if ((chain && verification == Verification::unrolled) ||
        std::find(verifications.begin(), verifications.end(), verification) != verifications.end()) {
        return {};
    }
    return verifications.empty() ? "the stack '" + name + "' verifies chains only"
                                 : "the stack '" + name + "' has no verification '" + std::string(name_of(verification)) + "'";
}

std::string Stack::rollback_problem(Rollback rollback) const {
    if (rollback == Rollback::truncate || std::find(rollbacks.begin(), rollbacks.end(), rollback) != rollbacks.end()) {
        return {};
    }
    return "the stack '" + name + "' does not implement the rollback '" + std::string(name_of(rollback)) + "'";
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
    require_overhead(stack.host_per_round, 10.0, "host_per_round");
    require_overhead(stack.eager_launch, 0.01, "eager_launch");
    require(std::isfinite(stack.launch_factor) && stack.launch_factor > 0.0 && stack.launch_factor <= 1000.0,
            "launch_factor must lie above 0 and not above 1000");
    return problems;
}

}  // namespace treeline
