#include "sweeps/fpga/fpga_run.h"

#include "sim/accelerator.h"
#include "sim/round_rows.h"

#include <fmt/format.h>

#include "text/number_text.h"

namespace treeline::sweeps {

FpgaRun run_at(const sim::RoundSetup& setup, const sim::Speculation& speculation, double accept_length) {
    FpgaRun run;
    run.board = setup.platform.accelerator->board;
    run.design = setup.platform.accelerator->design;
    run.target = {setup.target.name, sim::fpga::shape_of(setup.target)};
    run.options.plan = sim::backtracking_of(setup.rollback).value_or(sim::fpga::Backtracking::hybrid);
    const auto* drafter = std::get_if<sim::IndependentDrafter>(&setup.drafter);
    if (!sim::is_plain_decoding(speculation) && drafter != nullptr) {
        run.drafter = FpgaModel{drafter->model.name, sim::fpga::shape_of(drafter->model)};
        run.tree_label = text_of(speculation);
        run.tree = sim::trees_of(setup).build(speculation.shape);
        run.accept_length = accept_length;
    }
    return run;
}

std::vector<std::string> problems_of(const FpgaRun& run) {
    std::vector<std::string> problems = sim::fpga::problems_of(run.design);
    const std::vector<std::string> of_board = sim::fpga::problems_of(run.board);  // whose numbers a run may change
    problems.insert(problems.end(), of_board.begin(), of_board.end());
    if (!problems.empty()) {
        return problems;
    }
    const sim::fpga::TreeWork work = sim::fpga::tree_work(run.tree, run.design.ssm.rules, run.options.plan);
    if (run.options.tree_states == sim::fpga::TreeStates::fifo) {
        const std::string fifo = sim::fpga::fifo_problem(work.schedule, run.design.ssm.fifo_depth);
        if (!fifo.empty()) {
            problems.push_back(fifo);
        }
    }
    const sim::fpga::BufferNeeds needs = {run.target.shape, work.verified_tokens, run.options.plan,
                                          run.drafter ? run.drafter->shape : sim::fpga::MambaShape()};
    const sim::fpga::Resources used = sim::fpga::total_use(run.design, needs, run.board.resources.urams > 0.0);
    for (const std::string& sentence : sim::fpga::excess_of(used, run.board)) {
        problems.push_back("design " + run.design.name + " " + sentence);
    }
    const Bytes memory = sim::fpga::memory_needed(run.design, run.target.shape, needs.drafter, work, run.options.plan);
    if (memory > run.board.memory) {
        problems.push_back(fmt::format("weights and states need {}, {} more than the memory of {} ({})", text_of(memory),
                                       text_of(memory - run.board.memory), run.board.name, text_of(run.board.memory)));
    }
    return problems;
}

}  // namespace treeline::sweeps
