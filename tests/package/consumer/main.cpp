// Uses the installed libraries with the installed catalogue, given as the argument.
#include <cmath>
#include <cstdio>

#include "hardware/catalogue.h"

int main(int, char** arguments) {
    const treeline::Device device = treeline::load_device(arguments[1], "h100-sxm").value;
    const double intensity = device.intensity_for(treeline::NumberFormat::bf16).value();
    std::printf("%s: %.1f FLOP/byte in bf16\n", device.title.c_str(), intensity);
    return std::abs(intensity - 295.2) < 0.1 ? 0 : 1;  // 989 TFLOP/s / 3.35 TB/s
}
