// A bare number does not turn into a quantity by itself.
// expected: could not convert|conversion from 'double'|no viable conversion|no matching function
#include "sim/units.h"

using namespace treeline;

double in_bytes(Bytes size) { return size.value(); }

#ifdef MUST_NOT_COMPILE
double result() { return in_bytes(80e9); }
#else
double result() { return in_bytes(Bytes(80e9)); }
#endif
