// A bandwidth cannot be compared with a size.
// expected: no match for 'operator<'|invalid operands to binary expression
#include "sim/units.h"

using namespace treeline;

bool less(BytesPerSecond bandwidth) {
#ifdef MUST_NOT_COMPILE
    return bandwidth < Bytes(1.0);
#else
    return bandwidth * Seconds(1.0) < Bytes(1.0);
#endif
}
