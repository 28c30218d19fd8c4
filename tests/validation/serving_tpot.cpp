// How far is the time per token of plain decoding from what serving engines measured: predicted from the stacks as described,
// from data sheets alone, and from calibrated kernels?
//
// Reads ../shared/data/serving/silicon_tpot.csv and, for mixtures, silicon_tpot_moe.csv (end-to-end runs of vLLM, SGLang and
// TensorRT-LLM without speculation, from ai-dynamo/aiconfigurator). Nothing is fitted here: each cost mode, the engine's stack
// profile, and tensor parallelism as stated. A row's TPOT includes the prompts of the other requests, which the steady state
// prices (RoundSetup::output_tokens). Rows that the data's README says to drop (queued: TTFT above 2 s; GB200) are dropped, as
// are answers under 1,024 tokens, where prompts outweigh decoding.
//
// Exits with 77 without the data and with 1 when the median error of the stacks exceeds the goal below, or data sheets do
// better.
#include <cmath>
#include <cstdio>
#include <map>

#include <fmt/format.h>

#include "numerics/quantile.h"
#include "setups.h"
#include "shared_measurements.h"
#include "text/csv.h"
#include "text/input_file.h"
#include "text/parse_number.h"

using namespace treeline;
using namespace treeline::testing;

namespace {

constexpr double largest_median_error = 0.10;

struct Row {
    std::string backend, model, system, precision;
    double isl = 0, osl = 0, batch = 0, ranks = 0, ttft_ms = 0, tpot_ms = 0;
    bool only_tensor_parallel = true;  ///< no expert, pipeline or data parallelism
};

std::vector<Row> read_rows(const std::filesystem::path& path) {
    const std::string text = read_file(path);
    std::vector<Row> rows;
    CsvReader csv(text);
    const auto number = [&](const char* column) { return parse_number(csv[column]).value(); };
    const auto is_one = [&](const char* column) { return !csv.column(column) || csv[column] == "1"; };
    while (csv.next()) {
        rows.push_back({csv["backend"], csv["model"], csv["system"], csv["precision"], number("isl"), number("osl"),
                        number("batch_size"), number("tp"), number("ttft_ms"), number("tpot_ms"),
                        is_one("pp") && is_one("moe_ep") && is_one("attention_dp")});
    }
    return rows;
}

bool usable(const Row& row) { return row.system != "gb200" && row.ttft_ms <= 2000.0 && row.osl >= 1024.0; }

/// Of the mixtures those whose checkpoint's formats are plain: fp8 throughout, and MXFP4 experts of gpt-oss.
bool is_plain_mixture(const Row& row) {
    const bool gpt = row.model.find("gpt-oss") != std::string::npos;
    const bool known = row.model.find("DeepSeek-R1") != std::string::npos ||
                       row.model.find("DeepSeek-V3") != std::string::npos ||
                       row.model.find("MiniMax-M2.5") != std::string::npos;
    return row.only_tensor_parallel && (gpt || (known && row.precision == "fp8"));
}

Model from_hugging_face(const char* name) {
    return load_model(source_folder() / "models", shared_measurements(std::string("data/hf_configs/") + name).value().string())
        .value;
}

Model model_of(const Row& row) {
    if (row.model.find("DeepSeek") != std::string::npos) {
        return model("deepseek-v3");
    }
    if (row.model.find("gpt-oss") != std::string::npos) {
        return model("gpt-oss-120b");
    }
    if (row.model.find("MiniMax") != std::string::npos) {
        return from_hugging_face("MiniMaxAI--MiniMax-M2.5.json");
    }
    if (row.model.find("Qwen3-32B") != std::string::npos) {
        return from_hugging_face("Qwen--Qwen3-32B.json");
    }
    return model(row.model.find("70B") != std::string::npos ? "llama-3.1-70b" : "llama-3.1-8b");
}

Precision precision_of(const Row& row) {
    if (row.model.find("gpt-oss") != std::string::npos) {
        return model("gpt-oss-120b").precision;
    }
    Precision precision = uniform_precision(NumberFormat::bf16);
    if (row.precision == "fp8") {
        precision.weights = precision.experts = Storage{NumberFormat::fp8};
        precision.math = NumberFormat::fp8;
    } else if (row.precision == "fp4") {
        precision.weights = precision.experts = Storage{NumberFormat::fp4, 16.0, 8.0};
        precision.math = NumberFormat::fp4;
    }
    return precision;
}

Platform platform_of(const Row& row) {
    const std::map<std::string, std::string> devices = {{"h100_sxm", "h100-sxm"}, {"h200_sxm", "h200"}, {"b200_sxm", "b200"}};
    const std::map<std::string, std::string> stacks = {{"vllm", "vllm"}, {"sglang", "sglang"}, {"trtllm", "tensorrt-llm"}};
    return platform(devices.at(row.system), stacks.at(row.backend), row.ranks);
}

/// The stack's host times and launches alone: kernels that reach every figure of the data sheet.
Platform with_ideal_kernels(Platform platform) {
    platform.stack.memory_efficiency = platform.stack.compute_efficiency = 1.0;
    platform.stack.unhidden = 0.0;
    platform.stack.kernel_startup = Seconds(0.0);
    return platform;
}

/// What a prediction rests on.
enum class Basis { data_sheet, stack_efficiencies, earlier_laws, calibration };

/// The device with the laws of linear layers, decode attention, scans and convolutions alone.
Device without_own_laws(Device device) {
    std::erase_if(device.calibration->kernels, [](const CalibratedKernel& kernel) {
        using enum KernelClass;
        return kernel.kernel == all_reduce || kernel.kernel == experts || kernel.kernel == latent_attention ||
               kernel.kernel == latent_prompt || kernel.kernel == prompt_attention || kernel.kernel == prompt_window;
    });
    return device;
}

double predicted_ms(const Row& row, Basis basis) {
    RoundSetup setup;
    setup.target = model_of(row);
    setup.precision = precision_of(row);
    setup.platform = basis == Basis::data_sheet ? with_ideal_kernels(platform_of(row)) : platform_of(row);
    const bool calibrated = basis == Basis::calibration || basis == Basis::earlier_laws;
    setup.platform.mode = calibrated ? CostMode::calibrated : CostMode::roofline;
    if (basis == Basis::earlier_laws) {
        setup.platform.device = without_own_laws(setup.platform.device);
    }
    setup.prompt_tokens = row.isl;
    setup.output_tokens = row.osl;
    return 1e3 * evaluate(compile_round(setup), {0, row.batch, row.isl + 0.5 * row.osl}).time_per_token.value();
}

struct Errors {
    std::vector<double> signed_errors;  ///< predicted / measured − 1

    [[nodiscard]] std::vector<double> absolute() const {
        std::vector<double> values;
        for (const double e : signed_errors) {
            values.push_back(std::abs(e));
        }
        return values;
    }
};

void print(const std::string& name, const Errors& errors) {
    fmt::print("{:<34} {:>5} rows   median error {:>5.1f} %   p90 {:>5.1f} %   bias {:>+6.1f} %\n", name,
               errors.signed_errors.size(), 100.0 * quantile(errors.absolute(), 0.5), 100.0 * quantile(errors.absolute(), 0.9),
               100.0 * quantile(errors.signed_errors, 0.5));
}

/// Prints every group and all rows; returns the median error of all.
double print_all(const std::vector<Row>& rows, Basis basis, bool by_ranks = false) {
    std::map<std::string, Errors> groups;
    Errors all;
    for (const Row& row : rows) {
        const double error = predicted_ms(row, basis) / row.tpot_ms - 1.0;
        groups[by_ranks ? fmt::format("{} ranks", row.ranks) : row.system + ", " + row.precision + ", " + row.backend]
            .signed_errors.push_back(error);
        all.signed_errors.push_back(error);
    }
    for (const auto& [name, errors] : groups) {
        print(name, errors);
    }
    print("all", all);
    return quantile(all.absolute(), 0.5);
}

}  // namespace

int main() {
    const auto measured = shared_measurements("data/serving/silicon_tpot.csv");
    if (!measured) {
        return skipped_exit_code;
    }
    std::vector<Row> rows = read_rows(*measured);
    std::erase_if(rows, [](const Row& row) { return !usable(row); });
    fmt::print("TPOT without speculation, roofline mode; nothing is fitted to these rows in any mode\n");
    const double stacks = print_all(rows, Basis::stack_efficiencies);
    fmt::print("\nThe same with kernels that reach the data sheet\n");
    const double data_sheet = print_all(rows, Basis::data_sheet);
    fmt::print("\nCalibrated mode (laws of measured kernels; H200 and B200 derived from H100)\n");
    const double calibrated = print_all(rows, Basis::calibration);
    fmt::print("\nThe same by ranks, and without laws of all-reduces, experts, prompts and latent attention\n");
    print_all(rows, Basis::calibration, true);
    print_all(rows, Basis::earlier_laws, true);
    if (const auto of_mixtures = shared_measurements("data/serving/silicon_tpot_moe.csv")) {
        std::vector<Row> mixtures = read_rows(*of_mixtures);
        std::erase_if(mixtures, [](const Row& row) { return !usable(row) || !is_plain_mixture(row); });
        fmt::print("\nMixtures under tensor parallelism alone: roofline, calibrated, and without those laws\n");
        print_all(mixtures, Basis::stack_efficiencies);
        print_all(mixtures, Basis::calibration);
        print_all(mixtures, Basis::earlier_laws);
        fmt::print("\nThe same by ranks: calibrated, and without those laws\n");
        print_all(mixtures, Basis::calibration, true);
        print_all(mixtures, Basis::earlier_laws, true);
    }
    return stacks <= largest_median_error && stacks < data_sheet && calibrated < data_sheet ? 0 : 1;
}
