// Do the descriptions agree with each other, with the design's table of vendor peaks, and with physics? Does bad input get a
// sentence?
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include <unistd.h>

#include "hardware/catalogue.h"
#include "models/catalogue.h"
#include "sim/law_choice.h"
#include "sim/law_transfer.h"
#include "sim/round.h"
#include "source_folder.h"

namespace device_catalogue_test {

using namespace treeline;
using namespace treeline::hardware;

namespace {

const std::filesystem::path catalogue = treeline::testing::source_folder() / "hardware";

std::string error_of(const std::string& name_or_path, bool stack = false) {
    try {
        stack ? static_cast<void>(load_stack(catalogue, name_or_path))
              : static_cast<void>(load_device(catalogue, name_or_path));
    } catch (const text::InputError& error) {
        return error.what();
    }
    return "";
}

/// A device description in a file that is gone when the test ends.
class DescriptionFile {
public:
    explicit DescriptionFile(const std::string& content)
        : path(std::filesystem::temp_directory_path() /
               ("treeline_device_catalogue_test_" + std::to_string(::getpid()) + ".json")) {
        std::ofstream(path) << content;
    }
    DescriptionFile(const DescriptionFile&) = delete;
    DescriptionFile& operator=(const DescriptionFile&) = delete;
    ~DescriptionFile() { std::filesystem::remove(path); }

    const std::filesystem::path path;
};

std::string text_of(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

/// The first ```json block of the catalogue's README.
std::string readme_example() {
    const std::string readme = text_of(catalogue / "README.md");
    const std::string opening = "```json\n";
    const std::size_t start = readme.find(opening);
    REQUIRE(start != std::string::npos);
    return readme.substr(start + opening.size(), readme.find("```", start + opening.size()) - start - opening.size());
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("the GPUs of the design's table have its numbers", "[hardware]") {
    struct Row {
        std::string name;
        double mebibytes, gigabytes_per_second, cache_megabytes, bf16, fp8, fp32, watts;
    };
    // Vendors' data sheets (dense peaks); fp8 0 = no units for it, cache 0 = not stated. Memory as nvidia-smi and rocm-smi
    // report it. V100 and T4 compute bf16 in fp16.
    const std::vector<Row> table = {
        {"a10g", 23028, 600, 6, 70, 0, 31.5, 300},
        {"l40s", 46068, 864, 96, 362, 733, 91.6, 350},
        {"rtx-3090", 24576, 936, 6, 71, 0, 35.6, 350},
        {"rtx-4090", 24564, 1008, 72, 165, 330, 82.6, 450},
        {"a100-sxm-80", 81920, 2039, 40, 312, 0, 19.5, 400},
        {"h100-sxm", 81559, 3350, 50, 989, 1979, 67, 700},
        {"h200", 143771, 4800, 60, 989, 1979, 67, 700},
        {"b200", 183359, 7700, 126, 2250, 4500, 80, 1000},
        {"mi300x", 196288, 5300, 256, 1307, 2615, 163, 750},
        {"h20", 97871, 4000, 60, 148, 296, 44, 500},
        {"h100-pcie", 81559, 2000, 50, 756, 1513, 51, 350},
        {"h100-nvl", 95830, 3900, 0, 835, 1671, 60, 400},
        {"h800", 81559, 3350, 50, 989, 1979, 67, 700},
        {"gh200", 97871, 4000, 50, 989, 1979, 67, 1000},
        {"a800-sxm-80", 81920, 2039, 40, 312, 0, 19.5, 400},
        {"l20", 46068, 864, 96, 119.5, 239, 59.8, 275},
        {"b300", 275040, 7750, 126, 2250, 4500, 75, 1100},
        {"gb200", 189471, 8000, 126, 2500, 5000, 80, 1200},
        {"gb300", 284208, 8000, 126, 2500, 5000, 80, 1400},
        {"l4", 23034, 300, 48, 121, 242, 30.3, 72},
        {"l40", 46068, 864, 96, 181.05, 362, 90.5, 300},
        {"t4", 15360, 320, 4, 65, 0, 8.1, 70},
        {"v100-sxm-16", 16384, 900, 6, 125, 0, 15.7, 300},
        {"v100-sxm-32", 32510, 900, 6, 125, 0, 15.7, 300},
        {"a100-sxm-40", 40960, 1555, 40, 312, 0, 19.5, 400},
        {"a100-pcie-80", 81920, 1935, 40, 312, 0, 19.5, 300},
        {"rtx-a6000", 49140, 768, 6, 154.8, 0, 38.7, 300},
        {"rtx-5090", 32607, 1792, 96, 209.5, 419, 104.8, 575},
        {"rtx-6000-ada", 49140, 960, 96, 364, 728.5, 91.1, 300},
        {"rtx-pro-6000", 97887, 1792, 128, 503.8, 1007.6, 125.95, 600},
    };
    for (const Row& row : table) {
        INFO(row.name);
        const sim::Device device = load_device(catalogue, row.name).value;
        CHECK(device.kind == sim::DeviceKind::gpu);
        CHECK(device.memory.value() == Approx(row.mebibytes * 1048576.0));
        CHECK(device.bandwidth.value() == Approx(row.gigabytes_per_second * 1e9));
        CHECK(device.cache.value() == Approx(row.cache_megabytes * 1e6));
        CHECK(device.peak_for(sim::NumberFormat::bf16).value() == Approx(row.bf16 * 1e12));
        CHECK(device.peak_for(sim::NumberFormat::fp8).value() == Approx((row.fp8 > 0 ? row.fp8 : row.bf16) * 1e12));
        CHECK(device.peak_for(sim::NumberFormat::fp32).value() == Approx(row.fp32 * 1e12));
        CHECK(device.board_power.value() == Approx(row.watts));
    }
}

TEST_CASE("operational intensities follow from peak and bandwidth", "[hardware]") {
    // 989e12 / 3.35e12 = 295.2; 312e12 / 2.039e12 = 153.0; 19.5e12 / 2.039e12 = 9.56
    CHECK(load_device(catalogue, "h100-sxm").value.intensity_for(sim::NumberFormat::bf16).value() ==
          Approx(295.2).epsilon(1e-3));
    CHECK(load_device(catalogue, "a100-sxm-80").value.intensity_for(sim::NumberFormat::bf16).value() ==
          Approx(153.0).epsilon(1e-3));
    CHECK(load_device(catalogue, "a100-sxm-80").value.intensity_for(sim::NumberFormat::fp32).value() ==
          Approx(9.56).epsilon(1e-3));
}

/// Watts that the rule of energies in the files gives at full bandwidth and at the 16-bit peak.
void check_energies(const sim::Device& device) {
    REQUIRE(device.knows_energy());
    const Watts streaming = device.idle_power + device.energy_per_byte * device.bandwidth;
    const Watts computing = device.idle_power + device.energy_per_flop * device.peak_for(sim::NumberFormat::bf16);
    CHECK(streaming < device.board_power);
    // The rule stated in the files: products at peak rate take 2.56 times 90 % of the power above idle, serving 38 % of it (two
    // digits are kept, so within 3 %).
    const Watts above_idle = device.board_power - device.idle_power;
    CHECK((computing - device.idle_power) / above_idle == Approx(0.9 * 2.56).epsilon(0.03));
    CHECK(device.active_power / above_idle == Approx(0.383).epsilon(0.03));
}

TEST_CASE("every device of the catalogue is consistent", "[hardware]") {
    const std::vector<std::string> names = device_names(catalogue);
    CHECK(names.size() >= 40);
    CHECK(std::is_sorted(names.begin(), names.end()));
    for (const std::string& name : names) {
        INFO(name);
        const auto [device, provenance] = load_device(catalogue, name);
        CHECK(device.name == name);
        CHECK(problems_of(device).empty());
        CHECK(device.reserved.value() > 0.0);
        // Google prints no power of a chip, so no energy either.
        if (name.starts_with("tpu-")) {
            CHECK(device.board_power.value() == 0.0);
            CHECK_FALSE(device.knows_energy());
        } else {
            check_energies(device);
        }

        // A narrower floating-point format is never slower on these devices, and no link outruns the memory.
        CHECK(device.peak_for(sim::NumberFormat::fp8) >= device.peak_for(sim::NumberFormat::bf16));
        CHECK(device.peak_for(sim::NumberFormat::bf16) >= device.peak_for(sim::NumberFormat::fp32));
        CHECK(device.peak_for(sim::NumberFormat::fp4) >= device.peak_for(sim::NumberFormat::bf16));
        for (const sim::Interconnect& link : device.interconnects) {
            CHECK(link.bandwidth < device.bandwidth);
        }

        for (const text::Provenance& number : provenance) {
            INFO(number.path);
            CHECK(number.source.size() > 2);
            CHECK(number.path.find(name + ".json: ") != std::string::npos);
        }
        // memory, bandwidth, fp32, a 16-bit format, reserved: 5 numbers at least.
        CHECK(provenance.size() >= 5);
    }
}

TEST_CASE("every stack of the catalogue loads, and the ideal one costs nothing", "[hardware]") {
    const std::vector<std::string> names = stack_names(catalogue);
    for (const std::string needed :
         {"cpu", "cuda-graph", "eager", "ideal", "llama.cpp", "sglang-0.5.6", "tensorrt-llm-1.2", "vllm-0.14", "vllm-0.25"}) {
        INFO(needed);
        CHECK(std::count(names.begin(), names.end(), needed) == 1);
    }
    for (const std::string& name : names) {
        INFO(name);
        const auto [stack, provenance] = load_stack(catalogue, name);
        CHECK(stack.name == name);
        CHECK(provenance.size() >= 7);  // those that every stack states; others are neutral where they are left out
        CHECK((name == "ideal") == ((stack.passes.host_per_pass + stack.layers.per_layer).value() == 0.0));
    }
    const sim::Stack ideal = load_stack(catalogue, "ideal").value;
    CHECK((ideal.launching.host_launch + ideal.launching.node_cost + ideal.passes.host_per_draft_pass +
           ideal.host[sim::HostDriver::round])
              .value() == 0.0);
    CHECK(ideal.launching.launch_factor == 1.0);
}

TEST_CASE("eager PyTorch spends 0.37 ms of host time a Transformer layer", "[hardware]") {
    // Eager Hugging Face on an RTX 4090: about 0.37 ms a Transformer layer, bound by the host. Our operation lists have 9 to 10
    // operations a Transformer layer: 9.5 · 6 · 6.5 us = 0.3705 ms.
    const sim::Stack eager = load_stack(catalogue, "eager").value;
    CHECK((9.5 * eager.launching.launch_factor * eager.launching.host_launch).value() == Approx(0.37e-3).epsilon(0.02));
}

TEST_CASE("the derived engine stacks add up to the published runs", "[hardware]") {
    const auto step = [&](const sim::Stack& stack) {
        sim::RoundSetup setup;
        setup.target = models::load_model(treeline::testing::source_folder() / "models", "llama-3.1-8b").value;
        setup.precision = setup.target.precision;
        setup.platform.device = load_device(catalogue, "h100-sxm").value;
        setup.platform.stack = stack;
        setup.drafter = sim::NgramDrafter{};
        setup.speculations = sim::chains_up_to(0);
        return sim::evaluate(sim::compile_round(setup), {0, 1.0, 512.0}).time_per_token.value();
    };
    CHECK(1.0 / step(load_stack(catalogue, "vllm-0.8").value) == Approx(133.0).epsilon(0.01));       // vLLM pull request 16937
    CHECK(1.0 / step(load_stack(catalogue, "sglang-0.4.4").value) == Approx(158.34).epsilon(0.01));  // SGLang, the same
}

TEST_CASE("the README's ten-line device loads, and what it leaves out is unknown", "[hardware]") {
    const std::string example = readme_example();
    const DescriptionFile file(example);
    const auto [device, provenance] = load_device(catalogue, file.path.string());
    CHECK(device.title == "My accelerator");
    CHECK(device.memory.value() == 32e9);
    CHECK(device.peak_for(sim::NumberFormat::int4).value() == 200e12);  // runs as bf16
    CHECK(provenance.size() == 4);                                      // memory, bandwidth, fp32, bf16
    CHECK(provenance[1].kind == "measured");
    CHECK_FALSE(device.knows_energy());
    CHECK(device.price.value() == 0.0);
    CHECK(device.interconnects.empty());
    CHECK(device.reserved.value() == 0.0);
    CHECK(std::count(example.begin(), example.end(), '\n') <= 10);
}

TEST_CASE("an unknown name gets the nearest ones and the command that lists all", "[hardware]") {
    CHECK_THAT(error_of("h100"),
               Catch::StartsWith("there is no device \"h100\"; did you mean \"h100-nvl\", \"h100-pcie\" or \"h100-sxm\"? "
                                 "`treeline hardware` lists all"));
    CHECK_THAT(error_of("h100-smx"), Catch::Contains("did you mean \"h100-sxm\""));
    CHECK_THAT(error_of("abacus"), Catch::StartsWith("there is no device \"abacus\"; `treeline hardware` lists all"));
    CHECK_THAT(error_of("2x RTX 3090"), Catch::StartsWith("\"2x RTX 3090\" is 2 devices: give one, \"rtx-3090\", and how") &&
                                            Catch::Contains("--tensor-parallel 2"));
    CHECK_THAT(error_of("8xL40S"), Catch::Contains("is 8 devices: give one, \"l40s\""));
    CHECK_THAT(error_of("4xA100-80GB"), Catch::Contains("did you mean") && Catch::Contains("\"a100-sxm-80\""));
    CHECK_THAT(error_of("h100-sxmm"), Catch::Contains("\"h100-sxm\""));
    CHECK_THAT(error_of("2x abacus"), Catch::StartsWith("there is no device \"2x abacus\""));
    CHECK_THAT(error_of("vlm", true), Catch::Contains("did you mean \"vllm\""));
    CHECK_THAT(error_of("missing/h100.json"), Catch::Contains("missing/h100.json: cannot be opened"));
    CHECK_THROWS_AS(device_names("/nonexistent"), text::InputError);
}

TEST_CASE("a device may be named as its maker spells it", "[hardware]") {
    for (const auto& [spelt, name] : {std::pair{"NVIDIA GeForce GTX 1080 Ti", "gtx-1080-ti"},
                                      {"P100", "tesla-p100"},
                                      {"RTX 2080 Ti 22GB", "rtx-2080-ti-22"},
                                      {"Intel Arc Pro B70", "arc-pro-b70"},
                                      {"AMD Instinct MI300X", "mi300x"},
                                      {"NVIDIA H100 80GB HBM3", "h100-sxm"},
                                      {"NVIDIA H100 PCIe", "h100-pcie"},
                                      {"AMD Radeon PRO W7900", "w7900"},
                                      {"AMD Radeon AI PRO R9700", "r9700"},
                                      {"NVIDIA A100-SXM4-80GB", "a100-sxm-80"},
                                      {"NVIDIA A100 80GB PCIe", "a100-pcie-80"},
                                      {"Tesla V100-SXM2-32GB", "v100-sxm-32"},
                                      {"NVIDIA GB10", "dgx-spark"},
                                      {"NVIDIA GB200", "gb200"},
                                      {"NVIDIA GH200 480GB", "gh200"},
                                      {"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "rtx-pro-6000"},
                                      {"NVIDIA RTX 6000 Ada Generation", "rtx-6000-ada"},
                                      {"NVIDIA GeForce RTX 5090 Laptop GPU", "rtx-5090-laptop"},
                                      {"Intel(R) Arc(TM) B580 Graphics", "arc-b580"},
                                      {"Apple M4 Max", "m4-max"},
                                      {"MTL0 (Apple M3 Ultra)", "m3-ultra"},
                                      {"CUDA0: NVIDIA GeForce RTX 4090", "rtx-4090"},
                                      {"AMD Instinct MI300X VF", "mi300x"},
                                      {"Radeon 8060S", "strix-halo"},
                                      {"gfx1151", "strix-halo"},
                                      {"Ryzen AI Max+ 395", "strix-halo"},
                                      {"Radeon 8060S Graphics (RADV GFX1151)", "strix-halo"},
                                      {"Intel(R) Arc(tm) B580 Graphics (BMG G21)", "arc-b580"}}) {
        INFO(spelt);
        CHECK(load_device(catalogue, spelt).value.name == name);
    }
    CHECK_THAT(error_of("Tenstorrent P150"), Catch::Contains("cannot be priced"));
    CHECK_THAT(error_of("gfx942"), Catch::Contains("the MI300X and the MI325X, which differ"));
    CHECK_THAT(error_of("nvidia"), Catch::StartsWith("there is no device"));
    CHECK_THAT(error_of("NVIDIA A100-PCIE-40GB"), Catch::StartsWith("there is no device"));
}

TEST_CASE("a description with mistakes names all of them", "[hardware]") {
    std::string text = readme_example();
    text = replaced(text, "\"GB\"", "\"GB/s\"");
    text = replaced(text, "\"kind\": \"gpu\"", "\"kind\": \"tpu\"");
    text = replaced(text, "\"bf16\"", "\"bf61\"");
    text = replaced(text, "\"value\": 50", "\"value\": -50");
    const DescriptionFile file(text);
    const std::string error = error_of(file.path.string());
    CHECK(std::count(error.begin(), error.end(), '\n') == 3);
    CHECK_THAT(error, Catch::Contains("memory.unit: \"GB/s\" is a unit of bandwidth"));
    CHECK_THAT(error, Catch::Contains("kind: must be gpu or cpu, not \"tpu\""));
    CHECK_THAT(error, Catch::Contains("peak.bf61: unknown key; did you mean \"bf16\"?"));
    CHECK_THAT(error, Catch::Contains("peak.fp32.value: is -50, but must be above zero"));
}

TEST_CASE("numbers that contradict each other are refused", "[hardware]") {
    const DescriptionFile slow(replaced(readme_example(), "TB/s", "GB/s"));  // 200e12 / 1.2e9 = 166,667 FLOP/byte
    CHECK_THAT(error_of(slow.path.string()), Catch::Contains("peak.bf16 and memory_bandwidth do not go together"));
}

TEST_CASE("a bandwidth with a wrong prefix is refused, on either side", "[hardware]") {
    // RTX 5090: 1,792 GB/s, 32 GB; peaks of its data sheet, dense: 104.8 TFLOP/s in fp32, 209.5 in bf16, 1,676 in fp4.
    const auto with_bandwidth = [](const std::string& bandwidth) {
        const auto quantity = [](const std::string& value) {
            return "{" + value + R"(, "source": "data sheet", "kind": "datasheet"})";
        };
        return R"({"title": "RTX 5090", "kind": "gpu", "memory": )" + quantity(R"("value": 32, "unit": "GB")") +
               R"(, "memory_bandwidth": )" + quantity(bandwidth) + R"(, "peak": {"fp32": )" +
               quantity(R"("value": 104.8, "unit": "TFLOP/s")") + R"(, "bf16": )" +
               quantity(R"("value": 209.5, "unit": "TFLOP/s")") + R"(, "fp4": )" +
               quantity(R"("value": 1676, "unit": "TFLOP/s")") + "}}";
    };
    const DescriptionFile right(with_bandwidth(R"("value": 1792, "unit": "GB/s")"));
    CHECK(error_of(right.path.string()).empty());
    const DescriptionFile fast(with_bandwidth(R"("value": 1792, "unit": "TB/s")"));
    CHECK_THAT(error_of(fast.path.string()),
               Catch::Contains("memory_bandwidth is too high for the peaks") && Catch::Contains("TB/s for GB/s"));
    const DescriptionFile slow(with_bandwidth(R"("value": 1.792, "unit": "GB/s")"));
    CHECK_THAT(error_of(slow.path.string()), Catch::Contains("do not go together"));
}

TEST_CASE("a copied description that names another device's calibration says what to remove", "[hardware]") {
    const DescriptionFile copy(text_of(catalogue / "gpu" / "h100-sxm.json"));
    CHECK_THAT(error_of(copy.path.string()),
               Catch::StartsWith(copy.path.string() + ": calibration: names ") &&
                   Catch::Contains("h100-sxm.json, which was measured on h100-sxm, not on treeline_device_catalogue_test") &&
                   Catch::Contains("remove \"calibration\" from the description"));
}

TEST_CASE("a device that nobody measured takes the laws of the relative that its description names", "[hardware]") {
    const sim::Device h100 = load_device(catalogue, "h100-sxm").value, b200 = load_device(catalogue, "b200").value;
    REQUIRE(b200.calibration);
    CHECK(b200.calibration->kind == "derived");
    CHECK_THAT(b200.calibration->source, Catch::StartsWith("as on h100-sxm, as shares of the data sheet"));
    const sim::KernelLaw& of_h100 = *h100.calibration->law(sim::KernelClass::attention, sim::NumberFormat::bf16);
    const sim::KernelLaw& of_b200 = *b200.calibration->law(sim::KernelClass::attention, sim::NumberFormat::bf16);
    CHECK(of_b200.bandwidth_share == of_h100.bandwidth_share);
    CHECK(of_b200.startup == of_h100.startup);
    CHECK(of_b200.per_head.value() == Approx(of_h100.per_head.value() * 132.0 / 148.0));
    CHECK(b200.calibration->law(sim::KernelClass::all_reduce, sim::NumberFormat::bf16) != nullptr);
    // Int4 weights are unpacked by multiprocessors: one of B200's does as much as one of H100's.
    const sim::KernelLaw& int4 = *b200.calibration->law(sim::KernelClass::experts, sim::NumberFormat::int4, sim::marlin_family);
    const double on_h100 =
        h100.calibration->law(sim::KernelClass::experts, sim::NumberFormat::int4, sim::marlin_family)->bandwidth_share;
    CHECK(int4.bandwidth_share == Approx(on_h100 * (3.35e12 / 132.0) / (7.7e12 / 148.0)));
    // One of RTX 4090's needs less than that to keep its memory busy, and so does one of L40S's.
    const auto int4_share = [](const char* name) {
        const sim::Device device = load_device(catalogue, name).value;
        return device.calibration->law(sim::KernelClass::experts, sim::NumberFormat::int4, sim::marlin_family)->bandwidth_share;
    };
    CHECK(int4_share("rtx-4090") == int4_share("l40s"));
    // RTX 5090's are RTX PRO 6000's, and its convolutions, which were not measured there, L40S's.
    CHECK(int4_share("rtx-5090") == int4_share("rtx-pro-6000"));
    const auto convolution_startup = [](const char* name) {
        return load_device(catalogue, name)
            .value.calibration->law(sim::KernelClass::convolution, sim::NumberFormat::bf16)
            ->startup;
    };
    CHECK(convolution_startup("rtx-5090") == convolution_startup("l40s"));
    // PCIe cards do not reduce as NVLink boards do.
    const sim::Calibration on_pcie = sim::transferred_laws(h100, load_device(catalogue, "l4").value);
    CHECK(on_pcie.law(sim::KernelClass::gemm, sim::NumberFormat::bf16) != nullptr);
    CHECK(on_pcie.law(sim::KernelClass::all_reduce, sim::NumberFormat::bf16) == nullptr);
    // PCIe cards differ by what lies between them, and kernels for latents by the architecture.
    const sim::Device l40s = load_device(catalogue, "l40s").value, rtx_3090 = load_device(catalogue, "rtx-3090").value;
    REQUIRE(l40s.calibration->law(sim::KernelClass::all_reduce, sim::NumberFormat::bf16, "vllm") != nullptr);
    CHECK(sim::transferred_laws(l40s, rtx_3090).law(sim::KernelClass::all_reduce, sim::NumberFormat::bf16, "vllm") == nullptr);
    REQUIRE(l40s.calibration->law(sim::KernelClass::latent_attention, sim::NumberFormat::bf16) != nullptr);
    CHECK(rtx_3090.calibration->law(sim::KernelClass::latent_attention, sim::NumberFormat::bf16) == nullptr);
    // L40S was seen with tiles of 128 rows alone, A100 with 16 to 128: those carry over, and where one size was seen smaller
    // ones.
    CHECK(l40s.calibration->law(sim::KernelClass::gemm, sim::NumberFormat::bf16)->row_tile == 128.0);
    const sim::KernelLaw& tiles = *rtx_3090.calibration->law(sim::KernelClass::gemm, sim::NumberFormat::bf16);
    CHECK((tiles.least_tile == 32.0 && tiles.row_tile == 64.0));
    const sim::Device a30 = load_device(catalogue, "a30").value;
    const sim::KernelLaw& of_a100 = *a30.calibration->law(sim::KernelClass::gemm, sim::NumberFormat::bf16);
    CHECK((of_a100.least_tile == 16.0 && of_a100.row_tile == 128.0));
}

TEST_CASE("a link takes the all-reduces of the measured device that its description names", "[hardware]") {
    const sim::Device l40s = load_device(catalogue, "l40s").value, a30 = load_device(catalogue, "a30").value;
    for (const char* const family : {"nccl", "vllm"}) {
        const sim::KernelLaw* measured = l40s.calibration->law(sim::KernelClass::all_reduce, sim::NumberFormat::bf16, family);
        const sim::KernelLaw* named = a30.calibration->law(sim::KernelClass::all_reduce, sim::NumberFormat::bf16, family);
        REQUIRE(measured != nullptr);
        REQUIRE(named != nullptr);
        CHECK(named->collective.ring_share == measured->collective.ring_share);
        CHECK(named->collective.ring_scale_4 == measured->collective.ring_scale_4);
        CHECK(named->collective.ring_scale_8 == measured->collective.ring_scale_4);
    }
    // Linear layers stay those of the relative.
    const sim::Device a100 = load_device(catalogue, "a100-sxm-80").value;
    CHECK(a30.calibration->law(sim::KernelClass::gemm, sim::NumberFormat::bf16)->startup ==
          a100.calibration->law(sim::KernelClass::gemm, sim::NumberFormat::bf16)->startup);
    CHECK_THAT(a30.calibration->source, Catch::EndsWith("all-reduces over pcie as on l40s"));
}

TEST_CASE("a link that names no measured all-reduces of its kind is refused", "[hardware]") {
    const std::string key = R"("all_reduces_of": "l40s")";
    const auto naming = [&](const std::string& device) {
        std::string text = text_of(catalogue / "gpu" / "a30.json");
        REQUIRE(text.find(key) != std::string::npos);
        text.replace(text.find(key), key.size(), R"("all_reduces_of": ")" + device + '"');
        const DescriptionFile copy(text);
        return error_of(copy.path.string());
    };
    CHECK_THAT(naming("rtx-4090"), Catch::Contains("all_reduces_of: names rtx-4090, whose kernels were not measured"));
    CHECK_THAT(naming("h100-sxm"), Catch::Contains("all_reduces_of: the fastest link of h100-sxm is not called pcie"));
}

TEST_CASE("a relative without measured kernels is refused", "[hardware]") {
    std::string text = text_of(catalogue / "gpu" / "b200.json");
    const std::string key = R"("laws_of": "h100-sxm")";
    REQUIRE(text.find(key) != std::string::npos);
    text.replace(text.find(key), key.size(), R"("laws_of": "mi300x")");
    const DescriptionFile copy(text);
    CHECK_THAT(error_of(copy.path.string()), Catch::Contains("laws_of: names mi300x, whose kernels were not measured"));
}

TEST_CASE("damaged descriptions are read or refused, and nothing else happens", "[hardware]") {
    // Any other exception than InputError (of the JSON library, say) would end the program with the wrong message.
    const std::string original = text_of(catalogue / "gpu" / "h100-sxm.json");
    std::mt19937 random(20261120);
    const std::string replacements = "{}[]\":,0-9eE.x \\\n\xff";
    int refused = 0;
    for (int round = 0; round < 3000; ++round) {
        std::string text = original;
        for (auto changes = 1 + random() % 3; changes > 0; --changes) {
            const std::size_t at = random() % text.size();
            switch (random() % 3) {
                case 0:
                    text[at] = replacements[random() % replacements.size()];
                    break;
                case 1:
                    text.erase(at, 1 + random() % 20);
                    break;
                default:
                    text.insert(at, text.substr(random() % text.size(), 1 + random() % 20));
            }
        }
        try {
            json::Document document = json::Document::parse(text, "damaged.json");
            json::Reader root = document.root();
            const sim::Device device = read_device(root, "damaged");
            static_cast<void>(problems_of(device));
            document.throw_if_problems();
        } catch (const text::InputError& error) {
            ++refused;
            REQUIRE(std::string(error.what()).substr(0, 12) == "damaged.json");
        }
    }
    CHECK(refused > 1500);  // most damage hits the structure; what hits a title or a source may pass
}

TEST_CASE("attention that engines run in FlashAttention is never priced by the law of our own kernel", "[hardware]") {
    // Our kernel, as if it had been measured on this device and took next to nothing.
    sim::Device device = load_device(catalogue, "h100-sxm").value;
    sim::KernelLaw instant;
    instant.bandwidth_share = instant.peak_share = sim::most_share;
    for (const sim::KernelClass kernel :
         {sim::KernelClass::attention, sim::KernelClass::attention_ungrouped, sim::KernelClass::prompt_attention,
          sim::KernelClass::scan, sim::KernelClass::experts}) {
        sim::CalibratedKernel own{kernel, sim::NumberFormat::bf16, instant, std::string(sim::treeline_family)};
        device.calibration->kernels.insert(device.calibration->kernels.begin(), own);
    }
    sim::Operation attention;
    attention.kind = sim::OperationKind::attention;
    attention.reads_context = attention.shares_cache = true;
    attention.launches = 1.0;
    int others = 0;
    for (const std::string& name : stack_names(catalogue)) {
        INFO(name);
        sim::Platform platform;
        platform.device = device;
        platform.stack = load_stack(catalogue, name).value;
        platform.mode = sim::CostMode::calibrated;
        const sim::KernelLaw* law = sim::law_that_prices(attention, {}, platform);
        REQUIRE(law != nullptr);
        const bool is_own = law == platform.device.calibration->own_law(sim::KernelClass::attention, sim::NumberFormat::bf16);
        CHECK(is_own == (name == "ideal"));  // the stack of our own decoder
        others += is_own ? 0 : 1;
    }
    CHECK(others > 10);
}

}  // namespace device_catalogue_test
