// The per-rank acceptance that Sequoia's published values are for.
#pragma once

#include "sim/trees/rank_acceptance.h"

namespace treeline::testing {

/// Per-rank acceptance of Sequoia's demo (Infini-AI-Lab/Sequoia at 0ff3ff7, acceptance-rate-vector.pt), its 32 ranks. Rank 9
/// is accepted more often than rank 8, ranks 19 and 23 never.
inline const sim::RankAcceptance sequoia_demo(
    {0.63418293,    0.107946023,   0.0569715127,  0.0224887561,  0.019490255,   0.0149925034,  0.00449775113, 0.00299850083,
     0.0119940033,  0.00449775113, 0.00749625172, 0.00449775113, 0.00599700166, 0.00299850083, 0.00149925041, 0.00299850083,
     0.00149925041, 0.00299850083, 0.0,           0.00299850083, 0.00299850083, 0.00299850083, 0.0,           0.00149925041,
     0.0,           0.00149925041, 0.0,           0.0,           0.0,           0.00149925041, 0.00149925041, 0.00149925041});

}  // namespace treeline::testing
