// Groups of layers whose caches lie behind one block table.
#pragma once

#include "sim/delta_layers.h"
#include "sim/drafters/drafter.h"
#include "sim/stack.h"

namespace treeline::sim {

/// Groups into which vLLM divides the target's layers of Gated DeltaNet (one decay a head): it prepares the states of each
/// group anew in every round. A group has as many layers as the kind of cache with the fewest, and of the kind with the most
/// where that has less than half as many again (`_get_kv_cache_groups_uniform_page_size` of its kv_cache_utils.py, 0.27). Kinds
/// are recurrent states, attention of each shape and window, and a drafter's own layers: MTP modules and draft models of the
/// target's shape share its kinds, EAGLE heads and block drafters do not, and DFlash's last layer alone attends to the whole
/// context (z-lab's checkpoints for hybrids: five windows and one without). So MTP beside Qwen3.5-27B leaves 3 groups of its 48
/// layers, and DFlash makes 48 (vLLM's issue 49730, pull request 51742). 0 without such layers.
double state_groups(const Model& target, const Drafter& drafter, const DrafterPlan& plan);

/// What the host does in a round while the device verifies, on a fast host: the pass, and its `groups` of recurrent layers.
Seconds host_of_verification(const Stack& stack, double groups);

}  // namespace treeline::sim
