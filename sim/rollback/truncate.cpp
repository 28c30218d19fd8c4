#include "sim/rollback/rollback.h"

namespace treeline {

RollbackPlan plan_truncate() { return {}; }

}  // namespace treeline
