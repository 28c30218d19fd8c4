// The parameters of kernel laws by name: what files hold, tables show and fits vary.
#include "sim/kernel_law.h"

namespace treeline {
namespace {

template <std::size_t i>
KernelParameter knot(std::string_view name) {
    return {name,
            "rows",
            "where the cost of a further row changes",
            1.0,
            0.0,
            0.0,
            1e6,
            [](const KernelLaw& law) { return law.knots[i].rows; },
            [](KernelLaw& law, double value) { law.knots[i].rows = value; }};
}

/// May become arbitrarily small: rows that cost nothing beside others.
template <std::size_t i>
KernelParameter slope(std::string_view name) {
    return {name,
            "1",
            "cost of a row up to that knot, in rows of full speed",
            1.0,
            1.0,
            0.0,
            1e4,
            [](const KernelLaw& law) { return law.knots[i].slope; },
            [](KernelLaw& law, double value) { law.knots[i].slope = value; }};
}

}  // namespace

const std::array<KernelParameter, kernel_parameter_count>& kernel_parameters() {
    static const std::array<KernelParameter, kernel_parameter_count> all = {{
        {"startup", "us", "launch, first loads, uneven ends", 1e6, 0.0, 1e-8, 1.0,
         [](const KernelLaw& law) { return law.startup.value(); },
         [](KernelLaw& law, double value) { law.startup = Seconds(value); }},
        {"launch", "us", "startup of a tiny kernel", 1e6, 0.0, 1e-8, 1.0,
         [](const KernelLaw& law) { return law.launch.value(); },
         [](KernelLaw& law, double value) { law.launch = Seconds(value); }},
        {"ramp_bytes", "MB", "traffic up to which launch turns into startup", 1e-6, 0.0, 0.0, 1e12,
         [](const KernelLaw& law) { return law.ramp_bytes.value(); },
         [](KernelLaw& law, double value) { law.ramp_bytes = Bytes(value); }},
        {"bandwidth_share", "1", "share of the data sheet's bandwidth", 1.0, 1.0, 1e-3, most_share,
         [](const KernelLaw& law) { return law.bandwidth_share; },
         [](KernelLaw& law, double value) { law.bandwidth_share = value; }},
        {"peak_share", "1", "share of the data sheet's peak", 1.0, 1.0, 1e-3, most_share,
         [](const KernelLaw& law) { return law.peak_share; }, [](KernelLaw& law, double value) { law.peak_share = value; }},
        {"overlap", "1", "part of the shorter of memory and compute time that is not hidden", 1.0, 0.0, 1e-3, 1.0,
         [](const KernelLaw& law) { return law.overlap; }, [](KernelLaw& law, double value) { law.overlap = value; }},
        {"per_input", "ns", "startup for each input of the layer", 1e9, 0.0, 1e-12, 1.0,
         [](const KernelLaw& law) { return law.per_input.value(); },
         [](KernelLaw& law, double value) { law.per_input = Seconds(value); }},
        {"per_head", "ns", "startup for each key-value head of each sequence", 1e9, 0.0, 1e-11, 1.0,
         [](const KernelLaw& law) { return law.per_head.value(); },
         [](KernelLaw& law, double value) { law.per_head = Seconds(value); }},
        {"per_context", "ns", "least time for each cached token", 1e9, 0.0, 1e-11, 1.0,
         [](const KernelLaw& law) { return law.per_context.value(); },
         [](KernelLaw& law, double value) { law.per_context = Seconds(value); }},
        {"wide_head_share", "1", "of the bandwidth for heads wider than 128", 1.0, 1.0, 1e-3, 2.0,
         [](const KernelLaw& law) { return law.wide_head_share; },
         [](KernelLaw& law, double value) { law.wide_head_share = value; }},
        {"row_tile", "rows", "rows are computed in whole tiles of so many", 1.0, 1.0, 0.0, 4096.0,
         [](const KernelLaw& law) { return law.row_tile; }, [](KernelLaw& law, double value) { law.row_tile = value; }},
        {"step_rows", "rows", "beyond so many rows weights are read less well", 1.0, 0.0, 0.0, 1e6,
         [](const KernelLaw& law) { return law.step_rows; }, [](KernelLaw& law, double value) { law.step_rows = value; }},
        {"step_share", "1", "by this many times weights / data-sheet bandwidth", 1.0, 0.0, 1e-3, 10.0,
         [](const KernelLaw& law) { return law.step_share; }, [](KernelLaw& law, double value) { law.step_share = value; }},
        {"step_inputs", "inputs", "only layers with a multiple of so many inputs do", 1.0, 0.0, 0.0, 1e6,
         [](const KernelLaw& law) { return law.step_inputs; }, [](KernelLaw& law, double value) { law.step_inputs = value; }},
        {"least_tile", "rows", "few rows get smaller tiles, of so many times a power of two", 1.0, 0.0, 0.0, 4096.0,
         [](const KernelLaw& law) { return law.least_tile; }, [](KernelLaw& law, double value) { law.least_tile = value; }},
        {"padding", "rows", "what a row that only fills a tile costs", 1.0, 1.0, 1.0, 10.0,
         [](const KernelLaw& law) { return law.padding; }, [](KernelLaw& law, double value) { law.padding = value; }},
        {"tile_columns", "outputs", "of a tile, whole waves of which run on the workers", 1.0, 0.0, 0.0, 4096.0,
         [](const KernelLaw& law) { return law.tile_columns; }, [](KernelLaw& law, double value) { law.tile_columns = value; }},
        {"per_activation", "ps", "for each input of each row, quantised before the product", 1e12, 0.0, 1e-15, 1.0,
         [](const KernelLaw& law) { return law.per_activation.value(); },
         [](KernelLaw& law, double value) { law.per_activation = Seconds(value); }},
        {"first_row", "rows", "what the first row costs, in rows of full speed", 1.0, 1.0, 1e-3, 1e4,
         [](const KernelLaw& law) { return law.first_row; }, [](KernelLaw& law, double value) { law.first_row = value; }},
        {"per_output", "ns", "for each output element", 1e9, 0.0, 1e-14, 1.0,
         [](const KernelLaw& law) { return law.per_output.value(); },
         [](KernelLaw& law, double value) { law.per_output = Seconds(value); }},
        {"score_elements", "1", "elements of a head that the softmax of a score costs as much as", 1.0, 0.0, 1e-3, 1e4,
         [](const KernelLaw& law) { return law.score_elements; },
         [](KernelLaw& law, double value) { law.score_elements = value; }},
        {"workers", "1", "that take whole items of the work", 1.0, 1.0, 1.0, 4096.0,
         [](const KernelLaw& law) { return law.workers; }, [](KernelLaw& law, double value) { law.workers = value; }},
        knot<0>("knot_1"),
        slope<0>("slope_1"),
        knot<1>("knot_2"),
        slope<1>("slope_2"),
        knot<2>("knot_3"),
        slope<2>("slope_3"),
        knot<3>("knot_4"),
        slope<3>("slope_4"),
        knot<4>("knot_5"),
        slope<4>("slope_5"),
        knot<5>("knot_6"),
        slope<5>("slope_6"),
        knot<6>("knot_7"),
        slope<6>("slope_7"),
    }};
    return all;
}

}  // namespace treeline
