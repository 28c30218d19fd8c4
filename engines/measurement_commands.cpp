#include "engines/measurement_commands.h"

#include <algorithm>

#include <fmt/format.h>

#include "engines/definition.h"
#include "engines/measurement_clients.h"

namespace treeline::engines {
namespace {

sim::Speculation drafted_in(const sweeps::CandidateRun& run) {
    sim::Speculation speculation;
    speculation.shape = run.tree.value_or(sim::ChainShape{run.draft_tokens});
    return speculation;
}

}  // namespace

RunCommands commands_for(const sweeps::CandidateRun& run, const Engine& engine, const sweeps::Recommendation& recommendation) {
    const sweeps::Candidate& best = recommendation.candidates.front();
    PlanResult planned = plan_of_shape(recommendation.variants[best.variant], engine, drafted_in(run), run.draft_tokens,
                                       std::max(planned_requests(recommendation), clients_of(run)));
    if (!planned.refusal.empty()) {
        return {{}, planned.refusal, false};
    }
    const Measuring& measuring = measuring_of(engine.name);
    FlagPlan& plan = planned.plan;
    plan.request_tokens = prompt_of(run) + answer_tokens + run.draft_tokens;
    plan.whole_context = recommendation.capacity.whole_context;
    bool simulated = run.draft_tokens > 0 && !run.of_acceptance;
    if (simulated) {
        const std::string obstacle = measuring.why_not_simulated(plan);
        simulated = obstacle.empty();
        if (!simulated) {
            plan.remarks.push_back(obstacle);
        }
    }
    if (run.of_acceptance) {
        plan.remarks.push_back(fmt::format("YOUR_REQUESTS.jsonl: a line {} for each request", measuring.data_set));
    }
    const double accept_length = std::min(best.accept_length, run.draft_tokens + 1.0);
    ServerCommand server = measuring.server(plan, simulated, accept_length);
    server.lines.push_back(measuring.client(plan, run));
    return {std::move(server.lines), std::move(server.remark), simulated};
}

}  // namespace treeline::engines
