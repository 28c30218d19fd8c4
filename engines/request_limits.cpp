#include "engines/request_limits.h"

#include "engines/definition.h"

namespace treeline::engines {

double usual_requests(const Engine& engine, const sim::Platform& platform) {
    return dialect_of(engine).usual_requests(platform);
}

std::string requests_option(const Engine& engine) { return std::string(dialect_of(engine).requests_option); }

std::optional<double> stated_requests(const FlagPlan& plan) {
    const double usual = usual_requests(*plan.engine, plan.platform);
    return plan.requests > usual || (plan.capped && plan.requests < usual) ? std::optional(plan.requests) : std::nullopt;
}

}  // namespace treeline::engines
