#include "reports/recommend/report_accelerators.h"

#include <fmt/format.h>

#include "reports/fpga/fpga_output.h"
#include "sim/accelerator.h"
#include "sim/round_rows.h"

namespace treeline {
namespace {

FpgaRun run_of(const Recommendation& recommendation, const Candidate& candidate) {
    const Variant& variant = recommendation.variants[candidate.variant];
    const RoundSetup& setup = variant.setup;
    FpgaRun run;
    run.board = setup.platform.accelerator->board;
    run.design = setup.platform.accelerator->design;
    run.target = {setup.target.name, fpga::shape_of(setup.target)};
    run.options.plan = backtracking_of(setup.rollback).value_or(fpga::Backtracking::hybrid);
    const auto* drafter = std::get_if<IndependentDrafter>(&setup.drafter);
    if (candidate.draft_tokens > 0 && drafter != nullptr) {
        const Speculation& speculation = recommendation.speculations[static_cast<std::size_t>(candidate.speculation)];
        run.drafter = FpgaModel{drafter->model.name, fpga::shape_of(drafter->model)};
        run.tree_label = text_of(speculation);
        run.tree = trees_of(setup).build(speculation.shape);
        run.accept_length = candidate.accept_length;
    }
    return run;
}

FigureSection section_of(const std::string& platform, const FpgaEstimate& estimate) {
    FigureSection whole = {"accelerator-" + platform, platform + ", cycle by cycle", sentence_of(estimate), {}};
    for (FigureSection& part : fpga_sections(estimate)) {
        whole.text += part.text.empty() ? "" : " " + part.text;
        for (Figure& figure : part.figures) {
            figure.id += "-" + platform;
            whole.figures.push_back(std::move(figure));
        }
    }
    return whole;
}

}  // namespace

std::vector<FigureSection> accelerator_sections(const Answer& answer) {
    std::vector<FigureSection> sections;
    if (!answer.result.recommendation) {
        return sections;
    }
    for (const DeviceChoice& choice : best_of_each_device(*answer.result.recommendation)) {
        if (answer.result.recommendation->variants[choice.best->variant].setup.platform.accelerator) {
            sections.push_back(section_of(choice.platform, estimate_fpga(run_of(*answer.result.recommendation, *choice.best))));
        }
    }
    return sections;
}

}  // namespace treeline
