// Cycles of a trace. The rules are those of pipelined loops that talk through streams (as in LightningSim, MICRO 2023):
//
//   t_read[k]  >= t_write[k] + 1             an element is visible in the cycle after it was written
//   t_write[k] >= t_read[k - depth] + 1      a place is free in the cycle after its element was taken
//   t_start[i] >= t_start[i - 1] + II        of one loop
//   t_write     = t_start + depth            of one iteration, unless the stream is full
//
// An iteration that finds a stream empty waits while the iterations before it go on (bubbles follow them). An iteration that
// finds a stream full stops its whole loop, later iterations included, until there is room.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/hls/trace.h"

namespace treeline::kernels::accelerator {

/// How one process spent its time. A cycle after the first start and up to the last write that starts no iteration is one of
/// the three kinds of waiting, or belongs to the initiation interval or the last iterations' way through the pipeline.
struct ProcessSchedule {
    std::string name;
    std::int64_t iterations = 0;
    std::int64_t first_start = 0;          ///< cycle in which the first iteration starts
    std::int64_t last_start = 0;           ///< cycle in which the last iteration starts
    std::int64_t finish = 0;               ///< cycle in which the last iteration is through the pipeline
    std::int64_t waited_empty = 0;         ///< cycles in which an iteration could not start for want of input
    std::int64_t waited_full = 0;          ///< cycles in which the pipeline stood still because an output was full
    std::vector<std::int64_t> waited_for;  ///< waited_empty by stream
};

struct StreamSchedule {
    std::string name;
    int depth = 0;
    std::int64_t elements = 0;
    int high_water = 0;    ///< most elements held at the end of a cycle
    int depth_needed = 0;  ///< places that were in use at once: one that is freed in a cycle can be filled in the next
    std::vector<std::int64_t> write_cycles, read_cycles;  ///< of each element
};

struct Schedule {
    std::int64_t cycles = 0;  ///< from cycle 0 to the last write of any process, both included
    std::vector<ProcessSchedule> processes;
    std::vector<StreamSchedule> streams;
    std::string deadlock;  ///< empty, or one sentence: who waits for what, and since when
};

/// A trace in which some process can never go on gives a Schedule with a `deadlock`; its figures are those up to there.
Schedule schedule(const Trace& trace);

/// Elements held at the end of each cycle in which the number changes: (cycle, elements), ascending.
std::vector<std::pair<std::int64_t, int>> occupancy(const StreamSchedule& stream);

/// The most held in each stretch of `width` cycles up to `cycles`.
std::vector<int> most_held(const StreamSchedule& stream, std::int64_t width, std::int64_t cycles);

}  // namespace treeline::kernels::accelerator
