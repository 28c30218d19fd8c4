// What a round consists of, as tables: its phases, the operations of its passes, and what is in memory.
#pragma once

#include <string>
#include <vector>

#include "sim/round.h"

namespace treeline::reports {

/// Draft, verify, roll back and so on with their shares of a round.
std::string phases_text(const sim::RoundEstimate& round, bool speculates);

/// Each pass with its operations: work, time and what bounds it.
std::string operations_text(const std::vector<sim::ExplainedPass>& passes);

/// Parts of a device's memory with their sum, and what is left of `capacity`.
std::string memory_text(const std::vector<sim::MemoryPart>& parts, Bytes capacity);

}  // namespace treeline::reports
