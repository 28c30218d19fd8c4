#include "sim/fpga/issue_schedule.h"

#include <algorithm>

namespace treeline::sim::fpga {
namespace {

/// Whether token i takes its parent's state from the FIFO; siblings after the first reuse it.
bool pops(std::span<const int> parents, std::size_t i) {
    return parents[i] != committed_state && (i == 0 || parents[i] != parents[i - 1]);
}

/// Tiles pushed and popped over time: those of a token go one by one, `step` cycles apart.
struct QueueEvents {
    std::vector<int> pushes, pops;  ///< cycles, ascending
    std::vector<int> pusher, popper;
};

QueueEvents queue_events(std::span<const int> parents, const IssueRules& rules, const std::vector<int>& issue) {
    QueueEvents events;
    std::vector<bool> has_children(parents.size(), false);
    for (const int parent : parents) {
        if (parent != committed_state) {
            has_children[static_cast<std::size_t>(parent)] = true;
        }
    }
    for (std::size_t i = 0; i < parents.size(); ++i) {
        for (int tile = 0; tile < rules.interleave; ++tile) {
            const int cycle = issue[i] + tile * rules.initiation_interval;
            if (pops(parents, i)) {
                events.pops.push_back(cycle);
                events.popper.push_back(static_cast<int>(i));
            }
            if (has_children[i]) {
                events.pushes.push_back(cycle + rules.pipeline_depth);
                events.pusher.push_back(static_cast<int>(i));
            }
        }
    }
    return events;
}

std::vector<int> issue_of_tokens(std::span<const int> parents, const IssueRules& rules) {
    std::vector<int> issue;
    const int step = rules.interleave * rules.initiation_interval;
    for (std::size_t i = 0; i < parents.size(); ++i) {
        int cycle = i == 0 ? 0 : issue.back() + step;
        if (pops(parents, i)) {
            cycle = std::max(cycle, issue[static_cast<std::size_t>(parents[i])] + rules.pipeline_depth + 1);
        }
        issue.push_back(cycle);
    }
    return issue;
}

void find_fifo_use(const QueueEvents& events, IssueSchedule& schedule) {
    std::size_t popped_before = 0, popped_with = 0;
    for (std::size_t k = 0; k < events.pushes.size(); ++k) {
        while (popped_before < events.pops.size() && events.pops[popped_before] < events.pushes[k]) {
            ++popped_before;
        }
        while (popped_with < events.pops.size() && events.pops[popped_with] <= events.pushes[k]) {
            ++popped_with;
        }
        schedule.fifo_high_water = std::max(schedule.fifo_high_water, static_cast<int>(k + 1 - popped_with));
        const int needed = static_cast<int>(k + 1 - popped_before);
        if (needed > schedule.fifo_depth_needed) {
            schedule.fifo_depth_needed = needed;
            schedule.blocked_token = events.pusher[k];
            schedule.waiting_child = events.popper[popped_before];
        }
    }
}

}  // namespace

IssueSchedule issue_schedule(std::span<const int> parents, const IssueRules& rules) {
    IssueSchedule schedule;
    schedule.issue = issue_of_tokens(parents, rules);
    const int step = rules.interleave * rules.initiation_interval;
    schedule.cycles = schedule.issue.empty() ? 0 : schedule.issue.back() + step;
    schedule.stall_cycles = schedule.cycles - step * static_cast<int>(parents.size());
    find_fifo_use(queue_events(parents, rules, schedule.issue), schedule);
    return schedule;
}

std::vector<double> issue_cycles_by_group(std::span<const int> parents, const IssueRules& rules) {
    std::vector<double> cycles;
    IssueRules of_group = rules;
    for (of_group.interleave = 1; of_group.interleave <= rules.interleave; ++of_group.interleave) {
        const std::vector<int> issue = issue_of_tokens(parents, of_group);
        cycles.push_back(issue.empty() ? 0.0 : issue.back() + of_group.interleave * of_group.initiation_interval);
    }
    return cycles;
}

std::vector<int> verified_parents(const DraftTree& tree) {
    std::vector<int> parents = {committed_state};
    for (int token = 1; token < tree.verified_tokens(); ++token) {
        parents.push_back(tree.parent(token));
    }
    return parents;
}

std::vector<int> fifo_occupancy(std::span<const int> parents, const IssueRules& rules) {
    const IssueSchedule schedule = issue_schedule(parents, rules);
    const QueueEvents events = queue_events(parents, rules, schedule.issue);
    std::vector<int> queued(static_cast<std::size_t>(schedule.cycles + rules.pipeline_depth) + 1, 0);
    for (const int cycle : events.pushes) {
        ++queued[static_cast<std::size_t>(cycle)];
    }
    for (const int cycle : events.pops) {
        --queued[static_cast<std::size_t>(cycle)];
    }
    for (std::size_t cycle = 1; cycle < queued.size(); ++cycle) {
        queued[cycle] += queued[cycle - 1];
    }
    return queued;
}

std::string fifo_problem(const IssueSchedule& schedule, int depth) {
    if (depth >= schedule.fifo_depth_needed) {
        return {};
    }
    return "the FIFO holds " + std::to_string(depth) + " state tiles but this tree needs " +
           std::to_string(schedule.fifo_depth_needed) + ": the state of token " + std::to_string(schedule.blocked_token) +
           " finds it full and waits for token " + std::to_string(schedule.waiting_child) +
           " to take one out, which waits behind it in the same pipeline (deadlock)";
}

}  // namespace treeline::sim::fpga
