#include "serving_rows.h"

#include <map>

#include "hardware/stack_versions.h"
#include "setups.h"
#include "shared_measurements.h"
#include "text/csv.h"
#include "text/input_file.h"
#include "text/parse_number.h"

namespace treeline::testing {
namespace {

bool names(const ServingRow& row, const char* part) { return row.model.find(part) != std::string::npos; }

sim::Model from_hugging_face(const char* name) {
    return models::load_model(source_folder() / "models",
                              shared_measurements(std::string("data/hf_configs/") + name).value().string())
        .value;
}

sim::Model model_of(const ServingRow& row) {
    static std::map<std::string, sim::Model> known;
    const auto [place, is_new] = known.try_emplace(row.model);
    if (is_new) {
        place->second = names(row, "DeepSeek")    ? model("deepseek-v3")
                        : names(row, "gpt-oss")   ? model("gpt-oss-120b")
                        : names(row, "MiniMax")   ? from_hugging_face("MiniMaxAI--MiniMax-M2.5.json")
                        : names(row, "Qwen3-32B") ? from_hugging_face("Qwen--Qwen3-32B.json")
                        : names(row, "70B")       ? model("llama-3.1-70b")
                                                  : model("llama-3.1-8b");
    }
    return place->second;
}

sim::Precision precision_of(const ServingRow& row) {
    if (names(row, "gpt-oss")) {
        return model_of(row).precision;
    }
    sim::Precision precision = sim::uniform_precision(sim::NumberFormat::bf16);
    if (row.precision == "fp8") {
        precision.weights = precision.experts = sim::Storage{sim::NumberFormat::fp8};
        precision.math = sim::NumberFormat::fp8;
    } else if (row.precision == "fp4") {
        precision.weights = precision.experts = sim::Storage{sim::NumberFormat::fp4, 16.0, 8.0};
        precision.math = sim::NumberFormat::fp4;
    }
    if (row.backend == "trtllm" && row.precision != "bf16" && !names(row, "DeepSeek") && !names(row, "MiniMax")) {
        precision.kv_cache = sim::Storage{sim::NumberFormat::fp8};
    }
    return precision;
}

sim::Platform platform_of(const ServingRow& row) {
    static const std::map<std::string, std::string> devices = {
        {"h100_sxm", "h100-sxm"}, {"h200_sxm", "h200"}, {"b200_sxm", "b200"}};
    static std::map<std::string, sim::Platform> known;
    const auto [place, is_new] = known.try_emplace(row.system + " " + stack_of(row));
    if (is_new) {
        place->second = platform(devices.at(row.system), stack_of(row));
    }
    sim::Platform result = place->second;
    result.ranks = row.ranks;
    return result;
}

}  // namespace

std::vector<ServingRow> read_serving_rows(const std::filesystem::path& path) {
    const std::string text = text::read_file(path);
    std::vector<ServingRow> rows;
    text::CsvReader csv(text);
    const auto number = [&](const char* column) { return text::parse_number(csv[column]).value(); };
    const auto is_one = [&](const char* column) { return !csv.column(column) || csv[column] == "1"; };
    while (csv.next()) {
        rows.push_back({csv["backend"], csv["backend_version"], csv["model"], csv["system"], csv["precision"], number("isl"),
                        number("osl"), number("batch_size"), number("tp"), number("ttft_ms"), number("tpot_ms"),
                        is_one("pp") && is_one("moe_ep") && is_one("attention_dp")});
    }
    return rows;
}

bool usable(const ServingRow& row) {
    const bool reads_too_fast = row.precision == "fp8" && !row.model.empty() && row.only_tensor_parallel &&
                                (row.version == "1.2.0rc6.post1" || row.version == "0.12.0");
    return row.system != "gb200" && row.ttft_ms <= 2000.0 && !reads_too_fast;
}

bool is_plain_mixture(const ServingRow& row) {
    const bool known = names(row, "DeepSeek-R1") || names(row, "DeepSeek-V3") || names(row, "MiniMax-M2.5");
    return row.only_tensor_parallel && (names(row, "gpt-oss") || (known && row.precision == "fp8"));
}

std::string stack_of(const ServingRow& row) {
    static const std::vector<std::string> stacks = hardware::stack_names(source_folder() / "hardware");
    static const std::map<std::string, std::string> engines = {
        {"vllm", "vllm"}, {"sglang", "sglang"}, {"trtllm", "tensorrt-llm"}};
    static const std::map<std::string, std::string> october_2025 = {{"vllm", "0.10"}, {"sglang", "0.5.1"}, {"trtllm", "1.1"}};
    const std::string& engine = engines.at(row.backend);
    const std::string version = row.version.empty() ? october_2025.at(row.backend) : row.version;
    const std::optional<std::string> stack = hardware::nearest_version(stacks, engine + "-" + version);
    return stack ? *stack : hardware::newest_version(stacks, engine).value();  // nightly builds
}

sim::RoundSetup setup_of(const ServingRow& row, sim::CostMode mode) {
    sim::RoundSetup setup;
    setup.target = model_of(row);
    setup.precision = precision_of(row);
    setup.platform = platform_of(row);
    setup.platform.mode = mode;
    setup.speculations = sim::chains_up_to(0);
    setup.prompt_tokens = row.isl;
    setup.output_tokens = row.osl;
    return setup;
}

sim::DesignPoint point_of(const ServingRow& row) { return {0, row.batch, row.isl + 0.5 * row.osl}; }

}  // namespace treeline::testing
