// Every enumerator has a name.
// expected: an enumerator has no name
#include "sim/enum_names.h"

namespace treeline {

enum class Bound {
    memory,
    compute,
#ifdef MUST_NOT_COMPILE
    network,
#endif
};
constexpr auto names_in(Bound) { return enum_names<Bound>({{Bound::memory, "memory"}, {Bound::compute, "compute"}}); }

static_assert(name_of(Bound::compute) == "compute");
static_assert(value_named<Bound>("memory") == Bound::memory && !value_named<Bound>("disk"));

}  // namespace treeline
