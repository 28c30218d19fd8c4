#include "kernels/rotary.h"

#include <cmath>

namespace treeline::kernels {

std::vector<float> rotary_table(int positions, int head_dim, double base) {
    const int half = head_dim / 2;
    std::vector<double> frequency(static_cast<std::size_t>(half));
    for (int i = 0; i < half; ++i) {
        frequency[static_cast<std::size_t>(i)] = std::pow(base, -2.0 * i / head_dim);
    }
    std::vector<float> table;
    table.reserve(static_cast<std::size_t>(positions) * static_cast<std::size_t>(head_dim));
    for (int position = 0; position < positions; ++position) {
        for (const double each : frequency) {
            table.push_back(static_cast<float>(std::cos(position * each)));
        }
        for (const double each : frequency) {
            table.push_back(static_cast<float>(std::sin(position * each)));
        }
    }
    return table;
}

}  // namespace treeline::kernels
