#include "reports/fpga/fpga_catalogue.h"

#include <nlohmann/json.hpp>

#include "text/number_text.h"
#include "text/table.h"

namespace treeline {
namespace {

using Json = nlohmann::ordered_json;

std::string count_text(double count) { return grouped_text(static_cast<long long>(count + 0.5)); }

Json or_null(double value) { return value > 0.0 ? Json(value) : Json(); }

}  // namespace

std::string boards_table(const std::vector<fpga::Board>& boards) {
    TextTable table(
        {{"FPGA board", Align::left}, {"clock"}, {"bandwidth"}, {"memory"}, {"DSP"}, {"LUT"}, {"BRAM18"}, {"URAM"}});
    for (const fpga::Board& board : boards) {
        table.add({board.name, engineering_text(board.clock_hz, "Hz"), text_of(board.bandwidth), text_of(board.memory),
                   count_text(board.resources.dsps), count_text(board.resources.luts), count_text(board.resources.bram18s),
                   count_text(board.resources.urams)});
    }
    return table.text();
}

std::string designs_table(const std::vector<fpga::Design>& designs) {
    TextTable table({{"FPGA design", Align::left},
                     {"made for", Align::left},
                     {"tile"},
                     {"multipliers"},
                     {"lanes"},
                     {"FIFO"},
                     {"title", Align::left}});
    for (const fpga::Design& design : designs) {
        table.add({design.name, design.board,
                   short_text(design.linear.tile_inputs) + " x " + short_text(design.linear.tile_outputs),
                   count_text(design.linear.multipliers()), short_text(design.ssm.lanes), std::to_string(design.ssm.fifo_depth),
                   design.title});
    }
    return table.text();
}

Json board_json(const fpga::Board& board) {
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

Json design_json(const fpga::Design& design) {
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

}  // namespace treeline
