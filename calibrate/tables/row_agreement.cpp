#include "calibrate/tables/row_agreement.h"

#include <algorithm>

#include <fmt/format.h>

namespace treeline::calibrate {
namespace {

std::string text_of_columns(const MeasuredRow& row) {
    std::string all;
    for (const auto& [name, value] : row.values) {
        all += name + "=" + value + "|";
    }
    return all;
}

/// What a law sees of a row: two rows that agree in it have one predicted time.
std::string seen_by_a_law(const ConvertedRow& row) {
    const sim::PassShape& shape = row.sample.shape;
    const sim::Operation& operation = row.sample.operation;
    return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", name_of(row.kernel), name_of(row.format), row.family,
                       row.sample.site, shape.sequences, shape.tokens, shape.context, shape.logits, operation.ranks,
                       bytes_at(row.sample).value(), operation.flops.per_token.value(), operation.flops.per_visible.value());
}

double apart_by(Seconds a, Seconds b) { return std::max(a / b, b / a); }

std::string value_of(const MeasuredRow& row, const char* column) {
    const auto found = row.values.find(column);
    return found == row.values.end() ? "" : found->second;
}

std::string times_text(const MeasuredRow& row, const MeasuredRow& earlier) {
    return fmt::format("{:.4g} us, where {} says {:.4g} us", 1e6 * row.time.value(), earlier.place, 1e6 * earlier.time.value());
}

}  // namespace

void RowAgreement::check(const MeasuredRow& row, const ConvertedRow& converted, std::vector<std::string>& problems) {
    if (!converted.of_decoding) {
        return;
    }
    const MeasuredRow& same = *by_columns_.emplace(text_of_columns(row), &row).first->second;
    const double apart = converted.kernel == sim::KernelClass::all_reduce ? one_law : repeated;
    if (apart_by(row.time, same.time) > apart) {
        problems.push_back(
            fmt::format("{}: takes {} of the same kernel and shape: leave one of them out", row.place, times_text(row, same)));
        return;
    }
    const MeasuredRow& alike = *by_shape_.emplace(seen_by_a_law(converted), &row).first->second;
    const std::string mine = value_of(row, "framework"), other = value_of(alike, "framework");
    const bool another_kernel = mine != other || value_of(row, "kernel") != value_of(alike, "kernel");
    if (another_kernel && apart_by(row.time, alike.time) > one_law) {
        const std::string whose = mine != other ? fmt::format(" of {} and {}", other, mine) : "";
        problems.push_back(
            fmt::format("{}: takes {} of the same shape, and both rows{} are for one law ({}, {}): leave one of the "
                        "two kernels out",
                        row.place, times_text(row, alike), whose, name_of(converted.kernel), name_of(converted.format)));
    }
}

}  // namespace treeline::calibrate
