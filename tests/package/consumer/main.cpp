// Uses the installed libraries with the installed catalogue, given as the argument.
#include <cmath>
#include <cstdio>

#include "calibrate/runtime_fit.h"
#include "hardware/catalogue.h"

int main(int, char** arguments) {
    const treeline::Device device = treeline::load_device(arguments[1], "h100-sxm").value;
    const double intensity = device.intensity_for(treeline::NumberFormat::bf16).value();
    std::printf("%s: %.1f FLOP/byte in bf16\n", device.title.c_str(), intensity);
    using treeline::Seconds;
    const treeline::RuntimeFit fit =
        treeline::fit_law(treeline::LawForm::linear, {{1, Seconds(3), {}}, {2, Seconds(5), {}}, {3, Seconds(7), {}}}, {});
    const bool line = std::abs(fit.law.at(4).value() - 9.0) < 1e-9;  // 1 + 2·4
    return line && std::abs(intensity - 295.2) < 0.1 ? 0 : 1;        // 989 TFLOP/s / 3.35 TB/s
}
