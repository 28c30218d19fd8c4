#include "calibrate/tables/attention_walk_rows.h"

#include <algorithm>

#include "calibrate/tables/table_rows.h"
#include "json/reader.h"

namespace treeline::calibrate {
namespace {

/// Our own measurements, which say over how much memory they rotated, are of our own kernel.
bool decodes_by_an_engine(const MeasuredRow& row) {
    const TableKind* kind = kind_of(row);
    return kind != nullptr && kind->name == "attention_decode" && !row.values.contains("rotation_bytes");
}

void add_walk(TableRow& row, const sim::Device& device, AttentionWalkTable& table) {
    constexpr double hardly = 0.1, out_of_cache = 1.5, long_enough = 512.0;
    const sim::NumberFormat format = row.format("kv_dtype");
    const AttentionShape shape{row.number("batch", 1),   row.number("query_tokens", 1), row.number("context", 1),
                               row.number("q_heads", 1), row.number("kv_heads", 1),     row.number("head_dim", 1),
                               row.number("window", 0)};
    const bool windowed = shape.window > 0.0 && shape.window < shape.context;
    if (!row.good() || sim::bits_of(format) != 16.0 || (!windowed && shape.query_heads > shape.kv_heads)) {
        return;
    }
    const Bytes cache = cache_bytes(shape, format);
    const double seen = windowed ? shape.window : shape.context;
    const bool from_memory = cache > device.cache * out_of_cache || cache / device.bandwidth < row.time() * hardly;
    if (!from_memory || seen < long_enough) {
        ++table.left_out;
        return;
    }
    (windowed ? table.windowed : table.samples)
        .push_back({{shape.batch, shape.query_heads, shape.query_tokens, seen, shape.head_dim, cache}, row.time()});
}

}  // namespace

AttentionWalkTable attention_walk_table_of(const std::vector<MeasuredFile>& files, const sim::Device& device) {
    AttentionWalkTable table;
    std::vector<std::string> problems;
    for (const MeasuredFile& file : files) {
        for (const MeasuredRow& measured : file.rows) {
            if (decodes_by_an_engine(measured)) {
                TableRow row(measured, problems);
                add_walk(row, device, table);
            }
        }
    }
    if (!problems.empty()) {
        throw text::InputError(std::move(problems));
    }
    return table;
}

}  // namespace treeline::calibrate
