#include "sim/fpga/round.h"

#include "sim/fpga/resources.h"

namespace treeline::fpga {
namespace {

struct DraftTotals {
    Seconds time;
    Bytes bytes;
    double passes = 0.0;
};

DraftTotals draft_totals(const Board& board, const Design& design, const MambaShape& drafter, const TreeWork& tree,
                         double accept_length, Backtracking plan) {
    DraftTotals totals;
    for (const DraftStep& step : tree.draft) {
        const PassCost pass = pass_cost(board, design, drafter, draft_work(step, accept_length, plan));
        totals.time += step.runs * pass.time;
        totals.bytes += step.runs * pass.bytes.total();
        totals.passes += step.runs;
    }
    return totals;
}

}  // namespace

PassWork verify_work(const TreeWork& tree, double accept_length, const RoundOptions& options) {
    PassWork work;
    work.layer.tokens = tree.verified_tokens;
    work.layer.issue_cycles = tree.issue_cycles;
    if (tree.nodes == 0.0) {
        return work;
    }
    switch (options.plan) {
        case Backtracking::naive:
            work.exposed_states += tree.verified_tokens;
            break;
        case Backtracking::store_states:
            work.state_writes = tree.verified_tokens;
            break;
        case Backtracking::recompute:
        case Backtracking::hybrid:
            work.layer.replayed = accept_length;
            break;
    }
    if (options.tree_states == TreeStates::off_chip) {
        work.exposed_states += tree.parents + tree.verified_tokens;
    }
    return work;
}

PassWork draft_work(const DraftStep& step, double accept_length, Backtracking plan) {
    PassWork work;
    work.layer.tokens = step.tokens;
    work.layer.draft_mode = true;
    work.state_reads = step.parents;
    work.state_writes = step.tokens;
    if (plan == Backtracking::naive) {
        work.state_reads = work.state_writes = 0.0;
        work.exposed_states = step.parents + 2.0 * step.tokens;  // a parent's state in, a node's out, and its copy
    } else if (plan == Backtracking::recompute) {
        work.layer.replayed = step.first ? accept_length : step.replayed;
        work.state_reads = 1.0;
        work.state_writes = step.first ? 1.0 : 0.0;
    }
    return work;
}

Watts power_at(const Board& board, const Design& design, double tokens_per_second) {
    if (board.static_power.value() <= 0.0 || design.power.per_dsp_cycle.value() <= 0.0) {
        return {};
    }
    const double dsp_cycles_per_second = dsps_of(design) * clock_of(board, design);
    return board.static_power +
           (design.power.per_dsp_cycle * dsp_cycles_per_second + design.power.per_token * tokens_per_second) / Seconds(1.0);
}

RoundCost round_cost(const Board& board, const Design& design, const MambaShape& target, const MambaShape& drafter,
                     const TreeWork& tree, double accept_length, const RoundOptions& options) {
    RoundCost cost;
    PassWork one_token;
    cost.plain = pass_cost(board, design, target, one_token);
    cost.verify = tree.nodes == 0.0 ? cost.plain : pass_cost(board, design, target, verify_work(tree, accept_length, options));
    const DraftTotals draft = draft_totals(board, design, drafter, tree, accept_length, options.plan);
    cost.draft = draft.time;
    cost.draft_bytes = draft.bytes;
    cost.draft_passes = draft.passes;
    cost.time = cost.verify.time + cost.draft;
    cost.accept_length = tree.nodes == 0.0 ? 1.0 : accept_length;
    cost.tokens_per_second = cost.accept_length / cost.time.value();
    cost.break_even_accept_length = cost.time / cost.plain.time;
    cost.speedup = cost.accept_length / cost.break_even_accept_length;
    cost.power = power_at(board, design, cost.tokens_per_second);
    cost.tokens_per_joule = cost.power.value() > 0.0 ? cost.tokens_per_second / cost.power.value() : 0.0;
    return cost;
}

Seconds round_time(const Board& board, const Design& design, const MambaShape& target, const MambaShape& drafter,
                   const TreeWork& tree, double accept_length, const RoundOptions& options) {
    return pass_cost(board, design, target, verify_work(tree, accept_length, options)).time +
           draft_totals(board, design, drafter, tree, accept_length, options.plan).time;
}

}  // namespace treeline::fpga
