// Quantities of different units cannot be added.
// expected: no match for 'operator\+'|invalid operands to binary expression
#include "sim/units.h"

using namespace treeline;

double total() {
    const Bytes size(1.0);
#ifdef MUST_NOT_COMPILE
    return (size + Seconds(1.0)).value();
#else
    return (size + Bytes(1.0)).value();
#endif
}
