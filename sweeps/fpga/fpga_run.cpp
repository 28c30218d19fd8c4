#include "sweeps/fpga/fpga_run.h"

#include "sim/accelerator.h"
#include "sim/round_rows.h"

#include <fmt/format.h>

#include "text/number_text.h"

namespace treeline {

FpgaRun run_at(const RoundSetup& setup, const Speculation& speculation, double accept_length) {
    FpgaRun run;
    run.board = setup.platform.accelerator->board;
    run.design = setup.platform.accelerator->design;
    run.target = {setup.target.name, fpga::shape_of(setup.target)};
    run.options.plan = backtracking_of(setup.rollback).value_or(fpga::Backtracking::hybrid);
    const auto* drafter = std::get_if<IndependentDrafter>(&setup.drafter);
    if (!is_plain_decoding(speculation) && drafter != nullptr) {
        run.drafter = FpgaModel{drafter->model.name, fpga::shape_of(drafter->model)};
        run.tree_label = text_of(speculation);
        run.tree = trees_of(setup).build(speculation.shape);
        run.accept_length = accept_length;
    }
    return run;
}

std::vector<std::string> problems_of(const FpgaRun& run) {
    std::vector<std::string> problems = fpga::problems_of(run.design);
    if (!problems.empty()) {
        return problems;
    }
    const fpga::TreeWork work = fpga::tree_work(run.tree, run.design.ssm.rules, run.options.plan);
    if (run.options.tree_states == fpga::TreeStates::fifo) {
        const std::string fifo = fpga::fifo_problem(work.schedule, run.design.ssm.fifo_depth);
        if (!fifo.empty()) {
            problems.push_back(fifo);
        }
    }
    const fpga::BufferNeeds needs = {run.target.shape, work.verified_tokens, run.options.plan,
                                     run.drafter ? run.drafter->shape : fpga::MambaShape()};
    const fpga::Resources used = fpga::total_use(run.design, needs, run.board.resources.urams > 0.0);
    for (const std::string& sentence : fpga::excess_of(used, run.board)) {
        problems.push_back("design " + run.design.name + " " + sentence);
    }
    const Bytes memory = fpga::memory_needed(run.design, run.target.shape, needs.drafter, work, run.options.plan);
    if (memory > run.board.memory) {
        problems.push_back(fmt::format("weights and states need {}, {} more than the memory of {} ({})", text_of(memory),
                                       text_of(memory - run.board.memory), run.board.name, text_of(run.board.memory)));
    }
    return problems;
}

}  // namespace treeline
