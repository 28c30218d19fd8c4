// The simulator sees its own folder alone: JSON stays at the edge.
// expected: json/reader.h: No such file|'json/reader.h' file not found
#include "sim/units.h"
#ifdef MUST_NOT_COMPILE
#include "json/reader.h"
#endif
