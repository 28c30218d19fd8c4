#include "sim/round_rows.h"

#include <algorithm>
#include <cmath>

#include "sim/drafters/draft_steps.h"

namespace treeline::sim {
namespace {

/// Steps by pass, in the order of PassId.
using StepsByPass = std::array<std::vector<RoundStep>, pass_count>;

std::vector<RoundStep>& steps_of(StepsByPass& steps, PassId id) { return steps[static_cast<std::size_t>(id)]; }

std::string drafter_problem(const Drafter& drafts, const DrafterPlan& drafter, const DraftTree& tree) {
    if (std::holds_alternative<NoDrafter>(drafts)) {
        return "there is no drafter";
    }
    if (drafter.parallel && tree.nodes() > tree.depth()) {
        return "the drafter proposes a chain in one pass, and no tree";
    }
    return tree.depth() <= drafter.max_draft_tokens ? ""
                                                    : "the drafter reaches " + std::to_string(drafter.max_draft_tokens) +
                                                          " tokens ahead, not " + std::to_string(tree.depth());
}

std::string first_of(const std::vector<std::string>& problems) { return problems.empty() ? "" : problems.front(); }

std::string row_problem(const RowInputs& inputs, const Speculation& speculation, const DraftTree& tree) {
    const RoundSetup& setup = inputs.setup;
    for (std::string problem :
         {drafter_problem(setup.drafter, inputs.drafter, tree), acceptance_problem(setup.acceptance, speculation.shape, tree),
          rollback_problem(setup.rollback, speculation.verification),
          setup.platform.stack.shape_problem(speculation.shape, tree),
          setup.platform.stack.verification_problem(speculation.verification, tree)}) {
        if (!problem.empty()) {
            return problem;
        }
    }
    if (setup.output_tokens > 0.0 && setup.output_tokens <= 1.0) {
        return "answers of one token come from their prompts alone, so that nothing is left to draft";
    }
    if (setup.rollback == Rollback::ring && tree.nodes() > tree.depth() &&
        setup.platform.stack.states.rollback_flags.contains(setup.rollback)) {
        return "the engine of the stack '" + setup.platform.stack.name + "' replays chains only";
    }
    if (setup.rollback == Rollback::ring && setup.platform.stack.states.rollback_flags.contains(setup.rollback) &&
        inputs.drafter.reads_on_host) {
        return "the engine of the stack '" + setup.platform.stack.name + "' replays drafts of a model or head only";
    }
    if (setup.rollback == Rollback::ring && tree.depth() + 1 > ring_capacity) {
        return "a draft of " + std::to_string(tree.depth()) + " levels does not fit in a ring of " +
               std::to_string(ring_capacity) + " tokens";
    }
    return {};
}

PassId verify_pass(Verification verification) {
    switch (verification) {
        case Verification::unrolled_chunk:
            return PassId::verify_chunk;
        case Verification::packed:
            return PassId::verify_packed;
        case Verification::unrolled:
            break;
    }
    return PassId::verify_unrolled;
}

void add_drafting(const RowInputs& inputs, const Speculation& speculation, const DraftTree& tree, RoundRow& row,
                  StepsByPass& steps) {
    const bool counts_hoi = inputs.setup.platform.mode == CostMode::hoi;
    const DraftSteps drafting = draft_steps(inputs.drafter, speculation.shape, tree, row.accepted, counts_hoi);
    for (std::size_t i = 0; i < drafting.passes.size(); ++i) {
        const DraftStep& pass = drafting.passes[i];
        const PassId id = i > 0 && drafting.tree_attention ? PassId::draft_tree : PassId::draft;
        steps_of(steps, id).push_back(
            {Phase::draft, pass.rows, pass.tokens, pass.logits, pass.context_offset, pass.runs, 0.0, pass.share});
    }
    if (drafting.inner_runs > 0.0) {
        const double growth = 0.5 * tree.depth();
        steps_of(steps, PassId::draft_inner).push_back({Phase::draft, 1.0, 1.0, 1.0, growth, drafting.inner_runs});
    }
    if (drafting.markov_runs > 0.0) {
        steps_of(steps, PassId::draft_markov).push_back({Phase::draft, 1.0, 1.0, 1.0, 0.0, drafting.markov_runs});
    }
    if (drafting.context_tokens > 0.0) {
        steps_of(steps, PassId::draft_context).push_back({Phase::draft, 1.0, drafting.context_tokens, 0.0, 0.0, 1.0});
    }
    if (drafting.copied_states > 0.0 && inputs.setup.platform.stack.launching.state_copy != StateCopy::by_index) {
        steps_of(steps, PassId::draft_copy).push_back({Phase::draft, drafting.copied_states, 1.0, 0.0, 0.0, 1.0});
    }
    row.draft_states = inputs.drafter.has_cache ? drafting.kept_states : 0.0;
    row.graphs += static_cast<double>(drafting.passes.size());
}

const BeamShape* unrolled_beam(const Speculation& speculation) {
    return speculation.verification == Verification::packed ? nullptr : std::get_if<BeamShape>(&speculation.shape);
}

/// The most rows that a verification can have. A beam's tree differs from round to round: each step extends at least one row,
/// and all others may end there. Unrolled, every row has a state and a cache of its own, and caches are laid out and graphs
/// captured for the worst case: STree's code, (steps - 1)(beams - 1) + beams.
double most_rows(const Speculation& speculation, const VerifyShape& shape) {
    const BeamShape* beam = unrolled_beam(speculation);
    return beam == nullptr ? shape.sequences : (beam->steps - 1.0) * (beam->beams - 1.0) + beam->beams;
}

/// Where a look-up's drafts end early, a rate of acceptance is one of the drafts that there are: position i is there in a share
/// ρ^(i−1) of them. Positions and lengths that were measured or stated count that already.
DraftAcceptance of_drafts_made(const DrafterPlan& drafter, const DraftAcceptance& acceptance, const DraftTree& tree) {
    const bool rate = acceptance.chain.is_model() && acceptance.chain.known_draft_tokens() <= 1;
    if (drafter.mean_draft <= 0.0 || !rate) {
        return acceptance;
    }
    std::vector<double> positions = acceptance.chain.positions_to(tree.depth());
    positions.erase(positions.begin());
    double there = 1.0;
    for (double& position : positions) {
        position *= there;
        there *= 1.0 - 1.0 / drafter.mean_draft;
    }
    DraftAcceptance made = acceptance;
    made.chain = Acceptance::per_position(std::move(positions));
    return made;
}

/// Where a drafter has no draft, or a short one, fewer tokens are drafted than the shape has; as many as are accepted at least.
double mean_drafted(const DrafterPlan& drafter, const DraftTree& tree, const AcceptedTokens& accepted) {
    const double nodes = tree.nodes();
    return drafter.hit_rate < 1.0 || drafter.mean_draft > 0.0 ? std::max(drafter.drafted_tokens(nodes), accepted.length - 1.0)
                                                              : nodes;
}

/// And verified.
VerifyShape with_mean_draft(const RoundRow& row, VerifyShape shape) {
    if (row.drafted < row.draft_tokens) {
        shape.tokens = 1.0 + (shape.tokens - 1.0) * row.drafted / row.draft_tokens;
    }
    return shape;
}

/// Rounds without a draft yield one token.
AcceptedTokens with_hit_rate(AcceptedTokens accepted, double hit_rate) {
    if (hit_rate < 1.0) {
        for (double& probability : accepted.exactly) {
            probability *= hit_rate;
        }
        accepted.exactly.front() += 1.0 - hit_rate;
        accepted.length = 1.0 + hit_rate * (accepted.length - 1.0);
        accepted.ends_at_leaf *= hit_rate;
    }
    return accepted;
}

/// The most tokens that a row can have.
double longest_row(const Speculation& speculation, const VerifyShape& shape) {
    const BeamShape* beam = unrolled_beam(speculation);
    return beam == nullptr ? shape.tokens : beam->steps + 1.0;
}

/// Joint attainment: a pass for each number of accepted drafts that it may have to carry along, with one row more.
void add_joint_verification(const VerifyShape& shape, RoundRow& row, std::vector<RoundStep>& steps) {
    const double rows = shape.sequences + 1.0;
    for (std::size_t taken = 0; taken < row.accepted.exactly.size(); ++taken) {
        if (row.accepted.exactly[taken] > 0.0) {
            const double logits = shape.sequences * shape.tokens / rows;
            steps.push_back(
                {Phase::verify, rows, shape.tokens + static_cast<double>(taken), logits, 0.0, row.accepted.exactly[taken]});
        }
    }
    row.activations = rows * (shape.tokens + row.depth);
    row.graphs += row.depth;  // "K + 1 graphs captured" (Snakes and Ladders): one for each length
}

void add_verification(const RowInputs& inputs, const Speculation& speculation, const VerifyShape& shape, RoundRow& row,
                      StepsByPass& steps) {
    std::vector<RoundStep>& verify = steps_of(steps, verify_pass(speculation.verification));
    const double rows = most_rows(speculation, shape);
    row.logits = rows * longest_row(speculation, shape);
    row.activations = row.logits;
    row.new_tokens = row.logits;
    if (const BeamShape* beam = unrolled_beam(speculation)) {
        row.graphs += rows - beam->beams;  // one for each number of rows, starting from the number of beams
    }
    if (inputs.rollback.joins_next_round) {
        add_joint_verification(shape, row, verify);
    } else {
        verify.push_back({Phase::verify, shape.sequences, shape.tokens, shape.tokens, 0.0, 1.0});
    }
    if (has_recurrent_state(inputs.setup.target)) {
        for (RoundStep& step : verify) {
            step.apart = inputs.setup.platform.stack.states.recurrent_passes_apart;
        }
    }
}

/// Each row of an unrolled verification starts from a state of its own: a copy of the live one, or of the row that attained it.
double state_copies(const RowInputs& inputs, const VerifyShape& shape) {
    if (inputs.setup.platform.stack.launching.state_copy == StateCopy::by_index) {
        return inputs.rollback.states_per_verified_token > 0.0 && shape.sequences > 1.0 ? 1.0 : 0.0;
    }
    return inputs.rollback.joins_next_round ? shape.sequences : shape.sequences - 1.0;
}

void add_rollback(const RowInputs& inputs, const Speculation& speculation, const VerifyShape& shape, const DraftTree& tree,
                  RoundRow& row, StepsByPass& steps) {
    const RollbackPlan& plan = inputs.rollback;
    const double rows = most_rows(speculation, shape);
    const double verified = rows * longest_row(speculation, shape);
    row.graphs += plan.advance.operations.empty() ? 0.0 : 1.0;
    const bool live_among_kept =
        plan.states_per_verified_token > 0.0 && inputs.setup.platform.stack.states.snapshots_hold_live_state;
    row.target_states = (live_among_kept ? 0.0 : rows) + plan.extra_states + plan.states_per_verified_token * verified;
    row.cached_activations = plan.caches_activations ? verified : 0.0;
    const bool all_tokens = inputs.setup.rollback == Rollback::replay && inputs.setup.platform.stack.states.replays_rejected;
    const double advanced = all_tokens ? shape.tokens : row.accept_length();
    steps_of(steps, PassId::advance).push_back({Phase::rollback, 1.0, advanced, 0.0, 0.0, 1.0});
    if (inputs.setup.rollback == Rollback::ring) {
        const RingUse ring = ring_use(row.accepted, ring_capacity);
        steps_of(steps, PassId::ring_replay).push_back({Phase::rollback, shape.sequences, ring.mean_tokens, 0.0, 0.0, 1.0});
        steps_of(steps, PassId::ring_flush).push_back({Phase::rollback, 1.0, 1.0, 0.0, 0.0, ring.flush_probability});
        row.cached_activations += ring_capacity;
    }
    if (const double copies = state_copies(inputs, shape); copies > 0.0) {
        // The host copies one row after the other; a kernel within a graph reads the state once and writes all of them.
        const bool eager = inputs.setup.platform.stack.launching.state_copy == StateCopy::eager;
        steps_of(steps, PassId::state_copy)
            .push_back({Phase::rollback, 1.0, eager ? 1.0 : copies, 0.0, 0.0, eager ? copies : 1.0});
    }
    if (const double copies = inputs.setup.platform.stack.states.committed_copies;
        copies > 0.0 && plan.states_per_verified_token > 0.0) {
        steps_of(steps, PassId::state_copy).push_back({Phase::rollback, 1.0, 1.0, 0.0, 0.0, copies});
    }
    if (tree.nodes() > tree.depth() && row.accept_length() > 1.0) {
        steps_of(steps, PassId::compaction).push_back({Phase::rollback, 1.0, row.accept_length() - 1.0, 0.0, 0.0, 1.0});
    }
}

void fill_row(const RowInputs& inputs, const Speculation& speculation, RoundRow& row, StepsByPass& steps) {
    row.problem = first_of(problems(speculation.shape));
    if (!row.problem.empty()) {
        return;
    }
    const DraftTree tree = inputs.trees.build(speculation.shape);
    row.speculates = row.holds_drafter = 1.0;
    row.draft_tokens = tree.nodes();
    row.depth = tree.depth();
    // Independent sequences branch at the root alone: rows of a batch, without masks and paths.
    const bool sequences = std::holds_alternative<SequencesShape>(speculation.shape);
    row.branched = (tree.nodes() > tree.depth() || lets_branch(speculation.shape)) && !sequences ? 1.0 : 0.0;
    // Sampled sequences are merged into a tree to be accepted; greedy ones are compared as rows.
    const bool merged = sequences && tree.nodes() > tree.depth() &&
                        (speculation.verification == Verification::packed || inputs.setup.decoding == Decoding::sampling);
    row.grown = merged || (row.branched > 0.0 && depends_on_acceptance(speculation.shape)) ? 1.0 : 0.0;
    row.problem = row_problem(inputs, speculation, tree);
    if (!row.problem.empty()) {
        return;
    }
    const DraftAcceptance acceptance = of_drafts_made(inputs.drafter, inputs.setup.acceptance, tree);
    row.accepted = with_hit_rate(accepted_tokens(acceptance, speculation.shape, tree), inputs.drafter.hit_rate);
    row.drafted = mean_drafted(inputs.drafter, tree, row.accepted);
    row.kept = kept_share(row.accepted, inputs.setup.output_tokens);
    const VerifyShape shape = with_mean_draft(row, verify_shape(speculation.verification, tree));
    const bool in_rows = row.branched > 0.0 && speculation.verification != Verification::packed;
    row.unrolled_tokens = in_rows ? shape.sequences * shape.tokens : 0.0;
    add_drafting(inputs, speculation, tree, row, steps);
    add_verification(inputs, speculation, shape, row, steps);
    add_rollback(inputs, speculation, shape, tree, row, steps);
    if (const double budget = inputs.setup.platform.stack.serving.step_tokens; row.logits > budget) {
        row.problem = "one sequence of a round has " + std::to_string(static_cast<int>(row.logits)) +
                      " tokens, more than the token budget of " + std::to_string(static_cast<int>(budget)) + " for a step";
    }
}

}  // namespace

TreeBuilder trees_of(const RoundSetup& setup) {
    std::vector<TreeShape> shapes;
    for (const Speculation& speculation : setup.speculations) {
        if (problems(speculation.shape).empty()) {
            shapes.push_back(speculation.shape);
        }
    }
    // If no acceptance by rank is known, rows say that it is missing, unless their accept length was measured.
    return {RankAcceptance::known_or_assumed(setup.acceptance.siblings), shapes};
}

namespace {

StepsByPass plain_step() {
    StepsByPass steps;
    steps_of(steps, PassId::plain).push_back({Phase::plain, 1.0, 1.0, 1.0, 0.0, 1.0});
    return steps;
}

/// Whether the time of a pass jumps at some numbers of rows: whole tiles, other kernels, whole items for each worker.
bool jumps_with_rows(const CompiledPass& pass) {
    return std::any_of(pass.operations.begin(), pass.operations.end(), [](const TimedOperation& timed) {
        const RowRule& rule = timed.rates.rule;
        return std::holds_alternative<RowSteps>(rule) || std::holds_alternative<ContextTiles>(rule) ||
               std::holds_alternative<RowCosts>(rule);
    });
}

/// A row has a whole number of tokens. Of a mean in between, the time is the mean of times, not the time of the mean, which
/// might just not fit into a tile.
void append_in_whole_tokens(const RoundStep& step, std::vector<RoundStep>& steps) {
    const double fewer = std::floor(step.tokens), share_of_more = step.tokens - fewer;
    if (fewer < 1.0 || share_of_more == 0.0) {
        steps.push_back(step);
        return;
    }
    for (const bool more : {false, true}) {
        RoundStep whole = step;
        whole.tokens = more ? fewer + 1.0 : fewer;
        whole.logits = step.logits == step.tokens ? whole.tokens : step.logits;
        whole.runs = step.runs * (more ? share_of_more : 1.0 - share_of_more);
        steps.push_back(whole);
    }
}

void append_steps(const StepsByPass& steps, RoundRow& row, CompiledRound& round) {
    for (std::size_t pass = 0; pass < pass_count; ++pass) {
        row.begin[pass] = static_cast<std::uint32_t>(round.steps.size());
        if (round.passes[pass].operations.empty()) {
            continue;
        }
        if (!jumps_with_rows(round.passes[pass])) {
            round.steps.insert(round.steps.end(), steps[pass].begin(), steps[pass].end());
            continue;
        }
        for (const RoundStep& step : steps[pass]) {
            append_in_whole_tokens(step, round.steps);
        }
    }
    row.begin[pass_count] = static_cast<std::uint32_t>(round.steps.size());
}

}  // namespace

void append_row(const RowInputs& inputs, const Speculation& speculation, CompiledRound& round) {
    RoundRow row;
    StepsByPass steps = plain_step();
    if (!is_plain_decoding(speculation)) {
        fill_row(inputs, speculation, row, steps);
    }
    append_steps(steps, row, round);
    round.rows.push_back(std::move(row));
}

void keep_drafter_in_step(const DrafterPlan& drafter, CompiledRound& round) {
    if (!drafter.needs_prefill) {
        return;
    }
    StepsByPass steps = plain_step();
    const bool apart = drafter.context_model || drafter.catch_up == CatchUp::apart;
    const PassId reads = apart ? PassId::draft_context : PassId::draft;
    steps_of(steps, reads).push_back({Phase::draft, 1.0, 1.0, 0.0, 0.0, 1.0});
    if (drafter.inner.model) {
        steps_of(steps, PassId::draft_inner).push_back({Phase::draft, 1.0, 1.0, 0.0, 0.0, 1.0});
    }
    append_steps(steps, round.off, round);
}

}  // namespace treeline::sim
