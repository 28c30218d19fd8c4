// What a run of the C-simulation did, as far as time is concerned: for each process (one pipelined loop of the hardware) its
// iterations in order, and what each iteration read from and wrote to streams. schedule.h turns it into cycles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace treeline::kernels::accelerator {

/// How the hardware runs one pipelined loop. These are the achieved figures of a synthesis report, not the pragma's wishes.
struct LoopTiming {
    int initiation_interval = 1;  ///< cycles between the starts of two iterations, at least
    int depth = 0;                ///< cycles from an iteration's reads to its writes
    /// A source that delivers `rate_numerator` items in every `rate_denominator` cycles (memory); 1/1 elsewhere. Items that it
    /// cannot hand over are not saved up.
    int rate_numerator = 1;
    int rate_denominator = 1;
};

/// What an event says: that the next iteration begins, or what the present one does with a stream.
enum class Access : std::uint32_t { iteration = 0, read = 1, write = 2 };

/// Four bytes, as a layer has millions of them.
struct TraceEvent {
    Access access : 2;
    std::uint32_t stream : 30;
};

struct TracedProcess {
    std::string name;
    LoopTiming timing;
    std::vector<TraceEvent> events;
    std::int64_t iterations = 0;
};

struct TracedStream {
    std::string name;
    int depth = 0;  ///< elements it holds at most
};

/// Recorded while the hardware's functions run as ordinary C++, one process after the other.
class Trace {
public:
    int add_stream(std::string name, int depth) {
        streams_.push_back({std::move(name), depth});
        return static_cast<int>(streams_.size()) - 1;
    }
    int add_process(std::string name, LoopTiming timing) {
        processes_.push_back({std::move(name), timing, {}, 0});
        return static_cast<int>(processes_.size()) - 1;
    }
    /// What follows belongs to this process. A process may be resumed.
    void enter(int process) { current_ = static_cast<std::size_t>(process); }
    void begin_iteration() {
        record(Access::iteration, 0);
        ++processes_[current_].iterations;
    }
    void record(Access access, int stream) {
        TraceEvent event;
        event.access = access;
        event.stream = static_cast<std::uint32_t>(stream) & 0x3fffffffU;
        processes_[current_].events.push_back(event);
    }

    [[nodiscard]] const std::vector<TracedProcess>& processes() const { return processes_; }
    [[nodiscard]] const std::vector<TracedStream>& streams() const { return streams_; }

private:
    std::vector<TracedProcess> processes_;
    std::vector<TracedStream> streams_;
    std::size_t current_ = 0;
};

}  // namespace treeline::kernels::accelerator
