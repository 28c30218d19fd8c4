// What may be added to a kernel's law, and the forms that its selection starts from.
#include <algorithm>
#include <set>

#include "calibrate/kernel_fit_parts.h"

namespace treeline::calibrate::detail {
namespace {

using Extension = KernelLawExtension;

/// Rows of the largest tile, which only many rows get: fewer get smaller ones, down to the smallest of matrix units.
constexpr double most_doubled_tile = 256.0, least_doubled_tile = 16.0;
constexpr std::size_t most_knot_places = 24;  ///< row counts at which a knot is tried

bool has_wide_and_common_heads(const KernelTable& table) {
    const auto wide = [](const KernelSample& sample) { return sample.operation.head_dim > sim::widest_common_head; };
    return std::any_of(table.samples.begin(), table.samples.end(), wide) &&
           !std::all_of(table.samples.begin(), table.samples.end(), wide);
}

/// By the data sheet.
double computing_over_traffic(const PreparedSample& sample, const sim::Rates& data_sheet) {
    return sample.flops * data_sheet.per_flop / (sample.bytes * data_sheet.per_byte);
}

/// Whether some sample's FLOPs take at least a quarter of the time of its traffic; otherwise the measurements do not reveal a
/// peak.
bool computing_shows(const PreparedTable& table) {
    return std::any_of(table.samples.begin(), table.samples.end(),
                       [&](const PreparedSample& sample) { return computing_over_traffic(sample, table.data_sheet) > 0.25; });
}

/// Whether every sample's FLOPs take longer than its traffic: the measurements then say little about the bandwidth.
bool computing_rules(const PreparedTable& table) {
    return std::all_of(table.samples.begin(), table.samples.end(),
                       [&](const PreparedSample& sample) { return computing_over_traffic(sample, table.data_sheet) > 1.0; });
}

bool of_kernels(const KernelTable& table) {
    return std::none_of(table.samples.begin(), table.samples.end(), [](const KernelSample& s) { return s.whole_pass; });
}

/// A scan token by token takes its time for instructions that wait for each other, however few its FLOPs are for the device's
/// peak.
bool walks_tokens(const KernelTable& table) {
    return std::all_of(table.samples.begin(), table.samples.end(),
                       [](const KernelSample& s) { return s.operation.sequential; });
}

bool has_items(const KernelTable& table) {
    return std::all_of(table.samples.begin(), table.samples.end(),
                       [](const KernelSample& s) { return s.operation.items.per_row + s.operation.items.per_sequence > 0.0; });
}

bool is_attention(sim::KernelClass kernel) {
    return kernel == sim::KernelClass::attention || kernel == sim::KernelClass::attention_ungrouped;
}

/// Row counts that were measured, except the smallest.
std::vector<double> knot_places(const PreparedTable& table) {
    std::set<double> rows;
    for (const PreparedSample& sample : table.samples) {
        rows.insert(sample.rows);
    }
    std::vector<double> places(std::next(rows.begin()), rows.end());
    return places.size() > most_knot_places ? std::vector<double>() : places;
}

std::set<double> measured_contexts(const KernelTable& table) {
    std::set<double> contexts;
    for (const KernelSample& sample : table.samples) {
        contexts.insert(sample.shape.context);
    }
    return contexts;
}

sim::KernelLaw start_of_extensions() {
    sim::KernelLaw start;
    start.startup = Seconds(5e-6);
    start.peak_share = 0.7;
    start.overlap = 0.2;
    start.per_input = Seconds(2e-10);
    start.per_head = Seconds(1e-8);
    start.per_context = Seconds(5e-9);
    start.step_share = 0.1;
    start.wide_head_share = 0.8;
    start.first_row = 2.0;
    start.padding = 1.5;
    start.per_activation = Seconds(1e-12);
    start.score_elements = 10.0;
    start.per_output = Seconds(1e-10);
    return start;
}

void add_steps(const sim::KernelLaw& start, std::vector<Extension>& all) {
    for (const double tile : {8.0, 16.0, 32.0, 64.0, 128.0}) {
        all.push_back({{}, start, tile});
    }
    for (const double rows : {1.0, 4.0, 12.0, 16.0, 64.0, 128.0, 256.0}) {
        all.push_back({{"step_share"}, start, 0.0, rows});
    }
    all.push_back({.free = {}, .start = start, .row_tile = most_doubled_tile, .least_tile = least_doubled_tile});
    all.push_back({.free = {"padding"}, .start = start, .row_tile = most_doubled_tile, .least_tile = least_doubled_tile});
    for (const double columns : {64.0, 128.0}) {
        for (const double multiprocessors : {84.0, 108.0, 114.0, 132.0, 142.0, 148.0}) {
            all.push_back({.free = {}, .start = start, .workers = multiprocessors, .tile_columns = columns});
        }
    }
    all.push_back({{"per_activation"}, start});
}

/// A library that multiplies many rows copies the weights first, which takes longer if their rows are whole pages apart and
/// evict each other from the cache: 1024 inputs are a page in fp32.
void add_page_steps(sim::KernelLaw start, const PreparedTable& table, std::vector<Extension>& all) {
    start.step_share = 2.0;
    start.per_output = Seconds(3e-9);
    constexpr double fewest = 4.0, most = 64.0;  // rows between which a library takes over
    for (const double rows : knot_places(table)) {
        if (rows >= fewest && rows <= most) {
            all.push_back({{"step_share"}, start, 0.0, rows});
            all.push_back({{"step_share"}, start, 0.0, rows, 1024.0});
            all.push_back({{"step_share", "per_output"}, start, 0.0, rows, 1024.0});
        }
    }
}

/// A core computes rows one after the other, and takes whole items of the work.
void add_row_costs(sim::KernelLaw start, const PreparedTable& table, std::vector<Extension>& all) {
    all.push_back({{"peak_share", "first_row"}, start});
    for (const double per_output : {1e-10, 3e-9}) {
        start.per_output = Seconds(per_output);
        all.push_back({{"per_output"}, start});
        all.push_back({{"per_output", "peak_share", "overlap"}, start});
    }
    for (const double workers : {2.0, 4.0, 8.0, 16.0, 32.0, 64.0}) {
        all.push_back({{}, start, 0.0, 0.0, 0.0, workers});
    }
    for (const double rows : knot_places(table)) {
        all.push_back({{"peak_share", "first_row"}, start, 0.0, 0.0, 0.0, 0.0, rows});
    }
}

/// On a GPU a thread block takes an item of the work (a row, a head of a sequence), and a multiprocessor holds several blocks:
/// few items keep few of them busy.
void add_blocks(const sim::KernelLaw& start, const KernelTable& table, std::vector<Extension>& all) {
    for (const double of_a_multiprocessor : {1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0}) {
        all.push_back({.free = {}, .start = start, .workers = of_a_multiprocessor * table.workers});
        all.push_back({.free = {"peak_share", "overlap"}, .start = start, .workers = of_a_multiprocessor * table.workers});
    }
}

std::size_t knots_of(const sim::KernelLaw& law) {
    std::size_t count = 0;
    while (count < sim::most_row_knots && law.knots[count].rows > 0.0) {
        ++count;
    }
    return count;
}

/// The slopes of all knots are free; their places are not.
void free_slopes(KernelLawForm& form) {
    const std::size_t first = index_of("slope_1");
    std::erase_if(form.free, [&](std::size_t parameter) { return parameter >= first && (parameter - first) % 2 == 0; });
    for (std::size_t i = 0; i < knots_of(form.fixed); ++i) {
        form.free.push_back(first + 2 * i);
    }
    std::sort(form.free.begin(), form.free.end());
}

/// Inserts a knot: both parts of the segment that it splits start with that segment's slope.
bool insert_knot(KernelLawForm& form, sim::KernelLaw& start, double rows) {
    const std::size_t count = knots_of(form.fixed);
    std::size_t at = 0;
    while (at < count && form.fixed.knots[at].rows < rows) {
        ++at;
    }
    if (count == sim::most_row_knots || (at < count && form.fixed.knots[at].rows == rows)) {
        return false;
    }
    const sim::RowKnot knot{rows, at < count ? start.knots[at].slope : 1.0};
    for (sim::KernelLaw* law : {&form.fixed, &start}) {
        std::copy_backward(law->knots.begin() + std::ptrdiff_t(at), law->knots.begin() + std::ptrdiff_t(count),
                           law->knots.begin() + std::ptrdiff_t(count) + 1);
        law->knots[at] = knot;
    }
    free_slopes(form);
    return true;
}

}  // namespace

std::vector<Extension> extensions(const KernelTable& table, const PreparedTable& prepared) {
    if (has_form_of_its_own(table.kernel)) {
        return own_extensions(table);
    }
    const sim::KernelLaw start = start_of_extensions();
    std::vector<Extension> all;
    if (of_kernels(table)) {
        all.push_back({{"startup"}, start});
    }
    // Without matrix units, ours compute longer than the data sheet's peak lets expect.
    const bool computes = table.kernel == sim::KernelClass::gemm || table.on_cpu || computing_shows(prepared) ||
                          (table.ours && (walks_tokens(table) || is_attention(table.kernel)));
    if (computes) {
        all.push_back({{"peak_share"}, start});
        all.push_back({{"peak_share", "overlap"}, start});
        all.push_back({{"overlap"}, start});
    }
    if (table.kernel == sim::KernelClass::gemm && of_kernels(table)) {
        all.push_back({{"per_input"}, start});
        table.on_cpu ? add_page_steps(start, prepared, all) : add_steps(start, all);
    }
    if (is_attention(table.kernel)) {
        all.push_back({{"per_head"}, start});
        if (has_wide_and_common_heads(table)) {
            all.push_back({{"wide_head_share"}, start});
        }
        all.push_back({{"per_context"}, start});
        if (table.on_cpu) {
            all.push_back({{"score_elements"}, start});
            for (const double context : measured_contexts(table)) {
                all.push_back({{"step_share"}, start, 0.0, context});
            }
        }
    }
    if (table.on_cpu && of_kernels(table)) {
        add_row_costs(start, prepared, all);
    }
    if (!table.on_cpu && table.workers > 0.0 && table.ours && !is_attention(table.kernel) && has_items(table)) {
        add_blocks(start, table, all);
    }
    return all;
}

std::optional<ExtendedForm> extended(const KernelLawForm& form, const sim::KernelLaw& law, const Extension& by) {
    ExtendedForm result{form, law};
    bool changed = false;
    for (const std::string_view name : by.free) {
        const std::size_t parameter = index_of(name);
        if (std::find(form.free.begin(), form.free.end(), parameter) == form.free.end()) {
            result.form.free.push_back(parameter);
            sim::kernel_parameters()[parameter].set(result.start, sim::kernel_parameters()[parameter].get(by.start));
            changed = true;
        }
    }
    std::sort(result.form.free.begin(), result.form.free.end());
    const auto take = [&](double sim::KernelLaw::*member, double value) {
        if (value > 0.0 && form.fixed.*member != value) {
            result.form.fixed.*member = value;
            changed = true;
        }
    };
    take(&sim::KernelLaw::row_tile, by.row_tile);
    take(&sim::KernelLaw::least_tile, by.least_tile);
    if (result.form.fixed.row_tile < result.form.fixed.least_tile) {  // tiles of one height take the place of those that double
        result.form.fixed.least_tile = 0.0;
        changed = true;
    }
    take(&sim::KernelLaw::step_rows, by.step_rows);
    take(&sim::KernelLaw::step_inputs, by.step_inputs);
    take(&sim::KernelLaw::workers, by.workers);
    take(&sim::KernelLaw::tile_columns, by.tile_columns);
    if (by.knot > 0.0) {
        changed = insert_knot(result.form, result.start, by.knot);
    }
    return changed ? std::optional(std::move(result)) : std::nullopt;
}

ExtendedForm without_knot(const KernelLawForm& form, const sim::KernelLaw& law, std::size_t knot) {
    ExtendedForm result{form, law};
    for (sim::KernelLaw* each : {&result.form.fixed, &result.start}) {
        std::copy(each->knots.begin() + std::ptrdiff_t(knot) + 1, each->knots.end(),
                  each->knots.begin() + std::ptrdiff_t(knot));
        each->knots.back() = {};
    }
    free_slopes(result.form);
    return result;
}

/// A bandwidth. For kernels that are compute-bound throughout, also a peak, alone (the bandwidth then stays the data sheet's)
/// or with it. For linear layers, tiles of several heights, since which one fits shows only together with its parameters. On a
/// CPU, also a knot at every second row count.
std::vector<ExtendedForm> beginnings(const KernelTable& table, const PreparedTable& prepared) {
    if (has_form_of_its_own(table.kernel)) {
        return own_beginnings(table);
    }
    const std::size_t bandwidth = index_of("bandwidth_share"), peak = index_of("peak_share");
    sim::KernelLaw start;
    start.bandwidth_share = 0.8;
    start.peak_share = 0.5;
    std::vector<std::vector<std::size_t>> first = {{bandwidth}};
    if (computing_rules(prepared) || table.on_cpu) {
        first.push_back({bandwidth, peak});
        first.push_back({peak});
    }
    std::vector<ExtendedForm> all;
    const bool tiled = table.kernel == sim::KernelClass::gemm && !table.on_cpu;
    for (const double tile : tiled ? std::vector{1.0, 32.0, 64.0, 128.0, most_doubled_tile} : std::vector{1.0}) {
        for (const std::vector<std::size_t>& free : first) {
            all.push_back({{free, {}}, start});
            all.back().form.fixed.row_tile = tile;
            if (tile == most_doubled_tile) {
                all.back().form.fixed.least_tile = least_doubled_tile;
            }
        }
    }
    if (table.on_cpu && of_kernels(table)) {
        const std::vector<double> places = knot_places(prepared);
        const std::size_t stride = std::max<std::size_t>(1, (places.size() + sim::most_row_knots - 1) / sim::most_row_knots);
        for (const bool with_bandwidth : {true, false}) {
            ExtendedForm with_knots{{{peak, index_of("first_row")}, {}}, start};
            if (with_bandwidth) {
                with_knots.form.free.insert(with_knots.form.free.begin(), bandwidth);
            }
            with_knots.start.first_row = 2.0;
            for (std::size_t i = 0; i < places.size(); i += stride) {
                insert_knot(with_knots.form, with_knots.start, places[i]);
            }
            all.push_back(with_knots);
        }
    }
    return all;
}

}  // namespace treeline::calibrate::detail
