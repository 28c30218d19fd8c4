// Work on all cores with results that do not depend on their number.
#pragma once

#include <cstddef>
#include <functional>

namespace treeline::sweeps {

/// Threads to use: `requested`, or all cores if that is 0.
unsigned thread_count(unsigned requested);

/// Calls work(i) once for each i in [0, count) on `threads` threads and returns when all are done. The first exception thrown
/// by a call is rethrown here after the others have stopped.
void parallel_for(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work);

/// Calls produce(i) on `threads` threads and hands the results to consume in the order of i, one at a time. At most a few
/// results per thread wait at any moment, so memory does not grow with `count`. Exceptions as in parallel_for.
template <class Result>
void ordered_pipeline(std::size_t count, unsigned threads, const std::function<Result(std::size_t)>& produce,
                      const std::function<void(std::size_t, Result&)>& consume);

}  // namespace treeline::sweeps

#include "sweeps/parallel_pipeline.h"
