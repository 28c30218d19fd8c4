#include "kernels/hls/schedule.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace treeline::kernels::accelerator {
namespace {

/// Time inside a loop stands still while the loop is stopped by a full output; `start + frozen` is the cycle.
struct Freeze {
    std::int64_t at = 0;      ///< in the loop's own time
    std::int64_t cycles = 0;  ///< how long
};

struct PendingWrite {
    std::int64_t at = 0;  ///< in the loop's own time
    std::uint32_t stream = 0;
};

class LoopScheduler {
public:
    LoopScheduler(const TracedProcess& process, std::vector<StreamSchedule>& streams) : process_(process), streams_(streams) {
        result_.name = process.name;
        result_.iterations = process.iterations;
        result_.waited_for.assign(streams.size(), 0);
        if (!process.events.empty()) {
            next_ = cycles_of_item() - 1;
        }
    }

    /// Goes on as far as what is known of the other loops allows. True when anything became known.
    bool advance() {
        bool progress = false;
        for (;;) {
            const bool wrote = settle_writes();
            const bool started = start_next();
            progress = progress || wrote || started;
            if (!started) {
                if (wrote) {
                    continue;
                }
                return progress;
            }
        }
    }

    [[nodiscard]] bool done() const { return cursor_ == process_.events.size() && pending_.empty(); }
    [[nodiscard]] ProcessSchedule result() const {
        ProcessSchedule result = result_;
        result.finish = last_start_ + process_.timing.depth + total_frozen_;
        return result;
    }

    /// What an unfinished loop waits for, as a sentence without a full stop.
    [[nodiscard]] std::string waits_for() const {
        std::string text;
        if (!pending_.empty()) {
            const StreamSchedule& full = streams_[pending_.front().stream];
            text = process_.name + " cannot write element " + std::to_string(full.write_cycles.size()) + " to \"" + full.name +
                   "\", which is full with " + std::to_string(full.depth);
        }
        if (blocked_stream_ >= 0) {
            const StreamSchedule& empty = streams_[static_cast<std::size_t>(blocked_stream_)];
            text += (text.empty() ? process_.name + " in" : ", and in") + " iteration " + std::to_string(started_) +
                    " waits for element " + std::to_string(blocked_element_) + " of \"" + empty.name + "\"";
        }
        return text + " (since cycle " +
               std::to_string(pending_.empty() ? next_ + total_frozen_ : pending_.front().at + total_frozen_) + ")";
    }

private:
    /// Cycles that a source needs for its next item: it gathers `rate_numerator` a cycle, and an item takes `rate_denominator`.
    std::int64_t cycles_of_item() {
        const LoopTiming& timing = process_.timing;
        const std::int64_t cycles = (timing.rate_denominator - credit_ + timing.rate_numerator - 1) / timing.rate_numerator;
        credit_ += cycles * timing.rate_numerator - timing.rate_denominator;
        return cycles;
    }

    /// Writes of iterations under way, in order, until one whose place is not known to become free.
    bool settle_writes() {
        bool progress = false;
        while (!pending_.empty()) {
            const PendingWrite write = pending_.front();
            StreamSchedule& stream = streams_[write.stream];
            const std::size_t element = stream.write_cycles.size();
            std::int64_t cycle = write.at + total_frozen_;
            if (element >= static_cast<std::size_t>(stream.depth)) {
                const std::size_t before = element - static_cast<std::size_t>(stream.depth);
                if (before >= stream.read_cycles.size()) {
                    return progress;
                }
                const std::int64_t wait = stream.read_cycles[before] + 1 - cycle;
                if (wait > 0) {
                    freezes_.push_back({write.at, wait});
                    total_frozen_ += wait;
                    result_.waited_full += wait;
                    cycle += wait;
                }
            }
            stream.write_cycles.push_back(cycle);
            pending_.pop_front();
            progress = true;
        }
        return progress;
    }

    /// Starts the next iteration when its inputs' cycles are known and no unsettled write could stop the loop before.
    bool start_next() {
        const std::vector<TraceEvent>& events = process_.events;
        if (cursor_ == events.size()) {
            blocked_stream_ = -1;
            return false;
        }
        std::size_t end = cursor_ + 1;
        std::int64_t visible = 0;
        int last_input = -1;
        for (; end < events.size() && events[end].access != Access::iteration; ++end) {
            if (events[end].access != Access::read) {
                continue;
            }
            const std::size_t stream = events[end].stream;
            const std::size_t element = streams_[stream].read_cycles.size();
            if (element >= streams_[stream].write_cycles.size()) {
                blocked_stream_ = static_cast<int>(stream);
                blocked_element_ = element;
                return false;
            }
            if (streams_[stream].write_cycles[element] + 1 > visible) {
                visible = streams_[stream].write_cycles[element] + 1;
                last_input = static_cast<int>(stream);
            }
        }
        const std::int64_t could_start = next_;
        std::int64_t start = std::max(next_, visible - frozen_);
        while (!freezes_.empty() && freezes_.front().at <= start) {
            frozen_ += freezes_.front().cycles;
            next_ = std::max(next_, freezes_.front().at);
            freezes_.pop_front();
            start = std::max(next_, visible - frozen_);
        }
        if (!pending_.empty() && pending_.front().at <= start) {
            blocked_stream_ = -1;
            return false;
        }
        if (start > could_start && last_input >= 0) {
            result_.waited_empty += start - could_start;
            result_.waited_for[static_cast<std::size_t>(last_input)] += start - could_start;
        }
        commit(start, end);
        return true;
    }

    void commit(std::int64_t start, std::size_t end) {
        const std::int64_t cycle = start + frozen_;
        for (std::size_t i = cursor_ + 1; i < end; ++i) {
            const TraceEvent event = process_.events[i];
            if (event.access == Access::read) {
                streams_[event.stream].read_cycles.push_back(cycle);
            } else {
                pending_.push_back({start + process_.timing.depth, event.stream});
            }
        }
        if (started_ == 0) {
            result_.first_start = cycle;
        }
        result_.last_start = cycle;
        last_start_ = start;
        ++started_;
        cursor_ = end;
        next_ = start + std::max<std::int64_t>(process_.timing.initiation_interval, cycles_of_item());
    }

    const TracedProcess& process_;
    std::vector<StreamSchedule>& streams_;
    ProcessSchedule result_;
    std::size_t cursor_ = 0;
    std::int64_t next_ = 0;          ///< earliest start of the next iteration, in the loop's own time
    std::int64_t credit_ = 0;        ///< of a source
    std::int64_t frozen_ = 0;        ///< up to the last start
    std::int64_t total_frozen_ = 0;  ///< up to the last settled write
    std::int64_t last_start_ = 0;
    std::int64_t started_ = 0;
    std::deque<Freeze> freezes_;  ///< between the two
    std::deque<PendingWrite> pending_;
    int blocked_stream_ = -1;
    std::size_t blocked_element_ = 0;
};

void finish_streams(std::vector<StreamSchedule>& streams) {
    for (StreamSchedule& stream : streams) {
        stream.elements = static_cast<std::int64_t>(stream.write_cycles.size());
        std::size_t read_before = 0, read_by = 0;
        for (std::size_t written = 0; written < stream.write_cycles.size(); ++written) {
            const std::int64_t cycle = stream.write_cycles[written];
            while (read_before < stream.read_cycles.size() && stream.read_cycles[read_before] < cycle) {
                ++read_before;
            }
            while (read_by < stream.read_cycles.size() && stream.read_cycles[read_by] <= cycle) {
                ++read_by;
            }
            stream.depth_needed = std::max(stream.depth_needed, static_cast<int>(written + 1 - read_before));
            stream.high_water = std::max(stream.high_water, static_cast<int>(written + 1 - read_by));
        }
    }
}

}  // namespace

Schedule schedule(const Trace& trace) {
    Schedule result;
    for (const TracedStream& stream : trace.streams()) {
        result.streams.push_back({stream.name, stream.depth, 0, 0, 0, {}, {}});
    }
    std::vector<LoopScheduler> loops;
    loops.reserve(trace.processes().size());
    for (const TracedProcess& process : trace.processes()) {
        loops.emplace_back(process, result.streams);
    }
    for (bool progress = true; progress;) {
        progress = false;
        for (LoopScheduler& loop : loops) {
            progress = loop.advance() || progress;
        }
    }
    for (const LoopScheduler& loop : loops) {
        result.processes.push_back(loop.result());
        result.cycles = std::max(result.cycles, loop.result().finish + 1);
        if (!loop.done()) {
            result.deadlock += (result.deadlock.empty() ? "" : "; ") + loop.waits_for();
        }
    }
    finish_streams(result.streams);
    return result;
}

std::vector<std::pair<std::int64_t, int>> occupancy(const StreamSchedule& stream) {
    std::vector<std::pair<std::int64_t, int>> steps;
    std::size_t written = 0;
    std::size_t freed = 0;
    while (written < stream.write_cycles.size() || freed < stream.read_cycles.size()) {
        const bool write_is_next =
            freed == stream.read_cycles.size() ||
            (written < stream.write_cycles.size() && stream.write_cycles[written] <= stream.read_cycles[freed]);
        const std::int64_t cycle = write_is_next ? stream.write_cycles[written] : stream.read_cycles[freed];
        ++(write_is_next ? written : freed);
        const int held = static_cast<int>(written - freed);
        if (!steps.empty() && steps.back().first == cycle) {
            steps.back().second = held;
        } else {
            steps.emplace_back(cycle, held);
        }
    }
    return steps;
}

std::vector<int> most_held(const StreamSchedule& stream, std::int64_t width, std::int64_t cycles) {
    std::vector<int> most(static_cast<std::size_t>((cycles + width - 1) / width), 0);
    std::size_t begun = 0;
    int held = 0;
    for (const auto& [cycle, number] : occupancy(stream)) {
        const auto stretch = std::min(static_cast<std::size_t>(cycle / width), most.size() - 1);
        for (; begun <= stretch; ++begun) {
            most[begun] = held;
        }
        most[stretch] = std::max(most[stretch], number);
        held = number;
    }
    return most;
}

}  // namespace treeline::kernels::accelerator
