#include "sim/rollback/rollback.h"

namespace treeline::sim {

RollbackPlan plan_truncate() { return {}; }

}  // namespace treeline::sim
