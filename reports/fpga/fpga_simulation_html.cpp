// The C-simulation of a layer as a page of charts.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "reports/figure.h"
#include "reports/fpga/fpga_simulation_output.h"
#include "text/number_text.h"

namespace treeline::reports {
namespace {

using kernels::accelerator::ProcessSchedule;
using kernels::accelerator::StreamSchedule;

Figure timeline_figure(const sweeps::FpgaSimulation& simulation) {
    Figure figure;
    figure.id = "fpga-simulated-timeline";
    figure.title = "Units over the layer";
    figure.reading = "Each bar runs from a unit's first iteration to its last; waits in between are in the next chart.";
    figure.mark = FigureMark::range;
    figure.x = {"start", "Cycle"};
    figure.y = {"unit", "Unit"};
    figure.end = "end";
    figure.columns = {{"unit", "Unit", ""}, {"start", "From cycle", "", 0}, {"end", "to", "", 0}};
    for (const ProcessSchedule& unit : simulation.schedule.processes) {
        figure.rows.push_back({{"unit", unit.name}, {"start", unit.first_start}, {"end", unit.finish}});
    }
    return figure;
}

Figure passes_figure(const sweeps::FpgaSimulation& simulation) {
    Figure figure;
    figure.id = "fpga-simulated-passes";
    figure.title = "Passes of a round, simulated";
    figure.reading = "All layers of all runs of a pass in a round; the table shows the closed form next to the simulation.";
    figure.mark = FigureMark::bar;
    figure.x = {"pass", "Pass"};
    figure.y = {"all", "Cycles per round"};
    figure.columns = {{"pass", "Pass", ""},
                      {"runs", "Runs", "", 0},
                      {"all", "Cycles per round", "", 0},
                      {"cycles", "Cycles per layer", "", 0},
                      {"closed", "By the closed form", "", 0},
                      {"difference", "Difference", "%", 3}};
    for (const sweeps::FpgaSimulatedPass& pass : simulation.passes) {
        figure.rows.push_back({{"pass", pass.name},
                               {"runs", pass.runs},
                               {"all", pass.runs * pass.layers * pass.cycles},
                               {"cycles", pass.cycles},
                               {"closed", pass.closed_form},
                               {"difference", 100.0 * (pass.closed_form / pass.cycles - 1.0)}});
    }
    return figure;
}

Figure waits_figure(const sweeps::FpgaSimulation& simulation) {
    Figure figure;
    figure.id = "fpga-simulated-waits";
    figure.title = "Cycles that units wait";
    figure.reading = "For lack of an element of the named stream, or because a full output stops the unit.";
    figure.mark = FigureMark::bar;
    figure.stacked = true;
    figure.x = {"unit", "Unit"};
    figure.y = {"cycles", "Cycles"};
    figure.series = "reason";
    figure.columns = {{"unit", "Unit", ""}, {"reason", "Waits for", ""}, {"cycles", "Cycles", "", 0}};
    for (const ProcessSchedule& unit : simulation.schedule.processes) {
        for (std::size_t i = 0; i < unit.waited_for.size(); ++i) {
            if (unit.waited_for[i] > 0) {
                figure.rows.push_back(
                    {{"unit", unit.name}, {"reason", simulation.schedule.streams[i].name}, {"cycles", unit.waited_for[i]}});
            }
        }
        if (unit.waited_full > 0) {
            figure.rows.push_back({{"unit", unit.name}, {"reason", "full output"}, {"cycles", unit.waited_full}});
        }
    }
    return figure;
}

Figure block_figure(const sweeps::FpgaSimulation& simulation) {
    const StreamSchedule& waiting = simulation.schedule.streams[static_cast<std::size_t>(simulation.trace.waiting)];
    Figure figure;
    figure.id = "fpga-simulated-fifo-block";
    figure.title = "Waiting states during the first block";
    figure.reading = "States of tokens whose children have not started, at the end of each cycle; later blocks repeat it.";
    figure.steps = true;
    figure.x = {"cycle", "Cycle of the block"};
    figure.y = {"held", "State tiles"};
    figure.columns = {{"cycle", "Cycle", "", 0}, {"held", "State tiles", "", 0}};
    figure.rules = {{static_cast<double>(waiting.depth_needed), "places needed"}};
    for (const auto& [cycle, held] : steps_of_first_block(simulation)) {
        figure.rows.push_back({{"cycle", cycle}, {"held", held}});
    }
    return figure;
}

Figure layer_figure(const sweeps::FpgaSimulation& simulation) {
    const std::int64_t stretch = stretch_of_layer(simulation);
    Figure figure;
    figure.id = "fpga-simulated-fifo-layer";
    figure.title = "FIFOs over the layer";
    figure.reading = fmt::format("The most that each FIFO holds in each stretch of {} cycles.", stretch);
    figure.steps = true;
    figure.x = {"cycle", "Cycle"};
    figure.y = {"held", "Elements"};
    figure.series = "fifo";
    figure.columns = {{"fifo", "FIFO", ""}, {"cycle", "From cycle", "", 0}, {"held", "Elements", "", 0}};
    for (const int id : fifos_of(simulation)) {
        const StreamSchedule& stream = simulation.schedule.streams[static_cast<std::size_t>(id)];
        std::int64_t cycle = 0;
        for (const int most : kernels::accelerator::most_held(stream, stretch, simulation.schedule.cycles)) {
            figure.rows.push_back({{"fifo", stream.name}, {"cycle", cycle}, {"held", most}});
            cycle += stretch;
        }
    }
    return figure;
}

}  // namespace

std::vector<int> fifos_of(const sweeps::FpgaSimulation& simulation) {
    return {simulation.trace.weights, simulation.trace.blocks, simulation.trace.waiting};
}

std::vector<std::pair<std::int64_t, int>> steps_of_first_block(const sweeps::FpgaSimulation& simulation) {
    const auto& streams = simulation.schedule.streams;
    const std::vector<std::int64_t>& begins = streams[static_cast<std::size_t>(simulation.trace.blocks)].read_cycles;
    const std::int64_t end = begins.size() > 1 ? begins[1] : simulation.schedule.cycles;
    std::vector<std::pair<std::int64_t, int>> steps = {{0, 0}};
    for (const auto& [cycle, held] :
         kernels::accelerator::occupancy(streams[static_cast<std::size_t>(simulation.trace.waiting)])) {
        if (cycle >= end) {
            break;
        }
        steps.emplace_back(cycle - begins.front(), held);
    }
    return steps;
}

std::int64_t stretch_of_layer(const sweeps::FpgaSimulation& simulation) {
    constexpr std::int64_t stretches = 200;
    return std::max<std::int64_t>(1, (simulation.schedule.cycles + stretches - 1) / stretches);
}

std::string fpga_simulation_html(const sweeps::FpgaSimulation& simulation) {
    FigurePage page;
    page.title = "Treeline: C-simulation of an accelerator";
    page.subtitle =
        fmt::format("{} on {}, {}", simulation.run.design.title, simulation.run.board.title, simulation.run.target.name);
    page.heading = "One layer";
    page.sentence = fmt::format("{} cycles simulated, {} by the closed form.",
                                text::grouped_text(static_cast<long long>(simulation.cycles())),
                                text::grouped_text(std::llround(simulation.closed_form.total)));
    page.sections = {{"fpga-units",
                      "Units",
                      "What works when, and what it waits for.",
                      {timeline_figure(simulation), waits_figure(simulation)}},
                     {"fpga-fifos",
                      "FIFOs",
                      "How full the memories between the units are.",
                      {block_figure(simulation), layer_figure(simulation)}},
                     {"fpga-round",
                      "The round",
                      "Drafting passes have their own tiles, and trees that never wait.",
                      {passes_figure(simulation)}}};
    return render_figures(page);
}

}  // namespace treeline::reports
