// How far is the time per token of mixtures of experts from what serving engines measured, by the way they are cut?
//
// Reads ../shared/data/serving/silicon_tpot_moe.csv (end-to-end runs of vLLM, SGLang and TensorRT-LLM without speculation, from
// ai-dynamo/aiconfigurator). Nothing is fitted here. What the file leaves open is read as its README says:
//   - Rows without a stated attention parallelism are left out, as are queued ones (TTFT above 2 s).
//   - tp 64 with moe_tp 8 and moe_ep 8 (16: 4 and 4; attention_dp likewise) ran on 8 (4) GPUs with experts dealt out over them:
//     upstream multiplied the two.
//   - tp n with attention_dp n and moe_ep n² (vLLM's names for n GPUs in a group each) is n GPUs, attention data parallel over
//     all of them. Whether it is, and not n² GPUs, is printed as both readings.
//   - Runs may have drafted with the checkpoint's own MTP layer, which upstream does not mark: those faster than others of
//   equal
//     conditions by more than a quarter, and the versions that the README names (TensorRT-LLM 1.2.0rc6.post3,
//     and 1.1.0rc2.post2 for DeepSeek). Errors are printed with and without them.
// Words on the command line (Kimi b200 "ep 4") print the rows of such deployments, one by one.
// Exits with 77 without the data and with 1 when the errors exceed what docs/claims.md states.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

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

constexpr double stated_median = 0.125, stated_p90 = 0.345;

struct Row {
    std::string backend, version, model, system, precision;
    double isl = 0, osl = 0, users = 0, ttft_ms = 0, tpot_ms = 0;
    double tensor = 1, experts = 1, data = 1;
    bool squared = false;  ///< read as fewer GPUs than the degrees' product
    bool may_have_drafted = false;
};

double number_or(const std::string& text, double otherwise) { return parse_number(text).value_or(otherwise); }

/// The cut as the README reads it; false where it cannot be read.
bool read_cut(double tensor, double data, double moe_tensor, double experts, bool of_n, Row& row) {
    const bool both = moe_tensor == experts && experts > 1.0;
    row.tensor = tensor;
    row.data = data;
    row.experts = experts;
    if (both && tensor == experts * experts && data == 1.0) {
        row.tensor = experts;
    } else if (both && data == experts * experts && tensor == 1.0) {
        row.data = experts;
    } else if (tensor == data && experts == tensor * tensor && tensor > 2.0) {
        row.squared = true;
        if (of_n) {
            row.tensor = 1.0;
            row.experts = data;
        }
    }
    return moe_tensor > 0.0 && (both || row.tensor * row.data == moe_tensor * row.experts || row.squared);
}

std::vector<Row> read_rows(const std::filesystem::path& path, bool of_n) {
    const std::string text = read_file(path);
    std::vector<Row> rows;
    CsvReader csv(text);
    while (csv.next()) {
        Row row{csv["backend"], csv["backend_version"], csv["model"], csv["system"], csv["precision"]};
        row.isl = number_or(csv["isl"], 0.0);
        row.osl = number_or(csv["osl"], 0.0);
        row.ttft_ms = number_or(csv["ttft_ms"], 1e9);
        row.tpot_ms = number_or(csv["tpot_ms"], 0.0);
        const double data = number_or(csv["attention_dp"], 0.0);
        row.users = number_or(csv["concurrency"], number_or(csv["batch_size"], 0.0) * std::max(1.0, data));
        const bool read = data > 0.0 && read_cut(number_or(csv["tp"], 0.0), data, number_or(csv["moe_tp"], 0.0),
                                                 number_or(csv["moe_ep"], 0.0), of_n, row);
        if (read && csv["pp"] == "1" && row.ttft_ms <= 2000.0 && row.osl >= 1000.0) {
            rows.push_back(row);
        }
    }
    return rows;
}

/// "deepseek": R1 and V3 are one architecture, whoever quantised them.
std::string family_of(const Row& row) {
    for (const char* family : {"DeepSeek", "gpt-oss", "MiniMax", "Qwen3-235B", "Qwen3.5-397B", "Kimi", "GLM"}) {
        if (row.model.find(family) != std::string::npos) {
            return family;
        }
    }
    return row.model;
}

std::string conditions_of(const Row& row) {
    return fmt::format("{} {} {} {} {}/{} tp {} dp {} ep {} users {}", family_of(row), row.system, row.backend, row.precision,
                       row.isl, row.osl, row.tensor, row.data, row.experts, row.users);
}

void mark_drafting(std::vector<Row>& rows) {
    std::map<std::string, double> slowest;
    for (const Row& row : rows) {
        slowest[conditions_of(row)] = std::max(slowest[conditions_of(row)], row.tpot_ms);
    }
    for (Row& row : rows) {
        const bool named = row.version == "1.2.0rc6.post3" || (row.version == "1.1.0rc2.post2" && family_of(row) == "DeepSeek");
        row.may_have_drafted = named || row.tpot_ms < slowest[conditions_of(row)] / 1.25;
    }
}

/// The checkpoint's own description, which says what is quantised and how.
const char* config_of(const std::string& family, const std::string& precision) {
    const bool fp4 = precision == "fp4";
    return family == "DeepSeek"       ? (fp4 ? "nvidia--DeepSeek-V3.1-NVFP4.json" : "deepseek-ai--DeepSeek-R1.json")
           : family == "gpt-oss"      ? "openai--gpt-oss-120b.json"
           : family == "MiniMax"      ? (fp4 ? "nvidia--MiniMax-M2.7-NVFP4.json" : "MiniMaxAI--MiniMax-M2.5.json")
           : family == "Qwen3-235B"   ? "Qwen--Qwen3-235B-A22B-FP8.json"
           : family == "Qwen3.5-397B" ? "Qwen--Qwen3.5-397B-A17B.json"
           : family == "Kimi"         ? (fp4 ? "nvidia--Kimi-K2.5-NVFP4.json" : "moonshotai--Kimi-K2.5.json")
                                      : (fp4 ? "nvidia--GLM-5-NVFP4.json" : "zai-org--GLM-5.json");
}

const Model& model_of(const Row& row) {
    static std::map<std::string, Model> known;
    const std::string file = config_of(family_of(row), row.precision);
    const auto found = known.find(file);
    return found != known.end() ? found->second
                                : known
                                      .emplace(file, load_model(source_folder() / "models",
                                                                shared_measurements("data/hf_configs/" + file).value().string())
                                                         .value)
                                      .first->second;
}

/// As the checkpoint says; a bf16 checkpoint served in fewer bits is quantised throughout. TensorRT-LLM keeps latents and keys
/// in fp8 under quantised weights, as its recipes do.
Precision precision_of(const Row& row) {
    Precision published = model_of(row).precision;
    const bool narrow_cache = row.backend == "trtllm" && row.precision != "bf16" && family_of(row) != "gpt-oss";
    if (narrow_cache) {
        published.kv_cache = Storage{NumberFormat::fp8};
    }
    const bool wide = bits_of(published.weights.format) >= 16.0 && bits_of(published.experts.format) >= 16.0;
    if (!wide || row.precision == "bf16") {
        return published;
    }
    return checkpoint_precision(row.precision == "fp8" ? NumberFormat::fp8 : NumberFormat::fp4, NumberFormat::bf16);
}

RoundSetup setup_of(const Row& row, CostMode mode) {
    const std::map<std::string, std::string> devices = {{"h100_sxm", "h100-sxm"}, {"h200_sxm", "h200"}, {"b200_sxm", "b200"}};
    const std::map<std::string, std::string> stacks = {{"vllm", "vllm"}, {"sglang", "sglang"}, {"trtllm", "tensorrt-llm"}};
    static std::map<std::string, Platform> platforms;
    const std::string key = row.system + row.backend;
    if (platforms.find(key) == platforms.end()) {
        platforms.emplace(key, platform(devices.at(row.system), stacks.at(row.backend)));
    }
    RoundSetup setup;
    setup.target = model_of(row);
    setup.precision = precision_of(row);
    setup.platform = platforms.at(key);
    setup.platform.ranks = row.tensor;
    setup.platform.parallel = {row.data, row.experts, 1.0};
    setup.platform.mode = mode;
    setup.speculations = chains_up_to(0);
    setup.rollback = rollbacks_for(setup.target).front();
    setup.prompt_tokens = row.isl;
    setup.output_tokens = row.osl;
    return setup;
}

double predicted_ms(const Row& row, CostMode mode) {
    return 1e3 * evaluate(compile_round(setup_of(row, mode)), {0, row.users, row.isl + 0.5 * row.osl}).time_per_token.value();
}

struct Errors {
    std::vector<double> values;  ///< predicted / measured − 1

    [[nodiscard]] double absolute(double q) const {
        std::vector<double> all;
        for (const double value : values) {
            all.push_back(std::abs(value));
        }
        return quantile(all, q);
    }
};

void print(const std::string& name, const Errors& errors) {
    fmt::print("  {:<44} {:>4} rows  median {:>5.1f} %  p90 {:>6.1f} %  bias {:>+6.1f} %\n", name, errors.values.size(),
               100.0 * errors.absolute(0.5), 100.0 * errors.absolute(0.9), 100.0 * quantile(errors.values, 0.5));
}

std::string cut_of(const Row& row) {
    return row.data > 1.0      ? "attention data parallel"
           : row.experts > 1.0 ? "tensor, experts dealt out"
           : row.tensor > 1.0  ? "tensor alone"
                               : "one device";
}

struct Scored {
    Row row;
    double error = 0.0;
};

template <class Key>
void print_by(const char* title, const std::vector<Scored>& scored, Key key) {
    fmt::print(" by {}\n", title);
    std::map<std::string, Errors> groups;
    for (const Scored& s : scored) {
        groups[key(s.row)].values.push_back(s.error);
    }
    for (const auto& [name, errors] : groups) {
        print(name, errors);
    }
}

Errors score(const std::vector<Row>& rows, CostMode mode, bool in_detail) {
    std::vector<Scored> scored;
    Errors all;
    for (const Row& row : rows) {
        scored.push_back({row, predicted_ms(row, mode) / row.tpot_ms - 1.0});
        all.values.push_back(scored.back().error);
    }
    print(fmt::format("all, {} mode", name_of(mode)), all);
    if (in_detail) {
        print_by("cut", scored, cut_of);
        print_by("engine", scored, [](const Row& row) { return row.backend; });
        print_by("device", scored, [](const Row& row) { return row.system; });
        print_by("model and format", scored, [](const Row& row) { return family_of(row) + ", " + row.precision; });
        print_by("deployment", scored, [](const Row& row) {
            return fmt::format("{} {} {} {}, {}", family_of(row), row.precision, row.system, row.backend, cut_of(row));
        });
    }
    return all;
}

/// Every row of the deployments whose name holds all words, with its prediction.
void print_rows(const std::vector<Row>& rows, const std::vector<std::string>& words) {
    for (const Row& row : rows) {
        const std::string name = fmt::format("{} {} {} {} {}/{} tp {} dp {} ep {}", family_of(row), row.precision, row.system,
                                             row.backend, row.isl, row.osl, row.tensor, row.data, row.experts);
        if (std::all_of(words.begin(), words.end(), [&](const std::string& w) { return name.find(w) != std::string::npos; })) {
            fmt::print("{} {:>12} users {:>4}  measured {:>7.2f} ms  predicted {:>7.2f}{}\n", name, row.version, row.users,
                       row.tpot_ms, predicted_ms(row, CostMode::calibrated), row.may_have_drafted ? "  may have drafted" : "");
        }
    }
}

}  // namespace

int main(int count, char** words) {
    const auto measured = shared_measurements("data/serving/silicon_tpot_moe.csv");
    if (!measured) {
        return skipped_exit_code;
    }
    std::vector<Row> rows = read_rows(*measured, true);
    mark_drafting(rows);
    if (count > 1) {
        print_rows(rows, {words + 1, words + count});
        return 0;
    }
    std::vector<Row> plain = rows;
    std::erase_if(plain, [](const Row& row) { return row.may_have_drafted; });
    fmt::print(
        "TPOT of mixtures without speculation; nothing is fitted to these rows. {} rows can be read, {} of them may have "
        "drafted\n",
        rows.size(), rows.size() - plain.size());
    fmt::print("without those that may have drafted\n");
    score(plain, CostMode::roofline, false);
    const Errors errors = score(plain, CostMode::calibrated, true);
    fmt::print("with them\n");
    score(rows, CostMode::calibrated, false);
    fmt::print("tp n, attention_dp n, moe_ep n² read as n GPUs, and as n² GPUs\n");
    for (const bool of_n : {true, false}) {
        std::vector<Row> squared = read_rows(*measured, of_n);
        std::erase_if(squared, [](const Row& row) { return !row.squared; });
        score(squared, CostMode::calibrated, false);
    }
    return errors.absolute(0.5) <= stated_median && errors.absolute(0.9) <= stated_p90 ? 0 : 1;
}
