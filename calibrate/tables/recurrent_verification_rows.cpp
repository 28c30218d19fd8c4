#include "calibrate/tables/recurrent_verification_rows.h"

#include <algorithm>
#include <optional>

#include "calibrate/tables/table_rows.h"
#include "json/reader.h"

namespace treeline::calibrate {
namespace {

bool verifies(const MeasuredRow& row) {
    const TableKind* kind = kind_of(row);
    const auto phase = row.values.find("phase");
    return kind != nullptr && kind->name == "recurrent_verify" && phase != row.values.end() && phase->second == "verify" &&
           row.values.contains("framework") && row.values.contains("fused_conv");
}

RecurrentVerificationTable& verification_table_of(const std::string& family, bool convolves, const std::string& file,
                                                  std::vector<RecurrentVerificationTable>& tables) {
    const auto known = std::find_if(tables.begin(), tables.end(), [&](const auto& table) { return table.family == family; });
    if (known != tables.end()) {
        return *known;
    }
    tables.push_back({family, convolves, {}, 0, file});
    return tables.back();
}

/// Whether the states that a call touches stay in the cache for the next one. Kernels that start from one of the slots that
/// they write touch T states of each sequence, others 1 + T. Nothing for what lies between.
std::optional<bool> is_from_cache(const sim::RecurrentVerification& shape, Bytes cache) {
    constexpr double all_of_it = 0.5, none_of_it = 1.5;
    const Bytes one = shape.state * shape.sequences;
    if (one * (1.0 + shape.tokens) <= cache * all_of_it) {
        return true;
    }
    return one * shape.tokens > cache * none_of_it ? std::optional(false) : std::nullopt;
}

void add_verification(TableRow& row, const std::string& file, const sim::Device& device,
                      std::vector<RecurrentVerificationTable>& tables) {
    const bool convolves = row.number("fused_conv", 0) != 0.0;
    const std::string family = row.text("framework") + (convolves ? "-fused" : "");
    const RecurrentShape shape{row.number("batch", 1), row.number("tokens", 1), row.number("heads", 1),
                               row.number("head_k_dim", 1), row.number("head_v_dim", 1)};
    const sim::NumberFormat format = row.format("state_dtype");
    if (!row.good()) {
        return;
    }
    RecurrentVerificationTable& table = verification_table_of(family, convolves, file, tables);
    const sim::RecurrentVerification verified{shape.batch, shape.tokens, shape.heads, state_bytes(shape, format)};
    if (const std::optional<bool> cached = is_from_cache(verified, device.cache)) {
        table.samples.push_back({verified, row.time(), *cached});
    } else {
        ++table.left_out;
    }
}

}  // namespace

std::vector<RecurrentVerificationTable> recurrent_verification_tables_of(const std::vector<MeasuredFile>& files,
                                                                         const sim::Device& device) {
    std::vector<RecurrentVerificationTable> tables;
    std::vector<std::string> problems;
    for (const MeasuredFile& file : files) {
        for (const MeasuredRow& measured : file.rows) {
            if (verifies(measured)) {
                TableRow row(measured, problems);
                add_verification(row, file.path, device, tables);
            }
        }
    }
    if (!problems.empty()) {
        throw text::InputError(std::move(problems));
    }
    std::sort(tables.begin(), tables.end(), [](const auto& a, const auto& b) { return a.family < b.family; });
    return tables;
}

}  // namespace treeline::calibrate
