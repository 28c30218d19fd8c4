// Chances as advice: a gain or a loss is called one where 8 chances in 10 say so, and is left open between.
#pragma once

namespace treeline::numerics {

enum class Verdict { pays, open, loses };

/// The chance from which on a verdict is given.
inline constexpr double sure_chance = 0.8;

/// The verdict where a loss has this chance, from 0 to 1.
inline Verdict verdict_of(double chance_of_loss) {
    return chance_of_loss <= 1.0 - sure_chance ? Verdict::pays : chance_of_loss >= sure_chance ? Verdict::loses : Verdict::open;
}

}  // namespace treeline::numerics
