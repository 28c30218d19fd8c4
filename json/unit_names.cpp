#include "json/unit_names.h"

#include <array>

namespace treeline::json {
namespace {

constexpr double ki = 1024.0;

constexpr std::array unit_names = {
    UnitName{"B", "size", 1.0},
    UnitName{"kB", "size", 1e3},
    UnitName{"KiB", "size", ki},
    UnitName{"MB", "size", 1e6},
    UnitName{"MiB", "size", ki* ki},
    UnitName{"GB", "size", 1e9},
    UnitName{"GiB", "size", ki* ki* ki},
    UnitName{"TB", "size", 1e12},
    UnitName{"TiB", "size", ki* ki* ki* ki},

    UnitName{"MB/s", "bandwidth", 1e6},
    UnitName{"MiB/s", "bandwidth", ki* ki},
    UnitName{"GB/s", "bandwidth", 1e9},
    UnitName{"GiB/s", "bandwidth", ki* ki* ki},
    UnitName{"TB/s", "bandwidth", 1e12},
    UnitName{"TiB/s", "bandwidth", ki* ki* ki* ki},

    UnitName{"MFLOP/s", "compute rate", 1e6},
    UnitName{"GFLOP/s", "compute rate", 1e9},
    UnitName{"TFLOP/s", "compute rate", 1e12},
    UnitName{"PFLOP/s", "compute rate", 1e15},

    UnitName{"FLOP/byte", "operational intensity", 1.0},

    UnitName{"ns", "time", 1e-9},
    UnitName{"us", "time", 1e-6},
    UnitName{"\u00b5s", "time", 1e-6},  // micro sign
    UnitName{"\u03bcs", "time", 1e-6},  // Greek mu, which many keyboards give
    UnitName{"ms", "time", 1e-3},
    UnitName{"s", "time", 1.0},

    UnitName{"mW", "power", 1e-3},
    UnitName{"W", "power", 1.0},
    UnitName{"kW", "power", 1e3},

    UnitName{"pJ/byte", "energy per byte", 1e-12},
    UnitName{"pJ/bit", "energy per byte", 8e-12},
    UnitName{"nJ/byte", "energy per byte", 1e-9},

    UnitName{"fJ/FLOP", "energy per FLOP", 1e-15},
    UnitName{"pJ/FLOP", "energy per FLOP", 1e-12},
    UnitName{"nJ/FLOP", "energy per FLOP", 1e-9},

    UnitName{"USD/h", "price", 1.0 / 3600.0},
    UnitName{"USD/s", "price", 1.0},
};

// Wide enough for a microcontroller and for a rack; narrow enough to catch a wrong prefix (TB for GB) or a value in base units.
constexpr std::array dimension_limits = {
    DimensionLimits{"size", 1.0, 1e16},
    DimensionLimits{"bandwidth", 1e6, 1e16},
    DimensionLimits{"compute rate", 1e6, 1e19},
    DimensionLimits{"operational intensity", 1e-3, 1e6},
    DimensionLimits{"time", 1e-12, 1e6},
    DimensionLimits{"power", 1e-3, 1e6},
    DimensionLimits{"energy per byte", 1e-15, 1e-6},
    DimensionLimits{"energy per FLOP", 1e-18, 1e-6},
    DimensionLimits{"price", 1e-6 / 3600.0, 1e5 / 3600.0},
};

}  // namespace

const UnitName* find_unit(std::string_view name) {
    for (const UnitName& unit : unit_names) {
        if (unit.name == name) {
            return &unit;
        }
    }
    return nullptr;
}

std::vector<std::string> units_of(std::string_view dimension) {
    std::vector<std::string> names;
    for (const UnitName& unit : unit_names) {
        if (unit.dimension == dimension && unit.name != "\u03bcs") {
            names.emplace_back(unit.name);
        }
    }
    return names;
}

const DimensionLimits& limits_of(std::string_view dimension) {
    for (const DimensionLimits& limits : dimension_limits) {
        if (limits.dimension == dimension) {
            return limits;
        }
    }
    return dimension_limits.front();
}

}  // namespace treeline::json
