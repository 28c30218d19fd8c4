#include "sim/accelerator_round.h"

#include "sim/fpga/resources.h"
#include "sim/fpga/round.h"
#include "sim/prompt_work.h"
#include "sim/round_rows.h"

namespace treeline::sim {
namespace {

using fpga::MambaShape;

/// What the rows of a setup share.
struct TurnInputs {
    const RoundSetup& setup;
    const Accelerator& accelerator;
    MambaShape target;
    MambaShape drafter;           ///< all zero if there is none that it can run
    std::string drafter_problem;  ///< why there is none
    fpga::RoundOptions options;
    TreeBuilder trees;
};

std::string drafter_problem(const RoundSetup& setup, const IndependentDrafter* drafter) {
    if (drafter == nullptr) {
        const DrafterPlan other = plan(setup.drafter, setup.target, setup.precision);
        return setup.platform.device.name + " drafts with a Mamba-2 model of its own, not by '" + other.kind + "'";
    }
    return fpga::shape_problem(drafter->model);
}

TurnInputs inputs_of(const RoundSetup& setup) {
    const auto* drafter = std::get_if<IndependentDrafter>(&setup.drafter);
    TurnInputs inputs{
        setup,          *setup.platform.accelerator, fpga::shape_of(setup.target), {}, drafter_problem(setup, drafter), {},
        trees_of(setup)};
    if (inputs.drafter_problem.empty()) {
        inputs.drafter = fpga::shape_of(drafter->model);
    }
    inputs.options.plan = backtracking_of(setup.rollback).value_or(fpga::Backtracking::hybrid);
    return inputs;
}

/// The first resource that the board has too little of for trees of `verified_tokens`, as a sentence; empty if they fit.
std::string excess(const TurnInputs& inputs, double verified_tokens) {
    const Accelerator& accelerator = inputs.accelerator;
    const fpga::BufferNeeds needs = {inputs.target, verified_tokens, inputs.options.plan, inputs.drafter};
    const fpga::Resources used = fpga::total_use(accelerator.design, needs, accelerator.board.resources.urams > 0.0);
    const std::vector<std::string> sentences = fpga::excess_of(used, accelerator.board);
    return sentences.empty() ? "" : "design " + accelerator.design.name + " " + sentences.front();
}

std::string row_problem(const TurnInputs& inputs, const Speculation& speculation, const DraftTree& tree,
                        const fpga::TreeWork& work) {
    for (std::string problem :
         {inputs.drafter_problem, acceptance_problem(inputs.setup.acceptance, speculation.shape, tree),
          inputs.setup.platform.stack.verification_problem(speculation.verification, tree),
          fpga::fifo_problem(work.schedule, inputs.accelerator.design.ssm.fifo_depth), excess(inputs, work.verified_tokens)}) {
        if (!problem.empty()) {
            return problem;
        }
    }
    return {};
}

/// "draft, root", "draft, 3 tokens", "draft, 3 tokens after 4" (replayed first).
std::string name_of(const fpga::DraftStep& step) {
    const auto count = [](double number) { return std::to_string(static_cast<int>(number)); };
    if (step.first) {
        return "draft, root";
    }
    return "draft, " + count(step.tokens) + (step.tokens == 1.0 ? " token" : " tokens") +
           (step.replayed > 0.0 ? " after " + count(step.replayed) : "");
}

TurnPass turn_pass(Phase phase, std::string name, double tokens, double runs, const MambaShape& model,
                   const fpga::PassCost& cost) {
    const double weights = model.body_weights() + (cost.bytes.head > Bytes(0.0) ? model.head_weights() : 0.0);
    return {phase,
            std::move(name),
            tokens,
            runs,
            cost.time,
            Flops(2.0 * weights * tokens),
            cost.bytes.total(),
            cost.bound == fpga::PassBound::memory ? Bound::memory : Bound::compute};
}

void explain_speculation(const TurnInputs& inputs, const fpga::TreeWork& work, const fpga::RoundCost& cost, RoundRow& row) {
    const auto& [board, design] = inputs.accelerator;
    for (const fpga::DraftStep& step : work.draft) {
        const fpga::PassWork pass = fpga::draft_work(step, row.accept_length(), inputs.options.plan);
        row.turn_passes.push_back(turn_pass(Phase::draft, name_of(step), step.tokens, step.runs, inputs.drafter,
                                            fpga::pass_cost(board, design, inputs.drafter, pass)));
    }
    row.turn_passes.push_back(turn_pass(Phase::verify, "verify", work.verified_tokens, 1.0, inputs.target, cost.verify));
}

/// Everything about the row except its cost; sets its problem if it cannot be run.
fpga::TreeWork describe_draft(const TurnInputs& inputs, const Speculation& speculation, RoundRow& row) {
    const std::vector<std::string> unusable = problems(speculation.shape);
    if (!unusable.empty()) {
        row.problem = unusable.front();
        return {};
    }
    const DraftTree tree = inputs.trees.build(speculation.shape);
    fpga::TreeWork work = fpga::tree_work(tree, inputs.accelerator.design.ssm.rules, inputs.options.plan);
    row.speculates = row.holds_drafter = 1.0;
    row.draft_tokens = row.drafted = tree.nodes();
    row.depth = tree.depth();
    row.branched = tree.nodes() > tree.depth() ? 1.0 : 0.0;
    row.problem = row_problem(inputs, speculation, tree, work);
    if (row.problem.empty()) {
        row.accepted = accepted_tokens(inputs.setup.acceptance, speculation.shape, tree);
        row.kept = kept_share(row.accepted, inputs.setup.output_tokens);
    }
    return work;
}

/// Weights are in memory once; a plan's copies of states, beyond the committed ones, only for the sequence being served.
Bytes workspace(const TurnInputs& inputs, const fpga::TreeWork& work) {
    const auto memory = [&](const fpga::TreeWork& of) {
        return fpga::memory_needed(inputs.accelerator.design, inputs.target, inputs.drafter, of, inputs.options.plan);
    };
    return memory(work) - memory({});
}

RoundRow row_of(const TurnInputs& inputs, const Speculation& speculation) {
    const auto& [board, design] = inputs.accelerator;
    RoundRow row;
    fpga::TreeWork work;
    if (is_plain_decoding(speculation)) {
        work = fpga::tree_work(DraftTree(), design.ssm.rules, inputs.options.plan);
    } else {
        work = describe_draft(inputs, speculation, row);
        if (!row.problem.empty()) {
            return row;
        }
    }
    const fpga::RoundCost cost =
        fpga::round_cost(board, design, inputs.target, inputs.drafter, work, row.accept_length(), inputs.options);
    row.turn.plain = cost.plain.time;
    row.turn.energy = (cost.power.memory + cost.power.products) * cost.time;
    row.turn_passes.push_back(turn_pass(Phase::plain, "plain decoding", 1.0, 1.0, inputs.target, cost.plain));
    if (row.speculates > 0.0) {
        row.turn.draft = cost.draft;
        row.turn.verify = cost.verify.time;
        row.turn.workspace = workspace(inputs, work);
        explain_speculation(inputs, work, cost, row);
    }
    row.draft_states = inputs.drafter.layers > 0.0 ? 1.0 : 0.0;
    row.logits = row.activations = row.graphs = 0.0;  // on the chip
    return row;
}

MemoryModel memory_of(const TurnInputs& inputs) {
    const fpga::Design& design = inputs.accelerator.design;
    const auto weights = [&](const MambaShape& model) {
        return Bytes((model.body_weights() + model.head_weights()) * design.weights.bits_per_element() / 8.0);
    };
    const auto state = [&](const MambaShape& model) {
        return Bytes(model.all_state_elements() * design.state.bits_per_element() / 8.0);
    };
    MemoryModel memory;
    memory.target_weights = weights(inputs.target);
    memory.draft_weights = weights(inputs.drafter);
    memory.target_state = state(inputs.target);
    memory.draft_state = state(inputs.drafter);
    memory.capacity = memory.plain_capacity =
        std::min(inputs.accelerator.board.memory, inputs.setup.platform.memory_limit.value_or(Bytes(unlimited)));
    return memory;
}

/// A prompt as chains of as many tokens as the Linear unit serves at once; the last one counts in proportion.
CompiledPass prompt_pass(const Accelerator& accelerator, const MambaShape& model) {
    CompiledPass pass;
    if (model.layers > 0.0) {
        const auto& [board, design] = accelerator;
        const auto tokens = static_cast<int>(design.linear.tokens);
        std::vector<int> parents = {fpga::committed_state};
        for (int token = 1; token < tokens; ++token) {
            parents.push_back(token - 1);
        }
        fpga::PassWork work;
        work.layer.tokens = tokens;
        const std::vector<double> issue_cycles = fpga::issue_cycles_by_group(parents, design.ssm.rules);
        work.layer.issue_cycles = issue_cycles;
        pass.step_time = fpga::pass_cost(board, design, model, work).time / design.linear.tokens;
    }
    return pass;
}

}  // namespace

std::vector<std::string> accelerator_problems(const RoundSetup& setup) {
    std::vector<std::string> problems = problems_of(*setup.platform.accelerator);
    if (problems.empty() && fpga::shape_problem(setup.target).empty()) {
        if (const std::string sentence = excess(inputs_of(setup), 1.0); !sentence.empty()) {
            problems.push_back(sentence);
        }
    }
    return problems;
}

CompiledRound compile_turns(const RoundSetup& setup) {
    CompiledRound round;
    if (const std::string unusable = fpga::shape_problem(setup.target); !unusable.empty()) {
        round.rows.resize(setup.speculations.size());
        for (RoundRow& row : round.rows) {
            row.problem = unusable;
        }
        return round;
    }
    const TurnInputs inputs = inputs_of(setup);
    for (const Speculation& speculation : setup.speculations) {
        round.rows.push_back(row_of(inputs, speculation));
    }
    add_off_row(round);
    round.memory = memory_of(inputs);
    round.prefill = prompt_pass(inputs.accelerator, inputs.target);
    round.draft_prefill = prompt_pass(inputs.accelerator, inputs.drafter);
    round.prompts = prompt_work(setup, round);
    round.prefix_hit = setup.prefix_hit;
    round.shared_prefix = setup.shared_prefix;
    round.output_tokens = setup.output_tokens;
    const Device& device = setup.platform.device;
    round.constant_power = device.idle_power;
    round.board_power = Watts(unlimited);
    round.price = device.price;
    return round;
}

std::vector<ExplainedPass> explain_turn(const RoundRow& row, const DesignPoint& point) {
    std::vector<ExplainedPass> explained;
    for (const TurnPass& pass : row.turn_passes) {
        const OperationEstimate whole{
            "all layers and LM head", OperationKind::linear, 1.0, pass.flops, pass.bytes, pass.time, pass.bound, 1.0};
        explained.push_back({pass.name,
                             {1.0, pass.tokens, point.context, pass.tokens},
                             pass.runs * point.batch,
                             pass.time,
                             Seconds(0.0),
                             {whole}});
    }
    return explained;
}

}  // namespace treeline::sim
