// Are the catalogue's peaks, bandwidths and memories those of devices that exist? Each is held against what the multiprocessors
// compute in a clock, against the ratios between formats, and against the range of its kind.
#include <catch2/catch.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hardware/catalogue.h"
#include "source_folder.h"
#include "text/precision_text.h"

namespace device_peaks_test {

using namespace treeline;
using namespace treeline::hardware;

namespace {

const std::filesystem::path catalogue = treeline::testing::source_folder() / "hardware";

}  // namespace

TEST_CASE("peaks, bandwidths and memories lie where devices of their kind do", "[hardware]") {
    for (const std::string& name : device_names(catalogue)) {
        INFO(name);
        const sim::Device device = load_uncalibrated_device(catalogue, name).value;
        const bool cpu = device.kind == sim::DeviceKind::cpu;
        // FLOP a byte in 16 bits: 30 (Apple, H20) to 945 (Thor, LPDDR5X beside the units of a large GPU); CPUs 13 (a desktop)
        // to 747 (AMX); Pascal, whose 16-bit units are none of use, 23.
        const double balance = device.intensity_for(sim::NumberFormat::bf16).value();
        CHECK(balance > (cpu ? 10.0 : name == "gtx-1080-ti" ? 20.0 : 25.0));
        CHECK(balance < 1000.0);
        // From the narrowest to the widest format: units for matrices make bf16 at most 36 times fp32 (H100: 15, Thor: 32,
        // AMX: 32; Gaudi 3, whose fp32 is that of its vector units: 128).
        const double matrices = device.peak_for(sim::NumberFormat::bf16) / device.peak_for(sim::NumberFormat::fp32);
        CHECK(matrices >= 1.0);
        CHECK(matrices <= (name.starts_with("gaudi-") ? 130.0 : 36.0));
        // fp8 doubles bf16, or there are no units for it.
        const double halves = device.peak_for(sim::NumberFormat::fp8) / device.peak_for(sim::NumberFormat::bf16);
        CHECK((halves == Approx(2.0).epsilon(0.015) || halves == 1.0));
        // fp4: none before Blackwell and CDNA 4; there twice fp8, on Blackwell Ultra three times, on GeForce four times.
        const double quarters = device.peak_for(sim::NumberFormat::fp4) / device.peak_for(sim::NumberFormat::fp8);
        const bool has_fp4 = device.computed_in(sim::NumberFormat::fp4) == sim::NumberFormat::fp4;
        CHECK(has_fp4 == (name.find("b200") != std::string::npos || name.find("b300") != std::string::npos ||
                          (name.starts_with("rtx-50") && name != "rtx-5000-ada") || name.starts_with("rtx-pro-") ||
                          name == "dgx-spark" || name == "jetson-agx-thor" || name == "mi350x" || name == "mi355x"));
        if (has_fp4) {
            CHECK(quarters >= 1.99);
            CHECK(quarters <= 4.01);
        }
        // All memory is read in 5 ms (CMP 170HX: 8 GB of HBM2e; V100 16 GB: 19) to 1 s (GPUs; M3 Ultra 0.61) or 2 s (CPUs).
        const double sweep = device.memory / device.bandwidth / Seconds(1.0);
        CHECK(sweep > 0.005);
        CHECK(sweep < (cpu ? 2.0 : 1.0));
    }
}

TEST_CASE("no device has more memory than its name says, and a driver keeps no more than a tenth", "[hardware]") {
    const std::vector<std::pair<std::string, double>> gibibytes = {
        {"a100-pcie-80", 80},
        {"a100-sxm-40", 40},
        {"a100-sxm-80", 80},
        {"a10g", 24},
        {"b200", 180},
        {"b300", 270},
        {"dgx-spark", 128},
        {"gaudi-3", 128},
        {"gb200", 186},
        {"gb300", 279},
        {"h100-nvl", 94},
        {"h100-pcie", 80},
        {"h100-sxm", 80},
        {"h20", 96},
        {"h200", 141},
        {"h800", 80},
        {"l4", 24},
        {"l40", 48},
        {"l40s", 48},
        {"jetson-agx-orin-64", 64},
        {"mi300x", 192},
        {"mi325x", 256},
        {"mi355x", 288},
        {"rtx-3090", 24},
        {"rtx-4090", 24},
        {"rtx-5090", 32},
        {"rtx-6000-ada", 48},
        {"rtx-a6000", 48},
        {"rtx-pro-6000", 96},
        {"rx-7900-xtx", 24},
        {"strix-halo", 128},
        {"t4", 16},
        {"tpu-v5e", 16},
        {"tpu-v6e", 32},
        {"jetson-agx-thor", 128},
        {"v100-sxm-16", 16},
        {"v100-sxm-32", 32},
        {"m3-ultra", 512},
        {"m4-max", 128},
        {"a30", 24},
        {"a800-sxm-80", 80},
        {"gaudi-2", 96},
        {"gh200", 96},
        {"jetson-orin-nano-8", 8},
        {"l20", 48},
        {"m5", 32},
        {"mi350x", 288},
        {"arc-pro-b60", 24},
        {"m3-max", 48},
        {"m4", 24},
        {"a40", 48},
        {"arc-b580", 12},
        {"arc-pro-b70", 32},
        {"ascend-910b", 64},
        {"m1-max", 64},
        {"m1-ultra", 128},
        {"m2-max", 96},
        {"m2-ultra", 192},
        {"m4-pro", 64},
        {"m5-max", 64},
        {"m5-pro", 64},
        {"mi50", 32},
        {"mi100", 32},
        {"mi210", 64},
        {"r9700", 32},
        {"rtx-2080-ti", 11},
        {"rtx-3060", 12},
        {"rtx-3060-ti", 8},
        {"rtx-3070", 8},
        {"rtx-3080", 10},
        {"rtx-3080-ti", 12},
        {"rtx-4060", 8},
        {"rtx-4060-ti-16", 16},
        {"rtx-4070", 12},
        {"rtx-4070-super", 12},
        {"rtx-4070-ti", 12},
        {"rtx-4070-ti-super", 16},
        {"rtx-4080", 16},
        {"rtx-4080-super", 16},
        {"rtx-5000-ada", 32},
        {"rtx-5060-ti-16", 16},
        {"rtx-5070", 12},
        {"rtx-5070-ti", 16},
        {"rtx-5080", 16},
        {"rtx-5090-laptop", 24},
        {"rtx-a4000", 16},
        {"rtx-a5000", 24},
        {"rx-7900-xt", 20},
        {"rx-9060-xt", 16},
        {"rx-9070-xt", 16},
        {"tesla-p100", 16},
        {"tesla-p40", 24},
        {"w7900", 48},
        {"m1", 16},
        {"m1-pro", 32},
        {"m2", 24},
        {"m2-pro", 32},
        {"m3", 24},
        {"m3-pro", 36},
        {"rtx-3070-ti", 8},
        {"rtx-3090-ti", 24},
        {"rtx-pro-4000", 24},
        {"rtx-pro-4500", 32},
        {"rtx-pro-5000", 48},
        {"rx-7800-xt", 16},
        {"mi250x", 64},
        {"gtx-1080-ti", 11},
        {"rtx-2080-ti-22", 22},
        {"cmp-170hx", 8},
    };
    CHECK(gibibytes.size() + 6 == device_names(catalogue).size());  // all but six CPUs, whose modules are a choice
    for (const auto& [name, nominal] : gibibytes) {
        INFO(name);
        const double share = load_uncalibrated_device(catalogue, name).value.memory.value() / (nominal * 1073741824.0);
        // macOS lets the GPU have two thirds of a small memory, three quarters of 48 GB, 84 % of an M4 Max, 91 % of an M3
        // Ultra.
        const std::map<std::string, double> least = {
            {"m4", 0.66},     {"m5", 0.66},       {"m3-max", 0.74}, {"m4-max", 0.83}, {"m1-max", 0.83}, {"m1-ultra", 0.83},
            {"m2-max", 0.83}, {"m2-ultra", 0.83}, {"m4-pro", 0.83}, {"m5-max", 0.83}, {"m5-pro", 0.83}, {"m1", 0.66},
            {"m1-pro", 0.66}, {"m2", 0.66},       {"m2-pro", 0.66}, {"m3", 0.66},     {"m3-pro", 0.74}};
        CHECK(share <= 1.0);
        CHECK(share >= (least.count(name) > 0 ? least.at(name) : 0.9));
    }
}

TEST_CASE("peaks are what the multiprocessors compute in a clock, at the boost clock", "[hardware]") {
    struct Row {
        std::string name;
        double multiprocessors, flops_a_clock, gigahertz;
    };
    // FLOP a clock and multiprocessor in 16 bits, dense, fp32 accumulation: 1,024 Volta, Turing and full-rate workstation
    // cards, half of it GeForce, A10G and L40; 2,048 A100; 4,096 Hopper (H20: cut to a quarter); 8,192 Blackwell (its cards as
    // Ada's); CDNA 3 2,048, CDNA 4 4,096, RDNA 3 512 a compute unit; AMX 2,048 a core. Boost clocks of the data sheets.
    const std::vector<Row> table = {
        {"v100-sxm-16", 80, 1024, 1.53},
        {"t4", 40, 1024, 1.59},
        {"a100-sxm-40", 108, 2048, 1.41},
        {"a100-sxm-80", 108, 2048, 1.41},
        {"a100-pcie-80", 108, 2048, 1.41},
        {"rtx-a6000", 84, 1024, 1.80},
        {"rtx-3090", 82, 512, 1.695},
        {"jetson-agx-orin-64", 16, 2048, 1.3},
        {"a800-sxm-80", 108, 2048, 1.41},
        {"gh200", 132, 4096, 1.83},
        {"jetson-orin-nano-8", 8, 2048, 1.02},
        {"l20", 92, 512, 2.52},
        {"l4", 58, 1024, 2.04},
        {"l40", 142, 512, 2.49},
        {"l40s", 142, 1024, 2.52},
        {"rtx-4090", 128, 512, 2.52},
        {"rtx-6000-ada", 142, 1024, 2.505},
        {"h100-sxm", 132, 4096, 1.83},
        {"h200", 132, 4096, 1.83},
        {"h800", 132, 4096, 1.83},
        {"h100-pcie", 114, 4096, 1.62},
        {"h20", 78, 1024, 1.83},
        {"b200", 148, 8192, 1.85},
        {"b300", 148, 8192, 1.85},
        {"gb200", 152, 8192, 2.0},
        {"gb300", 152, 8192, 2.0},
        {"rtx-5090", 170, 512, 2.407},
        {"rtx-pro-6000", 188, 1024, 2.617},
        {"dgx-spark", 48, 1024, 2.5},
        {"jetson-agx-thor", 20, 8192, 1.575},
        {"mi300x", 304, 2048, 2.1},
        {"mi325x", 304, 2048, 2.1},
        {"mi350x", 256, 4096, 2.2},
        {"mi355x", 256, 4096, 2.4},
        {"rx-7900-xtx", 96, 512, 2.5},
        {"strix-halo", 40, 512, 2.9},
        {"rtx-2080-ti", 68, 512, 1.545},
        {"rtx-3060", 28, 512, 1.777},
        {"rtx-3060-ti", 38, 512, 1.665},
        {"rtx-3070", 46, 512, 1.725},
        {"rtx-3080", 68, 512, 1.71},
        {"rtx-3080-ti", 80, 512, 1.665},
        {"rtx-3090-ti", 84, 512, 1.86},
        {"rtx-4060", 24, 512, 2.46},
        {"rtx-4060-ti-16", 34, 512, 2.535},
        {"rtx-4070", 46, 512, 2.475},
        {"rtx-4070-super", 56, 512, 2.475},
        {"rtx-4070-ti", 60, 512, 2.61},
        {"rtx-4070-ti-super", 66, 512, 2.61},
        {"rtx-4080", 76, 512, 2.505},
        {"rtx-4080-super", 80, 512, 2.55},
        {"rtx-5060-ti-16", 36, 512, 2.57},
        {"rtx-5070", 48, 512, 2.51},
        {"rtx-5070-ti", 70, 512, 2.45},
        {"rtx-5080", 84, 512, 2.62},
        {"rtx-pro-4000", 70, 1024, 2.617},
        {"rtx-pro-4500", 82, 1024, 2.617},
        {"rtx-pro-5000", 110, 1024, 2.617},
        {"rtx-3070-ti", 48, 512, 1.77},
        {"rx-7800-xt", 60, 512, 2.43},
        {"rtx-a4000", 48, 1024, 1.56},
        {"rtx-a5000", 64, 1024, 1.695},
        {"a40", 84, 1024, 1.74},
        {"rtx-5000-ada", 100, 1024, 2.55},
        {"rx-7900-xt", 84, 512, 2.4},
        {"rx-9060-xt", 32, 1024, 3.13},
        {"rx-9070-xt", 64, 1024, 2.97},
        {"r9700", 64, 1024, 2.92},
        {"w7900", 96, 512, 2.495},
        {"mi50", 60, 256, 1.725},
        {"mi100", 120, 512, 1.502},
        {"mi210", 104, 1024, 1.7},
        {"mi250x", 110, 1024, 1.7},
        {"tesla-p100", 56, 256, 1.3},
        {"xeon-8480plus", 56, 2048, 2.0},
        {"xeon-6980p", 128, 2048, 2.0},
    };
    for (const Row& row : table) {
        INFO(row.name);
        const sim::Device device = load_uncalibrated_device(catalogue, row.name).value;
        CHECK(device.multiprocessors == row.multiprocessors);
        const double peak = row.multiprocessors * row.flops_a_clock * row.gigahertz * 1e9;
        CHECK(device.peak_for(sim::NumberFormat::bf16).value() == Approx(peak).epsilon(0.025));
    }
}

TEST_CASE("4-bit floating-point weights compute in 16 bits where there are no units for them", "[hardware]") {
    for (const std::string name : {"a100-sxm-80", "h100-sxm", "l40s", "mi300x"}) {
        INFO(name);
        const sim::Device device = load_uncalibrated_device(catalogue, name).value;
        CHECK(device.computed_in(sim::NumberFormat::fp4) == sim::NumberFormat::bf16);
        CHECK(device.peak_for(sim::NumberFormat::fp4) == device.peak_for(sim::NumberFormat::bf16));
    }
    const sim::Device b200 = load_uncalibrated_device(catalogue, "b200").value;
    CHECK(b200.computed_in(sim::NumberFormat::fp4) == sim::NumberFormat::fp4);
    // What a user reads about it.
    const sim::Precision fp4 = sim::checkpoint_precision(sim::NumberFormat::fp4, sim::NumberFormat::bf16);
    CHECK(text::text_of(fp4, b200) == text::text_of(fp4));
    CHECK(text::text_of(fp4, load_uncalibrated_device(catalogue, "h100-sxm").value) ==
          text::text_of(fp4) + "; fp4 computed in bf16, as h100-sxm has no units for it");
    CHECK(load_uncalibrated_device(catalogue, "v100-sxm-16").value.computed_in(sim::NumberFormat::bf16) ==
          sim::NumberFormat::fp16);
}

}  // namespace device_peaks_test
