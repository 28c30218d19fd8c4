#include "reports/fpga/fpga_catalogue.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

std::string count_text(double count) { return text::grouped_text(std::llround(count)); }

Json or_null(double value) { return value > 0.0 ? Json(value) : Json(); }

}  // namespace

std::string boards_table(const std::vector<sim::fpga::Board>& boards) {
    text::TextTable table(
        {{"FPGA board", text::Align::left}, {"clock"}, {"bandwidth"}, {"memory"}, {"DSP"}, {"LUT"}, {"BRAM18"}, {"URAM"}});
    for (const sim::fpga::Board& board : boards) {
        table.add({board.name, text::engineering_text(board.clock_hz, "Hz"), text_of(board.bandwidth), text_of(board.memory),
                   count_text(board.resources.dsps), count_text(board.resources.luts), count_text(board.resources.bram18s),
                   count_text(board.resources.urams)});
    }
    return table.text();
}

std::string designs_table(const std::vector<sim::fpga::Design>& designs) {
    text::TextTable table({{"FPGA design", text::Align::left},
                           {"made for", text::Align::left},
                           {"tile"},
                           {"multipliers"},
                           {"lanes"},
                           {"FIFO"},
                           {"title", text::Align::left}});
    for (const sim::fpga::Design& design : designs) {
        table.add({design.name, design.board,
                   text::short_text(design.linear.tile_inputs) + " x " + text::short_text(design.linear.tile_outputs),
                   count_text(design.linear.multipliers()), text::short_text(design.ssm.lanes),
                   std::to_string(design.ssm.fifo_depth), design.title});
    }
    return table.text();
}

Json board_json(const sim::fpga::Board& board) {
    return {{"name", board.name},
            {"title", board.title},
            {"dsps", board.resources.dsps},
            {"luts", board.resources.luts},
            {"bram18s", board.resources.bram18s},
            {"urams", board.resources.urams},
            {"memory_gb", 1e-9 * board.memory.value()},
            {"bandwidth_gb_per_second", 1e-9 * board.bandwidth.value()},
            {"clock_mhz", 1e-6 * board.clock_hz},
            {"static_power_w", or_null(board.static_power.value())},
            {"price_dollars_per_hour", or_null(3600.0 * board.price.value())}};
}

Json design_json(const sim::fpga::Design& design) {
    return {{"name", design.name},
            {"title", design.title},
            {"board", design.board},
            {"clock_mhz", or_null(1e-6 * design.clock_hz)},
            {"tile_inputs", design.linear.tile_inputs},
            {"tile_outputs", design.linear.tile_outputs},
            {"tokens", design.linear.tokens},
            {"multipliers", design.linear.multipliers()},
            {"lanes", design.ssm.lanes},
            {"fifo_depth", design.ssm.fifo_depth},
            {"weight_bits", design.weights.bits_per_element()},
            {"state_bits", design.state.bits_per_element()},
            {"memory_efficiency", design.memory_efficiency}};
}

}  // namespace treeline::reports
