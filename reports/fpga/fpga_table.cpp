// The estimate of an accelerator as text.
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/fpga/fpga_output.h"
#include "reports/provenance_output.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

std::string cycles_text(double cycles) { return text::grouped_text(std::llround(cycles)); }

std::string configuration(const sweeps::FpgaEstimate& estimate) {
    const sweeps::FpgaRun& run = estimate.run;
    const sim::fpga::Design& design = run.design;
    text::FactList facts;
    facts.add("Board", fmt::format("{} ({} of memory bandwidth, {} reached)", run.board.title, text_of(run.board.bandwidth),
                                   text::percent_text(design.memory_efficiency)));
    facts.add("Design", fmt::format("{}: tile {} x {}, {} multipliers, {} SSM lanes, {} MHz", design.title,
                                    text::short_text(design.linear.tile_inputs), text::short_text(design.linear.tile_outputs),
                                    cycles_text(design.linear.multipliers()), text::short_text(design.ssm.lanes),
                                    text::short_text(sim::fpga::clock_of(run.board, design) / 1e6)));
    for (const std::string& change : run.changes) {
        facts.add("Changed", change);
    }
    facts.add("Formats", fmt::format("weights {} bits, states {} bits per element, scales included",
                                     text::short_text(design.weights.bits_per_element()),
                                     text::short_text(design.state.bits_per_element())));
    facts.add("Target", run.target.name);
    if (run.speculates()) {
        facts.add("Drafter", run.drafter->name);
        facts.add("Tree", fmt::format("{}: {:.0f} verified tokens with the root, {:.0f} drafting passes", run.tree_label,
                                      estimate.work.verified_tokens, estimate.round.draft_passes));
        const std::string source = run.accept_source.empty() ? "" : " (" + run.accept_source + ")";
        facts.add("Accept length",
                  text::wrapped(text::fixed_text(run.accept_length, 2) + source, fpga_page_width - 16, "               "));
        facts.add("Backtracking",
                  fmt::format("{}, states of the tree {}", name_of(run.options.plan),
                              run.options.tree_states == sim::fpga::TreeStates::fifo ? "in the FIFO" : "off chip"));
    }
    facts.add("Overlap", design.overlap ? "Linear and SSM unit overlap" : "Linear and SSM unit in turn");
    return facts.text();
}

std::string gains(const sweeps::FpgaEstimate& estimate) {
    const sim::fpga::RoundCost& round = estimate.round;
    text::FactList facts;
    facts.add("Tokens/s", text::fixed_text(round.tokens_per_second, 2));
    if (estimate.run.speculates()) {
        facts.add("Speed-up", text::ratio_text(round.speedup));
        facts.add("Break-even accept length", text::fixed_text(round.break_even_accept_length, 2));
    }
    const sim::fpga::PowerParts& power = round.power;
    const bool knows_power = power.total().value() > 0.0;
    facts.add("Power", knows_power ? fmt::format("{}: {} leakage, {} clocked DSPs and fabric, {} memory traffic, {} products",
                                                 text_of(power.total()), text_of(power.leakage), text_of(power.clocked),
                                                 text_of(power.memory), text_of(power.products))
                                   : std::string(text::unknown_text));
    facts.add("Tokens/J", knows_power ? text::fixed_text(round.tokens_per_joule, 2) : std::string(text::unknown_text));
    return facts.text();
}

std::string round_table(const sweeps::FpgaEstimate& estimate) {
    text::TextTable table({{"Pass", text::Align::left},
                           {"runs"},
                           {"time"},
                           {"compute"},
                           {"memory"},
                           {"exposed"},
                           {"bound", text::Align::left},
                           {"weights"},
                           {"LM head"},
                           {"states"},
                           {"cache"}});
    for (const sweeps::FpgaNamedPass& pass : sweeps::passes_of(estimate)) {
        const sim::fpga::PassCost& cost = *pass.cost;
        table.add({pass.name, text::short_text(pass.runs), text_of(cost.time), text_of(cost.compute), text_of(cost.memory),
                   text_of(cost.exposed), std::string(name_of(cost.bound)), text_of(cost.bytes.weights),
                   text_of(cost.bytes.head), text_of(cost.bytes.states + cost.bytes.exposed_states),
                   text_of(cost.bytes.activations)});
    }
    table.add_rule();
    table.add({"a round", "", text_of(estimate.round.time)});
    return "Passes of a round (bytes of one pass)\n" + table.text("  ");
}

std::string layer_table(const sweeps::FpgaEstimate& estimate) {
    const std::vector<sweeps::FpgaNamedPass> passes = sweeps::passes_of(estimate);
    std::vector<text::Column> columns = {{"Cycles per layer", text::Align::left}};
    for (const sweeps::FpgaNamedPass& pass : passes) {
        columns.push_back({pass.name});
    }
    text::TextTable table(columns);
    const auto add = [&](const char* name, auto value) {
        std::vector<std::string> cells = {name};
        for (const sweeps::FpgaNamedPass& pass : passes) {
            cells.push_back(value(pass.cost->layer));
        }
        table.add(std::move(cells));
    };
    using Layer = sim::fpga::LayerCycles;
    for (std::size_t i = 0; i < sweeps::terms_of(passes.front().cost->layer).size(); ++i) {
        add(sweeps::terms_of(passes.front().cost->layer)[i].name,
            [i](const Layer& layer) { return cycles_text(sweeps::terms_of(layer)[i].cycles); });
    }
    table.add_rule();
    add("total", [](const Layer& layer) { return cycles_text(layer.total); });
    table.add_rule();
    add("Tile: array", [](const Layer& layer) { return text::fixed_text(layer.in_stream.array_cycles, 2); });
    add("Tile: memory", [](const Layer& layer) { return text::fixed_text(layer.in_stream.memory_cycles, 2); });
    add("Tile: multipliers", [](const Layer& layer) { return text::fixed_text(layer.in_stream.multiplier_cycles, 2); });
    add("  the longest", [](const Layer& layer) { return std::string(name_of(layer.in_stream.bound)); });
    add("Scan: Linear unit", [](const Layer& layer) { return cycles_text(layer.scan_linear); });
    add("Scan: SSM unit", [](const Layer& layer) { return cycles_text(layer.ssm_busy); });
    add("  of that replay", [](const Layer& layer) { return cycles_text(layer.replay); });
    add("Scan: convolution", [](const Layer& layer) { return cycles_text(layer.convolution_busy); });
    add("  the longest", [](const Layer& layer) { return std::string(name_of(layer.bound)); });
    add("Linear unit idle", [](const Layer& layer) { return cycles_text(layer.linear_stall); });
    add("SSM unit idle", [](const Layer& layer) { return cycles_text(layer.ssm_stall); });
    add("Padding of in_proj", [](const Layer& layer) { return text::percent_text(layer.in_stream.padded_share); });
    add("Padding of out_proj", [](const Layer& layer) { return text::percent_text(layer.out_stream.padded_share); });
    add("Padding of the scan", [](const Layer& layer) { return text::percent_text(layer.padded_state_share); });
    return table.text("  ");
}

std::string fifo_text(const sweeps::FpgaEstimate& estimate) {
    const sim::fpga::IssueSchedule& schedule = estimate.work.schedule;
    return fmt::format(
        "Tree FIFO: at most {} of {} tiles, {} needed; {} of {} cycles of a tile group lost to parents that are not done.\n",
        schedule.fifo_high_water, estimate.run.design.ssm.fifo_depth, schedule.fifo_depth_needed, schedule.stall_cycles,
        schedule.cycles);
}

std::string resource_table(const sweeps::FpgaEstimate& estimate) {
    text::TextTable table({{"Resources", text::Align::left}, {"DSP"}, {"LUT"}, {"BRAM18"}, {"URAM"}});
    const auto add = [&](const std::string& name, const sim::fpga::Resources& used) {
        table.add({name, cycles_text(used.dsps), cycles_text(used.luts), cycles_text(used.bram18s), cycles_text(used.urams)});
    };
    for (const sim::fpga::UnitUse& unit : estimate.resources.units) {
        add(unit.unit, unit.used);
    }
    table.add_rule();
    const sim::fpga::Resources& used = estimate.resources.total;
    const sim::fpga::Resources& there = estimate.run.board.resources;
    add("total", used);
    add("board", there);
    const auto share = [](double of, double all) { return all > 0.0 ? text::percent_text(of / all) : ""; };
    table.add({"used", share(used.dsps, there.dsps), share(used.luts, there.luts), share(used.bram18s, there.bram18s),
               share(used.urams, there.urams)});
    return table.text("  ");
}

}  // namespace

std::string fpga_table(const sweeps::FpgaEstimate& estimate) {
    std::string text = text::wrapped(sentence_of(estimate), fpga_page_width) + "\n\n";
    text += configuration(estimate) + "\n" + gains(estimate) + "\n";
    text += round_table(estimate) + "\n" + layer_table(estimate) + "\n";
    text += (estimate.run.speculates() ? fifo_text(estimate) + "\n" : "") + resource_table(estimate) + "\n";
    text +=
        fmt::format("Memory: {} of {} for weights and states.\n", text_of(estimate.memory), text_of(estimate.run.board.memory));
    return text + "Inputs: " + provenance_summary(estimate.run.provenance) + "; --format json lists each with its source.\n";
}

std::string fpga_csv(const sweeps::FpgaEstimate& estimate) {
    std::string text = text::csv_line({"pass", "runs", "term", "cycles_of_a_layer"});
    for (const sweeps::FpgaNamedPass& pass : sweeps::passes_of(estimate)) {
        for (const sweeps::FpgaTerm& term : sweeps::terms_of(pass.cost->layer)) {
            text += text::csv_line({pass.name, text::exact_text(pass.runs), term.name, text::exact_text(term.cycles)});
        }
    }
    return text;
}

}  // namespace treeline::reports
