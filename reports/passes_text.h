// What a round consists of, as tables: its phases, the operations of its passes, and what is in memory.
#pragma once

#include <string>
#include <vector>

#include "sim/round.h"

namespace treeline::reports {

/// Host time beside the passes of a plain step, which counts as decoding in an estimate of it; zero of a round that drafts.
Seconds host_of_plain_step(const sim::CompiledRound& round, const sim::DesignPoint& point);

/// Draft, verify, roll back and so on with their shares of a round. `host_of_step`: of plain decoding, host_of_plain_step().
std::string phases_text(const sim::RoundEstimate& round, bool speculates, Seconds host_of_step);

/// Each pass with its operations: work, time and what bounds it.
std::string operations_text(const std::vector<sim::ExplainedPass>& passes);

/// Parts of a device's memory with their sum, and what is left of `capacity`.
std::string memory_text(const std::vector<sim::MemoryPart>& parts, Bytes capacity);

}  // namespace treeline::reports
