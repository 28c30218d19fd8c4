// The estimate of an accelerator as text.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/fpga/fpga_output.h"
#include "reports/provenance_output.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline {
namespace {

std::string cycles_text(double cycles) { return grouped_text(static_cast<long long>(cycles + 0.5)); }

std::string configuration(const FpgaEstimate& estimate) {
    const FpgaRun& run = estimate.run;
    const fpga::Design& design = run.design;
    FactList facts;
    facts.add("Board", fmt::format("{} ({} of memory bandwidth, {} reached)", run.board.title, text_of(run.board.bandwidth),
                                   percent_text(design.memory_efficiency)));
    facts.add("Design", fmt::format("{}: tile {} x {}, {} multipliers, {} SSM lanes, {} MHz", design.title,
                                    short_text(design.linear.tile_inputs), short_text(design.linear.tile_outputs),
                                    cycles_text(design.linear.multipliers()), short_text(design.ssm.lanes),
                                    short_text(fpga::clock_of(run.board, design) / 1e6)));
    for (const std::string& change : run.changes) {
        facts.add("Changed", change);
    }
    facts.add("Formats",
              fmt::format("weights {} bits, states {} bits per element, scales included",
                          short_text(design.weights.bits_per_element()), short_text(design.state.bits_per_element())));
    facts.add("Target", run.target.name);
    if (run.speculates()) {
        facts.add("Drafter", run.drafter->name);
        facts.add("Tree", fmt::format("{}: {:.0f} verified tokens with the root, {:.0f} drafting passes", run.tree_label,
                                      estimate.work.verified_tokens, estimate.round.draft_passes));
        const std::string source = run.accept_source.empty() ? "" : " (" + run.accept_source + ")";
        facts.add("Accept length", wrapped(fixed_text(run.accept_length, 2) + source, fpga_page_width - 16, "               "));
        facts.add("Backtracking", fmt::format("{}, states of the tree {}", name_of(run.options.plan),
                                              run.options.tree_states == fpga::TreeStates::fifo ? "in the FIFO" : "off chip"));
    }
    facts.add("Overlap", design.overlap ? "Linear and SSM unit overlap" : "Linear and SSM unit in turn");
    return facts.text();
}

std::string gains(const FpgaEstimate& estimate) {
    const fpga::RoundCost& round = estimate.round;
    FactList facts;
    facts.add("Tokens/s", fixed_text(round.tokens_per_second, 2));
    if (estimate.run.speculates()) {
        facts.add("Speed-up", ratio_text(round.speedup));
        facts.add("Break-even accept length", fixed_text(round.break_even_accept_length, 2));
    }
    const fpga::PowerParts& power = round.power;
    const bool knows_power = power.total().value() > 0.0;
    facts.add("Power", knows_power ? fmt::format("{}: {} leakage, {} clocked DSPs and fabric, {} memory traffic, {} products",
                                                 text_of(power.total()), text_of(power.leakage), text_of(power.clocked),
                                                 text_of(power.memory), text_of(power.products))
                                   : std::string(unknown_text));
    facts.add("Tokens/J", knows_power ? fixed_text(round.tokens_per_joule, 2) : std::string(unknown_text));
    return facts.text();
}

std::string round_table(const FpgaEstimate& estimate) {
    TextTable table({{"Pass", Align::left},
                     {"runs"},
                     {"time"},
                     {"compute"},
                     {"memory"},
                     {"exposed"},
                     {"bound", Align::left},
                     {"weights"},
                     {"LM head"},
                     {"states"},
                     {"cache"}});
    for (const FpgaNamedPass& pass : passes_of(estimate)) {
        const fpga::PassCost& cost = *pass.cost;
        table.add({pass.name, short_text(pass.runs), text_of(cost.time), text_of(cost.compute), text_of(cost.memory),
                   text_of(cost.exposed), std::string(name_of(cost.bound)), text_of(cost.bytes.weights),
                   text_of(cost.bytes.head), text_of(cost.bytes.states + cost.bytes.exposed_states),
                   text_of(cost.bytes.activations)});
    }
    table.add_rule();
    table.add({"a round", "", text_of(estimate.round.time)});
    return "Passes of a round (bytes of one pass)\n" + table.text("  ");
}

std::string layer_table(const FpgaEstimate& estimate) {
    const std::vector<FpgaNamedPass> passes = passes_of(estimate);
    std::vector<Column> columns = {{"Cycles per layer", Align::left}};
    for (const FpgaNamedPass& pass : passes) {
        columns.push_back({pass.name});
    }
    TextTable table(columns);
    const auto add = [&](const char* name, auto value) {
        std::vector<std::string> cells = {name};
        for (const FpgaNamedPass& pass : passes) {
            cells.push_back(value(pass.cost->layer));
        }
        table.add(std::move(cells));
    };
    using Layer = fpga::LayerCycles;
    for (std::size_t i = 0; i < terms_of(passes.front().cost->layer).size(); ++i) {
        add(terms_of(passes.front().cost->layer)[i].name,
            [i](const Layer& layer) { return cycles_text(terms_of(layer)[i].cycles); });
    }
    table.add_rule();
    add("total", [](const Layer& layer) { return cycles_text(layer.total); });
    table.add_rule();
    add("Tile: array", [](const Layer& layer) { return fixed_text(layer.in_stream.array_cycles, 2); });
    add("Tile: memory", [](const Layer& layer) { return fixed_text(layer.in_stream.memory_cycles, 2); });
    add("Tile: multipliers", [](const Layer& layer) { return fixed_text(layer.in_stream.multiplier_cycles, 2); });
    add("  the longest", [](const Layer& layer) { return std::string(name_of(layer.in_stream.bound)); });
    add("Scan: Linear unit", [](const Layer& layer) { return cycles_text(layer.scan_linear); });
    add("Scan: SSM unit", [](const Layer& layer) { return cycles_text(layer.ssm_busy); });
    add("  of that replay", [](const Layer& layer) { return cycles_text(layer.replay); });
    add("Scan: convolution", [](const Layer& layer) { return cycles_text(layer.convolution_busy); });
    add("  the longest", [](const Layer& layer) { return std::string(name_of(layer.bound)); });
    add("Linear unit idle", [](const Layer& layer) { return cycles_text(layer.linear_stall); });
    add("SSM unit idle", [](const Layer& layer) { return cycles_text(layer.ssm_stall); });
    add("Padding of in_proj", [](const Layer& layer) { return percent_text(layer.in_stream.padded_share); });
    add("Padding of out_proj", [](const Layer& layer) { return percent_text(layer.out_stream.padded_share); });
    add("Padding of the scan", [](const Layer& layer) { return percent_text(layer.padded_state_share); });
    return table.text("  ");
}

std::string fifo_text(const FpgaEstimate& estimate) {
    const fpga::IssueSchedule& schedule = estimate.work.schedule;
    return fmt::format(
        "Tree FIFO: at most {} of {} tiles, {} needed; {} of {} cycles of a tile group lost to parents that are not done.\n",
        schedule.fifo_high_water, estimate.run.design.ssm.fifo_depth, schedule.fifo_depth_needed, schedule.stall_cycles,
        schedule.cycles);
}

std::string resource_table(const FpgaEstimate& estimate) {
    TextTable table({{"Resources", Align::left}, {"DSP"}, {"LUT"}, {"BRAM18"}, {"URAM"}});
    const auto add = [&](const std::string& name, const fpga::Resources& used) {
        table.add({name, cycles_text(used.dsps), cycles_text(used.luts), cycles_text(used.bram18s), cycles_text(used.urams)});
    };
    for (const fpga::UnitUse& unit : estimate.resources.units) {
        add(unit.unit, unit.used);
    }
    table.add_rule();
    const fpga::Resources& used = estimate.resources.total;
    const fpga::Resources& there = estimate.run.board.resources;
    add("total", used);
    add("board", there);
    const auto share = [](double of, double all) { return all > 0.0 ? percent_text(of / all) : ""; };
    table.add({"used", share(used.dsps, there.dsps), share(used.luts, there.luts), share(used.bram18s, there.bram18s),
               share(used.urams, there.urams)});
    return table.text("  ");
}

}  // namespace

std::string fpga_table(const FpgaEstimate& estimate) {
    std::string text = wrapped(sentence_of(estimate), fpga_page_width) + "\n\n";
    text += configuration(estimate) + "\n" + gains(estimate) + "\n";
    text += round_table(estimate) + "\n" + layer_table(estimate) + "\n";
    text += (estimate.run.speculates() ? fifo_text(estimate) + "\n" : "") + resource_table(estimate) + "\n";
    text +=
        fmt::format("Memory: {} of {} for weights and states.\n", text_of(estimate.memory), text_of(estimate.run.board.memory));
    return text + "Inputs: " + provenance_summary(estimate.run.provenance) + "; --format json lists each with its source.\n";
}

std::string fpga_csv(const FpgaEstimate& estimate) {
    std::string text = csv_line({"pass", "runs", "term", "cycles_of_a_layer"});
    for (const FpgaNamedPass& pass : passes_of(estimate)) {
        for (const FpgaTerm& term : terms_of(pass.cost->layer)) {
            text += csv_line({pass.name, exact_text(pass.runs), term.name, exact_text(term.cycles)});
        }
    }
    return text;
}

}  // namespace treeline
