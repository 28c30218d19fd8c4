#include "reports/recommend/report_accelerators.h"

#include <fmt/format.h>

#include "reports/fpga/fpga_output.h"

namespace treeline::reports {
namespace {

sweeps::FpgaRun run_of(const sweeps::Recommendation& recommendation, const sweeps::Candidate& candidate) {
    return sweeps::run_at(recommendation.variants[candidate.variant].setup,
                          recommendation.speculations[static_cast<std::size_t>(candidate.speculation)],
                          candidate.accept_length);
}

/// `id`: the accelerator's name in the catalogue; `title`: what people call it.
FigureSection section_of(const std::string& id, const std::string& title, const sweeps::FpgaEstimate& estimate) {
    FigureSection whole = {"accelerator-" + id, title + ", cycle by cycle", sentence_of(estimate), {}};
    for (FigureSection& part : fpga_sections(estimate)) {
        whole.text += part.text.empty() ? "" : " " + part.text;
        for (Figure& figure : part.figures) {
            figure.id += "-" + id;
            whole.figures.push_back(std::move(figure));
        }
    }
    return whole;
}

}  // namespace

std::vector<FigureSection> accelerator_sections(const sweeps::Answer& answer) {
    std::vector<FigureSection> sections;
    if (!answer.result.recommendation) {
        return sections;
    }
    for (const sweeps::DeviceChoice& choice : sweeps::best_of_each_device(*answer.result.recommendation)) {
        const sim::Platform& platform = answer.result.recommendation->variants[choice.best->variant].setup.platform;
        if (platform.accelerator) {
            sections.push_back(section_of(platform.device.name, choice.platform,
                                          sweeps::estimate_fpga(run_of(*answer.result.recommendation, *choice.best))));
        }
    }
    return sections;
}

}  // namespace treeline::reports
