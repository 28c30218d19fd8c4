#include "engines/request_limits.h"

#include "engines/dialect.h"

namespace treeline::engines {

double usual_requests(const Engine& engine, const sim::Platform& platform) {
    return dialect_of(engine).usual_requests(platform);
}

std::string requests_option(const Engine& engine) { return std::string(dialect_of(engine).requests_option); }

std::optional<double> raised_requests(const FlagPlan& plan) {
    return plan.requests <= usual_requests(*plan.engine, plan.platform) ? std::nullopt : std::optional(plan.requests);
}

}  // namespace treeline::engines
