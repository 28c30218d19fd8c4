// The C-simulation of a layer as text, JSON and CSV.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/fpga/fpga_simulation_output.h"
#include "reports/json_rows.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;
using kernels::accelerator::ProcessSchedule;
using kernels::accelerator::StreamSchedule;

std::string count(double number) { return text::grouped_text(std::llround(number)); }

/// Cycles in which a unit starts an iteration or is between two iterations of one loop.
std::int64_t busy_cycles(const sweeps::FpgaSimulation& simulation, std::size_t process) {
    return simulation.schedule.processes[process].iterations *
           simulation.trace.trace.processes()[process].timing.initiation_interval;
}

/// What a unit waited for longest.
std::string longest_wait(const sweeps::FpgaSimulation& simulation, const ProcessSchedule& process) {
    const auto longest = std::max_element(process.waited_for.begin(), process.waited_for.end());
    return longest == process.waited_for.end() || *longest == 0
               ? ""
               : simulation.schedule.streams[static_cast<std::size_t>(longest - process.waited_for.begin())].name;
}

std::string configuration(const sweeps::FpgaSimulation& simulation) {
    const sweeps::FpgaRun& run = simulation.run;
    const kernels::accelerator::LayerPlan& plan = simulation.layer.plan;
    const kernels::accelerator::LayerDesign& design = simulation.layer.design;
    text::FactList facts;
    facts.add("Design", fmt::format("{} on {}", run.design.title, run.board.title));
    facts.add("Target", fmt::format("{}, one layer", run.target.name));
    facts.add("Tokens", fmt::format("{} of {}, {} recomputed before them", plan.parents.size(),
                                    run.speculates() ? "the tree " + run.tree_label : "plain decoding", simulation.replayed));
    facts.add("Weight tiles",
              fmt::format("{} for B, C and the first step sizes; {} for x and gate; {} for the output projection",
                          count(plan.coefficients.blocks * plan.coefficients.tiles),
                          count((plan.inputs.blocks + plan.gate_blocks) * plan.inputs.tiles),
                          count(plan.output.blocks * plan.output.tiles)));
    facts.add("State tiles", fmt::format("{} blocks of {}, {} in turn; {} of the lanes' work is padding", plan.inputs.blocks,
                                         plan.state_tiles, std::min(design.interleaved, plan.state_tiles),
                                         text::percent_text(simulation.closed_form.padded_state_share)));
    return facts.text();
}

std::string unit_table(const sweeps::FpgaSimulation& simulation) {
    text::TextTable table({{"Unit", text::Align::left},
                           {"iterations"},
                           {"busy cycles"},
                           {"busy"},
                           {"waits for input"},
                           {"held up by output"},
                           {"from"},
                           {"to"},
                           {"waits most for", text::Align::left}});
    for (std::size_t i = 0; i < simulation.schedule.processes.size(); ++i) {
        const ProcessSchedule& unit = simulation.schedule.processes[i];
        const auto busy = static_cast<double>(busy_cycles(simulation, i));
        table.add({unit.name, count(static_cast<double>(unit.iterations)), count(busy),
                   text::percent_text(busy / static_cast<double>(simulation.schedule.cycles)),
                   count(static_cast<double>(unit.waited_empty)), count(static_cast<double>(unit.waited_full)),
                   count(static_cast<double>(unit.first_start)), count(static_cast<double>(unit.finish)),
                   longest_wait(simulation, unit)});
    }
    return table.text();
}

std::string stream_table(const sweeps::FpgaSimulation& simulation) {
    text::TextTable table({{"FIFO", text::Align::left}, {"places"}, {"high-water"}, {"needed"}, {"elements"}});
    for (const int id : fifos_of(simulation)) {
        const StreamSchedule& stream = simulation.schedule.streams[static_cast<std::size_t>(id)];
        table.add({stream.name, count(stream.depth), count(stream.high_water), count(stream.depth_needed),
                   count(static_cast<double>(stream.elements))});
    }
    return table.text();
}

std::string comparison(const sweeps::FpgaSimulation& simulation) {
    text::FactList facts;
    facts.add("Simulated", fmt::format("{} cycles{}", count(simulation.cycles()),
                                       simulation.layer.exposed_cycles == 0
                                           ? ""
                                           : fmt::format(", {} of them in phases of the design that overlap nothing",
                                                         count(static_cast<double>(simulation.layer.exposed_cycles)))));
    facts.add("Closed form",
              fmt::format("{} cycles, {:+.3f} %", count(simulation.closed_form.total), 100.0 * simulation.difference()));
    facts.add("Simulation time", fmt::format("{} s", text::fixed_text(simulation.simulation_seconds, 2)));
    return facts.text();
}

std::string pass_table(const sweeps::FpgaSimulation& simulation) {
    text::TextTable table(
        {{"Pass of a round", text::Align::left}, {"runs"}, {"layers"}, {"simulated"}, {"closed form"}, {"difference"}});
    const auto add = [&](const std::string& name, const std::string& runs, const std::string& layers, double cycles,
                         double closed_form) {
        table.add({name, runs, layers, count(cycles), count(closed_form),
                   fmt::format("{:+.3f} %", 100.0 * (closed_form / cycles - 1.0))});
    };
    for (const sweeps::FpgaSimulatedPass& pass : simulation.passes) {
        add(pass.name, count(pass.runs), count(pass.layers), pass.cycles, pass.closed_form);
    }
    table.add_rule();
    add("all layers of a round", "", "", simulation.round_cycles(), simulation.round_closed_form());
    return "Cycles per layer\n" + table.text("  ");
}

Json pass_json(const sweeps::FpgaSimulatedPass& pass) {
    return {{"pass", pass.name},
            {"runs", pass.runs},
            {"layers", pass.layers},
            {"cycles", pass.cycles},
            {"closed_form_cycles", pass.closed_form}};
}

Json unit_json(const sweeps::FpgaSimulation& simulation, std::size_t process) {
    const ProcessSchedule& unit = simulation.schedule.processes[process];
    Json waits = Json::object();
    for (std::size_t i = 0; i < unit.waited_for.size(); ++i) {
        if (unit.waited_for[i] > 0) {
            waits[simulation.schedule.streams[i].name] = unit.waited_for[i];
        }
    }
    return {{"unit", unit.name},
            {"iterations", unit.iterations},
            {"busy_cycles", busy_cycles(simulation, process)},
            {"first_cycle", unit.first_start},
            {"last_cycle", unit.finish},
            {"waited_for_input_cycles", unit.waited_empty},
            {"waited_for_input", waits},
            {"held_up_by_output_cycles", unit.waited_full}};
}

Json units_json(const sweeps::FpgaSimulation& simulation) {
    Json units = Json::array();
    for (std::size_t i = 0; i < simulation.schedule.processes.size(); ++i) {
        units.push_back(unit_json(simulation, i));
    }
    return units;
}

}  // namespace

std::string fpga_simulation_table(const sweeps::FpgaSimulation& simulation) {
    return configuration(simulation) + "\n" + unit_table(simulation) + "\n" + stream_table(simulation) + "\n" +
           comparison(simulation) + "\n" + pass_table(simulation);
}

nlohmann::ordered_json fpga_simulation_json(const sweeps::FpgaSimulation& simulation, const Json& echo) {
    const kernels::accelerator::Schedule& schedule = simulation.schedule;
    Json streams = Json::array(), passes = Json::array();
    for (const sweeps::FpgaSimulatedPass& pass : simulation.passes) {
        passes.push_back(pass_json(pass));
    }
    const std::int64_t stretch = stretch_of_layer(simulation);
    for (const int id : fifos_of(simulation)) {
        const StreamSchedule& stream = schedule.streams[static_cast<std::size_t>(id)];
        Json one = {{"fifo", stream.name},
                    {"places", stream.depth},
                    {"high_water", stream.high_water},
                    {"places_needed", stream.depth_needed},
                    {"elements", stream.elements},
                    {"over_layer",
                     {{"cycles_a_stretch", stretch},
                      {"most_held", kernels::accelerator::most_held(stream, stretch, schedule.cycles)}}}};
        if (id == simulation.trace.waiting) {
            Json cycles = Json::array(), held = Json::array();
            for (const auto& [cycle, number] : steps_of_first_block(simulation)) {
                cycles.push_back(cycle);
                held.push_back(number);
            }
            one["first_block"] = {{"cycle", cycles}, {"held", held}};
        }
        streams.push_back(one);
    }
    return {{"format", "treeline-fpga-simulation"},
            {"version", 1},
            {"input", echo},
            {"design", simulation.run.design.name},
            {"board", simulation.run.board.name},
            {"target", simulation.run.target.name},
            {"tokens", simulation.layer.plan.parents.size()},
            {"replayed", simulation.replayed},
            {"cycles", simulation.cycles()},
            {"exposed_cycles", simulation.layer.exposed_cycles},
            {"closed_form_cycles", simulation.closed_form.total},
            {"closed_form_difference", simulation.difference()},
            {"padded_state_share", simulation.closed_form.padded_state_share},
            {"units", units_json(simulation)},
            {"fifos", streams},
            {"passes", passes},
            {"round_layer_cycles", simulation.round_cycles()},
            {"round_layer_closed_form_cycles", simulation.round_closed_form()}};
}

std::string fpga_simulation_csv(const sweeps::FpgaSimulation& simulation) {
    return csv_of({"unit", "iterations", "busy_cycles", "first_cycle", "last_cycle", "waited_for_input_cycles",
                   "held_up_by_output_cycles"},
                  units_json(simulation));
}

}  // namespace treeline::reports
