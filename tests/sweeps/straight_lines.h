// A round whose times are straight lines in the batch, so that schedules and choices can be computed by hand: a step of plain
// decoding takes 10 s; with one draft a round takes 11 s and 0.2 s a sequence and yields 1.6 tokens, with two 11 s and 0.5 s
// and 2 tokens.
#pragma once

#include <algorithm>
#include <vector>

#include "sweeps/recommend.h"

namespace treeline::testing {

inline sim::TimedOperation bytes_per_sequence(double bytes) {
    sim::TimedOperation timed;
    timed.cost.bytes.per_sequence = Bytes(bytes);
    timed.rates.per_byte = SecondsPerByte(1.0);
    return timed;
}

/// Rows of 0, 1 and 2 drafts; a sequence takes one byte of memory, of which there are `memory`.
inline sim::CompiledRound lines(double memory = 1e6) {
    sim::CompiledRound round;
    const auto pass = [&](sim::PassId id) -> sim::CompiledPass& { return round.pass(id); };
    pass(sim::PassId::plain).node_time = Seconds(10.0);
    pass(sim::PassId::verify_unrolled).node_time = pass(sim::PassId::verify_chunk).node_time = Seconds(11.0);
    pass(sim::PassId::verify_unrolled).operations = {bytes_per_sequence(0.2)};
    pass(sim::PassId::verify_chunk).operations = {bytes_per_sequence(0.5)};
    sim::RoundStep plain, verify;
    verify.phase = sim::Phase::verify;
    round.steps = {plain, verify};
    const std::size_t verify_pass[] = {0, static_cast<std::size_t>(sim::PassId::verify_unrolled),
                                       static_cast<std::size_t>(sim::PassId::verify_chunk)};
    for (std::size_t drafts = 0; drafts < 3; ++drafts) {
        sim::RoundRow row;
        row.begin.fill(1);
        row.begin[0] = 0;
        row.accepted.length = drafts == 0 ? 1.0 : drafts == 1 ? 1.6 : 2.0;
        row.draft_tokens = static_cast<double>(drafts);
        if (drafts > 0) {
            row.speculates = row.holds_drafter = 1.0;
            std::fill(row.begin.begin() + static_cast<std::ptrdiff_t>(verify_pass[drafts]) + 1, row.begin.end(), 2U);
        }
        round.rows.push_back(row);
    }
    add_off_row(round);
    round.memory.activations_per_token = Bytes(1.0);
    round.memory.capacity = round.memory.plain_capacity = Bytes(memory);
    return round;
}

inline sweeps::Workload workload_of(const std::vector<sweeps::WeightedValue>& loads) {
    sweeps::Workload workload;
    workload.traffic = sweeps::traffic_from(loads, {{0.0, 1.0}});
    return workload;
}

struct Range {
    int from, to, drafts;
    bool operator==(const Range&) const = default;
};
inline std::vector<Range> ranges_of(const sweeps::Schedule& schedule) {
    std::vector<Range> ranges;
    for (const sweeps::ScheduleEntry& entry : schedule.entries) {
        ranges.push_back({entry.batch_from, entry.batch_to, entry.draft_tokens});
    }
    return ranges;
}

inline sweeps::Schedule scheduled(const sim::CompiledRound& round, double asked, int largest, int preferred = 0) {
    return sweeps::schedule_for(round, {0, 1, 2}, workload_of({{asked, 1.0}}), largest, preferred);
}

}  // namespace treeline::testing
