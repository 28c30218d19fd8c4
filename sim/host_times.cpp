#include "sim/host_times.h"

#include "sim/stack.h"

namespace treeline::sim {

HostTimes host_times(const Stack& stack) {
    HostTimes times = stack.host;
    times[HostDriver::draft_state] += stack.launching.eager_launch * stack.launching.calls_per_draft_layer;
    return times;
}

HostLine line_of_round(const HostTimes& times, const HostCounts& counts) {
    HostLine line;
    for (std::size_t i = 0; i < static_cast<std::size_t>(HostDriver::sequence); ++i) {
        const auto driver = static_cast<HostDriver>(i);
        Seconds& part = driver < first_of_sequences ? line.fixed : line.per_sequence;
        part += times[driver] * counts[driver];
    }
    return line;
}

Seconds step_of_sequence(const HostTimes& times, double tokens) {
    return times[HostDriver::sequence] + times[HostDriver::token] * tokens;
}

Seconds step_of_emitted_token(const HostTimes& times, double vocabulary) {
    return times[HostDriver::emitted_token] + times[HostDriver::emitted_entry] * vocabulary;
}

}  // namespace treeline::sim
