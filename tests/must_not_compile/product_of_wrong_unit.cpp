// Bytes divided by a bandwidth are seconds, not joules.
// expected: could not convert|conversion from|no viable conversion
#include "sim/units.h"

using namespace treeline;

#ifdef MUST_NOT_COMPILE
Joules result() { return Bytes(1.0) / BytesPerSecond(1.0); }
#else
Seconds result() { return Bytes(1.0) / BytesPerSecond(1.0); }
#endif
