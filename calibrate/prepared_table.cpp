#include "calibrate/prepared_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>

namespace treeline::calibrate::detail {
namespace {

/// Relative scatter that every measurement has beside that of its repetitions: clocks, neighbours, alignment.
constexpr double least_scatter = 0.02;

PreparedSample prepared(const KernelSample& sample) {
    PreparedSample result;
    result.operation = &sample.operation;
    result.terms = terms_of(sample.shape);
    result.bytes = bytes_at(sample);
    result.flops = flops_at(sample);
    result.rows = rows_of(sample.operation).at(result.terms);
    result.log_time = std::log(sample.time.value());
    result.weight = least_scatter / std::sqrt(least_scatter * least_scatter + sample.spread * sample.spread);
    return result;
}

/// All that measured_rates() reads of an operation.
auto what_laws_see(const sim::Operation& operation) {
    return std::make_tuple(operation.kind, operation.reads_context, operation.inputs, operation.outputs, operation.cache_heads,
                           operation.head_dim, operation.rows_per_token, operation.items.per_row, operation.items.per_sequence,
                           operation.flops.per_token.value(), operation.flops.per_logit.value(), operation.bytes.fixed.value(),
                           operation.bytes.per_context.value(), operation.flops.per_visible.value(), operation.expert_rows,
                           operation.ranks, operation.exchanged_experts,
                           operation.exchanged_experts > 0.0 ? operation.bytes.per_token.value() : 0.0);
}

std::size_t place_of(const sim::Operation& operation, std::vector<const sim::Operation*>& known) {
    const auto same = [&](const sim::Operation* other) { return what_laws_see(*other) == what_laws_see(operation); };
    const auto at = std::find_if(known.begin(), known.end(), same);
    if (at != known.end()) {
        return static_cast<std::size_t>(at - known.begin());
    }
    known.push_back(&operation);
    return known.size() - 1;
}

}  // namespace

PreparedTable prepared(const KernelTable& table, const sim::Rates& data_sheet) {
    PreparedTable result;
    result.data_sheet = data_sheet;
    std::map<std::string_view, std::vector<std::size_t>> sites;
    for (const KernelSample& sample : table.samples) {
        sites[sample.site].push_back(result.samples.size());
        result.samples.push_back(prepared(sample));
        result.samples.back().priced_as = place_of(sample.operation, result.operations);
    }
    for (auto& [name, samples] : sites) {
        result.sites.push_back(std::move(samples));
    }
    return result;
}

std::vector<sim::Rates> rates_of(const PreparedTable& table, const sim::KernelLaw& law) {
    std::vector<sim::Rates> rates;
    rates.reserve(table.operations.size());
    for (const sim::Operation* operation : table.operations) {
        rates.push_back(sim::measured_rates(law, table.data_sheet, *operation));
    }
    return rates;
}

double log_residual(const std::vector<sim::Rates>& rates, const PreparedSample& sample) {
    const sim::Operation& operation = *sample.operation;
    const sim::Rates& own = rates[sample.priced_as];
    Seconds time;
    sim::dispatch(
        operation, operation.reads_context, own.rule, [&]<bool reads_context, bool has_experts, class Rule>(const Rule& rule) {
            time =
                sim::operation_time<reads_context, has_experts>(rule, operation, own, sample.terms, sample.bytes, sample.flops);
        });
    return std::log(time.value()) - sample.log_time;
}

}  // namespace treeline::calibrate::detail
