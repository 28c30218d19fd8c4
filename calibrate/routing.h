// How many distinct experts the tokens of a measured batch reached, by the routing with which tables were made.
#pragma once

namespace treeline::calibrate {

enum class MeasuredRouting {
    balanced,   ///< every expert gets its turn
    power_law,  ///< shares of the experts follow a power law of exponent 1.2
};

/// Distinct experts of `experts` (a whole number) that `tokens` tokens with `active` experts each reach, at one rank. Power-law
/// routing is drawn: the mean of ten draws, the same on every machine.
double touched_experts(MeasuredRouting routing, double tokens, double experts, double active);

}  // namespace treeline::calibrate
