#include "sim/fpga/round.h"

#include "sim/fpga/resources.h"

namespace treeline::sim::fpga {
namespace {

RoundWork totals_of(const PassCost& pass) { return {pass.time, pass.bytes.total(), pass.products}; }

void add(const RoundWork& pass, double runs, RoundWork& totals) {
    totals.time += runs * pass.time;
    totals.bytes += runs * pass.bytes;
    totals.products += runs * pass.products;
}

RoundWork draft_totals(const Board& board, const Design& design, const MambaShape& drafter, const TreeWork& tree,
                       double accept_length, Backtracking plan) {
    RoundWork totals;
    for (const DraftStep& step : tree.draft) {
        add(totals_of(pass_cost(board, design, drafter, draft_work(step, accept_length, plan))), step.runs, totals);
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
            work.cached_tokens = tree.verified_tokens + accept_length;
            break;
    }
    if (options.tree_states == TreeStates::off_chip) {
        const double with_children = tree.parents - 1.0;  // the committed state is among the parents
        work.exposed_states += tree.verified_tokens;
        work.exposed_states += options.plan == Backtracking::naive ? tree.verified_tokens : with_children;
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
        work.exposed_states = 3.0 * step.tokens;  // of each node its parent's state in, its own out, and the copy
    } else if (plan == Backtracking::recompute) {
        work.layer.replayed = step.first ? accept_length : step.replayed;
        work.state_reads = 1.0;
        work.state_writes = step.first ? 1.0 : 0.0;
        work.cached_tokens = step.tokens + work.layer.replayed;
    }
    return work;
}

bool knows_power(const Board& board, const Design& design) {
    return board.static_power.value() > 0.0 && design.power.per_dsp_cycle.value() > 0.0;
}

PowerParts power_of(const Board& board, const Design& design, const RoundWork& totals) {
    if (!knows_power(board, design)) {
        return {};
    }
    const double dsp_cycles = dsps_of(design) * clock_of(board, design) * totals.time.value();
    return {board.static_power, design.power.per_dsp_cycle * dsp_cycles / totals.time,
            board.memory_energy * totals.bytes / totals.time, design.power.per_product * totals.products / totals.time};
}

RoundCost round_cost(const Board& board, const Design& design, const MambaShape& target, const MambaShape& drafter,
                     const TreeWork& tree, double accept_length, const RoundOptions& options) {
    RoundCost cost;
    PassWork one_token;
    cost.plain = pass_cost(board, design, target, one_token);
    cost.verify = tree.nodes == 0.0 ? cost.plain : pass_cost(board, design, target, verify_work(tree, accept_length, options));
    const RoundWork draft = draft_totals(board, design, drafter, tree, accept_length, options.plan);
    cost.draft = draft.time;
    cost.draft_bytes = draft.bytes;
    for (const DraftStep& step : tree.draft) {
        cost.draft_passes += step.runs;
    }
    cost.totals = totals_of(cost.verify);
    add(draft, 1.0, cost.totals);
    cost.time = cost.totals.time;
    cost.accept_length = tree.nodes == 0.0 ? 1.0 : accept_length;
    cost.tokens_per_second = cost.accept_length / cost.time.value();
    cost.break_even_accept_length = cost.time / cost.plain.time;
    cost.speedup = cost.accept_length / cost.break_even_accept_length;
    cost.power = power_of(board, design, cost.totals);
    const double watts = cost.power.total().value();
    cost.tokens_per_joule = watts > 0.0 ? cost.tokens_per_second / watts : 0.0;
    return cost;
}

RoundWork round_work(const Board& board, const Design& design, const MambaShape& target, const MambaShape& drafter,
                     const TreeWork& tree, double accept_length, const RoundOptions& options) {
    RoundWork totals = totals_of(pass_cost(board, design, target, verify_work(tree, accept_length, options)));
    add(draft_totals(board, design, drafter, tree, accept_length, options.plan), 1.0, totals);
    return totals;
}

}  // namespace treeline::sim::fpga
