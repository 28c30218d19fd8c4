#include "calibrate/tables/chunk_scan_rows.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "calibrate/tables/table_rows.h"
#include "json/reader.h"

namespace treeline::calibrate {
namespace {

constexpr double chunk_tokens = 64.0;  ///< of the kernels in the tables

bool reads_prompts(const MeasuredRow& row) {
    const TableKind* kind = kind_of(row);
    const auto phase = row.values.find("phase");
    return kind != nullptr && kind->name == "delta_rule" && phase != row.values.end() && phase->second == "prefill";
}

ChunkScanTable& chunk_table_of(const std::string& family, bool by_channel, const std::string& file,
                               std::vector<ChunkScanTable>& tables) {
    const auto known = std::find_if(tables.begin(), tables.end(), [&](const ChunkScanTable& table) {
        return table.family == family && table.by_channel == by_channel;
    });
    if (known != tables.end()) {
        return *known;
    }
    tables.push_back({family, by_channel, {}, {}, file});
    return tables.back();
}

void add_prompt(TableRow& row, const std::string& file, std::vector<ChunkScanTable>& tables) {
    const bool by_channel = row.choice("rule", {"gdn", "kda"}) == 1;
    sim::GatedDelta layer;
    layer.key_heads = static_cast<sim::Count>(row.number("k_heads", 1));
    layer.value_heads = static_cast<sim::Count>(row.number("v_heads", 1));
    layer.key_dim = static_cast<sim::Count>(row.number("head_k_dim", 1));
    layer.value_dim = static_cast<sim::Count>(row.number("head_v_dim", 1));
    layer.decay_rank = by_channel ? layer.key_dim : 0;
    const sim::NumberFormat state = row.format("state_format");
    const double batch = row.number("batch", 1), tokens = row.number("tokens", 1);
    const std::string version = row.text("version");
    const std::string framework = row.text("framework");
    // Stacks call this engine by its whole name.
    ChunkScanTable& table = chunk_table_of(framework == "trtllm" ? "tensorrt-llm" : framework, by_channel, file, tables);
    if (!row.good() || tokens < chunk_tokens) {
        return;
    }
    if (table.version != version) {
        table.version = version;
        table.samples.clear();
    }
    const KernelSample sample = delta_prompt_sample(layer, batch, tokens, state, row.time());
    table.samples.push_back({{batch, tokens, static_cast<double>(layer.value_heads), bytes_at(sample)}, row.time()});
}

}  // namespace

std::vector<ChunkScanTable> chunk_scan_tables_of(const std::vector<MeasuredFile>& files) {
    std::vector<ChunkScanTable> tables;
    std::vector<std::string> problems;
    for (const MeasuredFile& file : files) {
        for (const MeasuredRow& measured : file.rows) {
            if (reads_prompts(measured)) {
                TableRow row(measured, problems);
                add_prompt(row, file.path, tables);
            }
        }
    }
    if (!problems.empty()) {
        throw text::InputError(std::move(problems));
    }
    std::erase_if(tables, [](const ChunkScanTable& table) { return table.samples.empty(); });
    std::sort(tables.begin(), tables.end(),
              [](const auto& a, const auto& b) { return std::tie(a.family, a.by_channel) < std::tie(b.family, b.by_channel); });
    return tables;
}

}  // namespace treeline::calibrate
