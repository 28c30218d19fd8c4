#include "calibrate/tables/measured_machine.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "calibrate/tables/table_rows.h"
#include "json/reader.h"
#include "text/number_text.h"

namespace treeline::calibrate {
namespace {

using Json = nlohmann::ordered_json;

void add_probe(TableRow& row, MachineFigures& figures) {
    const std::size_t kind = row.choice("probe", {"read", "write", "copy"});
    const Bytes bytes(row.number("bytes", 1.0) * (kind == 2 ? 2.0 : 1.0));
    BytesPerSecond& best = kind == 0 ? figures.read : kind == 1 ? figures.write : figures.copy;
    best = std::max(best, bytes / row.time());
}

/// A state update of one token moves hardly anything but the state. Memory that is updated in place is written back without
/// being fetched again, so it may move faster than in a copy.
void add_update(TableRow& row, MachineFigures& figures) {
    const double elements =
        row.number("batch", 1) * row.number("heads", 1) * row.number("head_dim", 1) * row.number("state_size", 1);
    const Bytes moved = sim::Storage{row.format("state_dtype")}.per_element() * (2.0 * elements);
    if (row.text("form") == "final" && row.number("tokens", 1) == 1.0) {
        figures.update = std::max(figures.update, moved / row.time());
    }
}

void add_product(TableRow& row, MachineFigures& figures) {
    const sim::NumberFormat format = row.format("dtype");
    const double m = row.number("m", 1), n = row.number("n", 1), k = row.number("k", 1);
    const FlopsPerSecond rate = Flops(2.0 * m * n * k) / row.time();
    MeasuredPeak& best = figures.peaks[format];
    if (rate > best.rate) {
        best = {rate, fmt::format("m {:g}, n {:g}, k {:g}", m, n, k), m};
    }
}

void add_all_reduce(TableRow& row, MeasuredLink& link) {
    const Bytes bytes(row.number("bytes", 1.0));
    const bool is_first = link.longest == Seconds(0.0);
    if (is_first || bytes < link.least) {
        link.least = bytes;
        link.shortest = row.time();
    }
    if (is_first || bytes > link.most) {
        link.most = bytes;
        link.longest = row.time();
    }
}

/// Yardsticks are few: one measured under unusual conditions is better than none.
std::vector<MeasuredRow> rows_for_figures(const MeasuredFile& file) {
    std::vector<MeasuredRow> rows = file.rows;
    const std::vector<MeasuredRow>& any = rows.empty() ? file.drifted : rows;
    const TableKind* kind = any.empty() ? nullptr : kind_of(any.front());
    // What tells the cases of a yardstick apart.
    static const std::map<std::string, std::set<std::string>, std::less<>> names_of_yardsticks = {
        {"probe", {"probe"}}, {"launch", {"by", "launches"}}, {"all_reduce", {"bytes"}}, {"gemm", {"dtype", "m", "n", "k"}}};
    const auto names = kind == nullptr ? names_of_yardsticks.end() : names_of_yardsticks.find(kind->name);
    if (names == names_of_yardsticks.end()) {
        return rows;
    }
    for (const MeasuredRow& drifted : file.drifted) {
        const bool known = std::any_of(file.rows.begin(), file.rows.end(), [&](const MeasuredRow& row) {
            return std::all_of(row.values.begin(), row.values.end(), [&](const auto& value) {
                const auto other = drifted.values.find(value.first);
                return names->second.count(value.first) == 0 ||
                       (other != drifted.values.end() && other->second == value.second);
            });
        });
        if (!known) {
            rows.push_back(drifted);
        }
    }
    return rows;
}

/// Three digits: more would suggest a precision that measurements lack.
double shown(double value) { return text::rounded(value, 4); }

Json number(double value, const char* unit, const std::string& source) {
    return {{"value", shown(value)}, {"unit", unit}, {"source", source}, {"kind", "measured"}};
}

/// Which link it is, and how many devices it joins, the driver does not say: two were measured.
Json link_description(const MeasuredLink& link) {
    return {{"name", "peer"},
            {"bandwidth", number(link.bandwidth().value() / 1e9, "GB/s", "sums of two devices that read each other's memory")},
            {"all_reduce_latency", number(link.shortest.value() * 1e6, "us", "the least of them")},
            {"domain", {{"value", 2}, {"source", "the devices that were measured"}, {"kind", "measured"}}}};
}

/// A product of one row takes as long as its weights take to read, and says nothing of how fast a device calculates.
void require_large_product(const MachineFigures& figures) {
    const auto fastest = std::max_element(figures.peaks.begin(), figures.peaks.end(), [](const auto& one, const auto& other) {
        return one.second.rate < other.second.rate;
    });
    if (fastest != figures.peaks.end() && fastest->second.rows <= 1.0) {
        throw text::InputError(
            {fmt::format("the fastest linear layer among the measurements ({}, {}) has one row: it waits for "
                         "its weights and tells no peak; one of many rows is needed, too",
                         name_of(fastest->first), fastest->second.shape)});
    }
}

}  // namespace

std::vector<LaunchCost> launch_costs_of(const std::vector<MeasuredFile>& files) {
    std::vector<LaunchCost> costs;
    std::vector<std::string> problems;
    for (const MeasuredFile& file : files) {
        for (const MeasuredRow& measured : rows_for_figures(file)) {
            const TableKind* kind = kind_of(measured);
            if (kind != nullptr && kind->name == "launch") {
                TableRow row(measured, problems);
                const double launches = row.number("launches", 1.0);
                costs.push_back({row.text("by"), launches, row.time() / launches});
            }
        }
    }
    if (!problems.empty()) {
        throw text::InputError(std::move(problems));
    }
    std::sort(costs.begin(), costs.end(),
              [](const LaunchCost& a, const LaunchCost& b) { return a.by != b.by ? a.by > b.by : a.launches < b.launches; });
    return costs;
}

MachineFigures figures_of(const std::vector<MeasuredFile>& files) {
    MachineFigures figures;
    std::vector<std::string> problems;
    for (const MeasuredFile& file : files) {
        for (const MeasuredRow& measured : rows_for_figures(file)) {
            const TableKind* kind = kind_of(measured);
            TableRow row(measured, problems);
            if (kind != nullptr && kind->name == "probe") {
                add_probe(row, figures);
            } else if (kind != nullptr && kind->name == "mamba2_scan") {
                add_update(row, figures);
            } else if (kind != nullptr && kind->name == "gemm") {
                add_product(row, figures);
            } else if (kind != nullptr && kind->name == "all_reduce") {
                add_all_reduce(row, figures.link);
            }
        }
    }
    figures.launches = launch_costs_of(files);
    if (!(figures.read > BytesPerSecond(0.0)) || !(figures.peak_of(sim::NumberFormat::fp32) > FlopsPerSecond(0.0))) {
        problems.emplace_back("the measurements hold no read bandwidth, or no linear layer in fp32");
    }
    if (!problems.empty()) {
        throw text::InputError(std::move(problems));
    }
    return figures;
}

std::string device_description(const Machine& machine, const MachineFigures& figures, bool on_gpu,
                               const std::string& calibration_file) {
    const BytesPerSecond bandwidth = std::max({figures.read, figures.write, figures.copy, figures.update});
    const std::string fastest = figures.read >= bandwidth     ? "reading"
                                : figures.copy >= bandwidth   ? "copying"
                                : figures.update >= bandwidth ? "updating states in"
                                                              : "writing";
    require_large_product(figures);
    Json peak;
    for (const auto& [format, measured] : figures.peaks) {
        // CPUs widen 16-bit numbers and multiply them in fp32.
        if (on_gpu || format == sim::NumberFormat::fp32) {
            const std::string name(name_of(format));
            peak[name] =
                number(measured.rate.value() / 1e12, "TFLOP/s", "the fastest linear layer in " + name + ", " + measured.shape);
        }
    }
    Json json = {{"title", machine.title},
                 {"kind", on_gpu ? "gpu" : "cpu"},
                 {"memory", number(machine.memory_bytes / 1e9, "GB", "what the system reports")},
                 {"memory_bandwidth", number(bandwidth.value() / 1e9, "GB/s", fastest + " memory that no cache holds")},
                 {"cache", number(machine.cache_bytes / 1e6, "MB", "what the system reports")},
                 {"peak", peak}};
    if (on_gpu && machine.multiprocessors > 0) {
        json["multiprocessors"] = {
            {"value", machine.multiprocessors}, {"source", "what the driver reports"}, {"kind", "measured"}};
    }
    if (figures.link.bandwidth() > BytesPerSecond(0.0)) {
        json["interconnects"] = Json::array({link_description(figures.link)});
    }
    if (!calibration_file.empty()) {
        json["calibration"] = calibration_file;
    }
    return json.dump(2) + "\n";
}

}  // namespace treeline::calibrate
