// The estimate of an accelerator as a page of charts.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "reports/figure.h"
#include "reports/fpga/fpga_output.h"
#include "sim/fpga/ablation.h"
#include "text/number_text.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

Figure breakdown_figure(const sweeps::FpgaEstimate& estimate) {
    Figure figure;
    figure.id = "fpga-cycles";
    figure.title = "Cycles per layer";
    figure.reading = "Each bar is one layer of a pass, in time order from bottom to top.";
    figure.mark = FigureMark::bar;
    figure.stacked = true;
    figure.x = {"pass", "Pass"};
    figure.y = {"cycles", "Cycles per layer"};
    figure.series = "term";
    figure.columns = {{"pass", "Pass", ""}, {"term", "Term", ""}, {"cycles", "Cycles", "", 0}};
    for (const sweeps::FpgaNamedPass& pass : sweeps::passes_of(estimate)) {
        for (const sweeps::FpgaTerm& term : sweeps::terms_of(pass.cost->layer)) {
            if (term.cycles > 0.0) {
                figure.rows.push_back({{"pass", pass.name}, {"term", term.name}, {"cycles", term.cycles}});
            }
        }
    }
    return figure;
}

/// When each unit works in a layer of the verification (or of plain decoding).
Figure timeline_figure(const sweeps::FpgaEstimate& estimate) {
    const sim::fpga::LayerCycles& layer = estimate.round.verify.layer;
    Figure figure;
    figure.id = "fpga-timeline";
    figure.title = "Units at work in one layer of the verification";
    figure.reading = "Bars above each other overlap; the gated norm waits for the whole scan, and out_proj for the norm.";
    figure.mark = FigureMark::range;
    figure.x = {"start", "Cycle"};
    figure.y = {"unit", "Unit"};
    figure.end = "end";
    figure.series = "work";
    figure.columns = {{"unit", "Unit", ""}, {"work", "Work", ""}, {"start", "From cycle", "", 0}, {"end", "to", "", 0}};
    const auto add = [&](const char* unit, const char* work, double start, double cycles) {
        if (cycles > 0.0) {
            figure.rows.push_back({{"unit", unit}, {"work", work}, {"start", start}, {"end", start + cycles}});
        }
    };
    const bool overlap = estimate.run.design.overlap;
    double at = 0.0;
    add("Norms", "norm", at, layer.norm + layer.norm_overhead);
    at += layer.norm + layer.norm_overhead;
    add("Linear unit", "B, C, first step sizes", at, layer.preamble);
    at += layer.preamble;
    const double end_of_scan = at + layer.scan;
    add("Linear unit", "x and gate", at, layer.scan_linear);
    // Blocks of x reach the other units one by one; each unit is drawn from its first block to its last.
    add("Convolution", "convolution", overlap ? at : at + layer.scan_linear,
        overlap ? std::max(layer.scan_linear, layer.convolution_busy) : layer.convolution_busy);
    const double scan_start = overlap ? at + sim::fpga::linear_latency + layer.in_stream.block_cycles()
                                      : at + layer.scan_linear + layer.convolution_busy;
    const double busy_share = layer.ssm_busy / (end_of_scan - scan_start);
    add("SSM unit", busy_share < 0.995 && overlap ? "scan, waiting for blocks in between" : "scan", scan_start,
        end_of_scan - scan_start);
    at = end_of_scan;
    add("Norms", "gated norm", at, layer.gated_norm);
    at += layer.gated_norm;
    add("Linear unit", "out_proj", at, layer.out_projection);
    return figure;
}

Figure fifo_figure(const sweeps::FpgaEstimate& estimate) {
    Figure figure;
    figure.id = "fpga-fifo";
    figure.title = "State tiles in the FIFO";
    figure.reading = fmt::format("One group of {} interleaved tiles through the tree; the next group repeats it.",
                                 estimate.run.design.ssm.rules.interleave);
    figure.mark = FigureMark::line;
    figure.steps = true;
    figure.x = {"cycle", "Cycle"};
    figure.y = {"tiles", "State tiles queued"};
    figure.columns = {{"cycle", "Cycle", "", 0}, {"tiles", "Tiles", "", 0}};
    const std::vector<int> queued =
        sim::fpga::fifo_occupancy(sim::fpga::verified_parents(estimate.run.tree), estimate.run.design.ssm.rules);
    for (std::size_t cycle = 0; cycle < queued.size(); ++cycle) {
        figure.rows.push_back({{"cycle", cycle}, {"tiles", queued[cycle]}});
    }
    figure.rules = {{static_cast<double>(estimate.work.schedule.fifo_depth_needed), "shallowest FIFO without deadlock"}};
    return figure;
}

Figure resource_figure(const sweeps::FpgaEstimate& estimate) {
    Figure figure;
    figure.id = "fpga-resources";
    figure.title = "Share of the board that each unit takes";
    figure.reading = "Designs above about 70 % of the DSPs or LUTs seldom route.";
    figure.mark = FigureMark::bar;
    figure.stacked = true;
    figure.x = {"resource", "Resource"};
    figure.y = {"percent", "Share of the board (%)"};
    figure.series = "unit";
    figure.rules = {{70.0, "routable"}};
    figure.columns = {
        {"resource", "Resource", ""}, {"unit", "Unit", ""}, {"used", "Used", "", 0}, {"percent", "Share", "%", 1}};
    const sim::fpga::Resources& board = estimate.run.board.resources;
    sim::fpga::UnitUse buffers = {"buffers", {}};
    std::vector<sim::fpga::UnitUse> units;
    for (const sim::fpga::UnitUse& unit : estimate.resources.units) {
        if (unit.unit.starts_with("buffer: ")) {
            buffers.used.bram18s += unit.used.bram18s;
            buffers.used.urams += unit.used.urams;
        } else {
            units.push_back(unit);
        }
    }
    units.push_back(buffers);
    for (const sim::fpga::UnitUse& unit : units) {
        const auto add = [&](const char* resource, double used, double there) {
            if (used > 0.0 && there > 0.0) {
                figure.rows.push_back(
                    {{"resource", resource}, {"unit", unit.unit}, {"used", used}, {"percent", 100.0 * used / there}});
            }
        };
        add("DSP", unit.used.dsps, board.dsps);
        add("LUT", unit.used.luts, board.luts);
        add("BRAM18", unit.used.bram18s, board.bram18s);
        add("URAM", unit.used.urams, board.urams);
    }
    return figure;
}

/// Of a bar: names must fit below it.
const char* short_name_of(sim::fpga::AblationStage stage) {
    switch (stage) {
        case sim::fpga::AblationStage::plain:
            return "plain";
        case sim::fpga::AblationStage::naive:
            return "naive";
        case sim::fpga::AblationStage::hybrid_backtracking:
            return "+ T1";
        case sim::fpga::AblationStage::fifo_tree:
            return "+ T2";
        case sim::fpga::AblationStage::overlap:
            break;
    }
    return "+ T3";
}

const char* unit_of(sim::fpga::LayerBound bound) {
    return bound == sim::fpga::LayerBound::linear ? "Linear unit"
           : bound == sim::fpga::LayerBound::ssm  ? "SSM unit"
                                                  : "convolution";
}

const char* cause_of(sim::fpga::TileBound bound) {
    return bound == sim::fpga::TileBound::array    ? "nothing else: the array takes one tile per cycle"
           : bound == sim::fpga::TileBound::memory ? "the memory"
                                                   : "the multipliers, which serve the tokens in turn";
}

Figure ablation_figure(const sweeps::FpgaEstimate& estimate) {
    Figure figure;
    figure.id = "fpga-ablation";
    figure.title = "What each technique gains";
    figure.reading = "Each bar includes the techniques of the bars before it.";
    figure.mark = FigureMark::bar;
    figure.x = {"bar", "Stage"};
    figure.y = {"rate", "Tokens/s"};
    figure.columns = {
        {"stage", "Stage", ""}, {"rate", "Tokens/s", "", 2}, {"gain", "Gain", "×", 2}, {"energy_gain", "Energy gain", "×", 2}};
    const sweeps::FpgaRun& run = estimate.run;
    for (const sim::fpga::AblationRow& row :
         sim::fpga::ablation(run.board, run.design, run.target.shape, run.drafter->shape, run.tree, run.accept_length)) {
        figure.rows.push_back({{"bar", short_name_of(row.stage)},
                               {"stage", name_of(row.stage)},
                               {"rate", row.round.tokens_per_second},
                               {"gain", row.latency_gain},
                               {"energy_gain", row.energy_gain}});
    }
    return figure;
}

/// Power of each stage by cause; empty if unknown.
Figure power_figure(const sweeps::FpgaEstimate& estimate) {
    Figure figure;
    figure.id = "fpga-power";
    figure.title = "Where the power goes";
    figure.reading = "At the rate of each stage; tokens per joule are in the table.";
    figure.mark = FigureMark::bar;
    figure.stacked = true;
    figure.x = {"bar", "Stage"};
    figure.y = {"watts", "Power (W)"};
    figure.series = "cause";
    figure.columns = {{"stage", "Stage", ""},
                      {"cause", "Cause", ""},
                      {"watts", "Power", "W", 2},
                      {"tokens_per_joule", "Tokens/J", "", 2},
                      {"energy_gain", "Energy gain", "×", 2}};
    const sweeps::FpgaRun& run = estimate.run;
    for (const sim::fpga::AblationRow& row :
         sim::fpga::ablation(run.board, run.design, run.target.shape, run.drafter->shape, run.tree, run.accept_length)) {
        const sim::fpga::PowerParts& power = row.round.power;
        const std::array parts = {std::pair{"leakage", power.leakage}, std::pair{"clocked DSPs and fabric", power.clocked},
                                  std::pair{"memory traffic", power.memory}, std::pair{"products", power.products}};
        for (const auto& [cause, watts] : parts) {
            figure.rows.push_back({{"bar", short_name_of(row.stage)},
                                   {"stage", name_of(row.stage)},
                                   {"cause", cause},
                                   {"watts", watts.value()},
                                   {"tokens_per_joule", row.round.tokens_per_joule},
                                   {"energy_gain", row.energy_gain}});
        }
    }
    return figure;
}

}  // namespace

std::vector<FigureSection> fpga_sections(const sweeps::FpgaEstimate& estimate) {
    std::vector<FigureSection> sections;
    FigureSection cycles = {"fpga-layer", "Where the cycles go", "", {breakdown_figure(estimate), timeline_figure(estimate)}};
    cycles.text =
        fmt::format("In the verification the {} sets the pace of the scan; a tile of weights waits for {}.",
                    unit_of(estimate.round.verify.layer.bound), cause_of(estimate.round.verify.layer.in_stream.bound));
    sections.push_back(std::move(cycles));
    if (estimate.run.speculates()) {
        sections.push_back({"fpga-tree", "The tree on the chip", "", {fifo_figure(estimate)}});
        FigureSection techniques = {"fpga-techniques", "The three techniques", "", {ablation_figure(estimate)}};
        if (sim::fpga::knows_power(estimate.run.board, estimate.run.design)) {
            techniques.figures.push_back(power_figure(estimate));
        }
        sections.push_back(std::move(techniques));
    }
    sections.push_back({"fpga-board", "The board", "", {resource_figure(estimate)}});
    return sections;
}

std::string fpga_html(const sweeps::FpgaEstimate& estimate) {
    FigurePage page;
    page.title = estimate.run.title.empty() ? estimate.run.design.title : estimate.run.title;
    page.subtitle = fmt::format("{}, {}", estimate.run.design.title, estimate.run.board.title);
    page.heading = "Accelerator";
    page.sentence = sentence_of(estimate);
    page.sections = fpga_sections(estimate);
    return render_figures(page);
}

}  // namespace treeline::reports
